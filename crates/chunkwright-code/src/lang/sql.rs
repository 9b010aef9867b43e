//! SQL.

use chunkwright::SymbolKind;

use crate::language::{Language, Lines, Role};

/// SQL, as `PostgreSQL` knows it and near to that.
pub const LANGUAGE: Language = Language {
    name: "sql",
    extensions: &["sql", "ddl", "dml", "pgsql"],
    aliases: &["postgresql", "postgres", "mysql", "sqlite", "plpgsql"],
    grammar: || tree_sitter_sequel::LANGUAGE.into(),
    roles: &[
        ("comment", Role::Comment),
        ("marginalia", Role::Comment),
        ("statement", Role::Binding),
        // A function without the word for it: one block, whatever it declares.
        ("create_table", Role::Function(SymbolKind::Struct)),
        ("create_view", Role::Function(SymbolKind::Struct)),
        ("create_materialized_view", Role::Function(SymbolKind::Struct)),
        ("create_type", Role::Function(SymbolKind::Struct)),
        ("create_index", Role::Function(SymbolKind::Struct)),
        ("create_function", Role::Function(SymbolKind::Function)),
        ("create_trigger", Role::Function(SymbolKind::Function)),
    ],
    titles: &["column", "object_reference"],
    names: &["object_reference"],
    bodies: &["column_definitions", "function_body", "create_query", "select_expression", "from"],
    comment: ("-- ", ""),
    lines: Lines { has_block_comments: true, ..Lines::BASE },
    ..Language::BASE
};
