//! Judges that reason before they reply: what they thought is kept apart, shown apart, and never a verdict.

use std::collections::BTreeMap;

use langya::domain::benchmark::scores::judgement::Status;
use langya::infra::storage::{BenchFilter, BenchJudgementRow, IncludeText};
use serde_json::{Value, json};

use super::{Field, answer, question, reply};
use crate::support::program::Server;
use crate::support::upstream::{Script, delta};
use crate::support::visitor::get;

/// What each judge thinks first, in every form in which the suite's verdicts are read.
const THOUGHT: &str = "Perhaps {'事实正确性': 10, '综合得分': 10}, or Rating: [[10]] and [[A]]. <b>Hm</b>";

fn verdict(score: usize) -> String {
    format!("好。{{'事实正确性': {score}, '综合得分': {score}}}")
}

/// The number in the question of an item.
fn item_of(prompt: &str) -> usize {
    let (_, rest) = prompt.split_once("第").unwrap();
    rest.split_once("题").unwrap().0.parse().unwrap()
}

/// A reply with reasoning in a field of its own.
fn with_field(name: &str, said: &str) -> Script {
    let thought = delta(&json!({ name: THOUGHT, "content": null }));
    Script::stream().event(&thought).text(said).event("[DONE]").end()
}

/// The forms in which reasoning comes; the last two judges never say a verdict.
fn judged(item: usize) -> Script {
    match item {
        1 => with_field("reasoning_content", &verdict(4)),
        2 => with_field("reasoning", &verdict(5)),
        3 => reply(&format!("<think>{THOUGHT}</think>\n{}", verdict(6))),
        4 => reply(&format!("{THOUGHT}\n</think>\n\n{}", verdict(7))),
        5 => with_field("reasoning_content", "I would rather not say."),
        _ => reply(&format!("<think>{THOUGHT}")),
    }
}

/// A message of Anthropic's with a thinking block before the text.
fn with_thinking_block(said: &str) -> Script {
    let event = |data: Value| format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap());
    let part = |index, delta| event(json!({"type": "content_block_delta", "index": index, "delta": delta}));
    let begun = event(json!({"type": "message_start", "message": {"id": "m", "model": "deep", "content": []}}));
    let thought = part(0, json!({"type": "thinking_delta", "thinking": THOUGHT}));
    let text = part(1, json!({"type": "text_delta", "text": said}));
    let ended = event(json!({"type": "message_stop"}));
    [begun, thought, text, ended].into_iter().fold(Script::stream(), Script::chunk).end()
}

/// Six items, answered by one model and judged by a judge of chat completions and one of Anthropic's messages.
async fn field() -> Field {
    let field = Field::empty(&["one"]).await;
    let deep = format!(
        "[[models]]\nid = \"deep\"\nprovider = \"anthropic\"\nbase_url = \"{}\"\n[bench]\n",
        field.upstream.url()
    );
    field.edit("[bench]\n", &deep);
    field.respond("one", |request, _| reply(&answer("one", question(request))));
    field.respond("judge", |request, _| judged(item_of(question(request))));
    field.respond("deep", |_, _| with_thinking_block(&verdict(8)));
    let line = |id: usize| {
        let item = json!({"question_id": id, "category": "数学计算", "subcategory": "初等数学",
            "question": format!("第{id}题"), "reference": "参考"});
        format!("{item}\n")
    };
    field.write("a.jsonl", (1..=6).map(line).collect::<String>());
    field.done(&["import", "suite", "alignbench", "a.jsonl"]).await;
    field
}

async fn judgements(field: &Field) -> BTreeMap<(String, String), BenchJudgementRow> {
    let store = field.store().await;
    let set = field.set(&store, "alignbench").await;
    let rows = store.bench_judgements(&set, BenchFilter::ALL, IncludeText::Yes).await.unwrap();
    store.close().await;
    rows.into_iter().map(|row| ((row.judgement.judge_model.clone(), row.judgement.item_id.clone()), row)).collect()
}

