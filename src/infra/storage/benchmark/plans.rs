//! Benchmark plans that the server runs, one at a time over all instances.

use serde::de::DeserializeOwned;
use sqlx::Connection;
use sqlx_macros::FromRow;

use crate::domain::benchmark::record::BenchPlanRow;
use crate::domain::benchmark::runs::run_plan::RunPlan;
use crate::domain::benchmark::runs::run_report::PlannedStep;
use crate::domain::benchmark::runs::run_state::RunState;
use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::admin::audit::insert_audit;
use crate::storage::{NewAuditEntry, Store, StoreError, on_reader, on_writer, on_writer_once};

/// Inserts nothing while another plan runs.
const INSERT: &str = "INSERT INTO bench_plans (id, plan, steps, state, stop_asked, note, started_by, started_at, changed_at) \
     VALUES ($1, $2, $3, 'running', FALSE, '', $4, $5, $5) ON CONFLICT DO NOTHING";
const SELECT: &str = "SELECT id, plan, steps, state, stop_asked, note, started_by, started_at, changed_at FROM bench_plans \
     ORDER BY id DESC LIMIT $1";
const SELECT_ONE: &str = "SELECT id, plan, steps, state, stop_asked, note, started_by, started_at, changed_at FROM bench_plans \
     WHERE id = $1";
const SELECT_RUNNING: &str = "SELECT id, plan, steps, state, stop_asked, note, started_by, started_at, changed_at \
     FROM bench_plans WHERE state = 'running'";
const ASK_TO_STOP: &str =
    "UPDATE bench_plans SET stop_asked = TRUE WHERE id = $1 AND state = 'running' AND NOT stop_asked";
const UPDATE_HEARTBEAT: &str =
    "UPDATE bench_plans SET changed_at = $2, note = $3 WHERE id = $1 AND state = 'running' RETURNING stop_asked";
const END: &str = "UPDATE bench_plans SET state = $2, note = $3, changed_at = $4 WHERE id = $1 AND state = 'running'";

/// Plan to insert.
#[derive(Debug, Clone, Copy)]
pub struct NewBenchPlan<'p> {
    /// Id of the plan; sorts by time.
    pub id: &'p str,
    /// The requested plan.
    pub plan: &'p RunPlan,
    /// Planned requests of each of its runs.
    pub steps: &'p [PlannedStep],
    /// User who started it.
    pub started_by: &'p str,
    /// Current time.
    pub started_at: Timestamp,
}

/// Response to a plan's heartbeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanHeartbeat {
    /// The plan continues.
    GoesOn,
    /// A user has requested its end.
    StopAsked,
    /// The plan has already ended.
    Ended,
}

