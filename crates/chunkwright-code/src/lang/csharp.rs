//! C#.

use chunkwright::SymbolKind;

use crate::language::{Language, Lines, Role};

/// C#, scripts included.
pub const LANGUAGE: Language = Language {
    name: "csharp",
    extensions: &["cs", "csx"],
    aliases: &["c#", "cs"],
    grammar: || tree_sitter_c_sharp::LANGUAGE.into(),
    roles: &[
        ("comment", Role::Comment),
        ("shebang_directive", Role::Comment),
        ("preproc_region", Role::Comment),
        ("preproc_endregion", Role::Comment),
        ("attribute_list", Role::Attribute),
        ("using_directive", Role::Import),
        ("extern_alias_directive", Role::Import),
        ("preproc_if", Role::Group),
        ("preproc_elif", Role::Inline),
        ("preproc_else", Role::Inline),
        ("global_statement", Role::Inline),
        ("declaration_list", Role::Inline),
        ("enum_member_declaration_list", Role::Inline),
        ("namespace_declaration", Role::Type(SymbolKind::Module)),
        ("class_declaration", Role::Type(SymbolKind::Class)),
        ("record_declaration", Role::Type(SymbolKind::Class)),
        ("struct_declaration", Role::Type(SymbolKind::Struct)),
        ("enum_declaration", Role::Type(SymbolKind::Enum)),
        ("interface_declaration", Role::Type(SymbolKind::Interface)),
        ("delegate_declaration", Role::Function(SymbolKind::Function)),
        ("local_function_statement", Role::Function(SymbolKind::Function)),
        ("method_declaration", Role::Function(SymbolKind::Method)),
        ("constructor_declaration", Role::Function(SymbolKind::Method)),
        ("destructor_declaration", Role::Function(SymbolKind::Method)),
        ("operator_declaration", Role::Function(SymbolKind::Method)),
        ("conversion_operator_declaration", Role::Function(SymbolKind::Method)),
        ("indexer_declaration", Role::Function(SymbolKind::Method)),
        ("property_declaration", Role::Function(SymbolKind::Method)),
        ("lambda_expression", Role::Function(SymbolKind::Function)),
        ("anonymous_method_expression", Role::Function(SymbolKind::Function)),
        ("field_declaration", Role::Binding),
        ("local_declaration_statement", Role::Binding),
        ("variable_declaration", Role::Binding),
        ("variable_declarator", Role::Binding),
    ],
    owner: Some(("qualifier", ".")),
    titles: &["name", "operator", "this", "variable_declarator", "type"],
    bodies: &["block", "declaration_list", "enum_member_declaration_list", "accessor_list", "switch_body", "switch_section", "switch_expression", "initializer_expression", "collection_expression", "argument_list"],
    clauses: &["catch_clause", "finally_clause", "preproc_elif", "preproc_else"],
    type_words: &[("struct", SymbolKind::Struct)],
    lines: Lines { has_characters: true, has_directives: true, ..Lines::BASE },
    ..Language::BASE
};
