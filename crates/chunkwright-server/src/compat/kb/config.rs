//! The settings that a chapter is cut by, with the platform's names.
//!
//! They are stored as a kind of document with the chapter as its only path, before one with every path, which has the
//! settings of the course; the limit of the collection is the greatest of them all.

use axum::Json;
use axum::extract::State;
use chunkwright::{ChunkConfig, Keep, Kind, Unit};
use chunkwright_engine::settings::Settings;
use chunkwright_engine::{Engine, Error, Glob, Statistics, StatisticsRequest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{AskedChapter, Chapter, FoundChapter, asked, chapter_of, split};
use crate::answer::Answer;
use crate::app::Shared;
use crate::extract::{Body, Query};
use crate::openapi::{Method, Operation, Resources};

const PATH: &str = "/api/admin/kb/chapters/config";

pub(super) fn add(resources: Resources) -> Resources {
    let get = Operation::read(
        Method::Get,
        PATH,
        "get_chapter_config",
        "Answers by which settings a chapter is to be cut.",
    );
    let put = Operation::write(
        Method::Put,
        PATH,
        "put_chapter_config",
        "Says by which settings a chapter is to be cut; the next reindex of its course or of itself does it.",
    );
    resources.add("course platform", &get, read).add("course platform", &put, write)
}

/// How a chapter is cut.
#[derive(Serialize, JsonSchema)]
struct Config {
    /// Its settings.
    config: ChapterConfig,
    /// What its course holds now.
    stats: Map<String, Value>,
}

/// The settings of a chapter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
struct ChapterConfig {
    /// `semantic`, or the name of a strategy.
    chunking_strategy: String,
    /// The limit of a chunk.
    chunk_size: usize,
    /// What is repeated of the chunk before.
    chunk_overlap: usize,
    /// The least size of a chunk.
    min_chunk_size: usize,
    /// `hybrid`: code and tables are whole and apart; `whole`: whole; `split`: cut like text.
    code_block_strategy: String,
    /// What sizes are counted in.
    unit: Unit,
    /// The preset.
    preset: String,
}

/// Settings to be changed; what is absent stays.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Update {
    /// `course_id/chapter_file`, where the query does not say it.
    #[schemars(regex(pattern = "^[^/]+/.+$"))]
    temp_ref: Option<String>,
    /// `semantic`.
    chunking_strategy: Option<String>,
    /// The limit of a chunk, in characters.
    chunk_size: Option<usize>,
    /// What is repeated of the chunk before, in characters.
    chunk_overlap: Option<usize>,
    /// The least size of a chunk, in characters.
    min_chunk_size: Option<usize>,
    /// `hybrid`, `whole` or `split`.
    code_block_strategy: Option<String>,
}

impl ChapterConfig {
    fn of(settings: &Settings, doc_id: &str) -> Self {
        let chunk = settings.chunk.for_document(doc_id);
        let chunking_strategy = match chunk.strategy.as_str() {
            "sections" => "semantic",
            other => other,
        };
        let code_block_strategy =
            match (chunk.keep_whole.contains(&Keep::Code), chunk.set_apart.contains(&Keep::Code)) {
                (true, true) => "hybrid",
                (true, false) => "whole",
                (false, _) => "split",
            };
        Self {
            chunking_strategy: chunking_strategy.to_owned(),
            chunk_size: chunk.max_size,
            chunk_overlap: chunk.overlap_size,
            min_chunk_size: chunk.min_size,
            code_block_strategy: code_block_strategy.to_owned(),
            unit: chunk.unit,
            preset: settings.preset.clone(),
        }
    }

    /// These settings with those of an update.
    fn updated(self, update: Update) -> Self {
        Self {
            chunking_strategy: update.chunking_strategy.unwrap_or(self.chunking_strategy),
            chunk_size: update.chunk_size.unwrap_or(self.chunk_size),
            chunk_overlap: update.chunk_overlap.unwrap_or(self.chunk_overlap),
            min_chunk_size: update.min_chunk_size.unwrap_or(self.min_chunk_size),
            code_block_strategy: update.code_block_strategy.unwrap_or(self.code_block_strategy),
            ..self
        }
    }

