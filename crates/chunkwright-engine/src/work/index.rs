//! Indexes files and documents into a collection.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use chunkwright_index::{
    Clock, Embed, FolderOptions, IndexError, IndexOptions, IndexReport, Meta, NoteOptions, Pipeline,
    Progress, meta,
};
use chunkwright_models::{EMBEDDERS, EmbedError, Embedder};
use chunkwright_source::{NewSource, SkipReason, Skipped, WalkOptions};
use tracing::field::Empty;

use crate::core::observe::{IndexedRun, TRACE};
use crate::core::owner::Owner;
use crate::core::turns::Turn;
use crate::error::Error;
use crate::notice::{Notice, NoticeCode};
use crate::noun::collection::Collection;
use crate::noun::skipped::{notices_of_files, notices_of_unread, omitted, skipped_reasons};
use crate::request::index::{IndexAnswer, IndexRequest, is_empty};
use crate::request::task::Task;
use crate::words::count;
use crate::work::words::{away_in_words, made_in_folder, overlays_in_words};

/// Indexes the same request any number of times with the same models.
#[derive(Debug)]
pub struct Indexer {
    collection: Collection,
    request: IndexRequest,
    /// The pipeline of this process, created on first use, since an owner of the store may index instead.
    work: OnceLock<Work>,
}

/// A pipeline with its notices.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) pipeline: Pipeline,
    store: String,
    pub(super) model: Option<String>,
    price: Option<f64>,
    /// Notices that apply to every run.
    notices: Vec<Notice>,
}

impl Work {
    /// Returns whether its texts are embedded in seconds, so that deferring them gains nothing.
    fn is_fast(&self) -> bool {
        let model = self.model.as_deref();
        EMBEDDERS.iter().any(|info| info.is_fast && Some(info.vectors) == model)
    }
}

