//! The committed quality tables: what every preset finds, what an edit changes, how large chunks are.
//!
//! `eval/examples.md` is generated from the example corpus and its questions, which are in the repository, so that
//! anyone can reproduce it. Question sets that may not be shipped are passed as a folder; their table is
//! `eval/sets.md`. All figures come from `chunkwright eval`, use a fixed seed, and are the same on every machine: a
//! difference in `git diff eval` is a difference in quality.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::build::{self, Profile};
use crate::shell;

/// The folder of the tables.
const FOLDER: &str = "eval";

/// Modes in the order of the tables; the main one first.
const MODES: &[&str] = &["hybrid", "dense", "lexical"];

/// Measures of the summary table.
const MEASURES: &[&str] =
    &["R@500", "R@1000", "R@2000", "recall@5", "precision@5", "IoU@5", "nDCG@5", "nDCG@10", "intact"];

/// The options for every set. The English model is fast enough to finish in minutes; a reader's tokens are counted by
/// the tokenizer of the multilingual models, which treats all languages alike.
const HOW: &[&str] = &[
    "--preset",
    "all",
    "--embedder",
    "static",
    "--budget-tokenizer",
    "xlm-r",
    "--format",
    "json",
    "--quiet",
];

/// Documents with questions.
struct Set {
    name: String,
    questions: PathBuf,
    documents: PathBuf,
}

/// The measurements of a set.
struct Measured {
    name: String,
    report: Value,
}

/// Builds the program, measures, and writes the tables.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let data = match arguments {
        [] => None,
        [flag, folder] if flag == "--data" => Some(PathBuf::from(folder)),
        _ => bail!("unexpected arguments; usage: cargo xtask eval [--data DIR]"),
    };
    let sets = data.as_deref().map(sets).transpose()?;
    println!(
        "This builds the release binary (about 7 minutes from nothing), installs the models, and measures every\n\
         preset: seconds for the example corpus, a few minutes for question sets of a megabyte each."
    );
    build::program(Profile::Release)?;
    build::install_models(Profile::Release, &[])?;
    let example = Set {
        name: "examples".into(),
        questions: "examples/questions.jsonl".into(),
        documents: "examples/corpus".into(),
    };
    let measured = [measure(&example, &["--stability", "--mode", &MODES.join(",")])?];
    let edits = &measured[0].report;
    let again = "`cargo xtask eval`, from `examples/corpus` and `examples/questions.jsonl`";
    write("examples.md", &page("The example corpus", again, &measured, edits))?;
    if let Some((sets, edits)) = sets {
        let mut measured = Vec::new();
        for set in &sets {
            measured.push(measure(set, &["--mode", &MODES.join(",")])?);
        }
        let edits = match edits {
            Some(path) => report(Command::new(program()?).arg("eval").arg("--edits").arg(path))?,
            None => Value::Null,
        };
        let again = "`cargo xtask eval --data DIR`, from question sets that are not in the repository";
        write("sets.md", &page("Question sets", again, &measured, &edits))?;
    }
    Ok(())
}

/// The sets below `folder`, by name, and its file of edits if there is one.
fn sets(folder: &Path) -> Result<(Vec<Set>, Option<PathBuf>)> {
    let entries = fs::read_dir(folder).with_context(|| {
        format!("`{}` could not be read; give a folder of question sets", folder.display())
    })?;
    let mut sets = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let (questions, documents) = (path.join("questions.jsonl"), path.join("docs"));
        if questions.is_file() && documents.is_dir() {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            sets.push(Set { name, questions, documents });
        }
    }
    if sets.is_empty() {
        bail!(
            "`{}` holds no question set; one is a folder with `questions.jsonl` and `docs/`",
            folder.display()
        );
    }
    sets.sort_by(|a, b| a.name.cmp(&b.name));
    let edits = folder.join("edits.jsonl");
    Ok((sets, edits.is_file().then_some(edits)))
}

fn program() -> Result<PathBuf> {
    build::binary("chunkwright", Profile::Release)
}

fn measure(set: &Set, arguments: &[&str]) -> Result<Measured> {
    println!("{}", set.name);
    let mut command = Command::new(program()?);
    command.arg("eval").arg(&set.questions).arg(&set.documents).args(arguments);
    Ok(Measured { name: set.name.clone(), report: report(&mut command)? })
}

