//! Lists of pages by the sitemaps protocol: XML, packed or not, and lines of addresses.

use std::io::Read as _;

use flate2::read::GzDecoder;
use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::Event;

/// Most bytes of a sitemap, unpacked: the limit of the protocol.
pub(crate) const MAX_BYTES: u64 = 50 << 20;

/// What a sitemap lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sitemap {
    /// Of what kind the addresses are.
    pub listed: Listed,
    /// The addresses, in order, not checked.
    pub addresses: Vec<String>,
}

/// What the addresses of a sitemap are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    /// Pages.
    Pages,
    /// Other sitemaps.
    Sitemaps,
}

/// Reads a sitemap; `None` if the bytes are something else, such as a page. `is_text` says that the server calls them
/// plain text, in which a list has one address a line.
///
/// # Errors
///
/// A sitemap that is cut off or not well-formed: it must not be taken for a shorter one.
pub fn read_sitemap(bytes: &[u8], is_text: bool) -> Result<Option<Sitemap>, String> {
    let mut unpacked = Vec::new();
    let bytes = if bytes.starts_with(&[0x1f, 0x8b]) {
        let read = GzDecoder::new(bytes).take(MAX_BYTES + 1).read_to_end(&mut unpacked);
        read.map_err(|error| format!("it could not be unpacked ({error})"))?;
        if unpacked.len() as u64 > MAX_BYTES {
            return Err(format!("it unpacks to more than {MAX_BYTES} bytes"));
        }
        &unpacked
    } else {
        bytes
    };
    let Ok(text) = str::from_utf8(bytes) else { return Ok(None) };
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if is_text {
        return Ok(lines(text));
    }
    xml(text)
}

/// A list of one address a line.
fn lines(text: &str) -> Option<Sitemap> {
    let addresses: Vec<String> =
        text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect();
    let is_list = !addresses.is_empty()
        && addresses.iter().all(|line| line.starts_with("http://") || line.starts_with("https://"));
    is_list.then_some(Sitemap { listed: Listed::Pages, addresses })
}

/// A sitemap without addresses, by the name of its first element; `None` if that is of something else.
fn empty(element: &str) -> Option<Sitemap> {
    let listed = match element {
        "urlset" => Listed::Pages,
        "sitemapindex" => Listed::Sitemaps,
        _ => return None,
    };
    Some(Sitemap { listed, addresses: Vec::new() })
}

fn xml(text: &str) -> Result<Option<Sitemap>, String> {
    if !text.starts_with('<') {
        return Ok(None);
    }
    let mut reader = Reader::from_str(text);
    let (mut found, mut depth, mut location) = (None::<Sitemap>, 0_usize, None::<String>);
    loop {
        let event = match reader.read_event() {
            Ok(event) => event,
            // Pages of HTML are seldom well-formed.
            Err(error) => return found.map_or(Ok(None), |_| Err(error.to_string())),
        };
        match event {
            Event::Empty(element) if found.is_none() => return Ok(empty(element.local_name().as_ref())),
            Event::Start(element) if found.is_none() => {
                found = empty(element.local_name().as_ref());
                if found.is_none() {
                    return Ok(None);
                }
                depth = 1;
            }
            Event::Start(element) => {
                depth += 1;
                // Extensions have a `loc` of their own, of pictures, further down.
                let is_location = depth == 3 && element.local_name().as_ref() == "loc";
                location = is_location.then(String::new);
            }
            Event::End(_) => {
                depth = depth.saturating_sub(1);
                if let (Some(location), Some(sitemap)) = (location.take(), &mut found) {
                    sitemap.addresses.push(location.trim().to_owned());
                }
            }
            Event::Text(part) => location = location.map(|text| text + &part),
            Event::CData(part) => location = location.map(|text| text + &part),
            Event::GeneralRef(name) => {
                let c = name.resolve_char_ref().ok().flatten().map(String::from);
                let entity = || resolve_predefined_entity(&name).map(str::to_owned);
                let resolved = c.or_else(entity).unwrap_or_default();
                location = location.map(|text| text + &resolved);
            }
            Event::Eof if depth > 0 => return Err("it ends before its last element".to_owned()),
            Event::Eof => return Ok(found),
            _ => {}
        }
    }
}
