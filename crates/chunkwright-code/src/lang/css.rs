//! CSS.

use crate::language::{Language, Role};

/// CSS. Rules are statements, so that those that stand together stay together.
pub const LANGUAGE: Language = Language {
    name: "css",
    extensions: &["css", "pcss", "postcss"],
    grammar: || tree_sitter_css::LANGUAGE.into(),
    roles: &[
        ("comment", Role::Comment),
        ("js_comment", Role::Comment),
        ("import_statement", Role::Import),
        ("charset_statement", Role::Attribute),
    ],
    titles: &[],
    bodies: &["block", "keyframe_block_list"],
    comment: ("/* ", " */"),
    ..Language::BASE
};
