//! `chunkwright search`

use anyhow::{Result, bail};
use chunkwright_engine::{
    Access, Explained, Found, FoundPassage, Hit, Kept, Named, NoticeCode, Proximity, SearchAnswer, SearchRequest, Stage, Stands,
    Verdict,
};

use crate::app::{Global, Outcome};
use crate::keys::{CollectionsFlags, RerankerFlags};
use crate::output::{Output, OutputFlags};
use crate::searching::{AnswerFlags, ExpandFlags, FusionFlags, RankingFlags, ScopeFlags};
use crate::text::{Table, bold, count, dim, green, plain, plain_lines, preview, terminal_width};

/// Search one collection or several
///
/// Each hit shows its rank and score in every stage: lexical (BM25), dense (dot product of vectors) and, for models
/// with sparse vectors, sparse (their dot product), each in its own unit, and the fused score by which hits are
/// ordered. Where the query is or contains the name of a symbol, a section or a file, `names` says what a chunk is to
/// it: its definition, which comes first, or one that declares, documents or uses it. The relevance, from 0 to 1, tells
/// a hit that may answer the query from what a query about something else would find; it does not say which of two
/// answers is better. Hits below --min-relevance are left out. The exit status is 1 if nothing was found, or nothing
/// relevant.
///
/// Hits of several collections are ordered by relevance, and each collection keeps its own order, since scores of different
/// collections are not comparable. Where one reranker, or one model in `dense` or `sparse` mode, ranks all of them, they are
/// ordered by its score; where the relevance is not known, by rank.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Search {
    /// What to search for; it may contain conditions: "a phrase" -word -"a phrase" symbol:NAME path:PATTERN
    /// -path:PATTERN lang:NAME artifact:KIND
    query: String,
    #[command(flatten)]
    answer: AnswerFlags,
    /// Explain why this chunk is or is not in the answer
    #[arg(long, value_name = "CHUNK_ID", conflicts_with = "all_versions")]
    explain: Option<String>,
    #[command(flatten)]
    fusion: FusionFlags,
    #[command(flatten)]
    reranker: RerankerFlags,
    #[command(flatten)]
    ranking: RankingFlags,
    #[command(flatten)]
    expand: ExpandFlags,
    #[command(flatten)]
    collections: CollectionsFlags,
    #[command(flatten)]
    scope: ScopeFlags,
    #[command(flatten)]
    output: OutputFlags,
}

const EXAMPLES: &str = "\
Examples:
  chunkwright search parse_config --mode lexical --filter language=rust
  chunkwright search retries --filter 'doc_id~docs/** and (category=api or token_count<200)'
  chunkwright search \"symbol:Report.render -path:tests/ how are pages numbered?\"
  chunkwright search '\"connection refused\" proxy -docker'
  chunkwright search \"how is a lifetime elided?\" --expand parent
  chunkwright search \"how are retries configured?\" -c api -c client -c docs
  chunkwright search retries --all-collections -k 10 --offset 10";

