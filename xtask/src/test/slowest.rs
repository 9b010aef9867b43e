//! The slowest tests, and the committed table that keeps them from growing in number and share.
//!
//! Times differ between machines and hours, so what is compared is a test's share of the time of all tests of its run.

use std::fs;

use anyhow::{Context, Result, bail};

use crate::shell;

/// Where nextest writes the time of each test, below the root.
const REPORT: &str = "target/nextest/default/junit.xml";

/// The committed table.
const TABLE: &str = "eval/slowest-tests.md";

/// Rows of the table.
const ROWS: usize = 20;

/// How many times its share of the table a test may take: machines weigh a disk against a core differently.
const TOLERANCE: f64 = 4.0;

/// Set to rewrite the table.
const UPDATE: &str = "UPDATE_SPEC";

/// Compares the run that has just ended with the table: no test takes a much greater share than there, and none outside of it
/// much more than its last.
pub(super) fn check() -> Result<()> {
    let report = shell::root().join(REPORT);
    let report =
        fs::read_to_string(&report).with_context(|| format!("`{}` could not be read", report.display()))?;
    let mut tests = tests(&report);
    tests.sort_by(|a, b| b.1.total_cmp(&a.1));
    let total: f64 = tests.iter().map(|(_, seconds)| seconds).sum();
    let path = shell::root().join(TABLE);
    if std::env::var_os(UPDATE).is_some() {
        let rows = tests.iter().take(ROWS);
        let rows: String =
            rows.map(|(name, seconds)| format!("| `{name}` | {:.2} |\n", seconds / total * 100.0)).collect();
        return Ok(fs::write(path, format!("{ABOUT}{rows}"))?);
    }
    let table = fs::read_to_string(&path).with_context(|| format!("`{TABLE}` could not be read"))?;
    let known: Vec<(&str, f64)> = table.lines().filter_map(row).collect();
    let last = known.iter().map(|(_, share)| *share).fold(f64::INFINITY, f64::min);
    let slower: Vec<String> = tests
        .iter()
        .filter_map(|(name, seconds)| {
            let share = seconds / total * 100.0;
            let allowed =
                known.iter().find(|(known, _)| known == name).map_or(last, |(_, share)| *share) * TOLERANCE;
            (share > allowed).then(|| {
                format!("`{name}` took {share:.2} % of the run ({seconds:.1} s), allowed are {allowed:.2} %")
            })
        })
        .collect();
    if !slower.is_empty() {
        bail!("{}; make them faster, or run with {UPDATE}=1 to rewrite `{TABLE}`", slower.join("; "));
    }
    Ok(())
}

const ABOUT: &str = "# The slowest tests\n\nShare of the time of all Rust tests of a run, in percent. `cargo xtask test` fails where a test takes more than \
four times its\nshare here, or one that is not here more than four times the last; `UPDATE_SPEC=1 cargo xtask test` rewrites the table.\n\n\
| Test | Share |\n|---|--:|\n";

/// The tests of a report with their seconds.
fn tests(report: &str) -> Vec<(String, f64)> {
    let attribute = |tag: &str, name: &str| {
        let value = tag.split_once(&format!(" {name}=\""))?.1;
        Some(value.split('"').next()?.to_owned())
    };
    let cases = report.split("<testcase").skip(1);
    cases
        .filter_map(|tag| {
            let name = format!("{} {}", attribute(tag, "classname")?, attribute(tag, "name")?);
            Some((name, attribute(tag, "time")?.parse().ok()?))
        })
        .collect()
}

/// The test and share of a row.
fn row(line: &str) -> Option<(&str, f64)> {
    let (name, share) = line.strip_prefix("| `")?.split_once("` | ")?;
    Some((name, share.strip_suffix(" |")?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_and_a_row_are_read() {
        let report =
            r#"<testsuite><testcase name="a::b" classname="chunkwright::it" time="1.5"/></testsuite>"#;
        assert_eq!(tests(report), [("chunkwright::it a::b".to_owned(), 1.5)]);
        assert_eq!(row("| `chunkwright::it a::b` | 2.50 |"), Some(("chunkwright::it a::b", 2.5)));
        assert_eq!(row("|---|--:|"), None);
    }
}
