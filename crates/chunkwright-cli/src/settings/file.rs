//! Reading a configuration file.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use toml::{Table, Value};

use super::services::KINDS;
use super::{Layer, Services, Source, alias, check_keys, cutting_keys, known_keys};

/// A configuration file: its layer, and the presets it defines.
pub(crate) struct ConfigFile {
    /// Its values.
    pub(crate) layer: Layer,
    /// `[presets.<name>]`: each a table of cutting keys and `base`.
    pub(crate) presets: Table,
    /// `[embedders.<name>]`, `[rerankers.<name>]`, `[writers.<name>]`: how services are used.
    pub(crate) services: Services,
}

impl ConfigFile {
    /// Reads the file at `path` and checks its keys.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path)
            .with_context(|| format!("the configuration `{}` could not be read", path.display()))?;
        Self::parse(path, &text)
    }

    fn parse(path: &Path, text: &str) -> Result<Self> {
        let place = format!("`{}`", path.display());
        let mut values: Table = toml::from_str(text).map_err(|error: toml::de::Error| {
            let at = error.span().map_or(0, |span| span.start.min(text.len()));
            let line = text.as_bytes()[..at].split(|&byte| byte == b'\n').count();
            anyhow!("{place} is no TOML at line {line}: {}", error.message().replace('\n', ", "))
        })?;
        let mut presets = match values.remove("presets") {
            None => Table::new(),
            Some(Value::Table(presets)) => presets,
            Some(_) => bail!("`presets` in {place} must hold tables, such as `[presets.mine]`"),
        };
        let services = Services::take(&mut values, path, &place)?;
        let mut known = known_keys();
        known.push("presets".into());
        known.extend(KINDS.map(|kind| kind.tables().to_owned()));
        check_keys(&values, &known, &place)?;
        let mut known = cutting_keys();
        known.push("base".into());
        alias::resolve(&mut values, &place)?;
        for (name, preset) in &mut presets {
            let Value::Table(preset) = preset else {
                bail!("`presets.{name}` in {place} must be a table, such as `[presets.{name}]`");
            };
            let place = format!("the preset `{name}` of {place}");
            check_keys(preset, &known, &place)?;
            alias::resolve(preset, &place)?;
        }
        anchor(&mut values, path);
        Ok(Self { layer: Layer { source: Source::File(path.to_owned()), values }, presets, services })
    }
}

/// Makes relative paths relative to the file that says them.
fn anchor(values: &mut Table, path: &Path) {
    for key in ["store", "store_key_file", "data"] {
        if let Some(Value::String(folder)) = values.get_mut(key)
            && !folder.contains("://")
            && let Some(base) = path.parent()
        {
            *folder = base.join(&*folder).to_string_lossy().into_owned();
        }
    }
}
