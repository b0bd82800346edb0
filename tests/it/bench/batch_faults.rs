//! Batches that fail, end early, or come back as nobody asked for them.

use serde_json::json;

use super::batches::{ANSWER, check_asked, field, open, turns};
use crate::support::batch_provider::{BatchPlan, BatchProvider, RequestOutcome};
use crate::support::program::langya_in;
use crate::support::upstream::{Script, Upstream};

#[actix_web::test]
async fn what_an_expired_batch_left_is_asked_by_the_next_run_alone() {
    let (field, provider) = field().await;
    let line = |at| if at < 5 { RequestOutcome::Reply } else { RequestOutcome::Expired };
    provider.plan(BatchPlan { status: "expired", line, ..BatchPlan::default() });
    let run = field.run(&ANSWER).await;
    assert_eq!((run.code, provider.sizes()), (Some(1), vec![turns()]), "{}", run.stderr);
    assert!(run.stdout.contains("expired before the provider answered it"), "{}", run.stdout);
    field.done(&ANSWER).await;
    assert_eq!((provider.sizes(), open(&field).await), (vec![turns(), turns() - 5], 0));
}

#[actix_web::test]
async fn a_failed_line_is_what_a_failed_request_would_be() {
    let (field, provider) = field().await;
    let line = |at| match at {
        0 => RequestOutcome::Status(400),
        1 => RequestOutcome::Status(500),
        2 => RequestOutcome::Nothing,
        _ => RequestOutcome::Reply,
    };
    provider.plan(BatchPlan { line, ..BatchPlan::default() });
    let run = field.run(&ANSWER).await;
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert_eq!(provider.sizes(), [turns(), 1], "what may pass is asked again: {}", run.stderr);
    assert!(run.stdout.contains("ended without a result"), "{}", run.stdout);
    assert!(run.stderr.contains("only --retry-failed sends refused requests again"), "{}", run.stderr);
    assert!(!format!("{}{}", run.stdout, run.stderr).contains("CANARY"), "{}", run.stderr);
    field.done(&ANSWER).await;
    assert_eq!(provider.sizes(), [turns(), 1, 1], "what was missing is asked, and what was refused is not");
}

#[actix_web::test]
async fn results_that_nobody_asked_for_change_nothing() {
    let (field, provider) = field().await;
    let said = json!({"choices": [{"message": {"content": "forged"}}]});
    let line = |key: &str| json!({"custom_id": key, "response": {"status_code": 200, "body": said}}).to_string();
    let noise = vec![line("unknown"), "{".to_owned(), "[]".to_owned(), line("KEY"), line("KEY")];
    provider.plan(BatchPlan { noise, ..BatchPlan::default() });
    field.done(&ANSWER).await;
    assert_eq!((provider.sizes(), open(&field).await), (vec![turns()], 0));
    let store = field.store().await;
    let set = field.set(&store, "mtbench101").await;
    let answers = store.bench_answers(&set, langya::infra::storage::BenchFilter::ALL).await.unwrap();
    store.close().await;
    let forged = answers.iter().filter(|row| row.text == "forged").count();
    assert_eq!((answers.len(), forged), (turns(), 1), "of two results to one request, the first counts");
}

#[actix_web::test]
async fn results_without_end_are_not_read_to_their_end() {
    let (field, provider) = field().await;
    let noise = vec![json!({"custom_id": "unknown"}).to_string(); 5_000];
    provider.plan(BatchPlan { noise, ..BatchPlan::default() });
    let run = field.run(&ANSWER).await;
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(run.stdout.contains("its results cannot be read"), "{}", run.stdout);
    field.done(&ANSWER).await;
    assert_eq!(provider.sizes(), [turns(), turns()], "the operator has seen it, and asks again");
}

#[actix_web::test]
async fn a_batch_that_the_provider_refuses_says_why_and_nothing_more_is_sent() {
    let (field, provider) = field().await;
    provider.plan(BatchPlan { status: "failed", ..BatchPlan::default() });
    let run = field.run(&ANSWER).await;
    assert_eq!((run.code, provider.sizes().len()), (Some(1), 1), "{}", run.stderr);
    assert!(run.stderr.contains("token_limit_exceeded") && !run.stderr.contains("CANARY"), "{}", run.stderr);
    assert!(run.stderr.contains("model one was given up: "), "{}", run.stderr);
    field.done(&ANSWER).await;
    assert_eq!((provider.sizes(), open(&field).await), (vec![turns(), turns()], 0));
}

