//! TypeScript.

use chunkwright::SymbolKind;

use super::javascript;
use crate::language::{Language, Role};

/// TypeScript.
pub const LANGUAGE: Language = Language {
    name: "typescript",
    extensions: &["ts", "mts", "cts"],
    interpreters: &["ts-node", "tsx"],
    grammar: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
    own_roles: &[
        ("ambient_declaration", Role::Wrapper),
        ("interface_body", Role::Inline),
        ("object_type", Role::Inline),
        ("enum_body", Role::Inline),
        ("abstract_class_declaration", Role::Type(SymbolKind::Class)),
        ("interface_declaration", Role::Type(SymbolKind::Interface)),
        ("type_alias_declaration", Role::Type(SymbolKind::Interface)),
        ("enum_declaration", Role::Type(SymbolKind::Enum)),
        ("internal_module", Role::Type(SymbolKind::Module)),
        ("module", Role::Type(SymbolKind::Module)),
        ("function_signature", Role::Function(SymbolKind::Function)),
        ("abstract_method_signature", Role::Function(SymbolKind::Function)),
        ("method_signature", Role::Function(SymbolKind::Function)),
        ("public_field_definition", Role::Binding),
    ],
    bodies: &[
        "statement_block",
        "class_body",
        "interface_body",
        "enum_body",
        "object_type",
        "switch_body",
        "object",
        "array",
        "arguments",
    ],
    file_names: &[],
    aliases: &[],
    ..javascript::LANGUAGE
};
