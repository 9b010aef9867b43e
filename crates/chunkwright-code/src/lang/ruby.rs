//! Ruby.

use chunkwright::SymbolKind;

use crate::language::{Language, Lines, Role};

/// Ruby.
pub const LANGUAGE: Language = Language {
    name: "ruby",
    extensions: &["rb", "rake", "gemspec", "ru", "podspec", "rbw", "jbuilder"],
    file_names: &["Rakefile", "Gemfile", "Guardfile", "Capfile", "Vagrantfile", "Podfile", "Brewfile", "Fastfile"],
    interpreters: &["ruby", "jruby", "rake"],
    grammar: || tree_sitter_ruby::LANGUAGE.into(),
    roles: &[
        ("comment", Role::Comment),
        ("body_statement", Role::Inline),
        ("class", Role::Type(SymbolKind::Class)),
        ("singleton_class", Role::Type(SymbolKind::Class)),
        ("module", Role::Type(SymbolKind::Module)),
        ("method", Role::Function(SymbolKind::Function)),
        ("singleton_method", Role::Function(SymbolKind::Function)),
        ("call", Role::Call),
        ("if", Role::Group),
        ("unless", Role::Group),
        ("begin", Role::Group),
        ("then", Role::Inline),
        ("else", Role::Inline),
    ],
    calls: &[
        ("require", Role::Import),
        ("require_relative", Role::Import),
        ("load", Role::Import),
        ("autoload", Role::Import),
    ],
    titles: &["name", "value"],
    names: &["setter"],
    bodies: &["body_statement", "block_body", "do_block", "then", "hash", "array", "argument_list", "case"],
    clauses: &["else", "elsif", "when", "rescue", "ensure"],
    comment: ("# ", ""),
    limited_heredoc: Some("<<"),
    lines: Lines { has_heredocs: true, end_words: Some(&["begin", "case", "class", "def", "for", "if", "module", "unless", "until", "while"]), ..Lines::BASE },
    ..Language::BASE
};
