//! Shell scripts.

use chunkwright::SymbolKind;

use crate::language::{Language, Lines, Role};

/// Bash and other shells near to it.
pub const LANGUAGE: Language = Language {
    name: "bash",
    extensions: &["sh", "bash", "zsh", "ksh", "bats", "ebuild"],
    file_names: &[".bashrc", ".bash_profile", ".bash_aliases", ".profile", ".zshrc", ".zshenv", "PKGBUILD", "APKBUILD"],
    interpreters: &["sh", "bash", "zsh", "dash", "ksh", "ash"],
    aliases: &["shell", "console", "shell-session"],
    grammar: || tree_sitter_bash::LANGUAGE.into(),
    roles: &[
        ("comment", Role::Comment),
        ("function_definition", Role::Function(SymbolKind::Function)),
        ("command", Role::Call),
        ("if_statement", Role::Group),
        ("else_clause", Role::Inline),
        ("elif_clause", Role::Inline),
    ],
    calls: &[("source", Role::Import), (".", Role::Import)],
    bodies: &["compound_statement", "do_group", "case_statement", "array", "subshell", "if_statement"],
    clauses: &["else_clause", "elif_clause", "case_item"],
    comment: ("# ", ""),
    lines: Lines { has_heredocs: true, is_shell: true, ..Lines::BASE },
    ..Language::BASE
};
