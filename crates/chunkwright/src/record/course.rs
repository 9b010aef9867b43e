//! The metadata of a chunk of a course, under the names of the course platform that the preset `course` reproduces.

use serde_json::{Map, Value};

/// The names, in the platform's order.
pub const COURSE_FIELDS: &[&str] = &[
    "course_id",
    "chapter_id",
    "chapter_title",
    "source_file",
    "position",
    "content_type",
    "char_count",
    "word_count",
    "estimated_tokens",
    "token_level",
    "strategy_version",
    "indexed_at",
];

/// The metadata of a chunk, from the JSON of its record and the collection that it is in, if any.
///
/// The course is `collection`, without `course_`; if none is given, what `meta` of the record says, the `collection`
/// that the JSON names, or the first folder of the document's id. `chapter_id` is the rest of the document's id, `source_file` both. `indexed_at` is absent unless the
/// chunk was stored.
pub fn course_metadata(collection: Option<&str>, record: &Value) -> Map<String, Value> {
    let text = |name: &str| record[name].as_str().unwrap_or_default();
    let doc_id = text("doc_id");
    let said = record["meta"]["course_id"].as_str();
    let named = || record["collection"].as_str().map(course_of);
    let course = collection
        .map(course_of)
        .or(said)
        .or_else(named)
        .or(doc_id.split_once('/').map(|(folder, _)| folder))
        .unwrap_or_default();
    let chapter = doc_id.strip_prefix(course).and_then(|rest| rest.strip_prefix('/')).unwrap_or(doc_id);
    let source_file = if course.is_empty() { chapter.to_owned() } else { [course, chapter].join("/") };
    let own = |name: &str| record.get(name).filter(|value| !value.is_null()).cloned();
    let value = |name: &str| match name {
        "course_id" => Some(course.into()),
        "chapter_id" => Some(chapter.into()),
        "chapter_title" => Some(record["section_path"][0].as_str().unwrap_or_default().into()),
        "source_file" => Some(source_file.as_str().into()),
        "position" => own("chunk_index"),
        "estimated_tokens" => own("token_count"),
        _ => own(name),
    };
    COURSE_FIELDS.iter().filter_map(|&name| Some((name.to_owned(), value(name)?))).collect()
}

/// The course that a collection holds.
pub fn course_of(collection: &str) -> &str {
    collection.strip_prefix("course_").unwrap_or(collection)
}
