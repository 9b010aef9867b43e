-- Склад: what is kept, and where.
SET client_encoding = 'UTF8';

/* Who keeps it. */
CREATE TABLE IF NOT EXISTS store.keepers (
    id integer PRIMARY KEY,
    name text NOT NULL DEFAULT 'имя',
    -- of all times
    created_at timestamp
);

CREATE TABLE items (
    id integer,
    keeper integer REFERENCES store.keepers (id)
);

CREATE UNIQUE INDEX items_by_keeper ON items (keeper, id);

-- What is there now.
CREATE OR REPLACE VIEW store.present AS
SELECT
    i.id,
    k.name
FROM items i
JOIN store.keepers k ON k.id = i.keeper;

CREATE MATERIALIZED VIEW totals AS SELECT count(*) FROM items;

CREATE TYPE state AS ENUM ('new', 'gone');

CREATE FUNCTION count_items(keeper_id integer) RETURNS integer AS $$
BEGIN
    RETURN 1;
END;
$$ LANGUAGE plpgsql;

CREATE TRIGGER items_change BEFORE INSERT ON items
FOR EACH ROW EXECUTE FUNCTION note_change();

CREATE TABLE old_items AS SELECT * FROM items;

ALTER TABLE items ADD COLUMN weight integer;

INSERT INTO items (id, keeper) VALUES
    (1, 2),
    (3, 4);

SELECT id FROM items WHERE keeper = 2;
