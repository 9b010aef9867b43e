//! Formats numbers in sentences.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped_and_one_is_singular() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0, 1, 2].map(|number| count(number, "chunk")), ["0 chunks", "1 chunk", "2 chunks"]);
        assert_eq!(listed(&[(3, "added"), (0, "moved"), (1, "removed")]), "3 added, 1 removed");
    }
}
