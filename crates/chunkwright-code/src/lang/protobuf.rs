//! Protocol Buffers.

use chunkwright::SymbolKind;

use crate::language::{Language, Role};

/// Protocol Buffers.
pub const LANGUAGE: Language = Language {
    name: "protobuf",
    extensions: &["proto"],
    aliases: &["protocol-buffer", "protocol-buffers"],
    grammar: || tree_sitter_proto::LANGUAGE.into(),
    roles: &[
        ("comment", Role::Comment),
        ("import", Role::Import),
        ("message_body", Role::Inline),
        ("enum_body", Role::Inline),
        ("message", Role::Type(SymbolKind::Struct)),
        ("enum", Role::Type(SymbolKind::Enum)),
        ("service", Role::Type(SymbolKind::Interface)),
        ("extend", Role::Type(SymbolKind::Impl)),
        ("rpc", Role::Function(SymbolKind::Function)),
    ],
    titles: &["message_name", "enum_name", "service_name", "rpc_name", "full_ident"],
    bodies: &["message_body", "enum_body", "oneof", "block_lit"],
    ..Language::BASE
};
