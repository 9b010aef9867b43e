//! Detects documents that are one page in several languages.
//!
//! Two documents of a collection are translations of each other if their prose is in different languages, and their
//! paths are equal except for a language mark. A mark is a folder or the end of a file's stem that names the language
//! detected in the document: `docs/ru/x.md`, `i18n/zh-CN/x.md`, `x.zh.md`, `README_ru.md`. A path without a mark is
//! compared as it is, so that `README.md` and `README_ru.md` are one page. A folder that only looks like a mark, such
//! as `tests/it/` with English text, does not count.

use std::collections::HashMap;

use crate::request::search::Translation;
use crate::request::search::hit::Hit;

/// Languages that paths name by codes other than those of ISO 639-1.
const OTHER_CODES: &[(&str, &str)] = &[
    ("cn", "zh"),
    ("tw", "zh"),
    ("hk", "zh"),
    ("jp", "ja"),
    ("kr", "ko"),
    ("ua", "uk"),
    ("cz", "cs"),
    ("gr", "el"),
];

/// Folders that hold translations without naming a language.
const FOLDERS: [&str; 2] = ["i18n", "translations"];

/// Removes hits in translations of a better hit's document. The first hit of each page lists them.
pub(super) fn collapsed(hits: Vec<Hit>) -> Vec<Hit> {
    let mut kept: Vec<Hit> = Vec::with_capacity(hits.len());
    let mut pages: HashMap<(String, String), usize> = HashMap::new();
    for hit in hits {
        let Some(language) = hit.record.prose_language.clone() else {
            kept.push(hit);
            continue;
        };
        let page = (hit.collection.clone(), page(&hit.record.doc_id, &language));
        let first = *pages.entry(page).or_insert(kept.len());
        match kept.get_mut(first) {
            Some(better) if better.record.prose_language.as_ref() != Some(&language) => {
                let (doc_id, chunk_id) = (hit.record.doc_id.clone(), hit.record.chunk_id);
                better.translations.push(Translation { doc_id, chunk_id, prose_language: language });
            }
            _ => kept.push(hit),
        }
    }
    for (index, hit) in kept.iter_mut().enumerate() {
        hit.found.rank = index + 1;
    }
    kept
}

/// The path of a document in `language`, without its language marks.
fn page(doc_id: &str, language: &str) -> String {
    let (folders, name) = doc_id.rsplit_once('/').unwrap_or(("", doc_id));
    let folders = folders.split('/').filter(|folder| !folder.is_empty());
    let mut is_marked = false;
    let mut kept: Vec<&str> = Vec::new();
    for folder in folders {
        if is_mark(folder, language) {
            is_marked = true;
        } else {
            kept.push(folder);
        }
    }
    if is_marked {
        kept.retain(|folder| !FOLDERS.contains(folder));
    }
    let (stem, extension) = name.split_once('.').unwrap_or((name, ""));
    // `guide.zh-CN.md`, or `README_ru.md` and `README-zh_CN.md`.
    let mut parts: Vec<&str> = extension.split('.').collect();
    if parts.len() > 1 {
        parts.retain(|part| !is_mark(part, language));
    }
    let ends = stem.char_indices().filter(|(at, c)| *at > 0 && matches!(c, '_' | '-')).map(|(at, _)| at);
    let end = ends.into_iter().find(|at| is_mark(&stem[at + 1..], language)).unwrap_or(stem.len());
    kept.push(&stem[..end]);
    format!("{}.{}", kept.join("/"), parts.join("."))
}

/// Returns whether a part of a path names a language, with or without a region or script.
fn is_mark(part: &str, language: &str) -> bool {
    let part = part.to_lowercase();
    let (code, region) = part.split_once(['-', '_']).unwrap_or((&part, ""));
    let other = OTHER_CODES.iter().find(|(other, _)| *other == code).map(|(_, code)| *code);
    let is_region = |region: &str| {
        region
            .split(['-', '_'])
            .all(|part| (2..=4).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric()))
    };
    (code == language || other == Some(language)) && (region.is_empty() || is_region(region))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_a_page_has_no_mark_of_its_language() {
        for (path, language, expected) in [
            ("docs/en/guide/x.md", "en", "docs/guide/x.md"),
            ("docs/ru/guide/x.md", "ru", "docs/guide/x.md"),
            ("docs/zh-CN/guide/x.md", "zh", "docs/guide/x.md"),
            ("docs/zh_hans/guide/x.md", "zh", "docs/guide/x.md"),
            ("docs/guide/x.md", "en", "docs/guide/x.md"),
            ("i18n/zh-cn/x.md", "zh", "x.md"),
            ("x.zh.md", "zh", "x.md"),
            ("x.zh-CN.md", "zh", "x.md"),
            ("README_ru.md", "ru", "README.md"),
            ("README-zh_CN.md", "zh", "README.md"),
            ("README_CN.md", "zh", "README.md"),
            ("README.md", "en", "README.md"),
            ("readme", "en", "readme."),
            // Marks of another language than that of the text.
            ("tests/it/x.md", "en", "tests/it/x.md"),
            ("docs/ru/x.md", "en", "docs/ru/x.md"),
            ("i18n/plan.md", "en", "i18n/plan.md"),
            ("notes_id.md", "en", "notes_id.md"),
            ("zh.md", "zh", "zh.md"),
        ] {
            assert_eq!(page(path, language), expected, "{path}");
        }
    }
}
