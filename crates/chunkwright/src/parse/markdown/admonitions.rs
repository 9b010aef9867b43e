//! Admonitions that Markdown itself does not know: `:::tip` to `:::` (`VitePress`, Docusaurus) and
//! `!!! note` with an indented body (`MkDocs`).
//! To a `CommonMark` parser they are paragraphs in a row; here they become one block, so that a warning is
//! not torn from what it warns of. GitHub's `> [!NOTE]` is a quote already.

use super::Top;
use crate::document::{BlockKind, DocumentBuilder};

/// Most blocks that one admonition may hold: a guard against text that only looks like one.
const MAX_BLOCKS: usize = 64;

/// Joins the blocks of each admonition; where they met, a cut stays possible.
pub(super) fn join(source: &str, tops: &mut [Top], out: &mut DocumentBuilder) {
    let mut at = 0;
    while at < tops.len() {
        let Some(last) = end(source, &tops[at..]).map(|held| at + held) else {
            at += 1;
            continue;
        };
        tops[at].kind = BlockKind::Quote;
        tops[at].range.end = tops[last].range.end;
        for held in &mut tops[at + 1..=last] {
            out.seam(held.range.start, 0);
            // The builder drops empty ranges.
            held.range.start = held.range.end;
            held.heading = None;
        }
        at = last + 1;
    }
}

/// Number of blocks after the first that belong to the admonition that begins with it, if one does and it ends. One
/// with a heading inside does not count: the heading is a border, unless it is the title of the admonition, right below
/// its mark.
fn end(source: &str, tops: &[Top]) -> Option<usize> {
    let text = |top: &Top| &source[top.range.clone()];
    let first = &tops[0];
    if first.kind != BlockKind::Paragraph {
        return None;
    }
    let is_mark = |text: &str| text.starts_with(":::") && !text.trim_end().contains('\n');
    let has_title = is_mark(text(first)) && tops.get(1).is_some_and(|top| top.heading.is_some());
    let title = usize::from(has_title);
    let is_inside = |(at, top): &(usize, &Top)| top.heading.is_none() || *at == title;
    let within = tops.iter().take(MAX_BLOCKS).enumerate().take_while(is_inside).map(|(_, top)| top);
    if text(first).starts_with(":::") {
        let mut depth = 0;
        for (held, top) in within.enumerate() {
            if matches!(top.kind, BlockKind::Code | BlockKind::Html) {
                continue;
            }
            for line in text(top).lines().map(str::trim).filter(|line| line.starts_with(":::")) {
                let opens = !line.trim_matches(':').trim().is_empty();
                depth += if opens { 1 } else { -1 };
            }
            if depth <= 0 {
                return Some(held);
            }
        }
        return None;
    }
    let mark = ["!!! ", "??? ", "???+ "].iter().any(|mark| text(first).starts_with(mark));
    let indented = |top: &Top| {
        let line = source[..top.range.start].rfind('\n').map_or(0, |at| at + 1);
        let body = &source[line..];
        body.starts_with("    ") || body.starts_with('\t')
    };
    mark.then(|| within.skip(1).take_while(|top| indented(top)).count())
}
