//! Swift.

use chunkwright::SymbolKind;

use crate::language::{Language, Lines, Role};

/// Swift.
pub const LANGUAGE: Language = Language {
    name: "swift",
    extensions: &["swift"],
    interpreters: &["swift"],
    grammar: || tree_sitter_swift::LANGUAGE.into(),
    roles: &[
        ("shebang_line", Role::Comment),
        ("comment", Role::Comment),
        ("multiline_comment", Role::Comment),
        ("attribute", Role::Attribute),
        ("import_declaration", Role::Import),
        ("class_body", Role::Inline),
        ("enum_class_body", Role::Inline),
        ("protocol_body", Role::Inline),
        ("class_declaration", Role::Type(SymbolKind::Class)),
        ("protocol_declaration", Role::Type(SymbolKind::Trait)),
        ("function_declaration", Role::Function(SymbolKind::Function)),
        ("protocol_function_declaration", Role::Function(SymbolKind::Method)),
        ("init_declaration", Role::Function(SymbolKind::Method)),
        ("deinit_declaration", Role::Function(SymbolKind::Method)),
        ("subscript_declaration", Role::Function(SymbolKind::Method)),
        ("macro_declaration", Role::Function(SymbolKind::Macro)),
        ("computed_property", Role::Function(SymbolKind::Function)),
        ("lambda_literal", Role::Function(SymbolKind::Function)),
        ("property_declaration", Role::Binding),
    ],
    titles: &["deinit", "subscript", "name", "bound_identifier"],
    bodies: &["statements", "class_body", "enum_class_body", "protocol_body", "computed_property", "switch_statement", "array_literal", "dictionary_literal", "value_arguments"],
    clauses: &["else", "catch_block"],
    type_words: &[("struct", SymbolKind::Struct), ("enum", SymbolKind::Enum), ("extension", SymbolKind::Impl)],
    lines: Lines { has_characters: true, has_directives: true, ..Lines::BASE },
    ..Language::BASE
};
