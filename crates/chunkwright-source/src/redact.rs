//! Redacts keys and passwords in a text.
//!
//! Indexed text is sent to embedding services, stored, and read by models; a key that was left in a file should not go
//! there. Only text with the form of a known kind of key, or the value of something called a password, is redacted:
//! hashes of commits, UUIDs and encoded images look as random as keys do, and a text without them is worth nothing.
//! Lines stay lines.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use memchr::{memchr2, memmem, memrchr};
use regex_automata::Input;
use regex_automata::meta::Regex;
use regex_automata::util::captures::Captures;

use crate::decode::decode;
use crate::format::Format;

/// A kind of secret: its name, an expression whose only group is the candidate, and a test of which candidates are
/// secrets.
struct Kind {
    name: &'static str,
    expression: &'static str,
    is_secret: fn(&str) -> bool,
}

/// Every kind that is found within one line. If two match at one place, the first counts.
const KINDS: &[Kind] = &[
    Kind {
        name: "aws_access_key",
        expression: r"(?-u:\b)((?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16})(?-u:\b)",
        is_secret: is_no_example,
    },
    Kind {
        name: "github_token",
        expression: r"(?-u:\b)(gh[pousr]_[A-Za-z0-9]{36,})(?-u:\b)",
        is_secret: is_random,
    },
    Kind {
        name: "github_token",
        expression: r"(?-u:\b)(github_pat_[A-Za-z0-9_]{60,})(?-u:\b)",
        is_secret: is_random,
    },
    Kind { name: "gitlab_token", expression: r"(?-u:\b)(glpat-[A-Za-z0-9_-]{20,})", is_secret: is_random },
    Kind {
        name: "slack_token",
        expression: r"(?-u:\b)(xox[abeoprs]-[0-9A-Za-z-]{20,})",
        is_secret: is_random,
    },
    Kind {
        name: "api_key",
        expression: r"(?:^|[^A-Za-z0-9_-])(sk-(?:[a-z0-9]{2,12}-){0,3}[A-Za-z0-9_]{20,}[A-Za-z0-9_-]*)",
        is_secret: is_random,
    },
    Kind {
        name: "stripe_key",
        expression: r"(?-u:\b)((?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,})(?-u:\b)",
        is_secret: is_random,
    },
    Kind {
        name: "google_key",
        expression: r"(?-u:\b)(AIza[A-Za-z0-9_-]{35})(?:[^A-Za-z0-9_-]|$)",
        is_secret: is_random,
    },
    Kind { name: "npm_token", expression: r"(?-u:\b)(npm_[A-Za-z0-9]{36})(?-u:\b)", is_secret: is_random },
    Kind { name: "pypi_token", expression: r"(?-u:\b)(pypi-[A-Za-z0-9_-]{80,})", is_secret: is_random },
    Kind {
        name: "hugging_face_token",
        expression: r"(?-u:\b)(hf_[A-Za-z]{34})(?-u:\b)",
        is_secret: is_no_example,
    },
    Kind {
        name: "sendgrid_key",
        expression: r"(?-u:\b)(SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43})(?:[^A-Za-z0-9_-]|$)",
        is_secret: is_random,
    },
    Kind {
        name: "chunkwright_key",
        expression: r"(?-u:\b)(chunkwright_[0-9a-f]{64})(?-u:\b)",
        is_secret: is_no_example,
    },
    Kind {
        name: "jwt",
        expression: r"(?-u:\b)(eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,})",
        is_secret: |_| true,
    },
    Kind {
        name: "url_password",
        expression: r#"(?-u:\b)[a-z][a-z0-9+.-]{1,20}://[A-Za-z0-9_.%~-]*:([^\s/@:"'`<>{}$\\]{3,128})@"#,
        is_secret: is_password,
    },
    Kind {
        name: "password",
        expression: r#"(?i)(?:password|passwd|passphrase|secret|secret[_-]?key|api[_-]?key|access[_-]?key|auth[_-]?token|access[_-]?token)["']?[ \t]{0,8}(?::=|=>|=|:)[ \t]{0,8}["']([^\s"'`\\]{6,})["']"#,
        is_secret: is_password,
    },
    Kind {
        name: "password",
        expression: r#"^[ \t]{0,8}(?:export[ \t]+)?[A-Z0-9_]*(?:PASSWORD|PASSWD|PASSPHRASE|SECRET|SECRET_KEY|API_KEY|ACCESS_KEY|AUTH_TOKEN|ACCESS_TOKEN)=([^\s"'`#;,()]{6,})[ \t]*$"#,
        is_secret: is_password,
    },
];

