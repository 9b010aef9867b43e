//! Documents of a format that nothing knows.

use crate::document::Document;
use crate::parse::PARSERS;

impl Document {
    /// Returns whether it was read as plain text for want of a format with the extension that its id has.
    pub(crate) fn is_of_unknown_format(&self) -> bool {
        let name = self.id().rsplit('/').next().unwrap_or_default();
        let Some((stem, extension)) = name.rsplit_once('.') else { return false };
        let extension = extension.to_lowercase();
        let is_known = || PARSERS.iter().any(|parser| parser.extensions().contains(&&*extension));
        self.is_text && !stem.is_empty() && !extension.is_empty() && !is_known()
    }
}
