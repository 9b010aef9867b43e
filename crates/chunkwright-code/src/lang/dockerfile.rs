//! Dockerfiles.

use crate::language::{Language, Role};

/// Dockerfiles and Containerfiles.
pub const LANGUAGE: Language = Language {
    name: "dockerfile",
    extensions: &["dockerfile", "containerfile"],
    file_names: &["Dockerfile", "Dockerfile.*", "Containerfile", "Containerfile.*"],
    aliases: &["docker"],
    grammar: || tree_sitter_containerfile::LANGUAGE.into(),
    roles: &[("comment", Role::Comment)],
    comment: ("# ", ""),
    ..Language::BASE
};
