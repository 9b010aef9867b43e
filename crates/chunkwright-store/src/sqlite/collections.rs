//! Collections: names are read from the index alone, counts are cached until a generation changes.

use parking_lot::Mutex;
use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, params};

use super::Commit;
use super::read::{GENERATION, generation};
use crate::collections::{CollectionSort, CollectionsBehind, ListedCollections};
use crate::error::StoreError;
use crate::generation::{Collection, Generation, GenerationState, GenerationStatus};
use crate::list::Direction;

/// The counts of a generation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Count {
    documents: usize,
    chunks: usize,
    pending: usize,
}

/// Cached counts by generation number, each with the change that it reflects.
#[derive(Debug, Default)]
pub(super) struct Counts(Mutex<HashMap<i64, (u64, Count)>>);

impl Counts {
    /// The counts of a generation as of `change`, which is that of the snapshot.
    fn get(&self, connection: &Connection, number: i64, change: u64) -> Result<Count, StoreError> {
        if let Some((known, count)) = self.0.lock().get(&number)
            && *known == change
        {
            return Ok(*count);
        }
        let mut statement = connection.prepare_cached(COUNT)?;
        let count = statement.query_row([number], |row| {
            let number = |column| Ok::<_, rusqlite::Error>(row.get::<_, f64>(column)? as usize);
            Ok(Count { documents: row.get(0)?, chunks: number(1)?, pending: number(2)? })
        })?;
        self.0.lock().insert(number, (change, count));
        Ok(count)
    }

    /// Forgets a generation, by its number.
    pub(super) fn forget(&self, generation: i64) {
        self.0.lock().remove(&generation);
    }
}

const COUNT: &str = "SELECT count(*), total(chunks), total(pending) FROM documents WHERE generation = ?1";

/// A page of collections.
pub(super) fn page(
    connection: &Connection,
    request: &CollectionsBehind<'_>,
    counts: &Counts,
) -> Result<ListedCollections, StoreError> {
    let (total, names, is_more) = match request.sort {
        CollectionSort::Name => names(connection, request)?,
        _ => by_count(connection, request, counts)?,
    };
    let found = names.iter().map(|name| collection(connection, name, counts));
    let collections = found.filter_map(Result::transpose).collect::<Result<_, _>>()?;
    Ok(ListedCollections { collections, total, is_more })
}

/// The number of all names of the list, those on the page, and whether there are more.
fn names(
    connection: &Connection,
    request: &CollectionsBehind<'_>,
) -> Result<(usize, Vec<String>, bool), StoreError> {
    let total = if request.has_all() {
        connection.prepare_cached("SELECT count(*) FROM collections")?.query_row([], |row| row.get(0))?
    } else {
        let fits = request.names();
        let mut statement = connection.prepare_cached("SELECT name FROM collections")?;
        let mut rows = statement.query([])?;
        let mut total = 0;
        while let Some(row) = rows.next()? {
            total += usize::from(fits(row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?));
        }
        total
    };
    let mut statement = connection.prepare_cached(names_sql(request))?;
    let (page, is_more) =
        request.take(statement.query_map([request.after.map(|after| after.name)], |row| row.get(0))?)?;
    Ok((total, page, is_more))
}

/// The query for the names after a place, answered by the unique index of names.
fn names_sql(request: &CollectionsBehind<'_>) -> &'static str {
    match (request.direction, request.after.is_some()) {
        (Direction::Ascending, true) => "SELECT name FROM collections WHERE name > ?1 ORDER BY name",
        (Direction::Descending, true) => "SELECT name FROM collections WHERE name < ?1 ORDER BY name DESC",
        (Direction::Ascending, false) => "SELECT name FROM collections WHERE ?1 IS NULL ORDER BY name",
        (Direction::Descending, false) => "SELECT name FROM collections WHERE ?1 IS NULL ORDER BY name DESC",
    }
}

/// As [`names`], in the order of counts.
fn by_count(
    connection: &Connection,
    request: &CollectionsBehind<'_>,
    counts: &Counts,
) -> Result<(usize, Vec<String>, bool), StoreError> {
    let fits = request.names();
    let mut statement = connection.prepare_cached(
        "SELECT name, generations.id, change FROM collections JOIN generations ON generations.id = current",
    )?;
    let mut rows = statement.query([])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        let name: String = row.get(0)?;
        if fits(&name) {
            let Count { documents, chunks, .. } = counts.get(connection, row.get(1)?, row.get(2)?)?;
            let is_documents = request.sort == CollectionSort::Documents;
            all.push((if is_documents { documents } else { chunks }, name));
        }
    }
    Ok(request.page(all))
}

/// All collections, by name.
pub(super) fn all(connection: &Connection) -> Result<Vec<Collection>, StoreError> {
    Ok(page(connection, &CollectionsBehind::default(), &Counts::default())?.collections)
}

