//! Plans of benchmarks: the form with its dry run, and how far the latest one has come.

use askama::Template;

use super::AdminFrame;
use crate::domain::benchmark::run_plan::RunPlan;
use crate::domain::benchmark::run_report::{PlannedStep, RequestTotal};
use crate::domain::benchmark::run_state::{DueCount, RunState};
use crate::domain::language::Language;
use crate::render::i18n::pages::{BenchPlanTexts, BenchRunTexts};
use crate::server::http::leaderboard_query::escaped;
use crate::server::http::pages::time::time_text;
use crate::server::http::pages::{Page, Section};
use crate::services::benchmark::plan_progress::{PlanProgress, StepProgress};

/// Milliseconds of a minute.
const MINUTE_MS: u64 = 60_000;

/// Something that can be chosen.
pub(crate) struct Choice {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) is_chosen: bool,
}

/// What the form holds, as it was typed.
pub(crate) struct PlanForm {
    pub(crate) suites: Vec<Choice>,
    pub(crate) models: Vec<Choice>,
    pub(crate) judges: Vec<Choice>,
    pub(crate) baselines: Vec<Choice>,
    pub(crate) rounds: String,
    pub(crate) max_calls: String,
    pub(crate) budget: String,
}

impl PlanForm {
    /// All fields, to be sent again.
    fn fields(&self) -> Vec<(&'static str, &str)> {
        let texts = [("rounds", &self.rounds), ("max_calls", &self.max_calls), ("budget", &self.budget)];
        chosen("suite", &self.suites)
            .chain(chosen("model", &self.models))
            .chain(chosen("judge", &self.judges))
            .chain(chosen("baseline", &self.baselines))
            .chain(texts.map(|(name, text)| (name, text.as_str())))
            .collect()
    }
}

/// What is chosen of some choices, as fields of this name.
fn chosen<'c>(name: &'static str, choices: &'c [Choice]) -> impl Iterator<Item = (&'static str, &'c str)> {
    choices.iter().filter(|choice| choice.is_chosen).map(move |choice| (name, choice.id.as_str()))
}

/// What a plan would ask.
pub(crate) struct DryRun {
    pub(crate) steps: Vec<PlannedStep>,
}

impl DryRun {
    fn total(&self) -> RequestTotal {
        RequestTotal::sum(self.steps.iter().map(|step| step.total))
    }
}

/// The page with the form.
#[derive(Template)]
#[template(path = "admin/bench_plan.html")]
pub(crate) struct BenchPlanPage {
    pub(crate) page: Page,
    pub(crate) frame: AdminFrame,
    pub(crate) form: PlanForm,
    pub(crate) currency: String,
    pub(crate) dry_run: Option<DryRun>,
    /// Why the plan cannot be run, in the words of the error.
    pub(crate) refusal: Option<String>,
}

impl BenchPlanPage {
    fn money(amount: &Option<f64>) -> String {
        money(*amount)
    }
}

/// An amount of money; a dash where prices are missing.
pub(crate) fn money(amount: Option<f64>) -> String {
    amount.map_or_else(|| "–".to_owned(), |amount| format!("{amount:.4}"))
}

/// How far the latest plan has come.
pub(crate) struct PlanView {
    pub(crate) progress: PlanProgress,
    /// Whether the viewer may start and stop plans.
    pub(crate) may_change: bool,
}

impl PlanView {
    pub(crate) fn class(&self) -> &'static str {
        state_class(self.progress.state)
    }

    pub(crate) fn state(&self, words: &'static BenchRunTexts) -> &'static str {
        words.state(self.progress.state)
    }

    pub(crate) fn is_stoppable(&self) -> bool {
        self.may_change && self.progress.row.state == RunState::Running && !self.progress.row.stop_asked
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.progress.row.state == RunState::Running && self.progress.row.stop_asked
    }

    pub(crate) fn is_silent(&self) -> bool {
        self.progress.state == RunState::Interrupted
    }

    pub(crate) fn started(&self) -> String {
        time_text(self.progress.row.started_at.0)
    }

    pub(crate) fn cost(&self, words: &BenchPlanTexts) -> String {
        let spent = money(Some(self.progress.spent.cost));
        match self.progress.expected.cost {
            None => spent,
            expected => of_expected(words, &spent, &money(expected)),
        }
    }

    pub(crate) fn requests(&self, words: &BenchPlanTexts) -> String {
        of_expected(words, &self.progress.spent.calls.to_string(), &self.progress.expected.calls.to_string())
    }

    /// The minutes that are left, where that can be told.
    pub(crate) fn minutes(&self, words: &BenchPlanTexts) -> Option<String> {
        let left = self.progress.left_ms?;
        Some(words.minutes.replace("{n}", &left.div_ceil(MINUTE_MS).max(1).to_string()))
    }

    /// The label of a step's state: its class and its text.
    #[expect(clippy::unused_self, reason = "the template calls it on the view")]
    pub(crate) fn step_label(
        &self,
        step: &StepProgress,
        words: &'static BenchRunTexts,
    ) -> (&'static str, &'static str) {
        match step.state {
            None => ("waiting", words.plan.waiting),
            Some(state) => (state_class(state), words.state(state)),
        }
    }

    /// What a step has cost so far.
    #[expect(clippy::unused_self, reason = "the template calls it on the view")]
    pub(crate) fn step_cost(&self, step: &StepProgress) -> String {
        money(Some(step.spent.cost))
    }

    /// The answers and the judgements of a step.
    #[expect(clippy::unused_self, reason = "the template calls it on the view")]
    pub(crate) fn counts(&self, step: &StepProgress) -> [DueCount; 2] {
        [step.answers, step.judgements]
    }

    /// The address of the form with the same plan.
    pub(crate) fn again(&self) -> String {
        let RunPlan { suites, models, judges, baseline, samples, budget, max_calls, .. } = &self.progress.row.plan;
        let suites = suites.iter().map(|suite| ("suite", suite.suite.clone()));
        let models = models.iter().map(|model| ("model", model.clone()));
        let judges = judges.iter().map(|judge| ("judge", judge.clone()));
        let fields = suites.chain(models).chain(judges);
        let fields = fields.chain(baseline.iter().map(|model| ("baseline", model.clone())));
        let fields = fields.chain([("rounds", samples.len().max(1).to_string())]);
        let fields = fields.chain(max_calls.iter().map(|most| ("max_calls", most.to_string())));
        let fields = fields.chain(budget.iter().map(|most| ("budget", most.to_string())));
        let query: Vec<String> = fields.map(|(name, value)| format!("{name}={}", escaped(&value))).collect();
        format!("/admin/benchmarks/plan?{}", query.join("&"))
    }
}

fn of_expected(words: &BenchPlanTexts, spent: &str, expected: &str) -> String {
    words.of_expected.replace("{spent}", spent).replace("{expected}", expected)
}

/// The class of a state's label.
pub(crate) fn state_class(state: RunState) -> &'static str {
    match state {
        RunState::Done => "ok",
        RunState::Running => "running",
        RunState::OverBudget | RunState::Stopped => "warning",
        RunState::Failed | RunState::Interrupted => "wrong",
    }
}
