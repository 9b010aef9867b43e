//! Invariants of every chunking, asserted inside every test that makes chunks.

use std::collections::HashSet;

use chunkwright::{
    Block, BlockKind, Borrow, Chunk, ChunkIn, Chunked, Chunker, ContextRule, Document, Packing, Parent,
    Record, RecordContext, Section, SectionKind, Span, TokenCounter, Unit,
};
use unicode_segmentation::UnicodeSegmentation;

/// Cuts `document` and asserts every invariant.
pub(crate) fn chunk<'a>(chunker: &'a Chunker, document: &'a Document) -> Chunked<'a> {
    model(document);
    let chunks = chunker.chunk(document);
    assert_eq!(chunks, chunker.chunk(document), "cutting is not deterministic");
    all(&chunks);
    whole(&chunks);
    chunks
}

/// Asserts every invariant of chunks.
pub(crate) fn all(chunks: &Chunked<'_>) {
    tiling(chunks.document(), chunks);
    limit(chunks);
    identity(chunks);
    graphemes(chunks.document(), chunks);
    neighbourhood(chunks);
    named(chunks);
}

/// No block that fits with what it borrows itself is divided, nor torn from the headings above it, whatever its parts
/// would borrow. `window` and `lines` fill windows with parts of blocks; `adaptive` lowers the limit.
fn whole(chunks: &Chunked<'_>) {
    let (document, config) = (chunks.document(), chunks.chunker().config());
    let by_lines = document.is_unparsed() && config.fixed_chunk_lines > 0;
    let is_structural = !["window", "lines", "adaptive"].contains(&config.strategy.as_str());
    // The sizes of tokens do not add up, so a block may seem too large by a few.
    if !is_structural || by_lines || config.packing == Packing::Even || config.unit == Unit::Tokens {
        return;
    }
    let size = |span: Span| document.read(span).chars().count();
    let borrowed = |chunk: &ChunkIn<'_>| {
        let overlap = chunk.borrows.iter().map(|borrow| match borrow {
            Borrow::Overlap(span) => size(*span),
            _ => 0,
        });
        chunk.render().context().chars().count() - overlap.sum::<usize>()
    };
    // The size of the titles around a place. A chunk that has no room for them goes without.
    let titles = |start: u32| {
        let section = document.blocks().iter().find(|block| block.span.start >= start).map(|it| it.section);
        let path = section.map_or_else(Vec::new, |id| document.path(id));
        let path = path.into_iter().map(|id| document.section(id));
        let path = path.filter(|section| section.span.start < start && !section.title.is_empty());
        let mut path: Vec<&Section> = path.collect();
        let is_data = path.last().is_some_and(|section| section.kind == SectionKind::Key);
        match config.context {
            ContextRule::None | ContextRule::Heading => path.clear(),
            ContextRule::Title if !is_data => drop(path.drain(..path.len().saturating_sub(1))),
            _ => {}
        }
        let size = |path: &[&Section]| path.iter().map(|it| it.title.chars().count() + 3).sum::<usize>();
        while size(&path) > config.max_size / 4 + 1 {
            path.remove(0);
        }
        size(&path).saturating_sub(1)
    };
    let announces = |block: &&Block| {
        block.kind == BlockKind::Heading || block.span.end <= document.section(block.section).signature.end
    };
    for (chunk, next) in chunks.iter().zip(chunks.iter().skip(1)) {
        let blocks = document.blocks();
        let at = blocks.partition_point(|block| block.span.end <= next.span.start);
        let block = blocks[at].span;
        // A marker at the end of a block goes with the text below it.
        let rest = document.read(Span { start: next.span.start, end: block.end.max(next.span.start) });
        let is_marker = !rest.contains(char::is_alphanumeric);
        if !block.divided_by(next.span.start) || block.start < chunk.span.start || is_marker {
            continue;
        }
        let headings = blocks[..at].iter().rev().take_while(announces).last();
        let start = headings.map_or(block.start, |first| first.span.start);
        let names = |chunk: &ChunkIn<'_>| {
            chunk.borrows.iter().any(|it| matches!(it, Borrow::Path(_) | Borrow::Heading(_)))
        };
        // A part of a fence is closed, and may borrow less for it than the whole fence would.
        let is_less = headings.is_none() && !names(&chunk) && names(&next);
        // What is borrowed further down in a section is as much or more.
        let chunk = if start == chunk.span.start && !is_less { chunk } else { next };
        // A fence that nothing closes is closed in the text.
        let close = document.enclosure_at(block.end).map_or(0, |fence| fence.close.chars().count() + 1);
        let borrowed = borrowed(&chunk).max(titles(start));
        let size = borrowed + size(Span { start, end: block.end }) + close;
        assert!(size > config.max_size, "{} divided: {:?}", size, document.read(block));
    }
}

