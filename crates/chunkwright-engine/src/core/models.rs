//! The models in force, on this machine or as services: token counter, embedder, reranker, writer of notes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use chunkwright::TokenCounter;
use chunkwright_http::{HttpOptions, Secret};
use chunkwright_index::{Model, StoreLocation};
use chunkwright_models::{
    EMBEDDERS, Embedder, OnnxOptions, RemoteOptions, RerankOptions, Reranker, ServiceOptions, SparseOptions,
    Writer, WriterOptions,
};

use crate::error::Error;
use crate::settings::{Kind, STORE_KEY, Service, ServiceTable, Settings};

/// The folder of models and of the default store.
pub(crate) fn data_dir(settings: &Settings) -> Result<PathBuf, Error> {
    Ok(chunkwright_models::data_dir(settings.data.as_deref().map(Path::new))?)
}

/// The location of the store.
pub(crate) fn place(settings: &Settings) -> Result<StoreLocation, Error> {
    let Some(location) = settings.store.as_deref().filter(|store| store.contains("://")) else {
        let memory = settings.search_memory;
        return Ok(StoreLocation { memory, ..StoreLocation::folder(&store_dir(settings)?) });
    };
    let key = match (Secret::from_variable(STORE_KEY), &settings.store_key_file) {
        (None, Some(file)) => Some(Secret::from_file(Path::new(file))?),
        (key, _) => key,
    };
    // Stores on servers share the cache, since a vector belongs to its text, not to a store.
    let cache = data_dir(settings)?.join("cache");
    let lock = Some(owner_dir(settings)?);
    Ok(StoreLocation { location: location.to_owned(), key, cache, lock, ..StoreLocation::default() })
}

/// The folder of the store's lock and of the socket of its owner: the folder of the store, or for a store on a server a
/// local folder named after its address, options included.
pub(crate) fn owner_dir(settings: &Settings) -> Result<PathBuf, Error> {
    let Some(location) = settings.store.as_deref().filter(|store| store.contains("://")) else {
        return store_dir(settings);
    };
    let name = blake3::hash(location.as_bytes()).to_hex();
    Ok(data_dir(settings)?.join("servers").join(&name.as_str()[..16]))
}

/// The folder of a store that is not on a server.
pub(crate) fn store_dir(settings: &Settings) -> Result<PathBuf, Error> {
    match &settings.store {
        Some(store) if store.contains("://") => Err(Error::NotAFolder { store: store.clone() }),
        Some(store) => Ok(PathBuf::from(store)),
        None => Ok(data_dir(settings)?.join("store")),
    }
}

/// The token counter in force.
pub(crate) fn counter(settings: &Settings) -> Result<Arc<dyn TokenCounter>, Error> {
    counter_called(settings, &settings.tokenizer)
}

/// The counter called `name`.
pub(crate) fn counter_called(settings: &Settings, name: &str) -> Result<Arc<dyn TokenCounter>, Error> {
    // Counters without an installed vocabulary need no data folder, so a missing home folder is not an error yet.
    let data_dir = data_dir(settings).unwrap_or_default();
    Ok(chunkwright_models::counter(name, &data_dir)?)
}

/// A cache key of the embedder for a `purpose`, from all its settings: equal keys load equal models.
pub(crate) fn embedder_key(settings: &Settings, purpose: &str) -> String {
    format!("{:?} {:?} {:?} {purpose}", settings.data, settings.embedder, settings.service(Kind::Embedder))
}

/// A cache key of the reranker, from all its settings.
pub(crate) fn reranker_key(settings: &Settings) -> String {
    format!("{:?} {:?}", settings.data, settings.service(Kind::Reranker))
}

/// The embedder in force: the configured one, or the best one installed; `None` for no embedder.
pub(crate) fn embedder(settings: &Settings) -> Result<Option<Arc<dyn Embedder>>, Error> {
    open_embedder(settings, None)
}

/// The embedder for queries: the one of the stored model, unless another is configured. `None` if there are no vectors
/// or their model is not installed.
///
/// Vectors of a service are an error if no embedder is configured: a store does not know the service, its address or
/// its key.
pub(crate) fn query_embedder(
    settings: &Settings,
    model: Option<&Model>,
) -> Result<Option<Arc<dyn Embedder>>, Error> {
    if settings.embedder.is_some() {
        return open_embedder(settings, model);
    }
    let Some(model) = model else { return Ok(None) };
    // A stored model has the name of its vectors, not of the embedder.
    if let Some(info) = EMBEDDERS.iter().find(|info| info.vectors == model.name) {
        return Ok(chunkwright_models::embedder(info.name, &data_dir(settings)?).ok());
    }
    let name = model.name.rsplit_once('@').map_or(model.name.as_str(), |(name, _)| name);
    // A store does not know the folder of an exported model, either.
    if chunkwright_models::is_remote(name) || name.starts_with(chunkwright_models::ONNX) {
        return Err(Error::UnconfiguredService { name: name.into() });
    }
    Ok(None)
}

/// The value of `embedder` that gives vectors of a stored model; `None` for a service, which only the settings know.
pub(crate) fn embedder_for(model: Option<&Model>) -> Option<&'static str> {
    let Some(model) = model else { return Some("none") };
    EMBEDDERS.iter().find(|info| info.vectors == model.name).map(|info| info.name)
}

