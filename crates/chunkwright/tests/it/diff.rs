//! Differences between two sets of chunks.

use chunkwright::diff::{Diff, Place, Summary};
use chunkwright::stats::TokenLevel;
use chunkwright::{ChunkId, Cut, Record};

/// Chunks written `path|text`, one on each line of a document; `doc:` begins another document.
fn side(chunks: &str) -> Vec<Record> {
    let (mut doc, mut line) = ("a.md", 0);
    let mut records = Vec::new();
    for word in chunks.split(' ').filter(|word| !word.is_empty()) {
        let Some((path, text)) = word.split_once('|') else {
            (doc, line) = (word, 0);
            continue;
        };
        line += 1;
        records.push(Record {
            chunk_id: id(&format!("{doc} {word}")),
            doc_id: doc.into(),
            artifact: None,
            chunk_index: line - 1,
            total_chunks: 0,
            parent: doc.into(),
            previous: None,
            next: None,
            content: text.into(),
            context: path.into(),
            text: word.into(),
            start_line: line,
            end_line: line,
            start_byte: 0,
            end_byte: 0,
            start_char: 0,
            end_char: 0,
            position: None,
            header_path: path.into(),
            section_path: vec![path.into()],
            content_type: "paragraph".into(),
            chunk_type: "doc".into(),
            category: "doc".into(),
            language: None,
            prose_language: None,
            symbols: None,
            imports: None,
            char_count: 0,
            word_count: 0,
            token_count: 10,
            tokenizer: "words".into(),
            token_level: TokenLevel::Normal,
            oversize: false,
            part: None,
            cut: Cut::Full,
            strategy_version: "tree-v1.0".into(),
            preset: "auto".into(),
            config_hash: String::new(),
            file_hash: String::new(),
            adaptive: None,
            indexed_at: None,
            properties: std::collections::BTreeMap::new(),
            meta: std::collections::BTreeMap::new(),
        });
    }
    records
}

fn id(text: &str) -> ChunkId {
    ChunkId(*blake3::hash(text.as_bytes()).as_bytes().first_chunk().unwrap())
}

/// Compares two sides; `expect` has a word for each change, `!` where a text is to be embedded,
/// then the lines.
fn check(old: &str, new: &str, expect: &str) {
    let (old, new) = (side(old), side(new));
    let diff = Diff::of(&old, &new);
    let place =
        |place: &Option<Place>| place.as_ref().map_or("-".into(), |place| place.start_line.to_string());
    let said: Vec<String> = diff
        .changes
        .iter()
        .map(|change| {
            let embed = if change.embed { "!" } else { "" };
            format!("{}{embed} {}>{}", change.kind.as_str(), place(&change.old), place(&change.new))
        })
        .collect();
    assert_eq!(said.join(", "), expect);
    let Summary { kept, moved, renamed, changed, added, removed, .. } = diff.summary;
    let both = kept + moved + renamed + changed;
    assert_eq!((both + removed, both + added), (old.len(), new.len()));
    assert_eq!((diff.summary.old_chunks, diff.summary.new_chunks), (old.len(), new.len()));
    assert_eq!(diff.summary.tokens_to_embed, 10 * diff.summary.texts_to_embed);
}

#[test]
fn equal_sides_are_kept() {
    check("A|x A|y", "A|x A|y", "kept 1>1, kept 2>2");
}

#[test]
fn an_insertion_moves_what_stands_below() {
    check("A|x B|y", "A|x A|new B|y", "kept 1>1, added! ->2, moved 2>3");
}

#[test]
fn an_edit_changes_its_own_chunk() {
    check("A|x B|y C|z", "A|x B|edited C|z", "kept 1>1, changed! 2>2, kept 3>3");
}

#[test]
fn a_renamed_heading_changes_its_chunks_one_to_one() {
    check("A|x A|y B|z", "N|x N|y B|z", "changed! 1>1, changed! 2>2, kept 3>3");
}

#[test]
fn a_removed_chunk_and_a_far_added_one_are_not_a_change() {
    check("A|x A|y A|z", "A|y A|z A|new", "removed 1>-, moved 2>1, moved 3>2, added! ->3");
}

#[test]
fn in_one_gap_equal_paths_pair_before_order() {
    check("A|x B|y", "N|n B|w", "changed! 1>1, changed! 2>2");
    check("A|x B|y", "B|w", "changed! 2>1, removed 1>-");
}

#[test]
fn a_renamed_document_costs_nothing() {
    check("a.md A|x A|y", "b.md A|x A|y", "renamed 1>1, renamed 2>2");
    check("a.md A|x A|x", "b.md A|n A|x A|x", "added! ->1, renamed 1>2, renamed 2>3");
    check("a.md A|x A|y b.md A|z", "c.md A|z d.md A|x A|y", "renamed 1>1, renamed 1>1, renamed 2>2");
    // Edited at once, as far as half of it stays.
    check("a.md A|x A|y", "b.md A|x A|n", "renamed 1>1, changed! 2>2");
    check(
        "a.md A|x A|y A|z",
        "b.md A|x A|n A|m",
        "removed 1>-, removed 2>-, removed 3>-, added ->1, added! ->2, added! ->3",
    );
}

#[test]
fn what_both_sides_have_was_not_renamed() {
    check("a.md A|x", "a.md A|n b.md A|x", "changed! 1>1, added ->1");
    check("a.md A|x b.md A|x", "b.md A|x", "removed 1>-, kept 1>1");
    // Two take the name of one: the first of them.
    check("a.md A|x", "b.md A|x c.md A|x", "renamed 1>1, added ->1");
}

#[test]
fn a_text_of_many_documents_tells_no_name() {
    let documents = |names: std::ops::Range<usize>| -> String {
        names.map(|name| format!("{name:02}.md A|licence ")).collect()
    };
    let (old, new) = (side(&documents(10..30)), side(&documents(30..50)));
    let diff = Diff::of(&old, &new);
    assert_eq!((diff.summary.removed, diff.summary.added, diff.summary.renamed), (20, 20, 0));
}

#[test]
fn equal_new_texts_are_embedded_once() {
    check("", "a.md A|x b.md A|x", "added! ->1, added ->1");
}
