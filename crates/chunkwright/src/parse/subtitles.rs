//! Subtitles: `SubRip`, `WebVTT`, `SubViewer`. A cue, with its number and its time, is a block.

use super::Parser;
use super::lines::Lines;
use crate::document::{BlockKind, DocumentBuilder};

/// Subtitles.
#[derive(Clone, Copy, Debug, Default)]
pub struct Subtitles;

impl Parser for Subtitles {
    fn name(&self) -> &'static str {
        "subtitles"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["srt", "vtt", "sbv"]
    }

    fn parse(&self, out: &mut DocumentBuilder) {
        let source = out.source();
        let lines = Lines::new(&source, out.lines());
        let mut from = lines.skip_blank(0);
        if lines.text(from).starts_with("WEBVTT") {
            let end = (from..lines.len()).find(|&line| lines.is_blank(line)).unwrap_or(lines.len());
            lines.block(out, BlockKind::FrontMatter, from, end);
            from = end;
        }
        let mut kind = BlockKind::Paragraph;
        let first = from;
        for line in first..lines.len() {
            let text = lines.text(line);
            let after_blank = line == 0 || lines.is_blank(line - 1);
            // The line above a time may be the cue's number or name.
            let is_name =
                is_time(lines.text(line + 1)) && (after_blank || text.bytes().all(|c| c.is_ascii_digit()));
            let is_named = line > from && is_cue_name(&lines, line - 1);
            let begins_cue = is_name && !is_time(text) || is_time(text) && !is_named;
            if line > from && !text.is_empty() && (after_blank || begins_cue) {
                lines.block(out, kind, from, lines.trim_end(from, line));
                from = line;
            }
            if line == from {
                let is_style = ["STYLE", "REGION", "NOTE"].iter().any(|word| text.starts_with(word));
                kind = if is_style { BlockKind::Definition } else { BlockKind::Paragraph };
            }
        }
        lines.block(out, kind, from, lines.trim_end(from, lines.len()));
    }
}

/// Whether line `index` is the name of the cue whose time is on the next.
fn is_cue_name(lines: &Lines<'_>, index: usize) -> bool {
    let text = lines.text(index);
    let after_blank = index == 0 || lines.is_blank(index - 1);
    !text.is_empty() && !is_time(text) && (after_blank || text.bytes().all(|c| c.is_ascii_digit()))
}

/// Whether the line says when a cue is shown: `00:01.000 --> 00:02.000` or `0:00:01.000,0:00:02.000`.
fn is_time(text: &str) -> bool {
    let (from, to) = text.split_once("-->").or_else(|| text.split_once(',')).unwrap_or_default();
    let is_point = |point: &str| {
        point.contains(':') && point.bytes().all(|byte| byte.is_ascii_digit() || b":.,".contains(&byte))
    };
    text.len() <= 200 && is_point(from.trim()) && to.split_whitespace().next().is_some_and(is_point)
}
