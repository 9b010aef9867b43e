//! The line of a chunk that opens a definition or declaration.
//!
//! A chunk names the symbols that it holds some of, and not which of them begin in it. This finds the line that declares
//! a name, by the words before it and the marks after it. It reads one chunk, in any language.

use super::query::is_part;

/// What a declaration declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A class, a struct, a trait, a module.
    Type,
    /// Methods of a type that is declared elsewhere.
    Implementation,
    /// A function, a method, a macro.
    Function,
    /// A constant or variable.
    Value,
}

/// A line that declares a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Opening {
    /// The byte of the name.
    pub(super) at: usize,
    /// `None` where no word says what is declared.
    pub(super) kind: Option<Kind>,
    /// Whether what is declared is defined there: a prototype has no body.
    pub(super) has_body: bool,
    /// Whether other files can see it, as far as its line says.
    pub(super) is_public: bool,
}

const TYPES: &[&str] = &[
    "class",
    "struct",
    "enum",
    "union",
    "trait",
    "interface",
    "protocol",
    "object",
    "record",
    "type",
    "typedef",
    "typealias",
    "newtype",
    "module",
    "mod",
    "namespace",
    "package",
    "defmodule",
    "defprotocol",
    "actor",
    "mixin",
    "contract",
    "library",
    "service",
    "message",
    "@interface",
    "annotation",
];
const IMPLEMENTATIONS: &[&str] = &["impl", "extension", "defimpl", "instance"];
const FUNCTIONS: &[&str] = &[
    "def",
    "fn",
    "fun",
    "func",
    "function",
    "function*",
    "defp",
    "defmacro",
    "defmacrop",
    "defguard",
    "defdelegate",
    "sub",
    "proc",
    "procedure",
    "macro",
    "macro_rules!",
    "method",
    "operator",
    "init",
];
const VALUES: &[&str] =
    &["const", "let", "var", "val", "static", "#define", "define", "local", "alias", "constant"];
const MODIFIERS: &[&str] = &[
    "pub",
    "public",
    "private",
    "protected",
    "internal",
    "fileprivate",
    "async",
    "export",
    "default",
    "static",
    "final",
    "abstract",
    "open",
    "override",
    "virtual",
    "inline",
    "const",
    "unsafe",
    "extern",
    "partial",
    "sealed",
    "suspend",
    "readonly",
    "declare",
    "local",
    "data",
    "case",
    "inner",
    "companion",
    "tailrec",
    "native",
    "synchronized",
    "constexpr",
    "explicit",
    "friend",
    "mutating",
    "convenience",
    "required",
    "indirect",
    "implicit",
    "lazy",
    "mutable",
    "abstract",
    "get",
    "set",
    "global",
    "@objc",
    "@discardableResult",
    "external",
    "factory",
];

/// Words that begin a statement which uses a name.
const STATEMENTS: &[&str] = &[
    "return", "else", "new", "throw", "case", "goto", "await", "yield", "delete", "typeof", "in", "of",
    "not", "and", "or", "if", "while", "for", "switch", "import", "from", "use", "using", "include", "raise",
    "assert", "elif", "unless", "when", "do", "then", "print", "echo", "require", "the", "a", "an", "see",
];

/// Languages in which a function is declared by its type and name alone.
const BARE: &[&str] = &[
    "c",
    "cpp",
    "java",
    "csharp",
    "javascript",
    "typescript",
    "tsx",
    "jsx",
    "dart",
    "bash",
    "go",
    "julia",
    "erlang",
    "powershell",
    "haskell",
    "cmake",
    "solidity",
];

/// Languages in which a function may be declared without a body.
const WITH_PROTOTYPES: &[&str] =
    &["c", "cpp", "java", "csharp", "rust", "php", "dart", "solidity", "typescript", "tsx"];

/// What a keyword declares; `None` for other words.
pub(super) fn keyword(word: &str) -> Option<Kind> {
    // `impl<T>`
    let word = word.split_once('<').map_or(word, |(word, _)| word);
    let sets = [
        (TYPES, Kind::Type),
        (IMPLEMENTATIONS, Kind::Implementation),
        (FUNCTIONS, Kind::Function),
        (VALUES, Kind::Value),
    ];
    sets.into_iter().find(|(words, _)| words.contains(&word)).map(|(_, kind)| kind)
}

/// Returns whether the word may stand before a keyword: `pub(crate)`, `async`.
pub(super) fn is_modifier(word: &str) -> bool {
    MODIFIERS.contains(&word) || word.starts_with("pub(") || word.starts_with('"') && word.ends_with('"')
}

