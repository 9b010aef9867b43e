//! JSON Schema of the options of searches, made from their table.

use schemars::{Schema, json_schema};
use serde_json::{Map, Value, json};

use crate::request::search::options::{OptionValues, SEARCH_OPTIONS, SearchOption};

/// The schema of the options of a search by their names, as an object. Beside what JSON Schema has, an option says as
/// `x-pointer` where it stands in a request, as `x-values` what its names are there, and its group, its flag, and what it
/// needs.
pub fn of_search() -> Schema {
    let properties: Map<String, Value> =
        SEARCH_OPTIONS.iter().map(|option| (option.name.to_owned(), of_option(option))).collect();
    json_schema!({ "type": "object", "properties": properties, "additionalProperties": false })
}

/// The schema of an option, as [`of_search`] has it.
pub fn of_option(option: &SearchOption) -> Value {
    let mut schema = match option.values {
        OptionValues::Number(..) => json!({ "type": "integer" }),
        OptionValues::Decimal(..) => json!({ "type": "number" }),
        OptionValues::OneOf(names) => json!({ "type": "string", "enum": names }),
        OptionValues::Flag => json!({ "type": "boolean" }),
        OptionValues::Filter => json!({ "type": "string", "format": "filter" }),
        OptionValues::Expand => json!({ "type": "string", "pattern": "^(parent|merge|[0-9]{1,9})$" }),
    };
    option.put_range(&mut schema);
    schema["description"] = option.help().into();
    let default = (option.default)();
    if !default.is_null() {
        schema["default"] = default;
    }
    schema["x-pointer"] = option.pointer.into();
    schema["x-group"] = json!(option.group);
    if let OptionValues::OneOf(names) = option.values {
        let names = names.iter().map(|name| option.json_of(name));
        schema["x-values"] = names.collect();
    }
    if let Some(flag) = option.flag() {
        schema["x-flag"] = flag.into();
    }
    if let Some(switch) = option.switch {
        schema["x-switch"] = switch.value.into();
    }
    if let Some(needs) = option.needs {
        schema["x-needs"] = json!(needs);
    }
    schema
}
