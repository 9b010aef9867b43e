//! Selects fields of results, also by the names that the course platform has for them.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chunkwright::record::{COURSE_FIELDS, course_metadata};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::Value;

/// Selected fields of results by name, in output order. A dot selects inside an object: `metadata.course`.
#[derive(Clone, Debug)]
pub struct Fields {
    names: Vec<String>,
    /// The collection of results that do not name theirs.
    collection: Option<String>,
    /// Whether any result had the field, for each name.
    seen: Arc<[AtomicBool]>,
}

/// Why a text is not a list of fields.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FieldsError {
    /// A name is empty.
    #[error("a field has no name; give names separated by commas, such as `chunk_id,text`")]
    Empty,
    /// A name is given twice.
    #[error("the field `{name}` is named twice")]
    Twice {
        /// The name.
        name: String,
    },
}

impl FromStr for Fields {
    type Err = FieldsError;

    fn from_str(text: &str) -> Result<Self, FieldsError> {
        let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
        if names.iter().any(String::is_empty) {
            return Err(FieldsError::Empty);
        }
        if let Some((_, name)) = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)) {
            return Err(FieldsError::Twice { name: name.clone() });
        }
        let seen = names.iter().map(|_| AtomicBool::new(false)).collect();
        Ok(Self { names, collection: None, seen })
    }
}

impl fmt::Display for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names.join(","))
    }
}

/// The selected fields of one result, as far as it has them.
#[derive(Clone, Debug, PartialEq)]
pub struct Selected<'f> {
    fields: Vec<(&'f str, Value)>,
}

impl Serialize for Selected<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.fields.len()))?;
        for (name, value) in &self.fields {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl Fields {
    /// The same fields of results of a collection.
    #[must_use]
    pub fn in_collection(self, collection: &str) -> Self {
        Self { collection: Some(collection.to_owned()), ..self }
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The selected fields of a result.
    ///
    /// # Errors
    ///
    /// What cannot be written as JSON.
    pub fn of(&self, result: &impl Serialize) -> Result<Selected<'_>, serde_json::Error> {
        Ok(self.select(&serde_json::to_value(result)?))
    }

    /// Selects fields in an answer: in the objects of its first list that has one of the fields, or in the answer
    /// itself if it has one.
    ///
    /// # Errors
    ///
    /// What cannot be written as JSON.
    pub fn of_answer(&self, answer: &impl Serialize) -> Result<Value, serde_json::Error> {
        let mut answer = serde_json::to_value(answer)?;
        let has_one = |result: &Value| {
            self.names
                .iter()
                .any(|name| found(result, name).is_some() || self.of_course(result, name).is_some())
        };
        let is_result = has_one(&answer);
        if is_result {
            return serde_json::to_value(self.select(&answer));
        }
        let mut lists = answer.as_object_mut().into_iter().flat_map(|members| members.values_mut());
        let results = lists.find_map(|list| list.as_array_mut().filter(|list| list.iter().any(has_one)));
        for result in results.into_iter().flatten() {
            *result = serde_json::to_value(self.select(result))?;
        }
        Ok(answer)
    }

    /// The fields that no result has had so far.
    pub fn unseen(&self) -> Vec<&str> {
        let names = self.names.iter().zip(&*self.seen);
        names.filter(|(_, seen)| !seen.load(Ordering::Relaxed)).map(|(name, _)| name.as_str()).collect()
    }

    /// A field of a chunk that has another name here.
    fn of_course(&self, result: &Value, name: &str) -> Option<Value> {
        let is_one = COURSE_FIELDS.contains(&name) && result.get("chunk_id").is_some();
        is_one.then(|| course_metadata(self.collection.as_deref(), result).remove(name)).flatten()
    }

    fn select(&self, result: &Value) -> Selected<'_> {
        let fields = self.names.iter().zip(&*self.seen).filter_map(|(name, seen)| {
            let value = found(result, name).cloned().or_else(|| self.of_course(result, name))?;
            seen.store(true, Ordering::Relaxed);
            Some((name.as_str(), value))
        });
        Selected { fields: fields.collect() }
    }
}

fn found<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    name.split('.').try_fold(value, |value, key| value.get(key))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_are_picked_in_the_order_in_which_they_are_named() {
        let fields: Fields = "text, metadata.course,chunk_id,nowhere".parse().unwrap();
        let result = json!({"chunk_id": "1", "text": "a", "metadata": {"course": 7, "year": 1}, "rank": 3});
        let selected = serde_json::to_string(&fields.of(&result).unwrap()).unwrap();
        assert_eq!(selected, r#"{"text":"a","metadata.course":7,"chunk_id":"1"}"#);
        assert_eq!(fields.unseen(), ["nowhere"]);
        let notices = json!([{"code": "x", "text": "b"}]);
        let answer = json!({"hits": [result], "took": 2, "notices": notices});
        let hit = json!({"text": "a", "metadata.course": 7, "chunk_id": "1"});
        let expected = json!({"hits": [hit], "took": 2, "notices": notices});
        assert_eq!(fields.of_answer(&answer).unwrap(), expected);
        assert_eq!(fields.of_answer(&answer["hits"][0]).unwrap(), expected["hits"][0]);
    }

    #[test]
    fn a_chunk_has_the_fields_of_a_course_under_their_names() {
        let fields: Fields =
            "course_id,chapter_id,chapter_title,source_file,position,estimated_tokens".parse().unwrap();
        let chunk = json!({"chunk_id": "1", "doc_id": "py/01.md", "section_path": ["One"], "chunk_index": 3, "token_count": 9});
        let selected = serde_json::to_value(fields.of(&chunk).unwrap()).unwrap();
        let expected = json!({
            "course_id": "py", "chapter_id": "01.md", "chapter_title": "One", "source_file": "py/01.md",
            "position": 3, "estimated_tokens": 9,
        });
        assert_eq!(selected, expected);
        assert!(fields.unseen().is_empty());
        // In a collection the course is the collection's.
        let stored = json!({"chunk_id": "1", "doc_id": "01.md", "collection": "course_py"});
        assert_eq!(serde_json::to_value(fields.of(&stored).unwrap()).unwrap()["source_file"], "py/01.md");
    }

    #[test]
    fn lists_that_name_nothing_or_a_field_twice_are_refused() {
        let refused = |text: &str| text.parse::<Fields>().unwrap_err();
        assert_eq!(refused(""), FieldsError::Empty);
        assert_eq!(refused("a,,b"), FieldsError::Empty);
        assert_eq!(refused("a,b,a"), FieldsError::Twice { name: "a".into() });
    }
}
