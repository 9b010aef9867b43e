//! Renders an explanation in words.
//!
//! Titles in the sentences are the document's own: escape them before showing them on a terminal.

use super::{Borrowed, Candidate, End, Explanation, Level};
use crate::Cut;

impl Explanation {
    /// Why the chunk begins where it does, as a clause.
    pub fn begins(&self) -> String {
        let title = self.begin.title.as_deref().map(|title| format!(" `{title}`")).unwrap_or_default();
        let block = self.begin.block.as_str().replace('_', " ");
        let why = match self.begin.cut {
            Cut::Document => format!("the document begins, with a {block}"),
            Cut::Heading => format!("the section{title} begins"),
            Cut::Symbol => format!("the symbol{title} begins"),
            Cut::Merged if title.is_empty() => {
                "several small sections were joined; the first begins".to_owned()
            }
            Cut::Merged => format!("several small sections were joined, from{title} on"),
            Cut::Full => format!("the chunk before is full; a {block} begins"),
            Cut::Item => format!("the {block} is too large for one chunk; an item or inner block begins"),
            Cut::BlankLine => {
                format!("the {block} is too large for one chunk; a line after a blank line begins")
            }
            Cut::Statement => format!("the {block} is too large for one chunk; a statement begins"),
            Cut::Indent => {
                format!("the {block} is too large for one chunk; a line of little indentation begins")
            }
            Cut::Row => "the table is too large for one chunk; a row begins".to_owned(),
            Cut::Cell => "one row of the table is too large for one chunk; a cell begins".to_owned(),
            Cut::Sentence => format!("the {block} is too large for one chunk; a sentence begins"),
            Cut::Word => "a sentence or line is too large for one chunk; a word begins".to_owned(),
            Cut::Grapheme => "one word is over the limit; a character begins".to_owned(),
            Cut::Manual => "somebody divided the chunk here by hand".to_owned(),
            other => format!("the rule `{other}`"),
        };
        format!("{} ({})", why, self.begin.cut)
    }

    /// Why the chunk ends where it does, as a clause.
    pub fn ends(&self) -> String {
        let limit = self.max_size;
        let unit = self.unit.noun();
        match &self.end {
            End::Document => "the document ends".into(),
            End::Section { title, size_with_next } => {
                let what = if title.is_empty() {
                    "a chunk of several small sections begins".into()
                } else {
                    format!("the section `{title}` begins")
                };
                format!("{what}; with what follows it would have {size_with_next} {unit}")
            }
            End::Full { size_with_next } => {
                format!("the next block would have made it {size_with_next} {unit}, over {limit}")
            }
            End::Balanced { size_with_next } => format!(
                "the next block would have made it {size_with_next} {unit}; cutting here splits the section more evenly"
            ),
            End::Split { cut: Cut::Manual, .. } => "somebody divided the chunk here by hand (manual)".into(),
            End::Split { cut, size_with_next } if *size_with_next > limit => {
                format!(
                    "the block continues; with more of it the chunk would have {size_with_next} {unit}, over {limit} ({cut})"
                )
            }
            End::Split { cut, .. } => {
                format!("the block continues; cutting here splits it more evenly ({cut})")
            }
        }
    }
}

impl Explanation {
    /// The best `most` of the places that were not taken, in order: where sections begin before where blocks do, outer
    /// ones before inner ones.
    pub fn best_rejected(&self, most: usize) -> Vec<&Candidate> {
        let mut best: Vec<&Candidate> = self.rejected.iter().collect();
        best.sort_by_key(|candidate| match candidate.level {
            Level::Section { depth, .. } => (0, depth),
            Level::Block { .. } => (1, 0),
            Level::Inside { depth } => (2, usize::from(depth)),
        });
        best.truncate(most);
        best.sort_by_key(|candidate| candidate.byte);
        best
    }
}

impl Borrowed {
    /// Describes the borrowed text in words.
    pub fn in_words(&self) -> &'static str {
        match self.kind {
            "document" => "the document's name",
            "path" => "the titles above it",
            "signature" => "the signature around it",
            "fence" => "the fence's opening line",
            "table_header" => "the table's header",
            "overlap" => "text before it",
            "close" => "the fence's closing line",
            other => other,
        }
    }
}
