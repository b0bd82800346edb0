-- Plans of benchmarks that the server runs: what was asked for, and where it stands. What is there is known from answers, judgements and
-- attempts; the cost of a plan is that of its runs.
CREATE TABLE bench_plans (
    id TEXT NOT NULL PRIMARY KEY,
    -- As JSON: the plan, and for each run of it what it was to ask when it was started.
    plan TEXT NOT NULL,
    steps TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'done', 'over_budget', 'stopped', 'failed')),
    -- Somebody wants it to end; the instance that runs it does so.
    stop_asked BOOLEAN NOT NULL,
    -- What it waits for, or why it ended.
    note TEXT NOT NULL,
    started_by TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL
);
-- One runs at a time, over all instances.
CREATE UNIQUE INDEX bench_plans_running ON bench_plans (state) WHERE state = 'running';
ALTER TABLE bench_runs ADD COLUMN plan TEXT;
ALTER TABLE bench_runs ADD COLUMN step BIGINT;
CREATE INDEX bench_runs_by_plan ON bench_runs (plan) WHERE plan IS NOT NULL;
