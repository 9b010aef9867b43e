//! Edits of documents: two versions of each, read from a file or generated.
//!
//! Generated edits insert, remove or change one line, near the top, in the middle or anywhere. Only lines of prose or
//! code are edited, not headings, fences and rows of tables: those change what stands below them on purpose.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::bootstrap::Rng;
use crate::corpus::Corpus;

/// Two versions of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// The kind of the edit; figures are given by kind.
    #[serde(default = "no_kind")]
    pub kind: String,
    /// The document; its name tells the format.
    #[serde(alias = "file", alias = "path")]
    pub doc_id: String,
    /// Its text before.
    pub old: String,
    /// Its text after.
    pub new: String,
}

fn no_kind() -> String {
    "given".into()
}

/// A line that is not an edit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "not an edit ({0}); expected {{\"doc_id\": .., \"old\": .., \"new\": .., \"kind\": ..}} with both complete texts"
)]
pub struct EditError(String);

/// Reads edits, one JSON object a line: `doc_id` (or `file`), `old`, `new`, and `kind`. Also returns the numbers of
/// lines that are not edits, with the reasons.
pub fn read(jsonl: &str) -> (Vec<Edit>, Vec<(usize, EditError)>) {
    let (mut edits, mut refused) = (Vec::new(), Vec::new());
    for (index, line) in jsonl.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        // A list of the four values is not an edit, though serde would read one from it.
        let edit = serde_json::from_str::<Map<String, Value>>(line);
        match edit.and_then(|object| serde_json::from_value(Value::Object(object))) {
            Ok(edit) => edits.push(edit),
            Err(error) => refused.push((index + 1, EditError(error.to_string()))),
        }
    }
    (edits, refused)
}

/// Shortest line that is edited, in bytes.
const LEAST_LINE: usize = 20;

/// `count` edits of one line, drawn by `seed` from the documents of `corpus`. Fewer only if no document has a line that
/// can be edited.
pub fn synthetic(corpus: &Corpus, count: usize, seed: u64) -> Vec<Edit> {
    let lines: Vec<(usize, Vec<usize>)> = corpus
        .documents()
        .iter()
        .enumerate()
        .map(|(at, document)| (at, editable(document.source())))
        .filter(|(_, lines)| !lines.is_empty())
        .collect();
    let mut rng = Rng::new(seed);
    let mut edits = Vec::new();
    for number in 0..count {
        let Some((at, editable)) = lines.get(rng.below(lines.len())) else { break };
        let document = &corpus.documents()[*at];
        let (place, index) = match number / 3 % 3 {
            0 => ("top", 0),
            1 => ("middle", editable.len() / 2),
            _ => ("anywhere", rng.below(editable.len())),
        };
        let (from, from_lines) = &lines[rng.below(lines.len())];
        let donor = from_lines[rng.below(from_lines.len())];
        let mut text: Vec<&str> = document.source().split_inclusive('\n').collect();
        let line = editable[index];
        let changed;
        let action = match number % 3 {
            0 => {
                let donor = corpus.documents()[*from].source().split_inclusive('\n').nth(donor);
                let donor = donor.unwrap_or_default().trim_end_matches(['\r', '\n']);
                // A line keeps to the indentation around it, or it would end a block of code.
                let indent = text[line].len() - text[line].trim_start().len();
                changed = format!("{}{}\n", &text[line][..indent], donor.trim_start());
                text.insert(line, &changed);
                "insert"
            }
            1 => {
                text.remove(line);
                "delete"
            }
            _ => {
                changed = with_word(text[line], &mut rng);
                text[line] = &changed;
                "change"
            }
        };
        edits.push(Edit {
            kind: format!("{action} a line, {place}"),
            doc_id: document.id().to_owned(),
            old: document.source().to_owned(),
            new: text.concat(),
        });
    }
    edits
}

/// Numbers of the lines that are edited, from 0.
fn editable(source: &str) -> Vec<usize> {
    let is_editable = |line: &str| {
        let text = line.trim();
        text.len() > LEAST_LINE && !text.starts_with(['#', '`', '~', '|', '-', '='])
    };
    let lines = source.split_inclusive('\n').enumerate();
    lines.filter(|(_, line)| is_editable(line)).map(|(number, _)| number).collect()
}

/// `line` with a word more.
fn with_word(line: &str, rng: &mut Rng) -> String {
    let ends: Vec<usize> = line
        .char_indices()
        .skip(1)
        .filter(|&(at, c)| c == ' ' && !line[..at].trim().is_empty())
        .map(|(at, _)| at)
        .collect();
    let at = match ends.len() {
        0 => line.trim_end().len(),
        count => ends[rng.below(count)],
    };
    format!("{} edited{}", &line[..at], &line[at..])
}

#[cfg(test)]
mod tests {
    use chunkwright::Document;
    use chunkwright::parse::Markdown;

    use super::*;

    const TEXT: &str = "# A heading that is long enough\n\nThe first line of the text here.\nThe second line of the text.\n\n| a long row | of a table |\n\nThe last line, without an end";

    fn edits(count: usize) -> Vec<Edit> {
        synthetic(&Corpus::new(vec![Document::parse("a.md", TEXT, &Markdown)]), count, 3)
    }

    #[test]
    fn every_edit_is_of_one_line() {
        for edit in edits(90) {
            let (old, new): (Vec<_>, Vec<_>) = (edit.old.lines().collect(), edit.new.lines().collect());
            let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
            let rest = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
            assert!(edit.old != edit.new, "{}", edit.kind);
            assert!(same + rest >= old.len().max(new.len()) - 1, "{}: {}", edit.kind, edit.new);
            assert!(
                edit.new.starts_with("# A heading that is long enough\n")
                    && edit.new.contains("| a long row |")
            );
        }
    }

    #[test]
    fn edits_follow_the_seed_and_are_of_nine_kinds() {
        assert_eq!(edits(40), edits(40));
        let mut kinds: Vec<String> = edits(40).into_iter().map(|edit| edit.kind).collect();
        kinds.sort();
        kinds.dedup();
        assert_eq!(kinds.len(), 9);
        let blank = Corpus::new(vec![Document::parse("a.md", "# Only\n", &Markdown)]);
        assert_eq!(synthetic(&blank, 9, 0), []);
    }

    #[test]
    fn edits_are_read_and_what_is_none_is_named() {
        let (edits, refused) = read(
            "{\"file\":\"a.md\",\"old\":\"x\",\"new\":\"y\",\"commit\":\"1\"}\n\n{\"file\":\"a.md\"}\n[\"\",\"a.md\",\"x\",\"y\"]\n",
        );
        assert_eq!((edits.len(), edits[0].kind.as_str(), refused.len()), (1, "given", 2));
        assert_eq!(refused[0].0, 3);
        assert!(refused[0].1.to_string().contains("both complete texts"), "{}", refused[0].1);
    }
}
