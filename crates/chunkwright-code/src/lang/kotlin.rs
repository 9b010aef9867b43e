//! Kotlin.

use chunkwright::SymbolKind;

use crate::language::{Language, Lines, Role};

/// Kotlin, scripts included.
pub const LANGUAGE: Language = Language {
    name: "kotlin",
    extensions: &["kt", "kts"],
    interpreters: &["kotlin", "kotlinc"],
    grammar: || tree_sitter_kotlin_ng::LANGUAGE.into(),
    roles: &[
        ("shebang", Role::Comment),
        ("line_comment", Role::Comment),
        ("block_comment", Role::Comment),
        ("annotation", Role::Attribute),
        ("import", Role::Import),
        ("class_body", Role::Inline),
        ("enum_class_body", Role::Inline),
        ("class_declaration", Role::Type(SymbolKind::Class)),
        ("object_declaration", Role::Type(SymbolKind::Class)),
        ("companion_object", Role::Type(SymbolKind::Class)),
        ("function_declaration", Role::Function(SymbolKind::Function)),
        ("secondary_constructor", Role::Function(SymbolKind::Method)),
        ("anonymous_initializer", Role::Function(SymbolKind::Method)),
        ("getter", Role::Function(SymbolKind::Function)),
        ("lambda_literal", Role::Function(SymbolKind::Function)),
        ("anonymous_function", Role::Function(SymbolKind::Function)),
        ("property_declaration", Role::Binding),
    ],
    titles: &["name", "variable_declaration", "identifier", "companion", "constructor", "init"],
    bodies: &["class_body", "enum_class_body", "function_body", "block", "lambda_literal", "when_expression", "value_arguments", "collection_literal"],
    clauses: &["catch_block", "finally_block"],
    type_words: &[("interface", SymbolKind::Interface), ("enum_class_body", SymbolKind::Enum)],
    lines: Lines { has_characters: true, ..Lines::BASE },
    ..Language::BASE
};
