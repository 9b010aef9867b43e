//! Mail, mailboxes and saved pages.

use chunkwright::PositionUnit::Message;
use chunkwright_source::convert::{ConvertError, Converter, converter_for};

use crate::{converted, stands};

/// Asserts that a message reads as `expect`, for which line breaks are CRLF too.
#[track_caller]
fn check(mail: &str, expect: &str) {
    for mail in [mail.to_owned(), mail.replace('\n', "\r\n")] {
        let converter = converter_for("eml", mail.as_bytes()).expect("a message");
        assert_eq!(converter.name(), "mail");
        let text = converter.convert(mail.as_bytes()).unwrap().text;
        assert_eq!(text.trim_end().replace("  \n", "\n"), expect, "{mail}");
    }
}

/// A message with parts of the types, names and encodings given.
fn multipart(subtype: &str, parts: &[(&str, &str)]) -> String {
    let parts: String =
        parts.iter().map(|(headers, body)| format!("--B\nContent-Type: {headers}\n\n{body}\n")).collect();
    format!(
        "From: a@b.c\nSubject: S\nMIME-Version: 1.0\nContent-Type: multipart/{subtype}; boundary=B\n\n{parts}--B--\n"
    )
}

#[test]
fn what_transports_a_message_is_no_part_of_its_text() {
    check(
        "Received: from mx (mx [192.0.2.7]) by in with ESMTPS id JUNK\nDKIM-Signature: v=1; b=JUNKabcdef\n \
         ghijkl\nMessage-ID: <m1@example.net>\nFrom: =?utf-8?Q?Anna_M=C3=BCller?= <anna@example.net>\nTo: \
         shop@example.org, =?gb2312?B?wO7A1w==?= <li@example.cn>\nSubject: =?koi8-r?B?79TexdQg2sEgx8/E?=\nDate: Mon, 5 \
         Jan 2026 10:00:00 +0100\nContent-Type: text/plain; charset=windows-1251\nContent-Transfer-Encoding: \
         base64\n\nz/Do4uXy\n",
        "# Отчет за год\n\nFrom: Anna Müller <anna@example.net>\nTo: shop@example.org, 李雷 <li@example.cn>\nDate: \
         2026-01-05T10:00:00+01:00\n\nПривет",
    );
    // The subject of a Japanese mail.
    check("Subject: =?ISO-2022-JP?B?GyRCRnxLXDhsGyhC?=\nFrom: a@b.c\n\nx\n", "# 日本語\n\nFrom: a@b.c\n\nx");
    check("From: a@b.c\nDate: never\n\nx\n", "# (no subject)\n\nFrom: a@b.c\n\nx");
    let many: Vec<_> = (0..12).map(|n| format!("u{n}@b.c")).collect();
    let mail = format!("Subject: S\nTo: {}\n\nx\n", many.join(", "));
    check(&mail, &format!("# S\n\nTo: {}, 2 more\n\nx", many[..10].join(", ")));
}

#[test]
fn text_in_an_encoding_that_is_not_named_is_guessed() {
    let text = "От: это письмо без объявленной кодировки, просто восьмибитный текст.";
    let mail = format!("Subject: Привет из Москвы\nFrom: a@b.c\n\n{text}\n");
    let (bytes, ..) = encoding_rs::WINDOWS_1251.encode(&mail);
    let expect = format!("# Привет из Москвы\n\nFrom: a@b.c\n\n{text}\n\n");
    assert_eq!(converter_for("eml", &bytes).unwrap().convert(&bytes).unwrap().text, expect);
}

#[test]
fn of_alternatives_the_last_is_read_unless_it_has_but_a_part_of_the_text() {
    let plain = ("text/plain", "Plain text.");
    let page = ("text/html", "<style>p{}</style><h1>Rich</h1><p>text &amp; more</p>");
    check(&multipart("alternative", &[plain, page]), "# S\n\nFrom: a@b.c\n\n## Rich\n\ntext & more");
    let poor = ("text/html", "<p>See.</p>");
    let calendar = ("text/calendar; method=REQUEST", "BEGIN:VCALENDAR\nEND:VCALENDAR");
    check(&multipart("alternative", &[plain, poor, calendar]), "# S\n\nFrom: a@b.c\n\nPlain text.");
    // A page with its pictures.
    let picture =
        ("image/png; name=logo.png\nContent-ID: <logo>\nContent-Transfer-Encoding: base64", "iVBORw0KGgo=");
    check(&multipart("related", &[page, picture]), "# S\n\nFrom: a@b.c\n\n## Rich\n\ntext & more");
}

