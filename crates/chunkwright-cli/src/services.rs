//! Models in force, on this machine or as services: embedder, reranker, writer of notes.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use chunkwright::TokenCounter;
use chunkwright_index::Model;
use chunkwright_models::http::{HttpOptions, Secret};
use chunkwright_models::{
    DIALECTS, EMBEDDERS, Embedder, RERANK_DIALECTS, RERANKERS, RemoteOptions, RerankOptions, Reranker,
    ServiceOptions, SparseOptions, WRITERS, Writer, WriterOptions,
};
use clap::Args;
use serde::Serialize;

use crate::app::data_dir;
use crate::settings::{Kind, Service, ServiceTable, Settings};

/// Flags that say what reranks.
#[derive(Clone, Debug, Default, Args, Serialize)]
#[command(next_help_heading = "Searching")]
pub(crate) struct RerankerFlags {
    #[arg(long, value_name = "none|SPEC", help = reranker_help())]
    #[serde(skip_serializing_if = "Option::is_none")]
    reranker: Option<String>,
    /// Where the reranker is, if it is a service that is not at its usual address
    #[arg(long, value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    reranker_url: Option<String>,
}

/// Flags that say what writes notes.
#[derive(Clone, Debug, Default, Args, Serialize)]
#[command(next_help_heading = "Notes")]
pub(crate) struct WriterFlags {
    #[arg(long, value_name = "none|SPEC", help = writer_help())]
    #[serde(skip_serializing_if = "Option::is_none")]
    writer: Option<String>,
    /// Where the writer is, if it is not at its usual address
    #[arg(long, value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    writer_url: Option<String>,
}

/// The embedder in force: what was asked for, or the best that is installed; `None` for none.
pub(crate) fn embedder(settings: &Settings) -> Result<Option<Arc<dyn Embedder>>> {
    open_embedder(settings, None)
}

/// The embedder for queries: the one of the stored model, unless another was asked for. `None` if there
/// are no vectors or their model is not installed.
///
/// Vectors of a service are an error where no embedder is configured: which service, at which address and
/// with which key, no store can say.
pub(crate) fn query_embedder(
    settings: &Settings,
    model: Option<&Model>,
) -> Result<Option<Arc<dyn Embedder>>> {
    if settings.embedder.is_some() {
        return open_embedder(settings, model);
    }
    let Some(model) = model else { return Ok(None) };
    // A model's name is that of its vectors, not of the embedder.
    if let Some(info) = EMBEDDERS.iter().find(|info| info.vectors == model.name) {
        return Ok(chunkwright_models::embedder(info.name, &data_dir(settings)?).ok());
    }
    let name = model.name.rsplit_once('@').map_or(model.name.as_str(), |(name, _)| name);
    if chunkwright_models::is_remote(name) {
        bail!(
            "the collection's vectors are those of the service `{name}`; name it by `--embedder` or `embedder` in \
             `chunkwright.toml`, or search with `--mode lexical`"
        );
    }
    Ok(None)
}

fn open_embedder(settings: &Settings, stored: Option<&Model>) -> Result<Option<Arc<dyn Embedder>>> {
    let data_dir = data_dir(settings)?;
    let Some(service) = settings.service(Kind::Embedder) else {
        let best = chunkwright_models::default_embedder(&data_dir).filter(|_| settings.embedder.is_none());
        return Ok(best.map(|name| chunkwright_models::embedder(name, &data_dir)).transpose()?);
    };
    let Service { spec, table, .. } = &service;
    if !spec.contains(':') {
        return Ok(Some(chunkwright_models::embedder(spec, &data_dir)?));
    }
    let usual = RemoteOptions::default();
    // What the store knows of this model need not be asked for.
    let known = stored.filter(|model| model.name.starts_with(spec.as_str()));
    let mut sparse = None;
    if table.sparse.is_some() || table.sparse_url.is_some() {
        let spec = table.sparse.clone().unwrap_or_else(|| "tei:".to_owned());
        let service = ServiceOptions {
            url: table.sparse_url.clone(),
            key: key(&service, SPARSE_KEY, [&table.sparse_key_file, &table.sparse_key_variable])?,
            ..service_options(&service)?
        };
        sparse = Some(SparseOptions { spec, service });
    } else if table.sparse_key_file.is_some() || table.sparse_key_variable.is_some() {
        bail!(
            "a key of sparse vectors is configured and no service that gives them; say which by `sparse`, and where by `sparse_url`"
        );
    }
    let options = RemoteOptions {
        service: service_options(&service)?,
        dimension: table.dimension,
        known_dimension: known.map(|model| model.dimension),
        known_name: known.map(|model| model.name.clone()),
        max_tokens: table.max_tokens,
        counter: counter(table, &data_dir)?,
        query_prefix: table.query_prefix.clone().unwrap_or_default(),
        passage_prefix: table.passage_prefix.clone().unwrap_or_default(),
        batch_tokens: table.batch_tokens.unwrap_or(usual.batch_tokens),
        batch_texts: table.batch_texts.unwrap_or(usual.batch_texts),
        concurrency: table.concurrency.unwrap_or(usual.concurrency),
        price_per_million_tokens: table.price_per_million_tokens,
        sparse,
    };
    Ok(Some(chunkwright_models::remote_embedder(spec, options)?))
}

