//! Sites and repositories as sources of a collection.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::cli::{Folder, Run};

/// A site on loopback: pages of HTML and `/sitemap.xml`, which lists them. What is not there is answered with this status.
#[derive(Clone)]
struct Site {
    url: String,
    pages: Arc<Mutex<BTreeMap<String, String>>>,
    missing: Arc<Mutex<u16>>,
}

impl Site {
    fn new(pages: &[(&str, &str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let site = Self { url, pages: Arc::default(), missing: Arc::new(Mutex::new(404)) };
        for (path, text) in pages {
            site.put(path, text);
        }
        let served = site.clone();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
                let line = lines.next().unwrap_or_default();
                lines.take_while(|line| !line.is_empty()).for_each(drop);
                let path = line.split(' ').nth(1).unwrap_or_default();
                let pages = served.pages.lock().unwrap();
                let list: String =
                    pages.keys().map(|path| format!("<url><loc>{}{path}</loc></url>", served.url)).collect();
                let (status, body) = match pages.get(path) {
                    _ if path == "/sitemap.xml" => (200, format!("<urlset>{list}</urlset>")),
                    Some(text) if text.is_empty() => (403, String::new()),
                    Some(text) if text == "gone" => (410, String::new()),
                    Some(text) => (200, format!("<html><body><h1>{path}</h1><p>{text}</p></body></html>")),
                    None => (*served.missing.lock().unwrap(), String::new()),
                };
                let media = if path.ends_with("xml") { "application/xml" } else { "text/html" };
                let head = format!(
                    "HTTP/1.1 {status} Said\r\nconnection: close\r\ncontent-type: {media}\r\ncontent-length: {}\r\n\r\n",
                    body.len()
                );
                let _ = stream.write_all((head + &body).as_bytes());
            }
        });
        site
    }

    /// Changes a page; without a text it is there and may not be read.
    fn put(&self, path: &str, text: &str) {
        self.pages.lock().unwrap().insert(path.to_owned(), text.to_owned());
    }

    fn host(&self) -> String {
        self.url.trim_start_matches("http://").replace(':', "_")
    }
}

fn report(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"))
}

fn counts(run: &Run) -> [u64; 4] {
    let report = report(run);
    let pruned = report["pruned"].as_array().map_or(0, Vec::len) as u64;
    let number = |name: &str| report[name].as_u64().unwrap();
    [number("indexed"), number("unchanged"), number("embedded"), pruned]
}

#[test]
fn a_site_is_a_collection_that_a_later_run_keeps_in_step() {
    let pages = [
        ("/guide/install", "Turn the lamp."),
        ("/guide/", "All about lamps."),
        ("/api", "The lamp has a switch."),
        ("/faq", "Why?"),
    ];
    let (site, folder) = (Site::new(&pages), Folder::new(&[]));
    let address = format!("{}/sitemap.xml", site.url);
    let index = |more: &[&str]| {
        let line = ["index", &*address, "--store", "s", "--embedder", "none", "--format", "json"];
        folder.run(&[&line[..], more].concat())
    };
    let first = index(&[]);
    assert_eq!((first.code, counts(&first)[..2].to_vec()), (0, vec![4, 0]), "{first:?}");
    assert!(first.stderr.contains(&format!("`{address}`: 4 pages new or changed")), "{first:?}");
    let found = folder.run(&["search", "switch", "--store", "s", "--embedder", "none", "--format", "json"]);
    assert_eq!(report(&found)["hits"][0]["doc_id"], format!("{}/api.html", site.host()), "{found:?}");
    let chunk = &folder
        .run(&["chunks", "--store", "s", "--filter", "doc_id~**/api.html", "--format", "jsonl"])
        .lines()[0];
    assert_eq!(chunk["meta"]["url"], format!("{}/api", site.url), "{chunk}");

    let same = index(&[]);
    assert_eq!((same.code, counts(&same)[0], counts(&same)[1]), (0, 0, 4), "{same:?}");
    site.put("/api", "The lamp has two switches.");
    site.pages.lock().unwrap().remove("/faq");
    site.put("/guide/", "gone");
    let changed = index(&[]);
    assert_eq!((changed.code, counts(&changed)), (0, [1, 1, 0, 2]), "{changed:?}");
    assert!(changed.stderr.contains("1 page new or changed, 1 page unchanged, 2 pages gone"), "{changed:?}");

    // A page that fails stays, also if its mirror is lost: nothing is taken for gone that was not seen.
    site.put("/api", "");
    let failed = index(&[]);
    assert_eq!(counts(&failed), [0, 2, 0, 0], "{failed:?}");
    assert!(failed.stderr.contains("1 page could not be fetched and stays as before"), "{failed:?}");
    std::fs::remove_dir_all(folder.home().join(".local/share/chunkwright/mirrors")).unwrap();
    let lost = index(&[]);
    assert_eq!(counts(&lost)[3], 0, "{lost:?}");
    let listed = folder.run(&["chunks", "--store", "s", "--format", "jsonl"]).lines();
    assert_eq!(listed.len(), 2);
    // A server that fails altogether changes nothing.
    *site.missing.lock().unwrap() = 500;
    let down = index(&[]);
    assert_eq!((down.code, down.stdout.as_str()), (2, ""), "{down:?}");
    assert_eq!(folder.run(&["chunks", "--store", "s", "--format", "jsonl"]).lines().len(), 2);
}

