//! The part that a chunk plays for a name: it defines it, declares it, documents it, uses it.

use chunkwright::Record;
use serde::{Deserialize, Serialize};

use super::opening::{Kind, Opening, mentions, opening};
use super::query::{Name, Shape, folded};
use crate::search::standing::Standing;
use chunkwright_store::bm25::file_stem;

/// What a chunk is to a name that a query asks for, in the order in which chunks are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It has the line that defines the symbol.
    Definition,
    /// It declares the symbol without defining it: a prototype, a stub, a method of an interface, a re-export.
    Declaration,
    /// It begins a section with that title.
    Title,
    /// It begins the file with that name.
    File,
    /// It has the string literal that a message in the query was made of.
    Message,
    /// It is prose or a comment about it.
    Documentation,
    /// It uses it.
    Use,
    /// It uses it in a test.
    Test,
    /// It uses it in an example.
    Example,
}

impl Role {
    /// The name that answers use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Definition => "definition",
            Self::Declaration => "declaration",
            Self::Title => "title",
            Self::File => "file",
            Self::Message => "message",
            Self::Documentation => "documentation",
            Self::Use => "use",
            Self::Test => "test",
            Self::Example => "example",
        }
    }

    /// The score of the role. The scores of definitions and declarations differ by up to 0.1 from it, and that of a message
    /// is the greatest.
    pub(super) fn score(self) -> f64 {
        match self {
            Self::Definition => 0.9,
            Self::Declaration => 0.8,
            Self::Title => 0.65,
            Self::File => 0.6,
            Self::Message => 1.0,
            Self::Documentation => 0.45,
            Self::Use => 0.3,
            Self::Test => 0.2,
            Self::Example => 0.1,
        }
    }
}

/// Score of a definition in a test or an example, below those of every other definition and declaration.
const ASIDE: f64 = 0.7;

/// Score of a later part of a definition.
const CONTINUED: f64 = 0.55;

/// Score of prose whose title has the name, among other words.
const TITLED: f64 = 0.5;

/// The parts of a qualified name.
pub(super) fn parts(name: &str) -> impl DoubleEndedIterator<Item = &str> {
    name.split(['.', ':', '#']).filter(|part| !part.is_empty())
}

/// How a chunk's symbol agrees with a name.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Match {
    /// The share of the qualifiers that are around the symbol or in the path of its file.
    qualified: f64,
    /// Number of symbols around it.
    depth: usize,
    is_in_tests: bool,
    /// Whether upper and lower case agree.
    is_exact: bool,
    /// Whether both end in the same mark, or in none.
    is_marked: bool,
}

fn matched(record: &Record, name: &Name) -> Option<Match> {
    let names = record.symbols.as_ref().map_or(&[][..], |symbols| &symbols.names);
    let path = record.doc_id.rsplit_once('.').map_or(&*record.doc_id, |(path, _)| path);
    let agrees = |symbol: &str| {
        let mut around: Vec<&str> = parts(symbol).collect();
        let own = around.pop()?;
        let last = own.trim_end_matches(['?', '!', '=']);
        let is_marked = own[last.len()..].chars().next() == name.mark;
        let is_exact = last == name.last;
        if !is_exact && last.to_lowercase() != name.last.to_lowercase() {
            return None;
        }
        let is_in_tests = around.iter().any(|part| matches!(*part, "tests" | "test"));
        let has = |part: &String| {
            if around.contains(&part.as_str()) {
                1.0
            } else if path.split(['/', '-', '_']).chain(path.split('/')).any(|name| name == part) {
                0.5
            } else {
                0.0
            }
        };
        let of = name.qualifiers.len().max(1) as f64;
        let nearest = name.qualifiers.last().map_or(0.0, &has);
        let shares = name.qualifiers.iter().map(has).sum::<f64>() / of;
        let qualified = f64::midpoint(nearest, shares);
        Some(Match { qualified, depth: around.len(), is_in_tests, is_exact, is_marked })
    };
    let best = |a: &Match, b: &Match| {
        let key = |it: &Match| (it.is_exact, it.is_marked, it.qualified, !it.is_in_tests);
        key(a).partial_cmp(&key(b)).unwrap_or(std::cmp::Ordering::Equal).then(b.depth.cmp(&a.depth))
    };
    names.iter().filter_map(|symbol| agrees(symbol)).max_by(best)
}

/// The role of a chunk for a name, with its score.
pub(super) fn role(record: &Record, name: &Name) -> Option<(Role, f64)> {
    let standing = Standing::of(record);
    if record.symbols.is_none() {
        return prose(record, name);
    }
    let language = record.language.as_deref().unwrap_or_default();
    let symbol = matched(record, name);
    let written = symbol.filter(|symbol| !symbol.is_exact).and_then(|_| {
        let names = record.symbols.as_ref().map_or(&[][..], |symbols| &symbols.names);
        let last = names.iter().filter_map(|name| parts(name).next_back());
        last.filter(|last| last.to_lowercase() == name.last.to_lowercase()).map(str::to_owned).next()
    });
    let last = written.as_deref().unwrap_or(&name.last);
    let found = opening(&record.content, last, language, symbol.is_some());
    // `error type` is rather about errors than about a function called so.
    let is_other = |found: &Opening| {
        name.shape == Shape::Plain
            && name.kind.is_some_and(|kind| kind != found.kind.unwrap_or(Kind::Function))
    };
    if let Some(found) = found.filter(|found| !is_other(found)) {
        return Some(defined(record, name, standing, symbol, found));
    }
    let is_own = record.section_path.last().is_some_and(|title| parts(title).next_back() == Some(last));
    if symbol.is_some() && is_own {
        return Some((Role::Definition, CONTINUED));
    }
    if !mentions(&record.content, &name.last) {
        return None;
    }
    if standing == Standing::Main && is_exported(record, &name.last) {
        return Some((Role::Declaration, Role::Declaration.score() - 0.05));
    }
    let role = match standing {
        Standing::Test => Role::Test,
        Standing::Example => Role::Example,
        Standing::Main | Standing::Copy | Standing::Changes => Role::Use,
    };
    Some((role, role.score()))
}

