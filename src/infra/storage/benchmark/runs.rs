//! Benchmark runs for display: progress and cost of each.

use sqlx::AssertSqlSafe;
use sqlx_macros::FromRow;

use crate::domain::benchmark::record::{BenchRunRow, NewBenchRun, PlanStep};
use crate::domain::benchmark::runs::run_state::{DueCount, RunSnapshot, RunState};
use crate::domain::judging::budget::{Spent, Tokens};
use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::{Store, StoreError, on_reader, on_writer, signed, unsigned};

/// A repeated insert finds its existing row.
const INSERT: &str = "INSERT INTO bench_runs (id, suite, version, sample, models, judges, baseline, state, answers, answers_due, \
     judgements, judgements_due, calls, input_tokens, output_tokens, cost, expected_cost, error, started_at, changed_at, manifest, plan, step) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, 'running', $8, $9, $10, $11, 0, 0, 0, 0, $12, '', $13, $13, $14, $15, $16) \
     ON CONFLICT DO NOTHING";
const UPDATE: &str = "UPDATE bench_runs SET state = $2, answers = $3, answers_due = $4, judgements = $5, judgements_due = $6, \
     calls = $7, input_tokens = $8, output_tokens = $9, cost = $10, error = $11, changed_at = $12 WHERE id = $1";
const SELECT: &str = "SELECT id, suite, version, sample, models, judges, baseline, state, answers, answers_due, judgements, \
     judgements_due, calls, input_tokens, output_tokens, cost, expected_cost, error, started_at, changed_at, manifest, plan, step \
     FROM bench_runs";

impl Store {
    /// Inserts a run.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn insert_bench_run(&self, run: &NewBenchRun) -> Result<(), StoreError> {
        let _time = store_time("insert_bench_run");
        let [models, judges] = [&run.models, &run.judges].map(|ids| serde_json::json!(ids).to_string());
        let manifest = serde_json::json!(run.manifest).to_string();
        on_writer!(self, |connection| {
            let query =
                sqlx::query(INSERT).bind(&run.id).bind(&run.suite).bind(&run.version).bind(i64::from(run.sample));
            let query = query.bind(&models).bind(&judges).bind(&run.baseline);
            let query = query.bind(signed(run.answers.done)).bind(signed(run.answers.due));
            let query = query.bind(signed(run.judgements.done)).bind(signed(run.judgements.due));
            let query = query.bind(run.expected_cost).bind(run.started_at.0).bind(&manifest);
            let query = query.bind(run.plan.as_ref().map(|of| &of.plan));
            let query = query.bind(run.plan.as_ref().map(|of| i64::from(of.step)));
            query.execute(connection).await.map(drop)
        })
    }

    /// Updates the progress of a run.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn update_bench_run(&self, id: &str, snapshot: &RunSnapshot, now: Timestamp) -> Result<(), StoreError> {
        let _time = store_time("update_bench_run");
        let RunSnapshot { state, answers, judgements, spent, error } = snapshot;
        on_writer!(self, |connection| {
            let query = sqlx::query(UPDATE).bind(id).bind(state.as_str());
            let query = query.bind(signed(answers.done)).bind(signed(answers.due));
            let query = query.bind(signed(judgements.done)).bind(signed(judgements.due)).bind(signed(spent.calls));
            let query = query.bind(signed(spent.tokens.input)).bind(signed(spent.tokens.output)).bind(spent.cost);
            query.bind(error).bind(now.0).execute(connection).await.map(drop)
        })
    }

    /// Reads the latest runs, the latest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn bench_runs(&self, limit: u32) -> Result<Vec<BenchRunRow>, StoreError> {
        let _time = store_time("bench_runs");
        let query = format!("{SELECT} ORDER BY id DESC LIMIT $1");
        let rows: Vec<RawRun> = on_reader!(self, |pool| {
            sqlx::query_as(AssertSqlSafe(query.clone())).bind(i64::from(limit)).fetch_all(pool).await
        })?;
        rows.into_iter().map(RawRun::row).collect()
    }

    /// Reads the latest runs of a suite, the latest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn bench_runs_of(&self, suite: &str, limit: u32) -> Result<Vec<BenchRunRow>, StoreError> {
        let _time = store_time("bench_runs_of");
        let query = format!("{SELECT} WHERE suite = $2 ORDER BY id DESC LIMIT $1");
        let rows: Vec<RawRun> = on_reader!(self, |pool| {
            sqlx::query_as(AssertSqlSafe(query.clone())).bind(i64::from(limit)).bind(suite).fetch_all(pool).await
        })?;
        rows.into_iter().map(RawRun::row).collect()
    }

    /// Reads the runs of a plan, the earliest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn bench_runs_of_plan(&self, plan: &str) -> Result<Vec<BenchRunRow>, StoreError> {
        let _time = store_time("bench_runs_of_plan");
        let query = format!("{SELECT} WHERE plan = $1 ORDER BY id");
        let rows: Vec<RawRun> =
            on_reader!(self, |pool| { sqlx::query_as(AssertSqlSafe(query.clone())).bind(plan).fetch_all(pool).await })?;
        rows.into_iter().map(RawRun::row).collect()
    }
}