impl Store {
    /// Inserts a plan, with its audit entry. Returns `false` and stores nothing if another plan runs.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn insert_bench_plan(&self, plan: NewBenchPlan<'_>, audit: &NewAuditEntry) -> Result<bool, StoreError> {
        let _time = store_time("insert_bench_plan");
        let steps = serde_json::json!(plan.steps).to_string();
        let NewBenchPlan { id, plan, started_by, started_at, .. } = plan;
        let plan = serde_json::json!(plan).to_string();
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            let query = sqlx::query(INSERT).bind(id).bind(&plan).bind(&steps).bind(started_by).bind(started_at.0);
            let is_stored = query.execute(&mut *tx).await?.rows_affected() > 0;
            if is_stored {
                insert_audit!(&mut *tx, audit)?;
            }
            tx.commit().await.map(|()| is_stored)
        })
    }

    /// Reads the running or interrupted plan.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn running_bench_plan(&self) -> Result<Option<BenchPlanRow>, StoreError> {
        let _time = store_time("running_bench_plan");
        let row: Option<RawPlan> = on_reader!(self, |pool| sqlx::query_as(SELECT_RUNNING).fetch_optional(pool).await)?;
        row.map(BenchPlanRow::try_from).transpose()
    }

    /// Reads the latest plans, the latest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn bench_plans(&self, limit: u32) -> Result<Vec<BenchPlanRow>, StoreError> {
        let _time = store_time("bench_plans");
        let rows: Vec<RawPlan> =
            on_reader!(self, |pool| sqlx::query_as(SELECT).bind(i64::from(limit)).fetch_all(pool).await)?;
        rows.into_iter().map(BenchPlanRow::try_from).collect()
    }

    /// Reads a plan by its id.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn bench_plan(&self, id: &str) -> Result<Option<BenchPlanRow>, StoreError> {
        let _time = store_time("bench_plan");
        let row: Option<RawPlan> =
            on_reader!(self, |pool| sqlx::query_as(SELECT_ONE).bind(id).fetch_optional(pool).await)?;
        row.map(BenchPlanRow::try_from).transpose()
    }

    /// Requests a plan's end, with an audit entry. Returns `false` if it has ended, or its end was already requested.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn ask_bench_plan_to_stop(&self, id: &str, audit: &NewAuditEntry) -> Result<bool, StoreError> {
        let _time = store_time("ask_bench_plan_to_stop");
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            let is_asked = sqlx::query(ASK_TO_STOP).bind(id).execute(&mut *tx).await?.rows_affected() > 0;
            if is_asked {
                insert_audit!(&mut *tx, audit)?;
            }
            tx.commit().await.map(|()| is_asked)
        })
    }

    /// Writes a plan's heartbeat, with the reason of a wait, if any.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn heartbeat_bench_plan(
        &self,
        id: &str,
        note: &str,
        now: Timestamp,
    ) -> Result<PlanHeartbeat, StoreError> {
        let _time = store_time("heartbeat_bench_plan");
        let stop_asked: Option<bool> = on_writer!(self, |connection| {
            sqlx::query_scalar(UPDATE_HEARTBEAT).bind(id).bind(now.0).bind(note).fetch_optional(connection).await
        })?;
        Ok(match stop_asked {
            Some(false) => PlanHeartbeat::GoesOn,
            Some(true) => PlanHeartbeat::StopAsked,
            None => PlanHeartbeat::Ended,
        })
    }

    /// Writes the final state of a plan and its reason.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn end_bench_plan(
        &self,
        id: &str,
        state: RunState,
        note: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let _time = store_time("end_bench_plan");
        on_writer!(self, |connection| {
            let query = sqlx::query(END).bind(id).bind(state.as_str()).bind(note).bind(now.0);
            query.execute(connection).await.map(drop)
        })
    }
}

#[derive(FromRow)]
struct RawPlan {
    id: String,
    plan: String,
    steps: String,
    state: String,
    stop_asked: bool,
    note: String,
    started_by: String,
    started_at: i64,
    changed_at: i64,
}

impl TryFrom<RawPlan> for BenchPlanRow {
    type Error = StoreError;

    fn try_from(raw: RawPlan) -> Result<Self, StoreError> {
        let wrong = |column: &'static str, value: &str| StoreError::Inconsistent {
            table: "bench_plans",
            column,
            row: raw.id.clone(),
            value: value.chars().take(80).collect(),
        };
        Ok(Self {
            plan: parsed(&raw.plan).ok_or_else(|| wrong("plan", &raw.plan))?,
            steps: parsed(&raw.steps).ok_or_else(|| wrong("steps", &raw.steps))?,
            state: raw.state.parse().map_err(|_| wrong("state", &raw.state))?,
            stop_asked: raw.stop_asked,
            id: raw.id,
            note: raw.note,
            started_by: raw.started_by,
            started_at: Timestamp(raw.started_at),
            changed_at: Timestamp(raw.changed_at),
        })
    }
}

fn parsed<T: DeserializeOwned>(json: &str) -> Option<T> {
    serde_json::from_str(json).ok()
}
