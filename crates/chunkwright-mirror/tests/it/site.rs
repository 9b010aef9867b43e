//! Mirrors of sites.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chunkwright_mirror::{Address, Limits, MirrorError, Mirrored, Mirrors};
use tempfile::TempDir;

use crate::parts::packed;
use crate::server::{At, Server};

fn bring(folder: &Path, url: &str) -> Result<Mirrored, MirrorError> {
    bring_within(folder, url, Limits::default())
}

fn bring_within(folder: &Path, url: &str, limits: Limits) -> Result<Mirrored, MirrorError> {
    Mirrors::new(folder, limits).bring(&Address::parse(url)?, &|_, _| {})
}

/// The files of a mirror below their host, in order.
pub(crate) fn files(mirrored: &Mirrored, server: &Server) -> Vec<String> {
    let root = mirrored.folder.join(server.host());
    let (mut files, mut folders) = (Vec::new(), vec![root.clone()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    let mut files: Vec<String> =
        files.iter().map(|file| file.strip_prefix(&root).unwrap().to_str().unwrap().to_owned()).collect();
    files.sort();
    files
}

/// Three pages and their sitemap, mirrored.
fn site() -> (Server, TempDir, Mirrored) {
    let (server, folder) = (Server::new(), tempfile::tempdir().unwrap());
    server.html("/guide/", "Guide");
    server.html("/guide/install", "Install");
    server.html("/api.html", "API");
    server.sitemap("/sitemap.xml", &["/guide/", "/guide/install", "/api.html"]);
    let mirrored = bring(folder.path(), &server.url("/sitemap.xml")).unwrap();
    server.asked();
    (server, folder, mirrored)
}

#[test]
fn a_later_run_gets_what_changed_and_removes_what_is_gone() {
    let (server, folder, first) = site();
    assert_eq!((first.report.changed, first.report.unchanged, first.report.missing), (3, 0, 0));
    assert_eq!(files(&first, &server), ["api.html", "guide/index.html", "guide/install.html"]);
    let place = first.folder.join(server.host()).join("guide/install.html");
    let url = first.meta.iter().find(|(path, _)| *path == place).map(|(_, meta)| meta["url"].clone());
    assert_eq!(url, Some(server.url("/guide/install")));
    let before = fs::metadata(&place).unwrap().modified().unwrap();
    drop(first);

    server.html("/api.html", "API, second edition");
    server.put("/guide/", At::Status(410, vec![]));
    let second = bring(folder.path(), &server.url("/sitemap.xml")).unwrap();
    let report = &second.report;
    assert_eq!((report.changed, report.unchanged, report.removed), (1, 1, 1));
    assert_eq!(report.missing, 0, "what is gone is not missing, though it is listed");
    assert_eq!(files(&second, &server), ["api.html", "guide/install.html"]);
    let pages: Vec<_> = server.asked().into_iter().filter(|(path, _)| path != "/sitemap.xml").collect();
    let expected = [("/api.html", 200), ("/guide/", 410), ("/guide/install", 304), ("/robots.txt", 404)];
    assert_eq!(pages, expected.map(|(path, status)| (path.to_owned(), status)));
    assert_eq!(fs::metadata(&place).unwrap().modified().unwrap(), before, "an unchanged file is not written");
    drop(second);

    server.sitemap("/sitemap.xml", &["/api.html"]);
    let third = bring(folder.path(), &server.url("/sitemap.xml")).unwrap();
    assert_eq!((files(&third, &server), third.report.removed), (vec!["api.html".to_owned()], 1));
}

#[test]
fn no_failure_removes_a_page() {
    let (server, folder, first) = site();
    let all = files(&first, &server);
    drop(first);
    // A page that fails keeps its last version.
    server.put("/api.html", At::Status(403, vec![]));
    server.put("/guide/", At::Drop);
    let second = bring(folder.path(), &server.url("/sitemap.xml")).unwrap();
    assert_eq!((files(&second, &server), second.report.missing), (all.clone(), 0));
    let mut failed: Vec<String> = second.report.failed.iter().map(ToString::to_string).collect();
    failed.sort();
    assert_eq!(failed[0], format!("`{}` answered 403", server.url("/api.html")));
    assert!(failed[1].contains("cannot be reached"), "{failed:?}");
    drop(second);
    // So does everything if the list cannot be read, is cut off, or is empty, and if the rules are not known.
    let whole = format!("<urlset><url><loc>{}</loc></url>", server.url("/guide/"));
    let other = "<urlset><url><loc>https://elsewhere.test/</loc></url></urlset>";
    let cases: [(&str, At, &str); 5] = [
        ("/sitemap.xml", At::Status(500, vec![]), "answered 500"),
        ("/sitemap.xml", At::Status(404, vec![]), "answered 404"),
        ("/sitemap.xml", At::Page("application/xml", whole), "is damaged"),
        ("/sitemap.xml", At::Page("application/xml", other.into()), "lists no page"),
        ("/robots.txt", At::Status(501, vec![]), "answered 501"),
    ];
    for (path, at, expected) in cases {
        server.put(path, at);
        let error = bring(folder.path(), &server.url("/sitemap.xml")).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    server.put("/robots.txt", At::Status(404, vec![]));
    server.sitemap("/sitemap.xml", &["/guide/", "/guide/install", "/api.html"]);
    let last = bring(folder.path(), &server.url("/sitemap.xml")).unwrap();
    assert_eq!(files(&last, &server), all);
    drop(last);
    // A version that is lost here, and cannot be fetched, is missing and not gone.
    fs::remove_dir_all(folder.path()).unwrap();
    let fresh = bring(folder.path(), &server.url("/sitemap.xml")).unwrap();
    assert_eq!((fresh.report.changed, fresh.report.missing, fresh.report.removed), (1, 2, 0));
}

#[test]
fn what_robots_txt_excludes_is_not_asked_for() {
    let (server, folder) = (Server::new(), tempfile::tempdir().unwrap());
    server.page(
        "/robots.txt",
        "text/plain",
        "User-agent: *\nDisallow: /private/\nDisallow: /*.php$\nAllow: /private/open",
    );
    for path in ["/a", "/private/x", "/private/open", "/b.php"] {
        server.html(path, path);
    }
    server.put("/moved", At::Status(302, vec!["location: /private/x".into()]));
    server.sitemap("/map.xml", &["/a", "/private/x", "/private/open", "/b.php", "/moved"]);
    let mirrored = bring(folder.path(), &server.url("/map.xml")).unwrap();
    assert_eq!(files(&mirrored, &server), ["a.html", "private/open.html"]);
    assert_eq!(mirrored.report.excluded, 2);
    assert!(mirrored.report.failed[0].to_string().contains("robots.txt"));
    let asked: Vec<String> = server.asked().into_iter().map(|(path, _)| path).collect();
    assert_eq!(asked, ["/a", "/map.xml", "/moved", "/private/open", "/robots.txt"]);
    drop(mirrored);
    let error = bring(folder.path(), &server.url("/private/x")).unwrap_err();
    assert!(error.to_string().contains("robots.txt"), "{error}");
}

#[test]
fn only_the_host_that_was_named_is_asked_and_redirects_end() {
    let (server, other, folder) = (Server::new(), Server::new(), tempfile::tempdir().unwrap());
    server.html("/a", "A");
    other.html("/b", "B");
    server.put("/here", At::Status(301, vec!["location: /a".into()]));
    server.put("/there", At::Status(301, vec![format!("location: {}", other.url("/b"))]));
    server.put("/file", At::Status(301, vec!["location: file:///etc/passwd".into()]));
    server.put("/circle", At::Status(307, vec!["location: /circle".into()]));
    let pages = ["/here", "/there", "/file", "/circle"]
        .map(|path| format!("<url><loc>{}</loc></url>", server.url(path)));
    let foreign = format!(
        "<url><loc>{}</loc></url><url><loc>http://user:word@{}/a</loc></url>",
        other.url("/b"),
        server.host().replace('_', ":")
    );
    server.page("/map.xml", "application/xml", &format!("<urlset>{}{foreign}</urlset>", pages.concat()));
    let mirrored = bring(folder.path(), &server.url("/map.xml")).unwrap();
    assert_eq!(files(&mirrored, &server), ["here.html"]);
    assert_eq!(mirrored.report.elsewhere, 2);
    let mut failed: Vec<String> = mirrored.report.failed.iter().map(ToString::to_string).collect();
    failed.sort();
    assert!(failed[0].contains("/circle` redirects more than 5 times"), "{failed:?}");
    assert!(failed[1].contains("/file` redirects to `file:///etc/passwd`"), "{failed:?}");
    assert!(failed[2].contains("/there` redirects to `http://127.0.0.1"), "{failed:?}");
    assert!(other.asked().is_empty());
}

#[test]
fn an_index_of_sitemaps_a_list_and_a_page_are_read() {
    let (server, folder) = (Server::new(), tempfile::tempdir().unwrap());
    for path in ["/a", "/b?x=1&y=2", "/notes.md", "/c"] {
        server.html(path, path);
    }
    server.page("/notes.md", "text/markdown", "# Notes\n");
    let one = format!("<urlset><url><loc>{}</loc></url></urlset>", server.url("/b?x=1&amp;y=2"));
    server.page("/one.xml", "application/xml", &one);
    server.sitemap("/two.xml", &["/a", "/notes.md"]);
    let index =
        ["/one.xml", "/two.xml"].map(|path| format!("<sitemap><loc>{}</loc></sitemap>", server.url(path)));
    server.page("/index.xml", "application/xml", &format!("<sitemapindex>{}</sitemapindex>", index.concat()));
    let mirrored = bring(folder.path(), &server.url("/index.xml")).unwrap();
    assert_eq!(files(&mirrored, &server), ["a.html", "b@x=1&y=2.html", "notes.md"]);
    let text = fs::read_to_string(mirrored.folder.join(server.host()).join("notes.md")).unwrap();
    assert_eq!(text, "# Notes\n");
    drop(mirrored);

    server.page("/pages.txt", "text/plain", &format!("{}\n{}\n", server.url("/a"), server.url("/c")));
    let mirrored = bring(folder.path(), &server.url("/pages.txt")).unwrap();
    assert_eq!(files(&mirrored, &server), ["a.html", "c.html"]);
    drop(mirrored);

    server.page("/robots.txt", "text/plain", &format!("Sitemap: {}", server.url("/index.xml")));
    let mirrored = bring(folder.path(), &server.url("/c")).unwrap();
    assert_eq!(files(&mirrored, &server), ["c.html"]);
    assert_eq!(mirrored.report.sitemap, Some(server.url("/index.xml")));
    drop(mirrored);
    server.asked();
    let again = bring(folder.path(), &server.url("/c")).unwrap();
    assert_eq!((again.report.unchanged, again.report.changed), (1, 0));
    assert_eq!(server.asked(), [("/c".to_owned(), 304), ("/robots.txt".to_owned(), 200)]);
}

#[test]
fn a_packed_sitemap_is_read_and_a_damaged_one_changes_nothing() {
    let (server, folder, first) = site();
    drop(first);
    let list = |pages: &[&str]| {
        let pages: String =
            pages.iter().map(|page| format!("<url><loc>{}</loc></url>", server.url(page))).collect();
        packed(format!("<urlset>{pages}</urlset>").as_bytes())
    };
    server.put("/sitemap.xml.gz", At::Bytes("application/gzip", list(&["/guide/", "/api.html"])));
    let address = server.url("/sitemap.xml.gz");
    let mirrored = bring(folder.path(), &address).unwrap();
    assert_eq!(files(&mirrored, &server), ["api.html", "guide/index.html"]);
    drop(mirrored);
    let mut short = list(&["/guide/"]);
    short.truncate(short.len() - 9);
    server.put("/sitemap.xml.gz", At::Bytes("application/gzip", short));
    let error = bring(folder.path(), &address).unwrap_err().to_string();
    assert!(error.contains("could not be unpacked") && error.ends_with("nothing was removed"), "{error}");
    server.put("/sitemap.xml.gz", At::Bytes("application/gzip", list(&["/api.html"])));
    let mirrored = bring(folder.path(), &address).unwrap();
    assert_eq!((files(&mirrored, &server), mirrored.report.removed), (vec!["api.html".to_owned()], 1));
}

#[test]
fn limits_leave_pages_for_the_next_run_and_remove_none() {
    let (server, folder, first) = site();
    let all = files(&first, &server);
    drop(first);
    let few = Limits { pages: 1, ..Limits::default() };
    let second = bring_within(folder.path(), &server.url("/sitemap.xml"), few).unwrap();
    assert_eq!((files(&second, &server), second.report.left), (all, Some((2, "the limit of pages"))));
    drop(second);

    // A run that ends early begins the next time with what is missing.
    let fresh = tempfile::tempdir().unwrap();
    let little = Limits { bytes: 1, ..Limits::default() };
    let third = bring_within(fresh.path(), &server.url("/sitemap.xml"), little).unwrap();
    let fetched = files(&third, &server).len();
    assert!((1..=3).contains(&fetched) && third.report.missing == 3 - fetched, "{:?}", third.report);
    drop(third);
    server.asked();
    let fourth = bring(fresh.path(), &server.url("/sitemap.xml")).unwrap();
    assert_eq!((fourth.report.changed, fourth.report.unchanged), (3 - fetched, fetched));

    let small = Limits { page_bytes: 10, ..Limits::default() };
    drop(fourth);
    let fifth =
        bring_within(tempfile::tempdir().unwrap().path(), &server.url("/sitemap.xml"), small).unwrap();
    assert_eq!((fifth.report.failed.len(), fifth.report.missing), (3, 3));
}

#[test]
fn a_cancelled_run_keeps_what_it_fetched() {
    let (server, folder) = (Server::new(), tempfile::tempdir().unwrap());
    let paths: Vec<String> = (0..40).map(|number| format!("/page{number}")).collect();
    for path in &paths {
        server.html(path, path);
    }
    server.sitemap("/map.xml", &paths.iter().map(String::as_str).collect::<Vec<_>>());
    let address = Address::parse(&server.url("/map.xml")).unwrap();
    let cancel = Arc::new(AtomicBool::new(false));
    let mirrors = Mirrors::new(folder.path(), Limits::default()).with_cancel(Arc::clone(&cancel));
    let error = mirrors.bring(&address, &|done, _| cancel.store(done >= 10, Ordering::SeqCst)).unwrap_err();
    assert!(matches!(error, MirrorError::Cancelled), "{error}");
    let next = bring(folder.path(), &server.url("/map.xml")).unwrap();
    assert!(
        next.report.unchanged >= 10 && next.report.changed + next.report.unchanged == 40,
        "{:?}",
        next.report
    );
}

#[test]
fn a_host_at_a_private_address_is_refused_unless_it_was_named_or_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let mirrors = Mirrors::new(folder.path(), Limits::default());
    for address in ["http://127.0.0.1:9/", "http://localhost:9/", "http://[::1]:9/"] {
        let error = mirrors.bring(&Address::parse(address).unwrap(), &|_, _| {}).unwrap_err().to_string();
        assert!(error.contains("cannot be reached"), "{error}");
    }
    let places = ["https://Docs.example.com/a/", "https://docs.example.com/b/"].map(|address| {
        let place = mirrors.place(&Address::parse(address).unwrap());
        place.strip_prefix(folder.path()).unwrap().to_str().unwrap().to_owned()
    });
    assert!(
        places.iter().all(|place| place.starts_with("docs.example.com-")) && places[0] != places[1],
        "{places:?}"
    );
}
