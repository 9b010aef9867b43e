//! `chunkwright search`

use anyhow::Result;
use chunkwright_engine::{
    Access, Answer, Duplicates, ExpandedAnswer, Explained, Filter, Found, FoundPassage, Hit, Kept, NoticeCode,
    SearchRequest, Stage, Verdict,
};

use crate::app::{CollectionFlags, Global, Outcome};
use crate::expand::ExpandFlags;
use crate::keys::RerankerFlags;
use crate::output::{Format, OutputFlags};
use crate::searching::{FusionFlags, ModeFlag};
use crate::text::{Table, bold, count, dim, green, plain, plain_lines, preview, terminal_width};

/// Search a collection
///
/// Each hit shows its rank and score in every stage: lexical (BM25), dense (dot product of vectors) and, for models
/// with sparse vectors, sparse (their dot product), each in its own unit, and the fused score by which hits are
/// ordered. The relevance says how well a hit answers the query, from 0 to 1, on one scale for every query; hits below
/// --min-relevance are left out. The exit status is 1 if nothing was found, or nothing relevant.
///
/// With --expand the results are passages of the source, each with the hits inside it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Search {
    /// What to search for; it may contain conditions: symbol:NAME path:PATTERN -path:PATTERN lang:NAME artifact:KIND
    query: String,
    /// Stages to run; `hybrid` runs every stage that the collection has
    #[arg(short, long, default_value = "hybrid")]
    mode: ModeFlag,
    /// Number of hits
    #[arg(short = 'k', long, value_name = "N", default_value_t = 5)]
    top_k: usize,
    /// Only chunks that match: conditions FIELD=VALUE on any field of the record (also !=, >, >=, <, <=, ^= for a
    /// prefix, ~ for a glob), joined by `and`, `or`, `not` and parentheses; if given twice, both must hold
    #[arg(long, value_name = "EXPRESSION", value_parser = Filter::parse)]
    filter: Vec<Filter>,
    /// Search every generation of the collection, not only the current one
    #[arg(long)]
    all_versions: bool,
    /// Maximum number of hits per document
    #[arg(long, value_name = "N")]
    per_document: Option<usize>,
    /// Show hits with the same text as a better one instead of collapsing them
    #[arg(long)]
    keep_duplicates: bool,
    /// Least relevance of a hit, from 0 to 1; 0 shows all [default: that of the model, see docs/searching.md]
    #[arg(long, value_name = "X")]
    min_relevance: Option<f64>,
    /// Explain why this chunk is or is not in the answer
    #[arg(long, value_name = "CHUNK_ID", conflicts_with = "all_versions")]
    explain: Option<String>,
    #[command(flatten)]
    fusion: FusionFlags,
    #[command(flatten)]
    reranker: RerankerFlags,
    /// Number of best hits that the reranker orders again
    #[arg(long, value_name = "N", default_value_t = 50)]
    rerank: usize,
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
  chunkwright search retries --filter 'doc_id~docs/** and (category=api or token_count<200)'
  chunkwright search \"symbol:Report.render -path:tests/ how are pages numbered?\"
  chunkwright search \"how is a lifetime elided?\" --expand parent";

impl Search {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let engine = global.engine(&[&self.collection, &self.reranker], Access::Read)?;
        let collection = engine.default_collection();
        let request = self.request()?;
        if let Some(id) = &self.explain {
            return self.explain(&collection.read(|snapshot| snapshot.explain_search(&request, id))?);
        }
        let answer = collection.search(&request)?;
        global.tell(&answer.notices);
        let mut output = self.output.open()?;
        match (output.format(), &answer.found) {
            (Format::Json, found) => output.only(found)?,
            (Format::Jsonl, Found::Hits(found)) => found.hits.iter().try_for_each(|hit| output.object(hit))?,
            (Format::Jsonl, Found::Passages(found)) => {
                found.passages.iter().try_for_each(|passage| output.object(passage))?;
            }
            (Format::Text, Found::Hits(found)) => output.text(&describe(found))?,
            (Format::Text, Found::Passages(found)) => output.text(&describe_expanded(found))?,
        }
        output.finish()?;
        if answer.is_empty() {
            // That nothing was relevant, a notice says with figures.
            if !answer.notices.iter().any(|notice| notice.code == NoticeCode::NothingRelevant) {
                global.say("nothing was found");
            }
            return Ok(Outcome::Nothing);
        }
        Ok(Outcome::Success)
    }

    fn request(&self) -> Result<SearchRequest> {
        Ok(SearchRequest {
            query: self.query.clone(),
            mode: self.mode.mode(),
            top_k: self.top_k,
            filter: self.filter.iter().cloned().fold(Filter::default(), Filter::and),
            all_versions: self.all_versions,
            fusion: self.fusion.fusion()?,
            rerank: self.rerank,
            per_document: self.per_document,
            duplicates: if self.keep_duplicates { Duplicates::Keep } else { Duplicates::Collapse },
            min_relevance: self.min_relevance,
            expand: self.expand.request(),
            ..SearchRequest::default()
        })
    }

    /// Says why a chunk is or is not in the answer.
    fn explain(&self, explained: &Explained) -> Result<Outcome> {
        self.output.only(explained, describe_explained)?;
        let found = matches!(explained.verdict, Verdict::Found { .. });
        Ok(if found { Outcome::Success } else { Outcome::Nothing })
    }
}

