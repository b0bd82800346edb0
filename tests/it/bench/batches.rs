//! `--batch`: requests that go to a provider together, are paid once, and are taken by whichever run comes next.

use std::collections::BTreeMap;

use langya::domain::benchmark::suite_id::SuiteId;
use serde_json::{Value, json};

use super::mtbench101::{compare, data, dialogues, expected};
use super::{Field, answer, score};
use crate::support::batch_provider::{BatchPlan, BatchProvider, RequestOutcome};
use crate::support::program::{Server, UnderWay};
use crate::support::visitor::get;

pub(super) const RUN: [&str; 8] = ["bench", "run", "mtbench101", "--models", "one", "--judge", "judge", "--batch"];
pub(super) const ANSWER: [&str; 6] = ["bench", "answer", "mtbench101", "--models", "one", "--batch"];

/// A suite with data, and a provider that answers it in batches alone.
pub(super) async fn field() -> (Field, BatchProvider) {
    let field = Field::empty(&["one", "two"]).await;
    field.write("mt.jsonl", data(&dialogues()));
    field.done(&["import", "suite", "mtbench101", "mt.jsonl"]).await;
    let provider = BatchProvider::serve(&field.upstream, |model, question| match model {
        "judge" => format!("Fine. Rating: [[{}]]", score(question)),
        model => answer(model, question),
    });
    (field, provider)
}

pub(super) fn turns() -> usize {
    dialogues().iter().map(|dialogue| dialogue.judged().len()).sum()
}

/// The requests that went out by themselves.
fn single(field: &Field) -> usize {
    let ends = ["/chat/completions", "/messages"];
    field.upstream.received().iter().filter(|request| ends.iter().any(|end| request.path.ends_with(end))).count()
}

/// The batches that are not taken yet.
pub(super) async fn open(field: &Field) -> usize {
    let store = field.store().await;
    let open = store.open_bench_batches(&SuiteId::new("mtbench101")).await.unwrap().len();
    store.close().await;
    open
}

/// Whether every question was sent so often.
#[track_caller]
pub(super) fn check_asked(provider: &BatchProvider, model: &str, times: usize) {
    let asked = provider.asked(model);
    assert!(!asked.is_empty());
    let others: BTreeMap<_, _> = asked.iter().filter(|(_, count)| **count != times).collect();
    assert!(others.is_empty(), "not {times} times: {others:?}");
}

async fn check_scores(field: &Field) {
    let scores = field.scores("mtbench101").await;
    compare(&scores, "one", &expected(&dialogues(), "one", |answer| Some(score(answer))));
}

#[actix_web::test]
async fn a_run_in_batches_has_the_scores_of_single_requests_for_half_the_price() {
    let (field, provider) = field().await;
    let plan: Vec<Value> =
        serde_json::from_str(&field.done(&[&RUN[..], &["--dry-run", "--format", "json"]].concat()).await).unwrap();
    let single_plan: Vec<Value> =
        serde_json::from_str(&field.done(&[&RUN[..7], &["--dry-run", "--format", "json"]].concat()).await).unwrap();
    let cost = |plan: &[Value]| plan[0]["cost"].as_f64().unwrap();
    assert!((cost(&plan) - cost(&single_plan) / 2.0).abs() < 1e-9, "{plan:?} {single_plan:?}");
    assert_eq!(field.upstream.received().len(), 0, "a dry run asks nobody");

    let run = field.run(&RUN).await;
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(
        (provider.sizes(), single(&field)),
        (vec![turns(), turns()], 0),
        "one batch of answers, one of verdicts"
    );
    check_asked(&provider, "one", 1);
    check_asked(&provider, "judge", 1);
    check_scores(&field).await;
    for said in ["batch batch_0 of model one: sent with", "of model judge: ended with"] {
        assert!(run.stderr.contains(said), "{said}: {}", run.stderr);
    }
    let runs: Vec<Value> = serde_json::from_str(&field.done(&["bench", "runs", "--format", "json"]).await).unwrap();
    let (calls, cost) = (runs[0]["calls"].as_u64().unwrap(), runs[0]["cost"].as_f64().unwrap());
    let requests = u32::try_from(2 * turns()).unwrap();
    assert_eq!(calls, u64::from(requests));
    assert!((cost - 0.5 * 0.002 * f64::from(requests)).abs() < 1e-9, "{cost}");
    assert_eq!(open(&field).await, 0, "both are taken");
    field.done(&RUN).await;
    assert_eq!(provider.sizes().len(), 2, "nothing is asked again");
}

