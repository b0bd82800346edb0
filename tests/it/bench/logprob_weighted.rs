//! Scores weighted by the judge's own probabilities, from end to end: asked for, kept, read again, shown in reports and on the page of an
//! item.

use langya::domain::benchmark::scores::judgement::Judgement;
use langya::domain::judging::verdict::{Rating, Verdict};
use langya::infra::storage::{AnswerRound, BenchFilter, IncludeText};
use serde_json::{Value, json};

use super::{Field, reply};
use crate::support::program::Server;
use crate::support::upstream::{Received, Script};
use crate::support::visitor::get;

const RUN: [&str; 6] = ["run", "alignbench", "--models", "one", "--judge", "judge,terse"];

/// A chunk with one token and what could have stood in its place.
fn token(text: &str, alternatives: &[(&str, f64)]) -> String {
    let logprob = |share: f64| share.ln();
    let others: Vec<Value> =
        alternatives.iter().map(|(token, share)| json!({"token": token, "logprob": logprob(*share)})).collect();
    let own = alternatives.iter().find(|(token, _)| *token == text).map_or(1.0, |(_, share)| *share);
    let content = json!([{"token": text, "logprob": logprob(own), "top_logprobs": others}]);
    json!({"choices": [{"index": 0, "delta": {"content": text}, "logprobs": {"content": content}}]}).to_string()
}

/// The judge says 7 for correctness and 6 for the whole, and might have said 8 or, one time in ten, nothing that is a number. It
/// returns probabilities only if they are asked for.
fn judged(request: &Received) -> Script {
    if (&request.body["logprobs"], &request.body["top_logprobs"]) != (&json!(true), &json!(20)) {
        return reply("{'事实正确性': 7, '综合得分': 6}");
    }
    [
        token("{'事实正确性': ", &[]),
        token("7", &[("7", 0.5), ("2", 0.5)]),
        token(", '综合得分': ", &[]),
        token("6", &[("6", 0.6), ("8", 0.3), ("none", 0.1)]),
        token("}", &[]),
    ]
    .iter()
    .fold(Script::stream(), |script, chunk| script.event(chunk))
    .event("[DONE]")
    .end()
}

/// Two items, one model, a judge whose provider returns probabilities and one whose provider does not.
async fn field() -> Field {
    let field = Field::with_judge(&["one", "terse"], |request, _| judged(request)).await;
    field.respond("terse", |_, _| reply("{'事实正确性': 7, '综合得分': 6}"));
    let line = |id: usize| {
        let item = json!({"question_id": id, "category": "数学计算", "subcategory": "初等数学",
            "question": format!("第{id}题"), "reference": "参考"});
        format!("{item}\n")
    };
    field.write("a.jsonl", (1..=2).map(line).collect::<String>());
    field.done(&["import", "suite", "alignbench", "a.jsonl"]).await;
    field
}

async fn judgements(field: &Field, sample: u32) -> Vec<Judgement> {
    let store = field.store().await;
    let set = AnswerRound { sample, ..field.set(&store, "alignbench").await };
    let rows = store.bench_judgements(&set, BenchFilter::ALL, IncludeText::Yes).await.unwrap();
    store.close().await;
    rows.into_iter().filter(|row| row.variant.starts_with("logprob_weighted")).map(|row| row.judgement).collect()
}

fn rating(judgement: &Judgement) -> &Rating {
    match judgement.parsed.as_ref().unwrap() {
        Verdict::Rating(rating) => rating,
        other => panic!("{other:?}"),
    }
}

/// 6 and 8 with 0.6 and 0.3 of what is a number.
const EXPECTED: f64 = (6.0 * 0.6 + 8.0 * 0.3) / 0.9;

#[track_caller]
fn check(judgements: &[Judgement], count: usize) {
    assert_eq!(judgements.len(), 2 * count, "{judgements:?}");
    for judgement in judgements {
        let rating = rating(judgement);
        let expected = match judgement.judge_model.as_str() {
            "judge" => (EXPECTED, Some(6.0)),
            _ => (6.0, None),
        };
        assert!((rating.score - expected.0).abs() < 1e-12 && rating.written == expected.1, "{judgement:?}");
        assert_eq!(rating.dimensions, [("事实正确性".to_owned(), 7.0)].into(), "dimensions are as written");
    }
}

#[actix_web::test]
async fn scores_are_weighted_by_the_probabilities_of_a_judge_that_tells_them() {
    let field = field().await;
    let bench = async |arguments: &[&str], more: &[&str]| {
        field.done(&[&["bench"], arguments, &["--ablation", "logprob_weighted"], more].concat()).await
    };
    bench(&RUN, &[]).await;
    check(&judgements(&field, 1).await, 2);
    let asked = field.requests("judge") + field.requests("terse");
    bench(&RUN, &["--round", "2"]).await;
    assert_eq!(field.requests("judge") + field.requests("terse"), asked, "the same prompt is not asked again");
    check(&judgements(&field, 2).await, 2);
    let report = ["report", "alignbench", "--judge", "judge"];
    let read_otherwise = bench(&report, &["--compat", "alignbench.official_parser", "--format", "json"]).await;
    let rows: Value = serde_json::from_str(&read_otherwise).unwrap();
    let overall = rows.as_array().unwrap().iter().find(|row| row["part"] == "数学计算").unwrap()["score"].as_f64();
    assert!((overall.unwrap() - EXPECTED).abs() < 1e-9, "read again by another parser, with the probabilities: {rows}");
    let table = bench(&["report", "alignbench"], &["--format", "markdown"]).await;
    let (_, found) = table.split_once("Scores weighted by probability").unwrap();
    assert!(found.contains("| judge | 2 | 2 | 6.000 | 6.667 | 0.667 |"), "{found}");
    assert!(found.contains("| terse | 2 | 0 |"), "{found}");
    let server = Server::start(field.path(), &["--config", "langya.toml"]);
    let page = async |language: &str| {
        let path = format!("/benchmarks/alignbench/items/1?variant=logprob_weighted&lang={language}");
        get(&format!("{}{path}", server.url)).await.text().await.unwrap()
    };
    assert!(page("en").await.contains("6.67 (weighted by probability; the judge wrote 6)"));
    assert!(page("zh").await.contains("6.67（按概率加权；裁判写的是 6）"));
}

/// Probabilities are another request: what was judged without them is asked again, and stays as it was.
#[actix_web::test]
async fn what_was_judged_without_probabilities_is_kept_apart() {
    let field = field().await;
    field.done(&[&["bench"], RUN.as_slice()].concat()).await;
    let asked = field.requests("judge");
    field.done(&[&["bench"], RUN.as_slice(), &["--ablation", "logprob_weighted"]].concat()).await;
    assert_eq!(field.requests("judge"), 2 * asked);
    check(&judgements(&field, 1).await, 2);
    let plain = field.scores("alignbench").await;
    assert_eq!(plain[&("one".to_owned(), "数学计算".to_owned())], Some(6.0), "{plain:?}");
}
