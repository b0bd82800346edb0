//! Plans that the server runs: started on the admin page, stopped, killed, refused, and never paid for twice.

use langya::domain::admin::action::AdminAction;
use langya::infra::storage::AuditFilter;
use reqwest::StatusCode;
use serde_json::Value;

use super::mtbench101::{data, dialogues};
use super::{AT_ONCE, Field, answer, question, reply, reply_behind};
use crate::admin::PASSPHRASE;
use crate::admin::browser::Browser;
use crate::support::postgres::TestDatabase;
use crate::support::program::{Server, UnderWay};
use crate::support::until;
use crate::support::upstream::{Gate, Script};

/// The fields of a plan over the suite by one model.
const PLAN: [(&str, &str); 4] = [("suite", "mtbench101"), ("model", "one"), ("judge", "judge"), ("rounds", "1")];

fn turns() -> usize {
    dialogues().iter().map(|dialogue| dialogue.judged().len()).sum()
}

/// A suite, two models that answer, and a judge who speaks once the gate is open.
async fn field(gate: &Gate) -> Field {
    let at_the_judge = gate.clone();
    let field = Field::empty(&["one", "two"]).await;
    for model in ["one", "two"] {
        field.respond(model, move |request, _| reply(&answer(model, question(request))));
    }
    field.respond("judge", move |_, _| reply_behind(&at_the_judge, "Rating: [[5]]"));
    field.write("mt.jsonl", data(&dialogues()));
    field
}

async fn with_suite(gate: &Gate) -> Field {
    let field = field(gate).await;
    field.done(&["import", "suite", "mtbench101", "mt.jsonl"]).await;
    field
}

/// The first owner's browser.
pub(super) async fn owner(server: &Server) -> Browser {
    let log = server.logged("to become the owner").await;
    let code = log.split("/admin/welcome#").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    let mut browser = Browser::at(&server.url);
    assert_eq!(browser.join(&code, "ada", PASSPHRASE).await.status(), StatusCode::SEE_OTHER);
    browser
}

pub(super) async fn start(browser: &mut Browser, fields: &[(&str, &str)]) {
    let started = browser.post_form("/admin/benchmarks/start", fields).await;
    assert_eq!(started.status(), StatusCode::SEE_OTHER, "{}", started.text().await.unwrap());
}

pub(super) async fn page(browser: &mut Browser, path: &str) -> String {
    browser.get(path).await.text().await.unwrap()
}

/// The latest plan, as the command lists it.
pub(super) async fn latest(field: &Field, location: &[&str]) -> Value {
    let listed = field.done(&[&["bench", "plans", "--format", "json"], location].concat()).await;
    serde_json::from_str::<Vec<Value>>(&listed).unwrap().remove(0)
}

/// Waits until the latest plan has ended.
pub(super) async fn ended(field: &Field, location: &[&str]) -> Value {
    until(async || Some(latest(field, location).await).filter(|plan| plan["state"] != "running")).await
}

#[actix_web::test]
async fn an_operator_sees_what_a_plan_would_cost_starts_it_and_watches_it_to_its_end() {
    let gate = Gate::new();
    let field = with_suite(&gate).await;
    let server = Server::start(field.path(), &[]);
    let mut ada = owner(&server).await;
    let form = "/admin/benchmarks/plan?suite=mtbench101&model=one&model=two&judge=judge&rounds=1&budget=50&max_calls=";
    let planned = page(&mut ada, form).await;
    let requests = 4 * turns();
    for said in [format!("<td class=\"number\">{requests}</td>"), "value=\"two\" checked".to_owned()] {
        assert!(planned.contains(&said), "{said}: {planned}");
    }
    assert_eq!(field.upstream.received().len(), 0, "a dry run asks nobody");

    let fields = [&PLAN[..], &[("model", "two"), ("budget", "50")]].concat();
    start(&mut ada, &fields).await;
    field.upstream.until_received(2 * turns() + AT_ONCE).await;
    let second = ada.post_form("/admin/benchmarks/start", &fields).await;
    assert_eq!(second.status(), StatusCode::CONFLICT);
    assert!(second.text().await.unwrap().contains("A plan is running already"));
    let running = until(async || {
        let page = page(&mut ada, "/admin/benchmarks").await;
        page.contains(&format!("{0} / {0}", 2 * turns())).then_some(page)
    });
    let running = running.await;
    for said in [">running<", &format!("of {requests} expected"), "about 1 min", "Stop the plan", ">ada<"] {
        assert!(running.contains(said), "{said}: {running}");
    }
    gate.open();
    let plan = ended(&field, &[]).await;
    assert_eq!((plan["state"].as_str(), plan["note"].as_str()), (Some("done"), Some("")), "{plan}");
    assert_eq!((plan["calls"].as_u64(), plan["started_by"].as_str()), (u64::try_from(requests).ok(), Some("ada")));
    assert!(plan["cost"].as_f64().unwrap() > 0.0, "{plan}");
    let csv = field.done(&["bench", "plans", "--format", "csv"]).await;
    assert!(csv.lines().nth(1).unwrap().contains(",ada,done,mtbench101,one+two,judge,"), "{csv}");
    assert!(page(&mut ada, form).await.contains("Everything is stored already"));
    let audit = field.store().await.audit_entries(&AuditFilter::default(), 10).await.unwrap();
    let started = audit.iter().find(|row| row.action == AdminAction::StartBenchmarks.as_str()).unwrap();
    assert!(started.latter.as_ref().unwrap().contains("\"budget\":50.0"), "{started:?}");
    server.log_at_end().await;
}

