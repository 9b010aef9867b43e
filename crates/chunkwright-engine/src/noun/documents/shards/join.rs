//! Joins the tables of all shards into the table of the whole.

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::path::PathBuf;

use chunkwright::{ChunkId, Record};
use chunkwright_arrow::{ExportRow, Reader};

use super::{Manifest, shown};
use crate::error::{Error, ShardsError};
use crate::table::{RecordTable, TableFormat};

/// What was joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joined {
    /// Number of documents that were found.
    pub documents: usize,
    /// Number of those that were left out when they were read.
    pub left_out: usize,
    /// Number of rows.
    pub rows: usize,
}

/// Joins the tables of all shards into `sink`, the rows in the order of one process that cuts all documents. It proves that
/// every shard is there once, that all were cut from one list of documents by one configuration and version, that every
/// document of the list is in the shard that it belongs to and in no other, with as many rows as were written, and that
/// no id is there twice. For the last, the ids of all chunks are in memory, 16 bytes each.
///
/// # Errors
///
/// Whatever is not proved, tables that cannot be read, and a sink that cannot be written.
pub fn join<W: Write + Send>(tables: &[PathBuf], sink: W) -> Result<(Joined, W), Error> {
    let mut shards = Vec::new();
    for path in tables {
        let (manifest, reader) =
            Manifest::of(path)?.ok_or_else(|| ShardsError::NoManifest { path: shown(path) })?;
        shards.push(Table { path: shown(path), manifest, reader, rows: Vec::new().into_iter() });
    }
    let order = order(&shards)?;
    let mut table = RecordTable::new(sink, TableFormat::Parquet, None)?;
    let mut joined = Joined { documents: order.len(), left_out: 0, rows: 0 };
    let mut ids = HashSet::new();
    for (shard, rows) in order {
        let shard = &mut shards[shard];
        let Some(rows) = rows else {
            joined.left_out += 1;
            continue;
        };
        joined.rows += rows as usize;
        table.write(shard.document(rows as usize, &mut ids)?)?;
    }
    for shard in &mut shards {
        if shard.row()?.is_some() {
            return Err(shard.contradiction("it has more rows than its manifest says".to_owned()).into());
        }
    }
    Ok((joined, table.finish()?))
}

/// The table of a shard that is being read.
struct Table {
    path: String,
    manifest: Manifest,
    reader: Reader,
    rows: std::vec::IntoIter<ExportRow>,
}

impl Table {
    fn contradiction(&self, what: String) -> ShardsError {
        ShardsError::Contradiction { path: self.path.clone(), what, shard: self.manifest.shard.to_string() }
    }

    fn row(&mut self) -> Result<Option<Record>, ShardsError> {
        loop {
            if let Some(row) = self.rows.next() {
                return Ok(Some(row.record));
            }
            let Some(batch) = self.reader.next() else { return Ok(None) };
            let unreadable = |reason: String| ShardsError::Unreadable { path: self.path.clone(), reason };
            self.rows = batch.map_err(|error| unreadable(error.to_string()))?.into_iter();
        }
    }

    /// The records of the next document, which has so many rows.
    fn document(&mut self, rows: usize, ids: &mut HashSet<ChunkId>) -> Result<Vec<Record>, ShardsError> {
        let mut records: Vec<Record> = Vec::new();
        for _ in 0..rows {
            let Some(record) = self.row()? else {
                return Err(self.contradiction("it has fewer rows than its manifest says".to_owned()));
            };
            let id = &record.doc_id;
            if records.first().is_some_and(|first| first.doc_id != *id) {
                return Err(self.contradiction(format!("the rows of `{id}` are not as many as were written")));
            }
            if !self.manifest.shard.holds(id) {
                return Err(self.contradiction(format!("`{id}` belongs to another shard")));
            }
            if !ids.insert(record.chunk_id) {
                return Err(self.contradiction(format!("the id {} is there twice", record.chunk_id)));
            }
            records.push(record);
        }
        Ok(records)
    }
}

/// The documents of all shards in their order: the shard of each and its number of rows.
fn order(shards: &[Table]) -> Result<Vec<(usize, Option<u32>)>, ShardsError> {
    let mut seen: HashMap<u64, &Table> = HashMap::new();
    let Some(first) = shards.first() else { return Ok(Vec::new()) };
    for table in shards {
        if let Some(what) = table.manifest.difference(&first.manifest) {
            return Err(ShardsError::Different { path: table.path.clone(), first: first.path.clone(), what });
        }
        let shard = table.manifest.shard;
        if let Some(other) = seen.insert(shard.index(), table) {
            let (path, first, shard) = (table.path.clone(), other.path.clone(), shard.to_string());
            return Err(ShardsError::Twice { path, first, shard });
        }
    }
    let of = first.manifest.shard.of();
    let missing = (0..of).filter(|index| !seen.contains_key(index));
    // More would be no help, and a manifest may say any number.
    let mut missing: Vec<String> = missing.take(11).map(|index| format!("{}/{of}", index + 1)).collect();
    if !missing.is_empty() {
        if missing.len() > 10 {
            missing.truncate(10);
            missing.push("...".to_owned());
        }
        return Err(ShardsError::Missing { shards: missing.join(", ") });
    }
    let found = first.manifest.found as usize;
    let held: usize = shards.iter().map(|table| table.manifest.documents.len()).sum();
    if held != found {
        let what = format!("all shards together have {held} of {found} documents");
        return Err(first.contradiction(what));
    }
    let mut order: Vec<Option<(usize, Option<u32>)>> = vec![None; found];
    for (index, table) in shards.iter().enumerate() {
        for &(place, rows) in &table.manifest.documents {
            match order.get_mut(place as usize) {
                Some(slot @ None) => *slot = Some((index, rows)),
                Some(Some(_)) => {
                    return Err(table.contradiction(format!("document {} is in two shards", place + 1)));
                }
                None => {
                    return Err(table.contradiction(format!("there is no document {}", place + 1)));
                }
            }
        }
    }
    // As many as there are places, and no two of them at one: every place has its document.
    Ok(order.into_iter().flatten().collect())
}