fn describe_explained(explained: &Explained) -> String {
    let mut table = Table::new(["", ""]);
    let stage = |stage: Option<Stage>| {
        stage.map_or_else(|| dim("-"), |stage| format!("#{} {:.3}", stage.rank, stage.score))
    };
    let rows = [
        ("chunk", explained.chunk_id.to_string()),
        ("document", explained.doc_id.as_deref().map_or_else(|| dim("-"), plain)),
        ("why", bold(&explained.verdict.to_string())),
        ("lexical", stage(explained.lexical)),
        ("dense", stage(explained.dense)),
        ("sparse", stage(explained.sparse)),
        ("fused", stage(explained.fused)),
        ("relevance", explained.relevance.map_or_else(|| dim("-"), |relevance| format!("{relevance:.3}"))),
        ("score needed", explained.needed.map_or_else(|| dim("-"), |score| format!("{score:.3}"))),
        ("terms asked", plain(&explained.query_terms.join(" "))),
        ("terms matched", plain(&explained.matched_terms.join(" "))),
        ("has a vector", if explained.embedded { "yes" } else { "no" }.into()),
    ];
    for (name, value) in rows {
        table.row([name.to_owned(), value]);
    }
    table.to_string()
}

fn describe(answer: &Answer) -> String {
    answer.hits.iter().map(describe_hit).collect::<Vec<_>>().join("\n")
}

fn describe_hit(hit: &Hit) -> String {
    let width = terminal_width();
    let record = &hit.record;
    let place = format!("{}:{}-{}", plain(&record.doc_id), record.start_line, record.end_line);
    let mut stages = stages(hit.score, hit.relevance, [hit.lexical, hit.dense, hit.sparse]);
    if let Some(rerank) = hit.rerank {
        stages = format!("{stages}, reranked {:.3}", rerank.score);
    }
    let mut lines = vec![format!("{} {}  {}", bold(&format!("{:>2}", hit.rank)), green(&place), dim(&stages))];
    if !record.section_path.is_empty() {
        lines.push(preview(&record.section_path.join(" > "), width - 3));
    }
    lines.push(preview(&record.content, (width - 3) * 2));
    let mut notes = vec![record.chunk_id.to_string()];
    if hit.kept == Kept::Pinned {
        notes.push("pinned to this query".into());
    }
    if !hit.duplicates.is_empty() {
        notes.push(format!("{} duplicates collapsed", hit.duplicates.len()));
    }
    lines.push(dim(&notes.join(", ")));
    lines.join("\n   ") + "\n"
}

/// What the stages thought of a chunk; nothing of the sparse one where it did not find it, since few models have one.
fn stages(score: f64, relevance: Option<f64>, [lexical, dense, sparse]: [Option<Stage>; 3]) -> String {
    let relevance = relevance.map_or_else(String::new, |relevance| format!(", relevance {relevance:.2}"));
    let stage = |name: &str, stage: Option<Stage>| {
        stage.map_or_else(|| format!("{name} -"), |stage| format!("{name} #{} {:.3}", stage.rank, stage.score))
    };
    let sparse = sparse.map_or_else(String::new, |sparse| format!(", {}", stage("sparse", Some(sparse))));
    format!("score {score:.3}{relevance}, {}, {}{sparse}", stage("lexical", lexical), stage("dense", dense))
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
        let stages = stages(hit.score, hit.relevance, [hit.lexical, hit.dense, hit.sparse]);
        let told = format!("#{} {} lines {}-{}, {stages}", hit.rank, hit.chunk_id, hit.start_line, hit.end_line);
        lines.push(format!("   {}", dim(&told)));
    }
    lines.push(plain_lines(&passage.text).trim_end().to_owned());
    lines.join("\n") + "\n"
}