/// Blocks are disjoint, in order, trimmed, and hold every visible byte; sections nest.
pub(crate) fn model(document: &Document) {
    let source = document.source();
    let mut end = 0;
    for block in document.blocks() {
        let (from, to) = (block.span.start as usize, block.span.end as usize);
        assert!(end <= from && from < to, "block {from}..{to} after {end}");
        assert!(is_blank(&source[end..from]), "lost: {:?}", &source[end..from]);
        let text = &source[from..to];
        assert!(!is_blank(text) && !text.ends_with(char::is_whitespace), "untrimmed block {text:?}");
        end = to;
    }
    assert!(is_blank(&source[end..]), "lost: {:?}", &source[end..]);
    for (index, section) in document.sections().iter().enumerate().skip(1) {
        let parent = section.parent.expect("only the first section has no parent");
        assert!((parent.0 as usize) < index, "a parent stands before its children");
        let parent = document.section(parent);
        assert!(parent.span.start <= section.span.start && section.span.end <= parent.span.end);
    }
}

/// Chunks are disjoint, in order, and hold every visible byte.
fn tiling(document: &Document, chunks: &[Chunk]) {
    let source = document.source();
    let mut end = 0;
    for chunk in chunks {
        let (from, to) = (chunk.span.start as usize, chunk.span.end as usize);
        assert!(end <= from && from < to, "chunk {from}..{to} after {end}");
        assert!(is_blank(&source[end..from]), "lost: {:?}", &source[end..from]);
        end = to;
    }
    assert!(is_blank(&source[end..]), "lost: {:?}", &source[end..]);
}

/// No text is over the limit by a recount; content stands in the text exactly.
fn limit(chunks: &Chunked<'_>) {
    let (chunker, document) = (chunks.chunker(), chunks.document());
    for chunk in chunks {
        let rendered = chunk.render();
        let size = match chunker.config().unit {
            Unit::Chars => rendered.text().chars().count(),
            Unit::Tokens => chunker.counter().count(rendered.text()),
        };
        assert_eq!(size, chunk.size);
        assert_eq!(rendered.content(), document.read(chunk.span));
        assert!(rendered.text().starts_with(rendered.context()));
        let max = chunker.config().max_size;
        assert!(size <= max || chunk.oversize, "{size} > {max}: {:?}", rendered.text());
        let config = chunker.config();
        let keeps = |keep: &Vec<_>| !keep.is_empty();
        let kept =
            keeps(&config.keep_whole) || config.kinds.iter().filter_map(|k| k.keep_whole.as_ref()).any(keeps);
        // The reading of markup, at most 256 bytes, cannot be divided.
        let read = document.read(chunk.span) != chunk.content();
        let markup = read && max < 256 && chunk.borrows.is_empty();
        assert!(!chunk.oversize || kept || markup, "nothing is kept whole here: {:?}", rendered.text());
    }
}

fn identity(chunks: &[Chunk]) {
    let ids: HashSet<_> = chunks.iter().map(|chunk| chunk.id).collect();
    assert_eq!(ids.len(), chunks.len(), "two chunks share an id");
}

