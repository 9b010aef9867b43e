//! Describes handlers in the OpenAPI document: each type of their arguments and answers describes its own part.

use std::convert::Infallible;

use axum::extract::State;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::extract::{Body, Path, Query};
use crate::problem::Problem;

/// Describes an argument of a handler in an operation.
pub(crate) trait Input {
    fn describe(operation: &mut Map<String, Value>, schemas: &mut SchemaGenerator);
}

/// Describes the answer of a handler.
pub(crate) trait Output {
    fn describe(operation: &mut Map<String, Value>, schemas: &mut SchemaGenerator);
}

/// A handler whose arguments and answer can be described.
pub(crate) trait Described<Arguments> {
    fn describe(
        operation: &mut Map<String, Value>,
        read: &mut SchemaGenerator,
        written: &mut SchemaGenerator,
    );
}

macro_rules! described {
    ($($argument:ident),*) => {
        impl<F, Answered, Answer, $($argument),*> Described<($($argument,)*)> for F
        where
            F: Fn($($argument),*) -> Answered,
            Answered: Future<Output = Answer>,
            Answer: Output,
            $($argument: Input,)*
        {
            fn describe(operation: &mut Map<String, Value>, read: &mut SchemaGenerator, written: &mut SchemaGenerator) {
                $($argument::describe(operation, read);)*
                let _ = &read;
                Answer::describe(operation, written);
            }
        }
    };
}

described!();
described!(A1);
described!(A1, A2);
described!(A1, A2, A3);
described!(A1, A2, A3, A4);
described!(A1, A2, A3, A4, A5);

impl<S> Input for State<S> {
    fn describe(_: &mut Map<String, Value>, _: &mut SchemaGenerator) {}
}

impl<T: JsonSchema> Input for Body<T> {
    fn describe(operation: &mut Map<String, Value>, schemas: &mut SchemaGenerator) {
        let schema = schemas.subschema_for::<T>();
        let content = json!({ "application/json": { "schema": schema } });
        operation.insert("requestBody".into(), json!({ "required": true, "content": content }));
    }
}

impl<T: JsonSchema> Input for Query<T> {
    fn describe(operation: &mut Map<String, Value>, schemas: &mut SchemaGenerator) {
        add_parameters::<T>("query", operation, schemas);
    }
}

impl<T: JsonSchema> Input for Path<T> {
    fn describe(operation: &mut Map<String, Value>, schemas: &mut SchemaGenerator) {
        add_parameters::<T>("path", operation, schemas);
    }
}

/// Adds each property of `T` as a parameter.
fn add_parameters<T: JsonSchema>(
    place: &str,
    operation: &mut Map<String, Value>,
    schemas: &mut SchemaGenerator,
) {
    let schema = T::json_schema(schemas);
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let properties = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let list = operation.entry("parameters").or_insert_with(|| json!([]));
    for (name, mut property) in properties {
        let is_required = place == "path" || required.contains(&json!(name));
        without_null(&mut property);
        let description = property.as_object_mut().and_then(|property| property.remove("description"));
        let mut parameter = json!({ "name": name, "in": place, "required": is_required, "schema": property });
        if let Some(description) = description {
            parameter["description"] = description;
        }
        if let Value::Array(list) = list {
            list.push(parameter);
        }
    }
}

/// Removes `null`: in a query, an absent parameter is omitted.
fn without_null(property: &mut Value) {
    let Value::Object(schema) = property else { return };
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|kind| kind != "null");
    }
    if let Some(Value::Array(forms)) = schema.get_mut("anyOf") {
        forms.retain(|form| form["type"] != "null");
    }
}

/// Adds a parameter that is a header.
pub(crate) fn add_header_parameter(operation: &mut Map<String, Value>, name: &str, description: &str) {
    if let Value::Array(list) = operation.entry("parameters").or_insert_with(|| json!([])) {
        let schema = json!({ "type": "string" });
        list.push(json!({ "name": name, "in": "header", "required": false, "description": description, "schema": schema }));
    }
}

/// Adds a header to the answer with a status.
pub(crate) fn add_header(operation: &mut Map<String, Value>, status: u16, name: &str, description: &str) {
    let answers = operation.entry("responses").or_insert_with(|| json!({}));
    answers[status.to_string()]["headers"][name] =
        json!({ "description": description, "required": true, "schema": { "type": "string" } });
}

/// Adds the answer with a status.
pub(crate) fn add_answer(
    operation: &mut Map<String, Value>,
    status: u16,
    description: &str,
    content: Option<Value>,
) {
    let mut answer = json!({ "description": description });
    if let Some(content) = content {
        answer["content"] = content;
    }
    operation.entry("responses").or_insert_with(|| json!({}))[status.to_string()] = answer;
}

impl<T: JsonSchema> Output for axum::Json<T> {
    fn describe(operation: &mut Map<String, Value>, schemas: &mut SchemaGenerator) {
        let schema = schemas.subschema_for::<T>();
        add_answer(operation, 200, "The answer.", Some(json!({ "application/json": { "schema": schema } })));
    }
}

impl<T: Output> Output for Result<T, Problem> {
    fn describe(operation: &mut Map<String, Value>, schemas: &mut SchemaGenerator) {
        T::describe(operation, schemas);
    }
}

impl<T: Output> Output for Result<T, Infallible> {
    fn describe(operation: &mut Map<String, Value>, schemas: &mut SchemaGenerator) {
        T::describe(operation, schemas);
    }
}
