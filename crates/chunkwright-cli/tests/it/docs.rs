//! The guides: sessions in them are what the program prints, and their tables are what the registries hold.
//!
//! In `README.md` and `docs/*.md`, a fence `console` is a session: lines that begin with `$ ` are run by a shell, in one
//! folder a file, which has `examples/` in it. `head=N` keeps the first lines of what each prints. What stands between
//! `<!-- generated: NAME -->` and `<!-- end -->` is made by the function of that name in [`GENERATED`].
//! `UPDATE_SPEC=1` writes both anew; without it a difference fails.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use chunkwright::preset::PRESETS;
use chunkwright::{ALIASES, Assignments, Means, PARSERS, STRATEGIES, Unit};
use chunkwright_code::{COMPONENTS, LANGUAGES, PLAIN};
use chunkwright_engine::convert::CONVERTERS;
use chunkwright_engine::settings::key;
use chunkwright_index::{CALIBRATIONS, Calibration, LEXICAL, STORES};
use chunkwright_models::{COUNTERS, MODELS, WRITERS};

use crate::cli::Folder;

/// Makes a part of a page; commands run in the folder.
type Make = fn(&Folder) -> String;

/// What makes each generated part.
const GENERATED: &[(&str, Make)] = &[
    ("commands", commands),
    ("presets", presets),
    ("strategies", strategies),
    ("keys", keys),
    ("aliases", aliases),
    ("formats", formats),
    ("languages", languages),
    ("counters", counters),
    ("embedders", embedders),
    ("rerankers", rerankers),
    ("calibrations", calibrations),
    ("writers", writers),
    ("models", models),
    ("stores", stores),
    ("error codes", error_codes),
    ("engine example", engine_example),
];

#[test]
fn the_guides_show_what_the_program_prints() {
    let Some(models) = installed_models(&["static"]) else { return };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = vec![root.join("README.md")];
    files.extend(fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path()));
    files.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    files.sort();
    let mut stale = Vec::new();
    for path in &files {
        let before = fs::read_to_string(path).unwrap();
        let now = Guide::new(&root, &models).written_anew(&before);
        if before == now {
            continue;
        }
        if std::env::var_os("UPDATE_SPEC").is_some() {
            fs::write(path, now).unwrap();
        } else {
            stale.push(difference(path, &before, &now));
        }
    }
    assert!(stale.is_empty(), "UPDATE_SPEC=1 writes these anew:\n{}", stale.join("\n"));
}

#[test]
fn every_generated_part_is_in_a_guide() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let pages = fs::read_dir(docs)
        .unwrap()
        .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap_or_default());
    let all: String = pages.collect();
    for (name, _) in GENERATED {
        assert!(all.contains(&format!("<!-- generated: {name} -->")), "no page of docs has `{name}`");
    }
}

/// Where models are installed; none if the machine lacks one that is wanted, and need not have it.
pub(crate) fn installed_models(wanted: &[&str]) -> Option<PathBuf> {
    let configured = std::env::var_os("CHUNKWRIGHT_DATA").map(PathBuf::from);
    let data = chunkwright_models::data_dir(configured.as_deref()).unwrap();
    let is_installed = |name: &&&str| chunkwright_models::data::model(name).unwrap().is_installed(&data);
    let Some(absent) = wanted.iter().find(|name| !is_installed(name)) else {
        return Some(data.join("models"));
    };
    assert!(
        std::env::var_os("CHUNKWRIGHT_REQUIRE_MODELS").is_none(),
        "the model `{absent}` is not installed"
    );
    println!("not checked: the model `{absent}` is not installed");
    None
}

/// Makes the models those of the folder's home.
pub(crate) fn link_models(folder: &Folder, models: &Path) {
    let data = folder.home().join(".local/share/chunkwright");
    fs::create_dir_all(&data).unwrap();
    std::os::unix::fs::symlink(models, data.join("models")).unwrap();
}

