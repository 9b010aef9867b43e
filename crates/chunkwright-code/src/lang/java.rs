//! Java.

use chunkwright::SymbolKind;

use crate::language::{Language, Role};

/// Java.
pub const LANGUAGE: Language = Language {
    name: "java",
    extensions: &["java", "jav"],
    grammar: || tree_sitter_java::LANGUAGE.into(),
    roles: &[
        ("line_comment", Role::Comment),
        ("block_comment", Role::Comment),
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
        ("method_declaration", Role::Function(SymbolKind::Function)),
        ("constructor_declaration", Role::Function(SymbolKind::Function)),
        ("compact_constructor_declaration", Role::Function(SymbolKind::Function)),
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
    clauses: &["catch_clause", "finally_clause"],
    ..Language::BASE
};
