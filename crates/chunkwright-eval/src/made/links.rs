//! Questions from links: the sentence around a link asks for the link's target.
//!
//! It takes Markdown links from one document of the corpus to another, to a heading of it or to its beginning. Links
//! are resolved as sites resolve them: relative to the document or to some folder above it, with or without an
//! extension.

use std::collections::{HashMap, HashSet};

use chunkwright::{BlockKind, Document, Section, SectionId, SectionKind, Span};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use unicode_segmentation::UnicodeSegmentation;

use super::{Draft, LEAST_ANSWER, first_child};
use crate::corpus::{Corpus, Passage};
use crate::question::Question;

/// Longest answer, in characters: a link to more than that asks for a subject, not for a passage.
const MOST_ANSWER: usize = 3_000;

/// Most questions that one passage answers: some pages are linked from everywhere.
const MOST_OF_ONE: usize = 6;

/// Least characters of a question.
const LEAST_QUESTION: usize = 8;

/// Extensions of Markdown.
const MARKDOWN: &[&str] = &["md", "markdown", "mkd", "mdown", "mdx"];

/// Names of a folder's own page.
const INDEXES: &[&str] = &["index", "readme", "_index"];

/// The questions of all links of `corpus`, in order.
pub(super) fn drafts(corpus: &Corpus) -> Vec<Draft> {
    let pages = Pages::new(corpus);
    let mut asked: HashSet<String> = HashSet::new();
    let mut pairs: HashSet<(usize, Passage)> = HashSet::new();
    let mut times: HashMap<Passage, usize> = HashMap::new();
    let mut drafts = Vec::new();
    for (at, document) in corpus.documents().iter().enumerate() {
        if !is_markdown(document.id()) {
            continue;
        }
        for link in links(document.source()) {
            let Some((target, fragment)) = pages.find(document.id(), &link.destination) else { continue };
            let Some(answer) = pages.answer(target, fragment).filter(|_| target != at) else { continue };
            let Some(source) = block_around(document, link.at) else { continue };
            let is_new = asked.insert(link.sentence.to_lowercase()) && pairs.insert((at, answer));
            let times = times.entry(answer).or_default();
            if is_new && *times < MOST_OF_ONE {
                *times += 1;
                let question = Question {
                    id: format!("{}#L{}", document.id(), document.lines().line(link.at)),
                    text: link.sentence,
                    gold: vec![answer],
                    exclude: vec![corpus.passage(at, source)],
                };
                drafts.push(Draft { question, hides: None });
            }
        }
    }
    drafts
}

fn is_markdown(id: &str) -> bool {
    id.rsplit_once('.').is_some_and(|(_, end)| MARKDOWN.iter().any(|it| it.eq_ignore_ascii_case(end)))
}

/// The block that holds byte `at`.
fn block_around(document: &Document, at: u32) -> Option<Span> {
    let blocks = document.blocks();
    let block = blocks.get(blocks.partition_point(|block| block.span.end <= at))?;
    (block.span.start <= at && block.kind != BlockKind::Definition).then_some(block.span)
}

/// A link and the text around it.
struct Link {
    destination: String,
    /// The sentence, without markup.
    sentence: String,
    /// Start of the link.
    at: u32,
}

/// The links of a Markdown document.
fn links(source: &str) -> Vec<Link> {
    let mut found = Vec::new();
    // The text read from the paragraph, and its links: their destinations, and the start of each in the source and in
    // the text.
    let mut text = String::new();
    let mut open: Vec<(String, u32, usize)> = Vec::new();
    for (event, range) in Parser::new_ext(source, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::Link { dest_url, .. }) => {
                open.push((dest_url.into_string(), range.start as u32, text.len()));
            }
            Event::Text(it) | Event::Code(it) => text.push_str(&it),
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            Event::Start(
                Tag::Item
                | Tag::Paragraph
                | Tag::TableCell
                | Tag::List(_)
                | Tag::CodeBlock(_)
                | Tag::Heading { .. },
            )
            | Event::End(
                TagEnd::Item | TagEnd::Paragraph | TagEnd::TableCell | TagEnd::CodeBlock | TagEnd::Heading(_),
            ) => {
                let sentences = open.drain(..).map(|(destination, at, begins)| {
                    let sentence = sentence_at(&text, begins).to_owned();
                    Link { destination, sentence, at }
                });
                found.extend(sentences.filter(|link| link.sentence.chars().count() >= LEAST_QUESTION));
                text.clear();
            }
            _ => {}
        }
    }
    found
}