#[actix_web::test]
async fn a_plan_that_says_so_is_sent_in_batches_without_the_flag() {
    let (field, provider) = field().await;
    let suite = "models = [\"one\"]\njudges = [\"judge\"]\nbatch = true\n[[suites]]\nsuite = \"mtbench101\"\n";
    field.write("plan.toml", suite);
    let plan = field.run(&["bench", "run", "plan.toml", "--dry-run"]).await;
    assert!(plan.stderr.contains("costs are those of batches"), "{}", plan.stderr);
    field.done(&["bench", "run", "plan.toml"]).await;
    assert_eq!((provider.sizes(), single(&field)), (vec![turns(), turns()], 0));
}

#[actix_web::test]
async fn reports_and_comparisons_say_whether_a_run_was_sent_in_batches() {
    let (field, _) = field().await;
    field.done(&RUN).await;
    field.done(&[&RUN[..7], &["--round", "2"]].concat()).await;
    let runs: Vec<Value> = serde_json::from_str(&field.done(&["bench", "runs", "--format", "json"]).await).unwrap();
    let [later, earlier] = [0, 1].map(|at: usize| runs[at]["run"].as_str().unwrap().to_owned());
    let compared = field.done(&["bench", "compare", &earlier, &later, "--format", "json"]).await;
    let changes = serde_json::from_str::<Value>(&compared).unwrap()["changes"].clone();
    let round = json!({"what": "round", "before": "1", "after": "2"});
    assert_eq!(changes, json!([round, {"what": "batch", "before": "yes", "after": "no"}]));
    for (round, language, head, cell) in
        [("1", "en", "In batches", "yes"), ("2", "en", "In batches", "no"), ("1", "zh", "批量", "是")]
    {
        let report =
            ["bench", "report", "mtbench101", "--round", round, "--language", language, "--format", "markdown"];
        let report = field.done(&report).await;
        let table = report.split(&format!(" | {head} |\n")).nth(1).expect("the column is there");
        let row = table.lines().nth(1).unwrap();
        assert!(row.ends_with(&format!(" | {cell} |")), "{language}: {report}");
    }
    field.edit("id = \"one\"\n", "id = \"one\"\nname = \"The first one\"\n");
    let server = Server::start(field.path(), &[]);
    for (language, rows) in [
        (
            "en",
            ["Round of answers</bdi></th><td><bdi>1</bdi>", "In batches</bdi></th><td><bdi>yes</bdi></td><td><bdi>no<"],
        ),
        ("zh", ["作答轮次</bdi></th><td><bdi>1</bdi>", "批量</bdi></th><td><bdi>是</bdi></td><td><bdi>否<"]),
    ] {
        let path = format!("/benchmarks/mtbench101/compare?before={earlier}&after={later}&lang={language}");
        let page = get(&format!("{}{path}", server.url)).await.text().await.unwrap();
        for row in rows {
            assert!(page.contains(row), "{row}: {page}");
        }
        assert!(page.contains("<bdi translate=\"no\">The first one</bdi>"), "by its name: {page}");
        assert!(!page.contains("<bdi translate=\"no\">one</bdi>"), "{page}");
    }
    server.log_at_end().await;
}

