//! Installs models into the user's data directory.

use std::env;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::{Result, bail};
use chunkwright_models::{DEFAULT_MODELS, data_dir, install};

/// Installs the models named by `--models a,b`, or the usual ones.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let names: Vec<&str> = match arguments {
        [] => DEFAULT_MODELS.to_vec(),
        [flag, names] if flag == "--models" => names.split(',').map(str::trim).collect(),
        [first, ..] => bail!("unexpected argument `{first}`; use `--models NAME,NAME`"),
    };
    let configured = env::var_os("CHUNKWRIGHT_DATA").map(PathBuf::from);
    let data_dir = data_dir(configured.as_deref())?;
    for name in names {
        let started = Instant::now();
        let installed = install(name, &data_dir, &AtomicBool::new(false))?;
        let megabytes = installed.model.size() / 1_000_000;
        let seconds = started.elapsed().as_secs_f64();
        let did = if installed.was_there { "is there" } else { "installed" };
        println!("model `{name}` {did}: {}, {megabytes} MB, {seconds:.1} s", installed.dir.display());
    }
    Ok(())
}
