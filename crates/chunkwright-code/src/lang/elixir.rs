//! Elixir, where every declaration is a call.

use chunkwright::SymbolKind;

use crate::language::{Language, Lines, Role};

/// Elixir.
pub const LANGUAGE: Language = Language {
    name: "elixir",
    extensions: &["ex", "exs"],
    interpreters: &["elixir"],
    grammar: || tree_sitter_elixir::LANGUAGE.into(),
    roles: &[
        ("comment", Role::Comment),
        ("do_block", Role::Inline),
        ("call", Role::Call),
        ("unary_operator", Role::Call),
    ],
    calls: &[
        ("defmodule", Role::Type(SymbolKind::Module)),
        ("defprotocol", Role::Type(SymbolKind::Trait)),
        ("defimpl", Role::Type(SymbolKind::Impl)),
        ("describe", Role::Type(SymbolKind::Module)),
        ("def", Role::Function(SymbolKind::Function)),
        ("defp", Role::Function(SymbolKind::Function)),
        ("defmacro", Role::Function(SymbolKind::Macro)),
        ("defmacrop", Role::Function(SymbolKind::Macro)),
        ("defguard", Role::Function(SymbolKind::Function)),
        ("defguardp", Role::Function(SymbolKind::Function)),
        ("defdelegate", Role::Function(SymbolKind::Function)),
        ("test", Role::Function(SymbolKind::Function)),
        ("for", Role::Group),
        ("if", Role::Group),
        ("unless", Role::Group),
        ("import", Role::Import),
        ("alias", Role::Import),
        ("require", Role::Import),
        ("use", Role::Import),
        ("moduledoc", Role::Doc),
        ("doc", Role::Attribute),
        ("typedoc", Role::Attribute),
        ("spec", Role::Attribute),
        ("impl", Role::Attribute),
        ("deprecated", Role::Attribute),
        ("tag", Role::Attribute),
    ],
    titles: &["target", "left"],
    bodies: &["do_block", "map_content", "list", "stab_clause"],
    clauses: &["else_block", "rescue_block", "catch_block", "after_block"],
    comment: ("# ", ""),
    joins_equations: true,
    lines: Lines { end_words: Some(&[]), ..Lines::BASE },
    ..Language::BASE
};
