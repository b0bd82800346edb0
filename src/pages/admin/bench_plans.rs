//! Benchmark plans: form, dry run and progress of the latest plan.

use askama::Template;

use super::AdminFrame;
use crate::Page;
use crate::domain::benchmark::plan_progress::{PlanProgress, StepProgress};
use crate::domain::benchmark::runs::run_plan::{PlannedSuite, RunPlan};
use crate::domain::benchmark::runs::run_report::{PlannedStep, RequestTotal};
use crate::domain::benchmark::runs::run_state::{DueCount, RunState};
use crate::frame::query_string::escaped;
use crate::frame::time::time_text;
use crate::render::i18n::pages::{BenchPlanTexts, BenchRunTexts};

/// Milliseconds in a minute.
const MINUTE_MS: u64 = 60_000;

/// Maximum number of answer samples per question.
pub const MAX_ROUNDS: u32 = 20;

/// Option of a selection list.
pub struct PlanChoice {
    pub id: String,
    pub name: String,
    pub is_chosen: bool,
}

/// Form fields as typed.
pub struct PlanForm {
    pub suites: Vec<PlanChoice>,
    pub models: Vec<PlanChoice>,
    pub judges: Vec<PlanChoice>,
    pub baselines: Vec<PlanChoice>,
    pub rounds: String,
    pub seed: String,
    pub max_calls: String,
    pub budget: String,
    pub is_batch: bool,
    /// Plan as TOML, as typed or generated from the fields.
    pub text: String,
    /// Whether the user edits the TOML text instead of the fields.
    pub is_text: bool,
}

/// Converts a plan to form fields; `None` if it uses options that the form lacks.
pub fn fields_of(plan: &RunPlan) -> Option<Vec<(&'static str, String)>> {
    let RunPlan { suites, models, judges, baseline, samples, seed, budget, max_calls, batch } = plan;
    let rounds = u32::try_from(samples.len().max(1)).ok().filter(|rounds| *rounds <= MAX_ROUNDS)?;
    let are_first = samples.is_empty() || samples.iter().copied().eq(1..=rounds);
    let are_plain = suites.iter().all(|suite| *suite == PlannedSuite::named(&suite.suite));
    if !are_first || !are_plain || models.is_empty() {
        return None;
    }
    let suites = suites.iter().map(|suite| ("suite", suite.suite.clone()));
    let fields = suites
        .chain(models.iter().map(|model| ("model", model.clone())))
        .chain(judges.iter().map(|judge| ("judge", judge.clone())))
        .chain(baseline.iter().map(|model| ("baseline", model.clone())))
        .chain([("rounds", rounds.to_string())])
        .chain(seed.iter().map(|seed| ("seed", seed.to_string())))
        .chain(max_calls.iter().map(|most| ("max_calls", most.to_string())))
        .chain(budget.iter().map(|most| ("budget", most.to_string())))
        .chain(batch.then(|| ("batch", "1".to_owned())));
    Some(fields.collect())
}

/// Requests and cost of a plan, estimated without sending anything.
pub struct DryRun {
    pub steps: Vec<PlannedStep>,
    /// Whether requests are sent through the batch API.
    pub is_batch: bool,
}

impl DryRun {
    fn total(&self) -> RequestTotal {
        RequestTotal::sum(self.steps.iter().map(|step| step.total))
    }
}

/// Template of the plan form.
#[derive(Template)]
#[template(path = "admin/bench_plan.html")]
pub struct BenchPlanPage {
    pub page: Page,
    pub frame: AdminFrame,
    pub form: PlanForm,
    pub currency: String,
    pub dry_run: Option<DryRun>,
    pub refusal: Option<PlanRefusal>,
}

/// Reason why a plan cannot be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanRefusal {
    pub text: String,
    /// Whether the text is an English error message on a page in another language.
    pub is_quoted: bool,
}

impl PlanRefusal {
    /// Whether the text is a multi-line excerpt that marks the error's position in the TOML.
    fn is_excerpt(&self) -> bool {
        self.text.contains('\n')
    }

