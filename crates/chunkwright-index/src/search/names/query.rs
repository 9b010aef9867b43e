//! The names that a query asks for: an identifier alone, a declaration such as `struct Router`, or identifiers within a
//! question.

use chunkwright_store::analysis;

use super::opening::{Kind, is_modifier, keyword};

/// Most names that are looked for in one query.
const MAX_NAMES: usize = 4;

/// Most words of a query that may be a title.
const MAX_TITLE_WORDS: usize = 12;

/// Longest query, in bytes, that may be a name or a title.
const MAX_WHOLE: usize = 256;

/// The names of a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    /// The names, in the order of the query.
    pub(super) names: Vec<Name>,
    /// Whether the query is a name or a declaration, and nothing else.
    pub(super) is_whole: bool,
    /// The query as [`folded`] titles are compared with it; empty if it is too long for one.
    pub(super) title: String,
    /// The query, if it reads like the name or the path of a file.
    pub(super) file: Option<String>,
}

/// A name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    /// As the query has it, without arguments.
    pub(super) text: String,
    /// What stands before the last part: `axum`, `Router` in `axum::Router::route`.
    pub(super) qualifiers: Vec<String>,
    /// The last part.
    pub(super) last: String,
    /// The mark that ends it, which is part of names in Ruby and Elixir: `empty?`, `save!`.
    pub(super) mark: Option<char>,
    /// What a declaration says that it is.
    pub(super) kind: Option<Kind>,
    pub(super) shape: Shape,
}

/// What a name looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// `url_for`, `JsonAdapter`, `Router::route`, `get()`: prose has no such words.
    Code,
    /// `Router` within a question.
    Capital,
    /// `route`.
    Plain,
}

impl Wanted {
    pub(super) fn of(query: &str) -> Self {
        let query = query.trim();
        let is_short = query.len() <= MAX_WHOLE;
        let title = folded(query);
        let is_title = is_short && words_of(&title) <= MAX_TITLE_WORDS;
        let title = if is_title { title } else { String::new() };
        let file = is_short.then(|| file_like(unquoted(query))).flatten();
        let whole = is_short.then(|| alone(query).or_else(|| declared(query))).flatten();
        let is_whole = whole.is_some();
        let names = whole.map_or_else(|| within(query), |name| vec![name]);
        Self { names, is_whole, title, file }
    }
}

/// The words of a title or a query, in lower case, without marks and with one space between: `1.2 The *Router*` is `the
/// router`.
pub(super) fn folded(text: &str) -> String {
    let text = text.trim_start();
    let text = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim_start();
    let words = analysis::folded_words(text).trim().to_owned();
    // `C++` is not `C`.
    let symbols = &text[text.trim_end_matches(['+', '#']).len()..];
    if words.contains(' ') { words } else { words + symbols }
}

/// Number of words of a [`folded`] title; in a script without spaces, two characters count as one.
pub(super) fn words_of(title: &str) -> usize {
    let unspaced = title.chars().filter(|c| analysis::is_unspaced(*c)).count();
    title.split(' ').count().max(unspaced / 2)
}

/// The text without quotation marks or backticks around all of it.
fn unquoted(text: &str) -> &str {
    let pairs = [('`', '`'), ('"', '"'), ('\'', '\''), ('“', '”'), ('«', '»'), ('「', '」')];
    let inner = |(open, close)| text.strip_prefix(open)?.strip_suffix(close);
    let found = pairs.into_iter().find_map(inner).filter(|inner: &&str| !inner.contains(['`', '"']));
    found.unwrap_or(text).trim()
}

/// The text, if it reads like the name or path of a file: `app.py`, `src/routing/mod.rs`.
fn file_like(text: &str) -> Option<String> {
    let name = text.rsplit('/').next().unwrap_or(text);
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let is_extension = (1..=10).contains(&extension.len())
        && extension.bytes().all(|b| b.is_ascii_alphanumeric())
        && extension.bytes().any(|b| b.is_ascii_alphabetic());
    let is_path = text.contains('/') || is_extension && !stem.is_empty();
    let is_one = !text.contains(|c: char| c.is_whitespace() || matches!(c, '(' | '*' | '?' | '{' | '['));
    (is_one && is_path && !text.contains("://")).then(|| text.trim_start_matches("./").to_owned())
}

fn is_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// Returns whether identifiers may contain the character.
pub(super) fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

const SEPARATORS: [&str; 6] = ["::", "->", ".", "#", "\\", ":"];

