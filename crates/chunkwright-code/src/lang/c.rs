//! C.

use chunkwright::SymbolKind;

use crate::language::{Language, Lines, Role};

/// C, headers included.
pub const LANGUAGE: Language = Language {
    name: "c",
    extensions: &["c", "h"],
    grammar: || tree_sitter_c::LANGUAGE.into(),
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
        ("function_definition", Role::Function(SymbolKind::Function)),
        ("type_definition", Role::Binding),
        ("declaration", Role::Binding),
        ("field_declaration", Role::Binding),
        ("struct_specifier", Role::Type(SymbolKind::Struct)),
        ("union_specifier", Role::Type(SymbolKind::Struct)),
        ("enum_specifier", Role::Type(SymbolKind::Enum)),
    ],
    titles: &["name", "declarator", "pointer_declarator", "function_declarator", "identifier"],
    bodies: &[
        "compound_statement",
        "field_declaration_list",
        "enumerator_list",
        "initializer_list",
        "argument_list",
    ],
    clauses: &["else_clause", "case_statement"],
    has_macros: true,
    announced: &[SymbolKind::Struct, SymbolKind::Enum],
    lines: Lines { has_characters: true, has_directives: true, ..Lines::BASE },
    ..Language::BASE
};
