//! Runs of benchmarks.

use askama::Template;

use super::AdminFrame;
use super::bench_plans::{PlanView, money, state_class};
use crate::Page;
use crate::domain::benchmark::run_state::{DueCount, RunState};
use crate::infra::storage::BenchRunRow;
use crate::time::time_text;

/// A run.
pub struct RunLine {
    pub row: BenchRunRow,
    /// As it looks now.
    pub state: RunState,
}

impl RunLine {
    /// Started, and last changed.
    fn times(&self) -> [String; 2] {
        [self.row.run.started_at, self.row.changed_at].map(|time| time_text(time.0))
    }

    fn class(&self) -> &'static str {
        state_class(self.state)
    }

    /// The answers and the judgements.
    fn counts(&self) -> [DueCount; 2] {
        [self.row.snapshot.answers, self.row.snapshot.judgements]
    }
}

/// The page.
#[derive(Template)]
#[template(path = "admin/bench_runs.html")]
pub struct BenchRunsPage {
    pub page: Page,
    pub frame: AdminFrame,
    pub runs: Vec<RunLine>,
    /// The latest plan.
    pub plan: Option<PlanView>,
    /// Whether the viewer may start plans.
    pub may_change: bool,
}

impl BenchRunsPage {
    fn money(amount: &Option<f64>) -> String {
        money(*amount)
    }

    fn state(&self, run: &RunLine) -> &'static str {
        self.page.t().admin.bench_runs.state(run.state)
    }

    fn expected(&self, run: &RunLine) -> String {
        let unknown = || self.page.t().admin.bench_runs.expected_unknown.to_owned();
        run.row.run.expected_cost.map_or_else(unknown, |cost| format!("{cost:.4}"))
    }

    #[expect(clippy::unused_self, reason = "the template calls it on the page")]
    fn cost(&self, run: &RunLine) -> String {
        format!("{:.4}", run.row.snapshot.spent.cost)
    }
}
