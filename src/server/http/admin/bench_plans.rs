//! Benchmark plans: form, dry run, start and stop.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;

use super::bench_runs::show_runs;
use super::plan_refusals::{invalid_plan, refused_plan};
use super::signed_in_request::{Fields, SignedInRequest};
use crate::domain::benchmark::runs::run_plan::{InvalidPlanKey, PlannedSuite, RunPlan, RunPlanError};
use crate::http::form_token::see_other;
use crate::http::request::error::PageError;
use crate::infra::storage::{StoreError, is_storable};
use crate::pages::admin::AdminTab;
use crate::pages::admin::bench_plans::{
    BenchPlanPage, DryRun, MAX_ROUNDS, PlanChoice, PlanForm, PlanRefusal, fields_of,
};
use crate::pages::respond;
use crate::services::benchmark::plans::{StartPlanError, stop_plan};
use crate::services::benchmark::run_error::RunError;

/// Form field with the plan in TOML.
const PLAN_FIELD: &str = "plan";

/// Reason why a form does not give a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
enum BadForm {
    /// No suite or no model is selected.
    NoneChosen,
    /// A number is invalid.
    Number,
    /// Plan is invalid.
    Plan(RunPlanError),
}

/// `GET /admin/benchmarks/plan`: the form, with a dry run once it names a `suite`. Further fields: `model`, `judge`, `baseline`, `rounds`,
/// `seed`, `max_calls`, `budget` and `batch`; or `again` with the id of an earlier plan.
pub(super) async fn show_plan_form(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    if let Some(id) = call.fields.given("again").filter(|id| is_storable(id)) {
        return match call.app.store.bench_plan(id).await? {
            Some(row) => show_dry_run(&call, &row.plan).await,
            None => show(&call, StatusCode::OK, ShownPlan::default()).await,
        };
    }
    if call.fields.all("suite").next().is_none() && call.fields.all("rounds").next().is_none() {
        return show(&call, StatusCode::OK, ShownPlan::default()).await;
    }
    match plan_of_fields(&call) {
        Ok(plan) => show_dry_run(&call, &plan).await,
        Err(bad) => show_bad(&call, bad).await,
    }
}

/// `POST /admin/benchmarks/plan`: dry run of a `plan` in TOML.
pub(super) async fn consider_text(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    match RunPlan::parse(call.fields.one(PLAN_FIELD)) {
        Ok(plan) => show_dry_run(&call, &plan).await,
        Err(error) => show_bad(&call, BadForm::Plan(error)).await,
    }
}

/// `POST /admin/benchmarks/start`: a `plan` in TOML, or the fields of the form.
pub(super) async fn start(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let plan = match call.fields.given(PLAN_FIELD) {
        Some(text) => RunPlan::parse(text).map_err(BadForm::Plan),
        None => plan_of_fields(&call),
    };
    let plan = match plan {
        Ok(plan) => plan,
        Err(bad) => return show_bad(&call, bad).await,
    };
    match call.app.bench_plans.start(&plan, &call.actor()).await {
        Ok(()) => Ok(see_other("/admin/benchmarks?done=1")),
        Err(StartPlanError::AlreadyRunning) => {
            let frame = call.frame_with(AdminTab::Benchmarks, call.page().t().admin.bench_runs.plan.already_running);
            show_runs(&call, StatusCode::CONFLICT, frame).await
        }
        Err(StartPlanError::Run(error)) => show_refused(&call, &plan, error).await,
    }
}

/// `POST /admin/benchmarks/stop`
pub(super) async fn stop(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let app = &call.app;
    if stop_plan(&app.store, &app.rng, app.clock.as_ref(), &call.actor()).await? {
        return Ok(see_other("/admin/benchmarks?done=1"));
    }
    let frame = call.frame_with(AdminTab::Benchmarks, call.page().t().admin.bench_runs.plan.none_running);
    show_runs(&call, StatusCode::CONFLICT, frame).await
}

/// Builds the plan from the form fields.
fn plan_of_fields(call: &SignedInRequest) -> Result<RunPlan, BadForm> {
    let fields = &call.fields;
    let names = |name: &str| fields.all(name).map(str::to_owned).collect::<Vec<_>>();
    let rounds = fields.given("rounds").unwrap_or("1").parse().ok();
    let rounds = rounds.filter(|rounds| (1..=MAX_ROUNDS).contains(rounds)).ok_or(BadForm::Number)?;
    let number = |name: &str| fields.given(name).map(str::parse).transpose().map_err(|_| BadForm::Number);
    let plan = RunPlan {
        models: names("model"),
        judges: names("judge"),
        baseline: fields.given("baseline").map(str::to_owned),
        samples: (1..=rounds).collect(),
        seed: number("seed")?,
        budget: fields.given("budget").map(str::parse).transpose().map_err(|_| BadForm::Number)?,
        max_calls: number("max_calls")?,
        batch: fields.given("batch").is_some(),
        suites: names("suite").into_iter().map(PlannedSuite::named).collect(),
    };
    if plan.suites.is_empty() || plan.models.is_empty() {
        return Err(BadForm::NoneChosen);
    }
    match plan.check() {
        Ok(()) => Ok(plan),
        Err(RunPlanError::InvalidValue(InvalidPlanKey::Budget | InvalidPlanKey::MaxCalls | InvalidPlanKey::Seed)) => {
            Err(BadForm::Number)
        }
        Err(error) => Err(BadForm::Plan(error)),
    }
}

