//! Secrets in texts.

use std::borrow::Cow;

use chunkwright_source::Format;
use chunkwright_source::redact::{redact, redact_bytes};

#[track_caller]
fn check(text: &str, expected: &str) {
    let redacted = redact(text);
    assert_eq!(redacted.as_deref().unwrap_or(text), expected);
    assert_eq!(expected.lines().count(), text.lines().count());
    assert_eq!(redact(expected), None, "what was redacted once is fine");
}

/// Written in two parts, so that no scanner finds a key in this file.
fn joined(parts: [&str; 2]) -> String {
    parts.concat()
}

#[test]
fn keys_of_known_forms_are_redacted() {
    for (parts, kind) in [
        (["AKIA", "Y34FZKBOKMUTVV7A"], "aws_access_key"),
        (["ghp_", "x7Gq2LmN9vRtY4WzB8kDfH3sJ6cP1aQe5uTi"], "github_token"),
        (["sk-", "T3BlbkFJq8Zr2VnWmK7yLxJd4HsG"], "api_key"),
        (["sk-proj-", "q8Zr2VnWmK7yLxJd4HsGT3BlbkFJ_a9"], "api_key"),
        (["sk-ant-api03-", "q8Zr2VnWmK7yLxJd4HsGT3BlbkFJ-a9"], "api_key"),
        (["glpat-", "q8Zr2VnWmK7yLxJd4HsG"], "gitlab_token"),
        (["xoxb-", "2094817365-8Zr2VnWmK7yLxJd4HsG"], "slack_token"),
        (["sk_live_", "q8Zr2VnWmK7yLxJd4HsG"], "stripe_key"),
        (["AIza", "SyD3kQ8Zr2VnWmK7yLxJd4HsGT3BlbkFJ9u"], "google_key"),
        (["eyJhbGciOiJIUzI1NiJ9.", "eyJzdWIiOiIxMjMifQ.dBjftJeZ4CVPmB92K27uhbUJU1p1r"], "jwt"),
    ] {
        let key = joined(parts);
        check(&format!("use {key}, please\n"), &format!("use [REDACTED:{kind}], please\n"));
        check(&format!("k = \"{key}\"\n"), &format!("k = \"[REDACTED:{kind}]\"\n"));
    }
}

#[test]
fn passwords_are_redacted_where_they_are_given() {
    let secret = joined(["hunter", "2-Sesame"]);
    check(&format!("password = \"{secret}\"\n"), "password = \"[REDACTED:password]\"\n");
    check(&format!("  \"api_key\": '{secret}',\n"), "  \"api_key\": '[REDACTED:password]',\n");
    check(&format!("DB_PASSWORD={secret}\nX=1\n"), "DB_PASSWORD=[REDACTED:password]\nX=1\n");
    check(&format!("postgres://app:{secret}@db:5432/x"), "postgres://app:[REDACTED:url_password]@db:5432/x");
}

#[test]
fn the_lines_of_a_private_key_stay_lines() {
    let body = "q8Zr2VnWmK7yLxJd4HsGT3BlbkFJq8Zr2VnWmK7y\n".repeat(3);
    let (begin, end) =
        (joined(["-----BEGIN RSA PRIVATE", " KEY-----"]), joined(["-----END RSA PRIVATE", " KEY-----"]));
    check(
        &format!("a\n{begin}\n{body}{end}\nb\n"),
        &format!("a\n{begin}\n[REDACTED:private_key]\n\n\n{end}\nb\n"),
    );
    check(&format!("{begin}\n{body}"), &format!("{begin}\n[REDACTED:private_key]\n\n\n"));
    check(&format!("{begin}\n...\n{end}\n"), &format!("{begin}\n...\n{end}\n"));
}

#[test]
fn what_only_looks_random_stays() {
    for text in [
        "commit 3f786850e387550fdab836ed7e6dc881de23001b\n",
        "id: 550e8400-e29b-41d4-a716-446655440000\n",
        "![x](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk)\n",
        "sha512-q8Zr2VnWmK7yLxJd4HsGT3BlbkFJq8Zr2VnWmK7yLxJd4HsGT3BlbkFJ==\n",
        "password = os.environ[\"PASSWORD\"]\n",
        "password = \"changeme\"\n",
        "password: \"${DB_PASSWORD}\"\n",
        "let password = \"my-password\";\n",
        ".sk-estimator-doc-link-fitted-container {}\n",
        "AKIAIOSFODNN7EXAMPLE\n",
        "secret: \"projects/1/secrets/name\"\n",
        "https://user:password@example.com/\n",
        "PASSWORD=$(cat file1)\n",
    ] {
        check(text, text);
    }
}

#[test]
fn a_file_in_another_encoding_is_redacted_too() {
    let text = format!("Пароль: password = \"{}\"\n", joined(["hunter", "2-Sesame"]));
    let (bytes, _, _) = encoding_rs::KOI8_R.encode(&text);
    let format = Format::named("text").unwrap();
    let redacted = redact_bytes(format, Cow::Borrowed(&bytes));
    assert_eq!(str::from_utf8(&redacted).unwrap(), "Пароль: password = \"[REDACTED:password]\"\n");
    assert_eq!(redact_bytes(format, Cow::Borrowed(b"plain")), &b"plain"[..]);
}
