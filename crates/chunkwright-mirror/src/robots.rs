//! What a host asks programs not to read (RFC 9309).

/// The name by which `robots.txt` knows this program.
pub const AGENT: &str = "chunkwright";

/// Most bytes of `robots.txt` that count, as the standard asks for at least.
const MAX_BYTES: usize = 500 << 10;

/// The rules of a host for this program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Robots {
    rules: Vec<Rule>,
    /// Seconds to wait between two requests, if the host asks for that.
    pub delay: Option<f64>,
    /// Addresses of sitemaps.
    pub sitemaps: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
struct Rule {
    allows: bool,
    /// A path with `*` for anything, and `$` at its end for the end.
    pattern: String,
}

impl Robots {
    /// Reads the rules of the groups that name this program; without any, those for all programs.
    pub fn parse(text: &str) -> Self {
        let mut end = text.len().min(MAX_BYTES);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let (mut own, mut others, mut sitemaps) = (None, Self::default(), Vec::new());
        // Whether the group is of this program, and of all.
        let (mut is_own, mut is_of_all, mut begins) = (false, false, true);
        for line in text[..end].trim_start_matches('\u{feff}').lines() {
            let line = line.split('#').next().unwrap_or_default();
            let Some((name, value)) = line.split_once(':') else { continue };
            let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
            match &*name {
                "sitemap" => sitemaps.push(value.to_owned()),
                "user-agent" => {
                    if !begins {
                        (is_own, is_of_all) = (false, false);
                    }
                    begins = true;
                    is_own |= value.eq_ignore_ascii_case(AGENT);
                    is_of_all |= value == "*";
                    if is_own {
                        own.get_or_insert_with(Self::default);
                    }
                }
                "allow" | "disallow" | "crawl-delay" => {
                    begins = false;
                    let groups = [own.as_mut().filter(|_| is_own), Some(&mut others).filter(|_| is_of_all)];
                    for group in groups.into_iter().flatten() {
                        group.add(&name, value);
                    }
                }
                _ => {}
            }
        }
        Self { sitemaps, ..own.unwrap_or(others) }
    }

    fn add(&mut self, name: &str, value: &str) {
        match name {
            "crawl-delay" => self.delay = value.parse().ok().filter(|seconds: &f64| *seconds > 0.0),
            _ if value.is_empty() => {}
            _ => self.rules.push(Rule { allows: name == "allow", pattern: value.to_owned() }),
        }
    }

    /// Whether a path, with its query, may be read: the longest pattern that matches decides, and of two `Allow`.
    pub fn allow(&self, path: &str) -> bool {
        let matching = self.rules.iter().filter(|rule| matches(&rule.pattern, path));
        matching.max_by_key(|rule| (rule.pattern.len(), rule.allows)).is_none_or(|rule| rule.allows)
    }
}

/// Whether a pattern matches the beginning of a path, or the whole if it ends with `$`. Linear in each part: a part is
/// taken where it is found first.
fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, whole) = pattern.strip_suffix('$').map_or((pattern, false), |pattern| (pattern, true));
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| path.strip_prefix(first)) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    // What stands last must stand at the end of the path.
    let last = if whole { parts.pop() } else { None };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    last.map_or(!whole || rest.is_empty(), |last| rest.ends_with(last))
}