/// The first lines that differ.
fn difference(path: &Path, before: &str, now: &str) -> String {
    let mut lines = before.lines().zip(now.lines()).enumerate();
    let name = path.file_name().unwrap().display();
    match lines.find(|(_, (before, now))| before != now) {
        Some((index, (before, now))) => format!("{name}:{}\n- {before}\n+ {now}", index + 1),
        None => format!("{name}: {} lines before, {} now", before.lines().count(), now.lines().count()),
    }
}

/// A page, and the folder in which its sessions run.
pub(crate) struct Guide {
    folder: Folder,
}

impl Guide {
    pub(crate) fn new(root: &Path, models: &Path) -> Self {
        let folder = Folder::new(&[]);
        link_models(&folder, models);
        copy(&root.join("examples"), &folder.path().join("examples"));
        Self { folder }
    }

    fn written_anew(&self, page: &str) -> String {
        let mut out = String::new();
        let mut lines = page.lines();
        while let Some(line) = lines.next() {
            let _ = writeln!(out, "{line}");
            if let Some(info) = line.strip_prefix("```console") {
                let session: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
                let _ = writeln!(out, "{}```", self.session(&session, info.trim().strip_prefix("head=")));
            } else if let Some(name) =
                line.strip_prefix("<!-- generated: ").and_then(|rest| rest.strip_suffix(" -->"))
            {
                let found = GENERATED.iter().find(|(known, _)| *known == name);
                let (_, make) = found.unwrap_or_else(|| panic!("nothing is called `{name}`"));
                lines.by_ref().find(|line| *line == "<!-- end -->").expect("a generated part has an end");
                let _ = writeln!(out, "\n{}\n<!-- end -->", make(&self.folder));
            }
        }
        out
    }

    /// A session with what its commands print now.
    fn session(&self, session: &[&str], head: Option<&str>) -> String {
        let head = head.map_or(usize::MAX, |head| head.parse().unwrap());
        let mut parts = Vec::new();
        for command in session.iter().filter_map(|line| line.strip_prefix("$ ")) {
            let printed = self.run(command);
            let mut part = format!("$ {command}\n");
            for line in printed.trim_end().lines().take(head) {
                let _ = writeln!(part, "{}", line.trim_end());
            }
            if printed.lines().count() > head {
                part.push_str("...\n");
            }
            parts.push(part);
        }
        parts.join("\n")
    }

    /// What a terminal shows of a command.
    fn run(&self, command: &str) -> String {
        let line =
            if self.takes_text(command) { format!("{command} --format text") } else { command.to_owned() };
        let output = self.shell(&format!("exec 2>&1\n{line}")).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        printed
            .replace(&self.folder.path().display().to_string(), "~")
            .replace(&self.folder.home().display().to_string(), "~")
    }

    /// A shell that runs these lines in the folder.
    pub(crate) fn shell(&self, lines: &str) -> Command {
        let program = Path::new(env!("CARGO_BIN_EXE_chunkwright")).parent().unwrap().display();
        let mut shell = Command::new("sh");
        shell.args(["-c", lines]).current_dir(self.folder.path()).env_clear();
        shell
            .env("HOME", self.folder.home())
            .env("PATH", format!("{program}:/usr/bin:/bin"))
            .stdin(Stdio::null());
        shell
    }

    /// Whether a command prints a table on a terminal and something else to us.
    fn takes_text(&self, command: &str) -> bool {
        let mut words = command.split_whitespace();
        let ours = words.next() == Some("chunkwright");
        if !ours || command.contains(['|', '>']) || command.contains("--format") {
            return false;
        }
        let name = words.next().unwrap();
        let help = self.folder.run(&["help", name]);
        help.code == 0 && help.stdout.contains("by default `text` on a terminal")
    }
}

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// A table of Markdown.
fn table<const N: usize>(header: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let mut out = format!("| {} |\n|{}\n", header.join(" | "), "---|".repeat(N));
    for row in rows {
        let cells = row.map(|cell| cell.replace('|', "\\|").replace('\n', " "));
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    out
}

fn code(text: impl std::fmt::Display) -> String {
    format!("`{text}`")
}

fn codes<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    texts.into_iter().map(code).collect::<Vec<_>>().join(" ")
}

