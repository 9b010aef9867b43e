{-# LANGUAGE LambdaCase #-}
-- | Деревья: trees and what folds them.
module Data.Wood (Tree (..), insert, (<+>)) where

import Data.List (sort)
import qualified Data.Map.Strict as Map
import Prelude hiding (sum)

-- | A tree of values.
data Tree a
  = Leaf
  | Node
      { left :: Tree a
      , value :: a
      , right :: Tree a
      }
  deriving (Show, Eq)

newtype Name = Name {unName :: String}

type Names = Map.Map Name Int

data Expr a where
  Number :: Int -> Expr Int
  Truth :: Bool -> Expr Bool

-- | What can be summed.
class Monoid a => Sum a where
  -- | Nothing at all.
  zero :: a
  zero = mempty

  plus, minus :: a -> a -> a

  type Part a

instance Sum (Tree a) where
  plus Leaf b = b
  plus a Leaf = a
  minus = const

instance Show Name where
  show = unName

-- | Puts a value in its place.
insert :: Ord a => a -> Tree a -> Tree a
{-# INLINE insert #-}
insert x Leaf = Node Leaf x Leaf
-- neither less nor more
insert x node@(Node l y r)
  | x < y = node {left = insert x l}
  | otherwise = go r
  where
    go :: Tree a -> Tree a
    go = \case
      Leaf -> Leaf
      t -> t

infixl 6 <+>

(<+>) :: Tree a -> Tree a -> Tree a
a <+> Leaf = a
Leaf <+> b = b
a <+> _ = a

greeting :: String
greeting = "привет"

pattern Single x = Node Leaf x Leaf

foreign import ccall "math.h sin" c_sin :: Double -> Double

$(makeLenses ''Tree)

main :: IO ()
main = do
  let text = greeting
      size = length text
  putStrLn text
  print $ map (* 2) [1, 2, size]
