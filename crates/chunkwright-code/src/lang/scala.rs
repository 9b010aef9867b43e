//! Scala.

use chunkwright::SymbolKind;

use crate::language::{Language, Lines, Role};

/// Scala 2 and 3.
pub const LANGUAGE: Language = Language {
    name: "scala",
    extensions: &["scala", "sc", "sbt"],
    interpreters: &["scala"],
    grammar: || tree_sitter_scala::LANGUAGE.into(),
    roles: &[
        ("comment", Role::Comment),
        ("block_comment", Role::Comment),
        ("annotation", Role::Attribute),
        ("import_declaration", Role::Import),
        ("export_declaration", Role::Import),
        ("template_body", Role::Inline),
        ("with_template_body", Role::Inline),
        ("enum_body", Role::Inline),
        ("package_clause", Role::Type(SymbolKind::Module)),
        ("package_object", Role::Type(SymbolKind::Module)),
        ("class_definition", Role::Type(SymbolKind::Class)),
        ("object_definition", Role::Type(SymbolKind::Class)),
        ("trait_definition", Role::Type(SymbolKind::Trait)),
        ("enum_definition", Role::Type(SymbolKind::Enum)),
        ("given_definition", Role::Type(SymbolKind::Impl)),
        ("extension_definition", Role::Type(SymbolKind::Impl)),
        ("function_definition", Role::Function(SymbolKind::Function)),
        ("function_declaration", Role::Function(SymbolKind::Function)),
        ("lambda_expression", Role::Function(SymbolKind::Function)),
        ("val_definition", Role::Binding),
    ],
    titles: &["name", "pattern", "return_type", "parameters"],
    bodies: &["block", "indented_block", "template_body", "with_template_body", "enum_body", "case_block", "indented_cases", "enumerators", "arguments"],
    clauses: &["catch_clause", "finally_clause"],
    announced: &[SymbolKind::Module],
    lines: Lines { has_characters: true, ..Lines::BASE },
    ..Language::BASE
};
