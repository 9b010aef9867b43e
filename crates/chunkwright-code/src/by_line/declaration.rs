//! What a line of code declares, by its first words.

use chunkwright::SymbolKind;

/// Words that begin a symbol, in languages that have words for it.
const WORDS: &[(&str, SymbolKind)] = &[
    ("class", SymbolKind::Class),
    ("object", SymbolKind::Class),
    ("record", SymbolKind::Class),
    ("actor", SymbolKind::Class),
    ("mixin", SymbolKind::Class),
    ("contract", SymbolKind::Class),
    ("struct", SymbolKind::Struct),
    ("union", SymbolKind::Struct),
    ("message", SymbolKind::Struct),
    ("enum", SymbolKind::Enum),
    ("interface", SymbolKind::Interface),
    ("@interface", SymbolKind::Interface),
    ("service", SymbolKind::Interface),
    ("trait", SymbolKind::Trait),
    ("protocol", SymbolKind::Trait),
    ("extension", SymbolKind::Impl),
    ("impl", SymbolKind::Impl),
    ("given", SymbolKind::Impl),
    ("module", SymbolKind::Module),
    ("namespace", SymbolKind::Module),
    ("defmodule", SymbolKind::Module),
    ("mod", SymbolKind::Module),
    ("fun", SymbolKind::Function),
    ("func", SymbolKind::Function),
    ("fn", SymbolKind::Function),
    ("function", SymbolKind::Function),
    ("def", SymbolKind::Function),
    ("defp", SymbolKind::Function),
    ("rpc", SymbolKind::Function),
    ("macro_rules!", SymbolKind::Macro),
    ("defmacro", SymbolKind::Macro),
    ("macro", SymbolKind::Macro),
];

/// Words that may stand before those.
const MODIFIERS: &[&str] = &[
    "public",
    "private",
    "protected",
    "internal",
    "static",
    "final",
    "abstract",
    "sealed",
    "non-sealed",
    "open",
    "override",
    "export",
    "default",
    "declare",
    "async",
    "inline",
    "noinline",
    "suspend",
    "data",
    "value",
    "annotation",
    "virtual",
    "unsafe",
    "extern",
    "pub",
    "const",
    "partial",
    "readonly",
    "fileprivate",
    "mutating",
    "nonmutating",
    "nonisolated",
    "local",
    "external",
    "infix",
    "operator",
    "tailrec",
    "inner",
    "companion",
    "expect",
    "actual",
    "case",
    "implicit",
    "lazy",
    "transparent",
    "opaque",
    "base",
    "indirect",
    "distributed",
    "dynamic",
    "final",
    "file",
    "required",
    "convenience",
    "new",
    "ref",
    "comptime",
    "noreturn",
    "global",
    "strictfp",
    "synchronized",
    "native",
];

/// Words before a bracket that call no function.
const CONTROL: &[&str] = &[
    "if",
    "for",
    "while",
    "switch",
    "catch",
    "return",
    "else",
    "do",
    "new",
    "throw",
    "using",
    "lock",
    "foreach",
    "synchronized",
    "sizeof",
    "try",
    "case",
    "when",
    "with",
    "await",
    "yield",
    "match",
    "guard",
    "until",
    "unless",
    "fixed",
    "elseif",
    "elif",
    "super",
    "this",
    "assert",
    "delete",
    "typeof",
    "defined",
];

/// Languages whose functions need no word.
const TYPED: &[&str] = &["c", "cpp", "java", "csharp", "dart"];
/// Languages whose methods need no word.
const SHORT: &[&str] = &["javascript", "typescript", "tsx"];
/// Languages whose lines begin symbols in other ways, or that have none.
const OTHER: &[&str] = &[
    "css",
    "dockerfile",
    "make",
    "cmake",
    "hcl",
    "nix",
    "graphql",
    "haskell",
    "erlang",
    "ocaml",
    "ocaml-interface",
];

