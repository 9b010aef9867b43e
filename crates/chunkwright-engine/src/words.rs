//! Formats numbers and names in sentences.

use std::borrow::Cow;

/// `1 chunk`, `12,000 chunks`.
pub fn count(number: usize, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// `1,234,567`.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(|group| String::from_utf8_lossy(group).into_owned());
    groups.collect::<Vec<_>>().join(",")
}

/// The numbers that are not 0, each with its noun: `3 added, 1 removed`.
pub(crate) fn listed(numbers: &[(usize, &str)]) -> String {
    let some = numbers.iter().filter(|(number, _)| *number > 0);
    some.map(|(number, what)| format!("{} {what}", grouped(*number))).collect::<Vec<_>>().join(", ")
}

/// A sentence for callers who write no flags: `` `--min-relevance 0` `` becomes `` `min_relevance` 0``, by the name that
/// requests have for it.
pub fn without_flags(sentence: &str) -> Cow<'_, str> {
    const FLAG: &str = "`--";
    let mut parts = sentence.split(FLAG);
    let mut shown = parts.next().unwrap_or_default().to_owned();
    let mut found = false;
    for part in parts {
        let named =
            part.split_once('`').filter(|(flag, _)| flag.starts_with(|c: char| c.is_ascii_alphabetic()));
        let Some((flag, rest)) = named else {
            shown.extend([FLAG, part]);
            continue;
        };
        let (name, value) = flag.split_once([' ', '=']).unwrap_or((flag, ""));
        shown.extend(["`", &name.replace('-', "_"), "`"]);
        if !value.is_empty() {
            shown.extend([" ", value]);
        }
        shown.push_str(rest);
        found = true;
    }
    if found { shown.into() } else { sentence.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_become_the_names_of_requests() {
        for (sentence, expected) in [
            ("`--min-relevance 0` shows all", "`min_relevance` 0 shows all"),
            ("`--prune=force` removes, `--vectors` not", "`prune` force removes, `vectors` not"),
            ("run `chunkwright overlays --review`", "run `chunkwright overlays --review`"),
            ("`--` and `--x", "`--` and `--x"),
            ("plain", "plain"),
        ] {
            assert_eq!(without_flags(sentence), expected);
        }
    }

    #[test]
    fn thousands_are_grouped_and_one_is_singular() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0, 1, 2].map(|number| count(number, "chunk")), ["0 chunks", "1 chunk", "2 chunks"]);
        assert_eq!(listed(&[(3, "added"), (0, "moved"), (1, "removed")]), "3 added, 1 removed");
    }
}
