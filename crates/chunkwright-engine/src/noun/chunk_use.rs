//! How often each chunk of a collection was found by searches and fetched by agents, as far as the log of queries tells.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use chunkwright::{ChunkId, Record};
use chunkwright_index::{ListRequest, MAX_PAGE, StatisticsRequest};

use crate::error::Error;
use crate::noun::query_log::QueryLog;
use crate::noun::renamed;
use crate::noun::snapshot::Snapshot;
use crate::request::chunk_use::{ChunkUse, UseAnswer, UseRequest, UseState};

/// The kind of a logged call that fetches.
const FETCH: &str = "fetch";

/// What the log tells of a chunk.
#[derive(Clone, Default)]
struct Count {
    found: u64,
    fetched: u64,
    last: String,
}

impl Snapshot {
    /// Counts how often chunks were found and fetched since the log begins, and lists those of a state.
    ///
    /// # Errors
    ///
    /// A generation that is gone, a store that fails.
    pub fn chunk_use(&self, log: &QueryLog, request: &UseRequest) -> Result<UseAnswer, Error> {
        let names = renamed::names(self.engine(), &self.generation().collection);
        let (mut counts, mut queries, mut since) = (HashMap::<ChunkId, Count>::new(), 0, None);
        log.each(|query| {
            since.get_or_insert_with(|| query.at.clone());
            let mut then = names.iter().filter(|name| name.may_be_at(&query.at));
            let Some(chunks) = then.find_map(|then| query.call.chunks.get(&then.name)) else { return };
            queries += 1;
            for id in chunks {
                let count = counts.entry(*id).or_default();
                let number = if query.call.kind == FETCH { &mut count.fetched } else { &mut count.found };
                *number += 1;
                count.last.clone_from(&query.at);
            }
        });
        let mut used = self.present(&counts)?;
        let number = |is: fn(&Count) -> bool| used.iter().filter(|(_, count)| is(count)).count();
        let (found, fetched) = (number(|count| count.found > 0), number(|count| count.fetched > 0));
        let chunks = self.statistics(&StatisticsRequest::default())?.chunks;
        let never = chunks.saturating_sub(used.len());
        let limit = request.limit.clamp(1, MAX_PAGE);
        let rows = match request.state {
            UseState::Never => self.never_used(&used, limit)?,
            state => {
                let of = |count: &Count| if state == UseState::Found { count.found } else { count.fetched };
                used.retain(|(_, count)| of(count) > 0);
                used.sort_by_key(|(record, count)| (Reverse(of(count)), record.chunk_id));
                used.iter().take(limit).map(|(record, count)| row(record, count)).collect()
            }
        };
        Ok(UseAnswer { since, queries, chunks, found, fetched, never, rows })
    }

    /// The chunks among these that the generation still has.
    fn present(&self, counts: &HashMap<ChunkId, Count>) -> Result<Vec<(Record, Count)>, Error> {
        let ids: Vec<ChunkId> = counts.keys().copied().collect();
        let mut present = Vec::with_capacity(ids.len());
        for ids in ids.chunks(MAX_PAGE) {
            self.engine().check_cancelled()?;
            let stored = self.store().chunks(self.generation(), ids)?.into_iter().flatten();
            let chunks = stored.map(|chunk| chunk.record.clone()).filter(|record| record.artifact.is_none());
            present.extend(chunks.map(|record| {
                let count = counts.get(&record.chunk_id).cloned().unwrap_or_default();
                (record, count)
            }));
        }
        Ok(present)
    }

    /// The first chunks that are not among the used ones, in the order of documents.
    fn never_used(&self, used: &[(Record, Count)], limit: usize) -> Result<Vec<ChunkUse>, Error> {
        let used: HashSet<ChunkId> = used.iter().map(|(record, _)| record.chunk_id).collect();
        let (mut rows, mut after) = (Vec::new(), None);
        loop {
            let page = self.chunks(&ListRequest { after, limit: MAX_PAGE, ..ListRequest::default() })?;
            let unused = page.chunks.iter().filter(|chunk| !used.contains(&chunk.record.chunk_id));
            rows.extend(unused.take(limit - rows.len()).map(|chunk| row(&chunk.record, &Count::default())));
            after = page.next;
            if rows.len() == limit || after.is_none() {
                return Ok(rows);
            }
        }
    }
}

fn row(record: &Record, count: &Count) -> ChunkUse {
    ChunkUse {
        chunk_id: record.chunk_id,
        doc_id: record.doc_id.clone(),
        start_line: record.start_line,
        end_line: record.end_line,
        section_path: record.section_path.clone(),
        found: count.found,
        fetched: count.fetched,
        last: (!count.last.is_empty()).then(|| count.last.clone()),
    }
}
