//! Words as people type them: without marks, joined, with symbols; phrases, words left out, names of files.

use chunkwright_index::{Mode, SearchOptions, known_paths, parse_query};

use crate::fixture::{Fixture, for_each_store, now};

/// Files of a word each way, beside a neighbour that has much else of the query.
const FILES: &[(&str, &str)] = &[
    ("marks.md", "# Orte\n\nCafé Zürich, Łódź und Đà Nẵng mit crème brûlée und smörgåsbord.\n"),
    ("plain.md", "# Places\n\nThe town of Zurich is named here, as is a creme without marks.\n"),
    ("nfd.md", "# Words\n\nThe nai\u{308}vete\u{301} of youth.\n"),
    ("hebrew.md", "# שלום\n\nשָׁלוֹם עֲלֵיכֶם\n"),
    ("arabic.md", "# كتاب\n\nأحمد يقرأ كِتَابًا\n"),
    ("mail.md", "# Mail\n\nSend an e-mail after the time-out; U.S.A. rules, 10 000 rows, re-entrant.\n"),
    ("source.py", "class DataSourceService:\n    def retry_with_backoff(self):\n        pass\n"),
    ("c.md", "# Guide A\n\nThe C language guide: pointers in C, C headers, C compilers. C is old.\n"),
    ("cpp.md", "# Guide B\n\nThe C++ guide: templates and classes.\n"),
    ("cs.md", "# Guide C\n\nThe C# guide: properties. Run it with --no-cache.\n"),
    ("net.md", "# Guide D\n\nThe .NET runtime guide; net weight matters.\n"),
    ("nets.md", "# Nets\n\nNet weight: nets and a fishing net; a net gain. The cache of a guide.\n"),
    ("lucky.md", "# Rules\n\nThe lucky feat lets you roll again.\n"),
    (
        "apart.md",
        "# Stories\n\nA lucky lucky thief. His feat was a feat; lucky is he who does a feat, feat and lucky.\n",
    ),
    ("guides/reset-password.md", "Open the settings and follow the steps there.\n"),
    ("guides/billing.md", "# Billing\n\nThe bill comes monthly. To change a password ask support.\n"),
];

const MODES: [Mode; 3] = [Mode::Lexical, Mode::Dense, Mode::Hybrid];

/// The documents found in a mode, best first.
fn found(fixture: &Fixture, query: &str, mode: Mode) -> Vec<String> {
    let parsed = parse_query(query, chunkwright_index::Filter::default()).unwrap();
    let (filter, _) = known_paths(&*fixture.store, &now(&*fixture.store), &parsed.strict()).unwrap();
    let options = SearchOptions { mode, filter, top_k: 50, ..SearchOptions::default() };
    let hits = fixture.search(&parsed.words, &options);
    hits.iter().map(|hit| hit.rsplit_once(':').unwrap().0.to_owned()).collect()
}

#[test]
fn a_word_is_found_however_it_is_spelled_and_the_exact_spelling_is_first() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, FILES);
        fixture.index();
        for (query, first) in [
            ("zurich", "plain.md"),
            ("Zürich", "marks.md"),
            ("Zu\u{308}rich", "marks.md"),
            ("creme", "plain.md"),
            ("crème", "marks.md"),
            ("Lodz", "marks.md"),
            ("smorgasbord", "marks.md"),
            ("Da Nang", "marks.md"),
            ("naivete", "nfd.md"),
            ("naïveté", "nfd.md"),
            ("שלום עליכם", "hebrew.md"),
            ("احمد", "arabic.md"),
            ("email", "mail.md"),
            ("timeout", "mail.md"),
            ("reentrant", "mail.md"),
            ("USA", "mail.md"),
            ("10000", "mail.md"),
            ("10,000", "mail.md"),
            ("datasourceservice", "source.py"),
            ("retrywithbackoff", "source.py"),
            ("C++", "cpp.md"),
            ("c++ guide", "cpp.md"),
            ("C#", "cs.md"),
            (".NET", "net.md"),
            ("--no-cache", "cs.md"),
            ("reset password", "guides/reset-password.md"),
            ("reset-password.md", "guides/reset-password.md"),
        ] {
            for mode in [Mode::Lexical, Mode::Hybrid] {
                let found = found(&fixture, query, mode);
                assert_eq!(
                    found.first().map(String::as_str),
                    Some(first),
                    "{kind} {mode:?} {query}: {found:?}"
                );
            }
        }
        assert!(found(&fixture, "zurich", Mode::Lexical).contains(&"marks.md".to_owned()), "{kind}");
        assert!(found(&fixture, "Zürich", Mode::Lexical).contains(&"plain.md".to_owned()), "{kind}");
    });
}

