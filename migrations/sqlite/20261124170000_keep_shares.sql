-- A visitor finds their own battles again, and may share one after the vote by a link that cannot be guessed. Withdrawing the
-- link deletes its row.

CREATE TABLE battle_shares (
    battle_id TEXT NOT NULL PRIMARY KEY REFERENCES battles (id),
    token TEXT NOT NULL UNIQUE,
    created_at BIGINT NOT NULL
);
-- The battles of one visitor, by time: the id is a UUIDv7. Imported battles have no visitor, and need no place in it.
CREATE INDEX battles_by_visitor ON battles (visitor, id) WHERE visitor <> '';