fn open_embedder(settings: &Settings, stored: Option<&Model>) -> Result<Option<Arc<dyn Embedder>>, Error> {
    let data_dir = data_dir(settings)?;
    let Some(service) = settings.service(Kind::Embedder) else {
        let best = chunkwright_models::default_embedder(&data_dir).filter(|_| settings.embedder.is_none());
        return Ok(best.map(|name| chunkwright_models::embedder(name, &data_dir)).transpose()?);
    };
    let Service { spec, table, .. } = &service;
    if !spec.contains(':') {
        return Ok(Some(chunkwright_models::embedder(spec, &data_dir)?));
    }
    if let Some(dir) = spec.strip_prefix(chunkwright_models::ONNX) {
        let options = OnnxOptions {
            max_tokens: table.max_tokens,
            query_prefix: table.query_prefix.clone(),
            passage_prefix: table.passage_prefix.clone(),
        };
        return Ok(Some(chunkwright_models::onnx_embedder(Path::new(dir), &data_dir, options)?));
    }
    let usual = RemoteOptions::default();
    // The store already knows this about the model, so the service is not called.
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
        return Err(Error::SparseKeyWithoutService);
    }
    let options = RemoteOptions {
        service: service_options(&service)?,
        dimension: table.dimension,
        known_dimension: known.map(|model| model.dimension),
        known_name: known.map(|model| model.name.clone()),
        max_tokens: table.max_tokens,
        counter: counter_of(table, &data_dir)?,
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
pub(crate) fn reranker(settings: &Settings) -> Result<Option<Arc<dyn Reranker>>, Error> {
    let Some(service) = settings.service(Kind::Reranker) else { return Ok(None) };
    let Service { spec, table, .. } = &service;
    if !spec.contains(':') {
        return Ok(Some(chunkwright_models::reranker(spec, &data_dir(settings)?)?));
    }
    if let Some(dir) = spec.strip_prefix(chunkwright_models::ONNX) {
        return Ok(Some(chunkwright_models::onnx_reranker(Path::new(dir), &data_dir(settings)?)?));
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
pub(crate) fn writer(settings: &Settings) -> Result<Option<Writer>, Error> {
    let Some(service) = settings.service(Kind::Writer) else { return Ok(None) };
    let Service { spec, table, .. } = &service;
    let usual = WriterOptions::default();
    let options = WriterOptions {
        service: service_options(&service)?,
        max_tokens: table.max_tokens.unwrap_or(usual.max_tokens),
        document_tokens: table.document_tokens.unwrap_or(usual.document_tokens),
        counter: counter_of(table, &data_dir(settings).unwrap_or_default())?,
        input_price_per_million_tokens: table.input_price_per_million_tokens,
        output_price_per_million_tokens: table.output_price_per_million_tokens,
    };
    Ok(Some(chunkwright_models::writer(spec, options)?))
}

/// The keys of a table that locate the key of its service, and that of its service of sparse vectors.
const KEY: [&str; 2] = ["key_file", "key_variable"];

const SPARSE_KEY: [&str; 2] = ["sparse_key_file", "sparse_key_variable"];

/// Reads a key from the file or variable that `names` refers to.
fn key(
    service: &Service,
    names: [&'static str; 2],
    [file, variable]: [&Option<String>; 2],
) -> Result<Option<Secret>, Error> {
    if !service.may_have_key && (file.is_some() || variable.is_some()) {
        return Err(Error::UntrustedKey);
    }
    Ok(match (file, variable) {
        (Some(_), Some(_)) => {
            return Err(Error::TwoKeys { names });
        }
        (Some(file), None) => Some(Secret::from_file(Path::new(file))?),
        (None, Some(name)) => {
            Some(Secret::from_variable(name).ok_or_else(|| Error::EmptyVariable { name: name.clone() })?)
        }
        (None, None) => None,
    })
}

fn service_options(service: &Service) -> Result<ServiceOptions, Error> {
    let table = &service.table;
    let key = key(service, KEY, [&table.key_file, &table.key_variable])?;
    let usual = HttpOptions::default();
    let timeout_ms = table.timeout_ms.unwrap_or(usual.timeout_ms);
    let http = HttpOptions {
        timeout_ms,
        read_ms: usual.read_ms.max(timeout_ms),
        // A longer timeout per attempt implies a longer deadline for all attempts.
        deadline_ms: table.deadline_ms.unwrap_or(usual.deadline_ms.max(timeout_ms)),
        retries: table.retries.unwrap_or(usual.retries),
        allow_link_local: table.allow_link_local.unwrap_or(usual.allow_link_local),
        ..usual
    };
    Ok(ServiceOptions { url: table.url.clone(), key, http, ..ServiceOptions::default() })
}

fn counter_of(table: &ServiceTable, data_dir: &Path) -> Result<Option<Arc<dyn TokenCounter>>, Error> {
    let made = table.tokenizer.as_deref().map(|name| chunkwright_models::counter(name, data_dir));
    Ok(made.transpose()?)
}
