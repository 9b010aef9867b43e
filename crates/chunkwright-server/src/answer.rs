//! Responses of handlers other than JSON with status 200. Each form also describes itself in the OpenAPI document.

use std::fmt::Write as _;
use std::marker::PhantomData;

use axum::Json;
use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE, ETAG, IF_MATCH, IF_NONE_MATCH, LOCATION,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::guard::encoding::unencoded;
use crate::openapi::{Input, Output, add_answer, add_header, add_header_parameter};
use crate::problem::Problem;

/// An answer as JSON, or a problem.
pub(crate) type Answer<T> = Result<Json<T>, Problem>;

/// The `ETag` of a content: its hash.
pub(crate) fn tag(content: &[u8]) -> String {
    format!("\"{}\"", &blake3::hash(content).to_hex()[..32])
}

/// The tags that a client names in `If-None-Match` or `If-Match`.
#[derive(Clone, Debug, Default)]
struct Tags(Vec<String>);

impl Tags {
    fn of(headers: &HeaderMap, name: &HeaderName) -> Self {
        let values = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
        Self(values.flat_map(|value| value.split(',')).map(|tag| tag.trim().to_owned()).collect())
    }

    /// Returns whether `tag` is among them. A proxy that compresses a content turns a strong tag into a weak one; it
    /// still names the same content, and so does the tag of our own encoding.
    fn name(&self, tag: &str) -> bool {
        self.0.iter().any(|named| named == "*" || unencoded(named.trim_start_matches("W/")) == tag)
    }
}

/// The tag of the content that a client already has (`If-None-Match`).
#[derive(Clone, Debug, Default)]
pub(crate) struct Has(Tags);

/// The tag of the content that a client expects to change (`If-Match`); without one, any content.
#[derive(Clone, Debug, Default)]
pub(crate) struct Expects(Tags);

impl Has {
    /// The answer `value`, unless the client already has it.
    pub(crate) fn tagged<T: Serialize>(&self, value: &T) -> Result<Tagged<T>, Problem> {
        let content = serde_json::to_vec(value).map_err(|_| Problem::internal())?;
        let tag = tag(&content);
        let content = (!self.0.name(&tag)).then_some(content);
        Ok(Tagged { tag, content, of: PhantomData })
    }

    /// Returns whether the client has the content with this tag.
    pub(crate) fn is(&self, tag: &str) -> bool {
        self.0.name(tag)
    }
}

