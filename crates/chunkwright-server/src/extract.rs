//! Extractors of handlers: those of axum, with failures as [`Problem`]s and a description in the OpenAPI document.

mod parameters;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use chunkwright_engine::pointer_to;
use chunkwright_engine::schema::{Misshapen, check_shape};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::Segment;

pub(crate) use self::parameters::{Parameters, check_parameters, no_parameters};
use crate::problem::Problem;

/// The body of a request as JSON.
pub(crate) struct Body<T>(pub(crate) T);

/// The query of a request's address.
pub(crate) struct Query<T>(pub(crate) T);

/// The parameters of a path.
pub(crate) struct Path<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + JsonSchema + 'static> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        if !is_json(request.headers()) {
            let detail = "the body is not JSON; send it with `Content-Type: application/json`";
            return Err(Problem::unreadable(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail));
        }
        let bytes = Bytes::from_request(request, state).await;
        let bytes = bytes.map_err(|error| Problem::unreadable(error.status(), error.body_text()))?;
        // Bytes that are not JSON are reported by the reader.
        let mut json = bytes;
        if let Ok(mut value) = serde_json::from_slice::<Value>(&json) {
            let wrong = |Misshapen { pointer, sentence }| {
                Problem::unreadable(StatusCode::UNPROCESSABLE_ENTITY, &*sentence).at(&pointer, &sentence)
            };
            if check_shape::<T>(&mut value).map_err(wrong)? {
                json = value.to_string().into();
            }
        }
        let mut reader = serde_json::Deserializer::from_slice(&json);
        let read = serde_path_to_error::deserialize(&mut reader).map_err(|error| malformed(&error))?;
        reader.end().map_err(|error| not_json(&error))?;
        Ok(Self(read))
    }
}

/// The problem of a body that is not JSON.
fn not_json(error: &serde_json::Error) -> Problem {
    Problem::invalid(format!("the body is not valid JSON: {error}"))
}

/// The problem of JSON that a type does not accept, with the place of what is wrong.
fn malformed(error: &serde_path_to_error::Error<serde_json::Error>) -> Problem {
    let (path, inner) = (error.path(), error.inner());
    if !inner.is_data() {
        return not_json(inner);
    }
    let said = inner.to_string();
    // Lines and columns mean nothing where the client did not write the JSON itself.
    let place = format!(" at line {} column {}", inner.line(), inner.column());
    let said = said.strip_suffix(&place).unwrap_or(&said);
    // serde's own messages are about the shape; all others are of types that reject a value.
    let is_value = !OF_SHAPE.iter().any(|begin| said.contains(begin));
    let status = if is_value { StatusCode::BAD_REQUEST } else { StatusCode::UNPROCESSABLE_ENTITY };
    let pointer: String = path
        .iter()
        .map_while(|segment| match segment {
            Segment::Seq { index } => Some(pointer_to(index)),
            Segment::Map { key } => Some(pointer_to(key)),
            Segment::Enum { .. } | Segment::Unknown => None,
        })
        .collect();
    let detail = if pointer.is_empty() { said.to_owned() } else { format!("`{path}`: {said}") };
    Problem::unreadable(status, detail).at(&pointer, said)
}

/// The beginnings of serde's messages about the shape of a value.
const OF_SHAPE: [&str; 8] = [
    "invalid type: ",
    "invalid value: ",
    "invalid length ",
    "unknown variant ",
    "unknown field ",
    "missing field ",
    "duplicate field ",
    "data did not match any variant",
];

fn is_json(headers: &HeaderMap) -> bool {
    let given = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let subtype = media_type.strip_prefix("application/");
    subtype.is_some_and(|subtype| subtype == "json" || subtype.ends_with("+json"))
}

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        // In OpenAPI, a list repeats its key, which axum's own reader does not support.
        let query = parts.uri.query().unwrap_or_default();
        serde_html_form::from_str(query).map(Self).map_err(|error| {
            Problem::unreadable(StatusCode::BAD_REQUEST, format!("the query cannot be read: {error}"))
        })
    }
}

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match axum::extract::Path::from_request_parts(parts, state).await {
            Ok(axum::extract::Path(value)) => Ok(Self(value)),
            Err(rejection) => Err(Problem::unreadable(rejection.status(), rejection.body_text())),
        }
    }
}
