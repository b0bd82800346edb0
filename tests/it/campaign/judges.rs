//! Judge models on the same pairs of answers as people: the real program, judges scripted over real HTTP.

use langya::domain::campaign::assignment::CampaignShape;
use langya::domain::time::Timestamp;
use langya::infra::storage::{AssignmentLimit, AssignmentRequest, NewCampaignJudgement, Store};
use serde_json::{Value, json};

use crate::bench::{Field, question, reply};
use crate::support::upstream::Script;

const FILE: &str = "[campaign]\nid = \"pilot\"\ntitle = \"Which?\"\nanswers = \"answers.jsonl\"\ntask = \"pairwise\"\n\
     judgements_per_item = 2\noverlap_share = 1.0\nseed = 7\n";
const RUN: [&str; 6] = ["judge", "run", "--judge", "judge", "--campaign", "pilot"];

/// Six items; the answer of m1 is the better one on the first four.
fn answers() -> String {
    let lines = (0..6).flat_map(|item| {
        [("m1", item < 4), ("m2", item >= 4)].map(move |(model, good)| {
            let answer = format!("«{}» {model}", u8::from(good));
            json!({"item": format!("q{item}"), "prompt": format!("Why {item} {{conversation_a}}?"), "model": model, "answer": answer})
        })
    });
    lines.map(|line| format!("{line}\n")).collect()
}

/// A judge that prefers what says «1».
fn fair(prompt: &str) -> Script {
    let numbers: Vec<&str> = prompt.split('«').skip(1).filter_map(|rest| Some(rest.split_once('»')?.0)).collect();
    reply(if numbers[0] > numbers[1] { "[[A]]" } else { "[[B]]" })
}

/// A field with a campaign that two people have judged but for its last item: the first always sees the better answer, the second
/// prefers m1 everywhere.
async fn judged_field() -> Field {
    let field = Field::empty(&[]).await;
    field.respond("judge", |request, _| fair(question(request)));
    field.write("pilot.toml", FILE);
    field.write("answers.jsonl", answers());
    field.done(&["campaign", "create", "pilot.toml"]).await;
    field.done(&["campaign", "invite", "pilot", "--count", "2"]).await;
    field.done(&["campaign", "open", "pilot"]).await;
    let store = field.store().await;
    for annotator in ["pilot-1", "pilot-2"] {
        judge_five(&store, annotator).await;
    }
    store.close().await;
    field
}

async fn judge_five(store: &Store, annotator: &str) {
    for number in 0..5 {
        let (id, judgement_id) = (format!("a-{annotator}-{number}"), format!("j-{annotator}-{number}"));
        let shape = CampaignShape { items: 6, shared_units: 6, repeat_share: 0.0 };
        let request = AssignmentRequest {
            campaign: "pilot",
            annotator,
            id: &id,
            shape,
            needed: 2,
            seed: 7,
            room: AssignmentLimit::ForAll,
            now: Timestamp(3),
        };
        let row = store.next_assignment(request).await.unwrap().assignment.unwrap();
        let texts = store.campaign_item("pilot", row.item).await.unwrap();
        let wanted = if annotator == "pilot-1" {
            ["m1", "m2"].into_iter().find(|model| texts.answer(model).contains("«1»"))
        } else {
            Some("m1")
        };
        let said = if row.shown[0] == wanted.unwrap() { "a" } else { "b" };
        let judgement = format!("{{\"outcome\":\"{said}\"}}");
        let new = NewCampaignJudgement {
            id: &judgement_id,
            annotator,
            assignment: &id,
            judgement: &judgement,
            answers: "",
            vote: None,
            now: Timestamp(4),
        };
        store.insert_campaign_judgement(new).await.unwrap();
    }
}

async fn report(field: &Field) -> Value {
    serde_json::from_str(&field.done(&["campaign", "report", "pilot", "--format", "json"]).await).unwrap()
}

#[actix_web::test]
async fn judges_are_asked_once_about_what_people_judged_and_compared_with_them() {
    let field = judged_field().await;
    let plan = field.done(&[&RUN[..], &["--dry-run", "--format", "json"]].concat()).await;
    let plan: Value = serde_json::from_str(&plan).unwrap();
    assert_eq!((field.requests("judge"), &plan[0]["calls"]), (0, &json!(10)), "{plan}");

    // The budget ends the run; the next one goes on.
    field.run(&[&RUN[..], &["--max-calls", "3"]].concat()).await;
    assert_eq!(field.requests("judge"), 3);
    field.done(&RUN).await;
    field.done(&RUN).await;
    assert_eq!((field.requests("judge"), field.repeated("judge")), (10, 0));

    let report = report(&field).await;
    let judge = &report["judges"][0];
    let rate = |key: &str| (judge[key]["of"].as_u64().unwrap(), judge[key]["total"].as_u64().unwrap());
    assert_eq!((rate("judged"), rate("consistent")), ((5, 5), (5, 5)), "{judge}");
    // The second person disagrees on those of the last two items that were judged.
    let upset = if judge["agreement"] == json!(0.8) { 2 } else { 1 };
    assert_eq!(
        (&judge["judgements"], &judge["agreement"]),
        (&json!(10), &json!(1.0 - f64::from(upset) / 10.0)),
        "{judge}"
    );
    assert_eq!((&judge["people_pairs"], &judge["people_agreement"]), (&json!(5), &json!(1.0 - f64::from(upset) / 5.0)));
    assert!(judge["agreement_interval"][0].is_f64() && judge["kappa"].is_f64(), "{judge}");
    field.done(&["campaign", "report", "pilot", "--out", "out"]).await;
    let markdown = std::fs::read_to_string(field.path().join("out/pilot.md")).unwrap();
    assert!(markdown.contains("## Judge models") && markdown.contains("| judge | 10 |"), "{markdown}");
}

#[actix_web::test]
async fn verdicts_on_a_campaign_are_a_series() {
    let field = judged_field().await;
    field.write("table.csv", "model,worth\nm1,9\nm2,7\n");
    let correlate = ["correlate", "--table", "table.csv", "--x", "campaign:pilot@judge", "--y", "worth"];
    let refused = field.refused(&correlate).await;
    assert!(refused.contains("judge run --campaign pilot --judge judge"), "{refused}");
    field.done(&RUN).await;
    let run = field.run(&correlate).await;
    // Two models are too few for a coefficient, and enough for a series.
    assert!(!run.stderr.contains("judged nothing"), "{}", run.stderr);
    let all =
        field.run(&["correlate", "--table", "table.csv", "--x", "campaign:pilot@judge", "--y", "campaign:pilot"]).await;
    assert!(!all.stderr.contains("judged nothing"), "{}", all.stderr);
}

#[actix_web::test]
async fn only_campaigns_of_pairs_are_judged_by_models() {
    let field = Field::empty(&[]).await;
    field.write("pilot.toml", FILE.replace("pairwise", "score"));
    field.write("answers.jsonl", answers());
    field.done(&["campaign", "create", "pilot.toml"]).await;
    let refused = field.refused(&RUN).await;
    assert!(refused.contains("task \"score\", and judges compare two answers"), "{refused}");
    let unknown = field.refused(&["judge", "run", "--judge", "judge", "--campaign", "nowhere"]).await;
    assert!(unknown.contains("no campaign \"nowhere\""), "{unknown}");
}
