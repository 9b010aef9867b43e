//! Exports the records of a collection, and imports them.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use chunkwright_arrow::{Columns, ExportRow, Writer};
use chunkwright_index::transfer::{self, ImportFailure, ImportOptions, Row, RowFile, Vectors, export};
use chunkwright_index::verify::Counters;
use chunkwright_index::{GenerationSpec, Pipeline, Store};

use crate::error::Error;
use crate::notice::{Notice, NoticeCode};
use crate::noun::collection::Collection;
use crate::noun::records::RecordFile;
use crate::noun::snapshot::Snapshot;
use crate::request::task::Task;
use crate::request::transfer::{ExportRequest, ImportAnswer};

/// Number of rows that are written at once.
const BATCH: usize = 1024;

impl Snapshot {
    /// Passes every record to `each`, by document and in order; returns their number.
    ///
    /// # Errors
    ///
    /// Vectors of a collection that has none, a store that fails, and what `each` fails with.
    pub fn export<E: From<Error>>(
        &self,
        request: ExportRequest,
        each: &mut dyn FnMut(Row) -> Result<(), E>,
    ) -> Result<usize, E> {
        let vectors = self.vectors(request)?;
        let mut written = 0;
        export::<Failed<E>>(self.store(), self.generation(), vectors, &mut |mut row: Row| {
            self.engine().check_cancelled().map_err(|error| Failed(error.into()))?;
            written += 1;
            row.document = row.document.filter(|_| !request.records_only);
            each(row).map_err(Failed)
        })
        .map_err(|Failed(error)| error)?;
        Ok(written)
    }

    /// Writes every record to `sink` as Parquet; returns their number, and the sink.
    ///
    /// # Errors
    ///
    /// As [`export`](Self::export), and a sink that cannot be written.
    pub fn export_parquet<W: Write + Send>(
        &self,
        request: ExportRequest,
        sink: W,
    ) -> Result<(usize, W), Error> {
        self.vectors(request)?;
        let model = self.generation().spec.model.as_ref().filter(|_| request.vectors);
        let dimension = model.map(|model| u16::try_from(model.dimension)).transpose();
        let columns = Columns {
            document: !request.records_only,
            overlays: true,
            sparse: model.is_some_and(|model| model.sparse),
            codes: model.is_some(),
            vector: dimension.map_err(|_| Error::LongVectors)?,
        };
        let mut writer = Writer::new(sink, columns)?;
        let mut batch: Vec<ExportRow> = Vec::with_capacity(BATCH);
        let written = self.export::<Error>(request, &mut |row: Row| {
            let Row { record, document, overlays, vector, sparse, codes, model } = row;
            let document = document.map(|document| serde_json::to_string(&document)).transpose()?;
            let overlays = (!overlays.is_empty()).then(|| serde_json::to_string(&overlays)).transpose()?;
            batch.push(ExportRow { record, document, overlays, vector, sparse, codes, model });
            if batch.len() == BATCH {
                writer.write(&batch)?;
                batch.clear();
            }
            Ok(())
        })?;
        writer.write(&batch)?;
        Ok((written, writer.finish()?))
    }

    fn vectors(&self, request: ExportRequest) -> Result<Vectors, Error> {
        match (request.vectors, &self.generation().spec.model) {
            (false, _) => Ok(Vectors::Left),
            (true, Some(_)) => Ok(Vectors::Moved),
            (true, None) => Err(Error::NoVectors { collection: self.generation().collection.clone() }),
        }
    }
}

/// The error of `each`, which need not be an error of a store.
struct Failed<E>(E);

impl<E: From<Error>> From<chunkwright_index::StoreError> for Failed<E> {
    fn from(error: chunkwright_index::StoreError) -> Self {
        Self(Error::from(error).into())
    }
}

impl Collection {
    /// Imports the records of `paths`, JSON Lines or Parquet, into the collection, and shows them to searches all at once.
    ///
    /// # Errors
    ///
    /// A file that cannot be read or holds something else; a record that contradicts itself, its document, another file
    /// or the collection: then nothing is written. A store that fails: then the same import resumes.
    pub fn import<P: AsRef<Path>>(&self, paths: &[P]) -> Result<ImportAnswer, Error> {
        let paths: Vec<&Path> = paths.iter().map(AsRef::as_ref).collect();
        let files = paths.iter().map(|path| RecordFile::new(path)).collect::<Result<Vec<_>, _>>()?;
        let engine = self.engine();
        if let Some(owner) = engine.owner()? {
            let files = paths.iter().map(|&path| path.to_owned()).collect();
            let task = Task::Import { collection: self.name().to_owned(), files };
            return engine.through(&owner, task, &|_| {});
        }
        let _turn = engine.turn(self.name())?;
        let store = &engine.writable_store()?;
        let data_dir = engine.data_dir().unwrap_or_default();
        let options = ImportOptions {
            counters: &Counters::installed(&data_dir),
            pipeline: &|spec| self.pipeline_of(store, spec),
            now: &engine.now(),
            threads: Some(engine.threads()),
        };
        let files: Vec<&dyn RowFile> = files.iter().map(|file| -> &dyn RowFile { file }).collect();
        let imported = transfer::import(&**store, self.name(), &options, &files);
        let imported = imported.map_err(|ImportFailure { file, error }| {
            let at_fault = file.and_then(|file| paths.get(file..=file)).unwrap_or(&paths);
            let path: Vec<String> = at_fault.iter().map(|path| path.display().to_string()).collect();
            Error::Import { path: path.join("`, `"), error: Box::new(error) }
        })?;
        let mut notices = Vec::new();
        if !imported.kept_overlays.is_empty() {
            let (number, ids) = (imported.kept_overlays.len(), imported.kept_overlays.join(", "));
            let chunks = if number == 1 { "chunk".to_owned() } else { format!("{number} chunks") };
            let message = format!(
                "{chunks} changed by hand both here and in the file; the changes made here are kept: {ids}"
            );
            notices.push(Notice::new(NoticeCode::OverlaysKept, message));
        }
        Ok(ImportAnswer { imported, notices })
    }

    /// A pipeline with the settings in force, and the summaries, redaction and embedder of `spec`; `None` if it cannot
    /// be built.
    fn pipeline_of(&self, store: &Arc<dyn Store>, spec: &GenerationSpec) -> Option<Pipeline> {
        let (engine, settings) = (self.engine(), self.engine().settings());
        let chunker = engine.chunker().ok()?;
        let pipeline = Pipeline::new(Arc::clone(store), self.name(), chunker, &settings.preset);
        let pipeline = pipeline
            .with_summaries(spec.config_hash.ends_with("+summaries"))
            .with_redaction(spec.config_hash.contains("+redacted"));
        match &spec.model {
            None => Some(pipeline),
            Some(model) => Some(pipeline.with_embedder(engine.embedder_of(Some(model)).ok()??)),
        }
    }
}