#[actix_web::test]
async fn a_request_in_a_batch_is_that_of_a_single_one() {
    let (field, provider) = field().await;
    field.done(&ANSWER).await;
    let second = super::Field::new(&["one"]).await;
    second.write("mt.jsonl", data(&dialogues()));
    second.done(&["import", "suite", "mtbench101", "mt.jsonl"]).await;
    second.done(&ANSWER[..5]).await;
    let mut singles: Vec<Value> = second.upstream.received().into_iter().map(|request| request.body).collect();
    for body in &mut singles {
        let body = body.as_object_mut().unwrap();
        assert!(body.remove("stream").is_some() && body.remove("stream_options").is_some());
    }
    let sorted = |bodies: Vec<Value>| {
        let mut texts: Vec<String> = bodies.iter().map(Value::to_string).collect();
        texts.sort();
        texts
    };
    assert_eq!(sorted(provider.bodies()), sorted(singles));
}

#[actix_web::test]
async fn turns_that_follow_on_answers_are_further_batches() {
    let (field, provider) = field().await;
    field.done(&[&ANSWER[..], &["--ablation", "self_context"]].concat()).await;
    let sizes = provider.sizes();
    assert_eq!(sizes.iter().sum::<usize>(), turns());
    assert!((2..=4).contains(&sizes.len()), "a batch for each turn: {sizes:?}");
    assert_eq!(open(&field).await, 0);
}

#[actix_web::test]
async fn a_killed_run_pays_nothing_twice() {
    for again in [&RUN[..], &RUN[..7]] {
        let (field, provider) = field().await;
        provider.hold(true);
        let run = UnderWay::start(field.path(), &RUN);
        run.until_log_has("sent with").await;
        run.until_log_has(": 0 of ").await;
        run.kill();
        provider.hold(false);
        let run = field.run(again).await;
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        assert!(run.stderr.contains("an earlier run sent it"), "{}", run.stderr);
        check_asked(&provider, "one", 1);
        let singles = if again.contains(&"--batch") { 0 } else { turns() };
        assert_eq!((single(&field), open(&field).await), (singles, 0), "{again:?}: verdicts alone");
        check_scores(&field).await;
    }
}

/// The provider has the batch, and the process has not heard of that.
#[actix_web::test]
async fn a_batch_whose_sending_was_never_answered_is_found_again() {
    let (field, provider) = field().await;
    provider.plan(BatchPlan { is_silent: true, ..BatchPlan::default() });
    let run = UnderWay::start(field.path(), &ANSWER);
    // The list that says that there are batches, the file, the batch.
    field.upstream.until_received(3).await;
    run.kill();
    assert_eq!((provider.sizes(), open(&field).await), (vec![turns()], 1), "it is noted before it is sent");
    let run = field.run(&ANSWER).await;
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!((provider.sizes(), open(&field).await), (vec![turns()], 0), "{}", run.stderr);
}

/// The process ends after it has noted the batch, and before the provider has it.
#[actix_web::test]
async fn a_batch_that_never_arrived_is_sent_by_the_next_run() {
    let (field, provider) = field().await;
    let gate = crate::support::upstream::Gate::new();
    field.upstream.script("/v1/files", crate::support::upstream::Script::nothing().wait(&gate));
    let run = UnderWay::start(field.path(), &ANSWER);
    field.upstream.until_received(2).await;
    run.kill();
    assert_eq!((provider.sizes().len(), open(&field).await), (0, 1));
    field.upstream.respond("/v1/files", {
        let provider = provider.clone();
        move |request| provider.answer(request)
    });
    field.done(&ANSWER).await;
    assert_eq!((provider.sizes(), open(&field).await), (vec![turns()], 0));
}

#[actix_web::test]
async fn an_interrupt_leaves_batches_at_the_provider_and_says_so() {
    let (field, provider) = field().await;
    provider.hold(true);
    let run = UnderWay::start(field.path(), &ANSWER);
    run.until_log_has(": 0 of ").await;
    run.signal("INT");
    let ended = run.ended().await;
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    for said in ["continue at the provider".to_owned(), format!("batch batch_0 of model one ({} requests", turns())] {
        assert!(ended.stderr.contains(&said), "{said}: {}", ended.stderr);
    }
    let plan = field.run(&[&ANSWER[..], &["--dry-run"]].concat()).await;
    assert!(plan.stderr.contains("is at the provider"), "{}", plan.stderr);
    provider.hold(false);
    field.done(&ANSWER).await;
    assert_eq!((provider.sizes(), open(&field).await), (vec![turns()], 0));
}