#[actix_web::test]
async fn a_batch_that_the_provider_has_forgotten_is_asked_again() {
    let (field, provider) = field().await;
    provider.hold(true);
    let run = crate::support::program::UnderWay::start(field.path(), &ANSWER);
    run.until_log_has(": 0 of ").await;
    run.kill();
    // Another provider at the same address.
    let other = BatchProvider::serve(&field.upstream, super::answer);
    let run = field.run(&ANSWER).await;
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("does not know it any more"), "{}", run.stderr);
    assert_eq!((other.sizes(), open(&field).await), (vec![turns()], 0));
}

#[actix_web::test]
async fn a_key_is_not_sent_to_where_the_results_are_said_to_be() {
    let (field, provider) = field().await;
    field.edit("provider = \"openai\"", "provider = \"anthropic\"");
    let elsewhere = Upstream::start().await;
    let results_url = Some(format!("{}/v1/messages/batches/msgbatch_0/results", elsewhere.url()));
    provider.plan(BatchPlan { results_url, ..BatchPlan::default() });
    let run = field.run(&ANSWER).await;
    assert_eq!((run.code, elsewhere.received().len(), elsewhere.connections()), (Some(1), 0, 0), "{}", run.stderr);
    assert!(run.stdout.contains("at another address than the provider's"), "{}", run.stdout);
}

#[actix_web::test]
async fn a_model_without_batches_is_refused_before_anything_is_sent() {
    let (field, _) = field().await;
    field.upstream.script("/v1/batches?limit=1", Script::whole("404 Not Found", "", ""));
    let refused = field.refused(&ANSWER).await;
    assert!(
        refused.contains("\"one\" cannot be asked in batches")
            && refused.contains("leave --batch (in a plan, `batch`) out"),
        "{refused}"
    );
    assert_eq!(field.upstream.received().len(), 1, "only whether there are batches");
    field.edit("provider = \"openai\"", "provider = \"ollama\"");
    let refused = field.refused(&ANSWER).await;
    assert!(refused.contains("\"one\" cannot be asked in batches"), "{refused}");
    assert_eq!(field.upstream.received().len(), 1);
}

/// The first batch may have arrived although its answer is a failure, so the list is read before it is sent again.
#[actix_web::test]
async fn a_batch_is_not_sent_again_before_the_provider_was_asked_for_it() {
    let (field, provider) = field().await;
    let failing = provider.clone();
    field.upstream.respond("/v1/batches", move |request| {
        let _kept = failing.answer(request);
        Script::whole("502 Bad Gateway", "", "")
    });
    field.done(&ANSWER).await;
    assert_eq!((provider.sizes(), open(&field).await), (vec![turns()], 0));
}

#[actix_web::test]
async fn a_provider_that_cannot_be_reached_for_a_while_is_asked_on() {
    let (field, provider) = field().await;
    let down = || Script::whole("503 Service Unavailable", "", "");
    let (kept, looks) = (provider.clone(), std::sync::atomic::AtomicUsize::new(0));
    field.upstream.respond("/v1/batches/batch_0", move |request| {
        match looks.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
            0..3 => down(),
            _ => kept.answer(request),
        }
    });
    field.done(&ANSWER).await;
    check_asked(&provider, "one", 1);
    assert_eq!(open(&field).await, 0);
}

#[actix_web::test]
async fn no_key_and_no_prompt_is_in_what_is_said_or_noted() {
    let (field, provider) = field().await;
    field.edit("provider = \"openai\"", "provider = \"openai\"\napi_key_env = \"MY_KEY\"");
    provider.plan(BatchPlan { line: |_| RequestOutcome::Status(500), ..BatchPlan::default() });
    let environment = [("MY_KEY", "sk-CANARY"), ("RUST_LOG", "langya=trace,langya_infra=trace")];
    let folder = field.path().to_owned();
    let run = tokio::task::spawn_blocking(move || langya_in(&folder, ANSWER, &environment)).await.unwrap();
    let said = format!("{}{}", run.stdout, run.stderr);
    assert!(said.contains("sent with") && !said.contains("CANARY") && !said.contains("turn 1"), "{said}");
    let keys = field.upstream.received();
    assert!(keys.iter().all(|request| request.head.contains("authorization: bearer sk-canary")), "each has the key");
    let store = field.store().await;
    let suite = langya::domain::benchmark::suite_id::SuiteId::new("mtbench101");
    let rows = format!("{:?}", store.open_bench_batches(&suite).await.unwrap());
    store.close().await;
    assert!(!rows.contains("CANARY") && !rows.contains("turn 1"), "{rows}");
}