impl Collection {
    /// Indexes files once. `on_progress` gets the progress of the run.
    ///
    /// # Errors
    ///
    /// Paths that cannot be walked, addresses that cannot be fetched, a removal that was refused, a model that is missing, a store that fails. A file
    /// that cannot be indexed is no error: the report lists it.
    pub fn index(
        &self,
        request: IndexRequest,
        on_progress: &dyn Fn(Progress<'_>),
    ) -> Result<IndexAnswer, Error> {
        self.indexer(request)?.run(on_progress)
    }

    /// Indexes documents from memory once, as [`index`](Self::index) does files. The paths and folder options of the
    /// request are ignored.
    ///
    /// # Errors
    ///
    /// A model that is missing, a store that fails. A document that cannot be indexed is no error: the report lists it.
    pub fn put(
        &self,
        request: IndexRequest,
        documents: impl IntoIterator<Item = NewSource>,
        on_progress: &dyn Fn(Progress<'_>),
    ) -> Result<IndexAnswer, Error> {
        self.indexer(request)?.put(documents, on_progress)
    }

    /// Prepares to index a request.
    ///
    /// # Errors
    ///
    /// A model that is missing, notes without a writer, a configuration that cannot be used.
    pub fn indexer(&self, request: IndexRequest) -> Result<Indexer, Error> {
        for (name, text) in &request.meta {
            meta::check(name, text)?;
        }
        let indexer = Indexer { collection: self.clone(), request, work: OnceLock::new() };
        if indexer.owner()?.is_none() {
            indexer.work()?;
        }
        Ok(indexer)
    }

    /// Loads what is needed to index in this process.
    fn work(&self, request: &IndexRequest) -> Result<Work, Error> {
        let engine = self.engine();
        let settings = engine.settings();
        let store = if request.dry_run { engine.store()? } else { engine.writable_store()? };
        let mut notices: Vec<Notice> =
            settings.store.as_deref().and_then(made_in_folder).into_iter().collect();
        if !notices.is_empty() && store.lookup(self.name())?.is_some() {
            notices.clear();
        }
        let embedder = self.index_embedder(&mut notices)?;
        let mut pipeline = Pipeline::new(store, self.name(), engine.chunker()?, &settings.preset)
            .with_summaries(request.summaries)
            .with_redaction(settings.walk.redact_secrets);
        let info = embedder.as_ref().map(|embedder| embedder.model().clone());
        if let Some(embedder) = embedder {
            pipeline = pipeline.with_embedder(embedder);
        }
        if request.context_notes || request.document_summaries {
            let writer = engine.writer()?.ok_or(Error::NoWriter)?;
            pipeline = pipeline.with_notes(NoteOptions {
                writer: Arc::new(writer),
                contexts: request.context_notes,
                summaries: request.document_summaries,
            });
        }
        Ok(Work {
            price: request.price.or(info.as_ref().and_then(|info| info.price_per_million_tokens)),
            model: info.map(|info| info.name),
            store: engine.store_name()?,
            pipeline,
            notices,
        })
    }

    /// The embedder to index with: the configured one; otherwise the one whose vectors the collection has, so that a
    /// missing model does not cause a rebuild; for a new collection, the best one installed.
    fn index_embedder(&self, notices: &mut Vec<Notice>) -> Result<Option<Arc<dyn Embedder>>, Error> {
        let engine = self.engine();
        let generation = engine.store()?.lookup(self.name()).ok().flatten();
        let stored = generation.as_ref().and_then(|generation| generation.spec.model.as_ref());
        if generation.is_some() && !engine.chooses_embedder() {
            let Some(model) = stored else {
                notices.extend(self.lexical_only());
                return Ok(None);
            };
            let missing =
                || Error::MissingModel { collection: self.name().to_owned(), model: model.name.clone() };
            return engine.embedder_of(stored)?.ok_or_else(missing).map(Some);
        }
        // The collection stores what it knows of a service's model, so the service is not called, and may even be down.
        let found = if stored.is_some() { engine.embedder_of(stored) } else { engine.embedder() };
        match found {
            Ok(found) => {
                if found.is_none() {
                    notices.extend(self.lexical_only());
                }
                Ok(found)
            }
            // A new collection starts with lexical search. Vectors need a new generation, since their length is part of
            // it: the first run that reaches the service builds it.
            Err(Error::Embed(error)) if stored.is_none() && EmbedError::is_unavailable(&error) => {
                let message = format!(
                    "no chunk has a vector: {error}; search is lexical only until a run reaches the service"
                );
                notices.push(Notice::new(NoticeCode::VectorsPending, message));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn lexical_only(&self) -> Option<Notice> {
        let message = "no model is installed, so search will be lexical only; run `chunkwright models install` to install one";
        (!self.engine().chooses_embedder()).then(|| Notice::new(NoticeCode::NoModel, message))
    }
}

impl Indexer {
    /// Indexes once.
    ///
    /// # Errors
    ///
    /// As [`Collection::index`].
    pub fn run(&self, on_progress: &dyn Fn(Progress<'_>)) -> Result<IndexAnswer, Error> {
        if self.request.has_address() {
            return self.run_mirrored(on_progress);
        }
        if let Some(owner) = self.owner()? {
            let (collection, request) = (self.collection.name().to_owned(), self.request.clone());
            return self.through(&owner, Task::Index { collection, request }, on_progress);
        }
        let work = self.work()?;
        let _turn = self.turn()?;
        self.observed(work, || work.pipeline.index(&self.request.paths, &self.options(work), on_progress))
    }

    /// Indexes documents from memory.
    ///
    /// # Errors
    ///
    /// As [`Collection::put`].
    pub fn put(
        &self,
        documents: impl IntoIterator<Item = NewSource>,
        on_progress: &dyn Fn(Progress<'_>),
    ) -> Result<IndexAnswer, Error> {
        if let Some(owner) = self.owner()? {
            let (collection, request) = (self.collection.name().to_owned(), self.request.clone());
            let documents = documents.into_iter().map(Into::into).collect();
            let task = Task::Put { collection, request, documents };
            return self.through(&owner, task, on_progress);
        }
        let work = self.work()?;
        let _turn = self.turn()?;
        self.observed(work, || work.pipeline.put(documents, &self.options(work), on_progress))
    }

    /// Has the owner run. The answer names the store as this process does; the owner may know it by another path.
    fn through(
        &self,
        owner: &Owner,
        task: Task,
        on_progress: &dyn Fn(Progress<'_>),
    ) -> Result<IndexAnswer, Error> {
        let engine = self.collection.engine();
        let answer: IndexAnswer = engine.through(owner, task, on_progress)?;
        Ok(IndexAnswer { store: engine.store_name()?, ..answer })
    }

    /// Runs, reports to the observer, and returns the answer.
    fn observed(
        &self,
        work: &Work,
        run: impl FnOnce() -> Result<IndexReport, IndexError>,
    ) -> Result<IndexAnswer, Error> {
        let engine = self.collection.engine();
        let span = tracing::info_span!(
            target: TRACE,
            "index",
            index.collection = self.collection.name(),
            index.documents = Empty,
            index.failed = Empty,
            otel.status_code = Empty,
        );
        let _entered = span.enter();
        let report = run().map_err(Error::from).inspect_err(|error| {
            span.record("otel.status_code", "ERROR");
            engine.observe(|observer| observer.index_failed(error));
        })?;
        span.record("index.documents", report.indexed + report.carried);
        span.record("index.failed", report.failed.len());
        let version = work.pipeline.spec().strategy_version;
        let strategy = version.split_once("-v").map_or(&*version, |(strategy, _)| strategy);
        let collection = self.collection.name();
        engine.observe(|observer| observer.indexed(&IndexedRun { collection, strategy, report: &report }));
        self.answer(work, report)
    }

    /// As [`put`](Self::put), for a caller that has the turn of the collection.
    pub(crate) fn put_in_turn(
        &self,
        documents: impl IntoIterator<Item = NewSource>,
        _turn: &Turn<'_>,
    ) -> Result<IndexAnswer, Error> {
        let work = self.work()?;
        self.answer(work, work.pipeline.put(documents, &self.options(work), &|_| {})?)
    }

    /// The owner to index through, unless nothing is written.
    pub(super) fn owner(&self) -> Result<Option<Owner>, Error> {
        if self.request.dry_run { Ok(None) } else { self.collection.engine().owner() }
    }

    pub(super) fn work(&self) -> Result<&Work, Error> {
        if let Some(work) = self.work.get() {
            return Ok(work);
        }
        let work = self.collection.work(&self.request)?;
        Ok(self.work.get_or_init(|| work))
    }

    /// The turn of a run that writes.
    fn turn(&self) -> Result<Option<Turn<'_>>, Error> {
        let turn = (!self.request.dry_run).then(|| self.collection.engine().turn(self.collection.name()));
        turn.transpose()
    }

    fn answer(&self, work: &Work, report: IndexReport) -> Result<IndexAnswer, Error> {
        if report.cancelled {
            self.collection.engine().check_cancelled()?;
        }
        let notices = work.notices.iter().cloned().chain(self.notices_of(&report)).collect();
        Ok(IndexAnswer {
            collection: self.collection.name().to_owned(),
            store: work.store.clone(),
            model: work.model.clone(),
            dry_run: self.request.dry_run,
            failed_ratio: report.failed_ratio(),
            skipped_reasons: skipped_reasons(&report.skipped),
            report,
            notices,
        })
    }

    /// The request to index.
    pub fn request(&self) -> &IndexRequest {
        &self.request
    }

    /// The collection to index into.
    pub fn collection(&self) -> &Collection {
        &self.collection
    }

    pub(super) fn options(&self, work: &Work) -> IndexOptions {
        let (request, engine) = (&self.request, self.collection.engine());
        IndexOptions {
            folders: FolderOptions {
                prefix: request.prefix.clone(),
                root: request.root.clone(),
                moved_from: request.moved_from.clone(),
            },
            indexed_at: engine.now(),
            started: engine.now_nanos(),
            rehash: request.rehash,
            embed: if work.is_fast() { Embed::Now } else { request.embed },
            price: work.price,
            prune: request.prune,
            keep_generations: Some(engine.settings().keep_generations),
            meta: Meta {
                all: request.meta.clone(),
                folders: [engine.settings().meta(), &request.files_meta].concat(),
            },
            dry_run: request.dry_run,
            skip_generated: request.skip_generated,
            force: request.force,
            walk: WalkOptions { output: request.exclude.clone(), ..engine.settings().walk.clone() },
            clock: Some(Clock::new({
                let engine = engine.clone();
                move || u64::try_from(engine.now_nanos()).unwrap_or(0)
            })),
            cancel: Some(engine.cancel_flag()),
            threads: Some(engine.threads()),
        }
    }

    fn notices_of(&self, report: &IndexReport) -> Vec<Notice> {
        let mut notices = Vec::new();
        let mut say = |code, message: String| notices.push(Notice::new(code, message));
        if self.request.paths.iter().all(|path| path == Path::new("-")) {
            let secret = report.skipped.iter().filter(|entry| entry.reason == SkipReason::Secret);
            for Skipped { path, reason } in secret {
                let message = format!("left out `{path}`: {}; `force` takes it", reason.sentence());
                say(NoticeCode::LeftOut, message);
            }
        }
        let given = self.request.paths.iter().filter(|path| path.is_file());
        notices_of_unread(&report.skipped, given.map(PathBuf::as_path), &mut say);
        notices_of_files(&report.skipped, &report.left_out, report.dominant.as_ref(), &mut say);
        notices.extend(report.omitted.iter().map(|it| omitted(&it.doc_id, &it.what)));
        let mut say = |code, message: String| notices.push(Notice::new(code, message));
        for nuls in &report.nuls {
            let message =
                format!("`{}` has {}, kept in its text", nuls.doc_id, count(nuls.count, "NUL character"));
            say(NoticeCode::ControlCharacters, message);
        }
        for moved in &report.moved_folders {
            let documents = count(moved.documents, "document");
            let message = format!("{documents} of `{}`, whose files are now in `{}`", moved.from, moved.to);
            say(NoticeCode::FolderMoved, message);
        }
        if let Some(before) = report.switched {
            let (name, now) = (self.collection.name(), report.generation.unwrap_or_default());
            let keep = self.collection.engine().settings().keep_generations;
            let is_kept = (!report.dropped.contains(&before)).then(|| format!("`{name}@{before}` is kept"));
            let dropped: Vec<String> = report.dropped.iter().map(|it| format!("`{name}@{it}`")).collect();
            let were = if dropped.len() == 1 { "was" } else { "were" };
            let dropped = (!dropped.is_empty()).then(|| format!("{} {were} removed", dropped.join(", ")));
            let rest: Vec<String> = is_kept.into_iter().chain(dropped).collect();
            let rest = rest.join(" and ");
            let message = format!("searches now use `{name}@{now}`; {rest} (`keep_generations` is {keep})");
            say(NoticeCode::Switched, message);
        }
        for away in &report.away {
            say(NoticeCode::FolderAway, away_in_words(away));
        }
        if let Some(why) = &report.withheld {
            let message =
                format!("searches still use the previous generation, because {why}; the next run resumes");
            say(NoticeCode::Withheld, message);
        }
        if report.overlays.need_review() {
            say(NoticeCode::ReviewOverlays, overlays_in_words(&report.overlays));
        }
        if report.pending > 0 && (self.request.embed == Embed::Now || report.embed_error.is_some()) {
            let why = report.embed_error.as_deref().unwrap_or("the embedder failed");
            let chunks = count(report.pending, "chunk");
            let message = format!("{chunks} without a vector: {why}; the next run retries");
            say(NoticeCode::VectorsPending, message);
        }
        if report.notes_pending > 0 {
            let why = report.notes_error.as_deref().unwrap_or("the writer failed");
            let notes = count(report.notes_pending, "note");
            say(NoticeCode::NotesPending, format!("{notes} missing: {why}; the next run retries"));
        }
        if !self.request.dry_run && is_empty(report) {
            let message = if self.request.paths.is_empty() {
                let name = self.collection.name();
                format!("nothing to do: no document of collection `{name}` needs to be cut again")
            } else {
                "no document was found at the given paths".to_owned()
            };
            say(NoticeCode::Nothing, message);
        }
        notices
    }
}