/// The parts of a qualified name at the start of `text`, and the rest.
fn path(text: &str, separators: &[&str]) -> Option<(Vec<String>, usize)> {
    let (mut parts, mut at) = (Vec::new(), 0);
    loop {
        let rest = &text[at..];
        if !rest.starts_with(is_start) {
            break;
        }
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        parts.push(rest[..end].to_owned());
        at += end;
        let after = &text[at..];
        // `Router<S>::route`, `Vec::<u8>::new`.
        let joined = separators.iter().find_map(|separator| {
            let rest = after.strip_prefix(separator)?;
            rest.starts_with(is_start).then_some(separator.len())
        });
        let Some(length) = joined else { break };
        at += length;
    }
    (!parts.is_empty()).then_some((parts, at))
}

/// The name of parts.
fn name(mut parts: Vec<String>, text: &str, kind: Option<Kind>, shape: Shape) -> Option<Name> {
    let last = parts.pop()?;
    Some(Name { text: text.to_owned(), qualifiers: parts, last, mark: None, kind, shape })
}

/// What a word looks like; `is_called` is whether arguments follow.
fn shape(parts: &[String], is_called: bool) -> Shape {
    let is_code = |part: &String| {
        let mut chars = part.chars().peekable();
        let mut before = ' ';
        while let Some(c) = chars.next() {
            let next_is_part = chars.peek().is_some_and(|c| c.is_alphanumeric());
            if before.is_lowercase() && c.is_uppercase()
                || before.is_alphanumeric() && c == '_' && next_is_part
            {
                return true;
            }
            before = c;
        }
        part.starts_with('_') && part.len() > 1
    };
    if parts.len() > 1 || is_called || parts.iter().any(is_code) {
        Shape::Code
    } else if parts.iter().all(|part| part.len() > 1 && part.starts_with(char::is_uppercase)) {
        Shape::Capital
    } else {
        Shape::Plain
    }
}

/// Returns whether a word has ASCII letters beside those of a script without spaces, which runs into identifiers:
/// `url_for函数`.
fn is_mixed(part: &str) -> bool {
    part.chars().any(analysis::is_unspaced) && part.chars().any(|c| c.is_ascii_alphabetic())
}

/// The end of the bracketed group at the start of `text`.
fn group(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '<' | '{' => depth += 1,
            '>' if text[..at].ends_with('-') || text[..at].ends_with('=') => {}
            ')' | ']' | '>' | '}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + c.len_utf8());
                }
            }
            _ => {}
        }
    }
    None
}

/// What follows a name after its arguments and generics; `None` if these are cut off, as in `def url_for(`.
fn after_groups(mut rest: &str) -> Option<&str> {
    loop {
        rest = rest.trim_start();
        if !rest.starts_with(['(', '[', '<']) {
            return Some(rest);
        }
        rest = &rest[group(rest)?..];
    }
}

/// Returns whether nothing but marks follows, or the arity of Elixir and Erlang: `assign/3`.
fn is_end(rest: &str) -> bool {
    if let Some(arity) = rest.strip_prefix('/') {
        return arity.len() <= 2 && arity.bytes().all(|b| b.is_ascii_digit());
    }
    rest.trim_matches(['!', '?', ';', ',', '.', ':', '`', '…', '？', '。']).is_empty()
}

/// Returns whether the rest of a declaration follows: a type, a body, a value.
fn is_declaration(rest: &str) -> bool {
    ["->", "{", ":", "=", "where "].iter().any(|mark| rest.starts_with(mark))
}

/// The name that the query consists of.
fn alone(query: &str) -> Option<Name> {
    let text = unquoted(query);
    let text = text.trim_start_matches(['@', '$', '&', '*', '#', '.', ':', '\\']);
    let text = text.strip_prefix("_.").unwrap_or(text);
    let (mut parts, mut end) = path(text, &SEPARATORS)?;
    // `Router<S>::route`
    while text[end..].starts_with(['<', '(']) {
        let Some(length) = group(&text[end..]) else { break };
        let rest = &text[end + length..];
        let joined = SEPARATORS.iter().find_map(|separator| {
            let (more, at) = path(rest.strip_prefix(separator)?, &SEPARATORS)?;
            Some((more, separator.len() + at))
        });
        let Some((more, at)) = joined else { break };
        parts.extend(more);
        end += length + at;
    }
    let rest = &text[end..];
    // `error: no such file` is a message, `url_for(endpoint) -> str` a declaration.
    let is_alone = after_groups(rest)
        .is_none_or(|after| is_end(after) || rest.starts_with('(') && is_declaration(after));
    let is_alone = is_alone && !parts.iter().any(|part| is_mixed(part));
    let shape = shape(&parts, rest.starts_with('('));
    let mark = rest.chars().next().filter(|c| matches!(c, '?' | '!'));
    let name = is_alone.then(|| name(parts, &text[..end], None, shape)).flatten()?;
    Some(Name { mark, ..name })
}

