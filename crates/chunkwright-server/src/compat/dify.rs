//! A collection as external knowledge of Dify: its API word for word.
//!
//! Dify expects scores from 0 to 1, and a metadata object in every record. The relevance is such a score, on the same
//! scale for every query, so that Dify's threshold has a fixed meaning.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use chunkwright_engine::{Code, Error, Field, Filter, Found, Glob, Hit, SearchRequest};
use schemars::{JsonSchema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::app::Shared;
use crate::extract::Body;
use crate::openapi::{Method, Operation, Output, Resources, add_answer};
use crate::problem::Problem;

/// Prefix of the paths of its API.
const PATHS: &str = "/compat/dify/";

pub(super) fn add(resources: Resources) -> Resources {
    let retrieval = Operation::read(
        Method::Post,
        "/compat/dify/retrieval",
        "dify_retrieval",
        "Answers Dify, which uses a collection as external knowledge.",
    );
    resources.add("compatibility", &retrieval, retrieve)
}

/// What Dify asks for.
#[derive(Deserialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "Dify names its fields so")]
struct Retrieval {
    /// Name of the collection.
    knowledge_id: String,
    /// The question.
    query: String,
    /// How much is wanted.
    retrieval_setting: RetrievalSetting,
    /// Which documents are wanted.
    #[serde(default)]
    metadata_condition: Option<MetadataCondition>,
}

/// How much Dify wants.
#[derive(Deserialize, JsonSchema)]
struct RetrievalSetting {
    /// Most records, from 1 to 1,000.
    #[schemars(range(min = 1, max = 1000))]
    top_k: usize,
    /// The least score, from 0 to 1.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    score_threshold: f64,
}

/// Which documents Dify wants.
#[derive(Deserialize, JsonSchema)]
struct MetadataCondition {
    /// Whether all conditions must hold, or one.
    #[serde(default)]
    logical_operator: LogicalOperator,
    /// The conditions.
    conditions: Vec<DifyCondition>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum LogicalOperator {
    /// All of them.
    #[default]
    And,
    /// One of them at least.
    Or,
}

/// A condition on metadata.
#[derive(Deserialize, JsonSchema)]
struct DifyCondition {
    /// What was said of the document under this name, or a field of the record; one of several.
    name: Names,
    /// How it is compared.
    comparison_operator: Operator,
    /// With what.
    #[serde(default)]
    value: Option<Value>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum Names {
    One(String),
    Several(Vec<String>),
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
enum Operator {
    #[serde(rename = "contains")]
    Contains,
    #[serde(rename = "not contains")]
    NotContains,
    #[serde(rename = "start with")]
    StartWith,
    #[serde(rename = "end with")]
    EndWith,
    #[serde(rename = "is")]
    Is,
    #[serde(rename = "is not")]
    IsNot,
    #[serde(rename = "in")]
    In,
    #[serde(rename = "not in")]
    NotIn,
    #[serde(rename = "empty")]
    Empty,
    #[serde(rename = "not empty")]
    NotEmpty,
    #[serde(rename = "=")]
    Equal,
    #[serde(rename = "≠", alias = "!=")]
    Unequal,
    #[serde(rename = ">")]
    Greater,
    #[serde(rename = "<")]
    Less,
    #[serde(rename = "≥", alias = ">=")]
    GreaterOrEqual,
    #[serde(rename = "≤", alias = "<=")]
    LessOrEqual,
    #[serde(rename = "before")]
    Before,
    #[serde(rename = "after")]
    After,
}

/// What Dify gets.
#[derive(Serialize, JsonSchema)]
struct Records {
    /// The records, best first.
    records: Vec<DifyRecord>,
}

#[derive(Serialize, JsonSchema)]
struct DifyRecord {
    /// The text.
    content: String,
    /// Its relevance, from 0 to 1.
    score: f64,
    /// Title of the document.
    title: String,
    /// What is known of it; never `null`.
    metadata: Map<String, Value>,
}

/// A failure as Dify expects it.
#[derive(Serialize, JsonSchema)]
struct Failure {
    /// 1001: malformed `Authorization`; 1002: refused; 2001: no such knowledge; else the status of HTTP.
    error_code: u16,
    /// What was wrong.
    error_msg: String,
}

/// A problem, which [`answer_failures`] converts to Dify's format.
struct Refused(Problem);

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        self.0.into_response()
    }
}

/// Converts failures to Dify's format, whether a handler or a layer before it found them.
pub(super) async fn answer_failures(request: Request, next: Next) -> Response {
    let is_dify = request.uri().path().starts_with(PATHS);
    let is_key_readable = request.headers().get(AUTHORIZATION).is_some_and(is_bearer);
    let response = next.run(request).await;
    let (mut parts, body) = response.into_parts();
    match parts.extensions.remove::<Problem>() {
        Some(problem) if is_dify => {
            let error_code = match parts.status {
                _ if problem.code == Code::UNKNOWN_COLLECTION.name => 2001,
                StatusCode::UNAUTHORIZED if !is_key_readable => 1001,
                StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => 1002,
                status => status.as_u16(),
            };
            let failure = Json(Failure { error_code, error_msg: problem.detail().to_owned() });
            for header in [CONTENT_LENGTH, CONTENT_TYPE] {
                parts.headers.remove(header);
            }
            let headers = parts.headers;
            (parts.status, headers, failure).into_response()
        }
        _ => Response::from_parts(parts, body),
    }
}

fn is_bearer(value: &HeaderValue) -> bool {
    let scheme = value.to_str().ok().and_then(|value| value.split_once(' '));
    scheme.is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
}

impl<T: Output> Output for Result<T, Refused> {
    fn describe(operation: &mut Map<String, Value>, schemas: &mut SchemaGenerator) {
        T::describe(operation, schemas);
        let schema = schemas.subschema_for::<Failure>();
        let content = json!({ "application/json": { "schema": schema } });
        add_answer(operation, 404, "There is no such knowledge.", Some(content.clone()));
        let problem = json!({ "schema": schemas.subschema_for::<Problem>() });
        let content =
            json!({ "application/json": content["application/json"], "application/problem+json": problem });
        let answers = operation.entry("responses").or_insert_with(|| json!({}));
        answers["default"] = json!({ "description": "What was wrong.", "content": content });
    }
}

impl MetadataCondition {
    fn filter(&self) -> Result<Filter, Problem> {
        let conditions: Result<Vec<Value>, Problem> =
            self.conditions.iter().map(DifyCondition::condition).collect();
        let joint = match self.logical_operator {
            LogicalOperator::And => "and",
            LogicalOperator::Or => "or",
        };
        let conditions = conditions?;
        if conditions.is_empty() {
            return Ok(Filter::default());
        }
        // A filter is validated when it is parsed.
        serde_json::from_value(json!({ joint: conditions }))
            .map_err(|error| Problem::invalid(format!("`metadata_condition` cannot be used: {error}")))
    }
}

impl DifyCondition {
    fn condition(&self) -> Result<Value, Problem> {
        let names = match &self.name {
            Names::One(name) => std::slice::from_ref(name),
            Names::Several(names) => names.as_slice(),
        };
        let all: Result<Vec<Value>, Problem> = names.iter().map(|name| self.about(name)).collect();
        Ok(json!({ "or": all? }))
    }

    fn about(&self, name: &str) -> Result<Value, Problem> {
        let field = Field::of(name);
        let test = |test: &str, value: Value| match field {
            Some(field) => json!({ "field": field.name(), test: value }),
            None => json!({ "meta": name, test: value }),
        };
        let not = |condition: Value| json!({ "not": condition });
        // Metadata values are text.
        let bound =
            || self.given().map(|value| if field.is_some() { value.clone() } else { text(value).into() });
        Ok(match self.comparison_operator {
            Operator::Contains => test("glob", containing(self.given()?)),
            Operator::NotContains => not(test("glob", containing(self.given()?))),
            Operator::StartWith => test("prefix", text(self.given()?).into()),
            Operator::EndWith => test("glob", format!("**/*{}", literal(self.given()?)).into()),
            Operator::Is | Operator::Equal => test("is", self.given()?.clone()),
            Operator::IsNot | Operator::Unequal => not(test("is", self.given()?.clone())),
            Operator::In => test("in", self.list()?),
            Operator::NotIn => not(test("in", self.list()?)),
            Operator::Empty => not(test("prefix", "".into())),
            Operator::NotEmpty => test("prefix", "".into()),
            Operator::Greater | Operator::After => test("gt", bound()?),
            Operator::Less | Operator::Before => test("lt", bound()?),
            Operator::GreaterOrEqual => test("gte", bound()?),
            Operator::LessOrEqual => test("lte", bound()?),
        })
    }

    fn given(&self) -> Result<&Value, Problem> {
        let given = self.value.as_ref().filter(|value| value.is_string() || value.is_number());
        given.ok_or_else(|| Problem::invalid("a condition needs a `value` that is a text or a number"))
    }

    fn list(&self) -> Result<Value, Problem> {
        match &self.value {
            Some(list @ Value::Array(_)) => Ok(list.clone()),
            Some(Value::String(text)) => Ok(text.split(',').map(|text| Value::from(text.trim())).collect()),
            _ => Err(Problem::invalid("a condition with `in` needs a `value` that is a list")),
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A pattern that matches only this value.
fn literal(value: &Value) -> String {
    Glob::literal(&text(value)).into()
}

/// A pattern that matches everything that contains this value.
fn containing(value: &Value) -> Value {
    let literal = literal(value);
    format!("{{**/*{literal}*,**/*{literal}*/**}}").into()
}

impl From<Hit> for DifyRecord {
    fn from(hit: Hit) -> Self {
        let record = &hit.found.record;
        let mut metadata = serde_json::to_value(&hit.metadata).unwrap_or_default();
        let known = json!({
            "document_id": record.doc_id,
            "chunk_id": record.chunk_id,
            "header_path": record.header_path,
            "start_line": record.start_line,
            "end_line": record.end_line,
        });
        let mut all = Map::new();
        for part in [&mut metadata, &mut json!(record.meta), &mut known.clone()] {
            all.append(part.as_object_mut().unwrap_or(&mut Map::new()));
        }
        // The outline may be longer than the text.
        all.remove("doc_toc");
        let title = record.section_path.first().unwrap_or(&hit.metadata.file_name).clone();
        let content = format!("{}{}", record.context, record.shown());
        Self { content, score: hit.found.relevance.unwrap_or_default(), title, metadata: all }
    }
}

async fn retrieve(State(app): State<Shared>, Body(asked): Body<Retrieval>) -> Result<Json<Records>, Refused> {
    let RetrievalSetting { top_k, score_threshold } = asked.retrieval_setting;
    let filter = asked.metadata_condition.as_ref().map(MetadataCondition::filter).transpose()?;
    let request = SearchRequest {
        top_k,
        filter: filter.unwrap_or_default(),
        min_relevance: Some(score_threshold),
        ..SearchRequest::new(asked.query)
    };
    let knowledge = asked.knowledge_id;
    let answer = app.ask(move |engine| {
        // A form that was sent without a question searches nothing.
        if request.query.trim().is_empty() {
            engine.collection(&knowledge).snapshot()?;
            return Ok(Vec::new());
        }
        match engine.collection(&knowledge).search(&request)?.found {
            Found::Hits { hits } => Ok::<Vec<Hit>, Error>(hits),
            Found::Passages { .. } => Ok(Vec::new()),
        }
    });
    Ok(Json(Records { records: answer.await?.into_iter().map(DifyRecord::from).collect() }))
}
