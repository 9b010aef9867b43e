//! Solidity.

use chunkwright::SymbolKind;

use crate::language::{Language, Role};

/// Solidity.
pub const LANGUAGE: Language = Language {
    name: "solidity",
    extensions: &["sol"],
    grammar: || tree_sitter_solidity::LANGUAGE.into(),
    roles: &[
        ("comment", Role::Comment),
        ("import_directive", Role::Import),
        ("contract_body", Role::Inline),
        ("contract_declaration", Role::Type(SymbolKind::Class)),
        ("library_declaration", Role::Type(SymbolKind::Class)),
        ("interface_declaration", Role::Type(SymbolKind::Interface)),
        ("struct_declaration", Role::Type(SymbolKind::Struct)),
        ("enum_declaration", Role::Type(SymbolKind::Enum)),
        ("function_definition", Role::Function(SymbolKind::Function)),
        ("constructor_definition", Role::Function(SymbolKind::Method)),
        ("modifier_definition", Role::Function(SymbolKind::Method)),
        ("fallback_receive_definition", Role::Function(SymbolKind::Method)),
    ],
    titles: &["name", "constructor", "fallback", "receive"],
    bodies: &["function_body", "block_statement", "contract_body", "struct_body", "enum_body", "assembly_statement", "yul_block"],
    clauses: &["catch_clause"],
    ..Language::BASE
};
