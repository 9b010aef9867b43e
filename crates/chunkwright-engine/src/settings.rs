//! The settings in force, combined from layers, with the origin of each value.
//!
//! The layers, lowest first: the preset, `chunkwright.toml`, the environment, the values passed to the front end. Two
//! rules make combinations sensible:
//!
//! * A layer that names a preset starts from it: cutting keys of the layers below are dropped, since sizes made for
//!   one preset mean nothing in another. Where no layer names one, keys of another system select the preset that
//!   reproduces it.
//! * Sizes that a layer does not set follow those it does ([`ChunkOptions::apply`]), so that `max_size` alone keeps
//!   the preset's proportions. Keys of another system scale nothing in its preset.

mod environment;
mod error;
mod file;
mod in_force;
pub mod key;
mod layer;
mod layers;
mod least;
mod meta;
mod origin;
mod portable;
mod requested;
#[cfg(feature = "schema")]
pub(crate) mod schema;
mod services;
mod template;
mod walk;

pub use environment::{API_KEY, LOG_LEVEL, STORE_KEY};
pub use error::SettingsError;
pub use file::FILE_NAME;
pub use in_force::{Setting, Settings};
pub use layers::Layers;
pub use origin::Source;
pub(crate) use portable::PortableSettings;
pub use services::Kind;
pub(crate) use services::{Service, ServiceTable};
pub use template::TABLES;
