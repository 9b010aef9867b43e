//! Questions from source code: the documentation of a symbol asks for it.
//!
//! The first sentence of a doc comment or docstring says what a reader would look the symbol up for. The comment is
//! hidden while its question is asked. Names are not used as questions: a name stands in the symbol's own text and
//! gives it away, so that rankings by names, alone or beside the comment, do not agree with those by people's
//! questions.

use std::collections::HashMap;

use chunkwright::{Section, SectionId, SectionKind, Span, SymbolKind};
use unicode_segmentation::UnicodeSegmentation;

use super::{Draft, LEAST_ANSWER, first_child};
use crate::corpus::Corpus;
use crate::question::Question;

/// Least words of a first sentence that asks for something.
const LEAST_WORDS: usize = 4;

/// A question for each documented symbol that holds code of its own.
pub(super) fn drafts(corpus: &Corpus) -> Vec<Draft> {
    let mut found = Vec::new();
    for (at, document) in corpus.documents().iter().enumerate() {
        for (id, section) in (0..).map(SectionId).zip(document.sections()) {
            if is_asked(section) {
                found.extend(draft(corpus, at, (id, section)));
            }
        }
    }
    let mut asked: HashMap<String, usize> = HashMap::new();
    for draft in &found {
        *asked.entry(draft.question.text.to_lowercase()).or_default() += 1;
    }
    found.retain(|draft| asked.get(&draft.question.text.to_lowercase()) == Some(&1));
    found
}

fn is_asked(section: &Section) -> bool {
    matches!(section.kind, SectionKind::Symbol(kind) if kind != SymbolKind::Module)
        && section.documentation.start < section.documentation.end
}

fn draft(corpus: &Corpus, at: usize, (id, section): (SectionId, &Section)) -> Option<Draft> {
    let document = &corpus.documents()[at];
    let said = first_sentence(section.documentation.of(document.source()));
    if said.unicode_words().count() < LEAST_WORDS {
        return None;
    }
    // A comment above is not part of the answer.
    let start = if section.documentation.start <= section.signature.start {
        section.documentation.end.max(section.span.start)
    } else {
        section.span.start
    };
    // For a type, the text before its methods.
    let end = first_child(document, id).filter(|&child| child > start).unwrap_or(section.span.end);
    let answer = corpus.passage(at, Span { start: start.min(end), end });
    let question = Question {
        id: format!("{}#L{}", document.id(), document.lines().line(section.signature.start)),
        text: said,
        gold: vec![answer],
        exclude: Vec::new(),
    };
    (answer.len() >= LEAST_ANSWER).then_some(Draft { question, hides: Some(section.documentation) })
}

/// The first sentence of a comment, without its marks.
fn first_sentence(comment: &str) -> String {
    let is_mark =
        |c: char| matches!(c, '/' | '*' | '#' | '!' | '"' | '\'' | ';' | '-' | '%') || c.is_whitespace();
    let mut text = String::new();
    for line in comment.lines().map(|line| line.trim_matches(is_mark)) {
        if line.is_empty() && !text.is_empty() {
            break;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(line);
    }
    text.split_sentence_bounds().next().unwrap_or_default().trim().to_owned()
}

#[cfg(all(test, any(feature = "languages-all", feature = "languages-common")))]
mod tests {
    use std::path::Path;

    use chunkwright::Document;
    use chunkwright_source::parser_for;

    use super::*;
    use crate::made::{Made, Origin};

    /// The questions of a file, and the text hidden while they are asked.
    #[track_caller]
    fn check(name: &str, source: &str, expected: &[(&str, &str)]) {
        let corpus = Corpus::new(vec![Document::parse(name, source, parser_for(Path::new(name), source))]);
        let asked: Vec<(String, &str)> = drafts(&corpus)
            .into_iter()
            .map(|draft| (draft.question.text, draft.hides.map_or("", |span| span.of(source))))
            .collect();
        let asked: Vec<(&str, &str)> = asked.iter().map(|(text, hidden)| (&**text, *hidden)).collect();
        assert_eq!(asked, expected, "{source}");
        let made = Made::new(&corpus, &[], 10, 0);
        let origins: Vec<(Origin, usize)> =
            (!expected.is_empty()).then_some((Origin::Symbols, expected.len())).into_iter().collect();
        assert_eq!(made.origins, origins);
    }

    #[test]
    fn the_first_sentence_of_documentation_asks_for_its_symbol() {
        check(
            "a.rs",
            "/// Opens the store at a path. Fails if\n/// it is locked.\npub fn open(path: &Path) -> Result<Store> {\n    let file = File::open(path)?;\n    Store::of(file)\n}\n\n/// Short.\nfn close() { drop(take()) }\n",
            &[("Opens the store at a path.", "/// Opens the store at a path. Fails if\n/// it is locked.")],
        );
        check(
            "a.py",
            "class Store:\n    def open(self, path):\n        \"\"\"Open the store at a path.\"\"\"\n        self.file = open(path)\n        return self.file.read()\n",
            &[("Open the store at a path.", "\"\"\"Open the store at a path.\"\"\"")],
        );
    }

    #[test]
    fn undocumented_symbols_ask_nothing() {
        check(
            "a.rs",
            "pub fn open_the_store_at_a_path(path: &Path) -> Result<Store> {\n    Store::of(path)\n}\n",
            &[],
        );
    }
}
