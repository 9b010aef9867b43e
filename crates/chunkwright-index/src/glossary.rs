//! A glossary of software in English, Chinese and Russian: words of a question in the documents' language, and others for
//! the same.
//!
//! Words find nothing where a question is in another language than the documents, and small models match across languages
//! poorly. Technical words are few, have one meaning each, and are what such questions consist of, so that a table of them
//! goes far. It is `glossary.tsv`: a concept a line, with its forms in each language, the most usual first. The forms of one
//! language are synonyms, abbreviations such as `tmp` among them: who asks in words finds code by them.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use chunkwright_store::analysis;

use crate::function_words::{FUNCTION_CHARACTERS, is_function_word};
use crate::script::Script;

/// The columns of the table.
const COLUMNS: [Script; 3] = [Script::Latin, Script::Unspaced, Script::Cyrillic];

/// Most forms by which a word of a question is looked for.
const MOST_FORMS: usize = 6;

/// Most words of a question that are looked for by other forms; each adds terms to the search.
const MOST_WORDS: usize = 64;

static GLOSSARY: LazyLock<Glossary> = LazyLock::new(|| Glossary::read(include_str!("glossary.tsv")));

/// A word or term of a question by other forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    /// The bytes of the question that it stands for.
    pub(crate) range: Range<usize>,
    /// What it is in another language, or what else it is called in its own, the most usual first.
    pub(crate) forms: Vec<&'static str>,
}

/// The first words and terms of a question that are known in the language of `into`, in order.
pub(crate) fn translated(question: &str, into: Script) -> Vec<Known> {
    let Some(column) = column(into) else { return Vec::new() };
    GLOSSARY.known(question, &|own| (own != column).then_some(column))
}

/// The first words and terms of a question that have synonyms, in order. A question that is one word means it as it stands.
pub(crate) fn synonyms(question: &str) -> Vec<Known> {
    let mut known = GLOSSARY.known(question, &Some);
    if let [only] = &known[..]
        && question.trim().len() == only.range.len()
    {
        return Vec::new();
    }
    known.retain(|it| !it.forms.is_empty() && !is_function_word(&question[it.range.clone()]));
    known
}

/// A question in the language of `into`: what is known of it, and what it has in that script already, such as names.
/// `None` if nothing is known of it, or less than half of an English one, which may consist of names.
pub fn in_words_of(question: &str, into: Script) -> Option<String> {
    let known = translated(question, into);
    if known.is_empty() {
        return None;
    }
    if Script::of(question, 0.5) == Some(Script::Latin) && !is_known_by_half(question, &known) {
        return None;
    }
    let mut words: Vec<(usize, &str)> = known.iter().map(|it| (it.range.start, it.forms[0])).collect();
    let others = runs(question).filter(|(range, script)| *script == into && place(&known, range).is_none());
    words.extend(others.map(|(range, _)| (range.start, &question[range])));
    words.sort_by_key(|(start, _)| *start);
    Some(words.into_iter().map(|(_, word)| word).collect::<Vec<_>>().join(" "))
}

/// Returns whether half of a question, function words aside, is known.
fn is_known_by_half(question: &str, known: &[Known]) -> bool {
    let words = runs(question).filter(|(range, _)| !is_function_word(&question[range.clone()]));
    let all: usize = words.map(|(range, _)| range.len()).sum();
    known.iter().map(|it| it.range.len()).sum::<usize>() * 2 >= all
}

/// The index of the first of these words that shares a byte with a range.
pub(crate) fn place(known: &[Known], range: &Range<usize>) -> Option<usize> {
    let at = known.partition_point(|it| it.range.end <= range.start);
    known.get(at).filter(|it| it.range.start < range.end).map(|_| at)
}

/// The column of a language by its script.
fn column(script: Script) -> Option<usize> {
    COLUMNS.iter().position(|column| *column == script)
}

struct Glossary {
    /// The forms of each concept by column.
    concepts: Vec<[Vec<&'static str>; 3]>,
    /// The forms of each column, read when a question has words of it.
    forms: [OnceLock<Forms>; 3],
}

/// The forms of a language.
struct Forms {
    /// By its [`key`], the concepts that have a form, and its place among theirs: those whose most usual one it is first.
    known: HashMap<String, Vec<(usize, usize)>>,
    /// The longest form, in characters or words.
    longest: usize,
}

impl Glossary {
    fn read(table: &'static str) -> Self {
        let concepts = table.lines().map(|line| {
            let mut columns = line.split('\t').map(|forms| forms.split(", ").collect());
            std::array::from_fn(|_| columns.next().unwrap_or_default())
        });
        Self { concepts: concepts.collect(), forms: Default::default() }
    }