/// Parts of a command's help that are the same everywhere: they are tables of the page on configuration.
const SHARED_HELP: [&str; 5] = ["Cutting:", "Collection:", "Searching:", "Notes:", "Global options:"];

/// The help of a command without its shared parts.
fn own_help(help: &str) -> String {
    let mut is_shared = false;
    let mut own = String::new();
    for line in help.lines() {
        if !line.starts_with(' ') && !line.is_empty() {
            is_shared = SHARED_HELP.contains(&line);
        }
        if !is_shared {
            let _ = writeln!(own, "{line}");
        }
    }
    own.trim_end().to_owned()
}

/// The full help of every command, in the groups of the overview.
fn commands(folder: &Folder) -> String {
    let overview = folder.run(&["help"]).success();
    let mut out = String::new();
    for line in overview.lines().skip_while(|line| !line.starts_with("Usage: ")).skip(1) {
        match (line.strip_suffix(':'), line.split_whitespace().next()) {
            (Some("Options"), _) => break,
            (Some(group), _) => _ = write!(out, "## {group}\n\n"),
            (None, Some(name)) => {
                let help = folder.run(&["help", name]).success();
                let own = own_help(&help);
                let _ = write!(out, "### `chunkwright {name}`\n\n```text\n{own}\n```\n\n");
            }
            (None, None) => {}
        }
    }
    out.trim_end().to_owned() + "\n"
}

fn presets(_: &Folder) -> String {
    let rows = PRESETS.iter().map(|preset| {
        let config = (preset.config)();
        let unit = match config.unit {
            Unit::Tokens => "tokens",
            Unit::Chars => "characters",
        };
        let limit = format!("{} {unit}", config.max_size);
        [code(preset.name), preset.summary.into(), code(&config.strategy), limit]
    });
    table(["Preset", "What it does", "Strategy", "Limit"], rows)
}

fn strategies(_: &Folder) -> String {
    let rows = STRATEGIES.iter().map(|strategy| [code(strategy.name()), strategy.summary().into()]);
    table(["Strategy", "What it does"], rows)
}

fn keys(_: &Folder) -> String {
    let rows = key::all().into_iter().map(|key| {
        let help = key::help(key).replace("\n\n", ". ");
        [
            code(key.name),
            key.values.to_string(),
            help,
            if key.about.moves_boundaries { "yes" } else { "" }.into(),
        ]
    });
    table(["Key", "Values", "Meaning", "Moves boundaries"], rows)
}

fn aliases(_: &Folder) -> String {
    let rows = ALIASES.iter().map(|alias| {
        let means = match alias.means {
            Means::Key(key) => code(key),
            Means::Banded(key) => format!("{}, and a `band` of a fifth around it", code(key)),
            Means::CodeSize(key, _) => format!("{}, in tokens, and `unknown_files = lines`", code(key)),
            Means::Size(key, Unit::Tokens) => format!("{}, in tokens", code(key)),
            Means::Size(key, Unit::Chars) => format!("{}, in characters", code(key)),
            Means::Values(values) => {
                let assigned = |assigned: &(&str, &str)| code(format!("{} = {}", assigned.0, assigned.1));
                let value = |(value, keys): &(&str, Assignments)| {
                    format!("{}: {}", code(value), keys.iter().map(assigned).collect::<Vec<_>>().join(", "))
                };
                values.iter().map(value).collect::<Vec<_>>().join("; ")
            }
            _ => unreachable!("every meaning of an alias is described"),
        };
        [code(alias.name), means, code(alias.preset)]
    });
    table(["Name", "Meaning", "Selects the preset"], rows)
}

