//! Writes a configuration file with every key.

use std::fmt::Write as _;

use chunkwright::{Key, Values};
use serde_json::{Value, json};

use crate::settings::in_force::Settings;
use crate::settings::key;

/// Tables that a configuration file may contain beside its keys.
pub const TABLES: &str = "\
Presets of your own are tables of `chunkwright.toml`:
  preset = \"notes\"

  [presets.notes]
  base = \"auto\"
  max_size = 400

A service is a table too; its key is in a file or a variable, never here:
  embedder = \"ours\"

  [embedders.ours]
  spec = \"openai:bge-m3\"
  url = \"http://localhost:8000/v1\"
  key_file = \"ours.key\"";

/// Width of a comment line.
const WIDTH: usize = 100;

impl Settings {
    /// A configuration file with every key, its description and its value. Keys of the highest layer are set, all
    /// others are commented out, so that the file gives these settings.
    pub fn template(&self) -> String {
        let highest = &self.layers.1;
        // Keys of another system imply more than one key of ours, so everything that they led to is set.
        let selected = highest.aliased.preset.map(|_| key::keys(key::Group::Cutting)).unwrap_or_default();
        let is_set = |key: &&Key| {
            highest.values.contains_key(key.name) || selected.iter().any(|other| other.name == key.name)
        };
        let mut text = String::from(
            "# Configuration of Chunkwright. A key that is commented out has the value that it shows, unless another\n\
             # key moves it; `chunkwright config show` prints what is in force and where it came from.\n",
        );
        let settings = self.list();
        for key in key::all() {
            let value = settings.iter().find(|setting| setting.key == key.name);
            let value = value.and_then(|setting| setting.value.as_ref());
            let set = if is_set(&key) && value.is_some() { "" } else { "# " };
            let value = toml_value(value, key);
            let _ = write!(text, "\n{}{set}{} = {value}\n", comment(&key::help(key)), key.name);
        }
        text.push('\n');
        text.push_str(
            &TABLES.lines().map(|line| format!("# {line}").trim_end().to_owned() + "\n").collect::<String>(),
        );
        text
    }
}

/// A value in TOML; an example if there is no value.
fn toml_value(value: Option<&Value>, key: &Key) -> String {
    let example = match key.values {
        Values::Text(name) => json!(name),
        Values::List(name) => json!([name]),
        _ => json!([]),
    };
    let value = value.unwrap_or(&example);
    toml::Value::try_from(value).map_or_else(|_| value.to_string(), |value| value.to_string())
}

/// A text as comment lines.
fn comment(text: &str) -> String {
    let mut lines = String::new();
    for paragraph in text.split("\n\n") {
        let mut line = String::from("#");
        for word in paragraph.split_whitespace() {
            if line.chars().count() + 1 + word.chars().count() > WIDTH {
                lines.push_str(&line);
                lines.push('\n');
                line = String::from("#");
            }
            line.push(' ');
            line.push_str(word);
        }
        lines.push_str(&line);
        lines.push('\n');
    }
    lines
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::settings::layers::Layers;
    use crate::settings::origin::Source;

    /// The settings from a file with `text`, without their origins.
    fn read(text: &str) -> Vec<(String, Option<Value>)> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("chunkwright.toml");
        fs::write(&path, text).expect("a file");
        let layers = Layers::default().with_file(&path, false).expect(text);
        values(&layers.settings(Source::Request, []).expect(text))
    }

    fn values(settings: &Settings) -> Vec<(String, Option<Value>)> {
        settings.list().into_iter().map(|setting| (setting.key, setting.value)).collect()
    }

    #[test]
    fn a_template_gives_the_settings_it_was_made_of_with_comments_and_without() {
        for given in [
            vec![],
            vec![("preset", json!("adaptive"))],
            vec![
                ("preset", json!("docs")),
                ("max_size", json!(300)),
                ("include", json!(["*.md", "docs/**"])),
            ],
            vec![("max_chars", json!(1500)), ("collection", json!("课程"))],
        ] {
            let given = given.into_iter().map(|(key, value)| (key.to_owned(), value));
            let settings = Layers::default().settings(Source::Request, given).expect("settings");
            let template = settings.template();
            assert_eq!(read(&template), values(&settings), "{template}");
            let of_value = |line: &str| {
                let key = line.strip_prefix("# ").and_then(|rest| rest.split_once(" = "));
                let is_set = |name| settings.list().iter().any(|it| it.key == name && it.value.is_some());
                key.is_some_and(|(name, _)| is_set(name))
            };
            let uncommented: String = template
                .lines()
                .map(|line| if of_value(line) { &line[2..] } else { line }.to_owned() + "\n")
                .collect();
            assert_eq!(read(&uncommented), values(&settings), "{uncommented}");
        }
    }
}
