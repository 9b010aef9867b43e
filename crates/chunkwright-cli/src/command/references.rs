//! `chunkwright references`

use anyhow::Result;
use chunkwright_engine::{Access, Filter, SymbolPlace};

use crate::app::{CollectionFlags, Global, Outcome};
use crate::output::{Output, OutputFlags};
use crate::text::{dim, green, plain};

/// Find where a symbol is defined, what is inside it and what uses it
///
/// Every line is printed: those that define or declare the symbol first, then those that define its members, then those
/// that document it, use it, or use it in tests and examples.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct References {
    /// Name of the symbol, with the names around it as far as wanted: `route`, `Router::route`
    symbol: String,
    /// Only chunks that match, such as `language=rust and not path=tests/`
    #[arg(long, value_name = "EXPRESSION", value_parser = Filter::parse)]
    filter: Option<Filter>,
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    output: OutputFlags,
}

const EXAMPLES: &str = "\
Examples:
  chunkwright references parse_config
  chunkwright references Router::route --filter 'not path=tests/'";

impl References {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let results = self.output.check(global, &[])?;
        let engine = global.engine(&[&self.collection], Access::Read)?;
        let filter = self.filter.clone().unwrap_or_default();
        let collection = engine.default_collection();
        let found = collection.read(|snapshot| snapshot.references(&self.symbol, &filter))?;
        let places = || found.definitions.iter().chain(&found.members).chain(&found.references);
        let lines = |output: &mut Output| output.objects(places().collect::<Vec<_>>());
        results.answer(&found, lines, |_| places().map(described).collect())?;
        Ok(global.found(places().count(), "nothing was found"))
    }
}

/// A place as `ripgrep` shows it, with its role.
fn described(place: &SymbolPlace) -> String {
    let at = green(&format!("{}:{}", plain(&place.doc_id), place.line));
    format!("{at}  {}  {}\n", dim(place.role.as_str()), plain(&place.text))
}