/// The name that the query declares: `struct Router`, `pub async fn serve(`, `func (c *Context) JSON`; or a name with what
/// it is: `Router struct`.
fn declared(query: &str) -> Option<Name> {
    let mut rest = unquoted(query);
    if let Some((first, kind)) = rest.split_once(' ').and_then(|(first, word)| Some((first, keyword(word)?)))
        && keyword(first).is_none()
        && !is_modifier(first)
        && let Some(found) = alone(first)
    {
        return Some(Name { kind: Some(kind), ..found });
    }
    let (mut kind, mut qualifiers) = (None, Vec::new());
    loop {
        let end = rest.find(char::is_whitespace)?;
        let word = &rest[..end];
        match keyword(word) {
            Some(found) => kind = Some(found),
            None if is_modifier(word) => {}
            None => break,
        }
        rest = rest[end..].trim_start();
        // The receiver of a method in Go.
        if kind == Some(Kind::Function)
            && rest.starts_with('(')
            && let Some(end) = group(rest)
        {
            let receiver = rest[1..end - 1].rsplit([' ', '*']).next().unwrap_or_default();
            qualifiers = path(receiver, &["."]).map(|(parts, _)| parts).unwrap_or_default();
            rest = rest[end..].trim_start();
        }
        if !rest.contains(char::is_whitespace) {
            break;
        }
    }
    let kind = kind?;
    let rest = rest.strip_prefix("self.").unwrap_or(rest);
    let (mut parts, mut end) = path(rest, &SEPARATORS)?;
    let mut text = &rest[..end];
    // `impl Service for Router`
    let mut after = rest[end..].trim_start();
    if let Some(length) = after.starts_with('<').then(|| group(after)).flatten() {
        after = after[length..].trim_start();
    }
    if let Some(of) = after.strip_prefix("for ").map(str::trim_start)
        && let Some((of_parts, of_end)) = path(of, &SEPARATORS)
    {
        (parts, text) = (of_parts, &of[..of_end]);
        end = rest.len() - of.len() + of_end;
    }
    let tail = &rest[end..];
    let continues = ["extends ", "implements ", "where ", "inherits ", "do", "is\n"];
    let is_whole = after_groups(tail).is_none_or(|after| is_end(after) || is_declaration(after))
        || continues.iter().any(|word| tail.trim_start().starts_with(word));
    let shape = shape(&parts, tail.starts_with('('));
    qualifiers.extend(parts);
    let mark = tail.chars().next().filter(|c| matches!(c, '?' | '!'));
    let name = is_whole.then(|| name(qualifiers, text, Some(kind), shape)).flatten()?;
    Some(Name { mark, ..name })
}

