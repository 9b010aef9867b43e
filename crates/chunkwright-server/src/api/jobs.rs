//! Jobs: work that outlives its request.

use std::convert::Infallible;
use std::time::Duration;

use axum::Json;
use axum::body;
use axum::extract::{FromRequestParts, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use chunkwright::diff::Change;
use chunkwright_engine::json_lines::to_line;
use chunkwright_engine::{Cursor, Job, JobRequest, JobState, paging};
use schemars::{JsonSchema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::fs::File;
use tokio::sync::mpsc;
use tokio::time;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::io::ReaderStream;

use super::{Answer, Page};
use crate::answer::{Accepted, Has, Tagged};
use crate::app::{App, Shared};
use crate::extract::{Body, Path, Query};
use crate::guard::{self, Caller};
use crate::openapi::{Input, Method, Operation, Output, Resources, Scope, add_answer, add_header_parameter};
use crate::problem::Problem;

const ALL: &str = "/api/v1/jobs";
const ONE: &str = "/api/v1/jobs/{job}";

/// Interval at which a followed job is polled.
const LOOK: Duration = Duration::from_millis(200);

pub(super) fn add(resources: Resources) -> Resources {
    let of_all = Operation::read(Method::Get, ALL, "list_jobs", "Lists jobs, newest first.");
    let submit = Operation::write(
        Method::Post,
        ALL,
        "submit_job",
        "Indexes files, cuts a collection again, moves it to another model, prunes, compares or evaluates it, as a job.",
    );
    let of_one = Operation::read(Method::Get, ONE, "get_job", "Answers how far a job is.");
    let cancel = Operation::write(
        Method::Delete,
        ONE,
        "cancel_job",
        "Asks a job to stop; what it has done by then stays.",
    );
    let events = Operation::read(
        Method::Get,
        "/api/v1/jobs/{job}/events",
        "follow_job",
        "Follows a job by server-sent events until it is over.",
    );
    let result = Operation::read(
        Method::Get,
        "/api/v1/jobs/{job}/result",
        "get_job_result",
        "Answers the changes that a job of the kind `diff` found, one a line, and last a line with their summary.",
    );
    resources
        .add("jobs", &result, result_of)
        .add("jobs", &of_all, list)
        .add("jobs", &submit, post)
        .add("jobs", &of_one, get)
        .add("jobs", &cancel, stop)
        .add("jobs", &events, follow)
}

/// The job of a path.
#[derive(Deserialize, JsonSchema)]
struct OfJob {
    /// Number of the job.
    job: u64,
}

/// Which jobs are listed.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct Listed {
    /// Only jobs of this collection.
    collection: Option<String>,
    /// Only jobs in this state.
    state: Option<JobState>,
    /// Most entries of the page, from 1 to 1,000; by default 100.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
    /// `next` of the page before; none for the first page.
    cursor: Option<String>,
}

/// Some jobs.
#[derive(Serialize, JsonSchema)]
struct JobPage {
    /// The jobs, newest first.
    jobs: Vec<Job>,
    /// Where the next page begins; none after the last job.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<Cursor>,
}

/// The id of the last event that a reconnecting client saw.
struct LastEvent(Option<u64>);

impl<S: Send + Sync> FromRequestParts<S> for LastEvent {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let last = parts.headers.get("last-event-id").and_then(|value| value.to_str().ok());
        Ok(Self(last.and_then(|last| last.parse().ok())))
    }
}

impl Input for LastEvent {
    fn describe(operation: &mut Map<String, Value>, _: &mut SchemaGenerator) {
        let description = "Id of the last event that the client saw; what it knows is not sent again.";
        add_header_parameter(operation, "Last-Event-ID", description);
    }
}

/// Events, each with the job as data and its revision as id; `None` if the client already has the last one, so that it
/// does not reconnect.
struct Events(Option<ReceiverStream<Result<Event, Infallible>>>);

impl IntoResponse for Events {
    fn into_response(self) -> Response {
        match self.0 {
            Some(events) => Sse::new(events).keep_alive(KeepAlive::default()).into_response(),
            None => StatusCode::NO_CONTENT.into_response(),
        }
    }
}

impl Output for Events {
    fn describe(operation: &mut Map<String, Value>, schemas: &mut SchemaGenerator) {
        let description =
            "Events `progress` while the job waits or runs, and `end`; the data of each is the job.";
        let job = schemas.subschema_for::<Job>();
        let event = json!({
            "type": "object",
            "required": ["event", "id", "data"],
            "properties": {
                "event": { "type": "string", "enum": ["progress", "end"] },
                "id": { "type": "string" },
                "data": { "type": "string", "contentMediaType": "application/json", "contentSchema": job },
            },
        });
        let content = json!({ "text/event-stream": { "schema": event } });
        add_answer(operation, 200, description, Some(content));
        add_answer(operation, 204, "The job is over, and the client knows how it ended.", None);
    }
}

/// Lines of JSON, streamed from a file at the client's pace.
struct Lines(Response);

impl IntoResponse for Lines {
    fn into_response(self) -> Response {
        self.0
    }
}

