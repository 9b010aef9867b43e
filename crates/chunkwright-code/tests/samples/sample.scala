// Кухня «рецептов» 🍲.
package kitchen.recipes

import scala.collection.mutable
import scala.util.{Failure, Success => Done}
import kitchen.model._

/** A recipe by its name. */
@deprecated("use `Dish`", "2.0")
final case class Recipe(name: String, steps: List[Step] = Nil) {
  require(name.nonEmpty)

  /** How many steps it has. */
  def length: Int = steps.size

  @inline
  def +(step: Step): Recipe = {
    def added(all: List[Step]) = all :+ step
    copy(steps = added(steps))
  }

  def this(name: String) = this(name, Nil)
}

object Recipe extends (String => Recipe) {
  val empty: Recipe = Recipe("")
  private lazy val names = mutable.Set.empty[String]

  override def apply(name: String): Recipe = {
    names += name
    name match {
      case "" =>
        empty
      case other =>
        new Recipe(other, Nil)
    }
  }

  class Book(var pages: Int)
}

// What heats.
sealed trait Heat {
  type Fuel
  def degrees: Int
  def warm(by: Int): Heat
}

package object shared {
  val double = (n: Int) => n * 2
}

object Kitchen extends App {
  val plans = for {
    a <- List(1, 2)
    b <- List(3)
  } yield a + b
  println(plans)
}

enum Size(val grams: Int):
  case Small extends Size(10)
  case Large extends Size(100)

  def twice: Int =
    grams * 2

given Ordering[Recipe] with
  def compare(a: Recipe, b: Recipe): Int =
    a.length - b.length

extension (recipe: Recipe)
  def isShort: Boolean = recipe.length < 3

type Steps = List[Step]

def boil(minutes: Int): Unit =
  if minutes > 0 then
    boil(minutes - 1)
  else
    println("готово")

@main def run(): Unit = boil(3)