/// No cut falls inside a grapheme cluster, unless the cluster alone is as long as a limit.
fn graphemes(document: &Document, chunks: &[Chunk]) {
    let source = document.source();
    let cuts: HashSet<_> = chunks.iter().map(|chunk| chunk.span.start as usize).collect();
    for (at, cluster) in source.grapheme_indices(true) {
        let inside = (at + 1..at + cluster.len()).find(|at| cuts.contains(at));
        if let Some(inside) = inside {
            // A line break and the blanks around it may cluster with what follows only as CRLF; the end of a tag is not
            // read.
            let blank = document.read(Span::new(at, inside)).chars().all(char::is_whitespace);
            assert!(blank || cluster.len() > 8, "cut inside {cluster:?}");
        }
    }
}

/// The text of a chunk names every section whose text it holds: by the heading or first lines of those that begin in it,
/// by its context for what goes on in it. Unless the configuration wants no context or there is no room for it.
fn named(chunks: &Chunked<'_>) {
    let (chunker, document) = (chunks.chunker(), chunks.document());
    let config = chunker.config();
    if config.context == ContextRule::None {
        return;
    }
    let size = |text: &str| match config.unit {
        Unit::Chars => text.chars().count(),
        Unit::Tokens => chunker.counter().count(text),
    };
    // Documents of some lengths have the other limit there.
    let is_adaptive = config.strategy == "adaptive";
    let limit = if is_adaptive { config.max_size.min(config.medium_max_size) } else { config.max_size };
    let blocks = document.blocks();
    for chunk in chunks {
        let text = chunk.render().into_text();
        let from = blocks.partition_point(|block| block.span.end <= chunk.span.start);
        let held = blocks[from..].iter().take_while(|block| block.span.start < chunk.span.end);
        // With the context `heading`, what is left of a heading that the chunk begins inside is all that says it.
        let inside = |block: &Block| block.kind == BlockKind::Heading && block.span.start < chunk.span.start;
        let left =
            (config.context == ContextRule::Heading).then(|| &blocks[from]).filter(|block| inside(block));
        for block in held.filter(|block| block.kind != BlockKind::Heading) {
            let section = document.section(block.section);
            let begins_inside = section.span.start >= chunk.span.start;
            let is_left = left.is_some_and(|heading| heading.section == block.section);
            if section.title.is_empty()
                || begins_inside
                || is_left
                || chunk.span.start < section.signature.end
            {
                continue;
            }
            let heading = blocks.iter().find(|block| block.span.end > section.span.start);
            let heading =
                heading.map(|block| document.read(block.span).trim_end().to_owned()).unwrap_or_default();
            let is_symbol = matches!(section.kind, SectionKind::Symbol(_));
            let name = section.title.rsplit(|c: char| is_symbol && !c.is_alphanumeric() && c != '_');
            let name = name.into_iter().find(|word| !word.is_empty()).unwrap_or_default();
            // The titles down to what the chunk begins in, or the lines that say them.
            let titles = document.path(blocks[from].section);
            let titles = titles.iter().skip_while(|&&id| id != block.section);
            let titles: Vec<_> = titles.map(|&id| document.section(id).title.as_str()).collect();
            let borrowed = [&titles.join(" > "), &heading, &*document.read(section.signature)];
            let named = format!("{name}\n\n{text}");
            let has_room = borrowed.iter().all(|borrowed| size(borrowed) + 2 <= limit / 4);
            let has_room = has_room && chunker.fits(&named);
            assert!(
                text.contains(name) || !heading.is_empty() && text.contains(&heading) || !has_room,
                "{} does not name {name:?}: {text:?}",
                document.id()
            );
        }
    }
}

/// A record as one line of JSON for every reader.
pub(crate) fn one_line(record: &Record) -> String {
    let json = serde_json::to_string(record).unwrap_or_default();
    ['\u{85}', '\u{2028}', '\u{2029}']
        .into_iter()
        .fold(json + "\n", |json, c| json.replace(c, &format!("\\u{:04x}", u32::from(c))))
}

