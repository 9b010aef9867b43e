(** Очередь: a queue of things. *)

open Stdlib

type 'a t
(** The queue. *)

type shape =
  | Circle of float
  | Square of float

exception Empty of string

val empty : 'a t
(** Nothing in it. *)

val push : 'a -> 'a t -> 'a t
(** [push x q] adds [x] at the end. *)

external length : string -> int = "caml_length"

module type Show = sig
  type t

  val show : t -> string
end

module Make (S : Show) : sig
  val twice : S.t -> string
end

module Numbers : sig
  val add : int -> int -> int
end

class counter : int -> object
  method next : unit
end
