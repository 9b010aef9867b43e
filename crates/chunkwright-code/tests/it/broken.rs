//! One-line edits that break the syntax of source code, and the chunks that they change elsewhere.

use std::collections::HashSet;

use chunkwright::{Chunker, Document, Parser};

/// An edit of one line.
pub(crate) struct Edit {
    pub(crate) kind: &'static str,
    pub(crate) new: String,
    /// Its position in the new text.
    pub(crate) at: usize,
}

/// A small generator, so that a failure is the same everywhere.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

/// Openings that nothing closes.
const UNCLOSED: &[&str] = &["{", "(", "[", "\"", "'", "/*", "`", "begin", "if ("];

/// One of five kinds of edits of `source`.
pub(crate) fn edit(source: &str, number: usize, random: &mut Random) -> Option<Edit> {
    let lines: Vec<&str> = source.split_inclusive('\n').collect();
    let is_bracket = |c: char| "{}()[]".contains(c);
    let closes = |line: &str| {
        let text = line.trim();
        text == "end" || !text.is_empty() && text.chars().all(|c| "})];,".contains(c))
    };
    let holds = |line: &str| line.contains(|c: char| is_bracket(c) || "\"':".contains(c));
    let mut draw = |wanted: &dyn Fn(&str) -> bool| {
        let found: Vec<usize> = (0..lines.len()).filter(|&at| wanted(lines[at])).collect();
        (!found.is_empty()).then(|| found[random.below(found.len())])
    };
    let (kind, line, text) = match number % 5 {
        0 => ("delete a closing line", draw(&closes).or_else(|| draw(&holds))?, String::new()),
        1 => {
            let line = draw(&|line| line.contains(is_bracket))?;
            let brackets: Vec<_> = lines[line].match_indices(is_bracket).collect();
            let (at, _) = brackets[random.below(brackets.len())];
            ("lose a bracket", line, [&lines[line][..at], &lines[line][at + 1..]].concat())
        }
        2 => {
            let line = draw(&|line| !line.trim().is_empty())?;
            let opening = UNCLOSED[random.below(UNCLOSED.len())];
            let body = lines[line].trim_end();
            ("open something", line, format!("{body} {opening}{}", &lines[line][body.len()..]))
        }
        3 => ("delete a line", draw(&holds)?, String::new()),
        _ => {
            let line = draw(&|line| !line.trim().is_empty())?;
            let text = lines[line].trim_start_matches([' ', '\t']);
            let text = if text.len() < lines[line].len() { text.to_owned() } else { format!("      {text}") };
            ("change indentation", line, text)
        }
    };
    let before = lines[..line].concat();
    Some(Edit { kind, at: before.len(), new: [&before, &text, &*lines[line + 1..].concat()].concat() })
}

/// Number of new chunks in the new version, and number of those that are neither the edited chunk nor a direct
/// neighbour.
pub(crate) fn moved(
    chunker: &Chunker,
    parser: &dyn Parser,
    name: &str,
    source: &str,
    edit: &Edit,
) -> (usize, usize) {
    let old = Document::parse(name, source, parser);
    let new = Document::parse(name, edit.new.as_str(), parser);
    let known: HashSet<_> = chunker.chunk(&old).iter().map(|chunk| chunk.id).collect();
    let chunks = chunker.chunk(&new);
    let hit = chunks.partition_point(|chunk| chunk.span.end as usize <= edit.at);
    let is_new = |index: &usize| !known.contains(&chunks[*index].id);
    let new: Vec<usize> = (0..chunks.len()).filter(is_new).collect();
    (new.len(), new.iter().filter(|index| index.abs_diff(hit) > 1).count())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    use chunkwright::{ChunkConfig, Words};
    use chunkwright_code::language_for;

    use super::*;

    /// A sample of each language and sources of this project: a hundred files.
    fn files() -> Vec<PathBuf> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut folders = vec![root.join("tests/samples"), root.join("src"), root.join("../chunkwright/src")];
        let mut files = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() { folders.push(path) } else { files.push(path) }
            }
        }
        // Samples first.
        files.sort_by_key(|path| (path.extension().is_some_and(|extension| extension == "rs"), path.clone()));
        files.truncate(100);
        files
    }

    #[test]
    fn an_edit_that_breaks_the_syntax_moves_few_chunks() {
        let chunker = Chunker::new(ChunkConfig::default(), Arc::new(Words)).unwrap();
        let mut random = Random(29);
        let (mut edits, mut far, mut most) = (0, 0, Vec::new());
        for path in files() {
            let source = fs::read_to_string(&path).unwrap();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let parser = language_for(&name, &source).unwrap();
            for _ in 0..4 {
                let number = random.below(5);
                let Some(edit) = edit(&source, number, &mut random) else { continue };
                let (_, moved) = moved(&chunker, parser, &name, &source, &edit);
                (edits, far) = (edits + 1, far + moved);
                most.push((moved, format!("{name}, byte {}: {}", edit.at, edit.kind)));
            }
        }
        most.sort();
        most.reverse();
        most.truncate(20);
        assert!(edits >= 390, "{edits}");
        // 10 to 56 with other edits, 29 on average.
        assert!(far <= 48, "{far} chunks beyond the neighbours of {edits} edits: {most:#?}");
    }
    #[test]
    fn a_line_of_python_that_lost_its_place_moves_no_other_method() {
        let method = |n: usize| {
            format!(
                "    def method_{n}(self, key):\n        for item in self.items:\n            if item.key == key:\n                self.note(\n                    key, {n})\n                return item\n        return None\n\n"
            )
        };
        let source = format!("class Store:\n{}", (0..12).map(method).collect::<String>());
        let parser = language_for("a.py", &source).unwrap();
        let config = ChunkConfig { max_size: 96, target_size: 64, min_size: 16, ..ChunkConfig::default() };
        let chunker = Chunker::new(config, Arc::new(Words)).unwrap();
        let outdented = |line: &str| (line.to_owned(), format!("{}\n", line.trim()));
        for (old, new) in [
            outdented("        return None\n"),
            outdented("        for item in self.items:\n"),
            outdented("            if item.key == key:\n"),
            ("                return item\n".into(), String::new()),
            ("                self.note(\n".into(), String::new()),
        ] {
            let at = source.find("method_5").unwrap();
            let at = at + source[at..].find(&old).unwrap();
            let new = [&source[..at], &new, &source[at + old.len()..]].concat();
            let edit = Edit { kind: "a line", at, new };
            let (_, far) = moved(&chunker, parser, "a.py", &source, &edit);
            assert_eq!(far, 0, "{old}");
        }
    }
}
