-- Batches of requests that runs of benchmarks send to providers, so that a later run takes their replies instead of paying again. A row is
-- written before the batch is sent: where the process ends between the two, the batch is looked for at the provider.
CREATE TABLE bench_batches (
    id TEXT NOT NULL PRIMARY KEY,
    suite TEXT NOT NULL,
    -- The model or judge that is asked.
    model TEXT NOT NULL,
    -- The provider's name for it; NULL until the provider has given one.
    provider_id TEXT,
    -- A digest of each request, one a line. They hold no prompt.
    requests TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('intended', 'sent', 'ended', 'taken', 'unsent', 'failed', 'gone')),
    created_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL
);
CREATE INDEX bench_batches_open ON bench_batches (suite, model) WHERE state IN ('intended', 'sent', 'ended');
