//! `langya bench compare`: what changed between two runs, and a provider that changed a model without saying so.

use std::sync::Arc;

use langya::infra::tasks::Tasks;
use langya::services::benchmark::error::BenchError;
use langya::services::benchmark::run_comparison::RunComparisons;
use serde_json::{Value, json};

use super::{Field, question, reply};

const QUESTIONS: usize = 30;
const CANARIES: usize = 20;
const RUN: [&str; 7] = ["bench", "run", "alignbench", "--models", "one,two", "--judge", "judge"];

/// A suite of thirty questions, two models of even temper, and a judge who thinks nothing of what is new.
async fn field() -> Field {
    let field = Field::empty(&["one", "two"]).await;
    for model in ["one", "two"] {
        field.respond(model, |request, _| reply(&format!("old: {}", question(request))));
    }
    field.respond("judge", |request, _| {
        let score = if question(request).contains("new weights") { 3 } else { 7 };
        reply(&format!("{{'事实正确性': {score}, '综合得分': {score}}}"))
    });
    let line = |id: usize| json!({"question_id": id, "category": "专业能力", "subcategory": "物理", "question": format!("第{id}题：几？"), "reference": "三"});
    field.write("a.jsonl", (1..=QUESTIONS).map(|id| format!("{}\n", line(id))).collect::<String>());
    field.done(&["import", "suite", "alignbench", "a.jsonl"]).await;
    field
}

async fn run_ids(field: &Field) -> Vec<String> {
    let runs: Vec<Value> = serde_json::from_str(&field.done(&["bench", "runs", "--format", "json"]).await).unwrap();
    runs.iter().rev().map(|run| run["run"].as_str().unwrap().to_owned()).collect()
}

async fn compared(field: &Field, [before, after]: [&str; 2]) -> Value {
    serde_json::from_str(&field.done(&["bench", "compare", before, after, "--format", "json"]).await).unwrap()
}

#[actix_web::test]
async fn a_provider_that_silently_changed_a_model_shows_on_the_canaries() {
    let field = field().await;
    field.done(&RUN).await;
    field.respond("two", |request, _| reply(&format!("new weights: {}", question(request))));
    let before = field.upstream.received().len();
    field.done(&[&RUN[..], &["--canaries", "--round", "2"]].concat()).await;
    assert_eq!(field.upstream.received().len() - before, 3 * CANARIES, "what the judge has read before is known");

    let ids = run_ids(&field).await;
    let found = compared(&field, [&ids[0], &ids[1]]).await;
    let changes: Vec<&Value> = found["changes"].as_array().unwrap().iter().map(|change| &change["what"]).collect();
    assert_eq!(changes, ["round", "items"], "{found}");
    let models = found["models"].as_array().unwrap();
    assert_eq!(models[0]["model"], "one");
    for (model, same, drift) in [(&models[0], CANARIES, false), (&models[1], 0, true)] {
        assert_eq!((&model["items"], &model["same_answers"]), (&json!(CANARIES), &json!(same)), "{model}");
        assert_eq!(model["canaries"]["drift"], drift, "{model}");
    }
    assert_eq!(found["items"].as_array().unwrap().len(), 2 * CANARIES);
    assert_eq!((&found["items"][0]["before"], &found["items"][0]["after"]), (&json!(7.0), &json!(3.0)));

    let end = |id: &String| id[id.len() - 12..].to_owned();
    let table = field.done(&["bench", "compare", &end(&ids[0]), &end(&ids[1])]).await;
    assert!(table.contains("DRIFT") && table.contains("changed: round: 1 -> 2"), "{table}");
    let report = field.done(&["bench", "report", "alignbench", "--format", "markdown"]).await;
    assert!(report.contains(&ids[0].replace('_', "\\_")) && !report.contains(&ids[1]), "its own round: {report}");
}

#[actix_web::test]
async fn a_model_with_other_settings_is_no_drift_and_unknown_runs_are_refused() {
    let field = field().await;
    field.done(&[&RUN[..], &["--canaries"]].concat()).await;
    field.edit("id = \"two\"\n", "id = \"two\"\ntemperature = 0.25\n");
    field.done(&[&RUN[..], &["--canaries", "--round", "2"]].concat()).await;
    let ids = run_ids(&field).await;
    let found = compared(&field, [&ids[0], &ids[1]]).await;
    let changes: Vec<&Value> = found["changes"].as_array().unwrap().iter().map(|change| &change["what"]).collect();
    assert_eq!(changes, ["round", "settings of two"], "{found}");
    assert_eq!(found["models"][1]["canaries"], Value::Null);
    let refused = field.refused(&["bench", "compare", &ids[0], "nothing"]).await;
    assert!(refused.contains("no single run"), "{refused}");
}

#[actix_web::test]
async fn a_comparison_is_made_once_for_all_who_ask_until_there_is_something_new() {
    let field = field().await;
    field.done(&[&RUN[..], &["--canaries"]].concat()).await;
    field.done(&[&RUN[..], &["--canaries", "--round", "2"]].concat()).await;
    let ids = run_ids(&field).await;
    let (store, tasks) = (field.store().await, Tasks::default());
    let comparisons = RunComparisons::new(store.clone(), tasks.clone());
    let ask = async || comparisons.latest("alignbench", [&ids[0], &ids[1]]).await.unwrap();
    let (one, other, third) = (ask().await, ask().await, futures_util::future::join(ask(), ask()).await);
    assert!([&other, &third.0, &third.1].iter().all(|same| Arc::ptr_eq(&one, same)), "it is made once");
    let by_ends = [&ids[0][8..], &ids[1][8..]];
    assert!(Arc::ptr_eq(&one, &comparisons.latest("alignbench", by_ends).await.unwrap()), "by the end of an id too");
    let foreign = comparisons.latest("urs", [&ids[0], &ids[1]]).await.unwrap_err();
    assert!(matches!(foreign, BenchError::NoRun { .. }), "{foreign}");

    field.done(&[&RUN[..], &["--canaries", "--round", "3"]].concat()).await;
    assert!(!Arc::ptr_eq(&one, &ask().await), "there are new answers");
    assert!(tasks.end(std::time::Duration::from_secs(5)).await);
    store.close().await;
}

#[actix_web::test]
async fn requests_carry_the_seed_of_their_round() {
    let field = field().await;
    field.write(
        "plan.toml",
        "models = [\"one\"]\njudges = [\"judge\"]\nsamples = [1, 2]\nseed = 41\n[[suites]]\nsuite = \"alignbench\"\ncanaries = true\n",
    );
    field.done(&["bench", "run", "plan.toml"]).await;
    let received = field.upstream.received();
    let seeds: Vec<Option<u64>> = received.iter().map(|request| request.body["seed"].as_u64()).collect();
    let of = |seed| seeds.iter().filter(|found| **found == Some(seed)).count();
    assert_eq!((seeds.len(), of(41), of(42)), (4 * CANARIES, 2 * CANARIES, 2 * CANARIES));
    let ids = run_ids(&field).await;
    let changes = compared(&field, [&ids[0], &ids[1]]).await["changes"].clone();
    assert!(changes.as_array().unwrap().iter().any(|change| change["what"] == "seeds"), "{changes}");
    field.done(&["bench", "run", "plan.toml"]).await;
    assert_eq!(field.upstream.received().len(), 4 * CANARIES, "nothing is asked again");
    field.done(&["bench", "run", "plan.toml", "--seed", "7", "--dry-run"]).await;
}
