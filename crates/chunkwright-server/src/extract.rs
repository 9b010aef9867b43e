//! What do handlers take? As axum reads it, with failures as [`Problem`]s and in the OpenAPI document.

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::problem::Problem;

/// The body of a request as JSON.
pub(crate) struct Body<T>(pub(crate) T);

/// The body of a request as JSON, or the default where it has none.
pub(crate) struct AnyBody<T>(pub(crate) T);

/// The query of a request's address.
pub(crate) struct Query<T>(pub(crate) T);

/// The parameters of a path.
pub(crate) struct Path<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        match axum::Json::from_request(request, state).await {
            Ok(axum::Json(value)) => Ok(Self(value)),
            Err(rejection) => Err(Problem::unreadable(rejection.status(), rejection.body_text())),
        }
    }
}

impl<S: Send + Sync, T: DeserializeOwned + Default> FromRequest<S> for AnyBody<T> {
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

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        // A list repeats its key, as OpenAPI has it, which axum's own reader does not take.
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
