//! Checks a store for damage.

use rusqlite::Connection;

use super::{cache, collections, read};
use crate::bm25::TermCounts;
use crate::check_report::CheckReport;
use crate::document::{DocumentInfo, NewChunk};
use crate::error::StoreError;
use crate::generation::Generation;
use crate::overlay::Overlays;
use crate::unsound::Unsound;
use crate::verify::{self, Counters, Kept, is_unit};

/// Queries that must return no rows, and the finding if they do.
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
        "SELECT documents.id FROM documents JOIN chunks ON chunks.document = documents.id
         JOIN generations ON generations.id = documents.generation
         GROUP BY documents.id HAVING documents.pending <> sum(chunks.vector IS NULL AND generations.model IS NOT NULL)",
        "documents with another number of chunks without a vector than they say",
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

/// Runs `SQLite`'s check and the sweeps, and reads every vector, and every source and chunk of the collection, or of all.
pub(super) fn check(connection: &Connection, collection: Option<&str>) -> Result<CheckReport, StoreError> {
    let count = |query: &str| connection.query_row(query, [], |row| row.get::<_, usize>(0));
    let rows = |table: &str| {
        let of = "JOIN generations ON generations.id = generation JOIN collections ON collections.id = generations.collection";
        match collection {
            None => count(&format!("SELECT count(*) FROM {table}")),
            Some(name) => connection.query_row(
                &format!("SELECT count(*) FROM {table} {of} WHERE collections.name = ?1"),
                [name],
                |row| row.get(0),
            ),
        }
    };
    let mut report =
        CheckReport { documents: rows("documents")?, chunks: rows("chunks")?, ..CheckReport::default() };
    let mut statement = connection.prepare("PRAGMA integrity_check")?;
    let findings = statement.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    // A finding may have several lines; the first only names the database, of which there is one.
    let lines = findings.iter().flat_map(|finding| finding.lines());
    let is_news = |line: &&str| *line != "ok" && !line.starts_with("***");
    report.problems.extend(lines.filter(is_news).map(str::to_owned));
    for (query, meaning) in SWEEPS {
        let found = count(&format!("SELECT count(*) FROM ({query})"))?;
        if found > 0 {
            report.problems.push(format!("{found} {meaning}"));
        }
    }
    let counters = Counters::default();
    let is_wanted = |name: &str| collection.is_none_or(|wanted| wanted == name);
    for collection in collections::all(connection)?.into_iter().filter(|it| is_wanted(&it.name)) {
        let overlays = read::overlays(connection, &collection.name);
        if let Err(StoreError::Damaged { problem }) = &overlays {
            report.problems.push(problem.clone());
        }
        let overlays = overlays.unwrap_or_default();
        for status in &collection.generations {
            check_generation(connection, &status.generation, &overlays, &counters, &mut report)?;
        }
    }
    let mut statement = connection.prepare("SELECT vector, sparse FROM vectors")?;
    let mut rows = statement.query([])?;
    let (mut damaged, mut long) = (0, 0);
    while let Some(row) = rows.next()? {
        let bytes = row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
        let sparse = row.get_ref(1)?.as_blob_or_null().map_err(rusqlite::Error::from)?;
        match cache::numbers(bytes) {
            Ok(numbers) => long += usize::from(!is_unit(numbers)),
            Err(_) => damaged += 1,
        }
        damaged += usize::from(sparse.is_some_and(|sparse| cache::weights(bytes, sparse).is_err()));
    }
    if long > 0 {
        report.problems.push(format!("{long} vectors that are not of length 1"));
    }
    if damaged > 0 {
        report.problems.push(format!("{damaged} vectors that are not what was stored"));
    }
    let damaged = cache::damaged_codes(connection)?;
    if damaged > 0 {
        report.problems.push(format!("{damaged} codes of tokens that are not what was stored"));
    }
    Ok(report)
}

/// Verifies the documents of a generation, window by window.
fn check_generation(
    connection: &Connection,
    generation: &Generation,
    overlays: &Overlays,
    counters: &Counters,
    report: &mut CheckReport,
) -> Result<(), StoreError> {
    let (mut window, mut bytes) = (Vec::new(), 0);
    let prove = |window: &mut Vec<Kept>, report: &mut CheckReport| {
        report.add(generation, verify::stored(&generation.spec, window, overlays, counters));
        window.clear();
    };
    for info in read::documents(connection, generation)? {
        let doc_id = info.doc_id.clone();
        match kept(connection, generation, &info) {
            Ok(kept) => {
                bytes += kept.document.source.len();
                window.push(kept);
            }
            Err(StoreError::Damaged { problem }) => {
                let problem = format!("document `{doc_id}`: {problem}");
                report.add(generation, vec![Unsound { doc_id, problem }]);
            }
            Err(error) => return Err(error),
        }
        if bytes >= verify::WINDOW {
            prove(&mut window, report);
            bytes = 0;
        }
    }
    prove(&mut window, report);
    Ok(())
}

/// A document with all stored data of its chunks.
fn kept(connection: &Connection, generation: &Generation, info: &DocumentInfo) -> Result<Kept, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT text_hash, terms, enabled FROM chunks WHERE key = ?1")?;
    let mut chunks = Vec::with_capacity(info.chunks as usize);
    read::each_record(connection, generation, info, &mut |key, record| {
        let (text_hash, terms, enabled) = statement.query_row([key], |row| {
            Ok((row.get(0)?, TermCounts::decode(row.get_ref(1)?.as_blob()?), row.get(2)?))
        })?;
        let terms = terms.ok_or_else(|| read::damaged("the terms of a chunk cannot be read"))?;
        chunks.push(NewChunk { record, text_hash, terms, enabled });
        Ok(())
    })?;
    let document = read::document(connection, generation, &info.doc_id)?;
    let document = document.ok_or_else(|| read::damaged("it cannot be read"))?;
    Ok(Kept { document, chunks })
}
