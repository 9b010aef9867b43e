//! Vectors that are added behind the words: how many chunks have one, what the rest takes, and which generation answers
//! a question meanwhile.
//!
//! A folder can be searched as soon as its words are stored. Its vectors follow document by document, in the generation
//! that searches see, or in one *behind* it: where a fast model reads the questions, its generation answers until the
//! other has every vector. A question that the fast model does not read is answered by the generation behind.

use std::collections::BTreeMap;
use std::fmt;

use chunkwright_index::{Generation, GenerationStatus, Mode, Store};
use chunkwright_models::{EMBEDDERS, Languages};
use serde::{Deserialize, Serialize};

use crate::core::engine::Engine;
use crate::core::state_file;
use crate::error::Error;

/// The file of what embedding took so far.
const FILE: &str = "vectors.json";

/// A model reads a question if it reads at least this share of its letters.
const LEAST_SHARE: f64 = 0.5;

/// What embedding the chunks of a collection took so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Effort {
    /// The model.
    model: String,
    /// Texts embedded.
    texts: u64,
    /// What that took, in milliseconds.
    ms: u64,
    /// What was spent since all chunks had vectors last.
    spent_ms: u64,
}

/// How far the vectors of a collection are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Coverage {
    /// The model, by the name of its vectors.
    pub(crate) model: String,
    /// The fast model whose vectors are searched meanwhile.
    pub(crate) helper: Option<String>,
    /// Chunks that are to have a vector.
    pub(crate) chunks: usize,
    /// Chunks that have none yet.
    pub(crate) pending: usize,
    /// What the rest takes, in milliseconds; `None` before anything was measured.
    pub(crate) left_ms: Option<u64>,
    /// What was spent so far, in milliseconds.
    pub(crate) spent_ms: u64,
}

impl Coverage {
    /// How far the vectors of the collection `name` are; `None` if no chunk waits for one.
    pub(crate) fn of(engine: &Engine, name: &str) -> Result<Option<Self>, Error> {
        let store = engine.store()?;
        let Some(visible) = store.lookup(name)? else { return Ok(None) };
        let behind = behind(&*store, &visible)?;
        let is_slow = visible.spec.model.as_ref().is_some_and(|model| !is_fast(&model.name));
        let status = match &behind {
            Some(behind) => behind.clone(),
            None if !is_slow => return Ok(None),
            None => {
                let listed = store.collection(name)?.into_iter().flat_map(|known| known.generations);
                let Some(status) = listed.into_iter().find(|status| status.generation == visible) else {
                    return Ok(None);
                };
                status
            }
        };
        // A generation behind that has all its vectors is about to be switched to.
        let is_waiting = status.pending > 0 || behind.is_some();
        let Some(model) = status.generation.spec.model.as_ref().filter(|_| is_waiting) else {
            return Ok(None);
        };
        let helper = visible.spec.model.as_ref().filter(|_| behind.is_some());
        let effort = Effort::of(engine, name, &model.name);
        Ok(Some(Self {
            left_ms: effort.left_ms(status.pending),
            spent_ms: effort.spent_ms,
            model: model.name.clone(),
            helper: helper.map(|helper| helper.name.clone()),
            chunks: status.chunks,
            pending: status.pending,
        }))
    }

    /// As [`of`](Self::of), but `None` as well where embedding has not begun, which costs less to know.
    pub(crate) fn in_progress(engine: &Engine, name: &str) -> Result<Option<Self>, Error> {
        let all: BTreeMap<String, Effort> = state_file::read(engine, FILE);
        if all.get(name).is_some_and(|effort| effort.spent_ms > 0) {
            Self::of(engine, name)
        } else {
            Ok(None)
        }
    }

    /// The share of the chunks that have no vector, from 0 to 1.
    pub(crate) fn missing(&self) -> f64 {
        self.pending as f64 / self.chunks.max(1) as f64
    }

    /// The share of the chunks that have a vector, in percent: 0 only for none, and at most 99.
    pub(crate) fn percent(&self) -> u8 {
        let done = self.chunks.saturating_sub(self.pending);
        let percent = (done * 100).checked_div(self.chunks).unwrap_or(0);
        u8::try_from(percent.clamp(usize::from(done > 0), 99)).unwrap_or(99)
    }
}

impl Effort {
    /// What embedding a collection took by the model.
    pub(crate) fn of(engine: &Engine, collection: &str, model: &str) -> Self {
        let mut all: BTreeMap<String, Self> = state_file::read(engine, FILE);
        all.remove(collection).filter(|effort| effort.model == model).unwrap_or_default()
    }

    /// Adds texts that were embedded.
    pub(crate) fn add(
        engine: &Engine,
        (collection, model): (&str, &str),
        texts: usize,
        ms: u64,
    ) -> Result<Self, Error> {
        Self::change(engine, (collection, model), |effort| {
            (effort.texts, effort.ms) = (effort.texts + texts as u64, effort.ms + ms);
            effort.spent_ms += ms;
        })
    }

    /// Notes that every chunk has a vector.
    pub(crate) fn end(engine: &Engine, of: (&str, &str)) -> Result<(), Error> {
        if Self::of(engine, of.0, of.1).spent_ms > 0 {
            Self::change(engine, of, |effort| effort.spent_ms = 0)?;
        }
        Ok(())
    }

    fn change(
        engine: &Engine,
        (collection, model): (&str, &str),
        change: impl FnOnce(&mut Self),
    ) -> Result<Self, Error> {
        state_file::change(engine, FILE, |all: &mut BTreeMap<String, Self>| {
            let effort = all.entry(collection.to_owned()).or_default();
            if effort.model != model {
                *effort = Self { model: model.to_owned(), ..Self::default() };
            }
            change(effort);
            Ok(effort.clone())
        })
    }

