//! The admin API of a course platform, with its own names: a course is a collection, a chapter a document.
//!
//! `temp_ref` is `course_id/chapter_file`. A course is the collection of that name or `course_` and that name. A chapter
//! is cut as its course is, but for the settings that were put for itself.

mod body;
mod config;

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use chunkwright::Record;
use chunkwright::record::course_metadata;
use chunkwright::stats::{TokenLevel, advice};
use chunkwright_engine::{
    Engine, Error, Field, Filter, IndexRequest, Job, JobRequest, ListRequest, ListedChunk, MAX_PAGE,
    Metadata, Snapshot,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use self::body::AnyBody;
use crate::answer::{Accepted, Answer};
use crate::app::{App, Shared};
use crate::extract::{Path, Query};
use crate::openapi::{Method, Operation, Resources};
use crate::problem::Problem;

/// Most characters of the content of a chunk in a list.
const PREVIEW: usize = 200;

pub(super) fn add(resources: Resources) -> Resources {
    let course = Operation::write(
        Method::Post,
        "/api/admin/kb/courses/reindex",
        "reindex_course",
        "Cuts all chapters of courses again, each course as a job.",
    );
    let chapter = Operation::write(
        Method::Post,
        "/api/admin/kb/chapters/reindex",
        "reindex_chapter",
        "Indexes a chapter again, as a job.",
    );
    let chunks = Operation::read(
        Method::Get,
        "/api/admin/kb/chapters/chunks",
        "list_chapter_chunks",
        "Lists the chunks of a chapter, page by page.",
    );
    let chunk = Operation::read(
        Method::Get,
        "/api/admin/kb/chunks/{chunk_id}",
        "get_course_chunk",
        "Answers a chunk of a course.",
    );
    let resources = resources
        .add("course platform", &course, reindex_courses)
        .add("course platform", &chapter, reindex_chapter)
        .add("course platform", &chunks, list)
        .add("course platform", &chunk, get);
    config::add(resources)
}

/// Which courses are cut again: in the query, the body or both.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Courses {
    /// The course.
    course_id: Option<String>,
    /// Several courses.
    course_ids: Vec<String>,
}

/// Which chapter is meant, in the query or the body.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct AskedChapter {
    /// `course_id/chapter_file`.
    #[schemars(regex(pattern = "^[^/]+/.+$"))]
    temp_ref: Option<String>,
}

/// Which chapter is meant.
#[derive(Deserialize, JsonSchema)]
struct Chapter {
    /// `course_id/chapter_file`.
    #[schemars(regex(pattern = "^[^/]+/.+$"))]
    temp_ref: String,
}

/// Which chunks of a chapter are listed.
#[derive(Deserialize, JsonSchema)]
struct Listed {
    /// `course_id/chapter_file`.
    #[schemars(regex(pattern = "^[^/]+/.+$"))]
    temp_ref: String,
    /// Number of the page, from 1.
    #[serde(default)]
    #[schemars(range(min = 1))]
    page: Option<usize>,
    /// Chunks of a page, from 1 to 100; by default 20.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100))]
    page_size: Option<usize>,
    /// Only chunks of this type.
    #[serde(default)]
    content_type: Option<String>,
    /// Only chunks that contain this text.
    #[serde(default)]
    search: Option<String>,
    /// Chunks of this version of a strategy, such as `sections-v1.0`, instead of the current ones.
    #[serde(default)]
    strategy_version: Option<String>,
}

/// The chunk of a path.
#[derive(Deserialize, JsonSchema)]
struct OfChunk {
    /// Id of the chunk.
    chunk_id: String,
}

/// Where a chunk is looked for.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct InCourse {
    /// The course; without one, every course is looked at.
    course_id: Option<String>,
}

/// A job that was begun.
#[derive(Clone, Serialize, JsonSchema)]
struct Reindex {
    /// Number of the job.
    task_id: String,
    /// Where the job is.
    status: String,
    /// What it does.
    message: String,
}

/// The jobs that were begun.
#[derive(Serialize, JsonSchema)]
struct Reindexes {
    /// The first.
    #[serde(flatten)]
    first: Reindex,
    /// All, in the order of the courses that were named.
    tasks: Vec<CourseTask>,
}

