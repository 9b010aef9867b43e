//! Opens engines, and hands them what performs the tasks of other processes that write through theirs.

use crate::core::engine::builder::Builder;
use crate::core::engine::{Access, Engine};
use crate::error::Error;
use crate::settings::Settings;

impl Engine {
    /// Opens an engine with these settings and the defaults of [`builder`](Self::builder).
    ///
    /// # Errors
    ///
    /// A store that cannot be opened.
    pub fn open(settings: Settings, access: Access) -> Result<Self, Error> {
        Self::builder(settings).open(access)
    }

    /// A builder, to open an engine with other options.
    pub fn builder(settings: Settings) -> Builder {
        Builder::new(settings, Self::perform, Self::settle_renames)
    }
}