    /// What was spent since all chunks had vectors last, in milliseconds.
    pub(crate) fn spent_ms(&self) -> u64 {
        self.spent_ms
    }

    fn left_ms(&self, texts: usize) -> Option<u64> {
        let left = u128::from(self.ms) * texts as u128;
        u64::try_from(left.checked_div(u128::from(self.texts))?).ok()
    }
}

/// How far the vectors of an index are, which are added while it is searched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VectorState {
    /// The model.
    pub model: String,
    /// The fast model that answers meanwhile; absent where words alone do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meanwhile: Option<String>,
    /// Share of the chunks that have a vector, from 0 to 99.
    pub percent: u8,
    /// Minutes that the rest takes; absent before anything was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minutes_left: Option<u64>,
    /// Minutes that may still be spent before it stops and asks.
    pub minutes_allowed: u64,
    /// Whether it has stopped.
    pub is_paused: bool,
    /// Why no vector was added the last time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The key `embed_minutes`.
    #[serde(skip)]
    limit: u64,
}

impl VectorState {
    pub(crate) fn new(coverage: &Coverage, limit: u64, is_paused: bool, error: Option<String>) -> Self {
        Self {
            model: short(&coverage.model),
            meanwhile: coverage.helper.as_deref().map(short),
            percent: coverage.percent(),
            minutes_left: coverage.left_ms.map(|ms| ms.div_ceil(60_000)),
            minutes_allowed: limit.saturating_sub(coverage.spent_ms / 60_000),
            is_paused,
            error,
            limit,
        }
    }
}

/// `words only so far; vectors of e5: 12 %, about 40 min left`.
impl fmt::Display for VectorState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { model, meanwhile, percent, minutes_left, minutes_allowed, limit, .. } = self;
        match meanwhile {
            Some(fast) => write!(f, "words and vectors of `{fast}` so far; ")?,
            None if *percent == 0 => f.write_str("words only so far; ")?,
            None => f.write_str("words, and vectors of some chunks, so far; ")?,
        }
        write!(f, "vectors of `{model}`: {percent} %")?;
        if let Some(left) = minutes_left {
            write!(f, ", about {left} min left")?;
        }
        if let Some(error) = &self.error {
            return write!(f, "; the last attempt failed: {error}");
        }
        let needed = limit - minutes_allowed + minutes_left.unwrap_or(0).max(1);
        match minutes_left {
            _ if self.is_paused => write!(
                f,
                "; paused, since `embed_minutes` is {limit}: to go on, start again with `--embed-minutes {needed}`"
            ),
            Some(left) if left > minutes_allowed => {
                write!(
                    f,
                    "; it pauses after {minutes_allowed} min, unless `--embed-minutes {needed}` is given"
                )
            }
            _ => Ok(()),
        }
    }
}

/// The name that settings use for a model.
fn short(vectors: &str) -> String {
    let info = EMBEDDERS.iter().find(|info| info.vectors == vectors);
    info.map_or(vectors, |info| info.name).to_owned()
}

/// The generation behind one of a fast model that searches see: another with vectors, and with the same documents, since the last run
/// that changed the one in view was followed by one that changed it.
pub(crate) fn behind(store: &dyn Store, visible: &Generation) -> Result<Option<GenerationStatus>, Error> {
    // Without a fast model there is nothing to wait behind.
    if !visible.spec.model.as_ref().is_some_and(|model| is_fast(&model.name)) {
        return Ok(None);
    }
    let runs = store.runs(&visible.collection)?;
    let last = |number: i64| runs.iter().find(|run| run.generation == Some(number)).map(|run| run.number);
    let seen = last(visible.number);
    let is_later = |number: i64| number != visible.number && last(number) > seen;
    // To list generations may cost a pass over their documents, which few searches need.
    if !runs.iter().filter_map(|run| run.generation).any(is_later) {
        return Ok(None);
    }
    let all = store.collection(&visible.collection)?.into_iter().flat_map(|known| known.generations);
    let others =
        all.filter(|status| status.generation.spec.model.is_some() && is_later(status.generation.number));
    Ok(others.max_by_key(|status| last(status.generation.number)))
}

/// The generation that answers `query`: the one that searches see, unless its model does not read the question, and one
/// behind it that has vectors does.
pub(crate) fn answering(
    engine: &Engine,
    store: &dyn Store,
    visible: Generation,
    query: &str,
    mode: Mode,
) -> Result<Generation, Error> {
    let share = |generation: &Generation| -> f64 {
        let reads = generation.spec.model.as_ref().map(|model| languages(&model.name));
        reads.map_or(0.0, |reads| reads.share_of(query))
    };
    if mode == Mode::Lexical || share(&visible) >= LEAST_SHARE {
        return Ok(visible);
    }
    let behind = behind(store, &visible)?.filter(|status| status.chunks > status.pending);
    let reads = behind.filter(|status| share(&status.generation) >= LEAST_SHARE);
    let is_there = |generation: &Generation| {
        engine.embedder_of(generation.spec.model.as_ref()).is_ok_and(|embedder| embedder.is_some())
    };
    Ok(reads.map(|status| status.generation).filter(is_there).unwrap_or(visible))
}

/// Returns whether a stored model is so fast that no chunk waits for its vector.
fn is_fast(model: &str) -> bool {
    EMBEDDERS.iter().any(|info| info.is_fast && info.vectors == model)
}

/// The writing systems of a stored model.
pub(crate) fn languages(model: &str) -> Languages {
    EMBEDDERS.iter().find(|info| info.vectors == model).map_or(Languages::All, |info| info.reads)
}
