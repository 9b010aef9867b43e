//! PowerShell.

use chunkwright::SymbolKind;

use crate::language::{Language, Role};

/// PowerShell.
pub const LANGUAGE: Language = Language {
    name: "powershell",
    extensions: &["ps1", "psm1", "psd1"],
    interpreters: &["pwsh", "powershell"],
    aliases: &["pwsh", "posh"],
    grammar: || tree_sitter_powershell::LANGUAGE.into(),
    roles: &[
        ("comment", Role::Comment),
        ("statement_list", Role::Inline),
        ("pipeline", Role::Call),
        ("function_statement", Role::Function(SymbolKind::Function)),
        ("class_statement", Role::Type(SymbolKind::Class)),
        ("class_method_definition", Role::Function(SymbolKind::Function)),
        ("enum_statement", Role::Type(SymbolKind::Enum)),
        ("if_statement", Role::Group),
        ("statement_block", Role::Inline),
    ],
    calls: &[
        ("using", Role::Import),
        ("Import-Module", Role::Import),
        (".", Role::Import),
    ],
    titles: &["function_name", "simple_name"],
    bodies: &[
        "script_block",
        "script_block_body",
        "named_block_list",
        "statement_list",
        "switch_clauses",
        "hash_literal_body",
        "parameter_list",
    ],
    clauses: &["elseif_clause", "else_clause", "catch_clause", "finally_clause"],
    comment: ("# ", ""),
    ..Language::BASE
};