/// The collection of this name; `None` if there is none.
pub(super) fn collection(
    connection: &Connection,
    name: &str,
    counts: &Counts,
) -> Result<Option<Collection>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT current FROM collections WHERE name = ?1")?;
    let found = statement.query_row([name], |row| row.get(0)).optional()?;
    let Some(current) = found else { return Ok(None) };
    let mut generations = Vec::new();
    for (generation, was_current, change) in generations_of(connection, name)? {
        let state = match (Some(generation.number) == current, was_current) {
            (true, true) => GenerationState::Current,
            (false, true) => GenerationState::Old,
            (_, false) => GenerationState::Building,
        };
        let Count { documents, chunks, pending } = counts.get(connection, generation.number, change)?;
        generations.push(GenerationStatus { generation, state, documents, chunks, pending, change });
    }
    Ok(Some(Collection { name: name.to_owned(), generations }))
}

/// The generations of a collection, whether each was ever current, and its number of changes.
fn generations_of(connection: &Connection, name: &str) -> Result<Vec<(Generation, bool, u64)>, StoreError> {
    let mut statement = connection.prepare_cached(&generations_sql())?;
    let read = |row: &rusqlite::Row<'_>| Ok((generation(row)?, row.get(7)?, row.get(8)?));
    Ok(statement.query_map(params![name], read)?.collect::<Result<_, _>>()?)
}

fn generations_sql() -> String {
    let columns = GENERATION.replacen("FROM", ", was_current, change FROM", 1);
    format!("SELECT {columns} WHERE collections.name = ?1 ORDER BY generations.id")
}

