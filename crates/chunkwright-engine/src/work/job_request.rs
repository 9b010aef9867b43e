//! The jobs that clients may request over a network, and the task of each.

use serde_json::{Map, Value};

use crate::core::engine::Engine;
use crate::core::models::embedder_for;
use crate::error::{Error, Within};
use crate::request::job::JobRequest;
use crate::request::task::Task;
use crate::roots::Roots;

impl Engine {
    /// The task of a request, and its settings.
    ///
    /// # Errors
    ///
    /// A path that is not below a root, settings that a request may not name, a collection that does not exist.
    pub fn task(&self, request: JobRequest, roots: &Roots) -> Result<(Task, Map<String, Value>), Error> {
        match request {
            JobRequest::Index { collection, mut request, settings } => {
                if request.paths.is_empty() {
                    return Err(Error::TooSmall { field: "paths", value: 0, least: 1 }.within("request"));
                }
                for path in request.paths.iter_mut().chain(&mut request.root).chain(&mut request.moved_from) {
                    *path = roots.below(path)?;
                }
                let settings = self.settings_for(&collection, settings)?;
                Ok((Task::Index { collection, request }, settings))
            }
            JobRequest::Reindex { collection, settings } => {
                let request = self.collection(&collection).alike()?;
                let settings = self.settings_for(&collection, settings)?;
                Ok((Task::Index { collection, request }, settings))
            }
            JobRequest::Migrate { collection, embedder } => {
                let request = self.collection(&collection).alike()?;
                self.settings()
                    .requested(&Map::from_iter([("embedder".to_owned(), Value::from(embedder.clone()))]))?;
                let mut settings = self.settings_for(&collection, Map::new())?;
                settings.remove("embedder");
                self.collection(&collection).plan_values(settings.clone(), Some(embedder.clone()))?;
                settings.insert("embedder".to_owned(), embedder.into());
                Ok((Task::Index { collection, request }, settings))
            }
            JobRequest::Prune { collection, request } => {
                self.collection(&collection).snapshot()?;
                Ok((Task::Prune { collection, request }, Map::new()))
            }
            JobRequest::Diff { collection, request } => {
                // Errors in the request are reported at once.
                self.collection(&collection).by_settings(&request.settings).within("request")?.snapshot()?;
                Ok((Task::Diff { collection, request }, Map::new()))
            }
            JobRequest::Evaluate { mut paths, mut request } => {
                if let Some(collection) = &request.collection {
                    self.collection(collection).snapshot()?;
                } else if paths.is_empty() {
                    return Err(Error::TooSmall { field: "paths", value: 0, least: 1 });
                }
                for path in paths.iter_mut().chain(request.paths_mut()) {
                    *path = roots.below(path)?;
                }
                Ok((Task::Evaluate { paths, request }, Map::new()))
            }
        }
    }

    /// The complete settings for a run over a collection, so that nothing else changes them. Requested values become
    /// the plan of the collection.
    fn settings_for(&self, collection: &str, asked: Map<String, Value>) -> Result<Map<String, Value>, Error> {
        let own = self.collection(collection);
        let settings = if asked.is_empty() {
            own.planned()?
        } else {
            let settings = self.settings().requested(&asked).within("settings")?;
            // Jobs requested before this one ends must not undo it.
            own.plan(&settings)?;
            settings
        };
        let mut values = settings.cutting();
        // The embedder stays that of the collection's model; changing it takes a separate job.
        if let Some(known) = self.store()?.lookup(collection)? {
            let embedder = embedder_for(known.spec.model.as_ref());
            values.extend(embedder.map(|name| ("embedder".to_owned(), name.into())));
        }
        // Keys that do not cut, such as which files are taken, keep their requested values.
        values.extend(asked.into_iter().filter(|(key, _)| crate::settings::key::is_of_files(key)));
        Ok(values)
    }
}
