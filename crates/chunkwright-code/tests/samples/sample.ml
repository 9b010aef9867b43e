(** Очередь: a queue of things. *)

open Stdlib
open! Printf
include Comparable

[@@@warning "-32"]

type 'a t = { front : 'a list; back : 'a list }

type shape =
  | Circle of float  (** by radius *)
  | Square of float
and name = string

exception Empty of string

external length : string -> int = "caml_length"

let empty = { front = []; back = [] }
let word = "слово"

(** Adds at the end. *)
let push x q = { q with back = x :: q.back }
[@@inline]

let rec even n =
  if n = 0 then true else odd (n - 1)

and odd n = if n = 0 then false else even (n - 1)

let area = function
  | Circle r -> 3.14 *. r *. r
  | Square a ->
    let squared x = x *. x in
    squared a

let twice = fun f x -> f (f x)
let ( +! ) a b = a + b

(** What can be shown. *)
module type Show = sig
  type t

  val show : t -> string
end

module Numbers = struct
  module Inner = struct
    let zero = 0
  end

  let add a b = a + b
end

module Make (S : Show) : Show with type t = S.t = struct
  include S

  let twice x = S.show x ^ S.show x
end

module N = Numbers.Inner

class counter start =
  object (self)
    val mutable count = start
    method next = count <- count + 1
    method add n = count <- count + n
  end

let%test "empty" = empty.front = []

let () =
  let q = push 1 empty in
  printf "%d\n" (List.length q.back)