/// The batches that are not taken yet, as the command lists them.
async fn listed(field: &Field) -> Vec<Value> {
    serde_json::from_str(&field.done(&["bench", "batches", "--format", "json"]).await).unwrap()
}

/// A batch at the provider, which the run that sent it has left.
async fn left_behind() -> (Field, BatchProvider) {
    let (field, provider) = field().await;
    provider.hold(true);
    let run = UnderWay::start(field.path(), &ANSWER);
    run.until_log_has(": 0 of ").await;
    run.kill();
    (field, provider)
}

#[actix_web::test]
async fn a_batch_that_is_given_up_is_asked_again_and_no_run_looks_for_it() {
    for is_ours in [true, false] {
        let (field, provider) = left_behind().await;
        let [batch] = &listed(&field).await[..] else { panic!("one batch") };
        for (key, value) in [("suite", "mtbench101"), ("model", "one"), ("provider_id", "batch_0"), ("state", "sent")] {
            assert_eq!(batch[key], value, "{batch}");
        }
        assert_eq!(batch["requests"], turns());
        let table = field.done(&["bench", "batches"]).await;
        let csv = field.done(&["bench", "batches", "--format", "csv"]).await;
        for text in [&table, &csv] {
            assert!(text.contains("batch_0") && text.contains(batch["batch"].as_str().unwrap()), "{text}");
        }
        assert!(csv.starts_with("batch,suite,model,provider_id,requests,state,created_at\n"), "{csv}");
        let id = if is_ours { batch["batch"].as_str().unwrap() } else { "batch_0" };
        let plan = field.run(&[&ANSWER[..], &["--dry-run"]].concat()).await;
        let hint = format!("`langya bench batches --forget {}`", batch["batch"].as_str().unwrap());
        assert!(plan.stderr.contains(&hint), "{}", plan.stderr);
        let forgotten = field.run(&["bench", "batches", "--forget", id]).await;
        assert_eq!(forgotten.code, Some(0), "{}", forgotten.stderr);
        for said in ["may still charge for it", &format!("asks its {} requests again", turns())] {
            assert!(forgotten.stderr.contains(said), "{said}: {}", forgotten.stderr);
        }
        assert_eq!(listed(&field).await, [] as [Value; 0]);
        provider.hold(false);
        let run = field.run(&ANSWER).await;
        assert!(run.code == Some(0) && !run.stderr.contains("an earlier run sent it"), "{}", run.stderr);
        assert_eq!((provider.sizes(), open(&field).await), (vec![turns(), turns()], 0), "asked again");
        check_asked(&provider, "one", 2);
    }
}

#[actix_web::test]
async fn a_batch_that_is_not_open_cannot_be_given_up() {
    let (field, provider) = field().await;
    assert_eq!(listed(&field).await, [] as [Value; 0]);
    field.done(&ANSWER).await;
    for id in ["batch_0", "nothing", ""] {
        let refused = field.run(&["bench", "batches", "--forget", id]).await;
        assert_eq!(refused.code, Some(2), "{}", refused.stderr);
        assert!(refused.stderr.contains(&format!("no open batch has the id {id:?}")), "{}", refused.stderr);
    }
    assert_eq!(provider.sizes().len(), 1);
}

#[actix_web::test]
async fn limits_count_what_is_sent() {
    let (field, provider) = field().await;
    let run = field.run(&[&ANSWER[..], &["--max-calls", "7"]].concat()).await;
    assert_eq!((run.code, provider.sizes()), (Some(0), vec![7]), "{}", run.stderr);
    assert!(run.stderr.contains("the limit --max-calls 7 is reached"), "{}", run.stderr);
    field.done(&ANSWER).await;
    assert_eq!(provider.sizes(), [7, turns() - 7]);
    check_asked(&provider, "one", 1);
}

