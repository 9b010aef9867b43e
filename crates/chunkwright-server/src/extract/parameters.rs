//! Rejects unknown query parameters.
//!
//! If unknown parameters were ignored, an operation could do something else than its client asked for: with `dry-run`
//! instead of `dry_run` it would remove what it should only list. This check runs before every handler, so that none
//! can omit it.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use chunkwright_engine::suggestion;
use serde_json::{Map, Value};

use crate::problem::Problem;

/// The parameters of a query that an operation knows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parameters {
    list: Arc<[Parameter]>,
    /// Whether the operation takes a body too.
    has_body: bool,
}

#[derive(Clone, Debug)]
struct Parameter {
    name: String,
    /// Whether it may be given several times.
    is_list: bool,
    /// Whether it is a number or a boolean, which cannot be empty.
    is_value: bool,
}

impl Parameters {
    /// The parameters in the description of an operation.
    pub(crate) fn described(operation: &Map<String, Value>) -> Self {
        let parameters = operation.get("parameters").and_then(Value::as_array).into_iter().flatten();
        let of_query = parameters.filter(|it| it["in"] == "query");
        Self {
            has_body: operation.contains_key("requestBody"),
            list: of_query
                .map(|it| Parameter {
                    name: it["name"].as_str().unwrap_or_default().to_owned(),
                    is_list: it["schema"]["type"] == "array",
                    is_value: is_value(&it["schema"]["type"]),
                })
                .collect(),
        }
    }

    /// A single parameter called `name`.
    pub(crate) fn one(name: &str) -> Self {
        let list = [Parameter { name: name.to_owned(), is_list: false, is_value: false }].into();
        Self { list, has_body: false }
    }

    /// Fails if `query` has an unknown parameter, or repeats one that is not a list.
    pub(crate) fn check(&self, query: &str) -> Result<(), Problem> {
        let unreadable = |error| Problem::invalid(format!("the query cannot be read: {error}"));
        let given: Vec<(String, String)> = serde_html_form::from_str(query).map_err(unreadable)?;
        for (index, (name, value)) in given.iter().enumerate() {
            let Some(known) = self.list.iter().find(|known| known.name == *name) else {
                let right = match &*self.list {
                    [] => "this operation has none".to_owned(),
                    known => suggestion(name, known.iter().map(|known| known.name.as_str())),
                };
                let detail = format!("unknown parameter `{name}` of the query; {right}");
                return Err(Problem::invalid(detail).of_parameter(name));
            };
            if !known.is_list && given[..index].iter().any(|(other, _)| other == name) {
                let detail = format!("the query has parameter `{name}` twice; give it once");
                return Err(Problem::invalid(detail).of_parameter(name));
            }
            if known.is_value && value.is_empty() {
                let detail =
                    format!("parameter `{name}` of the query is empty; give a value or leave it out");
                return Err(Problem::invalid(detail).of_parameter(name));
            }
        }
        Ok(())
    }
}

impl Parameters {
    /// The response to a request. Without a body, what a problem is about is a parameter.
    fn named(&self, response: Response) -> Response {
        let problem = response.extensions().get::<Problem>().filter(|_| !self.has_body);
        match problem.and_then(|problem| problem.of_parameters(self.list.iter().map(|it| &*it.name))) {
            Some(problem) => problem.again(response),
            None => response,
        }
    }
}

/// Returns whether a type, or one of several, is numeric or boolean.
fn is_value(types: &Value) -> bool {
    let is_one = |kind: &Value| ["integer", "number", "boolean"].iter().any(|known| kind == known);
    types.as_array().map_or_else(|| is_one(types), |types| types.iter().any(is_one))
}

/// Rejects requests with parameters that the operation does not know.
pub(crate) async fn check_parameters(
    State(known): State<Parameters>,
    request: Request,
    next: Next,
) -> Response {
    match known.check(request.uri().query().unwrap_or_default()) {
        Ok(()) => known.named(next.run(request).await),
        Err(problem) => problem.into_response(),
    }
}

/// Rejects requests with any parameter.
pub(crate) async fn no_parameters(request: Request, next: Next) -> Response {
    check_parameters(State(Parameters::default()), request, next).await
}