    fn is_quoted(&self) -> bool {
        self.is_quoted
    }
}

impl BenchPlanPage {
    fn money(amount: &Option<f64>) -> String {
        money(*amount)
    }
}

/// Formats an amount of money; a dash where prices are missing.
pub(super) fn money(amount: Option<f64>) -> String {
    amount.map_or_else(|| "–".to_owned(), |amount| format!("{amount:.4}"))
}

/// Progress of the latest plan.
pub struct PlanView {
    pub progress: PlanProgress,
    /// Whether the viewer may start and stop plans.
    pub may_change: bool,
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

    /// Formats the remaining minutes; `None` if unknown.
    pub(crate) fn minutes(&self, words: &BenchPlanTexts) -> Option<String> {
        let left = self.progress.left_ms?;
        Some(words.minutes.replace("{n}", &left.div_ceil(MINUTE_MS).max(1).to_string()))
    }

    /// Returns CSS class and text of a step's state label.
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

    /// Formats the cost of a step so far.
    #[expect(clippy::unused_self, reason = "the template calls it on the view")]
    pub(crate) fn step_cost(&self, step: &StepProgress) -> String {
        money(Some(step.spent.cost))
    }

    /// Returns the progress of a step's answers and judgements.
    #[expect(clippy::unused_self, reason = "the template calls it on the view")]
    pub(crate) fn counts(&self, step: &StepProgress) -> [DueCount; 2] {
        [step.answers, step.judgements]
    }

    /// Returns the address of the form filled with the same plan.
    pub(crate) fn again(&self) -> String {
        let Some(fields) = fields_of(&self.progress.row.plan) else {
            return format!("/admin/benchmarks/plan?again={}", escaped(&self.progress.row.id));
        };
        let query: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={}", escaped(value))).collect();
        format!("/admin/benchmarks/plan?{}", query.join("&"))
    }
}

fn of_expected(words: &BenchPlanTexts, spent: &str, expected: &str) -> String {
    words.of_expected.replace("{spent}", spent).replace("{expected}", expected)
}

/// Returns the CSS class of a state label.
pub(crate) fn state_class(state: RunState) -> &'static str {
    match state {
        RunState::Done => "ok",
        RunState::Running => "running",
        RunState::OverBudget | RunState::Stopped => "warning",
        RunState::Failed | RunState::Interrupted => "wrong",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(plan: &str) -> Option<String> {
        let fields = fields_of(&RunPlan::parse(plan).unwrap())?;
        Some(fields.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&"))
    }

    #[test]
    fn a_plan_goes_to_the_fields_only_where_they_say_all_of_it() {
        let suite = "[[suites]]\nsuite = \"urs\"\n";
        let all = "models = [\"a\", \"b\"]\njudges = [\"j\"]\nbaseline = \"a\"\nsamples = [1, 2]\nseed = 7\nmax_calls = 9\n\
                   budget = 0.5\nbatch = true\n";
        let said = "suite=urs&model=a&model=b&judge=j&baseline=a&rounds=2&seed=7&max_calls=9&budget=0.5&batch=1";
        assert_eq!(fields(&format!("{all}{suite}")).as_deref(), Some(said));
        let model = "models = [\"a\"]\n";
        assert_eq!(fields(&format!("{model}{suite}")).as_deref(), Some("suite=urs&model=a&rounds=1"));
        let rounds: Vec<u32> = (1..=MAX_ROUNDS + 1).collect();
        for more in [
            suite.to_owned(),
            format!("samples = [2]\n{model}{suite}"),
            format!("samples = [2, 1]\n{model}{suite}"),
            format!("samples = {rounds:?}\n{model}{suite}"),
            format!("{model}{suite}ablation = \"general\"\n"),
            format!("{model}{suite}canaries = true\n"),
            format!("{model}{suite}samples = [1]\n"),
        ] {
            assert_eq!(fields(&more), None, "{more}");
        }
    }
}
