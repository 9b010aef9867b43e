//! Java.

use chunkwright::SymbolKind;

use crate::language::{Language, Lines, Role};

/// Java.
pub const LANGUAGE: Language = Language {
    name: "java",
    extensions: &["java", "jav"],
    grammar: || tree_sitter_java::LANGUAGE.into(),
    roles: &[
        ("line_comment", Role::Comment),
        ("block_comment", Role::Comment),
        ("annotation", Role::Attribute),
        ("marker_annotation", Role::Attribute),
        ("import_declaration", Role::Import),
        ("class_body", Role::Inline),
        ("interface_body", Role::Inline),
        ("enum_body", Role::Inline),
        ("enum_body_declarations", Role::Inline),
        ("annotation_type_body", Role::Inline),
        ("class_declaration", Role::Type(SymbolKind::Class)),
        ("record_declaration", Role::Type(SymbolKind::Class)),
        ("interface_declaration", Role::Type(SymbolKind::Interface)),
        ("annotation_type_declaration", Role::Type(SymbolKind::Interface)),
        ("enum_declaration", Role::Type(SymbolKind::Enum)),
        ("annotation_type_element_declaration", Role::Function(SymbolKind::Method)),
        ("method_declaration", Role::Function(SymbolKind::Method)),
        ("constructor_declaration", Role::Function(SymbolKind::Method)),
        ("compact_constructor_declaration", Role::Function(SymbolKind::Method)),
        ("lambda_expression", Role::Function(SymbolKind::Function)),
        ("field_declaration", Role::Binding),
        ("local_variable_declaration", Role::Binding),
        ("variable_declarator", Role::Binding),
    ],
    bodies: &[
        "block",
        "constructor_body",
        "class_body",
        "interface_body",
        "enum_body",
        "annotation_type_body",
        "switch_block",
        "array_initializer",
        "argument_list",
    ],
    clauses: &["catch_clause", "finally_clause", "switch_block_statement_group", "switch_rule"],
    lines: Lines { has_characters: true, ..Lines::BASE },
    ..Language::BASE
};
