//! The pages on other systems: every row of their tables holds.
//!
//! A row says what something is called in another system, what it is here, and how to get it. The commands of a page
//! are run in order, in one folder; what stands in backticks in the second cell must be in what they print: a field or
//! `field = value`, a key of the configuration and its value, or the text itself.

use std::fs;
use std::path::Path;

use serde_json::{Deserializer, Value};

use crate::docs::{Guide, installed_models};
use crate::servers;

const DL_0010: &str = include_str!("../../../../docs/compat/dl-0010.md");
const CONTEXT_ENHANCEMENT: &str = include_str!("../../../../docs/compat/context-enhancement.md");
const AILEARN_HUB: &str = include_str!("../../../../docs/compat/ailearn-hub.md");
const ACI: &str = include_str!("../../../../docs/compat/aci.md");
const ADR_002: &str = include_str!("../../../../docs/compat/adr-002.md");

/// The pages, one a system.
const SYSTEMS: [&str; 5] = [DL_0010, CONTEXT_ENHANCEMENT, AILEARN_HUB, ACI, ADR_002];

/// A row of a table.
struct Row<'a> {
    line: &'a str,
    here: Vec<&'a str>,
    /// Commands, and items of the library.
    get: Vec<&'a str>,
}

impl Row<'_> {
    fn commands(&self) -> impl Iterator<Item = &str> {
        self.get.iter().copied().filter(|get| !is_item(get))
    }
}

/// Whether it is the path of an item and not a command.
fn is_item(get: &str) -> bool {
    get.contains("::") && !get.contains(' ')
}

/// What stands in backticks.
fn codes(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

fn rows(page: &str) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    for line in page.lines() {
        if !line.starts_with('|') || line.starts_with("|---") || line == "| There | Here | How to get it |" {
            continue;
        }
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
        let [_, here, get] = cells[..] else { panic!("three cells were expected: {line}") };
        rows.push(Row { line, here: codes(here), get: codes(get) });
    }
    rows
}

/// What a command printed.
enum Printed {
    Json(Vec<Value>),
    Text(String),
}

impl Printed {
    fn new(text: String) -> Self {
        let values: Result<Vec<Value>, _> = Deserializer::from_str(&text).into_iter().collect();
        values.map_or(Self::Text(text), Self::Json)
    }

    /// Whether `promise`, a name or `name = value`, is in it.
    fn holds(&self, promise: &str) -> bool {
        let values = match self {
            Self::Json(values) => values,
            Self::Text(text) => return text.contains(promise),
        };
        let (name, wanted) = match promise.split_once(" = ") {
            Some((name, wanted)) => {
                (name, Some(serde_json::from_str(wanted).unwrap_or_else(|_| Value::from(wanted))))
            }
            None => (promise, None),
        };
        let path: Vec<&str> = name.split('.').collect();
        let mut found = Vec::new();
        for value in values {
            at(value, &path, &mut found);
            if value["key"] == name {
                found.push(&value["value"]);
            }
        }
        found.into_iter().any(|value| wanted.as_ref().is_none_or(|wanted| wanted == value))
    }
}

/// Finds the values at a path; a list has those of its elements.
fn at<'v>(value: &'v Value, path: &[&str], found: &mut Vec<&'v Value>) {
    match (path, value) {
        ([], value) => found.push(value),
        (path, Value::Array(elements)) => elements.iter().for_each(|element| at(element, path, found)),
        ([name, rest @ ..], value) => {
            if let Some(value) = value.get(name) {
                at(value, rest, found);
            }
        }
    }
}

/// The command, for the server that tests have instead of one at its usual port; none if they have none.
fn for_servers(command: &str) -> Option<String> {
    for (kind, usual) in [("qdrant", "qdrant://localhost:6333"), ("chroma", "chroma://localhost:8000")] {
        if command.contains(usual) {
            let url = servers::url(kind)?;
            return Some(command.replace(usual, &format!("{url}?prefix=tables_{}_", std::process::id())));
        }
    }
    Some(command.to_owned())
}