/// The job of a course.
#[derive(Serialize, JsonSchema)]
struct CourseTask {
    /// The course.
    course_id: String,
    /// Its job.
    #[serde(flatten)]
    task: Reindex,
}

/// A page of chunks.
#[derive(Serialize, JsonSchema)]
struct ChunkList {
    /// The chunks, in order.
    chunks: Vec<Map<String, Value>>,
    /// Number of all chunks that pass.
    total: usize,
    /// Number of the page.
    page: usize,
    /// Chunks of a page.
    page_size: usize,
    /// Number of chunks of the chapter by level, whatever the page.
    token_levels: Map<String, Value>,
    /// What to do about chunks of high levels; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

/// A chunk.
#[derive(Serialize, JsonSchema)]
struct ChunkDetail {
    /// Its id.
    id: String,
    /// Its text.
    content: String,
    /// Its type.
    content_type: String,
    /// `course_id/chapter_file`.
    source_file: String,
    /// Its characters.
    char_count: u32,
    /// Whether searches may find it.
    enabled: bool,
    /// What is known of it.
    metadata: Map<String, Value>,
}

/// The document of a chapter.
pub(super) struct FoundChapter {
    pub(super) collection: String,
    pub(super) doc_id: String,
}

/// Splits a reference into `course_id` and `chapter_file`.
fn split(temp_ref: &str) -> Result<(&str, &str), Problem> {
    let parts =
        temp_ref.split_once('/').filter(|(course, chapter)| !course.is_empty() && !chapter.is_empty());
    parts.ok_or_else(|| {
        Problem::invalid(format!("`temp_ref` is `{temp_ref}`; it must be `course_id/chapter_file`"))
    })
}

/// The collection of a course.
pub(super) fn collection_of(engine: &Engine, course_id: &str) -> Result<String, Error> {
    match engine.collection(course_id).snapshot() {
        Ok(snapshot) => Ok(snapshot.generation().collection.clone()),
        Err(error) => match engine.collection(format!("course_{course_id}")).snapshot() {
            Ok(snapshot) => Ok(snapshot.generation().collection.clone()),
            Err(_) => Err(error),
        },
    }
}

/// Finds the document of a chapter.
pub(super) fn chapter_of(engine: &Engine, course_id: &str, chapter: &str) -> Result<FoundChapter, Error> {
    let collection = collection_of(engine, course_id)?;
    let doc_id = engine.collection(&collection).read(|snapshot| match snapshot.document(chapter) {
        Ok(info) => Ok(info.doc_id),
        // The courses may have been indexed from their parent folder.
        Err(error) => match snapshot.document(&format!("{course_id}/{chapter}")) {
            Ok(info) => Ok(info.doc_id),
            Err(_) => Err(error),
        },
    })?;
    Ok(FoundChapter { collection, doc_id })
}

/// The chapter named in the query or the body.
pub(super) fn asked(query: AskedChapter, body: AskedChapter) -> Result<(String, String), Problem> {
    match (query.temp_ref, body.temp_ref) {
        (Some(query), Some(body)) if query != body => Err(Problem::invalid(format!(
            "`temp_ref` is `{query}` in the query and `{body}` in the body; name one chapter"
        ))),
        (Some(temp_ref), _) | (None, Some(temp_ref)) => {
            split(&temp_ref).map(|(course, chapter)| (course.to_owned(), chapter.to_owned()))
        }
        (None, None) => Err(Problem::invalid("`temp_ref` is missing; it must be `course_id/chapter_file`")),
    }
}

/// The problem that a job already works on the collection.
fn busy(collection: &str) -> Problem {
    let detail = format!("a job works on `{collection}` already; `/api/v1/jobs` lists it");
    Problem::new(409, "busy", "A job works on the collection already.", detail).naming("/api/v1/jobs")
}

impl App {
    /// Submits one job for each collection, unless a job already works on any of them.
    async fn reindex(&self, requests: Vec<JobRequest>) -> Result<Vec<Accepted<Reindex>>, Problem> {
        let _submitting = self.submitting.lock().await;
        let is_busy =
            |request: &&JobRequest| request.collection().is_some_and(|name| self.jobs.is_busy(name));
        if let Some(collection) = requests.iter().find(is_busy).and_then(JobRequest::collection) {
            return Err(busy(collection));
        }
        let mut begun = Vec::with_capacity(requests.len());
        for request in requests {
            let collection = request.collection().unwrap_or_default().to_owned();
            let Accepted { location, body: Job { id, .. } } = self.submit(request).await?;
            let message =
                format!("`{collection}` is cut again by job {id}; `Location` says where the first is");
            let body = Reindex { task_id: id.to_string(), status: "queued".into(), message };
            begun.push(Accepted { location, body });
        }
        Ok(begun)
    }
}

async fn reindex_courses(
    State(app): State<Shared>,
    Query(query): Query<Courses>,
    AnyBody(body): AnyBody<Courses>,
) -> Result<Accepted<Reindexes>, Problem> {
    let named = [query, body].into_iter().flat_map(|it| it.course_id.into_iter().chain(it.course_ids));
    let named: Vec<String> = named.collect();
    let find = move |engine: &Engine| {
        let mut courses: Vec<(String, String)> = Vec::new();
        for course_id in named {
            let collection = collection_of(engine, &course_id)?;
            if courses.iter().all(|(_, known)| *known != collection) {
                courses.push((course_id, collection));
            }
        }
        Ok(courses)
    };
    let courses = app.call(find).await?;
    let request = |(_, collection): &(String, String)| JobRequest::Reindex {
        collection: collection.clone(),
        settings: Map::new(),
    };
    let begun = app.reindex(courses.iter().map(request).collect()).await?;
    let Some(Accepted { location, body: first }) = begun.first() else {
        return Err(Problem::invalid("no course is named; give `course_id`, or several as `course_ids`"));
    };
    let (location, first) = (location.clone(), first.clone());
    let tasks = courses.into_iter().zip(begun);
    let tasks = tasks.map(|((course_id, _), Accepted { body: task, .. })| CourseTask { course_id, task });
    Ok(Accepted { location, body: Reindexes { first, tasks: tasks.collect() } })
}

async fn reindex_chapter(
    State(app): State<Shared>,
    Query(query): Query<AskedChapter>,
    AnyBody(body): AnyBody<AskedChapter>,
) -> Result<Accepted<Reindex>, Problem> {
    let (course_id, chapter) = asked(query, body)?;
    let roots = app.roots.clone();
    let find = move |engine: &Engine| {
        let FoundChapter { collection, doc_id } = chapter_of(engine, &course_id, &chapter)?;
        let info = engine.collection(&collection).read(|snapshot| snapshot.document(&doc_id))?;
        // The file is read again if it still exists and the server may read it; otherwise its stored text is cut again.
        let file = chunkwright_engine::file_of(&info)
            .filter(|file| roots.below(file).is_ok_and(|real| real == *file));
        Ok((collection, file))
    };
    let (collection, file) = app.call(find).await?;
    let settings = Map::new();
    let request = match file {
        None => JobRequest::Reindex { collection, settings },
        // The file is known, whatever folder it is in.
        Some(file) => {
            let request = IndexRequest { paths: vec![file], rehash: true, ..IndexRequest::default() };
            JobRequest::Index { collection, request, settings }
        }
    };
    app.reindex(vec![request]).await?.pop().ok_or_else(Problem::internal)
}

/// All chunks of a document, in order.
fn chunks_of(snapshot: &Snapshot, doc_id: &str) -> Result<Vec<ListedChunk>, Error> {
    let filter = Filter::is(Field::DOC_ID, doc_id);
    let mut request = ListRequest { filter, limit: MAX_PAGE, ..ListRequest::default() };
    let mut all = Vec::new();
    loop {
        let page = snapshot.chunks(&request)?;
        all.extend(page.chunks);
        request.after = page.next;
        if request.after.is_none() {
            return Ok(all);
        }
    }
}

/// The metadata of a chunk, with the platform's names.
fn metadata(collection: &str, record: &Record) -> Map<String, Value> {
    let known = serde_json::to_value(record).unwrap_or_default();
    let mut metadata = course_metadata(Some(collection), &known);
    for (name, text) in &record.meta {
        metadata.entry(name.clone()).or_insert_with(|| text.as_str().into());
    }
    metadata
}

async fn list(State(app): State<Shared>, Query(asked): Query<Listed>) -> Answer<ChunkList> {
    let (page, page_size) = (asked.page.unwrap_or(1), asked.page_size.unwrap_or(20));
    if page == 0 || !(1..=100).contains(&page_size) {
        let detail = format!(
            "`page` is `{page}` and `page_size` is `{page_size}`; they must be from 1, and from 1 to 100"
        );
        return Err(Problem::invalid(detail));
    }
    let (course_id, chapter) = split(&asked.temp_ref)?;
    let (course_id, chapter) = (course_id.to_owned(), chapter.to_owned());
    let version = asked.strategy_version.clone();
    let read = move |engine: &Engine| {
        let FoundChapter { collection, doc_id } = chapter_of(engine, &course_id, &chapter)?;
        let all = engine.collection(&collection);
        let generation = match &version {
            None => Some(all.snapshot()?.generation().number),
            Some(version) => {
                let known = all.generations()?.generations;
                let of_version =
                    known.iter().rev().find(|it| it.generation.spec.strategy_version == *version);
                of_version.map(|status| status.generation.number)
            }
        };
        let chunks = match generation {
            None => Vec::new(),
            Some(number) => engine
                .collection(format!("{collection}@{number}"))
                .read(|snapshot| chunks_of(snapshot, &doc_id))?,
        };
        Ok((collection, chunks))
    };
    let (collection, mut chunks) = app.ask(read).await?;
    let count = |level: TokenLevel| chunks.iter().filter(|chunk| chunk.record.token_level == level).count();
    let levels: BTreeMap<TokenLevel, usize> =
        TokenLevel::ALL.iter().map(|&level| (level, count(level))).collect();
    let token_levels = levels.iter().map(|(level, count)| (level.as_str().to_owned(), (*count).into()));
    let (token_levels, advice) = (token_levels.collect(), advice(&levels));
    let search = asked.search.as_ref().map(|text| text.to_lowercase());
    chunks.retain(|ListedChunk { record, .. }| {
        let is_of_type = asked.content_type.as_ref().is_none_or(|wanted| record.content_type == *wanted);
        is_of_type && search.as_ref().is_none_or(|text| record.shown().to_lowercase().contains(text))
    });
    let total = chunks.len();
    let first = (page - 1).saturating_mul(page_size);
    let shown = chunks.into_iter().skip(first).take(page_size).map(|chunk| {
        let mut shown = metadata(&collection, &chunk.record);
        let mut content: String = chunk.record.shown().chars().take(PREVIEW).collect();
        if content.len() < chunk.record.shown().len() {
            content.push_str("...");
        }
        shown.insert("id".into(), json!(chunk.record.chunk_id));
        shown.insert("content".into(), content.into());
        shown.insert("enabled".into(), chunk.enabled.into());
        shown
    });
    Ok(Json(ChunkList { chunks: shown.collect(), total, page, page_size, token_levels, advice }))
}

async fn get(
    State(app): State<Shared>,
    Path(OfChunk { chunk_id }): Path<OfChunk>,
    Query(InCourse { course_id }): Query<InCourse>,
) -> Answer<ChunkDetail> {
    let read = move |engine: &Engine| {
        let collections: Vec<String> = if let Some(course_id) = course_id {
            vec![collection_of(engine, &course_id)?]
        } else {
            engine.collection_names()?
        };
        let mut last = Error::NoCollections;
        for collection in collections {
            match engine.collection(&collection).read(|snapshot| snapshot.chunk(&chunk_id)) {
                Ok(found) => return Ok(found),
                Err(error) => last = error,
            }
        }
        Err(last)
    };
    let found = app.ask(read).await?;
    let ListedChunk { record, enabled, .. } = found.chunk;
    let mut metadata = metadata(&found.collection, &record);
    let Metadata { section_path, .. } = found.metadata;
    metadata.insert("section_path".into(), section_path.into());
    let source_file = metadata.get("source_file").and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok(Json(ChunkDetail {
        id: record.chunk_id.to_string(),
        content: record.content,
        content_type: record.content_type,
        source_file,
        char_count: record.char_count,
        enabled,
        metadata,
    }))
}
