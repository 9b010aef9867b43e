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
    roles: &[
        ("comment", Role::Comment),
        ("preproc_include", Role::Import),
        ("preproc_if", Role::Group),
        ("preproc_ifdef", Role::Group),
        ("preproc_else", Role::Inline),
        ("preproc_elif", Role::Inline),
        ("preproc_elifdef", Role::Inline),
        ("preproc_function_def", Role::Function(SymbolKind::Macro)),
        ("linkage_specification", Role::Inline),
        ("declaration_list", Role::Inline),
        ("field_declaration_list", Role::Inline),
        ("enumerator_list", Role::Inline),
        ("access_specifier", Role::Attribute),
        ("template_declaration", Role::Wrapper),
        ("template_parameter_list", Role::Attribute),
        ("requires_clause", Role::Attribute),
        ("namespace_definition", Role::Type(SymbolKind::Module)),
        ("function_definition", Role::Function(SymbolKind::Function)),
        ("type_definition", Role::Binding),
        ("declaration", Role::Binding),
        ("init_declarator", Role::Binding),
        ("lambda_expression", Role::Function(SymbolKind::Function)),
        ("field_declaration", Role::Binding),
        ("class_specifier", Role::Type(SymbolKind::Class)),
        ("struct_specifier", Role::Type(SymbolKind::Struct)),
        ("union_specifier", Role::Type(SymbolKind::Struct)),
        ("enum_specifier", Role::Type(SymbolKind::Enum)),
        ("concept_definition", Role::Type(SymbolKind::Trait)),
    ],
    titles: &["name", "declarator", "pointer_declarator", "function_declarator"],
    owner: Some(("scope", "::")),
    clauses: &["else_clause", "case_statement", "catch_clause"],
    announced: &[SymbolKind::Class, SymbolKind::Struct, SymbolKind::Enum],
    ..c::LANGUAGE
};
