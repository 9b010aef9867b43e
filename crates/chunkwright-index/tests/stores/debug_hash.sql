-- A store as it was written when `config_hash` was made of Rust's debug output: three documents from standard input,
-- by `index - --tokenizer words --embedder none --summaries --min-size 0`, one chunk with a keyword, one disabled.
PRAGMA application_id = 1129796180;
PRAGMA user_version = 6;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
INSERT INTO meta VALUES('analysis',2);
CREATE TABLE collections (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, current INTEGER);
INSERT INTO collections VALUES(1,'docs',1);
CREATE TABLE generations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    collection INTEGER NOT NULL,
    strategy_version TEXT NOT NULL,
    config_hash TEXT NOT NULL,
    model INTEGER,
    was_current INTEGER NOT NULL,
    change INTEGER NOT NULL DEFAULT 0
);
INSERT INTO generations VALUES(1,1,'tree-v1.3','0834c85906c058b2+summaries',NULL,1,5);
CREATE TABLE models (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    dimension INTEGER NOT NULL,
    sparse INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE documents (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    generation INTEGER NOT NULL,
    doc_id TEXT NOT NULL,
    root TEXT NOT NULL,
    prefix TEXT NOT NULL DEFAULT '',
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
INSERT INTO documents VALUES(3,1,'tides.py','','','842549836d7c276b209eac596e42b0099de7f21744ab3dc9159cec88b839664d',133,0,'auto','python','UTF-8',0,0,6,0,'','2026-11-23T19:15:35Z');
INSERT INTO documents VALUES(4,1,'guide/boats.md','','','1550c4634f536117940388cd600c756b6864831afb0947363b5b76e5a2f532d0',233,0,'auto','markdown','UTF-8',0,0,2,0,'[{"on":"054d02bc3715a5613169fb1ad528f0ca","of":"054d02bc3715a5613169fb1ad528f0ca","state":"on","effect":"7c2a3af39c82f1fb"}]','2026-11-23T19:15:35Z');
INSERT INTO documents VALUES(5,1,'guide/море.md','','','37666f4d84ae0e6c51b2710a01d73cd6947d2ff23f9433b6bfb25e9ffc9317f7',66,0,'auto','markdown','UTF-8',0,0,1,0,'[{"on":"071631861048d65ff59d056adf503d89","of":"071631861048d65ff59d056adf503d89","state":"on","effect":"e30e1b5d4e0937cd"}]','2026-11-23T19:15:35Z');
CREATE TABLE sources (
    document INTEGER PRIMARY KEY,
    doc_toc TEXT NOT NULL,
    summary TEXT NOT NULL,
    source BLOB NOT NULL,
    raw BLOB
);
INSERT INTO sources VALUES(3,replace('Tides\n  height\n','\n',char(10)),'',X'696d706f7274206d6174680a0a0a636c6173732054696465733a0a2020202022222248656967687473206f66207468652077617465722e2222220a0a20202020646566206865696768742873656c662c20686f7572293a0a202020202020202072657475726e206d6174682e73696e28686f7572202f203132202a206d6174682e7069290a',NULL);
INSERT INTO sources VALUES(4,replace('Boats\n  Tickets\n','\n',char(10)),'',X'2320426f6174730a0a54686520626f617420746f207468652069736c616e64206c6561766573206174206e696e652066726f6d20746865206e6f72746865726e20706965722e0a0a2323205469636b6574730a0a5469636b6574732061726520736f6c64206f6e20626f6172642e204368696c6472656e20756e646572207369782074726176656c20667265652e0a0a7c2046726f6d207c20546f207c205072696365207c0a7c2d2d2d7c2d2d2d7c2d2d2d7c0a7c20486172626f7572207c2049736c616e64207c2034207c0a7c2049736c616e64207c204c69676874686f757365207c2037207c0a',NULL);
INSERT INTO sources VALUES(5,replace('Море\n','\n',char(10)),'',X'2320d09cd0bed180d0b50a0ad09fd0b0d180d0bed0bc20d0bed182d185d0bed0b4d0b8d18220d0b220d0b4d0b5d0b2d18fd182d18c20d187d0b0d181d0bed0b22e0a',NULL);
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
INSERT INTO chunks VALUES(1,1,4,0,X'd35c05475ef97f4a07ee3e8fce0f6e8e',X'f00b0f2b28463a55c7590e1eca8bc91e',NULL,1,0,70,'doc',NULL,'paragraph',NULL,'',X'8000adf80dfbf599cf0303b0c4fbbf0392cc9f55c4fe843af6aed5ff02eed5fc8d04c08a99d40cd4aacb028ae9ee9c038ba8993a02','','{"n":2,"p":"guide/boats.md#L1-L12","l":1,"m":3,"u":0,"v":70,"h":"H1 Boats","q":["Boats"],"cc":70,"wc":13,"tc":13,"tk":"words","w":"heading","config_hash":"0834c85906c058b2"}');
INSERT INTO chunks VALUES(4,1,3,0,X'3ece651e73ecec25c6458ae9078f152a',X'030695c91b7036b76165cb4782c110a2',NULL,1,0,11,'code','python','module',NULL,'',X'8000dba1049a8492a302ca9580e10bc4a9a9fb01cae1fdd201','','{"n":3,"c":"# tides.py\n","l":1,"m":1,"u":0,"v":11,"k":"module","d":"python","y":{},"x":["import math"],"cc":22,"wc":3,"tc":3,"tk":"words","w":"document","config_hash":"0834c85906c058b2"}');
INSERT INTO chunks VALUES(5,1,3,1,X'd264faf321942110c9b3993606ed9433',X'42a63926cad934793cfbd60901866eb6',NULL,1,14,58,'code','python','class',NULL,replace('\nTides\n','\n',char(10)),X'80005f54089b8492a30202e0f187ac01a697faaa0388b6a78509ccf180cc0182b7e9d902fcbbb78f01','','{"n":3,"p":"tides.py#L4-L8","c":"# tides.py\n","l":4,"m":5,"u":14,"v":58,"h":"Tides","q":["Tides"],"k":"class","d":"python","y":{"class_name":"Tides","names":["Tides"]},"x":[],"cc":55,"wc":7,"tc":7,"tk":"words","w":"symbol","config_hash":"0834c85906c058b2"}');
INSERT INTO chunks VALUES(6,1,3,2,X'f4afc8a467f0ccb196d5bc6960ebdf68',X'96bbba86a5c145bdedd45b85eb583516',NULL,1,60,132,'code','python','method',NULL,replace('\nTides\nTides.height\nheight\n','\n',char(10)),X'8000642c0fceda842bdbaea4ce0102f3fae82902cef992a603aedaaee506faeda36bd5d39a6a02f081c4d501d4a7e525f8ae8d7fd6f9dca603fcbbb78f01','','{"n":3,"p":"tides.py#L4-L8","c":"# tides.py\nclass Tides:\n","l":7,"m":8,"u":60,"v":132,"h":"Tides > height","q":["Tides","height"],"k":"method","d":"python","y":{"function_name":"height","class_name":"Tides","parent_class":"Tides","names":["Tides","Tides.height"]},"x":["import math"],"cc":96,"wc":12,"tc":12,"tk":"words","w":"symbol","config_hash":"0834c85906c058b2"}');
INSERT INTO chunks VALUES(7,1,3,3,X'dea96e48ab5f1c4be41c68a6953eaa89',X'830048cd5c1e9caace8da2394cae82d3',NULL,1,0,11,'code','python','file_summary','file_summary','',X'8000ee500a9888f7840283fc9a1e02ca9580e10bc4a9a9fb01cbe1fdd20102e6a5ffb4019ea1ed9d0196f2e0e908',NULL,'{"f":"file_summary","i":0,"n":3,"content":"import math","text":"file tides.py (python)\nsymbols:\n- class Tides\nimports:\nimport math","l":1,"m":1,"u":0,"v":11,"k":"file_summary","d":"python","y":{},"x":["import math"],"cc":66,"wc":9,"tc":9,"tk":"words","w":"summary","config_hash":"0834c85906c058b2"}');
INSERT INTO chunks VALUES(8,1,3,4,X'024d86dbd92597c52698abd38df291d5',X'22e8ce31079a7d60a44812212549a26a',NULL,1,14,26,'code','python','class_summary','class_summary',replace('\nTides\n','\n',char(10)),X'800091ab10ceda842bdaaea4ce01f3fae82903e0f187ac01a697faaa03acd9e3f3039ebbd8b001a6a4a77b98fdc3e502ccf180cc0183b7e9d90202fdbbb78f0102',NULL,'{"f":"class_summary","i":1,"n":3,"p":"tides.py#L4-L8","content":"class Tides:","text":"class Tides in tides.py\nclass Tides:\nHeights of the water.\nmembers:\n- def height(self, hour)","l":4,"m":4,"u":14,"v":26,"h":"Tides","q":["Tides"],"k":"class_summary","d":"python","y":{"class_name":"Tides","names":["Tides"]},"x":[],"cc":92,"wc":15,"tc":15,"tk":"words","w":"summary","config_hash":"0834c85906c058b2"}');
INSERT INTO chunks VALUES(9,1,3,5,X'1a9caa7953742456e19d8c77654faafd',X'f7313b8de4860cbf44ce786c09f11784',NULL,1,60,87,'code','python','function_summary','function_summary',replace('\nTides\nTides.height\nheight\n','\n',char(10)),X'80002fd10aceda842bdaaea4ce01f3fae82902b2e2e5ca08c4dfffab0298fdc3e502cbe4a1b50502ec979db201',NULL,'{"f":"function_summary","i":2,"n":3,"p":"tides.py#L7-L8","content":"    def height(self, hour):","text":"method Tides.height in tides.py\ndef height(self, hour):","l":7,"m":7,"u":60,"v":87,"h":"Tides > height","q":["Tides","height"],"k":"function_summary","d":"python","y":{"function_name":"height","class_name":"Tides","parent_class":"Tides","names":["Tides","Tides.height"]},"x":[],"cc":55,"wc":8,"tc":8,"tk":"words","w":"summary","config_hash":"0834c85906c058b2"}');
INSERT INTO chunks VALUES(10,1,4,1,X'054d02bc3715a5613169fb1ad528f0ca',X'ec57842ce9f67477d3bc19b09859aca5',NULL,1,72,232,'doc',NULL,'table',NULL,'',X'800072a416c6b5f9b10280fcbab603b7b2882c02c0a2f8cf01feceed14f4bd8ba80186cc900dacb2c5ab0196a28b4488cdecde04aaf19df205cca5fa9201eabb8b13b2cd8bac01fc8ebd78b0e5850be88695b7029af7a6ac01c594b5f701028aa8993a',NULL,'{"doc_id":"guide/boats.md","i":1,"n":2,"p":"guide/boats.md#L1-L12","b":"d35c05475ef97f4a07ee3e8fce0f6e8e","content":"## Tickets\n\nTickets are sold on board. Children under six travel free.\n\n| From | To | Price |\n|---|---|---|\n| Harbour | Island | 4 |\n| Island | Lighthouse | 7 |","c":"Boats\n\n","text":"Boats\n\n## Tickets\n\nTickets are sold on board. Children under six travel free.\n\n| From | To | Price |\n|---|---|---|\n| Harbour | Island | 4 |\n| Island | Lighthouse | 7 |","l":5,"m":12,"s":72,"e":232,"u":72,"v":232,"h":"H1 Boats > H2 Tickets","q":["Boats","Tickets"],"t":"table","k":"doc","g":"doc","cc":167,"wc":21,"tc":21,"tk":"words","tl":"normal","o":false,"w":"heading","strategy_version":"tree-v1.3","preset":"auto","config_hash":"0834c85906c058b2","file_hash":"1550c4634f536117940388cd600c756b6864831afb0947363b5b76e5a2f532d0","indexed_at":"2026-11-23T19:15:35Z"}');
INSERT INTO chunks VALUES(11,1,5,0,X'071631861048d65ff59d056adf503d89',X'8005db26eeb04715251f0bcd22d9a21e',NULL,0,0,65,'doc',NULL,'paragraph',NULL,'',X'8000ebc0069cb9bcd00c9ac3b78d01ccb4cbcd0b86c2c41480f3dac301b0cec1ba01',NULL,'{"doc_id":"guide/море.md","i":0,"n":1,"p":"guide/море.md","content":"# Море\n\nПаром отходит в девять часов.","c":"","text":"# Море\n\nПаром отходит в девять часов.","l":1,"m":3,"s":0,"e":65,"u":0,"v":37,"h":"H1 Море","q":["Море"],"t":"paragraph","k":"doc","g":"doc","cc":37,"wc":6,"tc":6,"tk":"words","tl":"normal","o":false,"w":"heading","strategy_version":"tree-v1.3","preset":"auto","config_hash":"0834c85906c058b2","file_hash":"37666f4d84ae0e6c51b2710a01d73cd6947d2ff23f9433b6bfb25e9ffc9317f7","indexed_at":"2026-11-23T19:15:35Z"}');
CREATE TABLE vectors (
    key INTEGER PRIMARY KEY,
    model INTEGER NOT NULL,
    text_hash BLOB NOT NULL,
    vector BLOB NOT NULL,
    sparse BLOB,
    UNIQUE (model, text_hash)
);
CREATE TABLE notes (key BLOB PRIMARY KEY, note TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE overlays (
    collection INTEGER NOT NULL,
    chunk_id TEXT NOT NULL,
    overlay TEXT NOT NULL,
    PRIMARY KEY (collection, chunk_id)
) WITHOUT ROWID;
INSERT INTO overlays VALUES(1,'054d02bc3715a5613169fb1ad528f0ca','{"chunk_id":"054d02bc3715a5613169fb1ad528f0ca","doc_id":"guide/boats.md","content_hash":"dea1ddad1719c4cd082501423bb03309","content":"## Tickets\n\nTickets are sold on board. Children under six travel free.\n\n| From | To | Price |\n|---|---|---|\n| Harbour | Island | 4 |\n| Island | Lighthouse | 7 |","header_path":"H1 Boats > H2 Tickets","disabled":false,"text":null,"original":null,"keywords":["fare"],"pins":[],"changed_at":"2026-11-23T19:15:57Z"}');
INSERT INTO overlays VALUES(1,'071631861048d65ff59d056adf503d89','{"chunk_id":"071631861048d65ff59d056adf503d89","doc_id":"guide/море.md","content_hash":"8005db26eeb04715251f0bcd22d9a21e","content":"# Море\n\nПаром отходит в девять часов.","header_path":"H1 Море","disabled":true,"text":null,"original":null,"keywords":[],"pins":[],"changed_at":"2026-11-23T19:15:57Z"}');
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('collections',1);
INSERT INTO sqlite_sequence VALUES('generations',1);
INSERT INTO sqlite_sequence VALUES('documents',5);
INSERT INTO sqlite_sequence VALUES('chunks',11);
COMMIT;
