-- Runs of benchmarks: who is asked, how far it has come, and what it costs. Only for looking: a run goes on from the answers and
-- judgements that are stored, whatever stands here.

CREATE TABLE bench_runs (
    id TEXT NOT NULL PRIMARY KEY,
    suite TEXT NOT NULL,
    version TEXT NOT NULL,
    sample BIGINT NOT NULL,
    -- Ids as JSON lists.
    models TEXT NOT NULL,
    judges TEXT NOT NULL,
    baseline TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'done', 'over_budget', 'stopped', 'failed')),
    answers BIGINT NOT NULL,
    answers_due BIGINT NOT NULL,
    judgements BIGINT NOT NULL,
    judgements_due BIGINT NOT NULL,
    calls BIGINT NOT NULL,
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    cost DOUBLE PRECISION NOT NULL,
    -- Without a value where a model has no prices.
    expected_cost DOUBLE PRECISION,
    error TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL
);
