//! The OpenAPI 3.1 document, generated from the handlers.
//!
//! A handler is added together with its description: the types of its arguments and of its answer, whose schemas are
//! derived beside serde's code. So the document cannot contradict the code. (The library for this, `aide`, is released
//! for an older `schemars` than the engine's.)

mod describe;

use std::fmt;

use axum::Router;
use axum::handler::Handler;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodFilter, on};
use chunkwright_engine::schema;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

pub(crate) use describe::{Described, Input, Output, add_answer, add_header, add_header_parameter};

use crate::app::Shared;
use crate::extract::{Parameters, check_parameters};
use crate::problem::Problem;

/// The path of schemas in the document.
const DEFINITIONS: &str = "#/components/schemas/";

/// An HTTP method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

/// The scope that an operation needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Reads what is indexed.
    Read,
    /// Changes what is indexed.
    Write,
    /// Changes how the server works, and removes collections.
    Admin,
}

/// An operation of the API, apart from the description by its handler.
pub(crate) struct Operation {
    pub(crate) method: Method,
    /// The path, with parameters as `{name}`.
    pub(crate) path: &'static str,
    /// Unique, in snake case: generated clients use it as a function name.
    pub(crate) id: &'static str,
    /// A one-sentence summary.
    pub(crate) summary: &'static str,
    pub(crate) scope: Scope,
}

impl Operation {
    /// An operation that changes nothing.
    pub(crate) const fn read(
        method: Method,
        path: &'static str,
        id: &'static str,
        summary: &'static str,
    ) -> Self {
        Self { method, path, id, summary, scope: Scope::Read }
    }

    /// An operation that changes what is indexed.
    pub(crate) const fn write(
        method: Method,
        path: &'static str,
        id: &'static str,
        summary: &'static str,
    ) -> Self {
        Self { method, path, id, summary, scope: Scope::Write }
    }

    /// An operation that removes collections, or changes how the server works.
    pub(crate) const fn admin(
        method: Method,
        path: &'static str,
        id: &'static str,
        summary: &'static str,
    ) -> Self {
        Self { method, path, id, summary, scope: Scope::Admin }
    }
}

/// The scope that each operation needs.
pub(crate) type Scopes = Vec<(Method, &'static str, Scope)>;

/// Operations with their handlers: a router, and its OpenAPI document.
pub(crate) struct Resources {
    router: Router<Shared>,
    paths: Map<String, Value>,
    read: SchemaGenerator,
    written: SchemaGenerator,
    scopes: Scopes,
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

    /// Adds an operation to a group of the documentation.
    pub(crate) fn add<H, T, A>(mut self, group: &str, operation: &Operation, handler: H) -> Self
    where
        H: Handler<T, Shared> + Described<A>,
        T: 'static,
    {
        let Operation { method, path, id, summary, scope } = *operation;
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
        if answers.get("default").is_none() {
            answers["default"] = failure;
        }
        let parameters = Parameters::described(&described);
        let item = self.paths.entry(path).or_insert_with(|| json!({}));
        item[method.to_string()] = described.into();
        let checked = from_fn_with_state(parameters, check_parameters);
        self.router = self.router.route(path, on(method.filter(), handler).route_layer(checked));
        self.scopes.push((method, path, scope));
        self
    }

    /// Returns the router, the document, and the scope of each operation.
    pub(crate) fn finish(self, info: &Value) -> (Router<Shared>, Value, Scopes) {
        let Self { router, paths, mut read, mut written, scopes } = self;
        let mut schemas = written.take_definitions(true);
        for schema in schemas.values_mut() {
            if let Ok(mut typed) = Schema::try_from(schema.clone()) {
                schema::without_nulls(&mut typed);
                *schema = typed.into();
            }
        }
        let mut paths = Value::Object(paths);
        // Types whose request and answer schemas are equal share one schema. Otherwise the request schema gets a name
        // of its own, and so do all schemas that refer to it.
        let mut requests = Value::Object(read.take_definitions(true));
        while let Some(name) = differing(&requests, &schemas) {
            let (from, to) = (format!("{DEFINITIONS}{name}"), format!("{DEFINITIONS}{name}Input"));
            rename(&mut requests, &from, &to);
            let items = paths.as_object_mut().into_iter().flatten();
            for (_, operation) in items.filter_map(|(_, item)| item.as_object_mut()).flatten() {
                for part in ["requestBody", "parameters"] {
                    if let Some(part) = operation.get_mut(part) {
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
            "servers": [{ "url": "/" }],
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

/// Finds a schema whose request and answer forms differ.
fn differing(requests: &Value, schemas: &Map<String, Value>) -> Option<String> {
    let mut requests = requests.as_object().into_iter().flatten();
    let found = requests.find(|(name, schema)| schemas.get(*name).is_some_and(|known| known != *schema));
    found.map(|(name, _)| name.clone())
}

/// Changes every reference to `from` into one to `to`.
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