impl Search {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let results = self.output.check(global, &[])?;
        let engine = global.engine(&[&self.collections.one, &self.reranker], Access::Read)?;
        let request = self.request()?;
        if let Some(id) = &self.explain {
            if request.all_collections || self.collections.named.len() > 1 {
                bail!("`--explain` is about a chunk of one collection; name it by one `-c`");
            }
            let collection = engine.default_collection();
            let explained = collection.read(|snapshot| snapshot.explain_search(&request, id))?;
            results.only(&explained, describe_explained)?;
            let found = matches!(explained.verdict, Verdict::Found { .. });
            return Ok(if found { Outcome::Success } else { Outcome::Nothing });
        }
        let answer = engine.search(&request)?;
        global.tell(&answer.notices);
        let lines = |output: &mut Output| match &answer.found {
            Found::Hits { hits } => output.objects(hits),
            Found::Passages { passages } => output.objects(passages),
        };
        results.answer(&answer, lines, describe)?;
        // A notice explains why there are no hits.
        let says_why = [NoticeCode::NothingRelevant, NoticeCode::OverBudget];
        if answer.is_empty() && answer.notices.iter().any(|notice| says_why.contains(&notice.code)) {
            return Ok(Outcome::Nothing);
        }
        Ok(global.found(usize::from(!answer.is_empty()), "nothing was found"))
    }

    fn request(&self) -> Result<SearchRequest> {
        let groups = [&self.scope.0, &self.answer.0, &self.ranking.0, &self.fusion.0, &self.expand.0];
        let text = ("text", self.output.names("text").into());
        let given = groups.into_iter().flatten().cloned().chain([text]);
        let request = SearchRequest::read(&self.query, given)?;
        Ok(SearchRequest { collections: self.collections.named.clone(), ..request })
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
        ("late", stage(explained.late)),
        ("standing", explained.standing.map_or_else(|| dim("-"), stands)),
        ("proximity", explained.proximity.map_or_else(|| dim("-"), close)),
        ("names", explained.names.as_ref().map_or_else(|| dim("-"), named)),
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

fn describe(answer: &SearchAnswer) -> String {
    let several = answer.searched > 1;
    let shown: Vec<String> = match &answer.found {
        Found::Hits { hits } => hits.iter().map(|hit| describe_hit(hit, several)).collect(),
        Found::Passages { passages } => {
            passages.iter().map(|passage| describe_passage(passage, several)).collect()
        }
    };
    shown.join("\n")
}

/// The location of a text, with its collection if there are several.
fn place(collection: &str, doc_id: &str, lines: (u32, u32), several: bool) -> String {
    let of = if several { format!("{} ", dim(&plain(collection))) } else { String::new() };
    format!("{of}{}", green(&format!("{}:{}-{}", plain(doc_id), lines.0, lines.1)))
}

fn describe_hit(hit: &Hit, several: bool) -> String {
    let width = terminal_width();
    let record = &hit.record;
    let place = place(&hit.collection, &record.doc_id, (record.start_line, record.end_line), several);
    let found = [hit.lexical, hit.dense, hit.sparse, hit.late];
    let mut stages =
        stages(hit.score, hit.relevance, found, (hit.standing, hit.proximity), hit.names.as_ref());
    if let Some(rerank) = hit.rerank {
        stages = format!("{stages}, reranked {:.3}", rerank.score);
    }
    let mut lines = vec![format!("{} {}  {}", bold(&format!("{:>2}", hit.rank)), place, dim(&stages))];
    if !record.section_path.is_empty() {
        lines.push(preview(&record.section_path.join(" > "), width - 3));
    }
    lines.push(preview(&record.content, (width - 3) * 2));
    let mut notes = vec![record.chunk_id.to_string()];
    if hit.kept == Kept::Pinned {
        notes.push("pinned to this query".into());
    }
    let duplicates = hit.duplicates.len() + hit.copies.len();
    if duplicates > 0 {
        notes.push(format!("{duplicates} duplicates collapsed"));
    }
    if !hit.translations.is_empty() {
        notes.push(format!("{} hits in other languages collapsed", hit.translations.len()));
    }
    lines.push(dim(&notes.join(", ")));
    lines.join("\n   ") + "\n"
}

/// The scores of a chunk in each stage. The stages that few models have are left out if they did not find the chunk.
fn stages(
    score: f64,
    relevance: Option<f64>,
    [lexical, dense, sparse, late]: [Option<Stage>; 4],
    (standing, proximity): (Option<Stands>, Option<Proximity>),
    names: Option<&Named>,
) -> String {
    let relevance = relevance.map_or_else(String::new, |relevance| format!(", relevance {relevance:.2}"));
    let stage = |name: &str, stage: Option<Stage>| {
        stage.map_or_else(|| format!("{name} -"), |stage| format!("{name} #{} {:.3}", stage.rank, stage.score))
    };
    let found = |name: &str, found: Option<Stage>| {
        found.map_or_else(String::new, |found| format!(", {}", stage(name, Some(found))))
    };
    let (sparse, late) = (found("sparse", sparse), found("late", late));
    let standing = standing.map_or_else(String::new, |standing| format!(", standing {}", stands(standing)));
    let proximity = proximity.map_or_else(String::new, |found| format!(", proximity {}", close(found)));
    let names = names.map_or_else(String::new, |names| format!(", names {}", named(names)));
    let (lexical, dense) = (stage("lexical", lexical), stage("dense", dense));
    format!("score {score:.3}{relevance}, {lexical}, {dense}{sparse}{late}{standing}{proximity}{names}")
}

/// Where the document of a chunk stands, and what that adds to its score.
fn stands(stands: Stands) -> String {
    format!("{:+.3} {}", stands.contribution, stands.standing.as_str())
}

/// The share of the query's pairs of words that stand close together, and what that adds to the score.
fn close(found: Proximity) -> String {
    format!("{:+.3} {:.2} of pairs", found.contribution, found.share)
}

/// What a chunk is to a name.
fn named(named: &Named) -> String {
    format!("#{} {:.3} {} of `{}`", named.rank, named.score, named.role.as_str(), plain(&named.name))
}

/// A passage with its whole text.
fn describe_passage(found: &FoundPassage, several: bool) -> String {
    let passage = &found.passage;
    let place = place(&found.collection, &passage.doc_id, (passage.start_line, passage.end_line), several);
    let tokens = count(passage.token_count, "token");
    let mut lines = vec![format!("{} {}  {}", bold(&format!("{:>2}", found.rank)), place, dim(&tokens))];
    for hit in &found.hits {
        let found = [hit.lexical, hit.dense, hit.sparse, hit.late];
        let stages =
            stages(hit.score, hit.relevance, found, (hit.standing, hit.proximity), hit.names.as_ref());
        let told = format!("#{} {} lines {}-{}, {stages}", hit.rank, hit.chunk_id, hit.start_line, hit.end_line);
        lines.push(format!("   {}", dim(&told)));
    }
    lines.push(plain_lines(&passage.text).trim_end().to_owned());
    lines.join("\n") + "\n"
}
