//! The web page as bytes: the app that the server serves, and the parts of the file that
//! `chunkwright chunk --format html` writes.
//!
//! Both are built from `web/` by `cargo xtask web`, which needs Node. Rust builds without it, but then the page is
//! missing, and callers report how to build it ([`HOW_TO_BUILD`]). The packaged crate contains the built files, so
//! `cargo install` needs no Node.

include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// How to build the page into the program.
pub const HOW_TO_BUILD: &str = "run `cargo xtask web`, which needs Node 20.19 or newer, and build again";

/// A file of the app.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File {
    /// Its content.
    pub bytes: &'static [u8],
    /// Its media type, for `Content-Type`.
    pub media_type: &'static str,
    /// Whether its name changes with its content, so that it can be cached forever.
    pub is_immutable: bool,
}

/// The parts of the file that shows chunks without a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standalone {
    /// The content of its `style` element.
    pub style: &'static str,
    /// The content of its `script` element.
    pub script: &'static str,
}

/// The file of the app at a path without its leading `/`, such as `index.html`; `None` if it does not exist or nothing
/// was built.
pub fn app(path: &str) -> Option<File> {
    let bytes = bytes("app/", path)?;
    Some(File { bytes, media_type: media_type(path), is_immutable: path.starts_with("assets/") })
}

/// The parts of the standalone file; `None` if nothing was built.
pub fn standalone() -> Option<Standalone> {
    let text = |name| std::str::from_utf8(bytes("file/", name)?).ok();
    Some(Standalone { style: text("page.css")?, script: text("page.js")? })
}

/// The content of a file of `dist`.
fn bytes(folder: &str, path: &str) -> Option<&'static [u8]> {
    let is_it = |name: &str| name.strip_prefix(folder) == Some(path);
    FILES.iter().find(|(name, _)| is_it(name)).map(|(_, bytes)| *bytes)
}

/// The media type of a file, by its extension.
fn media_type(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "json" => "application/json",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_built_is_whole() {
        assert_eq!(app("index.html").is_some(), standalone().is_some(), "both are built, or neither");
        for (name, bytes) in FILES {
            assert!(!bytes.is_empty(), "{name}");
        }
        let Some(index) = app("index.html") else { return };
        let index = String::from_utf8_lossy(index.bytes);
        let named: Vec<&str> = index
            .split('"')
            .filter_map(|part| part.strip_prefix("./"))
            .filter(|path| !path.is_empty())
            .collect();
        assert!(named.len() >= 3, "{named:?}");
        for path in named {
            assert!(app(path).is_some_and(|file| file.is_immutable), "{path}");
        }
    }

    #[test]
    fn nothing_is_at_other_paths() {
        for path in ["", "/index.html", "../file/page.js", "file/page.js", "assets/"] {
            assert_eq!(app(path), None, "{path}");
        }
    }
}
