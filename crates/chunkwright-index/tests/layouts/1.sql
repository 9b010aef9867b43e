CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE collections (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    model TEXT,
    dimension INTEGER,
    change INTEGER NOT NULL DEFAULT 0
);
-- `id` is the version of a document: a replacement has a new one.
CREATE TABLE documents (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    collection INTEGER NOT NULL,
    doc_id TEXT NOT NULL,
    root TEXT NOT NULL,
    file_hash TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    config_hash TEXT NOT NULL,
    strategy_version TEXT NOT NULL,
    preset TEXT NOT NULL,
    format TEXT NOT NULL,
    encoding TEXT NOT NULL,
    low_confidence INTEGER NOT NULL,
    replacements INTEGER NOT NULL,
    chunks INTEGER NOT NULL,
    pending INTEGER NOT NULL,
    indexed_at TEXT NOT NULL,
    UNIQUE (collection, doc_id)
);
-- Apart from `documents`, so that listing those reads no text. `raw` is NULL where `source` is the file.
CREATE TABLE sources (
    document INTEGER PRIMARY KEY,
    doc_toc TEXT NOT NULL,
    source BLOB NOT NULL,
    raw BLOB
);
-- `record` is JSON without content and text, which are the bytes `start` to `end` of the source, with
-- the context before and the tail after; where `tail` is NULL it has them.
CREATE TABLE chunks (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    collection INTEGER NOT NULL,
    document INTEGER NOT NULL,
    idx INTEGER NOT NULL,
    chunk_id BLOB NOT NULL,
    text_hash BLOB NOT NULL,
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    category TEXT NOT NULL,
    language TEXT,
    content_type TEXT NOT NULL,
    tail TEXT,
    record TEXT NOT NULL,
    UNIQUE (collection, chunk_id),
    UNIQUE (document, idx)
);
CREATE TABLE vectors (
    key INTEGER PRIMARY KEY,
    model TEXT NOT NULL,
    text_hash BLOB NOT NULL,
    vector BLOB NOT NULL,
    UNIQUE (model, text_hash)
);
CREATE TABLE disabled (collection INTEGER, chunk_id BLOB, PRIMARY KEY (collection, chunk_id)) WITHOUT ROWID;
