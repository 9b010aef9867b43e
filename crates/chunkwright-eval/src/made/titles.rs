//! Questions from titles: the section under a title is the answer.
//!
//! The question for a section without subsections is its title and those above it. By itself that measures nothing: the
//! title stands at the top of the answer and in the path that its chunks borrow, and every search finds it. So titles
//! are **hidden** while such questions are asked:
//!
//! * the heading line is not part of the answer;
//! * the heading lines of the sections that are asked for are removed from the indexed text;
//! * so are the titles in every borrowed path, of all sections alike: a question that quotes a path says
//!   nothing about whether borrowing it is worth it.
//!
//! A section can then only be found by its text.
//!
//! Titles that occur twice in the corpus with the same titles above them are skipped, and so are titles
//! that several sections of one document have, short sections, and symbols of source code, whose names
//! occur in their own text.

use std::collections::{HashMap, HashSet};

use chunkwright::{BlockKind, Document, SectionId, SectionKind, Span};

use super::{Draft, LEAST_ANSWER};
use crate::corpus::Corpus;
use crate::question::Question;

/// A question for each section whose titles name it alone.
pub(super) fn drafts(corpus: &Corpus) -> Vec<Draft> {
    let mut found = Vec::new();
    for (at, document) in corpus.documents().iter().enumerate() {
        found.extend(in_document(corpus, at, document));
    }
    let mut asked: HashMap<String, usize> = HashMap::new();
    for draft in &found {
        *asked.entry(draft.question.text.to_lowercase()).or_default() += 1;
    }
    found.retain(|draft| asked.get(&draft.question.text.to_lowercase()) == Some(&1));
    found
}

fn in_document(corpus: &Corpus, at: usize, document: &Document) -> Vec<Draft> {
    let sections = document.sections();
    let parents: HashSet<SectionId> = sections.iter().filter_map(|section| section.parent).collect();
    let mut titles: HashMap<&str, usize> = HashMap::new();
    for section in sections {
        *titles.entry(section.title.trim()).or_default() += 1;
    }
    let headings: HashMap<SectionId, Span> = headings(document);
    let mut found = Vec::new();
    for (index, section) in sections.iter().enumerate() {
        let id = SectionId(index as u32);
        let is_asked = matches!(section.kind, SectionKind::Heading(_))
            && !parents.contains(&id)
            && !section.title.trim().is_empty()
            && titles.get(section.title.trim()) == Some(&1);
        let (true, Some(heading)) = (is_asked, headings.get(&id)) else { continue };
        let body = Span { start: heading.end.min(section.span.end), end: section.span.end };
        let answer = corpus.passage(at, body);
        if answer.len() >= LEAST_ANSWER {
            let question = Question {
                id: format!("{}#L{}", document.id(), document.lines().line(heading.start)),
                text: document.titles(id).join(" > "),
                gold: vec![answer],
                exclude: Vec::new(),
            };
            found.push(Draft { question, hides: Some(*heading) });
        }
    }
    found
}

/// The heading of each section.
fn headings(document: &Document) -> HashMap<SectionId, Span> {
    let blocks = document.blocks().iter().filter(|block| block.kind == BlockKind::Heading);
    let mut headings = HashMap::new();
    for block in blocks {
        headings.entry(block.section).or_insert(block.span);
    }
    headings
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use chunkwright::parse::Markdown;
    use chunkwright::{ChunkConfig, Chunker, RecordContext, Words};

    use super::*;
    use crate::made::{Made, Origin};

    fn corpus() -> Corpus {
        let body =
            "Some words that say what this part is about, enough of them to be an answer to a question.";
        let a = format!(
            "# Guide\n\n## Install\n\n{body} One.\n\n## Use\n\n### Daily\n\n{body} Two.\n\n### Twice\n\n{body}\n\n## Twice\n\n{body}\n\n## Short\n\nNo.\n"
        );
        let b = format!("# Guide\n\n## Install\n\n{body} Other.\n");
        let parse = |id: &str, text: String| Document::parse(id, text, &Markdown);
        Corpus::new(vec![parse("a.md", a), parse("b.md", b)])
    }

    #[test]
    fn only_titles_that_name_one_section_are_asked() {
        let made = Made::new(&corpus(), &[Origin::Titles], 100, 0);
        let asked = made.questions.iter().map(|question| (question.id.as_str(), question.text.as_str()));
        let asked: Vec<(&str, &str)> = asked.collect();
        assert_eq!(asked, [("a.md#L9", "Guide > Use > Daily")]);
    }

    #[test]
    fn what_is_asked_for_is_not_in_what_is_indexed() {
        let corpus = corpus();
        let Made { questions, hidden, .. } = Made::new(&corpus, &[Origin::Titles], 100, 0);
        assert!(!questions.is_empty());
        let document = &corpus.documents()[0];
        for max_size in [8, 24, 60, 400] {
            let config = ChunkConfig {
                max_size,
                target_size: max_size,
                min_size: max_size / 4,
                ..ChunkConfig::default()
            };
            let chunker = Chunker::new(config, Arc::new(Words)).unwrap();
            let chunks = chunker.chunk(document);
            let records = chunks.records(&RecordContext::default());
            for (chunk, mut record) in chunks.iter().zip(records) {
                hidden.hide(0, chunk, &mut record);
                assert!(!record.text.contains("Daily") && !record.text.contains('>'), "{}", record.text);
            }
        }
    }
}
