//! Plans of the server whose requests go out in batches: watched, stopped, ended and killed, and paid for once.

use super::Field;
use super::batches::{check_asked, field, open, turns};
use super::server_plans::{ended, latest, owner, page, start};
use crate::admin::browser::Browser;
use crate::support::batch_provider::BatchProvider;
use crate::support::program::Server;
use crate::support::until;

/// The fields of a plan over the suite in batches.
const PLAN: [(&str, &str); 5] =
    [("suite", "mtbench101"), ("model", "one"), ("judge", "judge"), ("rounds", "1"), ("batch", "1")];

/// A plan whose first batch is at the provider, and stays there.
async fn under_way() -> (Field, BatchProvider, Server, Browser) {
    let (field, provider) = field().await;
    provider.hold(true);
    let server = Server::start(field.path(), &[]);
    let mut ada = owner(&server).await;
    start(&mut ada, &PLAN).await;
    until_sent(&field).await;
    (field, provider, server, ada)
}

/// Waits until the plan says that the provider has its batch.
async fn until_sent(field: &Field) {
    let waits_for = format!("batch batch_0 of model one: 0 of {} done", turns());
    until(async || (latest(field, &[]).await["note"].as_str() == Some(&waits_for)).then_some(())).await;
}

/// Everything was asked once, in one batch of answers and one of verdicts.
async fn check_paid_once(field: &Field, provider: &BatchProvider) {
    assert_eq!((provider.sizes(), open(field).await), (vec![turns(), turns()], 0));
    check_asked(provider, "one", 1);
    check_asked(provider, "judge", 1);
    let single = field.upstream.received().into_iter().filter(|request| request.path.ends_with("/chat/completions"));
    assert_eq!(single.count(), 0, "nothing is asked by itself");
}

#[actix_web::test]
async fn a_plan_in_batches_says_what_it_waits_for_and_costs_half() {
    let (field, provider, server, mut ada) = under_way().await;
    let running = page(&mut ada, "/admin/benchmarks").await;
    assert!(running.contains("of model one: 0 of") && !running.contains("Time left"), "nobody knows when: {running}");
    provider.hold(false);
    let plan = ended(&field, &[]).await;
    assert_eq!((plan["state"].as_str(), plan["note"].as_str()), (Some("done"), Some("")), "{plan}");
    check_paid_once(&field, &provider).await;
    let (cost, expected) = (plan["cost"].as_f64().unwrap(), plan["calls"].as_f64().unwrap() * 0.002 / 2.0);
    assert!((cost - expected).abs() < 1e-9, "{plan}");
    server.log_at_end().await;
}

#[actix_web::test]
async fn a_dry_run_says_that_costs_are_those_of_batches() {
    let (field, _) = field().await;
    let server = Server::start(field.path(), &[]);
    let mut ada = owner(&server).await;
    let form = "/admin/benchmarks/plan?suite=mtbench101&model=one&judge=judge&rounds=1";
    let singly = page(&mut ada, form).await;
    let batched = page(&mut ada, &format!("{form}&batch=1")).await;
    let words = "Costs are those of batches";
    assert!(batched.contains(words) && !singly.contains(words));
    assert!(batched.contains("batch = true\n") && !singly.contains("batch = true"), "{batched}");
    field.edit("provider = \"openai\"", "provider = \"ollama\"");
    let refused = until(async || {
        let page = page(&mut ada, &format!("{form}&batch=1")).await;
        page.contains("cannot be asked in batches").then_some(page)
    });
    assert!(refused.await.contains("plan the others with batches and this one alone"));
    server.log_at_end().await;
}

#[actix_web::test]
async fn a_stopped_plan_leaves_its_batch_at_the_provider_for_the_next() {
    let (field, provider, server, mut ada) = under_way().await;
    ada.post_form("/admin/benchmarks/stop", &[]).await;
    let plan = ended(&field, &[]).await;
    assert_eq!(plan["state"], "stopped", "{plan}");
    assert!(plan["note"].as_str().unwrap().contains("Batches that were sent continue at the provider"), "{plan}");
    assert_eq!((provider.sizes(), open(&field).await), (vec![turns()], 1));
    provider.hold(false);
    start(&mut ada, &PLAN).await;
    assert_eq!(ended(&field, &[]).await["state"], "done");
    check_paid_once(&field, &provider).await;
    server.log_at_end().await;
}

#[actix_web::test]
async fn a_batch_is_taken_by_the_next_start_after_an_end_and_after_a_kill() {
    for is_killed in [true, false] {
        let (field, provider, server, _) = under_way().await;
        if is_killed {
            server.kill();
        } else {
            server.signal("TERM");
            server.ended().await;
        }
        assert_eq!((latest(&field, &[]).await["state"].as_str(), open(&field).await), (Some("running"), 1));
        provider.hold(false);
        let server = Server::start(field.path(), &[]);
        assert_eq!(ended(&field, &[]).await["state"], "done");
        check_paid_once(&field, &provider).await;
        server.log_at_end().await;
    }
}