#[test]
fn attachments_are_read_or_named() {
    let body = ("text/plain", "See below.");
    let attached =
        |kind: &str, name: &str| format!("{kind}\nContent-Disposition: attachment; filename=\"{name}\"");
    let check = |kind: &str, name: &str, content: &str, expect: &str| {
        let mail = multipart("mixed", &[body, (&attached(kind, name), content)]);
        check(&mail, &format!("# S\n\nFrom: a@b.c\n\nSee below.\n\n{expect}"));
    };
    check("text/markdown", "a.md", "Title\n=====\n\ntext\n", "## Attachment: a.md\n\n### Title\n\ntext");
    check("text/plain", "a.txt", "# no title", "## Attachment: a.txt\n\n\\# no title");
    check(
        "text/csv",
        "a.csv",
        "name;size\n\"a; \"\"b\"\"\";1|2\n",
        "## Attachment: a.csv\n\n| name | size |\n|---|---|\n| a; \"b\" | 1\\|2 |",
    );
    check("application/octet-stream", "a.py", "x = 1", "## Attachment: a.py\n\n```python\nx = 1\n```");
    check("application/json", "a.json", "{\"a\": 1}", "## Attachment: a.json\n\n```json\n{\"a\": 1}\n```");
    check("application/xhtml+xml", "a.html", "<h2>T</h2><p>p</p>", "## Attachment: a.html\n\n#### T\n\np");
    check(
        "message/rfc822",
        "a.eml",
        "Subject: Inner\nFrom: x@y.z\n\ninner",
        "## Inner\n\nFrom: x@y.z\n\ninner",
    );
    check(
        "image/png",
        "ä b.png",
        "\u{1}\u{2}\u{3}\u{4}",
        "Attachments without text: ä b.png (image/png, 4 bytes)",
    );
    check(
        "application/zip",
        "a.zip",
        "PK\u{3}\u{4}",
        "Attachments without text: a.zip (application/zip, 4 bytes)",
    );
}

#[test]
fn a_large_attachment_is_one_line() {
    let data = "eUK98iEG8IR3YvDzy012TccHIFEVmg+J8sbayuNEuzESRf1vhN+a18Wz0HasDo9TpzVsiJE/IPb3\n".repeat(1000);
    let pdf = ("application/pdf; name=o.pdf\nContent-Transfer-Encoding: base64", data.as_str());
    let mail = multipart("mixed", &[("text/plain", "See the offer."), pdf]);
    let expect =
        "# S\n\nFrom: a@b.c\n\nSee the offer.\n\nAttachments without text: o.pdf (application/pdf, 55 KB)";
    check(&mail, expect);
}

#[test]
fn plain_text_makes_no_headings_of_its_own() {
    check(
        "Subject: S\n\nHello\n-- \nAnna\n# 1 issue\n<b>\n> quoted\n```\nopen",
        "# S\n\nHello\n\n-- \nAnna\n\\# 1 issue\n\\<b>\n> quoted\n\\```\nopen",
    );
}

#[test]
fn the_messages_of_a_mailbox_are_counted() {
    let message = |n: u32| {
        format!(
            "From a@b.c Mon Jan  5 10:00:00 2026\nSubject: Topic {n}\nFrom: a@b.c\n\nText {n}.\n\nFrom here on it is text.\n>From quoted.\n\n"
        )
    };
    let mbox: String = (1..4).map(message).collect();
    let converted = converted("mbox", mbox.as_bytes()).unwrap();
    stands(&converted, Message, &[("# Topic 1", 1), ("Text 2.", 2), ("Text 3.", 3)]);
    assert!(converted.text.contains("\nFrom here on it is text.\nFrom quoted.\n"), "{}", converted.text);
}

#[test]
fn only_mail_is_read_as_mail() {
    let name = |extension: &str, text: &str| converter_for(extension, text.as_bytes()).map(Converter::name);
    let mail = "Return-Path: <a@b.c>\nFrom: a@b.c\nTo: d@e.f\nSubject: S\nMessage-ID: <1@b.c>\n\ntext\n";
    assert_eq!(name("eml", mail), Some("mail"));
    assert_eq!(name("eml", &format!("\u{feff}\n{mail}")), Some("mail"));
    assert_eq!(name("eml", "Subject : S\nno header\nFrom: a@b.c\n\ntext"), Some("mail"));
    assert_eq!(name("mhtml", mail), Some("mail"));
    // Maildir.
    assert_eq!(name("host:2,S", mail), Some("mail"));
    assert_eq!(name("", mail), Some("mail"));
    // Headers longer than what is examined.
    let long = format!("From: a@b.c\nTo: {}d@e.f\n\ntext\n", "someone@example.org, ".repeat(2000));
    assert_eq!(name("eml", &long), Some("mail"));
    let folded = format!("From: a@b.c\nTo: {}d@e.f\n\ntext\n", "someone@example.org,\n ".repeat(2000));
    assert_eq!(name("eml", &folded), Some("mail"));
    assert_eq!(name("txt", mail), None);
    assert_eq!(name("md", "From: me\n\ntext"), None);
    assert_eq!(name("", "From: me\nTo: you\n\ntext"), None);
    assert_eq!(name("eml", "This is not a message.\n"), None);
    let patch = "From 1e26d821 Mon Sep 17 00:00:00 2001\nFrom: A <a@b.c>\nSubject: [PATCH] x\n\ntext\n";
    assert_eq!(name("patch", patch), None);
    assert_eq!(name("mbox", patch), Some("mbox"));
}

#[test]
fn parts_inside_parts_and_damaged_messages_are_bounded() {
    let nested = "Content-Type: message/rfc822\n\n".repeat(20_000);
    let error = converter_for("eml", nested.as_bytes()).unwrap().convert(nested.as_bytes()).unwrap_err();
    assert!(matches!(error, ConvertError::Damaged { .. }), "{error}");
    let open = |n| format!("Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n");
    let deep = format!("Subject: S\n{}\ntext", (0..5_000).map(open).collect::<String>());
    let _ = converter_for("eml", deep.as_bytes()).unwrap().convert(deep.as_bytes());
    let whole = multipart("mixed", &[("text/plain", "text"), ("text/html", "<p>text</p>")]);
    for at in 0..whole.len() {
        let _ =
            converter_for("eml", &whole.as_bytes()[..at]).map(|found| found.convert(&whole.as_bytes()[..at]));
    }
}
