-- An operator may give up a batch whose replies nobody asks for any more: it stays as a row that no run looks for.
-- SQLite cannot change a CHECK, so the table is made anew.
CREATE TABLE new_bench_batches (
    id TEXT NOT NULL PRIMARY KEY,
    suite TEXT NOT NULL,
    -- The model or judge that is asked.
    model TEXT NOT NULL,
    -- The provider's name for it; NULL until the provider has given one.
    provider_id TEXT,
    -- A digest of each request, one a line. They hold no prompt.
    requests TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('intended', 'sent', 'ended', 'taken', 'unsent', 'failed', 'gone', 'forgotten')),
    created_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL
);
INSERT INTO new_bench_batches (id, suite, model, provider_id, requests, state, created_at, changed_at)
    SELECT id, suite, model, provider_id, requests, state, created_at, changed_at FROM bench_batches;
DROP TABLE bench_batches;
ALTER TABLE new_bench_batches RENAME TO bench_batches;
CREATE INDEX bench_batches_open ON bench_batches (suite, model) WHERE state IN ('intended', 'sent', 'ended');
