//! Campaigns that ask models themselves: the cost first, then the answers under a budget, and nothing paid for twice.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::bench::faults::passing_fault;
use crate::bench::{AT_ONCE, Field, question, reply, reply_behind};
use crate::support::arena::TestArena;
use crate::support::program::UnderWay;
use crate::support::upstream::{Gate, Script};
use crate::support::visitor::get;

const PROMPTS: usize = 12;
const FILE: &str = "[campaign]\nid = \"pilot\"\ntitle = \"Which?\"\nanswers = \"ask:prompts.jsonl\"\ntask = \"pairwise\"\n\
     models = [\"one\", \"two\"]\nbudget = 100\n";
const CREATE: [&str; 3] = ["campaign", "create", "pilot.toml"];

fn says(model: &str, asked: &str) -> String {
    format!("{model} says of {asked}")
}

fn write_prompts(field: &Field, count: usize) {
    let line =
        |item: usize| json!({"item": format!("q{item}"), "prompt": format!("Question {item}?"), "reference": "R."});
    field.write("prompts.jsonl", (0..count).map(|item| format!("{}\n", line(item))).collect::<String>());
}

/// Two models that answer, and the campaign's files.
async fn field(file: &str) -> Field {
    let field = Field::empty(&["one", "two"]).await;
    for model in ["one", "two"] {
        field.respond(model, move |request, _| reply(&says(model, question(request))));
    }
    write_prompts(&field, PROMPTS);
    field.write("pilot.toml", file);
    field
}

/// The models' answers of each item of the campaign.
async fn answers(field: &Field, items: i64) -> Vec<(String, Vec<(String, String)>)> {
    let store = field.store().await;
    let mut all = Vec::new();
    for item in 0..items {
        let texts = store.campaign_item("pilot", item).await.unwrap();
        all.push((texts.prompt, texts.answers));
    }
    store.close().await;
    all
}

#[actix_web::test]
async fn the_cost_is_said_before_and_the_campaign_has_what_the_models_answered() {
    let field = field(FILE).await;
    let planned = field.done(&[&CREATE[..], &["--dry-run", "--format", "json"]].concat()).await;
    assert!(!field.path().join("data").exists(), "a dry run makes no database");
    let planned: Value = serde_json::from_str(&planned).unwrap();
    let total = &planned["asking"][2];
    assert_eq!((&planned["state"], &planned["units"], &total["calls"]), (&json!("not made"), &json!(12), &json!(24)));
    assert!(total["cost"].as_f64().unwrap() > 0.0, "{planned}");
    let table = field.done(&[&CREATE[..], &["--dry-run"]].concat()).await;
    assert!(table.contains("AT MOST") && table.contains("pilot (not made)"), "{table}");
    assert_eq!(field.requests("one") + field.requests("two"), 0, "nothing is asked");

    let created = field.done(&[&CREATE[..], &["--format", "json"]].concat()).await;
    let created: Value = serde_json::from_str(&created).unwrap();
    assert_eq!((&created["state"], &created["models"], &created["asking"]), (&json!("draft"), &json!(2), &Value::Null));
    for (prompt, answers) in answers(&field, 12).await {
        let expected = ["one", "two"].map(|model| (model.to_owned(), says(model, &prompt)));
        assert_eq!(answers, expected);
    }
    let again = field.refused(&CREATE).await;
    assert!(again.contains("there is a campaign \"pilot\" already"), "{again}");
    field.done(&["campaign", "delete", "pilot"]).await;
    field.done(&CREATE).await;
    assert_eq!((field.requests("one"), field.repeated("one")), (12, 0), "what was paid for is kept");
    // One more prompt is one more question to each.
    field.done(&["campaign", "delete", "pilot"]).await;
    write_prompts(&field, PROMPTS + 1);
    field.done(&CREATE).await;
    assert_eq!((field.requests("two"), field.repeated("two")), (13, 0));
}

#[actix_web::test]
async fn a_budget_that_is_reached_leaves_the_campaign_unmade_and_the_same_command_goes_on() {
    let field = field(&FILE.replace("budget = 100", "max_calls = 7")).await;
    let stopped = field.run(&CREATE).await;
    assert_eq!(stopped.code, Some(1), "{}", stopped.stderr);
    assert!(stopped.stderr.contains("--max-calls 7 is reached") && stopped.stderr.contains("17 results are left"));
    assert!(stopped.stderr.contains("campaign pilot is created once all models have answered"), "{}", stopped.stderr);
    assert_eq!(field.done(&["campaign", "list", "--format", "json"]).await.trim(), "[]");
    let planned = field.done(&[&CREATE[..], &["--dry-run", "--format", "json"]].concat()).await;
    let planned: Value = serde_json::from_str(&planned).unwrap();
    assert_eq!((&planned["asking"][2]["done"], &planned["asking"][2]["calls"]), (&json!(7), &json!(17)));
    // Half a cent is for the whole of a campaign that costs more; what is there is kept.
    let refused = field.run(&[&CREATE[..], &["--max-calls", "100", "--budget", "0.001"]].concat()).await;
    assert!(refused.code == Some(1) && refused.stderr.contains("--budget 0.001 is reached"), "{}", refused.stderr);
    field.done(&[&CREATE[..], &["--max-calls", "100"]].concat()).await;
    assert_eq!((field.requests("one") + field.requests("two"), field.repeated("one") + field.repeated("two")), (24, 0));
}