/// Longest beginning of a line, in bytes, that may declare a name at its end.
const MAX_HEAD: usize = 400;

/// Most bytes after a name in which its body must begin.
const MAX_TAIL: usize = 2_000;

/// The best line of `content` that declares `name`: one with a body where there is one. `is_symbol` is whether the
/// grammar found a symbol of this name in the chunk; without it only what a keyword or the first column shows counts.
pub(super) fn opening(content: &str, name: &str, language: &str, is_symbol: bool) -> Option<Opening> {
    let mut best: Option<Opening> = None;
    let (mut line, mut seen) = (0, 0);
    for at in word_places(content, name) {
        line = content[seen..at].rfind('\n').map_or(line, |end| seen + end + 1);
        seen = at;
        if at - line > MAX_HEAD {
            continue;
        }
        let after = &content[at + name.len()..];
        let after = &after[..after.floor_char_boundary(MAX_TAIL)];
        let head = &content[line..at];
        let Some(found) = declares(head, &content[..line], after, name, language, is_symbol) else {
            continue;
        };
        let found = Opening { at, ..found };
        if found.has_body && found.kind != Some(Kind::Implementation) {
            return Some(found);
        }
        if best.is_none_or(|best| !best.has_body && found.has_body) {
            best = Some(found);
        }
    }
    best
}

/// The bytes where `content` has `name` as a word.
pub(super) fn word_places<'a>(content: &'a str, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    let is_word = move |at: &usize| {
        !content[..*at].ends_with(is_part) && !content[at + name.len()..].starts_with(is_part)
    };
    content.match_indices(name).map(|(at, _)| at).filter(is_word)
}

/// Returns whether `content` has `name` as a word.
pub(super) fn mentions(content: &str, name: &str) -> bool {
    word_places(content, name).next().is_some()
}

fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    let is_hash = line.starts_with('#') && !line.starts_with("#define") && !line.starts_with("#[");
    is_hash
        || ["//", "/*", "* ", "*/", "**", "--", "\"\"\"", "'''", "<!--", ";", "%%", ">>>", "..."]
            .iter()
            .any(|mark| line.starts_with(mark))
}

/// What a line declares: `head` is the line before the name, `above` the lines before, `after` all that follows.
fn declares(
    head: &str,
    above: &str,
    after: &str,
    name: &str,
    language: &str,
    is_symbol: bool,
) -> Option<Opening> {
    if is_comment(head) {
        return None;
    }
    let indent = head.len() - head.trim_start().len();
    let owner = unqualified(head.trim());
    let is_qualified = owner.len() < head.trim().len();
    let words: Vec<&str> = owner.split_whitespace().collect();
    let tail = after.trim_start_matches([' ', '\t']);
    let is_assigned = tail.starts_with(":=")
        || tail.starts_with('=') && !tail.starts_with("==") && !tail.starts_with("=>")
        || tail.starts_with("<-");
    let kind = words.iter().rev().find_map(|word| keyword(word));
    let are_marks = |words: &[&str]| {
        words.iter().all(|word| {
            keyword(word).is_some() || is_modifier(word) || word.starts_with(['@', '#', '[', '<'])
        })
    };
    // `template <class T> class Name`, `impl<T> Display for Name<T>`
    let is_template = matches!(words.first(), Some(&"template"));
    let is_impl = words.first().is_some_and(|word| keyword(word) == Some(Kind::Implementation));
    // `defineGetter(req, 'fresh', function fresh() {`, `const Job = class Job {`
    let is_expression = is_symbol
        && matches!(words.last(), Some(&("function" | "class")))
        && (tail.starts_with(['(', '{']) || tail.starts_with("extends "));
    let is_keyword = kind.is_some() && (are_marks(&words) || is_template || is_impl || is_expression);
    let is_public = language != "rust" || words.contains(&"pub");
    if is_keyword {
        let kind = if is_impl { Some(Kind::Implementation) } else { kind };
        // `impl From<Name> for Other` is about the other.
        if is_impl && tail.trim_start_matches('>').trim_start().starts_with("for ") {
            return None;
        }
        let is_local = kind == Some(Kind::Value) && indent > 0 && !is_symbol;
        let has_body = has_body(tail, above, language, kind);
        return (!is_local).then_some(Opening { at: 0, kind, has_body, is_public });
    }
    if !is_symbol {
        let is_typed = tail.starts_with(": ") && tail.lines().next().is_some_and(|line| line.contains(" = "));
        let is_value = head.is_empty() && !name.is_empty() && (is_assigned || is_typed);
        return is_value.then_some(Opening {
            at: 0,
            kind: Some(Kind::Value),
            has_body: true,
            is_public: true,
        });
    }
    let is_called = called(tail);
    if words.is_empty() || are_marks(&words) || is_qualified && words.len() == 1 && is_assigned {
        let is_body_of_type =
            ["interface", "struct", "func", "map["].iter().any(|word| tail.starts_with(word));
        let is_member = tail.starts_with(':') && !tail.starts_with("::") || is_assigned;
        if is_member || is_body_of_type || tail.starts_with('{') || is_called && BARE.contains(&language) {
            let kind = if is_body_of_type { Some(Kind::Type) } else { None };
            let has_body = is_member || has_body(tail, above, language, Some(Kind::Function));
            // A call looks as a method of an interface does in Go.
            let has_body = has_body && !(language == "go" && is_called);
            return Some(Opening { at: 0, kind, has_body, is_public });
        }
        // The name of `typedef struct { .. } name;`, at its end.
        return None;
    }
    if owner == "}" && tail.starts_with([';', ',']) {
        return Some(Opening { at: 0, kind: Some(Kind::Type), has_body: true, is_public });
    }
    let is_type = |c: char| is_part(c) || c.is_whitespace() || "<>,.*&[]?:@$()".contains(c);
    let is_typed = BARE.contains(&language)
        && !STATEMENTS.contains(&words[0])
        && owner.chars().all(is_type)
        && (!owner.contains('(') || owner.starts_with(['@', '[']));
    let has_body = has_body(tail, above, language, Some(Kind::Function));
    if is_typed && is_called {
        return Some(Opening { at: 0, kind: Some(Kind::Function), has_body, is_public });
    }
    (is_typed && is_assigned).then_some(Opening { at: 0, kind: Some(Kind::Value), has_body: true, is_public })
}

