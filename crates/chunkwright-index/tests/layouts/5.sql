CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
-- `current` is the generation that searches see.
CREATE TABLE collections (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, current INTEGER);
CREATE TABLE generations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    collection INTEGER NOT NULL,
    strategy_version TEXT NOT NULL,
    config_hash TEXT NOT NULL,
    model INTEGER,
    was_current INTEGER NOT NULL,
    change INTEGER NOT NULL DEFAULT 0
);
-- `sparse` says whether the model gives sparse vectors beside the dense ones.
CREATE TABLE models (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    dimension INTEGER NOT NULL,
    sparse INTEGER NOT NULL DEFAULT 0
);
-- `id` is the version of a document: a replacement has a new one.
CREATE TABLE documents (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    generation INTEGER NOT NULL,
    doc_id TEXT NOT NULL,
    root TEXT NOT NULL,
    file_hash TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    preset TEXT NOT NULL,
    format TEXT NOT NULL,
    encoding TEXT NOT NULL,
    low_confidence INTEGER NOT NULL,
    replacements INTEGER NOT NULL,
    chunks INTEGER NOT NULL,
    pending INTEGER NOT NULL,
    overlays TEXT NOT NULL,
    indexed_at TEXT NOT NULL,
    UNIQUE (generation, doc_id)
);
-- Apart from `documents`, so that listing those reads no text. `raw` is NULL where `source` is the file.
CREATE TABLE sources (
    document INTEGER PRIMARY KEY,
    doc_toc TEXT NOT NULL,
    summary TEXT NOT NULL,
    source BLOB NOT NULL,
    raw BLOB
);
-- `record` is JSON without what the document and the generation say, and without content and text, which
-- are the bytes `start` to `end` of the source, with the context before and the tail after; where `tail`
-- is NULL it has them. `artifact` is NULL for chunks; summaries stand behind the chunks of their
-- document. `symbols` has a name a line. `terms` is what BM25 reads. `vector` is NULL where there is none.
CREATE TABLE chunks (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    generation INTEGER NOT NULL,
    document INTEGER NOT NULL,
    idx INTEGER NOT NULL,
    chunk_id BLOB NOT NULL,
    text_hash BLOB NOT NULL,
    vector INTEGER,
    enabled INTEGER NOT NULL,
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    category TEXT NOT NULL,
    language TEXT,
    content_type TEXT NOT NULL,
    artifact TEXT,
    symbols TEXT NOT NULL,
    terms BLOB NOT NULL,
    tail TEXT,
    record TEXT NOT NULL,
    UNIQUE (generation, chunk_id),
    UNIQUE (document, idx)
);
-- `sparse` is NULL where the model gives none; its checksum is over both, so that none is with another's.
CREATE TABLE vectors (
    key INTEGER PRIMARY KEY,
    model INTEGER NOT NULL,
    text_hash BLOB NOT NULL,
    vector BLOB NOT NULL,
    sparse BLOB,
    UNIQUE (model, text_hash)
);
CREATE TABLE notes (key BLOB PRIMARY KEY, note TEXT NOT NULL) WITHOUT ROWID;
-- What was changed by hand: `overlay` is JSON.
CREATE TABLE overlays (
    collection INTEGER NOT NULL,
    chunk_id TEXT NOT NULL,
    overlay TEXT NOT NULL,
    PRIMARY KEY (collection, chunk_id)
) WITHOUT ROWID;