/// A record's `parent` is the smallest section that contains the chunk and other visible text, or the document;
/// `previous` and `next` are the neighbouring chunks.
fn neighbourhood(chunks: &Chunked<'_>) {
    let (chunker, document) = (chunks.chunker(), chunks.document());
    let (source, lines) = (document.source(), document.lines());
    let context = RecordContext::default();
    let (records, writer) = (chunks.records(&context), chunks.record_lines(&context));
    for (index, (record, chunk)) in records.iter().zip(chunks).enumerate() {
        let mut line = Vec::new();
        assert_eq!(writer.add(chunk, &mut line), record.token_count as usize);
        assert_eq!(String::from_utf8_lossy(&line), one_line(record));
        let id = |chunk: &Chunk| chunk.id;
        assert_eq!(record.previous, index.checked_sub(1).map(|before| id(&chunks[before])));
        assert_eq!(record.next, chunks.get(index + 1).map(id));
        // Searched for among all sections, from the innermost: those that hold one chunk nest.
        let text = chunk.content();
        let start = chunk.span.start as usize + text.len() - text.trim_start_matches(blank).len();
        let end = start + text.trim_matches(blank).len();
        let has_more = |section: &&Section| {
            let around = section.span.range();
            around.start <= start
                && end <= around.end
                && !(is_blank(&source[around.start..start]) && is_blank(&source[end..around.end]))
        };
        let smallest = document.sections().iter().skip(1).rev().find(has_more).map(|section| section.span);
        let expected = smallest.map_or(Parent::Document, |section| {
            let visible = source[..section.end as usize].trim_end_matches(blank).len() as u32;
            let around =
                Span { start: section.start.min(chunk.span.start), end: visible.max(chunk.span.end) };
            let (first, last) = lines.lines(around);
            Parent::Lines(first as u32, last as u32)
        });
        assert_eq!(
            record.holding_parent(lines.count()),
            Some(expected),
            "`{}` of {:?} at lines {}-{}",
            record.parent,
            record.content,
            record.start_line,
            record.end_line
        );
    }
    let summaries = chunker.summaries(document);
    for record in chunker.summary_records(document, &summaries, &RecordContext::default()) {
        assert!(
            record.holding_parent(lines.count()).is_some(),
            "`{}` of {:?}",
            record.parent,
            record.content
        );
    }
}

fn blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

fn is_blank(text: &str) -> bool {
    text.chars().all(blank)
}

/// A stand-in for a tokenizer with the property that makes them hard: the count of a whole is not the
/// sum of its parts. Words of up to four bytes are one token, longer ones a token for each four bytes;
/// each run of blanks and each other character is one.
#[derive(Debug)]
pub(crate) struct Quads;

impl TokenCounter for Quads {
    fn name(&self) -> &'static str {
        "estimate:quads"
    }

    fn count(&self, text: &str) -> usize {
        let mut count = 0;
        for word in text.split_word_bounds() {
            count += if word.trim().is_empty() { 1 } else { word.len().div_ceil(4) };
        }
        count
    }
}

/// Every piece of a divided fence or table is opened and closed.
pub(crate) fn well_formed(chunks: &Chunked<'_>) {
    let document = chunks.document();
    for chunk in chunks {
        let rendered = chunk.render();
        let fences = rendered.text().lines().filter(|line| line.trim_start().starts_with("```")).count();
        assert_eq!(fences % 2, 0, "unbalanced fence in {:?}", rendered.text());
        let in_table = document.enclosure_at(chunk.span.start).is_some();
        let reopened = chunk.borrows.iter().any(|b| matches!(b, Borrow::Fence(_) | Borrow::TableHeader(_)));
        assert!(!in_table || reopened, "not reopened: {:?}", rendered.text());
    }
}
