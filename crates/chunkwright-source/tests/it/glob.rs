//! Globs.

use chunkwright_source::Glob;

#[test]
fn a_star_stays_within_a_folder_and_two_do_not() {
    for (pattern, text, expected) in [
        ("a.md", "a.md", true),
        ("a.md", "b/a.md", false),
        ("docs/*", "docs/a.md", true),
        ("docs/*", "docs/x/a.md", false),
        ("docs/**", "docs/x/a.md", true),
        ("**/*.md", "docs/a.md", true),
        ("**/*.md", "a.md", true),
        ("*.md", "docs/a.mdx", false),
        ("{en,ru}/*", "ru/a.md", true),
        ("курс/**", "курс/1/глава.md", true),
        ("app/[id]/page.tsx", "app/[id]/page.tsx", true),
    ] {
        assert_eq!(Glob::new(pattern).expect("a glob").matches(text), expected, "{pattern} {text}");
    }
}

#[test]
fn every_text_that_matches_begins_with_the_prefix_of_the_pattern() {
    for (pattern, prefix) in [
        ("docs/api/**", "docs/api/"),
        ("**/*.md", ""),
        ("курс/{1,2}/*", "курс/"),
        ("a.md", "a.md"),
        ("app/[id]/page.tsx", "app/"),
        ("!a", ""),
        (r"a\*b", "a"),
    ] {
        assert_eq!(Glob::new(pattern).expect("a glob").prefix(), prefix, "{pattern}");
    }
}

#[test]
fn a_pattern_for_files_is_of_names_or_of_paths_and_a_folder_holds_its_files() {
    for (pattern, text, expected) in [
        ("*.svg", "a/b/c.svg", true),
        ("*.svg", "a.svg/b.md", true),
        ("tests", "a/tests/b.rs", true),
        ("tests/", "a/tests/b.rs", true),
        ("a/*.md", "a/b.md", true),
        ("a/*.md", "x/a/b.md", false),
        ("a/b", "a/b/c/d.md", true),
        ("./a", "a/b.md", true),
        ("**/b", "a/b/c.md", true),
        ("文档", "x/文档/a.md", true),
    ] {
        assert_eq!(Glob::new(pattern).expect("a glob").matches_file(text), expected, "{pattern} {text}");
    }
}

#[test]
fn a_part_of_a_path_stands_anywhere_in_it() {
    for (part, text, expected) in [
        ("lib", "a/mylib/x.rs", true),
        ("lib", "lib.rs", true),
        ("lib", "a/b.rs", false),
        ("tests/", "a/tests/b.rs", true),
        ("tests/", "a/tests/b/c.rs", true),
        ("tests/", "a/tests.rs", false),
        ("src/a", "x/src/a/b.rs", true),
        ("[id]", "app/[id]/page.tsx", true),
        ("a b", "x/a b.md", true),
        ("教程", "文档/教程一.md", true),
        ("src/*", "src/a.rs", true),
        ("src/*", "src/a/b.rs", false),
    ] {
        assert_eq!(Glob::anywhere(part).matches(text), expected, "{part} {text}");
    }
}

#[test]
fn what_is_not_a_glob_is_refused() {
    let error = Glob::new("docs/{a").expect_err("an open brace").to_string();
    assert!(error.starts_with("invalid glob `docs/{a`: "), "{error}");
    assert!(Glob::try_from("[a".to_owned()).is_err());
}
