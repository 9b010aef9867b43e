//! `chunkwright search`

use std::str::FromStr;

use anyhow::{Result, bail};
use chunkwright_index::{
    Access, Answer, ExpandedAnswer, Filter, FoundPassage, Hit, Mode, SearchOptions, Stage, expand, parse_query,
    query::check_artifact, search,
};

use crate::app::{self, CollectionFlags, Global, Outcome};
use crate::expand::ExpandFlags;
use crate::output::{Format, OutputFlags};
use crate::searching::{FusionFlag, ModeFlag};
use crate::text::{bold, count, dim, green, plain, plain_lines, preview, terminal_width, yellow};

/// Search a collection
///
/// Each hit says what every stage of the search thought of it: its rank and score by words (BM25) and by
/// meaning (dot product of vectors), each in its own unit, and the score of both together that the hits
/// are ordered by. The exit status is 1 if nothing was found.
///
/// With --expand the results are passages of the source instead, each with the hits that are inside it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Search {
    /// What to look for; may hold conditions: symbol:NAME path:PATTERN -path:PATTERN lang:NAME artifact:KIND
    query: String,
    /// Which stages run; `hybrid` is both, or words alone where the collection has no vectors
    #[arg(short, long, default_value = "hybrid")]
    mode: ModeFlag,
    /// Number of hits
    #[arg(short = 'k', long, value_name = "N", default_value_t = 5)]
    top_k: usize,
    /// Only chunks with this value: doc_id (`*` stands for any text), category, language, content_type,
    /// symbol, artifact (`chunk`, `summary`, `function_summary`, `class_summary`, `file_summary`, `all`)
    #[arg(long, value_name = "KEY=VALUE")]
    filter: Vec<Condition>,
    /// How two rankings become one: `sum` (of scores stretched to 0..1) or `rrf` (of reciprocal ranks)
    #[arg(long, value_name = "HOW", default_value = "sum")]
    fusion: FusionFlag,
    #[command(flatten)]
    expand: ExpandFlags,
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    output: OutputFlags,
}

const EXAMPLES: &str = "\
Examples:
  chunkwright search \"how is a lifetime elided?\"
  chunkwright search parse_config --mode lexical --filter language=rust
  chunkwright search \"symbol:Report.render -path:tests/ how are pages numbered?\"
  chunkwright search \"how is a lifetime elided?\" --expand parent";

/// Keys of the filter.
const KEYS: &[&str] = &["doc_id", "category", "language", "content_type", "symbol", "artifact"];

/// A key of the filter and its value.
#[derive(Clone, Debug)]
struct Condition(String, String);

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (key, value) = text.split_once('=').ok_or("a filter is KEY=VALUE, such as language=rust")?;
        if !KEYS.contains(&key) {
            let known = KEYS.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
            return Err(format!("unknown key `{key}`; known are {known}"));
        }
        Ok(Self(key.into(), value.into()))
    }
}

impl Search {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let settings = global.settings(&[&self.collection])?;
        let store = app::store(&settings, Access::Read)?;
        let mode = self.mode.mode();
        let model = app::stored_model(&settings, &*store)?;
        let embedder = if mode == Mode::Lexical { None } else { app::query_embedder(&settings, model.as_ref())? };
        let (query, filter) = parse_query(&self.query, self.filter()?)?;
        let options = SearchOptions {
            mode,
            top_k: self.top_k,
            filter,
            fusion: self.fusion.fusion(),
            ..SearchOptions::default()
        };
        let answer = search(&*store, &settings.collection, embedder.as_deref(), &query, &options)?;
        // That a collection was indexed without vectors is no news.
        if let Some(why) = answer.degraded.as_ref().filter(|_| model.is_some() || global.verbose) {
            global.say(&format!("{} searched by words only: {}", yellow("note:"), plain(why)));
        }
        let expansion = self.expand.get(&settings)?;
        let mut output = self.output.open()?;
        if let Some(expansion) = expansion {
            let expanded = expand(&*store, &settings.collection, &answer, expansion.borrow())?;
            match output.format() {
                Format::Json => output.only(&expanded)?,
                Format::Jsonl => expanded.passages.iter().try_for_each(|passage| output.object(passage))?,
                Format::Text => output.text(&describe_expanded(&expanded))?,
            }
        } else {
            match output.format() {
                Format::Json => output.only(&answer)?,
                Format::Jsonl => answer.hits.iter().try_for_each(|hit| output.object(hit))?,
                Format::Text => output.text(&describe(&answer))?,
            }
        }
        output.finish()?;
        if answer.hits.is_empty() {
            global.say("nothing was found");
            return Ok(Outcome::Nothing);
        }
        Ok(Outcome::Success)
    }

    fn filter(&self) -> Result<Filter> {
        let mut filter = Filter::default();
        for Condition(key, value) in &self.filter {
            let field = match key.as_str() {
                "doc_id" => &mut filter.doc_id,
                "category" => &mut filter.category,
                "language" => &mut filter.language,
                "symbol" => &mut filter.symbol,
                "artifact" => {
                    check_artifact(value)?;
                    &mut filter.artifact
                }
                _ => &mut filter.content_type,
            };
            if field.replace(value.clone()).is_some() {
                bail!("`--filter {key}` was given twice; a chunk has one value");
            }
        }
        Ok(filter)
    }
}

fn describe(answer: &Answer) -> String {
    answer.hits.iter().map(describe_hit).collect::<Vec<_>>().join("\n")
}

fn describe_hit(hit: &Hit) -> String {
    let width = terminal_width();
    let record = &hit.record;
    let place = format!("{}:{}-{}", plain(&record.doc_id), record.start_line, record.end_line);
    let stages = stages(hit.score, hit.lexical, hit.dense);
    let mut lines = vec![format!("{} {}  {}", bold(&format!("{:>2}", hit.rank)), green(&place), dim(&stages))];
    if !record.section_path.is_empty() {
        lines.push(preview(&record.section_path.join(" > "), width - 3));
    }
    lines.push(preview(&record.content, (width - 3) * 2));
    lines.push(dim(&record.chunk_id));
    lines.join("\n   ") + "\n"
}

fn stages(score: f64, lexical: Option<Stage>, dense: Option<Stage>) -> String {
    let stage = |name: &str, stage: Option<Stage>| {
        stage.map_or_else(|| format!("{name} -"), |stage| format!("{name} #{} {:.3}", stage.rank, stage.score))
    };
    format!("score {score:.3}, {}, {}", stage("words", lexical), stage("meaning", dense))
}

fn describe_expanded(answer: &ExpandedAnswer) -> String {
    answer.passages.iter().map(describe_passage).collect::<Vec<_>>().join("\n")
}

/// A passage with its whole text, which is what it was asked for.
fn describe_passage(found: &FoundPassage) -> String {
    let passage = &found.passage;
    let place = format!("{}:{}-{}", plain(&passage.doc_id), passage.start_line, passage.end_line);
    let tokens = count(passage.token_count, "token");
    let mut lines = vec![format!("{} {}  {}", bold(&format!("{:>2}", found.rank)), green(&place), dim(&tokens))];
    for hit in &found.hits {
        let stages = stages(hit.score, hit.lexical, hit.dense);
        let told = format!("#{} {} lines {}-{}, {stages}", hit.rank, hit.chunk_id, hit.start_line, hit.end_line);
        lines.push(format!("   {}", dim(&told)));
    }
    lines.push(plain_lines(&passage.text).trim_end().to_owned());
    lines.join("\n") + "\n"
}
