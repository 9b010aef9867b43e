//! `chunkwright collections`

use anyhow::Result;
use chunkwright_engine::{Access, CollectionSort, Direction, ListCollectionsRequest, ListedCollection, MAX_PAGE};
use clap::builder::TypedValueParser;

use crate::app::{CollectionFlags, Global, Outcome};
use crate::choice::choice;
use crate::command::chunks::page_size;
use crate::command::status;
use crate::output::OutputFlags;
use crate::text::{Table, bold, grouped, plain};

/// List the collections of the store
///
/// Counts are those of the generation that searches see; `chunkwright versions` lists all generations of one collection.
/// The exit status is 1 if there are none.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Collections {
    /// Only collections whose name contains each of these words, whatever the case
    #[arg(value_name = "NAME", default_value = "", hide_default_value = true)]
    name: String,
    /// Only collections that a running process watches files for, with these files
    #[arg(long)]
    watched: bool,
    /// Sort key
    #[arg(long, value_name = "KEY", default_value = "name", value_parser = sort())]
    sort: CollectionSort,
    /// From the other end: the greatest first
    #[arg(long)]
    descending: bool,
    /// Collections to list, at most 1000; without it all
    #[arg(short = 'n', long, value_name = "N", value_parser = page_size)]
    limit: Option<usize>,
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    output: OutputFlags,
}

const EXAMPLES: &str = "\
Examples:
  chunkwright collections team-
  chunkwright collections --sort chunks --descending --limit 20";

fn sort() -> impl TypedValueParser<Value = CollectionSort> {
    choice(&[
        ("name", "The name"),
        ("documents", "The number of documents"),
        ("chunks", "The number of chunks"),
    ])
}

impl Collections {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let results = self.output.check(global, &[])?;
        let engine = global.engine(&[&self.collection], Access::Read)?;
        let mut request = ListCollectionsRequest {
            name: self.name.clone(),
            watched: self.watched,
            sort: self.sort,
            direction: if self.descending { Direction::Descending } else { Direction::Ascending },
            after: None,
            limit: self.limit.unwrap_or(MAX_PAGE),
        };
        let mut listed = Vec::new();
        let total = loop {
            let page = engine.list_collections(&request)?;
            listed.extend(page.collections);
            request.after = page.next;
            if request.after.is_none() || self.limit.is_some() {
                break page.total;
            }
        };
        results.list(&listed, describe)?;
        if total > listed.len() {
            global.say(&format!("{} of {} collections are listed", listed.len(), grouped(total)));
        }
        let none = if self.watched {
            "no process watches files for a collection; `chunkwright index --watch` does".to_owned()
        } else if self.name.is_empty() {
            "nothing is stored; `chunkwright index` stores documents".to_owned()
        } else {
            format!("no collection has `{}` in its name", self.name)
        };
        Ok(global.found(listed.len(), &none))
    }
}

fn describe(listed: &[ListedCollection]) -> String {
    let header = ["collection", "state", "documents", "chunks", "no vector", "model", "generations", "versions"];
    let is_any_watched = listed.iter().any(|collection| !collection.watched.is_empty());
    let mut table = Table::new(header.into_iter().chain(is_any_watched.then_some("watched")));
    for ListedCollection { status, generations, version_generations, watched, .. } in listed {
        let versions: Vec<&str> = version_generations.keys().map(String::as_str).collect();
        table.row([
            bold(&plain(&status.generation.collection)),
            status.state.as_str().to_owned(),
            grouped(status.documents),
            grouped(status.chunks),
            grouped(status.pending),
            status::model(&status.generation.spec),
            grouped(*generations),
            plain(&versions.join(" ")),
            plain(&watched.join(" ")),
        ]);
    }
    table.if_any()
}
