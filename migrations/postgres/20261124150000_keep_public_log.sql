-- The public log of votes and exclusions: an append-only Merkle tree, of which everybody can check that nothing in it changed.

-- The entries as they are published and hashed. `subject` is the id of the vote or of the exclusion, so that each comes once.
CREATE TABLE log_entries (
    position BIGINT NOT NULL PRIMARY KEY CHECK (position >= 0),
    kind TEXT NOT NULL CHECK (kind IN ('vote', 'exclusion', 'withdrawal')),
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (kind, subject)
);
-- Hashes of full tiles: those that the tiles of level 1 and above hold. Level 0 is made of the entries.
CREATE TABLE log_nodes (
    level BIGINT NOT NULL CHECK (level >= 1),
    position BIGINT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (level, position)
);
-- One row: the latest signed state. Whoever appends replaces the row that it has read, or appends nothing. `exclusion_changes`
-- is the number of exclusions and withdrawals in the log.
CREATE TABLE log_checkpoint (
    id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    size BIGINT NOT NULL,
    root TEXT NOT NULL,
    note TEXT NOT NULL,
    signed_at BIGINT NOT NULL,
    last_vote_seq BIGINT NOT NULL,
    exclusion_changes BIGINT NOT NULL
);
-- Apart from the entries, so that a row can be deleted: then its entry commits to nothing that could be told, and every proof holds.
CREATE TABLE log_salts (
    position BIGINT NOT NULL PRIMARY KEY,
    salt TEXT NOT NULL
);
-- The random name under which a voter appears in the log. Without the row the name leads to nobody.
CREATE TABLE log_voters (
    visitor TEXT NOT NULL PRIMARY KEY,
    tag TEXT NOT NULL UNIQUE
);

-- Nothing is forgotten.
CREATE FUNCTION log_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the public log is append-only';
END $$;
CREATE TRIGGER log_entries_are_never_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON log_entries
FOR EACH STATEMENT EXECUTE FUNCTION log_is_append_only();