/// The names within a longer query: those in backticks, those that look like code, and capitalized words that do not
/// begin a sentence.
fn within(query: &str) -> Vec<Name> {
    let mut names: Vec<Name> = Vec::new();
    let mut push = |found: Name| {
        if names.len() < MAX_NAMES && !names.iter().any(|known| known.text == found.text) {
            names.push(found);
        }
    };
    for quoted in query.split('`').skip(1).step_by(2) {
        if let Some(found) = alone(quoted).or_else(|| declared(quoted)) {
            push(Name { shape: Shape::Code, ..found });
        }
    }
    let is_terse = query.split_whitespace().count() <= 3;
    let mut at = 0;
    let mut is_first = true;
    while let Some(start) = query[at..].find(is_start).map(|start| at + start) {
        let before = query[..start].chars().next_back();
        let Some((parts, end)) = path(&query[start..], &SEPARATORS[..5]) else { break };
        at = start + end;
        let after = query[at..].chars().next();
        let begins = std::mem::replace(&mut is_first, false) && !is_terse
            || query[..start].trim_end().ends_with(['.', '?', '!', ':']);
        // Addresses, paths, flags and numbers with units are not names.
        if before.is_some_and(|c| matches!(c, '/' | '-' | '@') || c.is_ascii_digit())
            || matches!(after, Some('/' | '-' | '@'))
        {
            continue;
        }
        let shape = shape(&parts, query[at..].starts_with('('));
        if shape == Shape::Code || shape == Shape::Capital && !begins {
            if parts.iter().any(|part| is_mixed(part)) {
                for piece in query[start..at].split(|c: char| !c.is_ascii()).filter(|p| !p.is_empty()) {
                    if let Some((parts, _)) = path(piece, &SEPARATORS[..5])
                        && self::shape(&parts, false) == Shape::Code
                        && let Some(found) = name(parts, piece, None, Shape::Code)
                    {
                        push(found);
                    }
                }
            } else if let Some(found) = name(parts, &query[start..at], None, shape) {
                push(found);
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: &str, expected: &str) {
        let wanted = Wanted::of(query);
        let shown: Vec<String> = wanted
            .names
            .iter()
            .map(|name| {
                let of =
                    if name.qualifiers.is_empty() { String::new() } else { name.qualifiers.join(".") + "." };
                let kind = name.kind.map_or(String::new(), |kind| format!(" {kind:?}"));
                format!("{of}{}{kind}", name.last)
            })
            .collect();
        let whole = if wanted.is_whole { "=" } else { "" };
        assert_eq!(format!("{whole}{}", shown.join(", ")), expected, "{query}");
    }

    #[test]
    fn words_are_counted_in_scripts_with_and_without_spaces() {
        for (title, count) in [("router", 1), ("the router", 2), ("数据库", 1), ("怎样在测试里调用命令", 5)]
        {
            assert_eq!(words_of(title), count, "{title}");
        }
    }

    #[test]
    fn an_identifier_alone_is_a_name() {
        for (query, expected) in [
            ("url_for", "=url_for"),
            ("  `url_for` ", "=url_for"),
            ("get", "=get"),
            ("Flask.route", "=Flask.route"),
            ("Router::route", "=Router.route"),
            ("Router<S>::route", "=Router.route"),
            ("axum::routing::get()", "=axum.routing.get"),
            ("jsonify(*args, **kwargs)", "=jsonify"),
            ("@app.route", "=app.route"),
            ("_.debounce", "=debounce"),
            ("assign/3", "=assign"),
            ("empty?", "=empty"),
            ("List:map", "=List.map"),
            ("$scope", "=scope"),
            ("数据库", "=数据库"),
            ("数据库.连接", "=数据库.连接"),
        ] {
            check(query, expected);
        }
    }

    #[test]
    fn a_declaration_is_a_name_with_its_kind() {
        for (query, expected) in [
            ("struct Router", "=Router Type"),
            ("def url_for", "=url_for Function"),
            ("def url_for(", "=url_for Function"),
            ("class Flask", "=Flask Type"),
            ("class Flask(App):", "=Flask Type"),
            ("pub(crate) async fn serve<M>(self, make: M) -> Serve", "=serve Function"),
            ("func (c *Context) JSON", "=Context.JSON Function"),
            ("func (engine *Engine) Run(addr ...string) (err error) {", "=Engine.Run Function"),
            ("public final class Moshi {", "=Moshi Type"),
            ("impl Service<Request> for Router", "=Router Implementation"),
            ("export default class App extends Component {", "=App Type"),
            ("def self.call", "=call Function"),
            ("const MAX_SIZE", "=MAX_SIZE Value"),
            ("Router struct", "=Router Type"),
            ("`url_for` function", "=url_for Function"),
        ] {
            check(query, expected);
        }
    }

    #[test]
    fn a_question_has_the_names_that_look_like_code() {
        for (query, expected) in [
            ("how does url_for handle anchors?", "url_for"),
            ("what does `get` do", "get"),
            ("what is Router::merge for", "Router.merge"),
            ("where is a JsonAdapter made", "JsonAdapter"),
            ("how does Router merge paths", "Router"),
            ("Router merge", "Router"),
            ("url_for函数怎么用", "url_for"),
            ("怎么用 url_for", "url_for"),
            ("how do I get the name", ""),
            ("How do I get the name?", ""),
            ("index of a list", ""),
            ("the function that reads names", ""),
            ("type of an error", ""),
            ("https://example.org/a_b", ""),
            ("error handling", ""),
            ("error: cannot find value `x_y` in this scope", "x_y"),
            ("note: this is a note", ""),
        ] {
            check(query, expected);
        }
    }

    #[test]
    fn a_title_is_compared_without_marks_and_numbers() {
        assert_eq!(folded("10.1   Binary Search"), "binary search");
        assert_eq!(folded("`url_for()`"), "url_for");
        assert_eq!(folded("Zürich, Łódź"), "zurich lodz");
        assert_eq!((folded("C++"), folded("c#"), folded("C")), ("c++".into(), "c#".into(), "c".into()));
        assert_eq!(folded("Привет, Мир!"), "привет мир");
        assert_eq!(Wanted::of("app.py").file.as_deref(), Some("app.py"));
        assert_eq!(Wanted::of("./src/routing/mod.rs").file.as_deref(), Some("src/routing/mod.rs"));
        for query in ["3.11", "https://example.org/a", "what is app.py", "e.g."] {
            assert_eq!(Wanted::of(query).file, None, "{query}");
        }
    }
}
