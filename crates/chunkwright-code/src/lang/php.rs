//! PHP.

use chunkwright::SymbolKind;

use crate::language::{Language, Lines, Role};

/// PHP with the text around it.
pub const LANGUAGE: Language = Language {
    name: "php",
    extensions: &["php", "php3", "php4", "php5", "php7", "php8", "phtml", "phps"],
    interpreters: &["php"],
    grammar: || tree_sitter_php::LANGUAGE_PHP.into(),
    roles: &[
        ("php_tag", Role::Comment),
        ("comment", Role::Comment),
        ("attribute_list", Role::Attribute),
        ("namespace_use_declaration", Role::Import),
        ("require_expression", Role::Import),
        ("require_once_expression", Role::Import),
        ("include_expression", Role::Import),
        ("include_once_expression", Role::Import),
        ("if_statement", Role::Group),
        ("else_clause", Role::Inline),
        ("else_if_clause", Role::Inline),
        ("compound_statement", Role::Inline),
        ("declaration_list", Role::Inline),
        ("enum_declaration_list", Role::Inline),
        ("namespace_definition", Role::Type(SymbolKind::Module)),
        ("class_declaration", Role::Type(SymbolKind::Class)),
        ("anonymous_class", Role::Type(SymbolKind::Class)),
        ("interface_declaration", Role::Type(SymbolKind::Interface)),
        ("trait_declaration", Role::Type(SymbolKind::Trait)),
        ("enum_declaration", Role::Type(SymbolKind::Enum)),
        ("function_definition", Role::Function(SymbolKind::Function)),
        ("method_declaration", Role::Function(SymbolKind::Method)),
        ("anonymous_function", Role::Function(SymbolKind::Function)),
        ("arrow_function", Role::Function(SymbolKind::Function)),
        ("expression_statement", Role::Binding),
        ("assignment_expression", Role::Binding),
        ("return_statement", Role::Binding),
        ("object_creation_expression", Role::Binding),
    ],
    titles: &["name", "left"],
    bodies: &["compound_statement", "colon_block", "declaration_list", "enum_declaration_list", "switch_block", "match_block", "array_creation_expression", "arguments"],
    clauses: &["else_clause", "else_if_clause", "catch_clause", "finally_clause", "case_statement", "default_statement"],
    announced: &[SymbolKind::Module],
    lines: Lines { has_heredocs: true, has_hash_comments: true, ..Lines::BASE },
    ..Language::BASE
};