/// The kind and title of the symbol that a line begins. `around` is the kind of the symbol around it; `opens_below` says
/// whether the next line opens a body.
pub(super) fn of(
    text: &str,
    language: &str,
    around: Option<SymbolKind>,
    opens_below: &dyn Fn() -> bool,
) -> Option<(SymbolKind, String)> {
    if OTHER.contains(&language) {
        return None;
    }
    let mut rest = text;
    let mut last = "";
    loop {
        rest = without_attribute(rest).trim_start();
        let word = rest.split(|c: char| c.is_whitespace() || "({<:".contains(c)).next()?;
        if let Some(&(_, kind)) = WORDS.iter().find(|(known, _)| *known == word) {
            let after = &rest[word.len()..];
            let is_own = match word {
                "message" | "service" | "rpc" => language == "protobuf",
                "given" | "object" => matches!(language, "scala" | "kotlin"),
                "macro" => matches!(language, "julia" | "swift" | "elixir"),
                "mod" | "macro_rules!" => language == "rust",
                "contract" => language == "solidity",
                _ => true,
            };
            // `enum class Level`
            let (word, after) = match after.trim_start().split_once(char::is_whitespace) {
                Some((next @ ("class" | "struct"), after)) if word == "enum" => (next, after),
                _ => (word, after),
            };
            if is_own && (last == "companion" || !after.is_empty()) {
                let title = title(after, kind).or_else(|| (last == "companion").then(|| last.to_owned()));
                if let Some(title) = title.filter(|_| is_declared(after, word, language)) {
                    return Some((kind, title));
                }
            }
            break;
        }
        if !MODIFIERS.contains(&word) {
            break;
        }
        last = word;
        rest = &rest[word.len()..];
        if word == "pub" && rest.starts_with('(') {
            rest = rest.split_once(')')?.1;
        }
    }
    let in_function = matches!(around, Some(SymbolKind::Function | SymbolKind::Method | SymbolKind::Macro));
    if in_function { None } else { unworded(text, rest, language, around, opens_below) }
}

/// Text after the annotation that it begins with.
fn without_attribute(text: &str) -> &str {
    let text = text.trim_start();
    if !text.starts_with('@') || text.starts_with("@interface") {
        return text;
    }
    let name =
        text[1..].find(|c: char| !c.is_alphanumeric() && !"_.:".contains(c)).map_or(text.len(), |at| at + 1);
    let rest = &text[name..];
    match rest.strip_prefix('(').and_then(|arguments| arguments.split_once(')')) {
        Some((_, rest)) => rest,
        None => rest,
    }
}

/// The name after the word of a symbol.
fn title(after: &str, kind: SymbolKind) -> Option<String> {
    let mut rest = after.trim_start().trim_start_matches('*').trim_start();
    // `fun <T> f`, `impl<T> A`, `func (r *Shape) Area`
    for (open, close) in [('<', '>'), ('(', ')')] {
        if rest.starts_with(open) && kind != SymbolKind::Class {
            let mut depth = 0;
            let end = rest.char_indices().find(|&(_, c)| {
                depth += i32::from(c == open) - i32::from(c == close);
                depth == 0
            })?;
            rest = rest[end.0 + 1..].trim_start();
        }
    }
    if kind == SymbolKind::Impl
        && let Some((_, owner)) = rest.split_once(" for ")
    {
        rest = owner.trim_start();
    }
    // `List<T>.shout(`
    if kind == SymbolKind::Function
        && let Some((receiver, name)) = rest.split('(').next().and_then(|head| head.rsplit_once('.'))
        && receiver.ends_with(['>', '?'])
    {
        rest = name;
    }
    let end = rest.find(|c: char| !c.is_alphanumeric() && !"_$.:`?!\\~-".contains(c)).unwrap_or(rest.len());
    let name = rest[..end].trim_end_matches([':', '.', '-']);
    let is_named =
        name.trim_start_matches('`').starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$');
    let name = name.replace('`', "");
    // The receiver of a function is not its name: `String.shout`, `self.open`.
    let is_function = matches!(kind, SymbolKind::Function);
    let name = if is_function { name.rsplit('.').next().unwrap_or_default() } else { &name };
    let name = if name.contains("::") { name } else { name.split(':').next().unwrap_or_default() };
    (is_named && !name.is_empty()).then(|| name.to_owned())
}