impl Expects {
    /// The versions that the tags name, as requests of the engine expect them.
    pub(crate) fn versions(&self) -> Vec<String> {
        let version = |tag: &String| unencoded(tag.trim_start_matches("W/")).trim_matches('"').to_owned();
        self.0.0.iter().map(version).collect()
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Has {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Ok(Self(Tags::of(&parts.headers, &IF_NONE_MATCH)))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Expects {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Ok(Self(Tags::of(&parts.headers, &IF_MATCH)))
    }
}

impl Input for Has {
    fn describe(operation: &mut Map<String, Value>, _: &mut SchemaGenerator) {
        let description = "Tags of answers that the client has; one of them is answered by 304.";
        add_header_parameter(operation, "If-None-Match", description);
    }
}

impl Input for Expects {
    fn describe(operation: &mut Map<String, Value>, _: &mut SchemaGenerator) {
        let description = "Tag of what the client saw; if it is something else by now, nothing changes and the answer is 412.";
        add_header_parameter(operation, "If-Match", description);
    }
}

/// JSON with a tag, or nothing if the client already has it.
pub(crate) struct Tagged<T> {
    tag: String,
    content: Option<Vec<u8>>,
    of: PhantomData<T>,
}

impl<T> IntoResponse for Tagged<T> {
    fn into_response(self) -> Response {
        let headers = [(ETAG, self.tag), (CACHE_CONTROL, "no-cache".to_owned())];
        match self.content {
            Some(content) => (headers, [(CONTENT_TYPE, "application/json")], content).into_response(),
            None => (StatusCode::NOT_MODIFIED, headers).into_response(),
        }
    }
}

impl<T: JsonSchema> Output for Tagged<T> {
    fn describe(operation: &mut Map<String, Value>, schemas: &mut SchemaGenerator) {
        <Json<T> as Output>::describe(operation, schemas);
        add_header(operation, 200, "ETag", "Tag of the answer, for `If-None-Match`.");
        add_answer(operation, 304, "The client has the answer already.", None);
    }
}

/// A created resource and its location.
pub(crate) struct Created<T> {
    pub(crate) location: String,
    pub(crate) body: T,
}

/// Accepted work, and the location to follow it.
pub(crate) struct Accepted<T> {
    pub(crate) location: String,
    pub(crate) body: T,
}

fn located<T: Serialize>(status: StatusCode, location: &str, body: T) -> Response {
    match HeaderValue::from_str(location) {
        Ok(location) => (status, [(LOCATION, location)], Json(body)).into_response(),
        Err(_) => Problem::internal().into_response(),
    }
}

fn describe_located<T: JsonSchema>(
    (status, description): (u16, &str),
    operation: &mut Map<String, Value>,
    schemas: &mut SchemaGenerator,
) {
    let schema = schemas.subschema_for::<T>();
    let content = json!({ "application/json": { "schema": schema } });
    add_answer(operation, status, description, Some(content));
    add_header(operation, status, "Location", "Where it is.");
}

impl<T: Serialize> IntoResponse for Created<T> {
    fn into_response(self) -> Response {
        located(StatusCode::CREATED, &self.location, self.body)
    }
}

impl<T: Serialize> IntoResponse for Accepted<T> {
    fn into_response(self) -> Response {
        located(StatusCode::ACCEPTED, &self.location, self.body)
    }
}

impl<T: JsonSchema> Output for Created<T> {
    fn describe(operation: &mut Map<String, Value>, schemas: &mut SchemaGenerator) {
        describe_located::<T>((201, "It is stored, durably."), operation, schemas);
    }
}

impl<T: JsonSchema> Output for Accepted<T> {
    fn describe(operation: &mut Map<String, Value>, schemas: &mut SchemaGenerator) {
        describe_located::<T>((202, "A job does it."), operation, schemas);
    }
}

/// An answer without content.
pub(crate) struct Done;

impl IntoResponse for Done {
    fn into_response(self) -> Response {
        StatusCode::NO_CONTENT.into_response()
    }
}

impl Output for Done {
    fn describe(operation: &mut Map<String, Value>, _: &mut SchemaGenerator) {
        add_answer(operation, 204, "It is done.", None);
    }
}

/// The bytes of a file, as a download that a browser never shows, since users may upload anything.
pub(crate) struct File {
    pub(crate) name: String,
    pub(crate) media_type: String,
    /// Its `ETag`.
    pub(crate) tag: String,
}

impl File {
    /// Returns whether the client already has it.
    pub(crate) fn is_had(&self, has: &Has) -> bool {
        has.is(&self.tag)
    }

    /// The file with its content, unless the client already has it.
    pub(crate) fn unless(self, has: &Has, content: impl FnOnce() -> Body) -> Response {
        let Self { name, media_type, tag } = self;
        if has.is(&tag) {
            return (StatusCode::NOT_MODIFIED, [(ETAG, tag)]).into_response();
        }
        let disposition = attachment(&name);
        let headers = [
            (CONTENT_TYPE, &*media_type),
            (CONTENT_DISPOSITION, &*disposition),
            (X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (ETAG, &*tag),
            (CACHE_CONTROL, "no-cache"),
        ];
        (headers.map(|(name, value)| (name, value.to_owned())), content()).into_response()
    }
}

/// The disposition of a file that a browser saves under this name.
pub(crate) fn attachment(name: &str) -> String {
    format!("attachment; filename*=UTF-8''{}", encoded(name))
}

/// Percent-encodes a text as a path segment: everything except letters, digits and a few marks without a meaning there.
pub(crate) fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}
