//! Lists, installs and removes the models on this machine.

use std::path::Path;

use chunkwright_models::{
    DEFAULT_MODELS, EMBEDDERS, InstallableModel, MODELS, ModelState, ModelStatus, RERANKERS, install, remove,
};

use crate::core::engine::Engine;
use crate::error::Error;
use crate::places::{name_of, without_places};
use crate::request::doctor::State;
use crate::request::models::{
    InstallModelsRequest, ModelAction, ModelChange, ModelEntry, RemoveModelsRequest,
};

impl Engine {
    /// All installable models. Compares every installed file with its hash, which takes about 0.1 s.
    ///
    /// # Errors
    ///
    /// A user without a home folder.
    pub fn models(&self) -> Result<Vec<ModelEntry>, Error> {
        self.models_by(InstallableModel::verify)
    }

    /// All installable models, with the states that `status` tells.
    pub(crate) fn models_by(
        &self,
        status: fn(&'static InstallableModel, &Path) -> ModelStatus,
    ) -> Result<Vec<ModelEntry>, Error> {
        let data_dir = self.data_dir()?;
        let entries = MODELS.iter().map(|model| {
            let status = status(model, &data_dir);
            let (state, problem) = match status.state {
                ModelState::Installed => (State::Ok, None),
                ModelState::Missing => (State::Missing, None),
                ModelState::Damaged(problem) => (State::Damaged, Some(problem)),
                _ => (State::Damaged, None),
            };
            let mut path = status.dir.display().to_string();
            let mut problem = problem;
            if self.hides_places() {
                path = name_of(&path).to_owned();
                problem = problem.map(|problem| without_places(&problem).into_owned());
            }
            ModelEntry {
                name: model.name,
                state,
                bytes: model.size(),
                uses: uses(model),
                summary: model.summary,
                path,
                problem,
            }
        });
        Ok(entries.collect())
    }

    /// Installs models one after the other, each after what it needs, and calls `progress` with the name and size
    /// in bytes of each before it is downloaded. An intact model is left as it is, a damaged one is replaced. If
    /// one fails, those before it stay.
    ///
    /// # Errors
    ///
    /// A name that is not a model's, before anything is downloaded; what [`chunkwright_models::install()`] refuses.
    pub fn install_models(
        &self,
        request: &InstallModelsRequest,
        mut progress: impl FnMut(&'static str, u64),
    ) -> Result<Vec<ModelChange>, Error> {
        let data_dir = self.data_dir()?;
        let names = request.names.iter().map(String::as_str);
        let names: Vec<&str> =
            if request.names.is_empty() { DEFAULT_MODELS.to_vec() } else { names.collect() };
        let mut changes = Vec::new();
        for model in with_needs(&known(&names)?)? {
            if !model.is_installed(&data_dir) {
                progress(model.name, model.size());
            }
            let installed = install(model.name, &data_dir, &self.cancel_flag())?;
            let action =
                if installed.was_there { ModelAction::AlreadyInstalled } else { ModelAction::Installed };
            changes.push(change(model, action, &installed.dir));
        }
        Ok(changes)
    }

    /// Removes models, intact or damaged.
    ///
    /// # Errors
    ///
    /// A name that is not a model's, before anything is removed; files that cannot be moved.
    pub fn remove_models(&self, request: &RemoveModelsRequest) -> Result<Vec<ModelChange>, Error> {
        let data_dir = self.data_dir()?;
        let names: Vec<&str> = request.names.iter().map(String::as_str).collect();
        let mut changes = Vec::new();
        for model in known(&names)? {
            let removed = remove(model.name, &data_dir, &self.cancel_flag())?;
            let action = if removed.was_there { ModelAction::Removed } else { ModelAction::NotInstalled };
            changes.push(change(model, action, &removed.dir));
        }
        Ok(changes)
    }
}

/// The models with these names, each once.
fn known(names: &[&str]) -> Result<Vec<&'static InstallableModel>, Error> {
    let mut found: Vec<&InstallableModel> = Vec::new();
    for name in names {
        let model = chunkwright_models::data::model(name).map_err(chunkwright_models::InstallError::from)?;
        if !found.iter().any(|other| other.name == model.name) {
            found.push(model);
        }
    }
    Ok(found)
}

/// Each model after what it needs.
fn with_needs(models: &[&'static InstallableModel]) -> Result<Vec<&'static InstallableModel>, Error> {
    let names: Vec<&str> =
        models.iter().flat_map(|model| model.needs.iter().copied().chain([model.name])).collect();
    known(&names)
}

fn change(model: &InstallableModel, action: ModelAction, dir: &Path) -> ModelChange {
    ModelChange { name: model.name, action, bytes: model.size(), path: dir.display().to_string() }
}

/// The uses that configurations can name a model for.
fn uses(model: &InstallableModel) -> Vec<&'static str> {
    let embedder = EMBEDDERS.iter().any(|info| info.name == model.name).then_some("embedder");
    let reranker = RERANKERS.iter().any(|info| info.name == model.name).then_some("reranker");
    embedder.into_iter().chain(reranker).collect()
}
