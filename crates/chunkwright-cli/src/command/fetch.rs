//! `chunkwright fetch`

use std::io::{self, IsTerminal};

use anyhow::{Result, bail};
use chunkwright_engine::{Access, FetchAnswer, FetchForm, FetchRequest, SourceForm};
use clap::ValueEnum;

use crate::app::{CollectionFlags, Global, Outcome};
use crate::output::{FieldFlags, Format, TargetFlags};
use crate::searching::{ExpandFlags, request_of};
use crate::text::{bold, count, dim, plain, plain_lines};

/// Get a document, a chunk or lines from a collection
///
/// REFERENCE is the id of a document or a chunk, DOC_ID#INDEX (or DOC_ID_chunkINDEX) for a chunk by its position from 0, or DOC_ID#L10-L80
/// for lines. An unknown reference is an error.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Fetch {
    /// What to fetch
    reference: String,
    #[command(flatten)]
    expand: ExpandFlags,
    /// Format of the result; by default `text` on a terminal, `raw` when piped
    #[arg(short, long, help_heading = "Output")]
    format: Option<FetchFormat>,
    #[command(flatten)]
    target: TargetFlags,
    #[command(flatten)]
    fields: FieldFlags,
    #[command(flatten)]
    collection: CollectionFlags,
}

const EXAMPLES: &str = "\
Examples:
  chunkwright fetch guide/install.md > install.md
  chunkwright fetch guide/install.md#L10-L80
  chunkwright fetch 9bcff36484d0b14c2b8d1c8f3104e68e --expand parent";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FetchFormat {
    /// The exact bytes of the source file, in its own encoding
    Raw,
    /// One JSON document: the text, where it is from, its chunks
    Json,
    /// For people: control characters are shown, not sent
    Text,
}

impl Fetch {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let to_terminal = self.target.file().is_none() && io::stdout().is_terminal();
        let default = if self.fields.fields.is_some() {
            FetchFormat::Json
        } else if to_terminal {
            FetchFormat::Text
        } else {
            FetchFormat::Raw
        };
        let format = self.format.unwrap_or(default);
        if format == FetchFormat::Raw && self.fields.fields.is_some() {
            bail!("`--fields` needs `--format json`; `raw` is the file as it is");
        }
        let general = match format {
            FetchFormat::Text => Format::Text,
            FetchFormat::Json => Format::Json,
            FetchFormat::Raw => Format::Jsonl,
        };
        let results = self.target.check(global, &[], Some(general), self.fields.clone())?;
        let engine = global.engine(&[&self.collection], Access::Read)?;
        let collection = engine.default_collection();
        let request = FetchRequest { reference: self.reference.clone(), expand: request_of(&self.expand.0)?.expand, form: FetchForm::Shown };
        // The file of a document is streamed in parts, and its chunks are not read.
        if format == FetchFormat::Raw
            && request.expand.is_none()
            && let Ok(source) = collection.read(|snapshot| snapshot.source(&self.reference, SourceForm::File))
        {
            let (mut output, mut parts) = (results.open()?, source.parts());
            while let Some(part) = parts.next_part()? {
                output.bytes(&part)?;
            }
            output.finish()?;
            return Ok(Outcome::Success);
        }
        let fetched = collection.read(|snapshot| snapshot.fetch(&request))?;
        let mut output = results.open()?;
        match format {
            FetchFormat::Raw => match (fetched.bytes(), self.format) {
                (Ok(bytes), _) => output.bytes(bytes)?,
                (Err(error), Some(_)) => return Err(error.into()),
                // Without a requested format, the converted text is the only one available.
                (Err(_), None) => output.bytes(fetched.text.as_bytes())?,
            },
            FetchFormat::Json => output.only(&fetched)?,
            FetchFormat::Text => output.text(&describe(&fetched))?,
        }
        output.finish()?;
        Ok(Outcome::Success)
    }
}

fn describe(fetched: &FetchAnswer) -> String {
    let place = format!("{}:{}-{}", plain(&fetched.document.doc_id), fetched.start_line, fetched.end_line);
    let mut notes = vec![count(fetched.chunks.len(), "chunk")];
    notes.extend(fetched.token_count.map(|tokens| count(tokens, "token")));
    notes.extend(fetched.found.as_ref().map(|found| format!("with {found}")));
    let text = plain_lines(&fetched.text);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{}  {}\n{text}{end}", bold(&place), dim(&notes.join(", ")))
}
