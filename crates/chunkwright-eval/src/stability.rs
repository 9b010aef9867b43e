//! Measures the chunks that an edit changes.
//!
//! Both versions are cut and compared by [`chunkwright::diff`]. A chunk is *changed* if its id is new: it has to be
//! stored again, and references to the old chunk are lost. A one-line edit must change one chunk; any further change is
//! the chunker's own doing.
//!
//! Chunks whose *own text* is new are counted separately: a renamed title changes the id and the embedded text of every
//! chunk that borrows it, which no way of cutting can help.
//!
//! Two promises are verified as well: an id that stays never names another text, and as many ids change as texts do.

use std::collections::HashMap;
use std::path::Path;

use chunkwright::diff::Diff;
use chunkwright::stats::Distribution;
use chunkwright::{ChunkId, Chunker, Record, RecordContext};
use chunkwright_source::{format::parse, parser_for};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::edit::Edit;

/// What edits of one kind changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stability {
    /// The kind of edit; `all` for all of them.
    pub edits: String,
    /// Number of edits; with several sizes each counts once for each.
    pub count: usize,
    /// Chunks of a document after the edit, on average.
    pub chunks: f64,
    /// Chunks with an id that was not there before, an edit.
    pub changed: Distribution,
    /// Chunks whose own text was not there before, an edit.
    pub own_changed: Distribution,
    /// Share of the chunks before the edit whose id is still there, on average.
    pub kept: f64,
    /// Chunks with a text that was not there before, an edit, on average.
    pub texts_changed: f64,
    /// Edits that change another number of ids than of texts.
    pub unequal: usize,
    /// Ids that were there before and name another text now.
    pub renamed: usize,
    /// Tokens to embed again, an edit, on average.
    pub tokens_to_embed: f64,
}

/// The effect of one edit.
struct Effect {
    chunks: usize,
    changed: usize,
    own_changed: usize,
    texts_changed: usize,
    kept: f64,
    renamed: usize,
    tokens_to_embed: usize,
}

/// The effects of `edits` on the chunks of `chunkers`: all edits together, then by kind in the order of the kinds'
/// first edits.
pub fn stability(chunkers: &[Chunker], edits: &[Edit]) -> Vec<Stability> {
    let jobs: Vec<(&Chunker, &Edit)> =
        chunkers.iter().flat_map(|chunker| edits.iter().map(move |edit| (chunker, edit))).collect();
    let effects: Vec<Effect> = jobs.par_iter().map(|(chunker, edit)| effect(chunker, edit)).collect();
    let mut kinds: Vec<&str> = Vec::new();
    for (_, edit) in &jobs {
        if !kinds.contains(&edit.kind.as_str()) {
            kinds.push(&edit.kind);
        }
    }
    let of = |kind: Option<&str>| {
        let is_of =
            |((_, edit), _): &(&(&Chunker, &Edit), &Effect)| kind.is_none_or(|kind| edit.kind == kind);
        let effects = jobs.iter().zip(&effects).filter(is_of).map(|(_, effect)| effect).collect();
        sum(kind.unwrap_or("all"), effects)
    };
    std::iter::once(of(None)).chain(kinds.into_iter().map(|kind| of(Some(kind)))).collect()
}

fn sum(kind: &str, effects: Vec<&Effect>) -> Stability {
    let count = effects.len();
    let mean = |figure: fn(&Effect) -> f64| {
        effects.iter().map(|effect| figure(effect)).sum::<f64>() / count.max(1) as f64
    };
    Stability {
        edits: kind.to_owned(),
        count,
        chunks: mean(|effect| effect.chunks as f64),
        kept: mean(|effect| effect.kept),
        texts_changed: mean(|effect| effect.texts_changed as f64),
        unequal: effects.iter().filter(|effect| effect.changed != effect.texts_changed).count(),
        renamed: effects.iter().map(|effect| effect.renamed).sum(),
        tokens_to_embed: mean(|effect| effect.tokens_to_embed as f64),
        own_changed: Distribution::of(effects.iter().map(|effect| effect.own_changed).collect()),
        changed: Distribution::of(effects.into_iter().map(|effect| effect.changed).collect()),
    }
}