/// Words that stand where a secret would in a text that explains.
const EXAMPLES: &[&str] = &[
    "changeme",
    "change_me",
    "dummy",
    "example",
    "fake",
    "insert",
    "mock",
    "placeholder",
    "redacted",
    "replace",
    "sample",
    "test",
    "todo",
    "xxx",
    "your",
    "****",
    "....",
    "1234",
    "abcd",
];

/// Text that a line must have for any of the expressions to match: far faster to search for.
const HINTS: [&str; 2] = [
    r"(?i-u:A[KSBC][IC]A|gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|sk-|[sr]k_(?:live|test)_|AIza|npm_|pypi-|hf_|SG\.|chunkwright_|eyJ|passw|passphrase|secret|api[_-]?key|access[_-]?key|auth[_-]?token|access[_-]?token)",
    r"://[^ \t\n/:@]*:[^ \t\n/@]+@",
];

/// A private key in PEM: all of it, or as much as there is.
const PRIVATE_KEYS: [&str; 2] = [
    r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----((?:[^-]|-[^-])*?)-----END ",
    r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----((?:\s{1,40}[A-Za-z0-9+/=]{16,})+)",
];

struct Expressions {
    hints: [Regex; 2],
    kinds: Regex,
    private_keys: Regex,
}

static EXPRESSIONS: LazyLock<Expressions> = LazyLock::new(|| {
    let kinds: Vec<&str> = KINDS.iter().map(|kind| kind.expression).collect();
    Expressions {
        hints: HINTS.map(|hint| Regex::new(hint).expect("the expressions are valid")),
        kinds: Regex::new_many(&kinds).expect("the expressions are valid"),
        private_keys: Regex::new_many(&PRIVATE_KEYS).expect("the expressions are valid"),
    }
});

/// `text` with `[REDACTED:KIND]` in place of every secret; `None` if it has none. It has as many lines as before.
pub fn redact(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut copied = 0;
    for (name, secret) in secrets(text) {
        out.push_str(&text[copied..secret.start]);
        let inside = &text[secret.clone()];
        let lead = inside.len() - inside.trim_start_matches(['\r', '\n']).len();
        out.push_str(&inside[..lead]);
        out.extend(["[REDACTED:", name, "]"]);
        out.extend(inside[lead..].chars().filter(|c| matches!(c, '\r' | '\n')));
        copied = secret.end;
    }
    if copied == 0 {
        return None;
    }
    out.push_str(&text[copied..]);
    Some(out)
}

/// The bytes of a text file without its secrets, in UTF-8 if there were any. A file of another kind stays unchanged:
/// its converted text can be passed to [`redact`].
pub fn redact_bytes(format: Format, bytes: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    match format {
        Format::Text(_) => {}
        // It names its encoding itself, so that the bytes keep it.
        Format::Binary(converter) if converter.is_text() && str::from_utf8(&bytes).is_ok() => {}
        Format::Binary(_) => return bytes,
    }
    match decode(&bytes).and_then(|decoded| redact(&decoded.text)) {
        Some(redacted) => Cow::Owned(redacted.into_bytes()),
        None => bytes,
    }
}

