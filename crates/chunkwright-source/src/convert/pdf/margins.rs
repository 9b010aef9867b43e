//! Running heads, running feet and page numbers: the first and last lines of pages that are the same on several, or
//! count the pages.
//!
//! Of each text one copy stays, where it divides no sentence: a head where it is first, a foot where it is last. A line
//! that stands once stays, as do tables.

use std::collections::HashMap;

use unpdf::Block;

use super::{Page, text_of, words};

/// Blocks at the top and at the bottom of a page that may be running ones.
const MAX_LINES: usize = 4;

/// Longest running line, in bytes.
const MAX_LENGTH: usize = 200;

/// Pages on which a line stands at least, or all pages of a shorter document.
const LEAST_PAGES: usize = 3;

/// Where a line is.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Zone {
    Top,
    Bottom,
}

/// A line without what differs from page to page.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Pattern {
    zone: Zone,
    /// Its text, with its numbers set apart.
    text: String,
    /// Its numbers; of one that counts pages, what it is ahead of them.
    numbers: Vec<Number>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Number {
    Same(u64),
    Ahead(i64),
}

/// Words that stand beside the number of a page.
const PAGE_WORDS: &[&str] = &[
    "page",
    "pages",
    "p",
    "pg",
    "of",
    "seite",
    "von",
    "стр",
    "страница",
    "из",
    "sur",
    "página",
    "pagina",
    "de",
    "di",
    "strona",
    "str",
    "z",
    "sida",
    "av",
    "side",
    "af",
    "第",
    "页",
    "頁",
    "共",
    "第页",
    "ページ",
];

impl Pattern {
    /// Whether it says more than the number of the page.
    fn has_text(&self) -> bool {
        let is_counting = self.numbers.iter().any(|number| matches!(number, Number::Ahead(_)));
        let mut words = self.text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
        !is_counting || words.any(|word| !PAGE_WORDS.contains(&&*word.to_lowercase()))
    }
}

/// Removes them from the pages.
pub(super) fn remove(pages: &mut [Page]) {
    let least = LEAST_PAGES.min(pages.len());
    if least < 2 {
        return;
    }
    let mut seen: HashMap<Pattern, u32> = HashMap::new();
    for page in &*pages {
        for (_, patterns) in lines(page) {
            for pattern in patterns {
                *seen.entry(pattern).or_default() += 1;
            }
        }
    }
    let is_running = |patterns: &[Pattern]| {
        let running = |pattern: &&Pattern| seen.get(*pattern).is_some_and(|&pages| pages as usize >= least);
        patterns.iter().find(running).cloned()
    };
    let found: Vec<Vec<(usize, Pattern)>> = pages
        .iter()
        .map(|page| {
            let mut found: Vec<(usize, Pattern)> = Vec::new();
            for zone in [Zone::Top, Zone::Bottom] {
                // From the edge inward, up to the first line that is not one.
                let of_zone = lines(page).into_iter().filter(|(_, patterns)| patterns[0].zone == zone);
                let running = of_zone.map_while(|(at, patterns)| Some((at, is_running(&patterns)?)));
                for line in running {
                    if found.iter().all(|(at, _)| *at != line.0) {
                        found.push(line);
                    }
                }
            }
            // A page with nothing else is a form or a slide.
            if found.len() == page.blocks.len() { Vec::new() } else { found }
        })
        .collect();
    let mut first: HashMap<&Pattern, usize> = HashMap::new();
    let mut latest: HashMap<&Pattern, usize> = HashMap::new();
    for (index, (_, pattern)) in
        found.iter().enumerate().flat_map(|(index, page)| page.iter().map(move |line| (index, line)))
    {
        first.entry(pattern).or_insert(index);
        latest.insert(pattern, index);
    }
    let kept: Vec<Vec<usize>> = found
        .iter()
        .enumerate()
        .map(|(index, page)| {
            let stays = |(_, pattern): &&(usize, Pattern)| {
                let is_text = pattern.has_text();
                let page = if pattern.zone == Zone::Top { first.get(pattern) } else { latest.get(pattern) };
                is_text && page == Some(&index)
            };
            page.iter().filter(stays).map(|(at, _)| *at).collect()
        })
        .collect();
    let body = |index: usize| {
        let running: Vec<usize> = found[index].iter().map(|(at, _)| *at).collect();
        let blocks = pages[index].blocks.iter().enumerate();
        blocks.filter(|(at, _)| !running.contains(at)).map(|(_, block)| block).collect::<Vec<_>>()
    };
    // Whether a sentence goes on from the page before.
    let goes_on: Vec<bool> = (0..pages.len())
        .map(|index| {
            let above = index.checked_sub(1).map(body);
            let above = above.and_then(|blocks| blocks.last().map(|block| text_of(block)));
            let below = body(index).first().map(|block| text_of(block));
            above.zip(below).is_some_and(|(above, below)| words::continues(&above, &below))
        })
        .collect();
    let removed: Vec<Vec<usize>> = (0..pages.len())
        .map(|index| {
            let page = &found[index];
            let divides = |pattern: &Pattern| match pattern.zone {
                Zone::Top => goes_on[index],
                Zone::Bottom => goes_on.get(index + 1).copied().unwrap_or(false),
            };
            let goes = |(at, pattern): &&(usize, Pattern)| !kept[index].contains(at) || divides(pattern);
            page.iter().filter(goes).map(|(at, _)| *at).collect()
        })
        .collect();
    for (page, removed) in pages.iter_mut().zip(removed) {
        let mut at = 0;
        page.blocks.retain(|_| {
            at += 1;
            !removed.contains(&(at - 1))
        });
    }
}

