//! Tasks: changes as values, which jobs store and processes send to each other.

use std::io::{self, Write};

use chunkwright_index::Progress;
use chunkwright_source::{Input, NewSource};
use serde_json::Value;

use crate::core::engine::Engine;
use crate::error::Error;
use crate::noun::snapshot::Snapshot;
use crate::request::documents::DocumentsRequest;
use crate::request::task::Task;

impl Engine {
    /// Performs a task, and returns the answer of its method as JSON. `on_progress` gets the progress of an index run.
    ///
    /// # Errors
    ///
    /// Those of the method.
    pub fn perform(&self, task: Task, on_progress: &dyn Fn(Progress<'_>)) -> Result<Value, Error> {
        self.perform_into(task, &mut io::sink(), on_progress)
    }

    /// As [`perform`](Self::perform), but writes what is too large for an answer, the changes of a comparison, to
    /// `result`.
    pub(crate) fn perform_into(
        &self,
        task: Task,
        result: &mut dyn Write,
        on_progress: &dyn Fn(Progress<'_>),
    ) -> Result<Value, Error> {
        let collection = |name: &str| self.collection(name);
        let answer = match task {
            Task::Index { collection: name, request } => {
                serde_json::to_value(collection(&name).index(request, on_progress)?)
            }
            Task::Put { collection: name, request, documents } => {
                let documents = documents.into_iter().map(NewSource::from);
                serde_json::to_value(collection(&name).put(request, documents, on_progress)?)
            }
            Task::Fill { collection: name, request, asked } => {
                serde_json::to_value(collection(&name).indexer(request)?.fill(&asked, on_progress)?)
            }
            Task::Amend { collection: name, request } => {
                serde_json::to_value(collection(&name).amend(&request)?)
            }
            Task::SetBoundary { collection: name, request } => {
                serde_json::to_value(collection(&name).set_boundary(&request)?)
            }
            Task::Prune { collection: name, request } => {
                serde_json::to_value(collection(&name).prune(&request)?)
            }
            Task::Delete { collection: name, request } => {
                serde_json::to_value(collection(&name).delete(&request)?)
            }
            Task::Rename { collection: name, request } => {
                serde_json::to_value(collection(&name).rename(&request)?)
            }
            Task::Import { collection: name, files } => {
                serde_json::to_value(collection(&name).import(&files)?)
            }
            Task::Diff { collection: name, request } => {
                serde_json::to_value(collection(&name).write_planned_diff(&request, result, on_progress)?)
            }
            Task::ClearCache => serde_json::to_value(self.clear_cache()?),
            Task::Evaluate { paths, request } => {
                let inputs = match &request.collection {
                    Some(name) => collection(name).read(Snapshot::inputs)?,
                    None => paths.into_iter().map(Input::Path).collect(),
                };
                let documents = DocumentsRequest { inputs, ..DocumentsRequest::default() };
                serde_json::to_value(self.evaluate(&documents, &request, &mut |_| {})?)
            }
        };
        Ok(answer?)
    }
}
