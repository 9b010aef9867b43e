//! Looking for damage.

use chunkwright_models::text_hash;
use rusqlite::Connection;

use super::super::{CheckReport, StoreError, TextHash};
use super::{cache, read};
use crate::bm25::TermCounts;
use crate::format::file_hash;

/// What must have no rows, and what it means if it has.
const SWEEPS: &[(&str, &str)] = &[
    ("SELECT key FROM chunks WHERE document NOT IN (SELECT id FROM documents)", "chunks without a document"),
    ("SELECT document FROM sources WHERE document NOT IN (SELECT id FROM documents)", "sources without a document"),
    ("SELECT id FROM documents WHERE id NOT IN (SELECT document FROM sources)", "documents without a source"),
    ("SELECT id FROM documents WHERE generation NOT IN (SELECT id FROM generations)", "documents without a generation"),
    ("SELECT id FROM generations WHERE collection NOT IN (SELECT id FROM collections)", "generations without a collection"),
    (
        "SELECT id FROM collections WHERE NOT EXISTS (
             SELECT 1 FROM generations WHERE generations.collection = collections.id AND generations.id = current)",
        "collections without a current generation",
    ),
    ("SELECT collection FROM overlays WHERE collection NOT IN (SELECT id FROM collections)", "overlays without a collection"),
    (
        "SELECT chunks.key FROM chunks JOIN documents ON documents.id = chunks.document
         WHERE chunks.generation <> documents.generation",
        "chunks in another generation than their document",
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
        "SELECT chunks.key FROM chunks LEFT JOIN vectors ON vectors.key = chunks.vector
         WHERE chunks.vector IS NOT NULL AND vectors.text_hash IS NOT chunks.text_hash",
        "chunks with the vector of another text, or one that is gone",
    ),
    (
        "SELECT chunks.key FROM chunks JOIN vectors ON vectors.key = chunks.vector JOIN generations ON generations.id = chunks.generation
         WHERE vectors.model IS NOT generations.model",
        "chunks with a vector of another model than their generation's",
    ),
    (
        "SELECT vectors.key FROM vectors LEFT JOIN models ON models.id = vectors.model
         WHERE length(vector) IS NOT 4 * dimension + 4",
        "vectors of another length than their model's",
    ),
    (
        "SELECT vectors.key FROM vectors JOIN models ON models.id = vectors.model
         WHERE (vectors.sparse IS NOT NULL) IS NOT models.sparse",
        "vectors without the sparse one that their model gives, or with one that it does not",
    ),
];

/// Runs `SQLite`'s check and the sweeps, and reads every source, chunk and vector.
pub(super) fn check(connection: &Connection) -> Result<CheckReport, StoreError> {
    let count = |query: &str| connection.query_row(query, [], |row| row.get::<_, usize>(0));
    let mut report = CheckReport {
        documents: count("SELECT count(*) FROM documents")?,
        chunks: count("SELECT count(*) FROM chunks")?,
        problems: Vec::new(),
    };
    let mut statement = connection.prepare("PRAGMA integrity_check")?;
    let findings = statement.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    // A finding may be several lines, of which the first says in which database it is: there is one.
    let lines = findings.iter().flat_map(|finding| finding.lines());
    let is_news = |line: &&str| *line != "ok" && !line.starts_with("***");
    report.problems.extend(lines.filter(is_news).map(str::to_owned));
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
    for status in read::collections(connection)?.into_iter().flat_map(|collection| collection.generations) {
        let mut hashes = connection.prepare("SELECT text_hash, terms FROM chunks WHERE key = ?1")?;
        let (mut other, mut unreadable) = (0, 0);
        let looked_at = read::each_chunk(connection, &status.generation, &mut |key, record| {
            hashes.query_row([key], |row| {
                other += usize::from(row.get::<_, TextHash>(0)? != text_hash(&record.text));
                unreadable += usize::from(TermCounts::decode(row.get_ref(1)?.as_blob()?).is_none());
                Ok(())
            })?;
            Ok(())
        });
        if let Err(StoreError::Damaged { problem }) = looked_at {
            report.problems.push(problem);
        } else {
            looked_at?;
        }
        for (count, problem) in [
            (other, "chunks with another text than was stored"),
            (unreadable, "chunks whose terms cannot be read"),
        ] {
            if count > 0 {
                report.problems.push(format!("{count} {problem}"));
            }
        }
    }
    let mut statement = connection.prepare("SELECT vector, sparse FROM vectors")?;
    let mut rows = statement.query([])?;
    let mut damaged = 0;
    while let Some(row) = rows.next()? {
        let bytes = row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
        let sparse = row.get_ref(1)?.as_blob_or_null().map_err(rusqlite::Error::from)?;
        let is_damaged = cache::numbers(bytes).is_err()
            || sparse.is_some_and(|sparse| cache::weights(bytes, sparse).is_err());
        damaged += usize::from(is_damaged);
    }
    if damaged > 0 {
        report.problems.push(format!("{damaged} vectors that are not what was stored"));
    }
    Ok(report)
}
