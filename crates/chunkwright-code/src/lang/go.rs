//! Go.

use chunkwright::SymbolKind;

use crate::language::{Language, Lines, Role};

/// Go.
pub const LANGUAGE: Language = Language {
    name: "go",
    extensions: &["go"],
    aliases: &["golang"],
    grammar: || tree_sitter_go::LANGUAGE.into(),
    roles: &[
        ("comment", Role::Comment),
        ("import_declaration", Role::Import),
        ("function_declaration", Role::Function(SymbolKind::Function)),
        ("method_declaration", Role::Function(SymbolKind::Function)),
        ("method_elem", Role::Function(SymbolKind::Method)),
        ("func_literal", Role::Function(SymbolKind::Function)),
        ("var_declaration", Role::Binding),
        ("var_spec", Role::Binding),
        ("expression_list", Role::Binding),
        ("type_declaration", Role::Wrapper),
        ("type_spec", Role::Type(SymbolKind::Struct)),
        ("interface_type", Role::Type(SymbolKind::Interface)),
        ("type_alias", Role::Type(SymbolKind::Struct)),
    ],
    owner: Some(("receiver", ".")),
    bodies: &[
        "block",
        "statement_list",
        "field_declaration_list",
        "literal_value",
        "expression_switch_statement",
        "type_switch_statement",
        "select_statement",
        "argument_list",
        "const_declaration",
        "var_spec_list",
    ],
    clauses: &["expression_case", "type_case", "communication_case", "default_case"],
    lines: Lines { has_characters: true, ..Lines::BASE },
    ..Language::BASE
};
