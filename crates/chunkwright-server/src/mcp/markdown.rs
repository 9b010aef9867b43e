//! Markdown of answers: names on one line, texts in fences that nothing inside can close.

/// Most characters of a name that stands beside others on a line.
const MAX_NAME: usize = 120;

/// A name from a document on one line, without control characters; of a long one its end, which says most.
pub(super) fn name(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let line = words.collect::<Vec<_>>().join(" ");
    match line.char_indices().rev().nth(MAX_NAME) {
        Some((at, c)) => format!("...{}", &line[at + c.len_utf8()..]),
        None => line,
    }
}

/// A text in a fence that is longer than any run of backticks in it.
pub(super) fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let end = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_closes_its_fence() {
        for text in ["", "plain", "a\n```\nb\n", "`````", "~~~\n", "    ````x"] {
            let fenced = fenced("", text);
            let fence = fenced.lines().next().unwrap();
            let closing =
                fenced.lines().skip(1).position(|line| line.trim_start().starts_with(fence)).unwrap();
            assert_eq!(closing + 2, fenced.lines().count(), "{fenced}");
        }
    }

    #[test]
    fn a_name_is_one_line() {
        assert_eq!(name("a\n```\u{1b}b"), "a ``` b");
        assert_eq!(name(&"ab".repeat(100)).chars().count(), MAX_NAME + 3);
    }
}
