//! Detects hits that say what a better one says.
//!
//! Two chunks say the same if their words and operators are the same, whatever blanks, punctuation and case they are
//! written with. A
//! chunk also counts as a duplicate if it is of the same file in another programming language: a path that is equal
//! except for folders that name the language of the file and perhaps that of the comments, and for the extension:
//! `codes/java/sorting/BubbleSort.java` and `en/codes/python/sorting/bubble_sort.py`. Every key is looked up, so that
//! the work is linear in the number of chunks.

use std::collections::HashMap;

use chunkwright::Record;
use chunkwright_source::language_named;

use super::{Duplicates, Hit};

/// Most places of duplicates that a hit names.
const PLACES: usize = 20;

/// Folders of translations, which in a path of source code name the language of its comments.
const PROSE: &[&str] = &[
    "en", "zh", "zh-cn", "zh-hans", "zh-hant", "zh-tw", "ja", "ko", "ru", "uk", "de", "fr", "es", "pt",
    "pt-br", "it", "tr", "vi",
];

/// The hits that were chosen, by what makes a further chunk a duplicate of one.
pub(super) struct Seen {
    rule: Duplicates,
    by_text: HashMap<String, usize>,
    by_file: HashMap<String, (String, usize)>,
}

/// What a chunk says, as hits are compared by it.
pub(super) struct Saying {
    text: Option<String>,
    file: Option<(String, String)>,
}

impl Seen {
    pub(super) fn new(rule: Duplicates) -> Self {
        Self { rule, by_text: HashMap::new(), by_file: HashMap::new() }
    }

    /// What `record` says.
    pub(super) fn saying(&self, record: &Record) -> Saying {
        let text = match self.rule {
            Duplicates::Keep => None,
            Duplicates::Collapse => Some(record.content.clone()),
            Duplicates::Near => Some(words(record.shown())).filter(|words| !words.is_empty()),
        };
        let language = record.language.as_deref().filter(|_| self.rule == Duplicates::Near);
        Saying { text, file: language.and_then(|language| file(&record.doc_id, language)) }
    }

    /// The position of the hit that says the same.
    pub(super) fn first(&self, saying: &Saying) -> Option<usize> {
        if let Some(&first) = saying.text.as_ref().and_then(|text| self.by_text.get(text)) {
            return Some(first);
        }
        let (file, language) = saying.file.as_ref()?;
        self.by_file.get(file).filter(|(of, _)| of != language).map(|(_, first)| *first)
    }

    /// Adds a hit.
    pub(super) fn add(&mut self, Saying { text, file }: Saying, position: usize) {
        if let Some(text) = text {
            self.by_text.entry(text).or_insert(position);
        }
        if let Some((file, language)) = file {
            self.by_file.entry(file).or_insert((language, position));
        }
    }
}

/// The words of a text in lower case, operators included, with one blank between them.
fn words(text: &str) -> String {
    let mut words = String::with_capacity(text.len());
    for word in text.split(is_between).filter(|word| !word.is_empty()) {
        if !words.is_empty() {
            words.push(' ');
        }
        if word.is_ascii() {
            let start = words.len();
            words.push_str(word);
            words[start..].make_ascii_lowercase();
        } else {
            words.extend(word.chars().flat_map(char::to_lowercase));
        }
    }
    words
}

/// Whether a character stands between words. Unicode's tables are asked about few.
fn is_between(c: char) -> bool {
    match c {
        '\0'..='\x7f' => {
            matches!(c, '.' | ',' | ';' | ':' | '"' | '\'' | '`' | '(' | ')' | '[' | ']' | '{' | '}')
                || matches!(c, ' ' | '\t'..='\r')
        }
        '，' | '。' | '；' | '：' | '、' => true,
        _ => c.is_whitespace(),
    }
}

/// A path without the marks of its languages, and the marks; `None` if no folder names the language of the file.
fn file(doc_id: &str, language: &str) -> Option<(String, String)> {
    let (folders, name) = doc_id.rsplit_once('/')?;
    let stem = name.split('.').next().filter(|stem| !stem.is_empty())?;
    let is_language = |folder: &str| {
        let folder = folder.to_lowercase();
        folder == language || language_named(&folder).is_some_and(|named| named.name() == language)
    };
    let (mut path, mut marks, mut is_marked) = (String::new(), Vec::new(), false);
    for folder in folders.split('/') {
        if is_language(folder) {
            is_marked = true;
            marks.push(language);
        } else if PROSE.contains(&folder.to_lowercase().as_str()) {
            marks.push(folder);
        } else {
            path.push_str(&folder.to_lowercase());
            path.push('/');
        }
    }
    // Names are written as each language does: `bubble_sort`, `BubbleSort`.
    path.extend(stem.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase));
    is_marked.then(|| (path, marks.join("/")))
}

impl Hit {
    /// Puts another chunk that says the same in the place of this one, which becomes its first duplicate.
    pub(super) fn give_way(&mut self, shown: Self) {
        let before = std::mem::replace(self, Self { rank: self.rank, ..shown });
        self.add_duplicate(&before.record);
        self.duplicates.extend(before.duplicates);
        self.duplicates_at.extend(before.duplicates_at);
        self.duplicates_at.truncate(PLACES);
    }

    /// Names a chunk that says the same.
    pub(super) fn add_duplicate(&mut self, record: &Record) {
        self.duplicates.push(record.chunk_id);
        if self.duplicates_at.len() < PLACES {
            let place = format!("{}#L{}-L{}", record.doc_id, record.start_line, record.end_line);
            self.duplicates_at.push(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_another_language_has_the_same_path_without_the_marks() {
        let same = |a: (&str, &str), b: (&str, &str)| {
            let (a, b) = (file(a.0, a.1), file(b.0, b.1));
            a.is_some() && b.is_some() && a != b && a.unwrap().0 == b.unwrap().0
        };
        let python = ("codes/python/sorting/bubble_sort.py", "python");
        for other in [
            ("codes/java/sorting/bubble_sort.java", "java"),
            ("codes/csharp/sorting/BubbleSort.cs", "csharp"),
            ("codes/cpp/sorting/bubble_sort.cpp", "cpp"),
            ("en/codes/python/sorting/bubble_sort.py", "python"),
            ("zh-hant/codes/go/sorting/bubble_sort.go", "go"),
        ] {
            assert!(same(python, other), "{other:?}: {:?}", file(other.0, other.1));
        }
        for other in [
            ("codes/java/sorting/merge_sort.java", "java"),
            ("codes/java/searching/bubble_sort.java", "java"),
            // No folder names its language.
            ("sorting/bubble_sort.c", "c"),
            ("codes/python/sorting/bubble_sort.h", "c"),
        ] {
            assert!(!same(python, other), "{other:?}");
        }
    }

    #[test]
    fn words_are_the_same_however_they_are_written() {
        assert_eq!(words("Driver  Code:\n\tsort(nums);"), words("driver code sort nums"));
        assert_ne!(words("sort 3"), words("sort 4"));
        assert_ne!(words("a + b"), words("a - b"));
        assert_ne!(words("C++"), words("C#"));
        assert_eq!(words("数据，重试。"), words("数据 重试"));
        assert_eq!(words("{}; ()"), "");
    }
}
