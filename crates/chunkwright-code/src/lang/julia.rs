//! Julia.

use chunkwright::SymbolKind;

use crate::language::{Language, Role};

/// Julia.
pub const LANGUAGE: Language = Language {
    name: "julia",
    extensions: &["jl"],
    interpreters: &["julia"],
    grammar: || tree_sitter_julia::LANGUAGE.into(),
    roles: &[
        ("line_comment", Role::Comment),
        ("block_comment", Role::Comment),
        // A text above a symbol documents it.
        ("string_literal", Role::Comment),
        ("import_statement", Role::Import),
        ("using_statement", Role::Import),
        ("module_definition", Role::Type(SymbolKind::Module)),
        ("struct_definition", Role::Type(SymbolKind::Struct)),
        ("abstract_definition", Role::Type(SymbolKind::Struct)),
        ("primitive_definition", Role::Type(SymbolKind::Struct)),
        ("function_definition", Role::Function(SymbolKind::Function)),
        ("macro_definition", Role::Function(SymbolKind::Macro)),
        ("assignment", Role::Equation),
        ("call_expression", Role::Call),
        ("macrocall_expression", Role::Binding),
        ("macro_argument_list", Role::Binding),
        ("const_statement", Role::Binding),
        ("if_statement", Role::Group),
        ("else_clause", Role::Inline),
        ("elseif_clause", Role::Inline),
    ],
    calls: &[("include", Role::Import)],
    titles: &["name", "macro_argument_list"],
    names: &["field_expression", "parenthesized_expression", "identifier", "operator"],
    bodies: &[
        "module_definition",
        "struct_definition",
        "function_definition",
        "macro_definition",
        "if_statement",
        "for_statement",
        "while_statement",
        "let_statement",
        "do_clause",
        "try_statement",
        "compound_statement",
        "argument_list",
        "vector_expression",
        "tuple_expression",
    ],
    heads: &[
        "identifier",
        "operator",
        "signature",
        "type_head",
        "call_expression",
        "typed_expression",
        "where_expression",
        "field_expression",
        "parenthesized_expression",
        "binary_expression",
        "parametrized_type_expression",
        "function_definition",
        "struct_definition",
        "abstract_definition",
        "assignment",
    ],
    clauses: &["else_clause", "elseif_clause", "catch_clause", "finally_clause"],
    comment: ("# ", ""),
    ..Language::BASE
};
