//! What a check of the installation finds.

use serde::Serialize;

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// What kind of thing it is.
    pub what: &'static str,
    /// Its name.
    pub name: String,
    /// How it is.
    pub state: State,
    /// What is there, or what would be right.
    pub note: String,
}

/// How something is that was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It is there and works.
    Ok,
    /// It is not there.
    Missing,
    /// It is there and does not work.
    Damaged,
}
