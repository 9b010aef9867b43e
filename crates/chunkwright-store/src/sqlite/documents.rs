//! Pages of documents: ids are read from the index alone, then the rows of the page.

use rusqlite::{Connection, Row, params};

use super::read::{info, info_columns};
use crate::document::DocumentInfo;
use crate::documents::DocumentsBehind;
use crate::error::StoreError;
use crate::generation::Generation;

/// The documents of a page, and whether there are more.
pub(super) fn page(
    connection: &Connection,
    generation: &Generation,
    request: &DocumentsBehind<'_>,
) -> Result<(Vec<DocumentInfo>, bool), StoreError> {
    let (from, sql) = ids(request);
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_map(params![generation.number, from], id)?;
    let (page, is_more) = request.take(found)?;
    let mut row = connection.prepare_cached(&row_sql(connection)?)?;
    let documents = page.iter().map(|(_, version)| row.query_row([version], info));
    Ok((documents.collect::<Result<_, _>>()?, is_more))
}

/// The number of all documents of the list.
pub(super) fn count(
    connection: &Connection,
    generation: &Generation,
    request: &DocumentsBehind<'_>,
) -> Result<usize, StoreError> {
    if request.source.is_none() {
        let mut statement =
            connection.prepare_cached("SELECT count(*) FROM documents WHERE generation = ?1")?;
        return Ok(statement.query_row([generation.number], |row| row.get(0))?);
    }
    let mut statement = connection.prepare_cached(FROM)?;
    let mut rows = statement.query(params![generation.number, request.prefix()])?;
    let mut count = 0;
    while let Some(row) = rows.next()? {
        let doc_id = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
        if !doc_id.starts_with(request.prefix()) {
            break;
        }
        count += usize::from(request.has(doc_id));
    }
    Ok(count)
}

// Both are answered by the unique index of ids.
const FROM: &str = "SELECT doc_id, id FROM documents WHERE generation = ?1 AND doc_id >= ?2 ORDER BY doc_id";
const BEHIND: &str = "SELECT doc_id, id FROM documents WHERE generation = ?1 AND doc_id > ?2 ORDER BY doc_id";

/// The start of the ids of a page, and the query for them.
fn ids<'a>(request: &DocumentsBehind<'a>) -> (&'a str, &'static str) {
    match request.after {
        Some(after) if after >= request.prefix() => (after, BEHIND),
        _ => (request.prefix(), FROM),
    }
}

fn id(row: &Row<'_>) -> rusqlite::Result<(String, i64)> {
    Ok((row.get(0)?, row.get(1)?))
}

fn row_sql(connection: &Connection) -> Result<String, StoreError> {
    Ok(format!("SELECT {} FROM documents WHERE id = ?1", info_columns(connection)?))
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus::{FullscanStep, VmStep};

    use super::super::SqliteStore;
    use super::*;
    use crate::contract::{Access, DocumentStore, GenerationStore};
    use crate::document::{Change, NewDocument, StoredDocument};
    use crate::filter::Glob;
    use crate::generation::GenerationSpec;

    fn document(doc_id: String) -> Change {
        let info = DocumentInfo { doc_id, ..DocumentInfo::default() };
        let document = StoredDocument { info, ..StoredDocument::default() };
        Change::Replace(Box::new(NewDocument { document, base: 0, chunks: Vec::new() }))
    }

    /// The most steps of `SQLite` that one of the pages takes, and the number of documents on all of them.
    fn most_steps(documents: usize, source: Option<&Glob>) -> (i32, usize) {
        let folder = tempfile::tempdir().expect("a folder");
        let store = SqliteStore::open(folder.path(), Access::Write).expect("a store");
        let generation = store.begin("c", &GenerationSpec::default()).expect("a generation");
        let changes: Vec<Change> = (0..documents).map(|n| document(format!("{}/{n:05}.md", n % 2))).collect();
        store.write(&generation, &changes).expect("a write");
        let connection = store.connect().expect("a connection");
        let (mut most, mut listed, mut after) = (0, 0, None::<String>);
        loop {
            let request = DocumentsBehind { source, after: after.as_deref(), skip: 0, limit: 10 };
            let (found, is_more) = page(&connection, &generation, &request).expect("a page");
            let mut steps = 0;
            for sql in [ids(&request).1, &row_sql(&connection).expect("columns")] {
                let statement = connection.prepare_cached(sql).expect("a statement");
                steps += statement.reset_status(VmStep);
                assert_eq!(statement.reset_status(FullscanStep), 0, "{sql}");
            }
            most = most.max(steps);
            listed += found.len();
            if !is_more {
                assert_eq!(count(&connection, &generation, &request).expect("a count"), listed);
                return (most, listed);
            }
            after = found.last().map(|info| info.doc_id.clone());
        }
    }

    #[test]
    fn a_page_costs_the_same_wherever_it_is_and_however_many_documents_there_are() {
        let folder = Glob::new("1/*").expect("a glob");
        for source in [None, Some(&folder)] {
            let (one, _) = most_steps(60, source);
            for n in [2, 4, 8] {
                let (steps, listed) = most_steps(60 * n, source);
                assert_eq!(listed, if source.is_some() { 30 * n } else { 60 * n });
                assert!(steps > 0 && steps <= one + one / 10, "{steps} at {n}, {one} at 1");
            }
        }
    }
}