/// The generation that searches see of every collection, by name.
pub(super) fn visible(connection: &Connection) -> Result<Vec<Generation>, StoreError> {
    let query =
        format!("SELECT {GENERATION} WHERE generations.id = collections.current ORDER BY collections.name");
    let mut statement = connection.prepare_cached(&query)?;
    let found = statement.query_map([], generation)?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// Everything of a collection refers to its number, so its name is one value.
pub(super) fn rename(connection: &Connection, from: &str, to: &str) -> Result<((), Commit), StoreError> {
    if connection.prepare("SELECT 1 FROM collections WHERE name = ?1")?.exists([to])? {
        return Err(StoreError::NameTaken { name: to.into() });
    }
    let renamed = connection.execute("UPDATE collections SET name = ?2 WHERE name = ?1", [from, to])?;
    Ok(((), Commit::from(renamed > 0)))
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus::VmStep;

    use super::super::list::tests::document;
    use super::super::read::{self, Newer};
    use super::super::{SqliteStore, setup};
    use super::*;
    use crate::analysis;
    use crate::bm25::{alike, query_ids};
    use crate::collections::CollectionPlace;
    use crate::contract::{Access, ChunkStore, CollectionStore, DocumentStore, GenerationStore};
    use crate::filter::Filter;
    use crate::generation::GenerationSpec;

    /// A store of `collections` collections, each with two documents; the first has twice as many chunks.
    fn store(collections: usize) -> (tempfile::TempDir, SqliteStore) {
        let folder = tempfile::tempdir().expect("a folder");
        let store = SqliteStore::open(folder.path(), Access::Write).expect("a store");
        for number in 0..collections {
            let generation = store.begin(&name(number), &spec()).expect("a generation");
            let chunks = if number == 0 { 12 } else { 6 };
            store.write(&generation, &[document("a", chunks), document("b", chunks)]).expect("a write");
            store.switch(&generation).expect("a switch");
        }
        (folder, store)
    }

    fn spec() -> GenerationSpec {
        GenerationSpec { config_hash: "one".into(), ..GenerationSpec::default() }
    }

    fn name(number: usize) -> String {
        format!("team-{number:05}")
    }

    /// The steps that these statements took on the connection.
    fn steps(connection: &Connection, statements: &[&str]) -> i32 {
        let taken = |sql: &&str| connection.prepare_cached(sql).expect("a statement").reset_status(VmStep);
        statements.iter().map(taken).sum()
    }

    /// Runs `work` on stores of 20, 40, 80 and 160 collections and asserts that it takes the same number of steps in each.
    fn costs_the_same(work: impl Fn(&Connection, &SqliteStore, usize) -> i32) {
        let mut one = None;
        for collections in [20, 40, 80, 160] {
            let (_folder, store) = store(collections);
            let connection = store.connect().expect("a connection");
            let steps = work(&connection, &store, collections);
            let one = *one.get_or_insert(steps);
            assert!(steps > 0 && steps <= one + one / 10, "{steps} of {collections}, {one} of 20");
        }
    }

    #[test]
    fn a_page_of_collections_costs_the_same_wherever_it_is_and_however_many_there_are() {
        for direction in [Direction::Ascending, Direction::Descending] {
            costs_the_same(|connection, _, collections| {
                let (mut most, mut listed, mut after) = (0, 0, None::<String>);
                loop {
                    let place = after.as_ref().map(|name| CollectionPlace { count: 0, name });
                    let request =
                        CollectionsBehind { direction, after: place, limit: Some(10), ..Default::default() };
                    let found = page(connection, &request, &Counts::default()).expect("a page");
                    let total = "SELECT count(*) FROM collections";
                    let current = "SELECT current FROM collections WHERE name = ?1";
                    let read = [total, names_sql(&request), current, &generations_sql(), COUNT];
                    most = most.max(steps(connection, &read));
                    (listed, after) = (
                        listed + found.collections.len(),
                        found.collections.last().map(|it| it.name.clone()),
                    );
                    assert_eq!(found.total, collections);
                    if !found.is_more {
                        assert_eq!(listed, collections);
                        return most;
                    }
                }
            });
        }
    }

    #[test]
    fn what_is_done_with_one_collection_costs_the_same_however_many_others_there_are() {
        costs_the_same(|connection, store, collections| {
            let name = name(collections / 2);
            let generation = read::lookup(connection, &name).expect("a look").expect("a generation");
            assert_eq!(read::lookup(connection, "nothing").expect("a look"), None);
            assert_eq!(
                read::find_spec(connection, &name, &spec()).expect("a look"),
                Some(generation.clone())
            );
            assert_eq!(read::newer(connection, &generation, Newer::Than(0)).expect("versions").len(), 2);
            let last = read::last_version(connection).expect("a version");
            store.write(&generation, &[document("c", 3)]).expect("a write");
            let written = read::newer(connection, &generation, Newer::Written(last)).expect("versions");
            assert_eq!(written.len(), 1);
            let versions = [Newer::Than(0).sql().0, Newer::Written(0).sql().0];
            steps(connection, &[&read::lookup_sql(), &read::find_sql(), versions[0], versions[1]])
        });
    }

    #[test]
    fn counts_are_those_of_the_last_change_and_order_collections() {
        let (_folder, store) = store(3);
        let by = |sort, direction| {
            let request = CollectionsBehind { sort, direction, ..Default::default() };
            let page = store.list_collections(&request).expect("a page");
            let names = page.collections.iter().map(|collection| collection.name.clone());
            (names.collect::<Vec<_>>(), page.collections.iter().map(|it| sort.count(it)).collect::<Vec<_>>())
        };
        let (names, counts) = by(CollectionSort::Chunks, Direction::Descending);
        assert_eq!((names[0].as_str(), counts), ("team-00000", vec![24, 12, 12]));
        let generation = store.open("team-00001").expect("a generation");
        store.write(&generation, &[document("c", 9)]).expect("a write");
        assert_eq!(by(CollectionSort::Chunks, Direction::Descending).1, [24, 21, 12]);
        assert_eq!(by(CollectionSort::Documents, Direction::Ascending).1, [2, 2, 3]);
        store.remove(&generation).expect("a removal");
        assert_eq!(by(CollectionSort::Documents, Direction::Ascending).1, [2, 2]);
    }

    #[test]
    fn a_store_without_our_indexes_gets_them_when_it_is_opened_to_write() {
        let (folder, store) = store(2);
        drop(store);
        let file = folder.path().join(SqliteStore::FILE);
        let connection = Connection::open(&file).expect("a connection");
        connection
            .execute_batch("DROP INDEX generations_by_collection; DROP INDEX documents_counted;")
            .expect("a change");
        drop(connection);
        let listed = |access| {
            let store = SqliteStore::open(folder.path(), access).expect("a store");
            store.collections().expect("collections")
        };
        assert_eq!(listed(Access::Read), listed(Access::Write));
        let connection = Connection::open(&file).expect("a connection");
        assert!(read::has(&connection, "index", "documents_counted").expect("a look"));
        assert!(setup::check_layout(&connection).is_ok());
    }

    #[test]
    fn a_cold_search_of_every_collection_reads_what_each_holds() {
        let mut one = None;
        for n in [1, 2, 4, 8] {
            let (_folder, store) = store(20 * n);
            let terms = alike(&query_ids(analysis::terms("paragraph")));
            let connection = store.connect().expect("a connection");
            for generation in visible(&connection).expect("generations") {
                store
                    .with_index(
                        &connection.unchecked_transaction().expect("a snapshot"),
                        &generation,
                        |index, _, _| {
                            assert!(index.row_count() >= 6, "{}", index.row_count());
                            Ok(())
                        },
                    )
                    .expect("an index");
                assert!(
                    !store.lexical(&generation, &terms, &Filter::default(), 5).expect("an answer").is_empty()
                );
            }
            let taken = steps(&connection, &[Newer::Than(0).sql().0, read::INDEXED]);
            let one = *one.get_or_insert(taken);
            let most = one * i32::try_from(n).expect("few");
            assert!(taken > 0 && taken <= most + most / 10, "{taken} at {n}, {one} at 1");
        }
    }
}