#[derive(FromRow)]
struct RawRun {
    id: String,
    suite: String,
    version: String,
    sample: i64,
    models: String,
    judges: String,
    baseline: String,
    state: String,
    answers: i64,
    answers_due: i64,
    judgements: i64,
    judgements_due: i64,
    calls: i64,
    input_tokens: i64,
    output_tokens: i64,
    cost: f64,
    expected_cost: Option<f64>,
    error: String,
    started_at: i64,
    changed_at: i64,
    manifest: String,
    plan: Option<String>,
    step: Option<i64>,
}

impl RawRun {
    fn row(self) -> Result<BenchRunRow, StoreError> {
        let bad = |column, value: &str| StoreError::Inconsistent {
            table: "bench_runs",
            column,
            row: self.id.clone(),
            value: value.to_owned(),
        };
        let number = |value: i64, column: &'static str| unsigned(value, "bench_runs", column, &self.id);
        let ids = |text: &str, column| serde_json::from_str::<Vec<String>>(text).map_err(|_| bad(column, text));
        let answers =
            DueCount { done: number(self.answers, "answers")?, due: number(self.answers_due, "answers_due")? };
        let judgements = DueCount {
            done: number(self.judgements, "judgements")?,
            due: number(self.judgements_due, "judgements_due")?,
        };
        let tokens = Tokens {
            input: number(self.input_tokens, "input_tokens")?,
            output: number(self.output_tokens, "output_tokens")?,
        };
        let snapshot = RunSnapshot {
            state: self.state.parse::<RunState>().map_err(|_| bad("state", &self.state))?,
            answers,
            judgements,
            spent: Spent { calls: number(self.calls, "calls")?, tokens, cost: self.cost },
            error: self.error.clone(),
        };
        let step = |step: i64| u32::try_from(step).map_err(|_| bad("step", &step.to_string()));
        let run = NewBenchRun {
            plan: match (&self.plan, self.step) {
                (Some(plan), Some(at)) => Some(PlanStep { plan: plan.clone(), step: step(at)? }),
                _ => None,
            },
            models: ids(&self.models, "models")?,
            judges: ids(&self.judges, "judges")?,
            sample: u32::try_from(self.sample).map_err(|_| bad("sample", &self.sample.to_string()))?,
            expected_cost: self.expected_cost,
            manifest: serde_json::from_str(&self.manifest).map_err(|_| bad("manifest", &self.manifest))?,
            started_at: Timestamp(self.started_at),
            answers,
            judgements,
            id: self.id,
            suite: self.suite,
            version: self.version,
            baseline: self.baseline,
        };
        Ok(BenchRunRow { run, snapshot, changed_at: Timestamp(self.changed_at) })
    }
}
