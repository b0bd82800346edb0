//! What a dry run says beside what a run does, and what a run says of what it could not have.

use std::collections::BTreeSet;
use std::sync::Mutex;

use serde_json::{Value, json};

use super::{Field, answer, number, question, quoted, reply, score};
use crate::support::upstream::Script;

const QUESTIONS: usize = 150;

fn asked(id: usize) -> String {
    format!("第{id}题：几？")
}

async fn alignbench() -> Field {
    let field = Field::empty(&["one", "two"]).await;
    for model in ["one", "two"] {
        field.respond(model, move |request, _| reply(&answer(model, question(request))));
    }
    let line = |id: usize| json!({"question_id": id, "category": "专业能力", "subcategory": "物理", "question": asked(id), "reference": "三"});
    field.write("a.jsonl", (1..=QUESTIONS).map(|id| format!("{}\n", line(id))).collect::<String>());
    field.done(&["import", "suite", "alignbench", "a.jsonl"]).await;
    field
}

/// One reply in ten cannot be read; a further one can.
fn forgets_the_form(field: &Field) {
    let forgotten = Mutex::new(BTreeSet::new());
    field.respond("judge", move |request, _| {
        let about = quoted(question(request)).to_owned();
        let forgets = number(&about).is_multiple_of(10) && forgotten.lock().unwrap().insert(about);
        match forgets {
            true => reply("我忘了格式。"),
            false => reply(&format!("{{'事实正确性': 7, '综合得分': {}}}", score(question(request)))),
        }
    });
}

async fn planned(field: &Field, arguments: &[&str]) -> Value {
    let text = field.done(&[arguments, &["--dry-run", "--format", "json"]].concat()).await;
    serde_json::from_str::<Value>(&text).unwrap()[0].clone()
}

/// The rows of a report without the time of the latest judgement.
fn without_time(report: &str) -> Vec<Value> {
    let mut rows: Vec<Value> = serde_json::from_str(report).unwrap();
    assert!(rows.len() > 1 && rows[0]["score"].is_f64(), "{report}");
    rows.iter_mut().for_each(|row| row["judged_at"] = Value::Null);
    rows
}

#[actix_web::test]
async fn a_dry_run_is_within_five_percent_of_the_run_and_nothing_where_all_is_reused() {
    let field = alignbench().await;
    forgets_the_form(&field);
    field.done(&["bench", "answer", "alignbench"]).await;
    let judge = |model: &'static str| ["bench", "judge", "alignbench", "--judge", "judge", "--models", model];
    let at_first = planned(&field, &judge("one")).await;
    assert_eq!((&at_first["calls"], &at_first["worst_calls"]), (&json!(QUESTIONS), &json!(9 * QUESTIONS)));
    assert!(at_first["basis"].as_str().unwrap().contains("no result yet"), "{at_first}");
    field.done(&judge("one")).await;
    let (plan, before) = (planned(&field, &judge("two")).await, field.requests("judge"));
    assert_eq!(plan["basis"], format!("{QUESTIONS} results so far"), "{plan}");
    let run = field.run(&judge("two")).await;
    let requests = field.requests("judge") - before;
    assert!(requests > QUESTIONS, "some are asked again");
    let near = |expected: f64, real: usize| (expected / f64::from(u32::try_from(real).unwrap()) - 1.0).abs() < 0.05;
    assert!(near(plan["calls"].as_f64().unwrap(), requests), "{plan}, and {requests} requests");
    // 100 tokens in and 10 out each, at 10 and 100 for a million.
    assert!(near(plan["cost"].as_f64().unwrap() * 500.0, requests), "{plan}, and {requests} requests");
    assert!(run.stderr.contains(&format!("cost {:.4}", 0.002 * f64::from(u32::try_from(requests).unwrap()))));

    let official = [&judge("two")[..], &["--compat", "alignbench.official_parser"]].concat();
    let plan = planned(&field, &official).await;
    let none = (&json!(0), &json!(0), &json!(QUESTIONS));
    assert_eq!((&plan["calls"], &plan["worst_calls"], &plan["reused"]), none, "{plan}");
    assert_eq!(plan["cost"], 0.0, "{plan}");
    let before = field.requests("judge");
    let report = ["bench", "report", "alignbench", "--compat", "alignbench.official_parser", "--format"];
    let reread = field.run(&[&report[..], &["json", "--models", "two"]].concat()).await;
    assert!(
        reread.stderr.contains(&format!("without asking a judge: {QUESTIONS} earlier replies")),
        "{}",
        reread.stderr
    );
    let page = field.done(&[&report[..], &["markdown", "--models", "two"]].concat()).await;
    field.done(&official).await;
    assert_eq!(field.requests("judge"), before, "and so it is");
    let kept = field.run(&[&report[..], &["json", "--models", "two"]].concat()).await;
    assert!(!kept.stderr.contains("note"), "{}", kept.stderr);
    assert_eq!(without_time(&kept.stdout), without_time(&reread.stdout), "what the run keeps");
    let kept = field.done(&[&report[..], &["markdown", "--models", "two"]].concat()).await;
    let (before, runs) = kept.split_once("### Runs\n").expect("it lists the run");
    let (_, after) = runs.split_once("\n## ").expect("it goes on");
    assert_eq!(format!("{before}## {after}"), page);
    assert!(page.contains("| two |"), "{page}");
    let done = planned(&field, &official).await;
    assert_eq!((&done["done"], &done["reused"]), (&json!(QUESTIONS), &json!(0)));
}