impl Output for Lines {
    fn describe(operation: &mut Map<String, Value>, schemas: &mut SchemaGenerator) {
        let change = schemas.subschema_for::<Change>();
        let content =
            json!({ "application/x-ndjson": { "schema": { "type": "string", "contentSchema": change } } });
        add_answer(
            operation,
            200,
            "A change a line, as JSON, and last the summary with `kind` `summary`.",
            Some(content),
        );
    }
}

async fn result_of(State(app): State<Shared>, Path(OfJob { job }): Path<OfJob>) -> Result<Lines, Problem> {
    let jobs = app.jobs.clone();
    let (file, length) = app
        .call(move |_| {
            let file = jobs.result(job)?;
            let length = file.metadata().map_err(chunkwright_engine::Error::Jobs)?.len();
            Ok((file, length))
        })
        .await?;
    let lines = body::Body::from_stream(ReaderStream::with_capacity(File::from_std(file), 1 << 16));
    let headers = [(CONTENT_TYPE, "application/x-ndjson".to_owned()), (CONTENT_LENGTH, length.to_string())];
    Ok(Lines((headers, lines).into_response()))
}

impl App {
    /// The job as the caller may see it.
    fn shown(&self, job: Job) -> Job {
        let job = job.without_flags();
        if guard::sees_places() { job } else { job.without_places(&self.roots) }
    }

    /// Submits a job.
    pub(crate) async fn submit(&self, request: JobRequest) -> Result<Accepted<Job>, Problem> {
        let (jobs, roots) = (self.jobs.clone(), self.roots.clone());
        let submit = move |engine: &chunkwright_engine::Engine| {
            let (task, settings) = engine.task(request, &roots)?;
            jobs.submit(task, settings)
        };
        let body = self.shown(self.call(submit).await?);
        Ok(Accepted { location: format!("{ALL}/{}", body.id), body })
    }
}

async fn list(
    State(app): State<Shared>,
    Query(Listed { collection, state, limit, cursor }): Query<Listed>,
    has: Has,
) -> Result<Tagged<JobPage>, Problem> {
    let page = Page { limit, cursor };
    let (after, limit) = (page.after(), page.limit()?);
    let mut jobs: Vec<Job> = app.jobs.list();
    jobs.retain(|job| {
        let is_of = collection.as_deref().is_none_or(|name| job.task.collection() == Some(name));
        is_of && state.is_none_or(|state| job.state == state)
    });
    // Newest first means ascending by the distance to the greatest number.
    let key = |job: &Job| format!("{:020}", u64::MAX - job.id);
    let (jobs, next) = paging::page(jobs, key, &("jobs", collection, state), after.as_ref(), limit)?;
    let jobs = jobs.into_iter().map(|job| app.shown(job)).collect();
    has.tagged(&JobPage { jobs, next })
}

async fn post(
    State(app): State<Shared>,
    caller: Caller,
    Body(request): Body<JobRequest>,
) -> Result<Accepted<Job>, Problem> {
    if matches!(request, JobRequest::Prune { .. }) {
        caller.check(Scope::Admin)?;
    }
    app.submit(request).await
}

async fn get(
    State(app): State<Shared>,
    Path(OfJob { job }): Path<OfJob>,
    has: Has,
) -> Result<Tagged<Job>, Problem> {
    has.tagged(&app.shown(app.jobs.get(job)?))
}

async fn stop(State(app): State<Shared>, Path(OfJob { job }): Path<OfJob>) -> Answer<Job> {
    let jobs = app.jobs.clone();
    Ok(Json(app.shown(app.call(move |_| jobs.cancel(job)).await?)))
}

async fn follow(
    State(app): State<Shared>,
    Path(OfJob { job }): Path<OfJob>,
    LastEvent(last): LastEvent,
) -> Result<Events, Problem> {
    let now = app.jobs.get(job)?;
    if now.state.is_over() && last == Some(now.revision) {
        return Ok(Events(None));
    }
    let (sender, events) = mpsc::channel(1);
    let (jobs, stopping) = (app.jobs.clone(), app.stopping.clone());
    let roots = (!guard::sees_places()).then(|| app.roots.clone());
    tokio::spawn(async move {
        let mut seen = last;
        let mut looks = time::interval(LOOK);
        looks.set_missed_tick_behavior(time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = looks.tick() => {}
                // The client reconnects to the next server.
                () = stopping.cancelled() => return,
            }
            let newer = match seen {
                None => jobs.get(job).map(Some),
                Some(seen) => jobs.wait_newer(job, seen, Duration::ZERO),
            };
            // A job that is no longer kept has ended.
            let Ok(newer) = newer else { return };
            let Some(now) = newer else {
                let is_over = jobs.get(job).is_ok_and(|job| job.state.is_over());
                if is_over || sender.is_closed() {
                    return;
                }
                continue;
            };
            let name = if now.state.is_over() { "end" } else { "progress" };
            seen = Some(now.revision);
            let now = now.without_flags();
            let now = match &roots {
                Some(roots) => now.without_places(roots),
                None => now,
            };
            // Some readers of events split lines as Python does, also at U+2028.
            let Some(data) = to_line(&now).ok().and_then(|line| String::from_utf8(line).ok()) else { return };
            let event = Event::default().event(name).id(now.revision.to_string()).data(data.trim_end());
            if sender.send(Ok(event)).await.is_err() || now.state.is_over() {
                return;
            }
        }
    });
    Ok(Events(Some(ReceiverStream::new(events))))
}
