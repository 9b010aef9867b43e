//! `chunkwright key`

use std::path::PathBuf;
use std::{fs, io};

use anyhow::{Context, Result};
use chunkwright_server::{Key as ApiKey, Keys, Scope, append_line, readable_by_us_alone};

use crate::app::{Global, Outcome};
use crate::output::print;

/// Make an API key for a client of `chunkwright serve`
///
/// Prints the key, which is shown once and kept nowhere, and adds its hash to the file. A server reads the file when it
/// starts; to take a key back, delete its line.
#[derive(Debug, clap::Args)]
pub(crate) struct Key {
    /// Who holds it: letters, digits, `-`, `_` and `.`; the name that logs have
    name: String,
    /// What it allows: `read` (search and look), `write` (also change what is indexed) or `admin` (also remove collections and change how
    /// the server works)
    #[arg(long, value_name = "SCOPE", default_value = "read")]
    scope: Scope,
    /// File of the server's keys; it is made if it does not exist
    #[arg(long, value_name = "FILE")]
    keys: PathBuf,
}

impl Key {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let shown = self.keys.display();
        let before = match fs::read_to_string(&self.keys) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            read => read.with_context(|| format!("`{shown}` cannot be read"))?,
        };
        let mut keys = Keys::parse(&before).with_context(|| format!("`{shown}` cannot be used"))?;
        let (key, secret) = ApiKey::generate(&self.name, self.scope)?;
        keys.add(key.clone())?;
        append_line(&self.keys, &key.to_string()).with_context(|| format!("`{shown}` cannot be written"))?;
        if let Some(warning) = readable_by_us_alone(&self.keys)? {
            global.say(&warning);
        }
        print(format!("{secret}\n").as_bytes())?;
        Ok(Outcome::Success)
    }
}