#[actix_web::test]
async fn a_wrong_key_is_said_with_what_to_do_and_what_is_left() {
    let field = alignbench().await;
    field.edit("id = \"one\"\n", "id = \"one\"\napi_key_env = \"ONE_KEY\"\n");
    field.respond("one", |_, _| Script::mode("err401"));
    let arguments = ["bench", "run", "alignbench", "--models", "one", "--judge", "judge"];
    let folder = field.path().to_owned();
    let keyed = tokio::task::spawn_blocking(move || {
        crate::support::program::langya_in(&folder, arguments, &[("ONE_KEY", "sk-wrong")])
    });
    let run = keyed.await.unwrap();
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let said = run.stderr.split_once("model one was given up after ").expect("it is said").1;
    let (failures, rest) = said.split_once(' ').unwrap();
    // Four, and those that were under way then.
    assert!((4..=QUESTIONS).contains(&failures.parse::<usize>().unwrap()), "{}", run.stderr);
    assert!(rest.starts_with("failures in a row: the provider answered"), "{}", run.stderr);
    assert!(run.stderr.contains("status 401") && run.stderr.contains("check the key in the variable ONE_KEY"));
    assert!(!run.stderr.contains("sk-wrong"));
    // Every answer, and the judgement of each.
    assert!(run.stderr.contains(&format!("{} results are left", 2 * QUESTIONS)), "{}", run.stderr);
}

#[actix_web::test]
async fn what_a_provider_refuses_is_asked_once_and_again_only_where_that_is_wanted() {
    let field = alignbench().await;
    field.respond("one", |request, times| match question(request) == asked(7) && times == 1 {
        true => Script::whole("400 Bad Request", "", "filtered"),
        false => reply(&answer("one", question(request))),
    });
    let run = ["bench", "answer", "alignbench", "--models", "one"];
    for requests in [QUESTIONS, QUESTIONS] {
        let done = field.run(&run).await;
        assert_eq!((done.code, field.requests("one")), (Some(0), requests), "{}", done.stderr);
        assert!(done.stderr.contains("the provider refused 1 request: "), "{}", done.stderr);
    }
    assert_eq!(planned(&field, &run).await["calls"], 0);
    let again = [&run[..], &["--retry-failed"]].concat();
    assert_eq!(planned(&field, &again).await["calls"], 1);
    field.done(&again).await;
    assert_eq!(field.requests("one"), QUESTIONS + 1);
    assert!(!field.run(&run).await.stderr.contains("refused"), "it is answered");
}

#[actix_web::test]
async fn a_dry_run_names_the_models_without_prices() {
    let field = alignbench().await;
    field.edit("input_price", "# input_price");
    for run in [&["bench", "run", "alignbench"][..], &["bench", "run", "all"]] {
        let planned = field.run(&[run, &["--judge", "judge", "--models", "two,one", "--dry-run"]].concat()).await;
        assert_eq!(planned.code, Some(0), "{planned:?}");
        assert!(
            planned.stderr.contains("no prices for judge, one, two: set them with langya models set"),
            "{planned:?}"
        );
    }
    let refused = field.run(&["bench", "report", "alignbench", "--canaries"]).await;
    assert!(refused.code == Some(2) && refused.stderr.contains("unexpected argument '--canaries'"), "{refused:?}");
}
