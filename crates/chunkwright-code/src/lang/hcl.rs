//! HCL, which Terraform, Packer and Nomad are configured in.

use chunkwright::SymbolKind;

use crate::language::{Language, Role};

/// HCL. Blocks with a meaning of their own are called by their type and labels.
pub const LANGUAGE: Language = Language {
    name: "hcl",
    extensions: &["hcl", "tf", "tfvars", "tofu", "nomad"],
    aliases: &["terraform", "opentofu"],
    grammar: || tree_sitter_hcl::LANGUAGE.into(),
    roles: &[("comment", Role::Comment), ("body", Role::Inline), ("block", Role::Call)],
    calls: &[
        ("resource", Role::Type(SymbolKind::Struct)),
        ("data", Role::Type(SymbolKind::Struct)),
        ("variable", Role::Type(SymbolKind::Struct)),
        ("output", Role::Type(SymbolKind::Struct)),
        ("module", Role::Type(SymbolKind::Struct)),
        ("provider", Role::Type(SymbolKind::Struct)),
        ("locals", Role::Type(SymbolKind::Struct)),
        ("terraform", Role::Type(SymbolKind::Struct)),
        ("source", Role::Type(SymbolKind::Struct)),
        ("build", Role::Type(SymbolKind::Struct)),
        ("job", Role::Type(SymbolKind::Struct)),
        ("group", Role::Type(SymbolKind::Struct)),
        ("task", Role::Type(SymbolKind::Struct)),
    ],
    titles: &[],
    bodies: &["block_start", "body", "object", "tuple", "function_arguments"],
    comment: ("# ", ""),
    ..Language::BASE
};
