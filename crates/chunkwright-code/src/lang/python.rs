//! Python.

use chunkwright::SymbolKind;

use crate::language::{Indentation, Language, Lines, Role};

/// Python, stubs and build scripts included.
pub const LANGUAGE: Language = Language {
    name: "python",
    extensions: &["py", "pyi", "pyw"],
    file_names: &["SConstruct", "SConscript"],
    interpreters: &["python", "pypy", "uv"],
    aliases: &["python3", "py3"],
    grammar: || tree_sitter_python::LANGUAGE.into(),
    roles: &[
        ("block", Role::Inline),
        ("decorated_definition", Role::Inline),
        ("decorator", Role::Attribute),
        ("comment", Role::Comment),
        ("import_statement", Role::Import),
        ("import_from_statement", Role::Import),
        ("future_import_statement", Role::Import),
        ("class_definition", Role::Type(SymbolKind::Class)),
        ("function_definition", Role::Function(SymbolKind::Function)),
        ("if_statement", Role::Group),
        ("elif_clause", Role::Inline),
        ("else_clause", Role::Inline),
        ("try_statement", Role::Group),
        ("except_clause", Role::Inline),
        ("finally_clause", Role::Inline),
        ("with_statement", Role::Group),
        ("for_statement", Role::Group),
        ("while_statement", Role::Group),
    ],
    bodies: &["block", "dictionary", "list", "set", "tuple", "argument_list"],
    clauses: &["elif_clause", "else_clause", "except_clause", "finally_clause"],
    docstring: Some(("expression_statement", "string")),
    comment: ("# ", ""),
    lines: Lines { indentation: Some(Indentation { nothing: "pass", opening: "if 1:", empty: "if 1:pass" }), ..Lines::BASE },
    ..Language::BASE
};
