//! Zig.

use chunkwright::SymbolKind;

use crate::language::{Language, Lines, Role};

/// Zig.
pub const LANGUAGE: Language = Language {
    name: "zig",
    extensions: &["zig", "zon"],
    grammar: || tree_sitter_zig::LANGUAGE.into(),
    roles: &[
        ("comment", Role::Comment),
        ("struct_declaration", Role::Type(SymbolKind::Struct)),
        ("union_declaration", Role::Type(SymbolKind::Struct)),
        ("opaque_declaration", Role::Type(SymbolKind::Struct)),
        ("enum_declaration", Role::Type(SymbolKind::Enum)),
        ("error_set_declaration", Role::Type(SymbolKind::Enum)),
        ("function_declaration", Role::Function(SymbolKind::Function)),
        ("test_declaration", Role::Function(SymbolKind::Function)),
        ("variable_declaration", Role::Binding),
        ("using_namespace_declaration", Role::Binding),
        ("field_expression", Role::Binding),
        ("builtin_function", Role::Call),
    ],
    calls: &[("@import", Role::Import), ("@cImport", Role::Import)],
    titles: &["name", "identifier", "string"],
    bodies: &["block", "struct_declaration", "union_declaration", "enum_declaration", "switch_expression", "initializer_list", "anonymous_struct_initializer", "arguments"],
    clauses: &["else_clause"],
    inner_comments: &["//!"],
    lines: Lines { has_characters: true, ..Lines::BASE },
    ..Language::BASE
};
