//! Looking for damage.

use rusqlite::Connection;

use super::super::{CheckReport, StoreError};
use crate::format::file_hash;

/// What must have no rows, and what it means if it has.
const SWEEPS: &[(&str, &str)] = &[
    ("SELECT key FROM chunks WHERE document NOT IN (SELECT id FROM documents)", "chunks without a document"),
    ("SELECT document FROM sources WHERE document NOT IN (SELECT id FROM documents)", "sources without a document"),
    ("SELECT id FROM documents WHERE id NOT IN (SELECT document FROM sources)", "documents without a source"),
    ("SELECT id FROM documents WHERE collection NOT IN (SELECT id FROM collections)", "documents without a collection"),
    (
        "SELECT chunks.key FROM chunks JOIN documents ON documents.id = chunks.document
         WHERE chunks.collection <> documents.collection",
        "chunks in another collection than their document",
    ),
    (
        "SELECT documents.id FROM documents LEFT JOIN chunks ON chunks.document = documents.id GROUP BY documents.id
         HAVING count(chunks.key) <> documents.chunks OR coalesce(max(idx) + 1, 0) <> documents.chunks",
        "documents with other chunks than were stored",
    ),
    (
        "SELECT chunks.key FROM chunks JOIN sources ON sources.document = chunks.document
         WHERE chunks.end > length(sources.source) OR chunks.start > chunks.end",
        "chunks outside of their source",
    ),
    (
        "SELECT vectors.key FROM collections JOIN vectors ON vectors.model = collections.model
         WHERE length(vector) <> 4 * dimension",
        "vectors of another length than their collection's",
    ),
];

/// Runs `SQLite`'s check, which includes that of FTS5, and the sweeps.
pub(super) fn check(connection: &Connection) -> Result<CheckReport, StoreError> {
    let count = |query: &str| connection.query_row(query, [], |row| row.get::<_, usize>(0));
    let mut report = CheckReport {
        documents: count("SELECT count(*) FROM documents")?,
        chunks: count("SELECT count(*) FROM chunks")?,
        problems: Vec::new(),
    };
    let mut statement = connection.prepare("PRAGMA integrity_check")?;
    let findings = statement.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    report.problems.extend(findings.into_iter().filter(|finding| finding != "ok"));
    for (query, meaning) in SWEEPS {
        let found = count(&format!("SELECT count(*) FROM ({query})"))?;
        if found > 0 {
            report.problems.push(format!("{found} {meaning}"));
        }
    }
    let mut statement = connection.prepare(
        "SELECT doc_id, file_hash, coalesce(raw, source) FROM documents JOIN sources ON document = documents.id",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let bytes = row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?;
        if file_hash(bytes) != row.get::<_, String>(1)? {
            let doc_id: String = row.get(0)?;
            report
                .problems
                .push(format!("the stored text of `{doc_id}` is not that of the file it was made of"));
        }
    }
    for (id, name) in names(connection)? {
        // FTS5 keeps the sizes of its rows in a table that can be read.
        let sizes = format!("words_{id}_docsize");
        let without = count(&format!(
            "SELECT count(*) FROM chunks WHERE collection = {id} AND key NOT IN (SELECT id FROM {sizes})"
        ))?;
        let orphans = count(&format!(
            "SELECT count(*) FROM {sizes} WHERE id NOT IN (SELECT key FROM chunks WHERE collection = {id})"
        ))?;
        if without > 0 {
            report.problems.push(format!("{without} chunks of `{name}` without words"));
        }
        if orphans > 0 {
            report.problems.push(format!("{orphans} rows of words of `{name}` without a chunk"));
        }
    }
    Ok(report)
}

fn names(connection: &Connection) -> Result<Vec<(i64, String)>, StoreError> {
    let mut statement = connection.prepare("SELECT id, name FROM collections ORDER BY id")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