/// Where the page leads to who wants the latest plan again.
async fn again(browser: &mut Browser) -> String {
    let page = page(browser, "/admin/benchmarks").await;
    let link = page.split("<a class=\"button quiet\" href=\"").nth(1).unwrap().split('"').next().unwrap();
    link.replace("&#38;", "&")
}

#[actix_web::test]
async fn a_plan_in_the_text_of_the_command_is_run_and_comes_back_as_text() {
    let gate = Gate::new();
    gate.open();
    let field = with_suite(&gate).await;
    let server = Server::start(field.path(), &[]);
    let mut ada = owner(&server).await;
    let chosen = page(&mut ada, "/admin/benchmarks/plan?suite=mtbench101&model=one&judge=judge&rounds=1&seed=7").await;
    let written = "models = [&#34;one&#34;]\njudges = [&#34;judge&#34;]\nsamples = [1]\nseed = 7\n\n[[suites]]\nsuite = &#34;mtbench101&#34;\n";
    assert!(chosen.contains(&format!(">{written}</textarea>")), "the choice as text: {chosen}");

    let text = "# The second way.\nmodels = [\"one\"]\r\njudges = [\"judge\"]\n[[suites]]\nsuite = \"mtbench101\"\nablation = \"self_context\"\n";
    let considered = ada.post_form("/admin/benchmarks/plan", &[("plan", text)]).await;
    assert_eq!(considered.status(), StatusCode::OK);
    let considered = considered.text().await.unwrap();
    let requests = 2 * turns();
    for said in [format!("<td class=\"number\">{requests}</td>"), "># The second way.".to_owned()] {
        assert!(considered.contains(&said), "{said}: {considered}");
    }
    assert_eq!(field.upstream.received().len(), 0, "a dry run asks nobody");
    start(&mut ada, &[("plan", text)]).await;
    let plan = ended(&field, &[]).await;
    assert_eq!(
        (plan["state"].as_str(), plan["calls"].as_u64()),
        (Some("done"), u64::try_from(requests).ok()),
        "{plan}"
    );
    let run = field.store().await.bench_runs(1).await.unwrap().remove(0);
    assert!(run.run.manifest.variant.contains("self_context"), "{run:?}");
    let again_by_text = again(&mut ada).await;
    assert_eq!(again_by_text, format!("/admin/benchmarks/plan?again={}", plan["plan"].as_str().unwrap()));
    let shown = page(&mut ada, &again_by_text).await;
    assert!(shown.contains("ablation = &#34;self_context&#34;"), "{shown}");
    assert!(shown.contains("Everything is stored already"), "{shown}");

    start(&mut ada, &[&PLAN[..], &[("max_calls", "0"), ("seed", "7"), ("batch", "")]].concat()).await;
    ended(&field, &[]).await;
    let fields = again(&mut ada).await;
    assert_eq!(fields, "/admin/benchmarks/plan?suite=mtbench101&model=one&judge=judge&rounds=1&seed=7&max_calls=0");
    server.log_at_end().await;
}

