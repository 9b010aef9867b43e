//! Addresses, rules and lists by themselves.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use chunkwright_mirror::{Address, Listed, Robots, is_address, read_sitemap};

#[test]
fn an_address_that_cannot_be_fetched_says_what_would_be_right_and_shows_no_secret() {
    for (address, expected) in [
        ("git+https://h/o/r@v1", None),
        ("git+https://h/o/r@feature/x-1.2", None),
        ("https://h/a#part", None),
        ("git+file:///etc", Some("only `https://`")),
        ("git+ssh://h/o/r", Some("only `https://`")),
        ("git+https://h/", Some("names no repository")),
        ("git+https://h/o/r@--upload-pack=x", Some("a branch, tag or commit")),
        ("git+https://h/o/r@a..b", Some("a branch, tag or commit")),
        ("git+https://h/o/r@+a:b", Some("a branch, tag or commit")),
        ("git+https://h/o/r@", Some("a branch, tag or commit")),
        ("git+https://h/o/r?x=1", Some("no query")),
        ("https://user:word@h/", Some("a user or a password")),
        ("https://", Some("not an address")),
    ] {
        assert!(is_address(address.as_ref()), "{address}");
        match (Address::parse(address), expected) {
            (Ok(_), None) => {}
            (Err(error), Some(expected)) => {
                let error = error.to_string();
                assert!(error.contains(expected) && !error.contains("word@"), "{error}");
            }
            (found, _) => panic!("{address}: {found:?}"),
        }
    }
    for path in ["docs", "http.md", "./https:", "git", "C:\\docs", "ssh://h/r", "ftp://h/"] {
        assert!(!is_address(path.as_ref()), "{path}");
    }
}

#[test]
fn rules_for_this_program_come_before_those_for_all_and_the_longest_decides() {
    let text = "\u{feff}# all\nUser-agent: *\nDisallow: /\nCrawl-delay: 9\n\nuser-agent: other\nUser-Agent: ChunkWright\nallow: /docs\nDisallow: /docs/old\nDisallow: /*/draft$\nDisallow:\nSitemap: https://h/map.xml\n";
    let robots = Robots::parse(text);
    for (path, expected) in [
        ("/", true),
        ("/docs/new", true),
        ("/docs/old/x", false),
        ("/a/draft", false),
        ("/a/drafts", true),
        ("/docs/draft", false),
    ] {
        assert_eq!(robots.allow(path), expected, "{path}");
    }
    assert_eq!((robots.delay, &*robots.sitemaps), (None, &["https://h/map.xml".to_owned()][..]));
    let all = Robots::parse("User-agent: *\nDisallow: /\nAllow: /$\nCrawl-delay: 2");
    assert_eq!((all.allow("/"), all.allow("/a"), all.delay), (true, false, Some(2.0)));
    assert!(Robots::parse("Disallow: /").allow("/a"), "a rule of no group");
    // A hostile pattern takes no longer than a plain one.
    let many = format!("User-agent: *\nDisallow: {}b", "*a".repeat(10_000));
    assert!(Robots::parse(&many).allow(&"a".repeat(100_000)));
}

/// Bytes as `gzip` packs them.
pub(crate) fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

#[test]
fn a_packed_list_is_that_which_is_packed_and_a_damaged_one_is_none() {
    let xml = "<urlset><url><loc>https://h/a</loc></url><url><loc>https://h/ж</loc></url></urlset>";
    for (text, is_text) in [(xml, false), ("https://h/a\nhttps://h/ж\n", true)] {
        let list = read_sitemap(&packed(text.as_bytes()), is_text).unwrap().unwrap();
        assert_eq!(
            (list.listed, &*list.addresses),
            (Listed::Pages, &["https://h/a", "https://h/ж"].map(str::to_owned)[..])
        );
    }
    // Cut off anywhere behind the first bytes, which say that it is packed, or changed in its check.
    let whole = packed(xml.as_bytes());
    for at in 2..whole.len() {
        let error = read_sitemap(&whole[..at], false).unwrap_err();
        assert!(error.contains("could not be unpacked"), "{at}: {error}");
    }
    let mut damaged = whole.clone();
    *damaged.last_mut().unwrap() ^= 1;
    assert!(read_sitemap(&damaged, false).is_err());
    assert_eq!(read_sitemap(&packed(b"<html><p>a page</html>"), false), Ok(None));
    // A bomb is told before it is unpacked whole.
    let bomb = packed(&vec![b' '; (50 << 20) + 1]);
    assert!(bomb.len() < 1 << 20);
    let error = read_sitemap(&bomb, false).unwrap_err();
    assert!(error.contains("unpacks to more than 52428800 bytes"), "{error}");
}

#[test]
fn a_list_is_told_from_a_page_and_a_damaged_one_is_no_shorter_list() {
    let pages = |text: &str| {
        read_sitemap(text.as_bytes(), false).map(|found| found.map(|list| (list.listed, list.addresses)))
    };
    let whole = "<?xml version='1.0'?><!-- x --><s:urlset xmlns:s='y'><s:url><s:loc> https://h/?a=1&amp;b=2 </s:loc><i:image><i:loc>https://h/p.png</i:loc></i:image></s:url><url><loc><![CDATA[https://h/c]]></loc></url></s:urlset>";
    let expected = vec!["https://h/?a=1&b=2".to_owned(), "https://h/c".to_owned()];
    assert_eq!(pages(whole), Ok(Some((Listed::Pages, expected))));
    for at in [whole.len() - 3, whole.len() - 12, whole.len() - 40] {
        assert!(pages(&whole[..at]).is_err(), "{}", &whole[..at]);
    }
    assert_eq!(pages("<sitemapindex/>"), Ok(Some((Listed::Sitemaps, vec![]))));
    for page in ["<!doctype html><p>a<br>b", "<html><p>x</html>", "plain", "", "{}"] {
        assert_eq!(pages(page), Ok(None), "{page}");
    }
    let lines = |text: &str| read_sitemap(text.as_bytes(), true).unwrap().map(|list| list.addresses.len());
    assert_eq!(
        (lines("https://h/a\n\nhttp://h/b\n"), lines("https://h/a\nsee there"), lines("")),
        (Some(2), None, None)
    );
}