#[test]
fn a_phrase_is_demanded_and_a_word_is_left_out_in_every_store_and_mode() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, FILES);
        fixture.index();
        for mode in MODES {
            let check = |query: &str, expected: &[&str]| {
                let mut found = found(&fixture, query, mode);
                found.sort();
                assert_eq!(found, expected, "{kind} {mode:?} {query}");
            };
            check("\"lucky feat\"", &["lucky.md"]);
            check("“LUCKY féat” roll", &["lucky.md"]);
            check("\"feat and lucky\"", &["apart.md"]);
            check("\"feats lucky\"", &[]);
            check("\"--no-cache\"", &["cs.md"]);
            check("\"C++\" guide", &["cpp.md"]);
            check("\"שלום\"", &["hebrew.md"]);
            check("lucky \"lucky feat\" -roll", &[]);
            check("feat \"lucky\" -\"lucky feat\"", &["apart.md"]);
            // Dense search finds every chunk that passes.
            let names = |query: &str| found(&fixture, query, mode);
            assert!(!names("lucky -story").contains(&"apart.md".to_owned()), "{kind} {mode:?}");
            assert!(!names("rules -email").contains(&"mail.md".to_owned()), "{kind} {mode:?}");
            assert!(!names("guide -C++").contains(&"cpp.md".to_owned()), "{kind} {mode:?}");
            assert!(names("guide -C++").contains(&"c.md".to_owned()), "{kind} {mode:?}");
            assert!(!names("password -billing").contains(&"guides/billing.md".to_owned()), "{kind} {mode:?}");
        }
    });
}

#[test]
fn a_path_is_understood_as_people_type_it() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, FILES);
        fixture.index();
        for (query, used) in [
            ("path:guides", None),
            ("path:./guides/", Some("guides/")),
            ("path:guides\\billing.md", Some("guides/billing.md")),
            ("path:guides\\\\billing", Some("guides/billing")),
            ("path:GUIDES", Some("GUIDES")),
            ("path:/home/me/project/guides/billing.md", Some("guides/billing.md")),
            ("path:C:\\work\\guides", Some("guides")),
            ("path:reset-*.md", Some("**/reset-*.md")),
            ("path:RESET-*.md", Some("**/RESET-*.md")),
        ] {
            let parsed =
                parse_query(&format!("password {query}"), chunkwright_index::Filter::default()).unwrap();
            let (_, others) = known_paths(&*fixture.store, &now(&*fixture.store), &parsed.filter).unwrap();
            assert_eq!(others.first().and_then(|other| other.used.as_deref()), used, "{kind} {query}");
            let found = found(&fixture, &format!("password {query}"), Mode::Lexical);
            assert!(
                !found.is_empty() && found.iter().all(|doc_id| doc_id.starts_with("guides/")),
                "{kind} {query}"
            );
        }
        for (text, excludes) in
            [("path=nowhere/", false), ("not path=nowhere/", true), ("doc_id~no\\**", false)]
        {
            let filter = chunkwright_index::Filter::parse(text).unwrap();
            let (same, others) = known_paths(&*fixture.store, &now(&*fixture.store), &filter).unwrap();
            assert_eq!(same, filter, "{text}");
            assert_eq!(
                (others.len(), others[0].used.as_deref(), others[0].excludes),
                (1, None, excludes),
                "{text}"
            );
        }
    });
}
