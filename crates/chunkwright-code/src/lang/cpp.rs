//! C++.

use chunkwright::SymbolKind;

use super::c;
use crate::language::{Language, Role};

/// C++, headers included.
pub const LANGUAGE: Language = Language {
    name: "cpp",
    extensions: &["cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "inl", "ipp", "tpp", "cu", "cuh", "ino"],
    aliases: &["c++"],
    grammar: || tree_sitter_cpp::LANGUAGE.into(),
    own_roles: &[
        ("access_specifier", Role::Attribute),
        ("template_declaration", Role::Wrapper),
        ("template_parameter_list", Role::Attribute),
        ("requires_clause", Role::Attribute),
        ("namespace_definition", Role::Type(SymbolKind::Module)),
        ("init_declarator", Role::Binding),
        ("lambda_expression", Role::Function(SymbolKind::Function)),
        ("class_specifier", Role::Type(SymbolKind::Class)),
        ("concept_definition", Role::Type(SymbolKind::Trait)),
    ],
    titles: &["name", "declarator", "pointer_declarator", "function_declarator"],
    owner: Some(("scope", "::")),
    clauses: &["else_clause", "case_statement", "catch_clause"],
    announced: &[SymbolKind::Class, SymbolKind::Struct, SymbolKind::Enum],
    ..c::LANGUAGE
};
