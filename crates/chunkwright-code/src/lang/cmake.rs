//! `CMake`.

use chunkwright::SymbolKind;

use crate::language::{Language, Role};

/// `CMake`.
pub const LANGUAGE: Language = Language {
    name: "cmake",
    extensions: &["cmake"],
    file_names: &["CMakeLists.txt"],
    interpreters: &["cmake"],
    grammar: || tree_sitter_cmake::LANGUAGE.into(),
    roles: &[
        ("line_comment", Role::Comment),
        ("bracket_comment", Role::Comment),
        ("normal_command", Role::Call),
        ("function_def", Role::Function(SymbolKind::Function)),
        ("macro_def", Role::Function(SymbolKind::Macro)),
        ("if_condition", Role::Group),
        ("body", Role::Inline),
    ],
    calls: &[("include", Role::Import), ("find_package", Role::Import), ("add_subdirectory", Role::Import)],
    titles: &["function_command", "macro_command", "argument_list", "argument"],
    names: &["argument"],
    bodies: &["body", "argument_list"],
    clauses: &["elseif_command", "else_command"],
    comment: ("# ", ""),
    ..Language::BASE
};