#[actix_web::test]
async fn a_plan_goes_on_after_a_kill_and_what_is_kept_is_not_asked_again() {
    let gate = Gate::new();
    let field = with_suite(&gate).await;
    let server = Server::start(field.path(), &[]);
    start(&mut owner(&server).await, &PLAN).await;
    field.upstream.until_received(turns() + AT_ONCE).await;
    server.kill();
    assert_eq!(latest(&field, &[]).await["state"], "running", "nobody has ended it");
    let server = Server::start(field.path(), &[]);
    field.upstream.until_received(turns() + 2 * AT_ONCE).await;
    gate.open();
    assert_eq!(ended(&field, &[]).await["state"], "done");
    assert_eq!((field.requests("one"), field.repeated("one")), (turns(), 0));
    assert_eq!(field.repeated("judge"), AT_ONCE, "only what was under way");
    server.log_at_end().await;
}

#[actix_web::test]
async fn an_orderly_end_finishes_what_is_under_way_and_the_next_start_goes_on() {
    let gate = Gate::new();
    let field = with_suite(&gate).await;
    let server = Server::start(field.path(), &[]);
    start(&mut owner(&server).await, &PLAN).await;
    field.upstream.until_received(turns() + AT_ONCE).await;
    server.signal("TERM");
    server.logged("draining").await;
    gate.open();
    server.ended().await;
    assert_eq!(latest(&field, &[]).await["state"], "running", "it waits for the next start");
    let server = Server::start(field.path(), &[]);
    assert_eq!(ended(&field, &[]).await["state"], "done");
    assert_eq!((field.repeated("one"), field.repeated("judge")), (0, 0), "nothing is asked twice");
    server.log_at_end().await;
}

#[actix_web::test]
async fn a_stopped_plan_finishes_what_is_under_way_and_the_command_goes_on_with_the_rest() {
    let gate = Gate::new();
    let field = with_suite(&gate).await;
    let server = Server::start(field.path(), &[]);
    let mut ada = owner(&server).await;
    start(&mut ada, &PLAN).await;
    field.upstream.until_received(turns() + AT_ONCE).await;
    let refused = field.refused(&["bench", "run", "mtbench101", "--models", "one", "--judge", "judge"]).await;
    assert!(refused.contains("another langya runs suite mtbench101"), "{refused}");
    let stopped = ada.post_form("/admin/benchmarks/stop", &[]).await;
    assert_eq!(stopped.status(), StatusCode::SEE_OTHER);
    assert!(page(&mut ada, "/admin/benchmarks").await.contains("The plan is being stopped"));
    let again = ada.post_form("/admin/benchmarks/stop", &[]).await;
    assert_eq!(again.status(), StatusCode::CONFLICT);
    server.logged("a plan of benchmarks is stopping").await;
    gate.open();
    let plan = ended(&field, &[]).await;
    assert_eq!(plan["state"], "stopped", "{plan}");
    assert!(plan["note"].as_str().unwrap().starts_with(&format!("{} results are left", turns() - AT_ONCE)), "{plan}");
    let refused = field.refused(&["bench", "stop"]).await;
    assert!(refused.contains("no plan is running"), "{refused}");
    field.done(&["bench", "run", "mtbench101", "--models", "one", "--judge", "judge"]).await;
    assert_eq!((field.requests("judge"), field.repeated("judge")), (turns(), 0));
    server.log_at_end().await;
}

/// A plan that is started while a command runs its suite.
async fn plan_behind_a_command(gate: &Gate) -> (Field, UnderWay, Server) {
    let field = with_suite(gate).await;
    let run = UnderWay::start(field.path(), &["bench", "run", "mtbench101", "--models", "one", "--judge", "judge"]);
    field.upstream.until_received(turns() + AT_ONCE).await;
    let server = Server::start(field.path(), &[]);
    start(&mut owner(&server).await, &PLAN).await;
    (field, run, server)
}

#[actix_web::test]
async fn a_plan_waits_for_a_suite_that_a_command_runs_and_says_so() {
    let gate = Gate::new();
    let (field, run, server) = plan_behind_a_command(&gate).await;
    until(async || {
        let note = latest(&field, &[]).await["note"].as_str().unwrap().to_owned();
        note.contains("another langya runs suite mtbench101").then_some(())
    })
    .await;
    gate.open();
    assert_eq!(run.ended().await.code, Some(0));
    let plan = ended(&field, &[]).await;
    assert_eq!((plan["state"].as_str(), plan["calls"].as_u64()), (Some("done"), Some(0)), "{plan}");
    assert_eq!((field.repeated("one"), field.repeated("judge")), (0, 0));
    server.log_at_end().await;
}