/// The role and score of a chunk that opens a definition or declaration.
fn defined(
    record: &Record,
    name: &Name,
    standing: Standing,
    symbol: Option<Match>,
    found: Opening,
) -> (Role, f64) {
    let is_stub = [".pyi", ".d.ts", ".d.mts", ".d.cts"].iter().any(|end| record.doc_id.ends_with(end));
    let role = if found.has_body && !is_stub { Role::Definition } else { Role::Declaration };
    let is_aside = standing != Standing::Main || symbol.is_some_and(|symbol| symbol.is_in_tests);
    let mut score = if is_aside { ASIDE.min(role.score()) } else { role.score() };
    match (name.kind, found.kind) {
        (Some(wanted), Some(is)) if wanted == is => score += 0.03,
        (Some(_), Some(_)) => score -= 0.03,
        _ => {}
    }
    if found.kind == Some(Kind::Implementation) && name.kind != Some(Kind::Implementation) {
        score -= 0.05;
    }
    if found.kind == Some(Kind::Value) && name.kind.is_none() {
        score -= 0.02;
    }
    if symbol.is_some_and(|symbol| !symbol.is_marked) {
        score -= 0.02;
    }
    let qualified = symbol.map_or(0.0, |symbol| symbol.qualified);
    if !name.qualifiers.is_empty() {
        score += 0.04 * qualified - if qualified > 0.0 { 0.0 } else { 0.04 };
    }
    score += if found.is_public { 0.01 } else { 0.0 };
    score += match symbol {
        Some(symbol) if symbol.depth == 0 => 0.01,
        Some(_) => 0.0,
        // The grammar knows of no symbol there: a variable.
        None => -0.01,
    };
    if symbol.is_some_and(|symbol| !symbol.is_exact) {
        score = score.min(Role::File.score() - 0.02);
    }
    (role, score)
}

/// Returns whether a chunk hands the name on to other files.
fn is_exported(record: &Record, name: &str) -> bool {
    let file = record.doc_id.rsplit('/').next().unwrap_or_default();
    let is_index = file.starts_with("__init__.") || file.starts_with("index.");
    record.content.lines().filter(|line| mentions(line, name)).any(|line| {
        let line = line.trim_start();
        line.starts_with("pub use ")
            || line.starts_with("export {")
            || line.starts_with("export *")
            || is_index && (line.starts_with("from ") || line.starts_with("import "))
    })
}

/// The role of prose: documentation, if it has the name.
fn prose(record: &Record, name: &Name) -> Option<(Role, f64)> {
    let title = record.section_path.last().map(String::as_str).unwrap_or_default();
    let has_title = mentions(title, &name.last);
    if has_title && name.shape != Shape::Plain {
        return Some((Role::Documentation, TITLED));
    }
    (has_title || mentions(&record.content, &name.last))
        .then_some((Role::Documentation, Role::Documentation.score()))
}

/// What a text has that marks a line as a title, before it or below.
const TITLE_MARKS: [&str; 4] = ["#", "===", "---", "~~~"];

/// The score of a chunk that begins a section whose title equals a query.
pub(super) fn title(record: &Record, wanted: &str) -> Option<(Role, f64)> {
    let is_title = |title: &String| folded(title) == wanted;
    let is_own = record.symbols.is_none() && record.section_path.last().is_some_and(is_title);
    if !is_own && !TITLE_MARKS.iter().any(|mark| record.content.contains(mark)) {
        return None;
    }
    let mut lines = record.content.lines().peekable();
    let mut begins = false;
    while let Some(line) = lines.next() {
        let text = line.trim();
        if text.len() > 4 * wanted.len() + 16 {
            continue;
        }
        let is_marked = text.starts_with('#') && record.symbols.is_none();
        let is_underlined = lines.peek().is_some_and(|next| {
            let next = next.trim();
            next.len() >= 3 && ['=', '-', '~'].iter().any(|mark| next.chars().all(|c| c == *mark))
        });
        if (is_marked || is_underlined || is_own) && folded(text.trim_matches(['#', ' '])) == wanted {
            begins = true;
            break;
        }
    }
    match (is_own, begins) {
        (_, true) => Some((Role::Title, Role::Title.score())),
        (true, false) => Some((Role::Title, Role::Title.score() - 0.02)),
        (false, false) => None,
    }
}

/// The score of a chunk of a file whose name or path equals a query, whose words are `title`: the first chunk stands for
/// the file.
pub(super) fn file(record: &Record, query: &str, title: &str, is_file: bool) -> Option<(Role, f64)> {
    if record.chunk_index != 0 || record.artifact.is_some() {
        return None;
    }
    let (doc_id, query) = (record.doc_id.to_lowercase(), query.to_lowercase());
    let own = doc_id.rsplit('/').next().unwrap_or(&doc_id);
    let is_it = doc_id == query || doc_id.strip_suffix(&query).is_some_and(|before| before.ends_with('/'));
    if is_file && is_it {
        return Some((Role::File, Role::File.score()));
    }
    // `reset password` is `reset-password.md`.
    let stem = file_stem(own);
    let is_called = [own, stem].iter().any(|name| folded(name) == title);
    (!title.is_empty() && is_called).then_some((Role::File, Role::File.score() - 0.01))
}
