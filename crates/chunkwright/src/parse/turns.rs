//! Turns of conversations in plain text: transcripts, exports of chats, questions and answers, lists of dated or named
//! records. A turn begins at a line with a label, such as `Anna:`, `[12:30]` or `31.12.25, 12:30 - Anna:`, and extends to
//! the next one.

use std::collections::HashSet;
use std::ops::Range;

use super::lines::Lines;

/// A turn by the line that it begins at.
pub(super) struct Turn {
    /// Index of the line.
    pub(super) line: usize,
    /// The bytes of its label in that line.
    pub(super) label: Range<usize>,
}

/// Labels that make a text a conversation.
const LEAST_LABELS: usize = 3;
/// Lines that a turn has on average at most.
const MOST_LINES: usize = 12;

/// The turns of a text, or none if it is not a conversation: its lines or paragraphs have too few labels, or too many
/// different ones.
pub(super) fn turns(lines: &Lines<'_>) -> Vec<Turn> {
    let (mut count, mut paragraphs) = (0, 0);
    let mut labels: Vec<(Turn, Label<'_>)> = Vec::new();
    let mut names = HashSet::new();
    for line in 0..lines.len() {
        let text = lines.text(line);
        if text.is_empty() {
            continue;
        }
        count += 1;
        paragraphs += usize::from(line == 0 || lines.is_blank(line - 1));
        if let Some(label) = label(text) {
            names.insert(label.name);
            labels.push((Turn { line, label: label.start..label.end }, label));
        }
    }
    let stamped = labels.iter().filter(|(_, label)| label.is_stamped).count();
    names.remove("");
    let is_dense = |labels: usize| labels >= LEAST_LABELS && labels * MOST_LINES >= count;
    if is_dense(stamped) && stamped * 2 >= labels.len() {
        // A line of a message may look like a name.
        labels.retain(|(_, label)| label.is_stamped);
    } else {
        let is_list = labels.len() * 2 >= count;
        let is_talk = names.len() >= 2 && names.len() * 2 <= labels.len() && labels.len() * 2 >= paragraphs;
        if !(is_dense(labels.len()) && (is_list || is_talk)) {
            return Vec::new();
        }
    }
    labels.into_iter().map(|(turn, _)| turn).collect()
}

/// What a line begins with that says who speaks or when.
struct Label<'a> {
    start: usize,
    end: usize,
    name: &'a str,
    is_stamped: bool,
}

/// Most characters of a name.
const MAX_NAME: usize = 40;
/// Most words of a name.
const MAX_NAME_WORDS: usize = 4;
/// Most characters of a line that are looked at.
const NEAR: usize = 120;

fn label(line: &str) -> Option<Label<'_>> {
    let near = line.char_indices().nth(NEAR).map_or(line, |(at, _)| &line[..at]);
    let text = near.trim_start_matches(['\u{200e}', '\u{200f}', '*', '_', ' ', '\t']);
    let start = near.len() - text.len();
    let stamp = stamp(text);
    let rest = &text[stamp..];
    let is_stamped = stamp > 0;
    if let Some((name, end)) = speaker(rest, is_stamped).or_else(|| nick(rest)) {
        return Some(Label { start, end: start + stamp + end, name, is_stamped });
    }
    if is_stamped {
        let end = start + text[..stamp].trim_end().len();
        return Some(Label { start, end, name: "", is_stamped });
    }
    // A line of nothing but a name and a time.
    if line.len() > near.len() || !line.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let words = text.split_inclusive([' ', '\t', '\u{a0}']).take(MAX_NAME_WORDS + 1);
    let mut at = 0;
    for word in words {
        let (name, time) = text.split_at(at);
        if at > 0 && self::stamp(time) == time.len() && is_name(name.trim()) {
            return Some(Label { start, end: line.len(), name: name.trim(), is_stamped: true });
        }
        at += word.len();
    }
    None
}

/// A name before a colon, and the end of that.
fn speaker(text: &str, is_stamped: bool) -> Option<(&str, usize)> {
    let colon = text.find([':', '：'])?;
    let mark = text[colon..].chars().next().map_or(0, char::len_utf8);
    let after = text[colon + mark..].trim_start_matches(['*', '_']);
    let end = text.len() - after.len();
    let before = text[..colon].trim_end_matches(['*', '_']);
    // `Anna (12:30):`
    let inner = before.find(['(', '[']).filter(|&at| at > 0);
    if let Some(open) = inner.filter(|_| !before.ends_with([')', ']'])) {
        let close = open + text[open..].find([')', ']'])? + 1;
        let rest = text[close..].strip_prefix([':', '：'])?;
        let name = text[..open].trim();
        return is_name(name).then_some((name, text.len() - rest.len()));
    }
    let name = inner.map_or(before, |open| &before[..open]).trim();
    let ends = mark > 1 || after.is_empty() || after.starts_with(char::is_whitespace);
    let fits =
        is_name(name) || is_stamped && name.chars().count() <= MAX_NAME && name.split(' ').count() <= 5;
    (ends && fits).then_some((name, end))
}

