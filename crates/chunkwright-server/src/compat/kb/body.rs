//! A JSON body that a request may omit.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::extract::Body;
use crate::openapi::Input;
use crate::problem::Problem;

/// The body of a request as JSON, or the default without a body.
pub(super) struct AnyBody<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned + Default + JsonSchema + 'static> FromRequest<S> for AnyBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let body = Bytes::from_request(Request::from_parts(parts.clone(), body), state).await;
        let body =
            body.map_err(|rejection| Problem::unreadable(rejection.status(), rejection.body_text()))?;
        if body.is_empty() {
            return Ok(Self(T::default()));
        }
        Body::from_request(Request::from_parts(parts, body.into()), state)
            .await
            .map(|Body(value)| Self(value))
    }
}

impl<T: JsonSchema> Input for AnyBody<T> {
    fn describe(operation: &mut Map<String, Value>, schemas: &mut SchemaGenerator) {
        Body::<T>::describe(operation, schemas);
        operation["requestBody"]["required"] = false.into();
    }
}
