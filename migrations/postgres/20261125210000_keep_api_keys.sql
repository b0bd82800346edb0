-- Keys with which programs use the API. Only a hash of a key is kept, and of its use only the day, so that nobody learns from it when
-- somebody works.

CREATE TABLE api_keys (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    key_hash TEXT NOT NULL UNIQUE,
    -- Names of scopes with commas between them.
    scopes TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    -- NULL where it does not expire.
    expires_at BIGINT,
    -- Midnight before its last use.
    used_day BIGINT,
    revoked_at BIGINT
);