#[actix_web::test]
async fn what_a_judge_thought_is_kept_apart_and_is_never_its_verdict() {
    let field = field().await;
    let run = field.run(&["bench", "run", "alignbench", "--models", "one", "--judge", "judge,deep"]).await;
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    let kept = judgements(&field).await;
    let of = |judge: &str, item: usize| &kept[&(judge.to_owned(), item.to_string())];
    for (item, score) in [(1, 4.0), (2, 5.0), (3, 6.0), (4, 7.0)] {
        let parsed = serde_json::to_value(&of("judge", item).judgement.parsed).unwrap();
        assert_eq!((&parsed["score"], &parsed["rating"]["事实正确性"]), (&json!(score), &json!(score)), "item {item}");
    }
    for item in [5, 6] {
        let said = &of("judge", item).judgement;
        assert_eq!((said.status, said.attempts), (Status::ParseFailed, 3), "item {item}: {said:?}");
    }
    for item in [1, 2, 5] {
        assert_eq!(of("judge", item).reasoning, THOUGHT, "item {item}");
        assert!(!of("judge", item).judgement.raw_text.contains("[[10]]"), "item {item}");
    }
    for item in 1..=6 {
        let row = of("deep", item);
        assert_eq!((row.reasoning.as_str(), row.judgement.raw_text.as_str()), (THOUGHT, verdict(8).as_str()));
    }
    let report = field.done(&["bench", "report", "alignbench", "--judge", "judge", "--format", "json"]).await;
    let rows: Value = serde_json::from_str(&report).unwrap();
    let category = rows.as_array().unwrap().iter().find(|row| row["part"] == "数学计算").unwrap();
    assert_eq!(category["score"], json!(5.5), "the mean of four verdicts: {category}");
    reused_with_its_reasoning(&field).await;
    shown_folded_and_harmless(&field).await;
}

/// A further round of the same answers asks nobody, and keeps what was thought.
async fn reused_with_its_reasoning(field: &Field) {
    let before = field.requests("judge") + field.requests("deep");
    field.done(&["bench", "run", "alignbench", "--models", "one", "--judge", "judge,deep", "--round", "2"]).await;
    assert_eq!(field.requests("judge") + field.requests("deep"), before);
    let store = field.store().await;
    let set = langya::infra::storage::AnswerRound { sample: 2, ..field.set(&store, "alignbench").await };
    let rows = store.bench_judgements(&set, BenchFilter::ALL, IncludeText::Yes).await.unwrap();
    store.close().await;
    let first = rows.iter().find(|row| row.judgement.judge_model == "judge" && row.judgement.item_id == "1").unwrap();
    assert_eq!((first.judgement.attempts, first.reasoning.as_str()), (0, THOUGHT));
}

async fn shown_folded_and_harmless(field: &Field) {
    let server = Server::start(field.path(), &["--config", "langya.toml"]);
    let page = async |path: &str| get(&format!("{}{path}", server.url)).await.text().await.unwrap();
    for item in [1, 3] {
        let html = page(&format!("/benchmarks/alignbench/items/{item}?judge=judge")).await;
        assert!(html.contains("<summary>Reasoning before the reply</summary>"), "{html}");
        assert!(html.contains("Perhaps") && !html.contains("<b>Hm</b>"), "a judge's markup is not the page's: {html}");
        let replies: Vec<&str> = html.split("<summary>What the judge said</summary>").skip(1).collect();
        assert_eq!(replies.len(), 2, "of each judge: {html}");
        for reply in replies {
            let (said, _) = reply.split_once("</details>").unwrap();
            assert!(said.contains("综合得分") && !said.contains("Perhaps"), "without what was thought: {said}");
        }
    }
    let cut_off = page("/benchmarks/alignbench/items/6").await;
    assert!(cut_off.contains("no verdict in the requested format · after 3 requests"), "{cut_off}");
    assert!(page("/benchmarks/alignbench/items/1?lang=zh").await.contains("<summary>裁判判定前的推理</summary>"));
}

#[actix_web::test]
async fn what_an_evaluated_model_thought_is_no_part_of_its_answer() {
    let field = field().await;
    field.respond("one", |request, _| match item_of(question(request)) {
        1 => reply(&format!("<think>{THOUGHT}</think>\n\nThree.")),
        2 => reply(&format!("{THOUGHT}\n</think>\nFour.")),
        3 => reply(&format!("<think>{THOUGHT}")),
        _ => reply("Five, and never <think>six</think>."),
    });
    field.respond("judge", |request, _| {
        assert!(!question(request).contains("Perhaps"), "{}", question(request));
        reply(&verdict(7))
    });
    field.done(&["bench", "run", "alignbench", "--models", "one", "--judge", "judge"]).await;
    let store = field.store().await;
    let set = field.set(&store, "alignbench").await;
    let answers = store.bench_answers(&set, BenchFilter::ALL).await.unwrap();
    store.close().await;
    let answers: BTreeMap<String, (String, u32)> =
        answers.into_iter().map(|row| (row.item, (row.text, row.attempts))).collect();
    let expected =
        [("1", "Three.", 1), ("2", "Four.", 1), ("3", "", 3), ("4", "Five, and never <think>six</think>.", 1)];
    for (item, text, attempts) in expected {
        assert_eq!(answers[item], (text.to_owned(), attempts), "item {item}");
    }
    let kept = judgements(&field).await;
    assert_eq!(kept[&("judge".to_owned(), "3".to_owned())].judgement.status, Status::EmptyAnswer);
}