/// Runs the commands of the page and compares what they print with what its rows say.
#[track_caller]
fn check(page: &str) {
    let Some(models) = installed_models(&["e5", "static"]) else { return };
    let guide = Guide::new(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), &models);
    let (_, before) = page.split_once("```sh\n").unwrap();
    for command in before.split("\n```").next().unwrap().lines() {
        let output = guide.shell(command).output().unwrap();
        assert!(output.status.success(), "`{command}`: {}", String::from_utf8_lossy(&output.stderr));
    }
    let mut wrong = Vec::new();
    for row in rows(page) {
        let mut printed = Vec::new();
        let mut are_all_run = true;
        for command in row.commands() {
            let Some(command) = for_servers(command) else {
                println!("not run without its server: `{command}`");
                are_all_run = false;
                continue;
            };
            let output = guide.shell(&command).output().unwrap();
            if !output.status.success() {
                wrong.push(format!("`{command}`: {}", String::from_utf8_lossy(&output.stderr).trim()));
            }
            printed.push(Printed::new(String::from_utf8(output.stdout).unwrap()));
        }
        for promise in row.here {
            if are_all_run && !printed.iter().any(|printed| printed.holds(promise)) {
                wrong.push(format!("`{promise}` is not printed: {}", row.line));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_stable_markdown_chunks_need_is_here() {
    check(DL_0010);
}

#[test]
fn what_a_documentation_search_for_agents_needs_is_here() {
    check(CONTEXT_ENHANCEMENT);
}

#[test]
fn what_a_course_platform_needs_is_here() {
    check(AILEARN_HUB);
}

#[test]
fn what_chunks_of_source_code_need_is_here() {
    check(ACI);
}

#[test]
fn what_chunks_by_document_size_need_is_here() {
    check(ADR_002);
}

#[test]
fn every_row_has_a_command_or_an_item_and_nothing_is_not_built() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/compat");
    // The overview is the only page without rows.
    assert_eq!(fs::read_dir(folder).unwrap().count(), SYSTEMS.len() + 1);
    for page in SYSTEMS {
        for row in rows(page) {
            assert!(!row.get.is_empty(), "{}", row.line);
            assert!(!row.line.contains("not built yet"), "{}", row.line);
            // Where no command is run, no promise would be checked.
            assert!(row.commands().next().is_some() || row.here.is_empty(), "{}", row.line);
        }
        assert!(!page.to_lowercase().contains("missing"));
    }
}

#[test]
fn a_promise_holds_where_a_field_a_key_or_a_text_is_printed_and_only_there() {
    let fields = Printed::new("{\"a\":{\"b\":1},\"list\":[\"x\"]}\n{\"hits\":[{\"rank\":2}]}\n".into());
    for holds in ["a", "a.b", "a.b = 1", "list = [\"x\"]", "hits.rank", "hits.rank = 2"] {
        assert!(fields.holds(holds), "{holds}");
    }
    for fails in ["b", "a.b = 2", "a.b.c", "list = [\"y\"]", "rank", "hits.rank = 1", "x"] {
        assert!(!fields.holds(fails), "{fails}");
    }
    let keys = Printed::new("{\"key\":\"unit\",\"value\":\"chars\",\"origin\":\"-\"}\n".into());
    assert!(keys.holds("unit") && keys.holds("unit = chars") && !keys.holds("unit = tokens"));
    let text = Printed::new("# HELP chunks\nchunks 3\n".into());
    assert!(text.holds("chunks 3") && !text.holds("chunks 4"));
    assert!(!Printed::new(String::new()).holds("a"));
}

/// The names of items, which are those of the libraries: it would not compile otherwise.
macro_rules! items {
    ($($item:path),* $(,)?) => {{
        $(
            #[expect(unused_imports, reason = "that it can be imported is what is checked")]
            use $item as _;
        )*
        [$(stringify!($item)),*]
    }};
}

#[test]
fn items_of_the_library_that_rows_name_exist() {
    let known = items![
        chunkwright::Chunker,
        chunkwright::ChunkingResult,
        chunkwright::Document,
        chunkwright::STRATEGIES,
        chunkwright::Strategy,
        chunkwright::TokenCounter,
        chunkwright_code::COMPONENTS,
        chunkwright_engine::Engine,
    ];
    let mut named: Vec<&str> = SYSTEMS.into_iter().flat_map(rows).flat_map(|row| row.get).collect();
    named.retain(|get| is_item(get));
    named.sort_unstable();
    named.dedup();
    assert_eq!(named, known);
}
