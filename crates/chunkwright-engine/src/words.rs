//! Numbers as sentences have them.

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

/// Those of the numbers that are not 0, each with what it counts: `3 added, 1 removed`.
pub(crate) fn listed(numbers: &[(usize, &str)]) -> String {
    let some = numbers.iter().filter(|(number, _)| *number > 0);
    some.map(|(number, what)| format!("{} {what}", grouped(*number))).collect::<Vec<_>>().join(", ")
}