/// Content of the plan page.
#[derive(Default)]
struct ShownPlan<'p> {
    /// Plan that fills the form.
    plan: Option<&'p RunPlan>,
    /// Dry run of the plan.
    dry_run: Option<DryRun>,
    /// Validation message in the page's language.
    problem: Option<&'static str>,
    /// Reason why the plan cannot be run.
    refusal: Option<PlanRefusal>,
}

async fn show_dry_run(call: &SignedInRequest, plan: &RunPlan) -> Result<HttpResponse, PageError> {
    match call.app.bench_plans.dry_run(plan).await {
        Ok(steps) => {
            let dry_run = Some(DryRun { steps, is_batch: plan.batch });
            show(call, StatusCode::OK, ShownPlan { plan: Some(plan), dry_run, ..ShownPlan::default() }).await
        }
        Err(error) => show_refused(call, plan, error).await,
    }
}

async fn show_bad(call: &SignedInRequest, bad: BadForm) -> Result<HttpResponse, PageError> {
    let words = &call.page().t().admin.bench_runs.plan;
    let (problem, refusal) = match bad {
        BadForm::NoneChosen => (Some(words.none_chosen), None),
        BadForm::Number => (Some(words.bad_number), None),
        BadForm::Plan(error) => (None, Some(invalid_plan(&error, &words.refusals))),
    };
    show(call, StatusCode::BAD_REQUEST, ShownPlan { problem, refusal, ..ShownPlan::default() }).await
}

async fn show_refused(call: &SignedInRequest, plan: &RunPlan, error: RunError) -> Result<HttpResponse, PageError> {
    let error = match error {
        RunError::Bench(error) if !error.is_missing() => return Err(error.into()),
        error => error,
    };
    let refusal = refused_plan(&error, &call.page().t().admin.bench_runs.plan.refusals);
    let shown = ShownPlan { plan: Some(plan), refusal: Some(refusal), ..ShownPlan::default() };
    show(call, StatusCode::CONFLICT, shown).await
}

async fn show(call: &SignedInRequest, status: StatusCode, shown: ShownPlan<'_>) -> Result<HttpResponse, PageError> {
    let ShownPlan { plan, dry_run, problem, refusal } = shown;
    let currency = call.app.settings.now().prices.currency.to_string();
    let form = form_of(call, plan).await?;
    let frame = match problem {
        Some(problem) => call.frame_with(AdminTab::Benchmarks, problem),
        None => call.frame(AdminTab::Benchmarks),
    };
    let view = BenchPlanPage { page: call.page(), frame, form, currency, dry_run, refusal };
    Ok(respond(&call.request, status, &view))
}

/// Returns the form filled from a plan, or as typed.
async fn form_of(call: &SignedInRequest, plan: Option<&RunPlan>) -> Result<PlanForm, StoreError> {
    let mut suites: Vec<String> =
        call.app.store.bench_suites().await?.iter().map(|row| row.suite.to_string()).collect();
    suites.sort();
    suites.dedup();
    let said = plan.and_then(fields_of).map(Fields::from);
    let fields = said.as_ref().unwrap_or(&call.fields);
    let roster = call.app.models.current();
    let choice = |field: &str, id: &str, name: &str| {
        let is_chosen = fields.all(field).any(|chosen| chosen == id);
        PlanChoice { id: id.to_owned(), name: name.to_owned(), is_chosen }
    };
    let models = |field: &str| {
        let choices = roster.all().iter().map(|model| choice(field, model.card.id.as_str(), &model.card.name));
        choices.collect::<Vec<_>>()
    };
    let typed = call.fields.given(PLAN_FIELD);
    let written = || plan.and_then(|plan| plan.to_toml().ok()).unwrap_or_default();
    Ok(PlanForm {
        suites: suites.iter().map(|suite| choice("suite", suite, suite)).collect(),
        models: models("model"),
        judges: models("judge"),
        baselines: models("baseline"),
        rounds: fields.given("rounds").unwrap_or("1").to_owned(),
        seed: fields.one("seed").to_owned(),
        max_calls: fields.one("max_calls").to_owned(),
        budget: fields.one("budget").to_owned(),
        is_batch: fields.given("batch").is_some(),
        is_text: typed.is_some() || (plan.is_some() && said.is_none()),
        text: typed.map_or_else(written, str::to_owned),
    })
}
