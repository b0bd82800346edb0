-- Session tokens are signed, so that nobody can choose one for himself; every instance of an arena signs with the same key.

-- What no page, log or export shows. Without its row, all visitors get new sessions at the next start.
CREATE TABLE secrets (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
