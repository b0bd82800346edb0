//! What `langya bench runs` says of a run: while it asks, at its end, and after it was killed.

use langya::domain::benchmark::runs::run_state::{DueCount, RunState};
use serde_json::{Value, json};

use super::mtbench101::{data, dialogues};
use super::{AT_ONCE, Field, question, reply_behind, score};
use crate::support::program::UnderWay;
use crate::support::until;
use crate::support::upstream::{Gate, Script};

async fn runs(field: &Field) -> Vec<Value> {
    serde_json::from_str(&field.done(&["bench", "runs", "--format", "json"]).await).unwrap()
}

async fn import(field: &Field) -> u64 {
    let dialogues = dialogues();
    field.write("mt.jsonl", data(&dialogues));
    field.done(&["import", "suite", "mtbench101", "mt.jsonl"]).await;
    dialogues.iter().map(|dialogue| dialogue.judged().len() as u64).sum()
}

#[actix_web::test]
async fn a_run_shows_its_progress_while_it_asks_and_its_cost_beside_what_was_expected() {
    let gate = Gate::new();
    let at_the_judge = gate.clone();
    let field = Field::with_judge(&["one"], move |request, _| {
        reply_behind(&at_the_judge, &format!("Rating: [[{}]]", score(question(request))))
    });
    let field = field.await;
    let turns = import(&field).await;
    let run = UnderWay::start(field.path(), &["bench", "run", "mtbench101", "--judge", "judge"]);
    let answered = usize::try_from(turns).unwrap();
    field.upstream.until_received(answered + AT_ONCE).await;
    let store = field.store().await;
    let all = DueCount { done: turns, due: turns };
    let row = until(async || {
        let row = store.bench_runs(9).await.unwrap().remove(0);
        (row.snapshot.answers == all && row.snapshot.judgements.due == turns).then_some(row)
    })
    .await;
    assert_eq!((row.snapshot.state, row.snapshot.judgements.done), (RunState::Running, 0));
    assert_eq!((row.run.models, row.run.judges), (vec!["one".to_owned()], vec!["judge".to_owned()]));
    gate.open();
    assert_eq!(run.ended().await.code, Some(0));
    let runs = runs(&field).await;
    // 100 tokens at 10 and 10 tokens at 100 for a million make 0.002 a request.
    let (calls, cost) = (runs[0]["calls"].as_u64().unwrap(), runs[0]["cost"].as_f64().unwrap());
    assert_eq!((runs.len(), calls), (1, 2 * turns), "{runs:?}");
    assert_eq!((&runs[0]["input_tokens"], &runs[0]["output_tokens"]), (&json!(calls * 100), &json!(calls * 10)));
    let csv = field.done(&["bench", "runs", "--format", "csv"]).await;
    assert!(csv.lines().next().unwrap().contains(",calls,input_tokens,output_tokens,cost,"), "{csv}");
    assert!(csv.lines().nth(1).unwrap().contains(",one,judge,"), "{csv}");
    assert_eq!((&runs[0]["models"], &runs[0]["judges"]), (&json!(["one"]), &json!(["judge"])));
    let table = field.done(&["bench", "runs"]).await;
    let cells = [calls, calls * 100, calls * 10].map(|number| number.to_string());
    let row: Vec<&str> = table.lines().last().unwrap().split_whitespace().collect();
    assert!(row.windows(3).any(|three| three == cells), "{table}");
    assert!((cost - 0.004 * f64::from(u32::try_from(turns).unwrap())).abs() < 1e-9, "{cost}");
    assert!(runs[0]["expected_cost"].as_f64().unwrap() > cost, "estimated with long answers");
    for (name, value) in [("state", json!("done")), ("judgements", json!(turns)), ("error", json!(""))] {
        assert_eq!(runs[0][name], value, "{name}");
    }
}

#[actix_web::test]
async fn a_run_says_why_it_ended_and_what_failed() {
    let field = Field::new(&["one"]).await;
    import(&field).await;
    field.done(&["bench", "answer", "mtbench101", "--max-calls", "3", "--models", "one"]).await;
    field.respond("one", |_, _| Script::whole("500 Internal Server Error", "", ""));
    assert_eq!(field.run(&["bench", "answer", "mtbench101", "--models", "one"]).await.code, Some(1));
    let runs = runs(&field).await;
    let of = |name: &str| runs.iter().map(|run| run[name].clone()).collect::<Vec<_>>();
    assert_eq!(of("state"), ["failed", "over_budget"], "the latest first");
    assert!(of("error")[0].as_str().unwrap().starts_with("one: "), "{runs:?}");
    assert_eq!((of("error")[1].clone(), of("answers")[1].clone()), (json!(""), json!(3)));
    let table = field.done(&["bench", "runs"]).await;
    assert!(table.contains("over_budget") && table.contains("mtbench101"), "{table}");
}

#[actix_web::test]
async fn a_model_whose_settings_changed_is_named_before_it_is_asked_and_beside_its_scores() {
    let field = Field::new(&["one"]).await;
    import(&field).await;
    let run = ["bench", "run", "mtbench101", "--models", "one", "--judge", "judge"];
    let first = field.run(&run).await;
    assert!(first.code == Some(0) && !first.stderr.contains("has changed"), "{}", first.stderr);
    assert!(!field.done(&["bench", "report", "mtbench101"]).await.contains("several settings"));
    field.edit("id = \"one\"\n", "id = \"one\"\nmodel = \"another\"\n");
    let planned = field.run(&[&run[..], &["--dry-run"]].concat()).await;
    let told = "warning: one (openai one (";
    assert!(planned.stderr.contains(told) && planned.stderr.contains("; openai another ("), "{}", planned.stderr);
    assert!(!planned.stderr.contains("judge ("), "its settings are the same: {}", planned.stderr);
    assert!(field.run(&run).await.stderr.contains(told), "all is answered, and the scores are the other model's");
    let table = field.done(&["bench", "report", "mtbench101"]).await;
    assert!(table.contains("asked with several settings") && table.contains("one (openai one ("), "{table}");
    let report = field.done(&["bench", "report", "mtbench101", "--format", "markdown"]).await;
    assert!(report.contains("one was asked with 2 different settings"), "{report}");
    let next = field.run(&[&run[..], &["--round", "2", "--dry-run"]].concat()).await;
    assert!(!next.stderr.contains("has changed"), "another round has no earlier replies: {}", next.stderr);
}
