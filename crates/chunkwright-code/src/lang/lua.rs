//! Lua.

use chunkwright::SymbolKind;

use crate::language::{Language, Lines, Role};

/// Lua.
pub const LANGUAGE: Language = Language {
    name: "lua",
    extensions: &["lua", "rockspec"],
    interpreters: &["lua", "luajit", "texlua"],
    grammar: || tree_sitter_lua::LANGUAGE.into(),
    roles: &[
        ("hash_bang_line", Role::Comment),
        ("comment", Role::Comment),
        ("function_declaration", Role::Function(SymbolKind::Function)),
        ("function_definition", Role::Function(SymbolKind::Function)),
        ("variable_declaration", Role::Binding),
        ("assignment_statement", Role::Binding),
        ("expression_list", Role::Binding),
        ("field", Role::Binding),
        ("function_call", Role::Call),
        ("if_statement", Role::Group),
        ("do_statement", Role::Group),
        ("elseif_statement", Role::Inline),
        ("else_statement", Role::Inline),
        ("block", Role::Inline),
    ],
    calls: &[("require", Role::Import), ("dofile", Role::Import)],
    titles: &["name", "variable_list"],
    bodies: &["block", "table_constructor", "arguments"],
    clauses: &["elseif_statement", "else_statement"],
    comment: ("-- ", ""),
    lines: Lines { end_words: Some(&["do", "for", "function", "if", "local function", "while"]), ..Lines::BASE },
    ..Language::BASE
};