/// The report of a run of the program.
fn report(command: &mut Command) -> Result<Value> {
    let output = command.args(HOW).current_dir(shell::root()).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        bail!("`{}` failed ({})", shell::shown(command), output.status);
    }
    serde_json::from_slice(&output.stdout).context("the report is no JSON")
}

fn write(name: &str, text: &str) -> Result<()> {
    let folder = shell::root().join(FOLDER);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(name), text).with_context(|| format!("`{FOLDER}/{name}` could not be written"))?;
    println!("wrote {FOLDER}/{name}");
    Ok(())
}

/// A page of tables.
fn page(title: &str, again: &str, measured: &[Measured], edits: &Value) -> String {
    let mut out = format!(
        "# {title}\n\nMade by {again}. Figures are percent unless stated otherwise; ± is half of a 95 % interval over questions.\n"
    );
    let run = &measured[0].report["run"];
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "\nSizes of chunks are in tokens of {}, the budget of a reader in tokens of {}; vectors are those of {}.\n\n{}",
        text(&run["tokenizer"]),
        text(&run["budget_tokenizer"]),
        text(&run["embedder"]),
        data(measured)
    );
    for mode in MODES {
        let _ = writeln!(out, "## R@1000, {mode}\n\n{}", recall(measured, mode));
    }
    let _ = writeln!(
        out,
        "## R@1000 minus that of `{}`, {}\n\nDifferences are paired by question; * marks those beyond noise.\n\n{}",
        text(&run["baseline"]),
        MODES[0],
        differences(measured)
    );
    let _ = writeln!(out, "## All measures, {}, mean of the sets\n\n{}", MODES[0], measures(measured));
    let _ = writeln!(out, "## Sizes\n\nIn tokens of `content`.\n\n{}", sizes(measured));
    if edits["stability"].as_array().is_some_and(|lines| !lines.is_empty()) {
        let _ = writeln!(
            out,
            "## What an edit changes\n\nChunks with a new id per edit, then chunks whose own text is new: a renamed title gives a new id to every chunk that borrows it. `ids renamed` counts ids that belong to another text after the edit.\n\n{}",
            stability(edits)
        );
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// A Markdown table.
fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let row = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let names: Vec<String> = header.iter().map(|name| (*name).to_owned()).collect();
    let mut out = row(&names);
    // Writing to a string cannot fail.
    let _ = writeln!(out, "|{}", "---|".repeat(header.len()));
    rows.into_iter().for_each(|cells| out.push_str(&row(&cells)));
    out
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "none".into(),
        other => other.to_string(),
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_default()
}

fn percent(value: &Value) -> String {
    format!("{:.1}", 100.0 * number(value))
}

/// The lines of a report in one mode.
fn lines<'a>(report: &'a Value, mode: &'a str) -> impl Iterator<Item = &'a Value> {
    report["retrieval"].as_array().into_iter().flatten().filter(move |line| line["mode"] == mode)
}

/// The names of the presets, in order.
fn presets(measured: &[Measured]) -> Vec<String> {
    lines(&measured[0].report, MODES[0]).map(|line| text(&line["preset"])).collect()
}

fn line<'a>(measured: &'a Measured, mode: &'a str, preset: &str) -> &'a Value {
    lines(&measured.report, mode).find(|line| line["preset"] == preset).unwrap_or(&Value::Null)
}

fn data(measured: &[Measured]) -> String {
    let row = |it: &Measured| {
        let run = &it.report["run"];
        vec![it.name.clone(), text(&run["documents"]), text(&run["questions"])]
    };
    table(&["set", "documents", "questions"], measured.iter().map(row))
}

/// A table with a row for each preset and a column for each set.
fn by_set(measured: &[Measured], last: &str, row: impl Fn(&str) -> Vec<String>) -> String {
    let names = measured.iter().map(|it| it.name.as_str());
    let header: Vec<&str> =
        std::iter::once("preset").chain(names).chain((!last.is_empty()).then_some(last)).collect();
    table(&header, presets(measured).iter().map(|preset| row(preset)))
}

