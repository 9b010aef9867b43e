//! Interfaces of OCaml modules, which have a grammar of their own.

use super::ocaml;
use crate::language::Language;

/// OCaml's interfaces.
pub const LANGUAGE: Language = Language {
    name: "ocaml-interface",
    extensions: &["mli"],
    interpreters: &[],
    grammar: || tree_sitter_ocaml::LANGUAGE_OCAML_INTERFACE.into(),
    ..ocaml::LANGUAGE
};
