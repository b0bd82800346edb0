-- Votes that were cast elsewhere become battles and votes like any others; this says which files they came from, so that
-- the same file is never taken in twice. Their battles' ids begin with the file's.
CREATE TABLE imports (
    id TEXT NOT NULL PRIMARY KEY,
    source TEXT NOT NULL,
    votes BIGINT NOT NULL,
    imported_at BIGINT NOT NULL
);