fn recall(measured: &[Measured], mode: &str) -> String {
    // One set is its own mean.
    let last = if measured.len() > 1 { "mean" } else { "" };
    by_set(measured, last, |preset| {
        let values: Vec<&Value> =
            measured.iter().map(|it| &line(it, mode, preset)["measures"]["R@1000"]).collect();
        let cell = |value: &&Value| {
            let half = (number(&value["high"]) - number(&value["low"])) * 50.0;
            format!("{} ±{half:.1}", percent(&value["mean"]))
        };
        let mean =
            values.iter().map(|value| number(&value["mean"])).sum::<f64>() / values.len().max(1) as f64;
        std::iter::once(preset.to_owned())
            .chain(values.iter().map(cell))
            .chain((!last.is_empty()).then(|| format!("{:.1}", 100.0 * mean)))
            .collect()
    })
}

fn differences(measured: &[Measured]) -> String {
    by_set(measured, "", |preset| {
        let cell = |it: &Measured| {
            let by = &line(it, MODES[0], preset)["measures"]["R@1000"]["difference"];
            if by.is_null() {
                return "0".to_owned();
            }
            let (low, high) = (number(&by["low"]), number(&by["high"]));
            let star = if low > 0.0 || high < 0.0 { "*" } else { "" };
            format!("{:+.1} [{:+.1}, {:+.1}]{star}", 100.0 * number(&by["mean"]), 100.0 * low, 100.0 * high)
        };
        std::iter::once(preset.to_owned()).chain(measured.iter().map(cell)).collect()
    })
}

fn measures(measured: &[Measured]) -> String {
    let header: Vec<&str> = std::iter::once("preset").chain(MEASURES.iter().copied()).collect();
    let rows = presets(measured).into_iter().map(|preset| {
        let cell = |name: &&str| {
            let sum: f64 = measured
                .iter()
                .map(|it| number(&line(it, MODES[0], &preset)["measures"][*name]["mean"]))
                .sum();
            format!("{:.1}", 100.0 * sum / measured.len() as f64)
        };
        std::iter::once(preset.clone()).chain(MEASURES.iter().map(cell)).collect()
    });
    table(&header, rows)
}

fn sizes(measured: &[Measured]) -> String {
    let header = [
        "set",
        "preset",
        "max_size",
        "version",
        "chunks",
        "mean",
        "p50",
        "p95",
        "max",
        "covered",
        "kept over the limit",
        "over the limit",
    ];
    let rows = measured.iter().flat_map(|it| {
        lines(&it.report, MODES[0]).map(|line| {
            let sizes = &line["sizes"];
            let limits: Vec<String> = line["max_sizes"].as_array().into_iter().flatten().map(text).collect();
            vec![
                it.name.clone(),
                text(&line["preset"]),
                format!("{} {}", limits.join(", "), text(&line["unit"])),
                text(&line["strategy_version"]),
                text(&sizes["chunks"]),
                format!("{:.1}", number(&sizes["mean"])),
                text(&sizes["p50"]),
                text(&sizes["p95"]),
                text(&sizes["max"]),
                format!("{:.2}", 100.0 * number(&sizes["covered"])),
                text(&sizes["oversize"]),
                text(&sizes["over_limit"]),
            ]
        })
    });
    table(&header, rows)
}

fn stability(report: &Value) -> String {
    let header = ["preset", "edits", "number", "chunks a document"];
    let counts = ["mean", "p50", "p99", "max", "own text: mean", "p99", "max", "ids kept"];
    let rest = ["ids != texts", "ids renamed", "tokens to embed"];
    let header: Vec<&str> = header.into_iter().chain(counts).chain(rest).collect();
    let rows = report["stability"].as_array().into_iter().flatten().map(|line| {
        let (changed, own) = (&line["changed"], &line["own_changed"]);
        vec![
            text(&line["preset"]),
            text(&line["edits"]),
            text(&line["count"]),
            format!("{:.1}", number(&line["chunks"])),
            format!("{:.2}", number(&changed["mean"])),
            text(&changed["p50"]),
            text(&changed["p99"]),
            text(&changed["max"]),
            format!("{:.2}", number(&own["mean"])),
            text(&own["p99"]),
            text(&own["max"]),
            percent(&line["kept"]),
            text(&line["unequal"]),
            text(&line["renamed"]),
            format!("{:.0}", number(&line["tokens_to_embed"])),
        ]
    });
    table(&header, rows)
}
