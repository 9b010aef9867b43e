//! The web page: which requests get it, its headers, and which paths are not the page.

use chunkwright_engine::web::HOW_TO_BUILD;

use crate::client::{ask, get};
use crate::served::{Served, keys};

const VISIT: &str = "Accept: text/html,application/xhtml+xml,*/*;q=0.8";

/// Whether the program under test has the page.
fn is_built() -> bool {
    chunkwright_engine::web::app("index.html").is_some()
}

#[test]
fn a_browser_gets_the_page_at_each_of_its_places_without_a_key() {
    let (admission, _) = keys();
    let served = Served::new(|options| options.admission = admission);
    for path in ["/", "/c/handbook", "/c/handbook/d/notes%2Ftoday.md?line=3", "/search?q=pears", "/anything"]
    {
        let page = get(served.address, path, &[VISIT]);
        if is_built() {
            assert_eq!(
                (page.status, page.header("content-type")),
                (200, Some("text/html; charset=utf-8")),
                "{path}"
            );
            assert_eq!(page.header("cache-control"), Some("no-cache"));
            let policy = page.header("content-security-policy").unwrap();
            assert!(policy.contains("default-src 'none'; script-src 'self'; style-src 'self'"), "{policy}");
            assert!(!page.text().contains("<script>") && !page.text().contains("style="), "{}", page.text());
        } else {
            assert_eq!((page.status, page.header("content-type")), (404, Some("text/plain; charset=utf-8")));
            assert!(page.text().contains(HOW_TO_BUILD), "{}", page.text());
        }
    }
}

#[test]
fn what_is_no_place_of_the_page_is_answered_as_before() {
    let (admission, [reader, ..]) = keys();
    let served = Served::new(|options| options.admission = admission);
    for path in ["/api/v1/collections", "/api", "/metrics", "/mcp", "/compat"] {
        let answer = get(served.address, path, &[VISIT]);
        assert_eq!((answer.status, &*answer.code()), (401, "unauthorized"), "{path}");
    }
    assert_eq!(get(served.address, "/health", &[VISIT]).header("content-type"), Some("application/json"));
    // A program does not take the page for an answer.
    for accept in ["Accept: application/json", "Accept: */*"] {
        assert_eq!(get(served.address, "/c/handbook", &[accept]).status, 401);
        assert_eq!(get(served.address, "/c/handbook", &[accept, &reader]).code(), "no_such_path");
    }
    assert_eq!(ask(served.address, "POST", "/c/handbook", &[VISIT, &reader], "").status, 404);
    for path in ["/assets/nothing.js", "/assets/../index.html", "/assets/%2e%2e/index.html"] {
        assert_eq!(get(served.address, path, &[VISIT]).status, 404, "{path}");
    }
}

#[test]
fn parts_of_the_page_are_kept_for_good() {
    if !is_built() {
        return;
    }
    let served = Served::new(|_| {});
    let page = get(served.address, "/", &[]).text();
    let script = page.split('"').find(|part| part.starts_with("./assets/") && part.contains(".js")).unwrap();
    let script = script.trim_start_matches('.');
    let answer = get(served.address, script, &[]);
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/javascript; charset=utf-8")));
    assert_eq!(answer.header("cache-control"), Some("public, max-age=31536000, immutable"));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(
        get(served.address, script, &["Accept-Encoding: gzip"]).header("content-encoding"),
        Some("gzip")
    );
}