#[actix_web::test]
async fn faults_that_pass_are_passed_and_a_kill_loses_no_answer_that_was_kept() {
    let field = field(FILE).await.with_short_timeouts();
    let gate = Gate::new();
    for model in ["one", "two"] {
        let gate = gate.clone();
        field.respond(model, move |request, times| {
            let asked = question(request);
            let said = says(model, asked);
            // The last ones come only after the kill.
            let is_late = asked.contains("10?") || asked.contains("11?");
            let whole = || if is_late && times == 1 { reply_behind(&gate, &said) } else { reply(&said) };
            passing_fault(asked, times).unwrap_or_else(whole)
        });
    }
    let run = UnderWay::start(field.path(), &CREATE);
    field.upstream.until_received(2 * PROMPTS - 2 * AT_ONCE).await;
    run.kill();
    gate.open();
    let planned = field.done(&[&CREATE[..], &["--dry-run", "--format", "json"]].concat()).await;
    let planned: Value = serde_json::from_str(&planned).unwrap();
    let kept = planned["asking"][2]["done"].as_u64().unwrap();
    let before = field.requests("one") + field.requests("two");
    field.done(&CREATE).await;
    let after = field.requests("one") + field.requests("two");
    assert!(kept > 0 && after > before, "{kept} kept, {before} requests before, {after} after");
    let made = answers(&field, 12).await;
    assert!(made.iter().all(|(prompt, given)| given[0].1 == says("one", prompt) && given[1].1 == says("two", prompt)));
    // What was kept is asked no more: of what is left, each fails once at most.
    let most = 2 * (24 - usize::try_from(kept).unwrap());
    assert!(after - before <= most, "{} requests for {} answers", after - before, 24 - kept);
}

#[actix_web::test]
async fn what_a_provider_refuses_is_left_out_for_all_models_and_asked_again_on_demand() {
    let field = field(FILE).await;
    field.respond("two", |request, times| match question(request) {
        "Question 3?" if times == 1 => Script::whole("400 Bad Request", "", "filtered"),
        asked => reply(&says("two", asked)),
    });
    let made = field.run(&CREATE).await;
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    assert!(made.stderr.contains("can be shown: 1 of 12 prompts"), "{}", made.stderr);
    assert!(answers(&field, 11).await.iter().all(|(prompt, _)| prompt != "Question 3?"));
    field.done(&["campaign", "delete", "pilot"]).await;
    field.done(&[&CREATE[..], &["--retry-failed"]].concat()).await;
    assert!(answers(&field, 12).await.iter().any(|(prompt, _)| prompt == "Question 3?"));
}

#[actix_web::test]
async fn what_cannot_be_asked_is_refused_before_anything_is_paid_for() {
    let field = field(FILE).await;
    for (from, to, words) in [
        ("\"two\"]", "\"tow\"]", "there is no model \"tow\""),
        ("\"two\"]", "\"one\"]", "model one is named twice"),
        (", \"two\"", "", "only \"one\" answers it"),
        ("models = [\"one\", \"two\"]\n", "", "models: name the models to ask"),
        ("budget = 100\n", "", "models are asked under a budget"),
        ("budget = 100\n", "budget = -1\n", "budget: write an amount from 0"),
        ("ask:prompts.jsonl", "prompts.jsonl", "models: a file of answers names its own models"),
        ("ask:prompts.jsonl", "ask:none.jsonl", "none.jsonl"),
    ] {
        field.write("pilot.toml", FILE.replace(from, to));
        let run = field.run(&CREATE).await;
        assert!(run.code == Some(2) && run.stderr.contains(words), "{words}: {}", run.stderr);
    }
    field.write("pilot.toml", FILE);
    let line = |text: Value| field.write("prompts.jsonl", format!("{text}\n"));
    let talk = json!([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes?"}]);
    line(json!({"item": "q", "conversation": talk}));
    let refused = field.refused(&CREATE).await;
    assert!(refused.contains("prompts.jsonl: line 1: nothing is asked at its end"), "{refused}");
    line(json!({"item": "q", "conversation": [{"role": "wizard", "content": "Hi"}]}));
    assert!(field.refused(&CREATE).await.contains("role"));
    assert_eq!(field.requests("one") + field.requests("two"), 0);
}

#[actix_web::test]
async fn nobody_finds_what_a_campaign_asked_among_the_benchmarks() {
    let field = field(FILE).await;
    field.done(&CREATE).await;
    assert!(!field.done(&["bench", "list", "--format", "json"]).await.contains("campaign:"));
    let report = field.run(&["bench", "report", "campaign:pilot"]).await;
    assert!(report.code == Some(2) && report.stderr.contains("unknown"), "{}", report.stderr);
    let data = field.path().join("data");
    let arena = TestArena::start_with(&[], |settings| settings.storage.data_dir = data).await;
    let page = get(&format!("{}/benchmarks", arena.url)).await.text().await.unwrap();
    assert!(!page.contains("campaign:pilot"), "{page}");
    for path in ["/benchmarks/campaign:pilot", "/api/v1/benchmarks/campaign:pilot"] {
        assert_eq!(get(&format!("{}{path}", arena.url)).await.status(), StatusCode::NOT_FOUND, "{path}");
    }
    arena.end().await;
}