#[actix_web::test]
async fn a_plan_that_waits_is_stopped_by_the_command_and_asks_nobody() {
    let gate = Gate::new();
    let (field, run, server) = plan_behind_a_command(&gate).await;
    let stopped = field.run(&["bench", "stop"]).await;
    assert_eq!((stopped.code, stopped.stderr.contains("is being stopped")), (Some(0), true), "{}", stopped.stderr);
    let plan = ended(&field, &[]).await;
    assert_eq!((plan["state"].as_str(), plan["calls"].as_u64()), (Some("stopped"), Some(0)), "{plan}");
    let audit = field.store().await.audit_entries(&AuditFilter::default(), 10).await.unwrap();
    let entry = audit.iter().find(|row| row.action == AdminAction::StopBenchmarks.as_str()).unwrap();
    assert_eq!(entry.subject, format!("plan {}", plan["plan"].as_str().unwrap()));
    gate.open();
    assert_eq!(run.ended().await.code, Some(0), "the command is not disturbed");
    server.log_at_end().await;
}

#[actix_web::test]
async fn a_limit_holds_over_restarts_and_ends_the_plan_with_the_way_out() {
    let gate = Gate::new();
    let field = with_suite(&gate).await;
    let limit = turns() + AT_ONCE + 1;
    let most = limit.to_string();
    let server = Server::start(field.path(), &[]);
    let limited = [&PLAN[..], &[("max_calls", most.as_str())]].concat();
    start(&mut owner(&server).await, &limited).await;
    field.upstream.until_received(turns() + AT_ONCE).await;
    server.signal("TERM");
    server.logged("draining").await;
    gate.open();
    server.ended().await;
    let server = Server::start(field.path(), &[]);
    let plan = ended(&field, &[]).await;
    assert_eq!((plan["state"].as_str(), plan["calls"].as_u64()), (Some("over_budget"), u64::try_from(limit).ok()));
    let note = plan["note"].as_str().unwrap();
    assert!(note.contains(&format!("the limit of {limit} requests is reached")) && note.contains("are left"), "{note}");
    assert_eq!(field.requests("one") + field.requests("judge"), limit);
    server.log_at_end().await;
}

#[actix_web::test]
async fn a_provider_that_is_down_ends_the_plan_and_the_page_says_what_to_do() {
    let gate = Gate::new();
    gate.open();
    let field = with_suite(&gate).await;
    field.respond("judge", |_, _| Script::whole("401 Unauthorized", "", "no"));
    let server = Server::start(field.path(), &[]);
    let mut ada = owner(&server).await;
    start(&mut ada, &PLAN).await;
    let plan = ended(&field, &[]).await;
    assert_eq!(plan["state"], "failed", "{plan}");
    let note = plan["note"].as_str().unwrap();
    assert!(note.contains("model judge was given up after") && note.contains("set api_key_env"), "{note}");
    assert!(note.contains("started again"), "{note}");
    let asked = field.requests("judge");
    assert!(page(&mut ada, "/admin/benchmarks").await.contains("model judge was given up"));
    server.log_at_end().await;
    assert_eq!(field.requests("judge"), asked, "nobody tries again and again");
}

/// Two instances on one database: the second goes on when the first is killed.
#[actix_web::test]
async fn another_instance_goes_on_with_the_plan_of_one_that_is_killed() {
    let Some(database) = TestDatabase::create().await else { return };
    let gate = Gate::new();
    let (field, location) = (field(&gate).await, ["--database", database.url.as_str()]);
    field.done(&[&["import", "suite", "mtbench101", "mt.jsonl"], &location[..]].concat()).await;
    let first = Server::start(field.path(), &location);
    first.logged("now the leader").await;
    let second = Server::start(field.path(), &location);
    start(&mut owner(&first).await, &PLAN).await;
    field.upstream.until_received(turns() + AT_ONCE).await;
    assert_eq!(field.requests("judge"), AT_ONCE, "one instance runs it");
    first.kill();
    second.logged("now the leader").await;
    field.upstream.until_received(turns() + 2 * AT_ONCE).await;
    gate.open();
    assert_eq!(ended(&field, &location).await["state"], "done");
    assert_eq!((field.requests("one"), field.repeated("judge")), (turns(), AT_ONCE), "only what was under way");
    drop(second);
    database.drop().await;
}