/// The sentence of `text` that byte `at` is in.
fn sentence_at(text: &str, at: usize) -> &str {
    let mut sentences = text.split_sentence_bound_indices();
    let around = sentences.find(|(start, sentence)| start + sentence.len() > at);
    around.map_or("", |(_, sentence)| sentence.trim())
}

/// The documents of a corpus as pages that link to each other.
struct Pages<'a> {
    corpus: &'a Corpus,
    /// Documents by the ends of their addresses: `guide/install` and `install`. `None` if several share that end.
    by_end: HashMap<String, Option<usize>>,
}

impl<'a> Pages<'a> {
    fn new(corpus: &'a Corpus) -> Self {
        let mut by_end: HashMap<String, Option<usize>> = HashMap::new();
        for (at, document) in corpus.documents().iter().enumerate() {
            let address = address(document.id());
            let ends = address.match_indices('/').map(|(slash, _)| slash + 1);
            for start in std::iter::once(0).chain(ends) {
                let end = address[start..].to_owned();
                by_end.entry(end).and_modify(|known| *known = None).or_insert(Some(at));
            }
        }
        Self { corpus, by_end }
    }

    /// The document that a link of `from` leads to, and the part after `#`.
    fn find<'b>(&self, from: &str, destination: &'b str) -> Option<(usize, Option<&'b str>)> {
        let (path, fragment) = match destination.split_once('#') {
            Some((path, fragment)) => (path, Some(fragment)),
            None => (destination, None),
        };
        let path = path.split_once('?').map_or(path, |(path, _)| path);
        if path.is_empty() || path.contains(':') || path.starts_with("//") {
            return None;
        }
        let known = |path: &str| self.by_end.get(&address(path)).copied().flatten();
        if let Some(path) = path.strip_prefix('/') {
            return Some((known(path)?, fragment));
        }
        let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
        // Sites that serve `a.md` as `a/` make links relative to that.
        let page = address(from);
        let target = [folder, &page].into_iter().find_map(|folder| known(&joined(folder, path)?));
        Some((target?, fragment))
    }

    /// The answer to a link to `fragment` of a document: the text under that heading, or at the beginning.
    fn answer(&self, at: usize, fragment: Option<&str>) -> Option<Passage> {
        let document = &self.corpus.documents()[at];
        let sections = document.sections();
        let id = match fragment.filter(|fragment| !fragment.is_empty()) {
            Some(fragment) => sections.iter().position(|section| is_called(document, section, fragment))?,
            None => sections.iter().position(|section| matches!(section.kind, SectionKind::Heading(_)))?,
        };
        let id = SectionId(id as u32);
        let section = document.section(id);
        let own = first_child(document, id).unwrap_or(section.span.end);
        let own = self.corpus.passage(at, Span { start: section.span.start, end: own });
        let whole = self.corpus.passage(at, section.span);
        let answer = if own.len() < LEAST_ANSWER { whole } else { own };
        (LEAST_ANSWER..=MOST_ANSWER).contains(&answer.len()).then_some(answer)
    }
}

/// `path` without its extension and without the name of a folder's own page.
fn address(path: &str) -> String {
    let path = path.trim_end_matches('/');
    let (folder, name) = path.rsplit_once('/').map_or(("", path), |(folder, name)| (folder, name));
    let is_page = |end: &str| MARKDOWN.contains(&end) || matches!(end, "html" | "htm");
    let stem = name.rsplit_once('.').filter(|(_, end)| is_page(&end.to_ascii_lowercase()));
    let stem = stem.map_or(name, |(stem, _)| stem);
    match (folder, INDEXES.contains(&stem.to_ascii_lowercase().as_str())) {
        ("", false) => stem.to_owned(),
        (folder, true) => folder.to_owned(),
        (folder, false) => format!("{folder}/{stem}"),
    }
}