/// Whether what follows the name can follow that of a symbol: not an operator or a word of prose.
fn is_declared(after: &str, word: &str, language: &str) -> bool {
    let after = after.trim_start();
    let name = after.find(|c: char| c.is_whitespace() || "(<{[:;=,".contains(c)).unwrap_or(after.len());
    let rest = after[name..].trim_start();
    let is_only = rest.is_empty() || rest.starts_with(['(', '<', '{', '[', ':', ';', ',', '=', '"']);
    let is_phrase = rest.split_whitespace().next().is_some_and(|next| {
        const NEXT: &[&str] = &[
            "extends",
            "implements",
            "with",
            "where",
            "for",
            "is",
            "do",
            "permits",
            "derives",
            "of",
            "throws",
            "returns",
        ];
        NEXT.contains(&next)
    });
    // `def open path` and `def f x` have their parameters after a blank.
    is_only && !(rest.starts_with('=') && matches!(word, "class" | "struct" | "enum" | "record" | "union"))
        || is_phrase
        || matches!(language, "ruby" | "julia" | "go" | "rust" | "kotlin")
}

/// A function that no word announces: `int area(Shape *s) {`, `const area = (s) => {`, `area() {`.
fn unworded(
    text: &str,
    rest: &str,
    language: &str,
    around: Option<SymbolKind>,
    opens_below: &dyn Fn() -> bool,
) -> Option<(SymbolKind, String)> {
    let function = |name: &str| Some((SymbolKind::Function, name.to_owned()));
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_alphabetic() || "_$#~".contains(c))
            && name.chars().all(|c| c.is_alphanumeric() || "_$#~:.-".contains(c))
            && !CONTROL.contains(&name)
    };
    if matches!(language, "bash" | "powershell") {
        let name = text
            .split_once("()")
            .filter(|(_, after)| after.trim_start().is_empty() || after.trim_start().starts_with('{'));
        return name.map(|(name, _)| name.trim()).filter(|name| is_name(name)).and_then(function);
    }
    if language == "r" {
        let (name, value) = text.split_once("<-").or_else(|| text.split_once('='))?;
        let is_function = value.trim_start().starts_with("function");
        return Some(name.trim()).filter(|name| is_function && is_name(name)).and_then(function);
    }
    let is_script = SHORT.contains(&language);
    if is_script
        && let Some(bound) =
            ["const ", "let ", "var "].iter().find_map(|word| rest.trim_start().strip_prefix(word))
    {
        let (name, value) = bound.split_once('=')?;
        let value = value.trim_start().trim_start_matches("async ").trim_start();
        let is_function =
            value.starts_with("function") || value.contains("=>") && value.starts_with(['(', '<']);
        let name = name.split(':').next()?.trim();
        return Some(name).filter(|name| is_function && is_name(name)).and_then(function);
    }
    let is_typed = TYPED.contains(&language);
    let in_type = around.is_some_and(SymbolKind::is_type);
    if !(is_typed || is_script && in_type) {
        return None;
    }
    let (head, arguments) = rest.split_once('(')?;
    let opens = text.ends_with('{')
        || text.ends_with('}') && arguments.contains('{')
        || is_typed && text.ends_with(')') && opens_below();
    let is_plain = !head.contains(['=', '"', '\'', '(', ')', '{', '}', ';', '|', '/', '#'])
        || head.trim_start().starts_with('#');
    let mut words = head.split_whitespace().rev();
    let name = words.next()?.trim_start_matches(['*', '&']);
    let has_type = words.next().is_some_and(|word| !CONTROL.contains(&word));
    if !opens || !is_plain || !is_name(name) {
        return None;
    }
    if is_macro(name) && !has_type {
        return defined_name(arguments.split(')').next().unwrap_or_default())
            .and_then(|name| function(&name));
    }
    let is_member = in_type || name.contains("::") || !is_typed;
    if has_type || is_member { function(name) } else { None }
}

/// The name of what a macro defines by its arguments: `TEST_F(Suite, opens)`.
pub(crate) fn defined_name(arguments: &str) -> Option<String> {
    let arguments: Vec<&str> = arguments.split(',').map(str::trim).collect();
    let is_word = |word: &&str| !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || c == '_');
    (arguments.len() <= 3 && arguments.iter().all(is_word)).then(|| arguments.join("."))
}

/// Whether a function by this name without a type is a macro: capitals only.
pub(crate) fn is_macro(name: &str) -> bool {
    name.len() > 2 && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_' || b.is_ascii_digit())
}