    /// The platform's keys, which select the preset that reproduces it.
    fn values(&self) -> Map<String, Value> {
        let values = json!({
            "preset": "course",
            "chunking_strategy": self.chunking_strategy,
            "chunk_size": self.chunk_size,
            "chunk_overlap": self.chunk_overlap,
            "min_chunk_size": self.min_chunk_size,
            "code_block_strategy": self.code_block_strategy,
        });
        values.as_object().cloned().unwrap_or_default()
    }
}

/// What is different for the documents at these paths, where they are cut by `chunk`.
fn kind_at(paths: Vec<String>, chunk: &ChunkConfig) -> Kind {
    Kind {
        name: "doc".into(),
        paths,
        max_size: Some(chunk.max_size),
        min_size: Some(chunk.min_size),
        overlap_size: Some(chunk.overlap_size),
        keep_whole: Some(chunk.keep_whole.clone()),
        set_apart: Some(chunk.set_apart.clone()),
        ..Kind::default()
    }
}

/// The values that cut one chapter by `chapter`, and every other document as `course` does.
fn with_chapter(course: &Settings, doc_id: &str, chapter: &ChunkConfig) -> Result<Map<String, Value>, Error> {
    let path = String::from(Glob::literal(doc_id));
    let mut kinds = course.chunk.kinds.clone();
    kinds.retain(|kind| kind.paths != [path.as_str()]);
    if !kinds.iter().any(|kind| kind.paths.is_empty()) {
        kinds.push(kind_at(Vec::new(), &course.chunk));
    }
    kinds.insert(0, kind_at(vec![path], chapter));
    let sizes = kinds.iter().filter_map(|kind| kind.max_size);
    let mut values = ChapterConfig::of(course, "").values();
    values.insert("chunk_size".into(), sizes.max().unwrap_or(course.chunk.max_size).into());
    values.insert("kinds".into(), serde_json::to_value(kinds)?);
    Ok(values)
}

fn answer(engine: &Engine, chapter: &FoundChapter) -> Result<Config, Error> {
    let collection = engine.collection(&chapter.collection);
    let settings = match collection.planned() {
        Err(Error::UnknownConfiguration { .. }) => course(engine)?,
        planned => planned?,
    };
    let Statistics { documents, chunks, strategy_versions, .. } =
        collection.read(|snapshot| snapshot.statistics(&StatisticsRequest::default()))?;
    let stats = json!({ "chapters": documents, "chunks": chunks, "strategy_versions": strategy_versions });
    let stats = stats.as_object().cloned().unwrap_or_default();
    Ok(Config { config: ChapterConfig::of(&settings, &chapter.doc_id), stats })
}

/// The settings that reproduce the platform.
fn course(engine: &Engine) -> Result<Settings, Error> {
    let values = Map::from_iter([("preset".to_owned(), Value::from("course"))]);
    Ok(engine.settings().requested(&values)?)
}

async fn read(State(app): State<Shared>, Query(Chapter { temp_ref }): Query<Chapter>) -> Answer<Config> {
    let (course_id, chapter) = split(&temp_ref)?;
    let (course_id, chapter) = (course_id.to_owned(), chapter.to_owned());
    let read = move |engine: &Engine| answer(engine, &chapter_of(engine, &course_id, &chapter)?);
    Ok(Json(app.call(read).await?))
}

async fn write(
    State(app): State<Shared>,
    Query(query): Query<AskedChapter>,
    Body(mut update): Body<Update>,
) -> Answer<Config> {
    let (course_id, chapter) = asked(query, AskedChapter { temp_ref: update.temp_ref.take() })?;
    let write = move |engine: &Engine| {
        let chapter = chapter_of(engine, &course_id, &chapter)?;
        let collection = engine.collection(&chapter.collection);
        let planned = match collection.planned() {
            Ok(planned) if planned.preset == "course" => planned,
            // Sizes made for other rules mean nothing here.
            Ok(_) | Err(Error::UnknownConfiguration { .. }) => course(engine)?,
            Err(error) => return Err(error),
        };
        let wanted = ChapterConfig::of(&planned, &chapter.doc_id).updated(update).values();
        let wanted = engine.settings().requested(&wanted)?;
        let values = with_chapter(&planned, &chapter.doc_id, &wanted.chunk)?;
        collection.plan(&engine.settings().requested(&values)?)?;
        answer(engine, &chapter)
    };
    Ok(Json(app.call(write).await?))
}
