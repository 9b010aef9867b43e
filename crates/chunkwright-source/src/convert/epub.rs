//! EPUB: an archive of XHTML pages in the order of its spine.
//!
//! The book's title is the first heading and chapters stand under it. A chapter without a heading has the title that
//! the table of contents gives it; the table itself is left out.

use std::collections::HashMap;

use chunkwright::{PositionUnit, Positions};
use quick_xml::events::Event;

use super::archive::{Archive, add_text, attribute, events, is_archive, replaced, resolved};
use super::{ConvertError, Converted, Converter, MAX_TEXT_SIZE, markdown};

/// EPUB; positions are chapters, the files of the spine.
pub(crate) struct Epub;

const CONTAINER: &str = "META-INF/container.xml";

/// Ways to obfuscate fonts, which make no text unreadable.
const FONTS: &[&str] = &["http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"];

impl Converter for Epub {
    fn name(&self) -> &'static str {
        "epub"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["epub"]
    }

    fn recognizes(&self, extension: &str, bytes: &[u8]) -> bool {
        // The first file of the archive says it; its name is 8 bytes long.
        let declared = bytes.get(30..58) == Some(b"mimetypeapplication/epub+zip");
        is_archive(bytes) && (declared || extension == "epub")
    }

    fn convert(&self, bytes: &[u8]) -> Result<Converted, ConvertError> {
        let damaged = |problem: &str| ConvertError::Damaged { format: "epub", problem: problem.into() };
        let mut archive = Archive::checked(self.name(), bytes)?;
        let container =
            archive.text(CONTAINER).ok_or_else(|| damaged("it has no `META-INF/container.xml`"))?;
        let path = package_path(&container).ok_or_else(|| damaged("its container names no package"))?;
        let package = archive.text(&path).ok_or_else(|| damaged("its package file is missing"))?;
        let package = Package::of(&package, &path);
        let encrypted =
            archive.text("META-INF/encryption.xml").map(|text| encrypted(&text)).unwrap_or_default();
        if package.spine.iter().any(|page| encrypted.contains(page)) {
            return Err(ConvertError::Encrypted);
        }
        let mut labels = HashMap::new();
        for contents in &package.contents {
            if let Some(xml) = archive.text(contents) {
                add_labels(&mut labels, &xml, contents);
            }
        }
        let mut text = String::new();
        let mut positions = Positions::new(PositionUnit::Chapter);
        if !package.title.is_empty() {
            markdown::heading(&mut text, 1, &package.title);
            text.push_str("\n\n");
            markdown::block(&mut text, &package.authors.join(", "));
        }
        for (index, page) in package.spine.iter().enumerate() {
            let Some(source) = archive.text(page).filter(|_| !package.contents.contains(page)) else {
                continue;
            };
            let chapter = markdown::of_html(&as_html(&source));
            if !markdown::is_visible(&chapter) {
                continue;
            }
            // The first chapter begins with the book's title.
            let start = if positions.is_empty() { 0 } else { text.len() };
            positions.push(start, index as u32 + 1);
            let has_heading = chapter.lines().any(|line| line.starts_with('#'));
            if let Some(label) = labels.get(page).filter(|_| !has_heading) {
                markdown::heading(&mut text, 2, label);
                text.push_str("\n\n");
            }
            markdown::block(&mut text, &markdown::below(u8::from(!package.title.is_empty()), &chapter));
            if text.len() > MAX_TEXT_SIZE {
                break;
            }
        }
        if positions.is_empty() {
            return Err(ConvertError::NoText);
        }
        Ok(Converted::new(text, positions))
    }
}

fn package_path(container: &str) -> Option<String> {
    let mut path = None;
    events(container, |event, _| {
        if let Event::Start(element) | Event::Empty(element) = event
            && element.local_name().as_ref() == "rootfile"
            && path.is_none()
        {
            path = attribute(&element, "full-path");
        }
    });
    path
}

/// What the package file says of a book. Paths are those of the archive.
#[derive(Default)]
struct Package {
    title: String,
    authors: Vec<String>,
    spine: Vec<String>,
    /// Tables of contents.
    contents: Vec<String>,
}

