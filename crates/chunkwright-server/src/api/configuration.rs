//! The settings in force, those that a request may name, and those that a collection is cut by.

use axum::Json;
use axum::extract::State;
use chunkwright_engine::settings::Setting;
use chunkwright_engine::{
    Collection, Engine, Error, PresetEntry, RegistriesAnswer, ResolveAnswer, ResolveRequest, schema,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Answer, OfCollection};
use crate::answer::{Has, Tagged};
use crate::app::Shared;
use crate::extract::{Body, Path};
use crate::openapi::{Method, Operation, Resources};
use crate::problem::Problem;

const OF_COLLECTION: &str = "/api/v1/collections/{collection}/configuration";

pub(super) fn add(resources: Resources) -> Resources {
    let all = Operation::admin(
        Method::Get,
        "/api/v1/configuration",
        "get_configuration",
        "Lists every key of the settings with its value and where that came from; without secrets.",
    );
    let keys = Operation::read(
        Method::Get,
        "/api/v1/configuration/schema",
        "get_configuration_schema",
        "Answers a JSON Schema of the settings that a request may name.",
    );
    let resolved = Operation::read(
        Method::Post,
        "/api/v1/configuration/resolve",
        "resolve_configuration",
        "Answers what a preset and the keys set over it come to, the fewest keys that say the same, and what is wrong.",
    );
    let presets = Operation::read(
        Method::Get,
        "/api/v1/presets",
        "list_presets",
        "Lists the presets with their values.",
    );
    let registries = Operation::read(
        Method::Get,
        "/api/v1/registries",
        "list_registries",
        "Lists strategies, formats, languages, tokenizers and models.",
    );
    let of_collection = Operation::read(
        Method::Get,
        OF_COLLECTION,
        "get_collection_configuration",
        "Answers by which settings a collection is cut, and by which it is to be cut next.",
    );
    let plan = Operation::write(
        Method::Put,
        OF_COLLECTION,
        "put_collection_configuration",
        "Says by which settings a collection is to be cut the next time it is cut again.",
    );
    resources
        .add("configuration", &all, settings)
        .add("configuration", &keys, settings_schema)
        .add("configuration", &resolved, resolve)
        .add("configuration", &presets, list_presets)
        .add("configuration", &registries, list_registries)
        .add("configuration", &of_collection, get)
        .add("configuration", &plan, put)
}

/// The settings in force.
#[derive(Serialize, JsonSchema)]
struct Configuration {
    /// Every key, in the order of documentation.
    settings: Vec<Setting>,
}

/// The presets.
#[derive(Serialize, JsonSchema)]
struct Presets {
    /// The presets, those of the server's configuration last.
    presets: Vec<PresetEntry>,
}

/// By which settings a collection is cut.
#[derive(Serialize, JsonSchema)]
struct CollectionConfiguration {
    /// The collection.
    collection: String,
    /// What it is cut by; absent where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    current: Option<Map<String, Value>>,
    /// What it is to be cut by the next time.
    planned: Map<String, Value>,
}

/// By which settings a collection is to be cut.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Plan {
    /// Keys of the settings, over those in force.
    #[schemars(with = "schema::RequestedSettings")]
    settings: Map<String, Value>,
}

impl CollectionConfiguration {
    fn of(collection: &Collection) -> Result<Self, Error> {
        let current = match collection.configuration() {
            Ok(settings) => Some(settings.cutting()),
            Err(Error::UnknownConfiguration { .. }) => None,
            Err(error) => return Err(error),
        };
        let planned = match collection.planned() {
            Err(Error::UnknownConfiguration { .. }) => collection.engine().settings().cutting(),
            planned => planned?.cutting(),
        };
        Ok(Self { collection: collection.name().to_owned(), current, planned })
    }
}

async fn settings(State(app): State<Shared>, has: Has) -> Result<Tagged<Configuration>, Problem> {
    has.tagged(&Configuration { settings: app.engine.settings().list() })
}

async fn settings_schema(has: Has) -> Result<Tagged<Map<String, Value>>, Problem> {
    let schema = schema::of_settings();
    has.tagged(&schema.as_object().cloned().unwrap_or_default())
}

async fn resolve(State(app): State<Shared>, Body(request): Body<ResolveRequest>) -> Answer<ResolveAnswer> {
    Ok(Json(app.call(move |engine| Ok(engine.resolve(request))).await?))
}

async fn list_presets(State(app): State<Shared>, has: Has) -> Result<Tagged<Presets>, Problem> {
    has.tagged(&Presets { presets: app.call(Engine::presets).await? })
}

async fn list_registries(State(app): State<Shared>, has: Has) -> Result<Tagged<RegistriesAnswer>, Problem> {
    has.tagged(&app.call(|engine| Ok(engine.registries())).await?)
}

async fn get(
    State(app): State<Shared>,
    Path(OfCollection { collection }): Path<OfCollection>,
    has: Has,
) -> Result<Tagged<CollectionConfiguration>, Problem> {
    let read = move |engine: &Engine| {
        let collection = engine.collection(collection);
        collection.snapshot()?;
        CollectionConfiguration::of(&collection)
    };
    has.tagged(&app.call(read).await?)
}

async fn put(
    State(app): State<Shared>,
    Path(OfCollection { collection }): Path<OfCollection>,
    Body(Plan { settings }): Body<Plan>,
) -> Answer<CollectionConfiguration> {
    let plan = move |engine: &Engine| {
        let collection = engine.collection(collection);
        collection.snapshot()?;
        let settings = engine.settings().requested(&settings);
        collection.plan(&settings.map_err(|error| Error::from(error).within("settings"))?)?;
        CollectionConfiguration::of(&collection)
    };
    Ok(Json(app.call(plan).await?))
}
