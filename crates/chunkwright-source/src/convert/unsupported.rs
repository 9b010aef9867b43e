//! Documents of formats that are known and not read: a user hears so, and not that they are binary.

use super::{ConvertError, Converted, Converter};

/// A format that is not read.
pub(super) struct Unsupported {
    /// What files begin with.
    start: &'static [u8],
    extensions: &'static [&'static str],
    /// What a file of it is, for people.
    what: &'static str,
}

const COMPOUND: &[u8] = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1";

const ZIP: &[u8] = b"PK\x03\x04";

const fn format(
    start: &'static [u8],
    extensions: &'static [&'static str],
    what: &'static str,
) -> Unsupported {
    Unsupported { start, extensions, what }
}

/// The formats.
pub(super) static UNSUPPORTED: &[Unsupported] = &[
    format(COMPOUND, &["doc", "dot"], "a document of Word 97 to 2003"),
    format(COMPOUND, &["xls", "xlt"], "a workbook of Excel 97 to 2003"),
    format(COMPOUND, &["ppt", "pps", "pot"], "a presentation of PowerPoint 97 to 2003"),
    format(COMPOUND, &["msg"], "a message of Outlook"),
    format(COMPOUND, &["pub", "vsd", "wps"], "a document of an older Office program"),
    format(ZIP, &["odt", "ott"], "an OpenDocument text"),
    format(ZIP, &["ods", "ots"], "an OpenDocument spreadsheet"),
    format(ZIP, &["odp", "otp"], "an OpenDocument presentation"),
    format(ZIP, &["pages", "numbers", "key"], "a document of iWork"),
    format(ZIP, &["xlsb"], "a binary workbook of Excel"),
    format(ZIP, &["vsdx"], "a drawing of Visio"),
    format(ZIP, &["xps", "oxps"], "an XPS document"),
    format(b"AT&TFORM", &["djvu", "djv"], "a DjVu document"),
    format(b"!BDN", &["pst", "ost"], "a data file of Outlook"),
    format(b"\xE4\x52\x5C\x7B", &["one"], "a section of OneNote"),
    format(b"ITSF", &["chm"], "compiled HTML help"),
    format(b"", &["mobi", "azw", "azw3"], "a Kindle book"),
];

impl Converter for Unsupported {
    fn name(&self) -> &'static str {
        self.extensions[0]
    }

    fn extensions(&self) -> &'static [&'static str] {
        self.extensions
    }

    fn recognizes(&self, extension: &str, bytes: &[u8]) -> bool {
        let is_binary = || !self.start.is_empty() || crate::decode::decode(bytes).is_none();
        self.extensions.contains(&extension) && bytes.starts_with(self.start) && is_binary()
    }

    fn convert(&self, _: &[u8]) -> Result<Converted, ConvertError> {
        Err(ConvertError::Unsupported { what: self.what })
    }
}
