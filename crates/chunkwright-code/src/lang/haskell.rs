//! Haskell.

use chunkwright::SymbolKind;

use crate::language::{Language, Lines, Role};

/// Haskell.
pub const LANGUAGE: Language = Language {
    name: "haskell",
    extensions: &["hs", "hs-boot", "hsc"],
    interpreters: &["runhaskell", "runghc", "stack", "cabal"],
    aliases: &["ghci"],
    grammar: || tree_sitter_haskell::LANGUAGE.into(),
    roles: &[
        ("comment", Role::Comment),
        ("haddock", Role::Comment),
        ("pragma", Role::Comment),
        ("imports", Role::Inline),
        ("import", Role::Import),
        ("declarations", Role::Inline),
        ("class_declarations", Role::Inline),
        ("instance_declarations", Role::Inline),
        ("class", Role::Type(SymbolKind::Trait)),
        ("instance", Role::Type(SymbolKind::Impl)),
        ("data_type", Role::Type(SymbolKind::Enum)),
        ("newtype", Role::Type(SymbolKind::Struct)),
        ("type_synonym", Role::Type(SymbolKind::Struct)),
        ("type_family", Role::Type(SymbolKind::Struct)),
        ("data_family", Role::Type(SymbolKind::Struct)),
        // A signature is the first equation of its function, and a function where it has no equation.
        ("signature", Role::Function(SymbolKind::Function)),
        ("function", Role::Function(SymbolKind::Function)),
        ("bind", Role::Function(SymbolKind::Function)),
        ("foreign_import", Role::Function(SymbolKind::Function)),
        ("pattern_synonym", Role::Function(SymbolKind::Function)),
    ],
    titles: &[
        "type_patterns",
        "name",
        "names",
        "synonym",
        "infix",
        "operator",
        "equation",
        "signature",
        "pattern",
        "function",
    ],
    names: &["type_patterns", "binding_list", "tuple"],
    bodies: &[
        "class_declarations",
        "instance_declarations",
        "data_constructors",
        "gadt_constructors",
        "match",
        "local_binds",
        "do",
        "alternatives",
        "list",
        "record",
    ],
    comment: ("-- ", ""),
    joins_equations: true,
    has_local_values: true,
    lines: Lines { has_characters: true, ..Lines::BASE },
    ..Language::BASE
};
