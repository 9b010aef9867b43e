//! Questions in another language than the documents, which words cannot answer.

use chunkwright_index::{Answer, ListRequest};
use chunkwright_models::{EMBEDDERS, Languages};

use crate::error::Error;
use crate::notice::{Notice, NoticeCode};
use crate::noun::snapshot::Snapshot;
use crate::noun::vectors::{Coverage, languages};

/// Number of chunks whose writing system is that of the documents, where nothing was found.
const SAMPLE: usize = 20;

/// A question in Latin letters has at least this many words; fewer may be names, which documents in any language have.
const LEAST_WORDS: usize = 4;

/// A writing system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Script {
    Latin,
    Cyrillic,
    EastAsian,
    Other,
}

impl Script {
    /// The script of most letters of a text, which has more than `least` of them; `None` if there is no such script.
    fn of(text: &str, least: f64) -> Option<Self> {
        let mut counts = [0_u32; 4];
        for letter in text.chars().filter(|c| c.is_alphabetic()) {
            let (script, weight) = match letter {
                ..='\u{024F}' => (Self::Latin, 1),
                '\u{0400}'..='\u{052F}' => (Self::Cyrillic, 1),
                // A character is a syllable or half a word.
                '\u{2E80}'.. => (Self::EastAsian, 3),
                _ => (Self::Other, 1),
            };
            counts[script as usize] += weight;
        }
        let least = f64::from(counts.iter().sum::<u32>()) * least;
        let all = [Self::Latin, Self::Cyrillic, Self::EastAsian, Self::Other];
        all.into_iter().find(|script| f64::from(counts[*script as usize]) > least)
    }
}

/// Returns whether a query is a question in a script.
fn is_question(query: &str, script: Script) -> bool {
    script != Script::Latin || query.split_whitespace().count() >= LEAST_WORDS
}

impl Snapshot {
    /// A notice where the question is in another language than the documents, and no model was searched that reads both.
    pub(super) fn notice_of_languages(&self, query: &str, answer: &Answer) -> Result<Option<Notice>, Error> {
        let generation = self.generation();
        let model = generation.spec.model.as_ref().filter(|_| answer.degraded.is_none());
        let Some(script) = Script::of(query, 0.6).filter(|script| is_question(query, *script)) else {
            return Ok(None);
        };
        let texts: Vec<String> = if answer.hits.is_empty() {
            let request = ListRequest { limit: SAMPLE, ..ListRequest::default() };
            let listed = self.store().list(generation, &request)?.chunks;
            listed.into_iter().map(|chunk| chunk.record.content).collect()
        } else {
            answer.hits.iter().map(|hit| hit.record.content.clone()).collect()
        };
        let scripts: Vec<Script> = texts.iter().filter_map(|text| Script::of(text, 0.5)).collect();
        let across = scripts.iter().filter(|other| **other != script).count();
        if across * 2 <= scripts.len() {
            return Ok(None);
        }
        let reads_all = model.is_some_and(|model| languages(&model.name) == Languages::All);
        let coverage = if reads_all && answer.hits.iter().any(|hit| hit.dense.is_some()) {
            Coverage::in_progress(self.engine(), &generation.collection)?
        } else {
            Coverage::of(self.engine(), &generation.collection)?
        };
        if reads_all && coverage.is_none() {
            return Ok(None);
        }
        let mut reading = EMBEDDERS.iter().filter(|info| info.reads == Languages::All);
        let installed = reading.clone().find(|info| self.engine().is_installed(info.name));
        let what =
            "the question is in another language than the documents, and words rarely find answers to such";
        let message = match (coverage, installed, reading.next()) {
            (Some(coverage), ..) if languages(&coverage.model) == Languages::All => {
                format!("{what}; so far, {} % of the chunks have vectors that do", coverage.percent())
            }
            (_, Some(info), _) => {
                format!(
                    "{what}; `--embedder {}` adds vectors that do, as `mcp PATH` does by itself",
                    info.name
                )
            }
            (_, None, Some(info)) => format!(
                "{what}; `chunkwright models install {}` installs a model whose vectors do",
                info.name
            ),
            (_, None, None) => return Ok(None),
        };
        Ok(Some(Notice::new(NoticeCode::OtherLanguage, message)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_told_from_names_and_its_script_from_the_letters_it_has() {
        for (query, script, is_one) in [
            ("how are requests routed?", Script::Latin, true),
            ("Router", Script::Latin, false),
            ("数据库 pool 怎么连接", Script::EastAsian, true),
            ("как подключить базу?", Script::Cyrillic, true),
        ] {
            assert_eq!(Script::of(query, 0.6), Some(script), "{query}");
            assert_eq!(is_question(query, script), is_one, "{query}");
        }
        assert_eq!(Script::of("404 != 500", 0.6), None);
        assert_eq!(Script::of("retry request pause 请求 重试 запрос", 0.6), None);
    }
}
