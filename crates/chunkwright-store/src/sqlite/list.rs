//! Pages of chunks: in document order straight from the tables, in any other order by their ids.

use std::ops::ControlFlow;

use chunkwright::ChunkId;
use rusqlite::{Connection, OptionalExtension, params};

use super::read::{self, Newer, PLACE, damaged, info, info_columns};
use super::recent::Recent;
use super::stored::{Facets, Stored};
use crate::cancel;
use crate::columns::{Columns, NewRow};
use crate::document::DocumentInfo;
use crate::error::StoreError;
use crate::filter::Facts;
use crate::generation::Generation;
use crate::list::{Direction, ListRequest, ListedChunk};
use crate::list::{PageBuilder, Position};

/// Fills a page in document order. The tables' keys lead directly to its first chunk; a chunk that the filter rejects
/// by its columns is not read.
pub(super) fn in_document_order(
    connection: &Connection,
    generation: &Generation,
    request: &ListRequest,
    after: Option<&Position>,
    page: &mut PageBuilder<'_>,
) -> Result<(), StoreError> {
    let mut statement = connection.prepare_cached(&documents_sql(connection, request)?)?;
    let doc_id = after.as_ref().map(|after| after.doc_id.clone());
    let mut rows = statement.query(params![generation.number, doc_id])?;
    while let Some(row) = rows.next()? {
        cancel::check()?;
        let info = info(row)?;
        let place = match after.filter(|after| after.doc_id == info.doc_id) {
            Some(after) => {
                Some(after.clone().at(request, info.version, |id| place_of(connection, &info, id))?.place)
            }
            None => None,
        };
        if document(connection, generation, &info, request, place, page)?.is_break() {
            break;
        }
    }
    Ok(())
}

fn documents_sql(connection: &Connection, request: &ListRequest) -> Result<String, StoreError> {
    let (order, behind) = match request.direction {
        Direction::Ascending => ("ASC", ">="),
        Direction::Descending => ("DESC", "<="),
    };
    let from = if request.after.is_some() { format!("doc_id {behind} ?2") } else { "?2 IS NULL".into() };
    let columns = info_columns(connection)?;
    Ok(format!("SELECT {columns} FROM documents WHERE generation = ?1 AND {from} ORDER BY doc_id {order}"))
}

fn chunks_sql(request: &ListRequest) -> String {
    let (order, behind) = match request.direction {
        Direction::Ascending => ("ASC", ">"),
        Direction::Descending => ("DESC", "<"),
    };
    format!(
        "SELECT {PLACE}, key, chunk_id, record, tail, enabled, vector IS NOT NULL, language, artifact, symbols
         FROM chunks WHERE document = ?1 AND idx {behind} ?2 ORDER BY idx {order}"
    )
}

fn place_of(connection: &Connection, info: &DocumentInfo, id: ChunkId) -> Result<Option<u32>, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT idx FROM chunks WHERE document = ?1 AND chunk_id = ?2")?;
    Ok(statement.query_row(params![info.version, id.0], |row| row.get(0)).optional()?)
}

