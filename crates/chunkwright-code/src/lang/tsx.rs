//! TypeScript with JSX: a grammar of its own, since `<T>x` means two things.

use super::typescript;
use crate::language::Language;

/// TypeScript with JSX.
pub const LANGUAGE: Language = Language {
    name: "tsx",
    extensions: &["tsx"],
    interpreters: &[],
    grammar: || tree_sitter_typescript::LANGUAGE_TSX.into(),
    bodies: &[
        "statement_block",
        "class_body",
        "interface_body",
        "enum_body",
        "object_type",
        "switch_body",
        "object",
        "array",
        "arguments",
        "jsx_element",
    ],
    ..typescript::LANGUAGE
};
