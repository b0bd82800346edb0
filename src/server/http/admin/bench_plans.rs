//! Plans of benchmarks: the form, its dry run, the start and the stop.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;

use super::bench_runs::show_runs;
use super::call::SignedIn;
use crate::domain::benchmark::run_plan::{PlannedSuite, RunPlan};
use crate::infra::storage::{StoreError, is_storable};
use crate::server::http::error::PageError;
use crate::server::http::forms::see_other;
use crate::server::http::pages::admin::bench_plans::{BenchPlanPage, Choice, DryRun, PlanForm};
use crate::server::http::pages::admin::{AdminFrame, AdminTab};
use crate::server::http::pages::respond;
use crate::services::benchmark::plans::{StartPlanError, stop_plan};
use crate::services::benchmark::run_error::RunError;

/// Rounds of answers at the most.
const MOST_ROUNDS: u32 = 20;

/// Why a form is no plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BadForm {
    /// No suite or no model is chosen.
    NoneChosen,
    /// A number cannot be used.
    Number,
}

/// `GET /admin/benchmarks/plan`: the form, and what it would ask once it names a `suite`. Further fields: `model`, `judge`, `baseline`,
/// `rounds`, `max_calls` and `budget`.
pub(super) async fn consider(call: SignedIn) -> Result<HttpResponse, PageError> {
    let frame = call.frame(AdminTab::Benchmarks);
    if call.fields.all("suite").next().is_none() && call.fields.all("rounds").next().is_none() {
        return show(&call, StatusCode::OK, (frame, None, None)).await;
    }
    let plan = match plan_of(&call) {
        Ok(plan) => plan,
        Err(bad) => return show_bad(&call, bad).await,
    };
    match call.app.bench_plans.dry_run(&plan).await {
        Ok(steps) => show(&call, StatusCode::OK, (frame, Some(DryRun { steps }), None)).await,
        Err(error) => show_refused(&call, error).await,
    }
}

/// `POST /admin/benchmarks/start`: the same fields.
pub(super) async fn start(call: SignedIn) -> Result<HttpResponse, PageError> {
    let plan = match plan_of(&call) {
        Ok(plan) => plan,
        Err(bad) => return show_bad(&call, bad).await,
    };
    match call.app.bench_plans.start(&plan, &call.actor()).await {
        Ok(()) => Ok(see_other("/admin/benchmarks?done=1")),
        Err(StartPlanError::AlreadyRunning) => {
            let frame = call.frame_with(AdminTab::Benchmarks, call.page().t().admin.bench_runs.plan.already_running);
            show_runs(&call, StatusCode::CONFLICT, frame).await
        }
        Err(StartPlanError::Run(error)) => show_refused(&call, error).await,
    }
}

/// `POST /admin/benchmarks/stop`
pub(super) async fn stop(call: SignedIn) -> Result<HttpResponse, PageError> {
    let app = &call.app;
    if stop_plan(&app.store, (&app.rng, app.clock.as_ref()), &call.actor()).await? {
        return Ok(see_other("/admin/benchmarks?done=1"));
    }
    let frame = call.frame_with(AdminTab::Benchmarks, call.page().t().admin.bench_runs.plan.none_running);
    show_runs(&call, StatusCode::CONFLICT, frame).await
}

/// The plan of a form.
fn plan_of(call: &SignedIn) -> Result<RunPlan, BadForm> {
    let fields = &call.fields;
    let names = |name: &str| fields.all(name).filter(|id| is_storable(id)).map(str::to_owned).collect::<Vec<_>>();
    let rounds = fields.given("rounds").unwrap_or("1").parse().ok();
    let rounds = rounds.filter(|rounds| (1..=MOST_ROUNDS).contains(rounds)).ok_or(BadForm::Number)?;
    let planned = |suite| PlannedSuite { suite, ..PlannedSuite::default() };
    let plan = RunPlan {
        models: names("model"),
        judges: names("judge"),
        baseline: fields.given("baseline").map(str::to_owned),
        samples: (1..=rounds).collect(),
        seed: None,
        budget: fields.given("budget").map(str::parse).transpose().map_err(|_| BadForm::Number)?,
        max_calls: fields.given("max_calls").map(str::parse).transpose().map_err(|_| BadForm::Number)?,
        suites: names("suite").into_iter().map(planned).collect(),
    };
    if plan.suites.is_empty() || plan.models.is_empty() {
        return Err(BadForm::NoneChosen);
    }
    // A form of ours has nothing else that can be wrong.
    plan.check().map_err(|_| BadForm::Number)?;
    Ok(plan)
}

async fn show_bad(call: &SignedIn, bad: BadForm) -> Result<HttpResponse, PageError> {
    let words = &call.page().t().admin.bench_runs.plan;
    let problem = match bad {
        BadForm::NoneChosen => words.none_chosen,
        BadForm::Number => words.bad_number,
    };
    let frame = call.frame_with(AdminTab::Benchmarks, problem);
    show(call, StatusCode::BAD_REQUEST, (frame, None, None)).await
}

async fn show_refused(call: &SignedIn, error: RunError) -> Result<HttpResponse, PageError> {
    let error = match error {
        RunError::Bench(error) if !error.is_missing() => return Err(error.into()),
        error => error,
    };
    let frame = call.frame(AdminTab::Benchmarks);
    show(call, StatusCode::CONFLICT, (frame, None, Some(error.to_string()))).await
}

async fn show(
    call: &SignedIn,
    status: StatusCode,
    (frame, dry_run, refusal): (AdminFrame, Option<DryRun>, Option<String>),
) -> Result<HttpResponse, PageError> {
    let currency = call.app.settings.now().prices.currency.to_string();
    let form = form_of(call).await?;
    let view = BenchPlanPage { page: call.page(), frame, form, currency, dry_run, refusal };
    Ok(respond(&call.request, status, &view))
}

/// The form as it was typed.
async fn form_of(call: &SignedIn) -> Result<PlanForm, StoreError> {
    let mut suites: Vec<String> =
        call.app.store.bench_suites().await?.iter().map(|row| row.suite.to_string()).collect();
    suites.sort();
    suites.dedup();
    let roster = call.app.models.current();
    let choice = |field: &str, id: &str, name: &str| {
        let is_chosen = call.fields.all(field).any(|chosen| chosen == id);
        Choice { id: id.to_owned(), name: name.to_owned(), is_chosen }
    };
    let models = |field: &str| {
        let choices = roster.all().iter().map(|model| choice(field, model.card.id.as_str(), &model.card.name));
        choices.collect::<Vec<_>>()
    };
    Ok(PlanForm {
        suites: suites.iter().map(|suite| choice("suite", suite, suite)).collect(),
        models: models("model"),
        judges: models("judge"),
        baselines: models("baseline"),
        rounds: call.fields.given("rounds").unwrap_or("1").to_owned(),
        max_calls: call.fields.one("max_calls").to_owned(),
        budget: call.fields.one("budget").to_owned(),
    })
}
