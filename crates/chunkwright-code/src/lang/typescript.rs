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
    roles: &[
        ("hash_bang_line", Role::Comment),
        ("comment", Role::Comment),
        ("decorator", Role::Attribute),
        ("import_statement", Role::Import),
        ("export_statement", Role::Wrapper),
        ("ambient_declaration", Role::Wrapper),
        ("class_body", Role::Inline),
        ("interface_body", Role::Inline),
        ("object_type", Role::Inline),
        ("enum_body", Role::Inline),
        ("class_declaration", Role::Type(SymbolKind::Class)),
        ("abstract_class_declaration", Role::Type(SymbolKind::Class)),
        ("class", Role::Type(SymbolKind::Class)),
        ("interface_declaration", Role::Type(SymbolKind::Interface)),
        ("type_alias_declaration", Role::Type(SymbolKind::Interface)),
        ("enum_declaration", Role::Type(SymbolKind::Enum)),
        ("internal_module", Role::Type(SymbolKind::Module)),
        ("module", Role::Type(SymbolKind::Module)),
        ("function_declaration", Role::Function(SymbolKind::Function)),
        ("function_signature", Role::Function(SymbolKind::Function)),
        ("generator_function_declaration", Role::Function(SymbolKind::Function)),
        ("function_expression", Role::Function(SymbolKind::Function)),
        ("generator_function", Role::Function(SymbolKind::Function)),
        ("arrow_function", Role::Function(SymbolKind::Function)),
        ("method_definition", Role::Function(SymbolKind::Function)),
        ("abstract_method_signature", Role::Function(SymbolKind::Function)),
        ("method_signature", Role::Function(SymbolKind::Function)),
        ("lexical_declaration", Role::Binding),
        ("variable_declaration", Role::Binding),
        ("variable_declarator", Role::Binding),
        ("expression_statement", Role::Binding),
        ("assignment_expression", Role::Binding),
        ("public_field_definition", Role::Binding),
        ("pair", Role::Binding),
        ("call_expression", Role::Call),
        ("if_statement", Role::Group),
        ("else_clause", Role::Inline),
        ("try_statement", Role::Group),
        ("statement_block", Role::Inline),
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