    /// The forms of a column.
    fn forms(&self, column: usize) -> &Forms {
        self.forms[column].get_or_init(|| {
            let mut forms = Forms { known: HashMap::new(), longest: 0 };
            for (at, concept) in self.concepts.iter().enumerate() {
                for (place, form) in concept[column].iter().enumerate() {
                    let (key, length) = key(form, COLUMNS[column]);
                    forms.longest = forms.longest.max(length);
                    forms.known.entry(key).or_default().push((place, at));
                }
            }
            for meanings in forms.known.values_mut() {
                // A meaning with more words for it is the more usual one.
                meanings.sort_by_key(|(place, at)| {
                    (*place, Reverse(self.concepts[*at].iter().map(Vec::len).sum::<usize>()), *at)
                });
                meanings.dedup_by_key(|(_, at)| *at);
            }
            forms
        })
    }

    /// The first words and terms of a question that are known, in order. `into` gives the column of the forms that are
    /// wanted for a word of a column.
    fn known(&self, question: &str, into: &dyn Fn(usize) -> Option<usize>) -> Vec<Known> {
        let mut found = Vec::new();
        let runs: Vec<(Range<usize>, usize, usize)> = runs(question)
            .filter_map(|(range, script)| column(script).and_then(|own| Some((range, own, into(own)?))))
            .collect();
        let mut words = &runs[..];
        while let [(first, own, into), rest @ ..] = words {
            if found.len() >= MOST_WORDS {
                break;
            }
            let columns = (*own, *into);
            if COLUMNS[*own] == Script::Unspaced {
                self.within(question, first.clone(), columns, &mut found);
                words = rest;
                continue;
            }
            let forms = self.forms(*own);
            let same = words.iter().take(forms.longest).take_while(|(_, other, _)| other == own).count();
            let terms: Vec<String> = words[..same]
                .iter()
                .map(|(range, ..)| analysis::whole(&question[range.clone()]).unwrap_or_default())
                .collect();
            let length =
                (1..=same).rev().find(|length| forms.known.contains_key(&terms[..*length].join(" ")));
            if let Some(length) = length {
                let range = first.start..words[length - 1].0.end;
                found.push(self.term(&terms[..length].join(" "), range, columns));
            }
            words = &words[length.unwrap_or(1)..];
        }
        found.truncate(MOST_WORDS);
        found
    }

    /// The terms in a run of characters without spaces: at each place the longest, and a single character only between
    /// what is told from it.
    fn within(&self, question: &str, run: Range<usize>, columns: (usize, usize), found: &mut Vec<Known>) {
        let ends: Vec<usize> =
            question[run.clone()].char_indices().map(|(at, c)| run.start + at + c.len_utf8()).collect();
        let is_function =
            |from: usize, to: usize| question[from..to].chars().all(|c| FUNCTION_CHARACTERS.contains(c));
        let starts: Vec<usize> = [run.start].into_iter().chain(ends.iter().copied()).collect();
        let forms = self.forms(columns.0);
        let (mut at, mut is_apart) = (0, true);
        while at < ends.len() {
            let longest = forms.longest.min(ends.len() - at);
            let length = (1..=longest).rev().find(|length| {
                let end = at + length;
                let is_free =
                    *length > 1 || is_apart && (end == ends.len() || is_function(starts[end], ends[end]));
                is_free && forms.known.contains_key(&question[starts[at]..ends[end - 1]])
            });
            if let Some(length) = length {
                let range = starts[at]..ends[at + length - 1];
                found.push(self.term(&question[range.clone()], range, columns));
            }
            is_apart = length.is_some() || is_function(starts[at], ends[at]);
            at += length.unwrap_or(1);
        }
    }

