//! What presentations say in ways that `undoc` does not read: which notes are those of a slide, and what every slide
//! shows in the same place (its number, the date, header and footer).
//!
//! Numbers, dates, headers and footers are taken out before it reads the slides.

use std::collections::HashMap;

use quick_xml::events::Event;
use undoc::Paragraph;

use crate::convert::archive::{Archive, add_text, attribute, events, replaced, resolved};

/// What is known of the slides, in the order in which they are shown.
#[derive(Default)]
pub(super) struct Slides {
    /// The speaker's notes of each.
    pub(super) notes: Vec<Option<Vec<Paragraph>>>,
    /// The rewritten parts.
    pub(super) parts: Vec<(String, String)>,
}

const MAIN: &str = "ppt/presentation.xml";

pub(super) fn read(archive: &mut Archive<'_>) -> Slides {
    let mut slides = Slides::default();
    let Some(xml) = archive.text(MAIN) else { return slides };
    let relations = relations(archive, MAIN);
    let mut paths = Vec::new();
    events(&xml, |event, _| {
        if let Event::Start(element) | Event::Empty(element) = event
            && element.local_name().as_ref() == "sldId"
        {
            let id = element.attributes().flatten().find(|attribute| attribute.key.as_ref() == "r:id");
            paths.extend(id.and_then(|id| relations.get(&*id.value)).map(|(_, path)| path.clone()));
        }
    });
    for path in paths {
        let Some(xml) = archive.text(&path) else { continue };
        let edits = page_furniture(&xml);
        if !edits.is_empty() {
            slides.parts.push((path.clone(), replaced(&xml, edits)));
        }
        let notes =
            self::relations(archive, &path).into_values().find(|(kind, _)| kind.ends_with("/notesSlide"));
        let notes = notes.and_then(|(_, path)| archive.text(&path)).map(|xml| notes_of(&xml));
        slides.notes.push(notes.filter(|notes| !notes.is_empty()));
    }
    slides
}

/// The relations of a part by id: the type of each, and the path of its target.
fn relations(archive: &mut Archive<'_>, path: &str) -> HashMap<String, (String, String)> {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let mut relations = HashMap::new();
    let Some(xml) = archive.text(&format!("{folder}/_rels/{file}.rels")) else { return relations };
    events(&xml, |event, _| {
        if let Event::Start(element) | Event::Empty(element) = event
            && let (Some(id), Some(target)) = (attribute(&element, "Id"), attribute(&element, "Target"))
        {
            let base = if target.starts_with('/') { "" } else { path };
            let kind = attribute(&element, "Type").unwrap_or_default();
            relations.insert(id, (kind, resolved(base, &target)));
        }
    });
    relations
}

/// The shapes that hold no text of a slide's own.
fn page_furniture(xml: &str) -> Vec<(std::ops::Range<usize>, String)> {
    let (mut edits, mut start, mut is_furniture) = (Vec::new(), None, false);
    events(xml, |event, span| match &event {
        Event::Start(element) if element.local_name().as_ref() == "sp" => {
            (start, is_furniture) = (Some(span.start), false);
        }
        Event::Start(element) | Event::Empty(element) if element.local_name().as_ref() == "ph" => {
            let kind = attribute(element, "type");
            is_furniture |= kind.is_some_and(|kind| matches!(&*kind, "sldNum" | "dt" | "ftr" | "hdr"));
        }
        Event::End(element) if element.local_name().as_ref() == "sp" => {
            if let Some(start) = start.take().filter(|_| is_furniture) {
                edits.push((start..span.end, String::new()));
            }
        }
        _ => {}
    });
    edits
}

/// The paragraphs of the shape for notes; beside it are pictures of the slide and its number.
fn notes_of(xml: &str) -> Vec<Paragraph> {
    let (mut notes, mut paragraph) = (Vec::new(), String::new());
    let (mut is_body, mut in_text) = (false, false);
    events(xml, |event, _| match &event {
        Event::Start(element) | Event::Empty(element) => match element.local_name().as_ref() {
            "sp" => is_body = false,
            "ph" => is_body = attribute(element, "type").is_none_or(|kind| kind == "body"),
            "p" => paragraph.clear(),
            "br" => paragraph.push(' '),
            "t" => in_text = matches!(event, Event::Start(_)),
            _ => {}
        },
        Event::End(element) => match element.local_name().as_ref() {
            "t" => in_text = false,
            "p" if is_body && !paragraph.trim().is_empty() => {
                notes.push(Paragraph::with_text(paragraph.trim()));
            }
            _ => {}
        },
        event if in_text && is_body => add_text(&mut paragraph, event),
        _ => {}
    });
    notes
}