/// The spans of secrets, in order and not overlapping.
fn secrets(text: &str) -> Vec<(&'static str, Range<usize>)> {
    let expressions = &*EXPRESSIONS;
    let mut found = Vec::new();
    if memmem::find(text.as_bytes(), b"PRIVATE KEY").is_some() {
        add(&expressions.private_keys, text, 0..text.len(), &|_| ("private_key", has_key_data), &mut found);
    }
    for hint in &expressions.hints {
        let mut at = 0;
        while let Some(hint) = hint.find(Input::new(text).range(at..)) {
            let start = memrchr(b'\n', &text.as_bytes()[..hint.start()]).map_or(0, |before| before + 1);
            let line = memchr2(b'\n', b'\r', &text.as_bytes()[hint.start()..]);
            let end = line.map_or(text.len(), |length| hint.start() + length);
            let kind = |index: usize| (KINDS[index].name, KINDS[index].is_secret);
            add(&expressions.kinds, text, start..end, &kind, &mut found);
            at = end.max(hint.end());
        }
    }
    found.sort_by_key(|(_, range)| range.start);
    let mut end = 0;
    found.retain(|(_, range)| {
        let is_apart = range.start >= end;
        end = end.max(range.end);
        is_apart
    });
    found
}

/// Adds the matches of `expressions` in a part of a text that are secrets by `kind`.
fn add(
    expressions: &Regex,
    text: &str,
    within: Range<usize>,
    kind: &dyn Fn(usize) -> (&'static str, fn(&str) -> bool),
    found: &mut Vec<(&'static str, Range<usize>)>,
) {
    let part = &text[within.clone()];
    let mut captures: Captures = expressions.create_captures();
    let mut at = 0;
    while at < part.len() {
        expressions.search_captures(&Input::new(part).range(at..), &mut captures);
        let (Some(index), Some(secret)) = (captures.pattern(), captures.get_group(1)) else { return };
        let (name, is_secret) = kind(index.as_usize());
        if is_secret(&part[secret.range()]) {
            found.push((name, within.start + secret.start..within.start + secret.end));
            at = secret.end;
        } else {
            // Another secret may begin inside a rejected one.
            at = part.ceil_char_boundary(secret.start.max(at) + 1);
        }
    }
}

/// Whether a word is not a placeholder.
fn is_no_example(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    !EXAMPLES.iter().any(|example| lower.contains(example))
}

/// Whether a token looks random: letters and digits, of many kinds, and not a placeholder.
fn is_random(token: &str) -> bool {
    let digits = token.bytes().filter(u8::is_ascii_digit).count();
    let mut kinds: Vec<u8> = token.bytes().collect();
    kinds.sort_unstable();
    kinds.dedup();
    digits >= 2 && kinds.len() >= 10 && is_no_example(token)
}

/// Whether a value is a password and neither a placeholder, a reference nor a name.
fn is_password(value: &str) -> bool {
    let has = |test: fn(u8) -> bool| value.bytes().any(test);
    let is_reference = value.starts_with(['$', '<', '{', '%', '@', '&', '(', '[', '/', '.', '#'])
        || ["${", "{{", "<%", "%(", "://", "...", "()", "::", "->"].iter().any(|mark| value.contains(mark));
    // A name of a variable, a field or a type of the language has no digit, or is dotted.
    let mixes = has(|byte| byte.is_ascii_digit() || b"!#^*~".contains(&byte))
        && has(|byte| byte.is_ascii_alphabetic());
    let is_path =
        value.contains('/') && !value.contains(['+', '=']) || value.contains(['(', ')', '[', ']', '{', '}']);
    let dotted = value.split('.').count() > 2;
    mixes && !is_reference && !is_path && !dotted && is_no_example(value)
}

/// Whether there is more between the marks of a key than a placeholder.
fn has_key_data(body: &str) -> bool {
    let run = body
        .split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=')))
        .map(str::len)
        .max();
    run.is_some_and(|run| run >= 32) && !body.contains("...")
}