/// A name in angle brackets, as in logs of IRC, and its end.
fn nick(text: &str) -> Option<(&str, usize)> {
    let (name, rest) = text.strip_prefix('<')?.split_once('>')?;
    let is_nick = |c: char| c.is_alphanumeric() || "_-[]\\`^{}|@+ ".contains(c);
    let fits =
        rest.starts_with(' ') && !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(is_nick);
    fits.then_some((name, text.len() - rest.len()))
}

/// Whether `text` can be a name, a role or a number of a speaker: a few words, the first not in lower case.
fn is_name(text: &str) -> bool {
    let first = text.chars().next();
    let is_part =
        |c: char| c.is_alphanumeric() || c.is_whitespace() || ".'’-_@&#·・".contains(c) || is_mark(c);
    first.is_some_and(|c| c.is_alphabetic() && !c.is_lowercase())
        && text.chars().count() <= MAX_NAME
        && text.split_whitespace().count() <= MAX_NAME_WORDS
        && text
            .split_whitespace()
            .all(|word| word.chars().count() < 4 || !word.starts_with(char::is_lowercase))
        && text.chars().all(is_part)
}

/// Whether `c` may stand in a word of a script whose vowels are marks.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{900}'..='\u{dff}' | '\u{e30}'..='\u{e4e}' | '\u{1000}'..='\u{109f}')
}

/// Length of the date or time that `text` begins with, in brackets or not, with the dash after it; 0 if none.
fn stamp(text: &str) -> usize {
    let bare = text.trim_start_matches(['[', '(']);
    let mut end = 0;
    let mut has_time = false;
    let mut at = text.len() - bare.len();
    let (mut numbers, mut has_month) = (0, false);
    while at < text.len() {
        let word = text[at..].split(is_space).next().unwrap_or_default();
        let next = at + word.len();
        let bare = word.trim_matches(|c| matches!(c, '[' | ']' | '(' | ')' | ',' | '.'));
        // `[12:30]Anna` and `下午3:20`
        if is_clock_or_date(bare) {
            has_time = true;
        } else if is_month(bare) && numbers <= 2 && !has_month {
            has_month = true;
        } else if (1..=4).contains(&bare.trim_end_matches(',').len())
            && bare.bytes().all(|b| b.is_ascii_digit())
        {
            numbers += 1;
        } else if !is_filler(bare) || end == 0 && bare.is_empty() {
            break;
        }
        if has_time || has_month && numbers > 0 {
            end = next;
        } else if numbers > 2 {
            break;
        }
        let is_closed = word.ends_with([']', ')']);
        at = next + text[next..].chars().next().map_or(0, char::len_utf8);
        if is_closed {
            break;
        }
    }
    let is_stamp = has_time || has_month && numbers >= 2;
    if is_stamp {
        (end + text[end..].len() - text[end..].trim_start_matches(is_space).len()).min(text.len())
    } else {
        0
    }
}

fn is_space(c: char) -> bool {
    c.is_whitespace() || c == '\u{200e}'
}

/// Whether a word within a stamp says nothing of a time itself: halves of the day, dashes, time zones.
fn is_filler(word: &str) -> bool {
    const WORDS: &[&str] = &[
        "am", "pm", "a.m", "p.m", "utc", "gmt", "at", "в", "г", "上午", "下午", "-", "–", "—", "|", "-->", "",
    ];
    WORDS.contains(&word.to_lowercase().as_str())
}

/// Whether a word begins with the name of a month in English or Russian.
fn is_month(word: &str) -> bool {
    const MONTHS: &[&str] = &[
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", "янв", "фев",
        "мар", "апр", "мая", "май", "июн", "июл", "авг", "сен", "окт", "ноя", "дек",
    ];
    if !(3..=9).contains(&word.chars().count()) {
        return false;
    }
    let word = word.to_lowercase();
    MONTHS.iter().any(|month| word.starts_with(month))
}

/// Whether a word is a time, such as `9:05` or `下午3:20`, or a date, such as `2025-12-31`, `31.12.25` or `2025年12月31日`.
fn is_clock_or_date(word: &str) -> bool {
    let word = word.trim_start_matches(['上', '下', '午']);
    if word.starts_with(|c: char| c.is_ascii_digit()) && (word.ends_with('日') || word.ends_with('号')) {
        return word.contains('月');
    }
    let word = word.trim_end_matches(['Z', 'z']).split(['+', 'T']).next().unwrap_or_default();
    let word = word.strip_suffix("am").or(word.strip_suffix("pm")).unwrap_or(word);
    let Some(joint) = word.chars().find(|c| !c.is_ascii_digit()) else { return false };
    let mut lens = [0; 4];
    for (index, group) in word.split(joint).enumerate() {
        // The seconds of a time have a fraction.
        let group = if joint == ':' && index > 0 {
            group.split(['.', ',']).next().unwrap_or_default()
        } else {
            group
        };
        if index >= 4 || group.is_empty() || !group.bytes().all(|b| b.is_ascii_digit()) {
            return false;
        }
        lens[index] = group.len();
    }
    let is_long = matches!(
        (joint, lens),
        (':', [1..=3, 2, 0 | 2, 0]) | ('-' | '/' | '.', [4, 1..=2, 1..=2, 0] | [1..=2, 1..=2, 4, 0])
    );
    is_long || matches!((joint, lens), ('-' | '/', [1..=2, 1..=2, 2, 0]) | ('.', [2, 2, 2, 0]))
}
