//! Truncates a model's input to a budget, and its output to a limit.

use std::ops::Range;

use chunkwright::TokenCounter;

/// `range` inside `text`, at borders of characters.
pub(super) fn inside(text: &str, range: Range<usize>) -> Range<usize> {
    let start = text.floor_char_boundary(range.start.min(text.len()));
    start..text.ceil_char_boundary(range.end.clamp(start, text.len()))
}

/// The whole lines at the start of `text` that are within `budget`.
pub(super) fn head<'a>(text: &'a str, budget: usize, counter: &dyn TokenCounter) -> &'a str {
    let ends: Vec<usize> = text
        .split_inclusive('\n')
        .scan(0, |end, line| {
            *end += line.len();
            Some(*end)
        })
        .collect();
    &text[..longest(&ends, |end| counter.count(&text[..end]) <= budget)]
}

/// The part of `text` around `chunk` within `budget`: whole lines, with as many tokens before as after where possible.
/// The chunk itself is always included, cut at its end if it alone is larger.
pub(super) fn around(
    text: &str,
    chunk: Range<usize>,
    budget: usize,
    counter: &dyn TokenCounter,
) -> Range<usize> {
    if counter.count(text) <= budget {
        return 0..text.len();
    }
    let left = budget.saturating_sub(counter.count(&text[chunk.clone()]));
    let starts: Vec<usize> =
        text[..chunk.start].match_indices('\n').map(|(at, _)| at + 1).chain([chunk.start]).collect();
    let ends: Vec<usize> =
        text[chunk.end..].match_indices('\n').map(|(at, _)| chunk.end + at + 1).chain([text.len()]).collect();
    let before = |budget: usize| {
        // Farther starts cost more: take the first that fits, from the far end.
        let fits = starts.partition_point(|&start| counter.count(&text[start..chunk.start]) > budget);
        starts.get(fits).copied().unwrap_or(chunk.start)
    };
    let after =
        |budget: usize| longest(&ends, |end| counter.count(&text[chunk.end..end]) <= budget).max(chunk.end);
    let start = before(left / 2);
    let end = after(left.saturating_sub(counter.count(&text[start..chunk.start])));
    // Budget not used after the chunk is available before it.
    let start = before(left.saturating_sub(counter.count(&text[chunk.end..end]))).min(start);
    start..end
}

/// A model's answer as one paragraph: without its visible reasoning, control characters, and quotation marks around all
/// of it.
pub(super) fn cleaned(text: &str) -> String {
    let text = match text.trim_start().strip_prefix("<think>") {
        Some(thought) => thought.split_once("</think>").map_or("", |(_, said)| said),
        None => text,
    };
    let visible: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let line = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    let unquoted = line.strip_prefix('"').and_then(|line| line.strip_suffix('"'));
    unquoted.filter(|line| !line.contains('"')).unwrap_or(&line).trim().to_owned()
}

/// The longest start of `text` within `max_tokens` that ends with a sentence; else with a word; else
/// with a character.
pub(super) fn shortened<'a>(text: &'a str, max_tokens: usize, counter: &dyn TokenCounter) -> &'a str {
    if counter.count(text) <= max_tokens {
        return text;
    }
    let fits = |end: usize| counter.count(&text[..end]) <= max_tokens;
    let after = |is_end: fn(char, Option<char>) -> bool| {
        let ends = text.char_indices().filter_map(|(at, c)| {
            let end = at + c.len_utf8();
            is_end(c, text[end..].chars().next()).then_some(end)
        });
        ends.collect::<Vec<usize>>()
    };
    let sentences = after(|c, next| match c {
        '.' | '!' | '?' | '…' => next.is_none_or(char::is_whitespace),
        c => matches!(c, '。' | '！' | '？'),
    });
    let words = after(|_, next| next.is_some_and(char::is_whitespace));
    let characters = after(|_, _| true);
    let ends = [sentences, words, characters].map(|ends| longest(&ends, fits));
    let end = ends.into_iter().find(|end| *end > 0).unwrap_or(0);
    text[..end].trim_end()
}

/// The last of the ascending `ends` that fits; 0 if none does. Anything longer than an end that does not fit does not
/// fit either.
fn longest(ends: &[usize], fits: impl Fn(usize) -> bool) -> usize {
    let fitting = ends.partition_point(|&end| fits(end));
    fitting.checked_sub(1).map_or(0, |last| ends[last])
}

#[cfg(test)]
mod tests {
    use chunkwright::Words;

    use super::*;

    #[test]
    fn what_is_shown_stands_around_the_chunk_in_whole_lines() {
        let text = "a b\nc d\ne f\ng h\ni j\nk l\n";
        let check = |chunk: &str, budget: usize, expected: &str| {
            let start = text.find(chunk).unwrap();
            assert_eq!(&text[around(text, start..start + chunk.len(), budget, &Words)], expected);
        };
        check("e f\n", 12, text);
        check("e f\n", 6, "c d\ne f\ng h\n");
        check("e f\n", 7, "c d\ne f\ng h\n");
        check("a b\n", 6, "a b\nc d\ne f\n");
        check("k l\n", 6, "g h\ni j\nk l\n");
        check("e f\n", 1, "e f\n");
        assert_eq!(&text[around(text, 0..0, 5, &Words)], "a b\nc d\n");
        assert_eq!(inside("жж", 1..3), 0..4);
        assert_eq!(inside("ab", 7..9), 2..2);
    }

    #[test]
    fn an_answer_becomes_one_clean_paragraph() {
        let check = |text: &str, expected: &str| assert_eq!(cleaned(text), expected);
        check(" a\r\n\nb\u{1b}[0m\0c ", "a b [0m c");
        check("<think>hm\n</think>\nIt is.", "It is.");
        check("<think>never ends", "");
        check("\"It is.\"", "It is.");
        check("\"A\" and \"B\"", "\"A\" and \"B\"");
    }

    #[test]
    fn an_answer_too_long_ends_with_a_sentence_or_a_word() {
        let check =
            |text: &str, max: usize, expected: &str| assert_eq!(shortened(text, max, &Words), expected);
        check("One two. Three four. Five.", 9, "One two. Three four. Five.");
        check("One two. Three four. Five.", 4, "One two. Three four.");
        check("One v1.2 two. Three four.", 3, "One v1.2 two.");
        check("One two three four.", 3, "One two three");
        check("今天下雨。明天晴。", 5, "今天下雨。");
        check("今天下雨明天晴", 3, "今天下");
        check("word", 0, "");
    }
}
