//! What does the API take and answer? An OpenAPI 3.1 document that is made of the handlers themselves.
//!
//! A handler is added together with what it says of itself: the types of its arguments and of its answer, whose schemas
//! are derived where serde's code is. So the document cannot say what the code does not do. (The library for this,
//! `aide`, is released for an older `schemars` than the engine's.)

use std::convert::Infallible;
use std::fmt;

use axum::Router;
use axum::extract::State;
use axum::handler::Handler;
use axum::routing::{MethodFilter, on};
use chunkwright_engine::schema;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::app::Shared;
use crate::extract::{Body, Path, Query};
use crate::problem::Problem;

/// Where the document has its schemas.
const DEFINITIONS: &str = "#/components/schemas/";

/// A method of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

/// What a key must allow for an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// To look at what is indexed.
    Read,
    /// To change what is indexed.
    Write,
    /// To change how the server works, and to remove collections.
    Admin,
}

/// An operation of the API, beside what its handler says.
pub(crate) struct Operation {
    pub(crate) method: Method,
    /// Below the path of the API, with parameters as `{name}`.
    pub(crate) path: &'static str,
    /// Unique, in snake case: clients that are generated call a function so.
    pub(crate) id: &'static str,
    /// What it does, in one sentence.
    pub(crate) summary: &'static str,
    pub(crate) scope: Scope,
}

/// Operations with their handlers: a router, and the document about it.
pub(crate) struct Resources {
    router: Router<Shared>,
    paths: Map<String, Value>,
    read: SchemaGenerator,
    written: SchemaGenerator,
    scopes: Vec<(Method, &'static str, Scope)>,
}

/// What an argument of a handler adds to the description of an operation.
pub(crate) trait Input {
    fn describe(operation: &mut Map<String, Value>, schemas: &mut SchemaGenerator);
}

/// What the answer of a handler adds.
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

impl Resources {
    pub(crate) fn new() -> Self {
        let at = |mut settings: schemars::generate::SchemaSettings| {
            settings.definitions_path = DEFINITIONS.trim_start_matches('#').trim_end_matches('/').into();
            settings.meta_schema = None;
            settings.into_generator()
        };
        Self {
            router: Router::new(),
            paths: Map::new(),
            read: at(schema::of_requests()),
            written: at(schema::of_answers()),
            scopes: Vec::new(),
        }
    }

    /// Adds an operation, under the group that documentation shows it in.
    pub(crate) fn add<H, T, A>(mut self, group: &str, operation: Operation, handler: H) -> Self
    where
        H: Handler<T, Shared> + Described<A>,
        T: 'static,
    {
        let Operation { method, path, id, summary, scope } = operation;
        let mut described = Map::new();
        described.insert("operationId".into(), id.into());
        described.insert("tags".into(), json!([group]));
        described.insert("summary".into(), summary.into());
        described.insert("x-scope".into(), json!(scope));
        H::describe(&mut described, &mut self.read, &mut self.written);
        let problem = self.written.subschema_for::<Problem>();
        let failure = json!({
            "description": "What was wrong, and what would be right.",
            "content": { "application/problem+json": { "schema": problem } },
        });
        let answers = described.entry("responses").or_insert_with(|| json!({}));
        answers["default"] = failure;
        let item = self.paths.entry(format!("{}{path}", super::api::PREFIX)).or_insert_with(|| json!({}));
        item[method.to_string()] = described.into();
        self.router = self.router.route(path, on(method.filter(), handler));
        self.scopes.push((method, path, scope));
        self
    }

    /// The router, the document, and what each operation needs.
    pub(crate) fn finish(self, info: Value) -> (Router<Shared>, Value, Vec<(Method, &'static str, Scope)>) {
        let Self { router, paths, mut read, mut written, scopes } = self;
        let mut schemas = written.take_definitions(true);
        for schema in schemas.values_mut() {
            if let Ok(mut typed) = Schema::try_from(schema.clone()) {
                schema::without_nulls(&mut typed);
                *schema = typed.into();
            }
        }
        let mut paths = Value::Object(paths);
        // What is read and written has one schema where both forms are equal; else the one that is read has a name of its own.
        let mut requests = Value::Object(read.take_definitions(true));
        let differing = |requests: &Value| -> Vec<String> {
            let requests = requests.as_object().into_iter().flatten();
            requests
                .filter(|(name, schema)| schemas.get(*name).is_some_and(|known| known != *schema))
                .map(|(name, _)| name.clone())
                .collect()
        };
        for name in differing(&requests) {
            let (from, to) = (format!("{DEFINITIONS}{name}"), format!("{DEFINITIONS}{name}Input"));
            rename(&mut requests, &from, &to);
            for operation in paths
                .as_object_mut()
                .into_iter()
                .flatten()
                .flat_map(|(_, item)| item.as_object_mut())
                .flatten()
            {
                for part in ["requestBody", "parameters"] {
                    if let Some(part) = operation.1.get_mut(part) {
                        rename(part, &from, &to);
                    }
                }
            }
            if let Some(requests) = requests.as_object_mut()
                && let Some(schema) = requests.remove(&name)
            {
                requests.insert(format!("{name}Input"), schema);
            }
        }
        if let Value::Object(requests) = requests {
            schemas.extend(requests);
        }
        let document = json!({
            "openapi": "3.1.0",
            "info": info,
            "paths": paths,
            "components": {
                "schemas": schemas,
                "securitySchemes": { "key": { "type": "http", "scheme": "bearer" } },
            },
            "security": [{}, { "key": [] }],
        });
        (router, document, scopes)
    }
}

/// Lets every reference to `from` be one to `to`.
fn rename(value: &mut Value, from: &str, to: &str) {
    match value {
        Value::Object(object) => {
            if object.get("$ref").is_some_and(|reference| reference == from) {
                object.insert("$ref".into(), to.into());
            }
            object.values_mut().for_each(|value| rename(value, from, to));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| rename(value, from, to)),
        _ => {}
    }
}

impl Method {
    fn filter(self) -> MethodFilter {
        match self {
            Self::Get => MethodFilter::GET,
            Self::Post => MethodFilter::POST,
            Self::Put => MethodFilter::PUT,
            Self::Patch => MethodFilter::PATCH,
            Self::Delete => MethodFilter::DELETE,
        }
    }
}

impl From<Method> for axum::http::Method {
    fn from(method: Method) -> Self {
        match method {
            Method::Get => Self::GET,
            Method::Post => Self::POST,
            Method::Put => Self::PUT,
            Method::Patch => Self::PATCH,
            Method::Delete => Self::DELETE,
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Get => "get",
            Self::Post => "post",
            Self::Put => "put",
            Self::Patch => "patch",
            Self::Delete => "delete",
        })
    }
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

/// Each property of `T` is a parameter.
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
        // A parameter that is absent is not there: a query has no `null`.
        if let Some(Value::Array(types)) = property.get_mut("type") {
            types.retain(|kind| kind != "null");
        }
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

/// Says what is answered under a status.
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