/// A reply may be 2,048 tokens long and is 10: the first batch is what fits in the worst case, and what it left is spent then.
#[actix_web::test]
async fn a_budget_of_money_is_kept_even_where_every_reply_is_as_long_as_it_may_be() {
    let (field, provider) = field().await;
    let run = field.run(&[&ANSWER[..], &["--budget", "1"]].concat()).await;
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let sizes = provider.sizes();
    let worst = 0.5 * 2_048.0 * 100.0 / 1e6;
    let first = f64::from(u32::try_from(sizes[0]).unwrap());
    assert!(first * worst <= 1.0, "{sizes:?}");
    assert_eq!(sizes.iter().sum::<usize>(), turns(), "what the first replies left is spent: {sizes:?} {}", run.stderr);
    check_asked(&provider, "one", 1);
}

#[actix_web::test]
async fn what_settles_nothing_is_asked_again_in_another_batch_and_taken_once() {
    let (field, _) = field().await;
    let provider = BatchProvider::serve(&field.upstream, |model, question| match model {
        "judge" => "No idea.".to_owned(),
        model => answer(model, question),
    });
    let said = field.unreadable(&RUN).await;
    assert_eq!(provider.sizes(), [turns(); 4], "three times, and then it is a failure: {said}");
    let again = field.run(&[&RUN[..], &["--retry-failed"]].concat()).await;
    assert_eq!(provider.sizes().len(), 7, "what was said before is no answer to the new question: {}", again.stderr);
    assert_eq!(open(&field).await, 0);
}

#[actix_web::test]
async fn the_form_of_anthropic_is_spoken_too() {
    let (field, provider) = field().await;
    field.edit("provider = \"openai\"", "provider = \"anthropic\"");
    provider.plan(BatchPlan {
        line: |at| match at {
            0 => RequestOutcome::Status(400),
            1 => RequestOutcome::Expired,
            2 => RequestOutcome::Status(500),
            _ => RequestOutcome::Reply,
        },
        ..BatchPlan::default()
    });
    let run = field.run(&ANSWER).await;
    assert_eq!((run.code, provider.sizes()), (Some(1), vec![turns(), 1]), "{}", run.stderr);
    assert!(
        run.stderr.contains("only --retry-failed sends refused requests again") && !run.stderr.contains("CANARY"),
        "{}",
        run.stderr
    );
    field.done(&RUN).await;
    assert_eq!(provider.sizes(), [turns(), 1, 1, turns() - 1], "the expired one, and the verdicts");
    assert_eq!((single(&field), open(&field).await), (0, 0));
}

/// That provider keeps no mark of ours: the results show which batch it was.
#[actix_web::test]
async fn a_batch_without_a_mark_is_found_by_its_results() {
    let (field, provider) = field().await;
    field.edit("provider = \"openai\"", "provider = \"anthropic\"");
    provider.plan(BatchPlan { is_silent: true, ..BatchPlan::default() });
    let run = UnderWay::start(field.path(), &ANSWER);
    field.upstream.until_received(2).await;
    run.kill();
    // Another batch of the same size.
    field.done(&[&ANSWER[..4], &["two", "--batch"]].concat()).await;
    field.done(&ANSWER).await;
    assert_eq!((provider.sizes(), open(&field).await), (vec![turns(), turns()], 0));
}

/// Who waits for another one's reply asks nothing of its own, so a batch does not wait for it.
#[actix_web::test]
async fn a_prompt_that_two_answers_have_in_common_is_sent_once() {
    let (field, _) = field().await;
    let provider = BatchProvider::serve(&field.upstream, |model, question| match model {
        "judge" => format!("Fine. Rating: [[{}]]", score(question)),
        _ => answer("one", question),
    });
    field.done(&["bench", "run", "mtbench101", "--models", "one,two", "--judge", "judge", "--batch"]).await;
    assert_eq!(provider.sizes(), [turns(); 3], "two of answers and one of verdicts");
    let store = field.store().await;
    let set = field.set(&store, "mtbench101").await;
    let judged = store
        .bench_judgements(&set, langya::infra::storage::BenchFilter::ALL, langya::infra::storage::IncludeText::No)
        .await
        .unwrap()
        .len();
    store.close().await;
    assert_eq!(judged, 2 * turns());
}
