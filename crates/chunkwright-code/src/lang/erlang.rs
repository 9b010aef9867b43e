//! Erlang.

use chunkwright::SymbolKind;

use crate::language::{Language, Role};

/// Erlang.
pub const LANGUAGE: Language = Language {
    name: "erlang",
    extensions: &["erl", "hrl", "escript", "xrl", "yrl"],
    file_names: &["rebar.config"],
    interpreters: &["escript"],
    aliases: &["erl"],
    grammar: || tree_sitter_erlang::LANGUAGE.into(),
    roles: &[
        ("shebang", Role::Comment),
        ("comment", Role::Comment),
        ("import_attribute", Role::Import),
        ("pp_include", Role::Import),
        ("pp_include_lib", Role::Import),
        ("record_decl", Role::Type(SymbolKind::Struct)),
        ("type_alias", Role::Type(SymbolKind::Struct)),
        ("opaque", Role::Type(SymbolKind::Struct)),
        ("pp_define", Role::Function(SymbolKind::Macro)),
        ("spec", Role::Attribute),
        ("wild_attribute", Role::Call),
        ("fun_decl", Role::Inline),
        ("function_clause", Role::Function(SymbolKind::Function)),
    ],
    calls: &[("doc", Role::Attribute)],
    titles: &["name", "lhs"],
    bodies: &["clause_body", "case_expr", "list", "tuple", "map_expr", "expr_args", "record_decl"],
    clauses: &["cr_clause", "if_clause", "fun_clause", "catch_clause", "receive_after", "try_after"],
    comment: ("% ", ""),
    joins_equations: true,
    ..Language::BASE
};
