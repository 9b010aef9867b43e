//! GraphQL.

use chunkwright::SymbolKind;

use crate::language::{Language, Role};

/// GraphQL, schemas and queries.
pub const LANGUAGE: Language = Language {
    name: "graphql",
    extensions: &["graphql", "gql", "graphqls"],
    grammar: || tree_sitter_graphql::LANGUAGE.into(),
    roles: &[
        ("comment", Role::Comment),
        ("description", Role::Attribute),
        ("document", Role::Inline),
        ("definition", Role::Inline),
        ("executable_definition", Role::Inline),
        ("type_system_definition", Role::Inline),
        ("type_system_extension", Role::Inline),
        ("type_definition", Role::Inline),
        ("type_extension", Role::Inline),
        ("fields_definition", Role::Inline),
        ("input_fields_definition", Role::Inline),
        ("enum_values_definition", Role::Inline),
        ("object_type_definition", Role::Type(SymbolKind::Class)),
        ("object_type_extension", Role::Type(SymbolKind::Class)),
        ("interface_type_definition", Role::Type(SymbolKind::Interface)),
        ("interface_type_extension", Role::Type(SymbolKind::Interface)),
        ("input_object_type_definition", Role::Type(SymbolKind::Struct)),
        ("input_object_type_extension", Role::Type(SymbolKind::Struct)),
        ("union_type_definition", Role::Type(SymbolKind::Enum)),
        ("union_type_extension", Role::Type(SymbolKind::Enum)),
        ("enum_type_definition", Role::Type(SymbolKind::Enum)),
        ("enum_type_extension", Role::Type(SymbolKind::Enum)),
        ("scalar_type_definition", Role::Type(SymbolKind::Struct)),
        ("directive_definition", Role::Function(SymbolKind::Macro)),
        ("operation_definition", Role::Function(SymbolKind::Function)),
        ("fragment_definition", Role::Function(SymbolKind::Function)),
    ],
    titles: &["name", "fragment_name"],
    bodies: &["selection_set", "fields_definition", "input_fields_definition", "enum_values_definition", "arguments_definition"],
    comment: ("# ", ""),
    ..Language::BASE
};