/// The head of a declaration without what qualifies the name: `void Foo::`, `func (c *Context)`, `def self.`.
fn unqualified(mut head: &str) -> &str {
    if head.ends_with(')')
        && let Some(start) = head.rfind('(')
        && head.starts_with("func")
    {
        return head[..start].trim_end();
    }
    while let Some(stripped) = head.strip_suffix(['.', ':', '#']) {
        let stripped = stripped.trim_end_matches(':');
        let stripped = stripped
            .strip_suffix('>')
            .map_or(stripped, |generic| generic.rfind('<').map_or(generic, |start| &generic[..start]));
        let start = stripped
            .rfind(|c| !is_part(c) && c != '$')
            .map_or(0, |at| at + stripped[at..].chars().next().map_or(1, char::len_utf8));
        if start == stripped.len() {
            break;
        }
        head = &stripped[..start];
    }
    head.trim_end().trim_end_matches(['*', '&', '(']).trim_end()
}

/// Returns whether arguments follow, after generics where there are any.
fn called(tail: &str) -> bool {
    let tail = tail.trim_start_matches([')', '?', '!']);
    tail.starts_with('(') || tail.starts_with('<') && tail.contains(">(")
}

/// Returns whether a body follows a name.
fn has_body(tail: &str, above: &str, language: &str, kind: Option<Kind>) -> bool {
    match (language, kind) {
        ("python", Some(Kind::Function)) => {
            let head = above.trim_end().rsplit('\n').next().unwrap_or_default();
            let is_overload = head.trim_start().starts_with('@') && head.trim_end().ends_with("overload");
            let mut depth = 0_i32;
            let end = tail.char_indices().find(|(_, c)| {
                depth += i32::from(matches!(c, '(' | '[' | '{')) - i32::from(matches!(c, ')' | ']' | '}'));
                *c == ':' && depth == 0
            });
            let body = end.map_or("", |(at, _)| tail[at + 1..].trim_start());
            !is_overload && !body.starts_with("...")
        }
        ("c" | "cpp", Some(Kind::Type)) => first(tail, &['{', ';', '=', '(']) != Some(';'),
        (_, Some(Kind::Function)) if WITH_PROTOTYPES.contains(&language) => {
            first(tail, &['{', ';', '=']) != Some(';') && !is_unended(tail, language)
        }
        _ => true,
    }
}

/// Returns whether a signature of TypeScript ends without a body or a semicolon.
fn is_unended(tail: &str, language: &str) -> bool {
    matches!(language, "typescript" | "tsx") && first(tail, &['{', ';', '=', '\n']) == Some('\n')
}

