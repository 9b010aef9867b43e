//! Macros of C and C++ where the grammar expects none.
//!
//! Grammars read source before its macros are expanded: `BEGIN_NAMESPACE` on a line of its own or `class API
//! Shape {` cost them the symbols that follow. Such macros are parsed as comments of the same length, so that
//! they travel with what they announce; the text itself stays as it is.

use std::collections::HashSet;

/// Keywords in front of which a word in capitals is a macro: no type can stand there.
const KEYWORDS: &[&str] = &[
    "auto",
    "bool",
    "char",
    "class",
    "constexpr",
    "double",
    "enum",
    "explicit",
    "extern",
    "float",
    "friend",
    "inline",
    "int",
    "long",
    "namespace",
    "short",
    "signed",
    "static",
    "struct",
    "template",
    "typedef",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
];

/// Shortest word in capitals that is a macro: shorter ones are parameters of templates.
const LEAST: usize = 4;

/// Longest arguments of a macro, in bytes.
const LONGEST: usize = 200;

/// `source` in the form to parse, or `None` if it has no such macro.
pub(crate) fn as_comments(source: &str) -> Option<String> {
    let mut changes: Vec<(usize, &str)> = Vec::new();
    let mut types = HashSet::new();
    let (mut at, mut in_comment, mut continues, mut last) = (0, false, false, b';');
    let mut lines = source.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let start = at;
        at += line.len();
        let text = line.trim();
        let opens = text.rfind("/*").is_some_and(|open| !text[open..].contains("*/"));
        if in_comment || opens || text.starts_with("/*") || text.starts_with("//") {
            in_comment = opens || in_comment && !text.contains("*/");
            continue;
        }
        if continues || text.starts_with('#') {
            continues = text.ends_with('\\');
            last = b';';
            continue;
        }
        let code = text.split("//").next().unwrap_or_default().trim_end();
        let Some(&end) = code.as_bytes().last() else { continue };
        let next = lines.peek().map_or("", |next| next.trim_start());
        let indent = start + line.len() - line.trim_start().len();
        if matches!(last, b';' | b'{' | b'}' | b':' | b'>') && is_alone(code, next) {
            changes.push((indent, "//"));
            continue;
        }
        let below_head = std::mem::replace(&mut last, end) == b')';
        for (macro_at, length) in inner(code, next, below_head, &mut types) {
            changes.push((indent + macro_at, "/*"));
            changes.push((indent + macro_at + length - 2, "*/"));
        }
    }
    if changes.is_empty() {
        return None;
    }
    let mut parsed = source.to_owned();
    for (at, mark) in changes {
        parsed.replace_range(at..at + mark.len(), mark);
    }
    Some(parsed)
}

/// Whether a line is only a macro, followed by neither a body nor the name of a function.
fn is_alone(code: &str, next: &str) -> bool {
    let Some(length) = macro_length(code).filter(|&length| length == code.len()) else { return false };
    let is_call = code.ends_with(')');
    let name_end = next.find(|c: char| !is_word(c)).unwrap_or(next.len());
    let names_function = next[name_end..].trim_start().starts_with('(');
    !next.starts_with('{') && code[..length].contains('_') && (is_call || !names_function)
}

/// The macros within a line of code: where they begin and how long they are. The line may stand below the
/// head of a function; `types` are those named so far, whose constructors have no type before them.
fn inner<'a>(
    code: &'a str,
    next: &str,
    below_head: bool,
    types: &mut HashSet<&'a str>,
) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let (mut at, mut before) = (0, "");
    while at < code.len() {
        let rest = &code[at..];
        let word = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        if word == 0 {
            let blank = rest.starts_with(char::is_whitespace);
            before = if blank { before } else { "" };
            at += rest.chars().next().map_or(1, char::len_utf8);
            continue;
        }
        let length = macro_length(rest).filter(|_| rest[..word].len() >= LEAST);
        if let Some(length) = length {
            let after = rest[length..].trim_start();
            let follows = &after[..after.find(|c: char| !is_word(c)).unwrap_or(after.len())];
            let of_type = matches!(before, "class" | "struct" | "union" | "enum")
                && !follows.is_empty()
                && opens_type(after[follows.len()..].trim_start(), next);
            // `void f() LOCKED(m) {`.
            let head = code[..at].trim_end();
            let ends_head = [")", " const", " override"].iter().any(|end| head.ends_with(end));
            let behind_head = after.starts_with('{') && (ends_head || below_head && head.is_empty());
            let constructs = types.contains(follows) && after[follows.len()..].starts_with('(');
            let stands_apart = after.len() < rest.len() - length;
            if stands_apart && (of_type || behind_head || constructs || KEYWORDS.contains(&follows)) {
                found.push((at, length));
                at += length;
                continue;
            }
        }
        if matches!(before, "class" | "struct") {
            types.insert(&rest[..word]);
        }
        before = &rest[..word];
        at += word;
    }
    found
}

/// Whether the text after the name of a type shows that it is defined here.
fn opens_type(after: &str, next: &str) -> bool {
    let opens = |text: &str| text.starts_with(['{', '<', ':']) || text.starts_with("final");
    opens(after) || after.is_empty() && opens(next)
}

/// The length of the macro at the start of `text`, its arguments included.
fn macro_length(text: &str) -> Option<usize> {
    let word = text.find(|c: char| !is_word(c)).unwrap_or(text.len());
    let is_macro = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let name = &text[..word];
    if name.len() < LEAST
        || !name.starts_with(|c: char| c.is_ascii_uppercase())
        || !name.chars().all(is_macro)
    {
        return None;
    }
    if !text[word..].starts_with('(') {
        return Some(word);
    }
    let mut arguments = text.as_bytes()[word..].iter().take(LONGEST);
    let length = word + arguments.position(|&byte| byte == b')')? + 1;
    let is_simple = |text: &str| text.is_ascii() && text.matches('(').count() == 1;
    text.get(..length).filter(|text| is_simple(text)).map(str::len)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::as_comments;

    #[test]
    fn macros_that_no_grammar_knows_are_parsed_as_comments() {
        let check =
            |source: &str, parsed: &str| assert_eq!(as_comments(source).as_deref().unwrap_or(source), parsed);
        check("API_BEGIN\nclass A {};\n", "//I_BEGIN\nclass A {};\n");
        check("class A {\n  Q_OBJECT(a, b)\n  int x;\n", "class A {\n  //OBJECT(a, b)\n  int x;\n");
        check("class BASE_API A : B {", "class /*SE_A*/ A : B {");
        check("struct PACKED(\"x\") A\n{", "struct /*CKED(\"x*/ A\n{");
        check("API_FN void f();", "/*I_*/ void f();");
        check("void f() const LOCKED(m) {", "void f() const /*CKED(*/ {");
        check("struct A {\n  API_FN A(int x) : x(x) {}", "struct A {\n  /*I_*/ A(int x) : x(x) {}");
        check("int f()\n  LOCKED(m) {", "int f()\n  /*CKED(*/ {");
        for kept in [
            "class FOO_A(é) A {",
            "VALUE\nf(int x)\n{",
            "RET_TYPE\nf (int x)\n{",
            "TEST_F(a, b)\n{",
            "int x =\n  A_B\n  + 1;",
            "struct STAT_T f(int x) {",
            "#define F(x) \\\n  A_B\n",
            "/* a\nAPI_FN void f();\n*/",
            "f(a,\n  B_C\n);",
        ] {
            check(kept, kept);
        }
    }
}