#[test]
fn a_file_of_addresses_is_a_list_only_if_it_is_given_as_one() {
    let site = Site::new(&[("/a", "The lamp has a switch."), ("/b", "All about lamps.")]);
    let list = format!("# lamps\n{0}/a\n{0}/b\n", site.url);
    let folder = Folder::new(&[("pages.txt", &list), ("notes/c.md", "# C\n\nA note.\n")]);
    let index = |more: &[&str]| {
        folder.run(&[&["index", "--store", "s", "--embedder", "none", "--format", "json"], more].concat())
    };
    let refused = index(&["--urls", "pages.txt"]);
    assert!(refused.code == 2 && refused.stderr.contains("private address"), "{refused:?}");
    let listed = index(&["--urls", "pages.txt", "--allow-private", "notes"]);
    assert_eq!((listed.code, counts(&listed)[0]), (0, 3), "{listed:?}");
    assert!(listed.stderr.contains("pages.txt`: 2 pages new or changed"), "{listed:?}");
    let chunks = folder.run(&["chunks", "--store", "s", "--format", "jsonl"]).lines();
    let mut names: Vec<&str> = chunks.iter().map(|chunk| chunk["doc_id"].as_str().unwrap()).collect();
    names.sort_unstable();
    let [a, b] = ["a", "b"].map(|page| format!("{}/{page}.html", site.host()));
    assert_eq!(names, [&*a, &*b, "c.md"]);
    // Without a page of the list its document goes; the other folder is not looked at.
    folder.write("pages.txt", format!("{}/b\n", site.url).as_bytes());
    let shorter = index(&["--urls", "pages.txt", "--allow-private"]);
    assert_eq!((shorter.code, counts(&shorter)), (0, [0, 1, 0, 1]), "{shorter:?}");
    // As a path it is a document.
    let document = index(&["pages.txt", "--collection", "other"]);
    assert_eq!((document.code, counts(&document)[0]), (0, 1), "{document:?}");
    let wrong = index(&["--urls", "notes/c.md"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("line 3 of `notes/c.md`"), "{wrong:?}");
    let watched = index(&["--urls", "pages.txt", "--watch"]);
    assert!(watched.code == 2 && watched.stderr.contains("cannot be used with"), "{watched:?}");
}

#[test]
fn addresses_that_cannot_be_used_are_answered_with_what_can() {
    let folder = Folder::new(&[("a.md", "# A\n")]);
    let index = |address: &str| folder.run(&["index", address, "--store", "s", "--embedder", "none"]);
    for (address, expected) in [
        ("git+file:///tmp/x", "only `https://`, `http://`, `git+https://` and `git+http://` are fetched"),
        ("git+https://host.test/o/r@--exec=x", "after `@` stands a branch, tag or commit"),
        ("https://me:word@host.test/", "it holds a user or a password"),
        ("http://127.0.0.1:9/sitemap.xml", "cannot be reached"),
    ] {
        let run = index(address);
        assert!(run.code == 2 && run.stderr.contains(expected) && !run.stderr.contains("word@"), "{run:?}");
    }
    let watched =
        folder.run(&["index", "--watch", "https://host.test/", "--store", "s", "--embedder", "none"]);
    assert!(watched.code == 2 && watched.stderr.contains("has no events to watch"), "{watched:?}");
    let twice = index("git+http://127.0.0.1:9/r");
    assert!(twice.stderr.contains("`git` could not fetch"), "{twice:?}");
    let chunked = folder.run(&["chunk", "https://host.test/a"]);
    assert!(chunked.stderr.contains("is an address: `chunkwright index` fetches"), "{chunked:?}");
}

#[test]
fn a_store_with_the_name_of_a_database_is_said_to_be_a_folder() {
    let folder = Folder::new(&[("docs/a.md", "# A\n\nlamp\n")]);
    let index = || folder.run(&["index", "docs", "--store", "lancedb", "--embedder", "none"]);
    let first = index();
    assert!(first.stderr.contains("the store is made in a folder named `lancedb`"), "{first:?}");
    assert!(!index().success().is_empty());
}
