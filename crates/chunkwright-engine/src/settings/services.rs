//! The options of services: the tables `[embedders.NAME]`, `[rerankers.NAME]`, `[writers.NAME]`.
//!
//! Keys of the settings select a service and its address; its other options are written once, in the file. The file
//! never holds the key of a service: a table names a file or a variable that does.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::settings::error::SettingsError;
use crate::settings::in_force::Settings;
use crate::settings::layer::check_keys;
use crate::settings::origin::Source;

/// A kind of service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Turns texts into vectors.
    Embedder,
    /// Scores texts for a question.
    Reranker,
    /// Writes notes.
    Writer,
}

/// All kinds.
pub(super) const KINDS: [Kind; 3] = [Kind::Embedder, Kind::Reranker, Kind::Writer];

/// Keys of every table.
const KEYS: &[&str] =
    &["spec", "url", "key_file", "key_variable", "timeout_ms", "deadline_ms", "retries", "allow_link_local"];

impl Kind {
    /// The name of the tables of this kind.
    pub(super) fn tables(self) -> &'static str {
        match self {
            Self::Embedder => "embedders",
            Self::Reranker => "rerankers",
            Self::Writer => "writers",
        }
    }

    /// The keys that only tables of this kind have.
    fn own_keys(self) -> &'static [&'static str] {
        match self {
            Self::Embedder => &[
                "dimension",
                "max_tokens",
                "tokenizer",
                "query_prefix",
                "passage_prefix",
                "batch_tokens",
                "batch_texts",
                "concurrency",
                "price_per_million_tokens",
                "sparse",
                "sparse_url",
                "sparse_key_file",
                "sparse_key_variable",
            ],
            Self::Reranker => &["batch_texts", "concurrency"],
            Self::Writer => &[
                "max_tokens",
                "document_tokens",
                "tokenizer",
                "input_price_per_million_tokens",
                "output_price_per_million_tokens",
            ],
        }
    }
}

/// A table of a service; the kind determines which keys are allowed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ServiceTable {
    pub(crate) spec: Option<String>,
    pub(crate) url: Option<String>,
    pub(crate) key_file: Option<String>,
    pub(crate) key_variable: Option<String>,
    pub(crate) timeout_ms: Option<u64>,
    pub(crate) deadline_ms: Option<u64>,
    pub(crate) retries: Option<u32>,
    pub(crate) allow_link_local: Option<bool>,
    pub(crate) dimension: Option<usize>,
    pub(crate) max_tokens: Option<usize>,
    pub(crate) tokenizer: Option<String>,
    pub(crate) query_prefix: Option<String>,
    pub(crate) passage_prefix: Option<String>,
    pub(crate) batch_tokens: Option<usize>,
    pub(crate) batch_texts: Option<usize>,
    pub(crate) concurrency: Option<usize>,
    pub(crate) price_per_million_tokens: Option<f64>,
    pub(crate) sparse: Option<String>,
    pub(crate) sparse_url: Option<String>,
    pub(crate) sparse_key_file: Option<String>,
    pub(crate) sparse_key_variable: Option<String>,
    pub(crate) document_tokens: Option<usize>,
    pub(crate) input_price_per_million_tokens: Option<f64>,
    pub(crate) output_price_per_million_tokens: Option<f64>,
}

/// A service in force: its name in the registries, and its options.
#[derive(Clone, Debug)]
pub(crate) struct Service {
    pub(crate) spec: String,
    pub(crate) table: ServiceTable,
    /// Whether the file of the table may locate a key.
    pub(crate) may_have_key: bool,
}

impl Settings {
    /// The registry name of the service of that kind in force; `None` if there is none.
    pub fn service_spec(&self, kind: Kind) -> Option<String> {
        Some(self.service(kind)?.spec)
    }

