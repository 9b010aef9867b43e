//! What a document says of itself: the fields of its front matter, bounded as everything in a record is.

use std::collections::BTreeMap;

/// Most names of properties, and most values of each.
pub const MAX_PROPERTIES: usize = 64;

/// Most bytes of all names and values together.
pub const MAX_PROPERTIES_LEN: usize = 2048;

/// Longest name in bytes.
const MAX_NAME_LEN: usize = 64;

/// Adds `values` under `name`, in lower case and with `_` for what no filter can name. Empty values, those over the
/// bounds, and a name for the second time are left out.
pub(super) fn add(properties: &mut BTreeMap<String, Vec<String>>, name: &str, values: Vec<String>) {
    if name.len() > MAX_NAME_LEN || properties.len() >= MAX_PROPERTIES {
        return;
    }
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let name: String = name.chars().map(|c| if is_of_name(c) { c } else { '_' }).collect();
    let name = name.to_lowercase();
    let size =
        |(name, values): (&String, &Vec<String>)| name.len() + values.iter().map(String::len).sum::<usize>();
    let mut left = MAX_PROPERTIES_LEN.saturating_sub(properties.iter().map(size).sum::<usize>() + name.len());
    let mut kept: Vec<String> = Vec::new();
    for value in values.into_iter().filter(|value| !value.is_empty()) {
        if kept.len() < MAX_PROPERTIES && value.len() <= left && !kept.contains(&value) {
            left -= value.len();
            kept.push(value);
        }
    }
    if !name.trim_matches('_').is_empty() && !kept.is_empty() {
        properties.entry(name).or_insert(kept);
    }
}