/// The lines at the edges of a page that may be running ones, from the edge inward, with what each may be: the same on
/// every page, or counting them.
fn lines(page: &Page) -> Vec<(usize, Vec<Pattern>)> {
    let count = page.blocks.len();
    let top = (0..count.min(MAX_LINES)).map(|at| (at, Zone::Top));
    let bottom = (0..count.min(MAX_LINES)).map(|at| (count - 1 - at, Zone::Bottom));
    let mut lines = Vec::new();
    let mut ended = [false; 2];
    for (at, zone) in top.chain(bottom) {
        let patterns = patterns(&page.blocks[at], zone, page.number);
        ended[zone as usize] |= patterns.is_empty();
        if !ended[zone as usize] {
            lines.push((at, patterns));
        }
    }
    lines
}

fn patterns(block: &Block, zone: Zone, page: u32) -> Vec<Pattern> {
    let Block::Paragraph(paragraph) = block else { return Vec::new() };
    let shown = paragraph.plain_text();
    let shown = shown.trim();
    if shown.is_empty() || shown.len() > MAX_LENGTH {
        return Vec::new();
    }
    let (text, numbers) = numbers(shown);
    let same: Vec<Number> = numbers.iter().map(|number| Number::Same(*number)).collect();
    let mut patterns = vec![Pattern { zone, text: text.clone(), numbers: same.clone() }];
    // One of its numbers may count the pages.
    for index in 0..numbers.len().min(MAX_LINES) {
        let mut counting = same.clone();
        counting[index] = Number::Ahead(numbers[index].cast_signed() - i64::from(page));
        patterns.push(Pattern { zone, text: text.clone(), numbers: counting });
    }
    patterns
}

/// A text with each number replaced, and the numbers; a Roman one that stands alone is one.
fn numbers(shown: &str) -> (String, Vec<u64>) {
    if let Some(number) = roman(shown.trim_matches(['-', '–', '—', ' '])) {
        return ("#".to_owned(), vec![number]);
    }
    let (mut text, mut numbers) = (String::new(), Vec::new());
    let mut number: Option<u64> = None;
    for c in shown.chars() {
        if let Some(digit) = c.to_digit(10) {
            number = Some(number.unwrap_or(0).saturating_mul(10).saturating_add(digit.into()) % (1 << 40));
            continue;
        }
        if let Some(number) = number.take() {
            text.push('#');
            numbers.push(number);
        }
        text.push(c);
    }
    if let Some(number) = number {
        text.push('#');
        numbers.push(number);
    }
    (text.split_whitespace().collect::<Vec<_>>().join(" "), numbers)
}

/// The value of a Roman number in small letters.
fn roman(text: &str) -> Option<u64> {
    let value = |c| {
        Some(match c {
            'i' => 1,
            'v' => 5,
            'x' => 10,
            'l' => 50,
            'c' => 100,
            _ => return None,
        })
    };
    let values: Vec<u64> = text.chars().take(16).map(value).collect::<Option<_>>()?;
    let sum = values.iter().enumerate().fold(0_i64, |sum, (index, value)| {
        let value = value.cast_signed();
        sum + if values.get(index + 1).is_some_and(|next| next.cast_signed() > value) {
            -value
        } else {
            value
        }
    });
    (!values.is_empty() && text.chars().count() < 16).then(|| sum.max(0).cast_unsigned())
}
