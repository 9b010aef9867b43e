//! Stores with another layout than this program's.

use chunkwright_index::{Access, SqliteStore};
use rusqlite::Connection;

use crate::fixture::Fixture;

#[test]
fn a_store_of_another_layout_is_left_as_it_is_and_the_error_says_what_helps() {
    for (layout, helps) in [(99, "use a newer version"), (5, "index again into another folder")] {
        let fixture = Fixture::new("sqlite", &[("a.md", "Text.")]);
        fixture.index();
        let file = fixture.store_path().join(SqliteStore::FILE);
        let Fixture { store, pipeline, folder, .. } = fixture;
        drop((store, pipeline));
        Connection::open(&file).unwrap().pragma_update(None, "user_version", layout).unwrap();
        let before = std::fs::read(&file).unwrap();
        for access in [Access::Read, Access::Write] {
            let error = SqliteStore::open(&folder.path().join("store"), access).err().unwrap().to_string();
            let said = format!("the store has layout {layout}, this program reads layout 6; {helps}");
            assert!(error.starts_with(&said), "{error}");
        }
        assert!(std::fs::read(&file).unwrap() == before);
    }
}