fn effect(chunker: &Chunker, edit: &Edit) -> Effect {
    let (old, new) = (records(chunker, edit, &edit.old), records(chunker, edit, &edit.new));
    let diff = Diff::of(&old, &new).summary;
    let before: HashMap<ChunkId, &str> =
        old.iter().map(|record| (record.chunk_id, record.text.as_str())).collect();
    let is_renamed = |record: &&Record| before.get(&record.chunk_id).is_some_and(|text| *text != record.text);
    Effect {
        chunks: new.len(),
        changed: diff.changed + diff.added,
        own_changed: new_texts(&old, &new, |record| &record.content),
        texts_changed: new_texts(&old, &new, |record| &record.text),
        kept: if old.is_empty() { 1.0 } else { (diff.kept + diff.moved) as f64 / old.len() as f64 },
        renamed: new.iter().filter(is_renamed).count(),
        tokens_to_embed: diff.tokens_to_embed,
    }
}

/// Number of texts of `new` that `old` does not have. Equal texts count as often as they occur: each is a chunk.
fn new_texts(old: &[Record], new: &[Record], text: impl Fn(&Record) -> &String) -> usize {
    let mut left: HashMap<&str, usize> = HashMap::new();
    for record in old {
        *left.entry(text(record)).or_default() += 1;
    }
    let is_new = |record: &&Record| match left.get_mut(text(record).as_str()) {
        Some(left) if *left > 0 => {
            *left -= 1;
            false
        }
        _ => true,
    };
    new.iter().filter(is_new).count()
}

pub(crate) fn records(chunker: &Chunker, edit: &Edit, text: &str) -> Vec<Record> {
    let head: String = text.lines().next().unwrap_or_default().chars().take(256).collect();
    let parser = parser_for(Path::new(&edit.doc_id), &head);
    let document = parse(&edit.doc_id, text, parser);
    chunker.chunk(&document).records(&RecordContext::default())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use chunkwright::{ChunkConfig, Words};

    use super::*;

    fn edit(kind: &str, old: &str, new: &str) -> Edit {
        Edit { kind: kind.into(), doc_id: "a.md".into(), old: old.into(), new: new.into() }
    }

    #[test]
    fn what_an_edit_changes_is_counted_by_kind() {
        let config = ChunkConfig { min_size: 0, ..ChunkConfig::default() };
        let chunker = Chunker::new(config, Arc::new(Words)).unwrap();
        let old = "# A\n\none\n\n# B\n\ntwo\n\n# C\n\nthree\n";
        let renamed = "# A\n\n## B\n\ntwo\n";
        let title = stability(
            std::slice::from_ref(&chunker),
            &[edit("title", renamed, &renamed.replace("# A", "# Z")), edit("title", renamed, renamed)],
        );
        assert_eq!((title[0].changed.sum, title[0].own_changed.sum), (1, 1));
        let edits = [
            edit("none", old, old),
            edit("one", old, &old.replace("two", "two edited")),
            edit("one", old, &format!("\n\n{old}")),
            edit("all", old, "# Z\n\nnew\n"),
            edit("empty", "", "\n"),
        ];
        let found = stability(&[chunker], &edits);
        let kinds: Vec<(&str, usize, usize, usize)> =
            found.iter().map(|it| (it.edits.as_str(), it.count, it.changed.sum, it.changed.max)).collect();
        let expected =
            [("all", 5, 2, 1), ("none", 1, 0, 0), ("one", 2, 1, 1), ("all", 1, 1, 1), ("empty", 1, 0, 0)];
        assert_eq!(kinds, expected);
        assert!((found[2].kept - 5.0 / 6.0).abs() < 1e-9, "two of three, then all");
        assert_eq!((found[0].renamed, found[0].unequal), (0, 0));
        assert_eq!(stability(&[], &[])[0].count, 0);
    }
}