/// Adds the chunks of a document after the one at `after`.
fn document(
    connection: &Connection,
    generation: &Generation,
    info: &DocumentInfo,
    request: &ListRequest,
    after: Option<i64>,
    page: &mut PageBuilder<'_>,
) -> Result<ControlFlow<()>, StoreError> {
    let edge = after.unwrap_or(match request.direction {
        Direction::Ascending => -1,
        Direction::Descending => i64::MAX,
    });
    let mut statement = connection.prepare_cached(&chunks_sql(request))?;
    let mut rows = statement.query(params![info.version, edge])?;
    let mut source = None;
    let known = Stored::of_document(generation, info);
    while let Some(row) = rows.next()? {
        let enabled = row.get(11)?;
        if !request.visibility.shows(enabled) {
            continue;
        }
        let text = |column| row.get_ref(column).and_then(|value| Ok(value.as_str_or_null()?));
        let is_quick = request.filter.is_quick();
        let facts = Facts {
            doc_id: &info.doc_id,
            category: text(1)?.unwrap_or_default(),
            content_type: text(2)?.unwrap_or_default(),
            language: text(13)?,
            artifact: text(14)?,
            symbols: text(15)?.unwrap_or_default(),
        };
        if is_quick && !request.filter.passes(&facts) {
            continue;
        }
        let source = match &mut source {
            Some(source) => source,
            none => none.insert(read::source(connection, info.version)?),
        };
        let (place, record) = read::record(row, &known, source)?;
        if is_quick || request.filter.passes_record(&record) {
            let chunk = ListedChunk { record, enabled, embedded: row.get(12)? };
            if page.push(place, info.version, chunk).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Fills a page with chunks, given by place, document version and id. Those that the snapshot no longer has are left
/// out.
pub(super) fn by_id(
    connection: &Connection,
    generation: &Generation,
    listed: Vec<(u32, i64, ChunkId)>,
    recent: &Recent,
    page: &mut PageBuilder<'_>,
) -> Result<(), StoreError> {
    for (place, version, id) in listed {
        // The columns may know a later version than the snapshot.
        let ids = std::iter::once((id, None));
        let Some(chunk) = read::chunks(connection, generation, ids, recent)?.pop().flatten() else {
            continue;
        };
        if page.push(place, version, ListedChunk::from(&*chunk)).is_break() {
            break;
        }
    }
    Ok(())
}

/// Updates columns to the snapshot.
pub(super) fn update_columns(
    connection: &Connection,
    generation: &Generation,
    columns: &mut Columns,
) -> Result<(), StoreError> {
    let live = read::newer(connection, generation, Newer::Than(0))?;
    let last_version = columns.last_version();
    columns.retain(&live.iter().map(|(version, doc_id)| (doc_id.as_str(), *version)).collect());
    let mut statement = connection.prepare_cached(
        "SELECT chunk_id, category, language, content_type, artifact, symbols, enabled, record, text_hash
         FROM chunks WHERE document = ?1 ORDER BY idx",
    )?;
    for (version, doc_id) in live.iter().filter(|(version, _)| *version > last_version) {
        let mut rows = statement.query([version])?;
        while let Some(row) = rows.next()? {
            let text = |column| row.get_ref(column).and_then(|value| Ok(value.as_str()?));
            let maybe = |column| row.get_ref(column).and_then(|value| Ok(value.as_str_or_null()?));
            let category = text(1)?;
            let facets =
                Facets::read(text(7)?).ok_or_else(|| damaged("the token count of a chunk cannot be read"))?;
            let strategy_version = facets.strategy_version.as_deref();
            let new = NewRow {
                id: ChunkId(row.get(0)?),
                facts: Facts {
                    doc_id: "",
                    category,
                    language: maybe(2)?,
                    content_type: text(3)?,
                    artifact: maybe(4)?,
                    symbols: text(5)?,
                },
                chunk_type: facets.chunk_type.as_deref().unwrap_or(category),
                strategy_version: strategy_version.unwrap_or(&generation.spec.strategy_version),
                token_count: facets.token_count,
                text_hash: row.get(8)?,
                cut: facets.cut,
                enabled: row.get(6)?,
            };
            columns.push(*version, doc_id, &new);
        }
    }
    Ok(())
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use chunkwright::parse::Text;
    use chunkwright::{ChunkConfig, Chunker, Document, RecordContext, Words};
    use rusqlite::StatementStatus::VmStep;

    use super::super::SqliteStore;
    use super::*;
    use crate::contract::{Access, DocumentStore, GenerationStore};
    use crate::document::{Change, NewChunk, NewDocument, StoredDocument};
    use crate::generation::GenerationSpec;
    use crate::list::ChunkPage;

    pub(crate) fn document(doc_id: &str, chunks: usize) -> Change {
        let source: String = (0..chunks).map(|n| format!("Paragraph {n}.\n\n")).collect();
        let parsed = Document::parse(doc_id, source.as_str(), &Text);
        let config = ChunkConfig { max_size: 8, target_size: 1, min_size: 0, ..ChunkConfig::default() };
        let chunker = Chunker::new(config, Arc::new(Words)).expect("a configuration");
        let records = chunker.chunk(&parsed).records(&RecordContext::default());
        let info = DocumentInfo { doc_id: doc_id.into(), ..DocumentInfo::default() };
        let document = StoredDocument { info, source: source.into(), ..StoredDocument::default() };
        let chunks = records.into_iter().map(NewChunk::new).collect();
        Change::Replace(Box::new(NewDocument { document, base: 0, chunks }))
    }

    /// The most steps of `SQLite` that one of the pages takes, and the number of chunks on all of them.
    fn most_steps(changes: &[Change], direction: Direction) -> (i32, usize) {
        let folder = tempfile::tempdir().expect("a folder");
        let store = SqliteStore::open(folder.path(), Access::Write).expect("a store");
        let generation = store.begin("c", &GenerationSpec::default()).expect("a generation");
        store.write(&generation, changes).expect("a write");
        let connection = store.connect().expect("a connection");
        let mut request = ListRequest { direction, limit: 10, ..ListRequest::default() };
        let (mut most, mut chunks) = (0, 0);
        loop {
            let mut page = PageBuilder::new(&request, &generation).expect("a page");
            let after = request.position(&generation).expect("a cursor");
            in_document_order(&connection, &generation, &request, after.as_ref(), &mut page).expect("chunks");
            let ChunkPage { chunks: found, next } = page.finish();
            let steps =
                |sql: String| connection.prepare_cached(&sql).expect("a statement").reset_status(VmStep);
            most = most.max(
                steps(documents_sql(&connection, &request).expect("columns")) + steps(chunks_sql(&request)),
            );
            chunks += found.len();
            match next {
                Some(next) => request.after = Some(next),
                None => return (most, chunks),
            }
        }
    }

    #[test]
    fn a_page_costs_the_same_wherever_it_is_and_however_much_is_stored() {
        for direction in [Direction::Ascending, Direction::Descending] {
            let many = |n: usize| (0..40 * n).map(|at| document(&format!("{at:05}"), 3)).collect::<Vec<_>>();
            let large = |n: usize| vec![document("large", 100 * n)];
            for changes in [&many as &dyn Fn(usize) -> Vec<Change>, &large] {
                let (one, _) = most_steps(&changes(1), direction);
                for n in [2, 4, 8] {
                    let (steps, chunks) = most_steps(&changes(n), direction);
                    assert!(chunks >= 25 * n, "{chunks} at {n}");
                    assert!(steps > 0 && steps <= one + one / 10, "{steps} at {n}, {one} at 1");
                }
            }
        }
    }
}
