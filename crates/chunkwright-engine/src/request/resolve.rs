//! Configurations to resolve, and what they come to.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::FieldError;
use crate::settings::Setting;

/// A configuration to resolve.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ResolveRequest {
    /// A preset and the keys set over it, or keys over those in force. What cannot be is no error here but a problem of the
    /// answer, so any value may be given.
    pub settings: Map<String, Value>,
}

/// What a configuration comes to.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResolveAnswer {
    /// Every key that a request may set, with its value and where that came from, in the order of documentation.
    pub settings: Vec<Setting>,
    /// The fewest keys that give these values: the preset, and what differs from it otherwise than by following.
    pub least: Map<String, Value>,
    /// What is wrong, each with its place in the request. A value that its key does not take is left out above.
    pub problems: Vec<FieldError>,
}