/// The first of `marks` outside brackets.
fn first(text: &str, marks: &[char]) -> Option<char> {
    let mut depth = 0_i32;
    for c in text.chars() {
        if depth <= 0 && marks.contains(&c) {
            return Some(c);
        }
        depth += i32::from(matches!(c, '(' | '[')) - i32::from(matches!(c, ')' | ']'));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(language: &str, content: &str, name: &str, expected: &str) {
        let shown = match opening(content, name, language, true) {
            None => "none".to_owned(),
            Some(Opening { kind, has_body, .. }) => {
                let kind = kind.map_or("-".to_owned(), |kind| format!("{kind:?}"));
                format!("{kind}{}", if has_body { "" } else { ", no body" })
            }
        };
        assert_eq!(shown, expected, "{language}: {content}");
    }

    #[test]
    fn the_line_that_declares_a_name_is_found_in_any_language() {
        for (language, content, name, expected) in [
            ("python", "class Flask(App):\n    pass", "Flask", "Type"),
            ("python", "    async def send(self):\n        send()", "send", "Function"),
            (
                "python",
                "    @t.overload\n    def load(self, x: int) -> int: ...",
                "load",
                "Function, no body",
            ),
            ("python", "    \"\"\"Use `url_for` here\n    url_for(1)", "url_for", "none"),
            ("rust", "/// A Router.\n#[derive(Clone)]\npub struct Router<S = ()> {", "Router", "Type"),
            ("rust", "impl<S> Router<S>\nwhere", "Router", "Implementation"),
            ("rust", "impl<B> fmt::Display for Router<B> {", "Router", "Implementation"),
            ("rust", "impl From<Router> for Other {", "Router", "none"),
            ("rust", "    fn read(&self) -> Item;", "read", "Function, no body"),
            ("rust", "    pub(crate) async fn read(&self) -> [u8; 4] {", "read", "Function"),
            ("rust", "macro_rules! ring {", "ring", "Function"),
            ("go", "func (c *Context) JSON(code int, obj any) {", "JSON", "Function"),
            ("go", "type HandlerFunc func(*Context)", "HandlerFunc", "Type"),
            ("go", "\tRun(ctx context.Context) error", "Run", "-, no body"),
            ("c", "static inline int (ring_full)(ring_t *r) {", "ring_full", "Function"),
            ("c", "void *redisConnect(const char *ip, int port);", "redisConnect", "Function, no body"),
            ("c", "#define RING_MASK(size) ((size) - 1)", "RING_MASK", "Value"),
            ("c", "} ring_t;", "ring_t", "Type"),
            ("cpp", "template <typename T> class Ring;", "Ring", "Type, no body"),
            ("cpp", "int Ring<T>::size(int n) const {", "size", "Function"),
            (
                "java",
                "  @Override public final <T> JsonAdapter<T> adapter(Type type) {",
                "adapter",
                "Function",
            ),
            ("java", "  return adapter(type);", "adapter", "none"),
            ("kotlin", "public class Moshi internal constructor(builder: Builder) {", "Moshi", "Type"),
            ("javascript", "app.use = function use(fn) {", "use", "-"),
            ("javascript", "res.json = (body) => {", "json", "-"),
            ("javascript", "defineGetter(req, 'ips', function ips() {", "ips", "Function"),
            ("kotlin", "    fun <T> adapterFound(result: T) {", "adapterFound", "Function"),
            ("javascript", "module.exports.ids = function () {", "ids", "-"),
            (
                "typescript",
                "export function pick(a: string): string;\nexport function pick(a: any): any {",
                "pick",
                "Function",
            ),
            ("typescript", "  resize(by: number): void\n", "resize", "-, no body"),
            ("lua", "function List:map(fun, ...)", "map", "Function"),
            ("ruby", "  def self.call(env)", "call", "Function"),
            ("elixir", "defmodule Plug.Conn do", "Conn", "Type"),
            ("swift", "open class Session: @unchecked Sendable {", "Session", "Type"),
        ] {
            check(language, content, name, expected);
        }
    }

    #[test]
    fn without_a_symbol_only_a_keyword_or_the_first_column_declares() {
        let found = |content: &str| opening(content, "request", "python", false).is_some();
        assert!(found("request: Request = LocalProxy(_cv, \"request\")"));
        assert!(found("request = LocalProxy()"));
        assert!(!found("    request = make()"));
        assert!(!found("    view(request)"));
    }
}