    /// A form that is known in the first of two columns, by its other forms in the second: the most usual ones of its
    /// meanings first.
    fn term(&self, known: &str, range: Range<usize>, (own, into): (usize, usize)) -> Known {
        let meanings: Vec<&[&str]> =
            self.forms(own).known[known].iter().map(|(_, at)| &*self.concepts[*at][into]).collect();
        let most = meanings.iter().map(|forms| forms.len()).max().unwrap_or(0);
        let mut forms = Vec::new();
        for form in (0..most).flat_map(|at| meanings.iter().filter_map(move |forms| forms.get(at).copied())) {
            let is_itself = own == into && key(form, COLUMNS[own]).0 == known;
            if !is_itself && !forms.contains(&form) && forms.len() < MOST_FORMS {
                forms.push(form);
            }
        }
        Known { range, forms }
    }
}

/// What a form is known by, Chinese as written and others by the terms of their words, and its length.
fn key(form: &str, script: Script) -> (String, usize) {
    if script == Script::Unspaced {
        return (form.to_owned(), form.chars().count());
    }
    let words: Vec<String> = runs(form).filter_map(|(range, _)| analysis::whole(&form[range])).collect();
    (words.join(" "), words.len())
}

/// The words of a text and its runs of characters without spaces, with their scripts.
fn runs(text: &str) -> impl Iterator<Item = (Range<usize>, Script)> {
    let kind = |c: char| (c.is_alphanumeric() || c == '_').then(|| Script::of_letter(c));
    let mut chars = text.char_indices().peekable();
    std::iter::from_fn(move || {
        loop {
            let (start, first) = chars.next()?;
            let Some(script) = kind(first) else { continue };
            let mut end = start + first.len_utf8();
            while let Some((at, c)) = chars.next_if(|(_, c)| kind(*c) == Some(script)) {
                end = at + c.len_utf8();
            }
            return Some((start..end, script));
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(question: &str, into: Script, words: &str) {
        assert_eq!(in_words_of(question, into).as_deref().unwrap_or_default(), words, "{question}");
    }

    #[test]
    fn a_question_is_asked_in_the_words_of_the_documents() {
        check("怎样删除重复的文件?", Script::Latin, "delete duplicate file");
        check("как переименовать повторяющиеся файлы?", Script::Latin, "rename recurring file");
        check("how are duplicate files removed?", Script::Unspaced, "重复 文件 移除");
        check("какие переменные окружения", Script::Unspaced, "环境变量");
        check("环境变量的默认值", Script::Cyrillic, "переменная окружения значение по умолчанию");
    }

    #[test]
    fn names_stay_and_a_query_of_names_is_no_question() {
        check("怎样用 Redis 排序 HTTP 响应", Script::Latin, "Redis sort HTTP response");
        check("как кэшировать ответ в Redis", Script::Latin, "cache answer Redis");
        // `extends` is a word, and most of it is a name.
        check(".eslintrc extends", Script::Unspaced, "");
        check("URLSearchParams", Script::Unspaced, "");
        check("怎样做红烧肉", Script::Latin, "");
        check("", Script::Latin, "");
    }

    #[test]
    fn a_single_character_is_a_word_only_by_itself() {
        check("这个类的方法", Script::Latin, "class method");
        check("种类", Script::Latin, "");
    }

    #[test]
    fn a_word_of_a_question_is_known_by_its_synonyms() {
        let of = |question: &str, word: &str| {
            let known = synonyms(question).into_iter().find(|it| &question[it.range.clone()] == word);
            known.map_or_else(String::new, |it| it.forms.join(", "))
        };
        assert_eq!(of("how long is a temporary file kept", "temporary file"), "temp file, tempfile");
        assert_eq!(of("which arguments are parsed", "arguments"), "arg, argv");
        assert_eq!(of("which arg is it", "arg"), "argument, argv");
        assert_eq!(of("在目录中查找", "目录"), "文件夹");
        assert_eq!(of("как удалить каталог", "каталог"), "директория, папка");
        // A word alone, a name and a function word mean what they say.
        assert_eq!(of("arguments", "arguments"), "");
        assert_eq!(of("set max_arguments", "max_arguments"), "");
        assert_eq!(of("use of a name", "use"), "");
    }

    #[test]
    fn every_concept_has_forms_in_each_language_and_is_known_by_them() {
        let mut before = "";
        for (line, concept) in include_str!("glossary.tsv").lines().zip(&GLOSSARY.concepts) {
            assert!(before < line && line.split('\t').count() == 3, "{line}");
            before = line;
            for (script, forms) in COLUMNS.iter().zip(concept) {
                for form in forms {
                    assert!(!form.is_empty() && form.trim() == *form, "{line}");
                    assert_eq!(forms.iter().filter(|other| *other == form).count(), 1, "{line}");
                    for (into, others) in COLUMNS.iter().zip(concept).filter(|(into, _)| *into != script) {
                        let known = translated(form, *into);
                        let is_all = known.len() == 1 && known[0].range == (0..form.len());
                        let forms = &known[0].forms;
                        assert!(
                            is_all && (forms.contains(&others[0]) || forms.len() == MOST_FORMS),
                            "{form}: {known:?}"
                        );
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_known_stands_in_order_and_nothing_twice(
            words in prop::collection::vec("环境变量|файлы|files|的|类|x_1|é|[a-zа-я文件]{1,4}|[ ,.]", 0..12),
        ) {
            let question = words.concat();
            for known in COLUMNS.map(|into| translated(&question, into)).into_iter().chain([synonyms(&question)]) {
                let mut end = 0;
                for it in known {
                    prop_assert!(end <= it.range.start && it.range.start < it.range.end);
                    prop_assert!(question.get(it.range.clone()).is_some() && !it.forms.is_empty());
                    prop_assert!(it.forms.len() <= MOST_FORMS);
                    end = it.range.end;
                }
            }
        }
    }
}