fn formats(_: &Folder) -> String {
    let text = PARSERS.iter().chain(COMPONENTS).map(|parser| (parser.name(), parser.extensions()));
    let binary = CONVERTERS.iter().map(|converter| (converter.name(), converter.extensions()));
    let rows =
        text.chain(binary).map(|(name, extensions)| [name.to_owned(), codes(extensions.iter().copied())]);
    table(["Format", "Extensions"], rows)
}

fn languages(_: &Folder) -> String {
    use chunkwright::Parser as _;
    let rows = LANGUAGES.iter().map(|language| {
        [language.name().to_owned(), codes(language.extensions().iter().copied()), "syntax tree".into()]
    });
    let plain = PLAIN.iter().map(|language| {
        [language.name.to_owned(), codes(language.extensions.iter().copied()), "layout".into()]
    });
    table(["Language", "Extensions", "Read by"], rows.chain(plain))
}

fn counters(_: &Folder) -> String {
    let rows = COUNTERS
        .iter()
        .map(|counter| [code(counter.name), codes(counter.aliases.iter().copied()), counter.summary.into()]);
    table(["Tokenizer", "Also", "What it counts"], rows)
}

fn embedders(_: &Folder) -> String {
    table(["Embedder", "What it is"], known("embedder"))
}

fn rerankers(_: &Folder) -> String {
    table(["Reranker", "What it is"], known("reranker"))
}

/// The known values of a key, with what each means.
fn known(name: &str) -> impl Iterator<Item = [String; 2]> {
    let key = key::all().into_iter().find(|key| key.name == name).expect("it is a key");
    key::known_values(key).into_iter().map(|(value, means)| [code(value), means.into()])
}

fn calibrations(_: &Folder) -> String {
    let rows = std::iter::once(&LEXICAL).chain(CALIBRATIONS).map(|calibration| {
        let Calibration { model, intercept, cosine_weight, coverage_weight, evidence_weight, .. } =
            calibration;
        let numbers =
            [*intercept, *cosine_weight, *coverage_weight, *evidence_weight, calibration.min_relevance];
        let [intercept, a, b, c, least] = numbers.map(|number| number.to_string());
        let weight = model.map_or_else(String::new, |_| calibration.dense_weight.to_string());
        [model.map_or_else(|| "words alone".to_owned(), code), intercept, a, b, c, least, weight]
    });
    let columns = ["`intercept`", "`a` (cosine)", "`b` (coverage)", "`c` (evidence)", "Default threshold"];
    let [intercept, a, b, c, least] = columns;
    table(["Model", intercept, a, b, c, least, "`--dense-weight`"], rows)
}

fn writers(_: &Folder) -> String {
    let rows = WRITERS.iter().map(|info| [code(format!("{}:MODEL", info.name)), info.summary.into()]);
    table(["Writer", "What it is"], rows)
}

fn models(_: &Folder) -> String {
    let rows = MODELS.iter().map(|model| {
        let bytes: u64 = model.files.iter().map(|file| file.size).sum();
        [code(model.name), model.summary.into(), format!("{} MB", bytes / 1_000_000)]
    });
    table(["Model", "What it is", "Size"], rows)
}

fn stores(_: &Folder) -> String {
    let rows = STORES
        .iter()
        .map(|store| [store.name.into(), codes(store.schemes.iter().copied()), store.summary.into()]);
    table(["Store", "Schemes", "What it is"], rows)
}

fn error_codes(_: &Folder) -> String {
    let rows = chunkwright_engine::CODES.iter().map(|code_of| {
        let numbers = [code_of.exit.to_string(), code_of.http.to_string(), code_of.mcp.to_string()];
        let [exit, http, mcp] = numbers;
        [code(code_of.name), code_of.summary.into(), exit, http, mcp, code(code_of.python)]
    });
    table(["Code", "Meaning", "Exit status", "HTTP", "MCP", "Python"], rows)
}

fn engine_example(_: &Folder) -> String {
    let example = include_str!("../../../chunkwright-engine/examples/put_and_search.rs");
    format!("```rust\n{example}```\n")
}