/// `path` seen from `folder`; `None` if it leads out of everything.
fn joined(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Whether a fragment names a section: by the id after its heading, `{#id}`, or by its title as sites write it.
fn is_called(document: &Document, section: &Section, fragment: &str) -> bool {
    let heading = document.source()[section.span.start as usize..].lines().next().unwrap_or_default();
    let given = heading.rsplit_once('{').and_then(|(_, id)| id.trim_end().strip_suffix('}'));
    let given = given.and_then(|id| id.trim().strip_prefix('#')).map(str::trim);
    given == Some(fragment)
        || (given.is_none() && !section.title.is_empty() && slug(&section.title) == slug(fragment))
}

/// A title as part of an address: letters and digits in lower case, hyphens for blanks.
fn slug(title: &str) -> String {
    let kept = title.trim().chars().filter(|&c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use chunkwright::parse::Markdown;

    use super::*;

    const INSTALL: &str = "# Install\n\nDownload the archive and put the program into a folder that is searched.\n\n## From source {#build}\n\nA compiler builds the program from its source in a few minutes of your time.\n\n## On Windows\n\nThe installer asks for the folder and adds it to the path of the user.\n";

    /// The question of each link in a page `guide/use.md`, and the start of its answer.
    #[track_caller]
    fn check(page: &str, expected: &[(&str, &str)]) {
        let parse = |id: &str, text: &str| Document::parse(id, text, &Markdown);
        let corpus = Corpus::new(vec![
            parse("guide/use.md", page),
            parse("guide/install.md", INSTALL),
            parse("index.md", "# Home\n\nThis is where everybody begins who has never been here before.\n"),
        ]);
        let asked = drafts(&corpus).into_iter().map(|draft| {
            let gold = draft.question.gold[0];
            let source = corpus.documents()[gold.document].source();
            let begins: String = source.chars().skip(gold.start).take(gold.len()).collect();
            assert!(draft.question.exclude[0].document != gold.document);
            (draft.question.text, begins.lines().next().unwrap_or_default().to_owned())
        });
        let asked: Vec<(String, String)> = asked.collect();
        let asked: Vec<(&str, &str)> = asked.iter().map(|(text, begins)| (&**text, &**begins)).collect();
        assert_eq!(asked, expected, "{page}");
    }

    #[test]
    fn the_sentence_around_a_link_asks_for_what_it_leads_to() {
        check(
            "Before you begin. You need [the *program*](install.md) on your machine. Then go on.\n",
            &[("You need the program on your machine.", "# Install")],
        );
        check(
            "It can be [built](./install.md#build) or\ninstalled [there](../guide/install#on-windows) as usual.\n",
            &[("It can be built or installed there as usual.", "## From source {#build}")],
        );
        check(
            "You need [the *program*][there] first. It is built [there], too.\n\n[there]: install.md#build \"Title\"\n",
            &[("You need the program first.", "## From source {#build}")],
        );
        check(
            "See how to [install](/guide/install.html) it first.\n",
            &[("See how to install it first.", "# Install")],
        );
        check(
            "The way [home](../) is not far from here.\n",
            &[("The way home is not far from here.", "# Home")],
        );
        check(
            "The way [home](../index.md) is not far from here.\n",
            &[("The way home is not far from here.", "# Home")],
        );
    }

    #[test]
    fn links_that_lead_nowhere_or_to_the_same_page_ask_nothing() {
        check("More of it stands [further down](#use), and [elsewhere](https://example.org/install).\n", &[]);
        check("What was [removed](gone.md) or [renamed](install.md#gone) is not there.\n", &[]);
        check("```\nYou need [the program](install.md) on your machine.\n```\n", &[]);
    }
}
