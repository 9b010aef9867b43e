//! What a run has to tell, in sentences.

use chunkwright_index::{Away, OverlayCounts, WhyAway};

use crate::notice::{Notice, NoticeCode};
use crate::words::{count, grouped};

/// Names of databases: who writes one as the store may expect that, and not a folder.
const DATABASES: &[&str] = &[
    "chroma",
    "chromadb",
    "elasticsearch",
    "faiss",
    "lancedb",
    "milvus",
    "opensearch",
    "pgvector",
    "pinecone",
    "postgres",
    "postgresql",
    "qdrant",
    "redis",
    "sqlite",
    "weaviate",
];

/// A notice for a store that is a folder with the name of a database.
pub(super) fn made_in_folder(store: &str) -> Option<Notice> {
    let is_one = DATABASES.iter().any(|name| store.eq_ignore_ascii_case(name));
    let message = || {
        format!(
            "the store is made in a folder named `{store}`; a store on a server is an address: `qdrant://HOST:6333`, `chroma://HOST:8000` or `postgres://USER@HOST/DATABASE`"
        )
    };
    is_one.then(|| Notice::new(NoticeCode::StoreInFolder, message()))
}

/// How changes made by hand stand that need a review: `1 manual change was carried over to an edited chunk; ..`.
pub(super) fn overlays_in_words(overlays: &OverlayCounts) -> String {
    let OverlayCounts { carried, conflict, orphaned, .. } = *overlays;
    let kinds = [
        (carried, "was carried over to an edited chunk", "were carried over to edited chunks"),
        (conflict, "is in conflict", "are in conflict"),
        (orphaned, "is orphaned", "are orphaned"),
    ];
    let mut parts: Vec<String> = Vec::new();
    for (number, one, many) in kinds.into_iter().filter(|(number, ..)| *number > 0) {
        // The noun is said once.
        let who = if parts.is_empty() { count(number, "manual change") } else { grouped(number) };
        parts.push(format!("{who} {}", if number == 1 { one } else { many }));
    }
    format!("{}; `chunkwright overlays --review` lists them", parts.join(", "))
}

/// Explains why documents whose files were not found are kept.
pub(super) fn away_in_words(away: &Away) -> String {
    let Away { folder, documents, why } = away;
    let is_one = *documents == 1;
    let (stay, their, files_are) =
        if is_one { ("stays", "its", "its file is") } else { ("stay", "their", "their files are") };
    let documents = count(*documents, "document");
    match why {
        WhyAway::Missing => format!("`{folder}` does not exist now; its {documents} {stay}"),
        WhyAway::Empty => format!(
            "`{folder}` is empty, and nothing was removed from it, so it may not be mounted; its {documents} {stay} until `chunkwright delete` removes them"
        ),
        WhyAway::Most => format!(
            "{documents} of `{folder}` {stay} although {files_are} gone, as that is more than half; `--prune=force` removes them"
        ),
        WhyAway::LeftOut => format!(
            "{documents} of `{folder}` {stay} although this run leaves {their} {} out; `--prune` removes them",
            if is_one { "file" } else { "files" }
        ),
        WhyAway::Kept => {
            format!("{documents} of `{folder}` {stay} although {files_are} gone, as `--prune=keep` says")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_their_nouns() {
        let words = |carried, conflict, orphaned| {
            let counts = OverlayCounts { on: 7, carried, conflict, orphaned };
            overlays_in_words(&counts).replace("; `chunkwright overlays --review` lists them", "")
        };
        assert_eq!(words(1, 0, 0), "1 manual change was carried over to an edited chunk");
        assert_eq!(words(0, 2, 1), "2 manual changes are in conflict, 1 is orphaned");
        assert_eq!(
            words(2000, 1, 3),
            "2,000 manual changes were carried over to edited chunks, 1 is in conflict, 3 are orphaned"
        );
    }

    #[test]
    fn a_folder_with_the_name_of_a_database_is_told_from_an_address() {
        assert!(
            made_in_folder("LanceDB")
                .is_some_and(|notice| notice.message.contains("a folder named `LanceDB`"))
        );
        for store in ["store", "./lancedb", "qdrant://h", "data/chroma"] {
            assert_eq!(made_in_folder(store), None);
        }
    }
}