impl Package {
    fn of(xml: &str, path: &str) -> Self {
        let mut package = Self::default();
        let mut files = HashMap::new();
        let mut open = None;
        let mut value = String::new();
        events(xml, |event, _| match &event {
            Event::Start(element) | Event::Empty(element) => {
                let get = |name| attribute(element, name).unwrap_or_default();
                match element.local_name().as_ref() {
                    "item" => {
                        let file = resolved(path, &get("href"));
                        let kind = get("media-type");
                        if get("properties").split(' ').any(|property| property == "nav")
                            || kind.contains("dtbncx")
                        {
                            package.contents.push(file.clone());
                        }
                        files.insert(get("id"), file);
                    }
                    "itemref" => package.spine.extend(files.get(&get("idref")).cloned()),
                    "title" => open = Some(true),
                    "creator" => open = Some(false),
                    _ => {}
                }
                value.clear();
            }
            Event::End(_) => {
                let line: Vec<_> = value.split_whitespace().collect();
                match open.take() {
                    // A book may have a subtitle as a second title.
                    Some(true) if package.title.is_empty() => package.title = line.join(" "),
                    Some(false) if !line.is_empty() => package.authors.push(line.join(" ")),
                    _ => {}
                }
            }
            event => add_text(&mut value, event),
        });
        package
    }
}

/// The pages that are encrypted.
fn encrypted(xml: &str) -> Vec<String> {
    let (mut pages, mut fonts) = (Vec::new(), false);
    events(xml, |event, _| {
        if let Event::Start(element) | Event::Empty(element) = event {
            match element.local_name().as_ref() {
                "EncryptedData" => fonts = false,
                "EncryptionMethod" => {
                    fonts = attribute(&element, "Algorithm").is_some_and(|name| FONTS.contains(&&*name));
                }
                "CipherReference" if !fonts => {
                    pages.extend(attribute(&element, "URI").map(|path| resolved("", &path)));
                }
                _ => {}
            }
        }
    });
    pages
}

/// Adds the titles of pages by a table of contents: `<a href>` of a page, `navPoint` of an NCX.
fn add_labels(labels: &mut HashMap<String, String>, xml: &str, path: &str) {
    let (mut label, mut target) = (String::new(), None);
    let mut add = |target: String, label: &str| {
        let words: Vec<_> = label.split_whitespace().collect();
        if !words.is_empty() {
            labels.entry(resolved(path, &target)).or_insert_with(|| words.join(" "));
        }
    };
    events(xml, |event, _| match &event {
        Event::Start(element) | Event::Empty(element) => match element.local_name().as_ref() {
            "a" => {
                target = attribute(element, "href");
                label.clear();
            }
            "navLabel" => label.clear(),
            "content" => {
                if let Some(target) = attribute(element, "src") {
                    add(target, &label);
                }
            }
            _ => {}
        },
        Event::End(element) if element.local_name().as_ref() == "a" => {
            if let Some(target) = target.take() {
                add(target, &label);
            }
        }
        event => add_text(&mut label, event),
    });
}

/// Elements that XHTML may leave empty and HTML reads up to their end.
const EMPTY: &[&str] =
    &["script", "style", "textarea", "iframe", "noscript", "a", "p", "div", "span", "i", "b"];

/// XHTML as HTML, without the title of the page, which as a rule is that of the book.
fn as_html(xhtml: &str) -> String {
    let (mut edits, mut title) = (Vec::new(), None);
    events(xhtml, |event, span| match event {
        Event::Empty(element) => {
            let name = element.local_name();
            if name.as_ref() == "title" {
                edits.push((span, String::new()));
            } else if EMPTY.contains(&name.as_ref()) {
                edits.push((span.end - 2..span.end, format!("></{}>", name.as_ref())));
            }
        }
        Event::Start(element) if element.local_name().as_ref() == "title" => title = Some(span.start),
        Event::End(element) if element.local_name().as_ref() == "title" => {
            edits.extend(title.take().map(|start| (start..span.end, String::new())));
        }
        _ => {}
    });
    replaced(xhtml, edits)
}
