//! Parsers: from text to sections and blocks.

mod asciidoc;
mod csv;
mod data;
mod front_matter;
mod grid;
mod html;
mod json;
mod latex;
mod lines;
mod log;
mod markdown;
mod notebook;
mod org;
mod rst;
mod subtitles;
mod text;
mod toml;
mod turns;
mod yaml;

pub use asciidoc::AsciiDoc;
pub use csv::Csv;
pub use html::Html;
pub use json::{Json, JsonLines};
pub use latex::Latex;
pub use log::Log;
pub use markdown::{Markdown, Mdx};
pub use notebook::Notebook;
pub use org::Org;
pub use rst::Rst;
pub use subtitles::Subtitles;
pub use text::Text;
pub use toml::Toml;
pub use yaml::Yaml;

use crate::document::DocumentBuilder;

/// Reads one format. A parser reports what it sees to a [`DocumentBuilder`], in the order of the
/// source, and cannot fail: what it does not understand is text.
pub trait Parser: Send + Sync {
    /// The format's name: `markdown`, `text`, `python`, ...
    fn name(&self) -> &'static str;

    /// File name extensions, lower case, without the dot.
    fn extensions(&self) -> &'static [&'static str];

    /// Whether a document is shown as it renders, since its source is markup that people and models do not read.
    fn renders(&self) -> bool {
        false
    }

    /// Reports the sections and blocks of `out.source()`.
    fn parse(&self, out: &mut DocumentBuilder);
}

/// The formats of this crate. Source code is in `chunkwright-code`.
pub static PARSERS: &[&dyn Parser] = &[
    &Markdown, &Mdx, &Html, &Notebook, &Rst, &AsciiDoc, &Latex, &Json, &JsonLines, &Yaml, &Toml, &Csv, &Org,
    &Subtitles, &Log, &Text,
];

/// The longest run of `c`.
fn longest_run(text: &str, c: char) -> usize {
    text.split(|other| other != c).map(str::len).max().unwrap_or(0)
}
