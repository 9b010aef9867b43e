//! JavaScript.

use chunkwright::SymbolKind;

use crate::language::{Language, Role};

/// JavaScript with JSX.
pub const LANGUAGE: Language = Language {
    name: "javascript",
    extensions: &["js", "jsx", "mjs", "cjs", "es6"],
    file_names: &["Jakefile"],
    interpreters: &["node", "nodejs", "deno", "bun"],
    aliases: &["node", "ecmascript"],
    grammar: || tree_sitter_javascript::LANGUAGE.into(),
    roles: &[
        ("hash_bang_line", Role::Comment),
        ("comment", Role::Comment),
        ("decorator", Role::Attribute),
        ("import_statement", Role::Import),
        ("export_statement", Role::Wrapper),
        ("class_body", Role::Inline),
        ("class_declaration", Role::Type(SymbolKind::Class)),
        ("class", Role::Type(SymbolKind::Class)),
        ("function_declaration", Role::Function(SymbolKind::Function)),
        ("generator_function_declaration", Role::Function(SymbolKind::Function)),
        ("function_expression", Role::Function(SymbolKind::Function)),
        ("generator_function", Role::Function(SymbolKind::Function)),
        ("arrow_function", Role::Function(SymbolKind::Function)),
        ("method_definition", Role::Function(SymbolKind::Function)),
        ("lexical_declaration", Role::Binding),
        ("variable_declaration", Role::Binding),
        ("variable_declarator", Role::Binding),
        ("expression_statement", Role::Binding),
        ("assignment_expression", Role::Binding),
        ("pair", Role::Binding),
        ("call_expression", Role::Call),
        ("if_statement", Role::Group),
        ("else_clause", Role::Inline),
        ("try_statement", Role::Group),
        ("statement_block", Role::Inline),
    ],
    own_roles: &[
        ("field_definition", Role::Binding),
    ],
    // What wraps a function is one, by the name that it is bound to.
    calls: &[
        ("require", Role::Import),
        ("import", Role::Import),
        ("computed", Role::Parameter),
        ("memo", Role::Parameter),
        ("forwardRef", Role::Parameter),
        ("useCallback", Role::Parameter),
        ("useMemo", Role::Parameter),
    ],
    titles: &["name", "left", "property", "key"],
    bodies: &[
        "statement_block",
        "class_body",
        "switch_body",
        "object",
        "array",
        "arguments",
        "jsx_element",
    ],
    clauses: &["else_clause", "catch_clause", "finally_clause"],
    ..Language::BASE
};