    /// The service of that kind in force; `None` if none is configured or it is `none`.
    pub(crate) fn service(&self, kind: Kind) -> Option<Service> {
        let (name, url) = match kind {
            Kind::Embedder => (&self.embedder, &self.embedder_url),
            Kind::Reranker => (&self.reranker, &self.reranker_url),
            Kind::Writer => (&self.writer, &self.writer_url),
        };
        let name = name.as_deref().filter(|name| *name != "none")?;
        let mut table = self.services.table(kind, name).cloned().unwrap_or_default();
        if let Some(url) = url {
            table.url = Some(url.clone());
        }
        let spec = table.spec.clone().unwrap_or_else(|| name.to_owned());
        Some(Service { spec, table, may_have_key: self.services.is_named })
    }
}

/// The tables of a configuration file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Services {
    path: Option<PathBuf>,
    tables: Vec<(Kind, String, ServiceTable)>,
    values: Vec<(String, Value)>,
    /// Whether the user named the file: one that was found in a parent folder may not locate keys.
    is_named: bool,
}

impl Services {
    /// Removes the tables from `values`, which are those of the file at `path`.
    pub(super) fn take(
        values: &mut Map<String, Value>,
        path: &Path,
        is_named: bool,
    ) -> Result<Self, SettingsError> {
        let source = Source::File(path.to_owned());
        let mut services = Self { path: Some(path.to_owned()), is_named, ..Self::default() };
        for kind in KINDS {
            let tables = match values.remove(kind.tables()) {
                None => continue,
                Some(Value::Object(tables)) => tables,
                Some(_) => return Err(SettingsError::tables(kind.tables(), &source)),
            };
            for (name, table) in tables {
                let full = format!("{}.{name}", kind.tables());
                let Value::Object(mut table) = table else {
                    return Err(SettingsError::table(&full, &source));
                };
                let place = format!("`{full}` of {source}");
                if let Some(name) = ["key", "sparse_key"].into_iter().find(|key| table.contains_key(*key)) {
                    return Err(SettingsError::KeyInFile { name, place });
                }
                let known: Vec<&str> = KEYS.iter().chain(kind.own_keys()).copied().collect();
                check_keys(&table, &known, &place)?;
                for key in ["key_file", "sparse_key_file"] {
                    if let (Some(Value::String(file)), Some(folder)) = (table.get_mut(key), path.parent()) {
                        *file = folder.join(&*file).to_string_lossy().into_owned();
                    }
                }
                for (key, value) in &table {
                    services.values.push((format!("{full}.{key}"), without_secrets(value)));
                }
                let table = serde_json::from_value(Value::Object(table)).map_err(|error| {
                    SettingsError::Service { place, reason: error.to_string().replace('\n', ", ") }
                })?;
                services.tables.push((kind, name, table));
            }
        }
        Ok(services)
    }

    pub(super) fn table(&self, kind: Kind, name: &str) -> Option<&ServiceTable> {
        let found = self.tables.iter().find(|(of, called, _)| *of == kind && called == name);
        found.map(|(_, _, table)| table)
    }

    /// The file of the tables, if there is one.
    pub(super) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Every value in the tables by its full name, in order.
    pub(super) fn values(&self) -> impl Iterator<Item = &(String, Value)> {
        self.values.iter()
    }

    /// The variables that hold keys of services.
    pub(super) fn variables(&self) -> Vec<&str> {
        let variables = self.values.iter().filter(|(key, _)| key.ends_with("key_variable"));
        variables.filter_map(|(_, value)| value.as_str()).collect()
    }
}

/// Removes secrets from `value`: the user, the password and the query of an address.
pub(super) fn without_secrets(value: &Value) -> Value {
    let Value::String(text) = value else { return value.clone() };
    let Some((scheme, rest)) = text.split_once("://") else { return value.clone() };
    let (rest, query) = rest.split_once(['?', '#']).map_or((rest, ""), |(rest, _)| (rest, "?***"));
    let host = rest.rsplit_once('@').map_or(rest.to_owned(), |(_, host)| format!("***@{host}"));
    Value::String(format!("{scheme}://{host}{query}"))
}