/// The reranker in force; `None` unless one is configured.
pub(crate) fn reranker(settings: &Settings) -> Result<Option<Arc<dyn Reranker>>> {
    let Some(service) = settings.service(Kind::Reranker) else { return Ok(None) };
    let Service { spec, table, .. } = &service;
    if !spec.contains(':') {
        return Ok(Some(chunkwright_models::reranker(spec, &data_dir(settings)?)?));
    }
    let usual = RerankOptions::default();
    let options = RerankOptions {
        service: service_options(&service)?,
        batch_texts: table.batch_texts.unwrap_or(usual.batch_texts),
        concurrency: table.concurrency.unwrap_or(usual.concurrency),
    };
    Ok(Some(chunkwright_models::remote_reranker(spec, options)?))
}

/// The writer of notes in force; `None` unless one is configured.
pub(crate) fn writer(settings: &Settings) -> Result<Option<Writer>> {
    let Some(service) = settings.service(Kind::Writer) else { return Ok(None) };
    let Service { spec, table, .. } = &service;
    let usual = WriterOptions::default();
    let options = WriterOptions {
        service: service_options(&service)?,
        max_tokens: table.max_tokens.unwrap_or(usual.max_tokens),
        document_tokens: table.document_tokens.unwrap_or(usual.document_tokens),
        counter: counter(table, &data_dir(settings).unwrap_or_default())?,
        input_price_per_million_tokens: table.input_price_per_million_tokens,
        output_price_per_million_tokens: table.output_price_per_million_tokens,
    };
    Ok(Some(chunkwright_models::writer(spec, options)?))
}

/// The keys of a table that say where the key of its service is, and that of its service of sparse vectors.
const KEY: [&str; 2] = ["key_file", "key_variable"];
const SPARSE_KEY: [&str; 2] = ["sparse_key_file", "sparse_key_variable"];

/// The key that stands in a file or a variable, which `names` name.
fn key(
    service: &Service,
    names: [&str; 2],
    [file, variable]: [&Option<String>; 2],
) -> Result<Option<Secret>> {
    if !service.may_have_key && (file.is_some() || variable.is_some()) {
        bail!(
            "a `chunkwright.toml` that was found on the way up may not say where a key is, since anybody's could send it anywhere; name the file by `--config`"
        );
    }
    Ok(match (file, variable) {
        (Some(_), Some(_)) => {
            bail!("`{}` and `{}` are both set; a service has one key", names[0], names[1])
        }
        (Some(file), None) => Some(Secret::from_file(Path::new(file))?),
        (None, Some(name)) => {
            Some(Secret::from_variable(name).with_context(|| format!("the variable `{name}` holds no key"))?)
        }
        (None, None) => None,
    })
}

fn service_options(service: &Service) -> Result<ServiceOptions> {
    let table = &service.table;
    let key = key(service, KEY, [&table.key_file, &table.key_variable])?;
    let usual = HttpOptions::default();
    let timeout_ms = table.timeout_ms.unwrap_or(usual.timeout_ms);
    let http = HttpOptions {
        timeout_ms,
        read_ms: usual.read_ms.max(timeout_ms),
        // Whoever allows an attempt more time allows it to all of them.
        deadline_ms: table.deadline_ms.unwrap_or(usual.deadline_ms.max(timeout_ms)),
        retries: table.retries.unwrap_or(usual.retries),
        allow_link_local: table.allow_link_local.unwrap_or(usual.allow_link_local),
        ..usual
    };
    Ok(ServiceOptions { url: table.url.clone(), key, http, ..ServiceOptions::default() })
}

fn counter(table: &ServiceTable, data_dir: &Path) -> Result<Option<Arc<dyn TokenCounter>>> {
    let made = table.tokenizer.as_deref().map(|name| chunkwright_models::counter(name, data_dir));
    Ok(made.transpose()?)
}

/// Help of `--embedder`, from the registries.
pub(crate) fn embedder_help() -> String {
    let local = EMBEDDERS.iter().map(|info| format!("`{}` ({})", info.name, info.summary));
    let remote = DIALECTS.iter().map(|dialect| format!("`{}` ({})", dialect.form(), dialect.summary));
    help("What embeds texts: `none` (search by words only)", local.chain(remote), "embedders")
}

fn reranker_help() -> String {
    let local = RERANKERS.iter().map(|info| format!("`{}` ({})", info.name, info.summary));
    let remote = RERANK_DIALECTS.iter().map(|dialect| format!("`{}` ({})", dialect.form(), dialect.summary));
    help("What ranks the best hits anew: `none`, the default", local.chain(remote), "rerankers")
}

fn writer_help() -> String {
    let all = WRITERS.iter().map(|info| format!("`{}:MODEL` ({})", info.name, info.summary));
    help("What writes notes: `none`, the default", all, "writers")
}

fn help(what: &str, known: impl Iterator<Item = String>, tables: &str) -> String {
    let known = known.collect::<Vec<_>>().join("; ");
    format!("{what}; {known}; or an `[{tables}.NAME]` of `chunkwright.toml`")
}
