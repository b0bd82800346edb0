//! Multiple-choice items out of open questions: drafts by a scripted model, decisions of reviewers, and the data that comes out.

use serde_json::{Value, json};

use super::faults::passing_fault;
use super::{AT_ONCE, Field, question, reply, reply_behind};
use crate::support::program::UnderWay;
use crate::support::upstream::Gate;

const CAPABILITIES: [&str; 3] = ["闲聊", "计算", "安全"];

fn stem(id: usize) -> String {
    format!("第{id}题：\"{{x}}\"\n是几？")
}

/// The number of the question that a request is about.
fn id_of(prompt: &str) -> usize {
    let (_, rest) = prompt.rsplit_once('第').unwrap();
    rest.split_once('题').unwrap().0.parse().unwrap()
}

fn draft(id: usize) -> String {
    let options = json!({"A": id.to_string(), "B": "乙", "C": "丙", "D": "丁"});
    format!("好的：\n```json\n{}\n```", json!({"问题": format!("{}选一个", stem(id)), "选项": options, "答案": "A"}))
}

/// So many open questions, of which every second one has a follow-up.
async fn field(questions: usize) -> Field {
    let field = Field::empty(&["one"]).await;
    let line = |id: usize| {
        let turns: Vec<String> = [stem(id), "为什么？".to_owned()].into_iter().take(1 + id % 2).collect();
        format!("{}\n", json!({"id": id, "capability": CAPABILITIES[id % 3], "turns": turns}))
    };
    field.write("open.jsonl", (1..=questions).map(line).collect::<String>());
    field
}

const CONSTRUCT: [&str; 7] = ["bench", "construct", "open.jsonl", "--model", "one", "--out", "drafts.jsonl"];

fn lines(field: &Field, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(field.path().join(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

async fn constructed(field: &Field, further: &[&str]) -> (Option<i32>, Value) {
    let arguments = [&CONSTRUCT[..], further, &["--format", "json"]].concat();
    let run = field.run(&arguments).await;
    let rows: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}{}", run.stdout, run.stderr));
    (run.code, rows[0].clone())
}

#[actix_web::test]
async fn what_reviewers_accept_becomes_a_suite() {
    let field = field(12).await.with_short_timeouts();
    field.respond("one", |request, times| {
        let prompt = question(request);
        passing_fault(prompt, times).unwrap_or_else(|| reply(&draft(id_of(prompt))))
    });
    let (code, row) = constructed(&field, &[]).await;
    assert_eq!((code, &row["made"], &row["left"]), (Some(0), &json!(12), &json!(0)), "{row}");
    // 1 and 2 pass, 2 with a revision; 3 falls in stage 2; 4 waits for cyn in stage 1; nobody has looked at the others.
    let mut reviews = String::from("\u{feff}id,stage,reviewer,decision,question,options,answer\r\n");
    for stage in 1..=3 {
        for reviewer in ["ann", "bob"] {
            reviews += &format!("1,{stage},{reviewer},accept,,,\r\n");
        }
    }
    reviews +=
        "2,1,bob,reject,,,\r\n2,1,ann,revise,\"新题，\r\n{y}？\",A. 甲 B. 乙 C. 丙 D. 丁,C\r\n2,1,cyn,accept,,,\r\n";
    reviews += "2,2,ann,accept,,,\r\n2,2,bob,accept,,,\r\n2,3,ann,accept,,,\r\n2,3,bob,accept,,,\r\n";
    reviews += "3,1,ann,accept,,,\r\n3,1,bob,accept,,,\r\n3,2,ann,reject,,,\r\n3,2,bob,reject,,,\r\n";
    field.write("first.csv", reviews + "4,1,ann,accept,,,\r\n5,1,cyn,,,,\r\n");
    field.write("second.jsonl", "{\"id\": 4, \"stage\": 1, \"reviewer\": \"bob\", \"decision\": \"reject\"}\n");
    let review = ["bench", "review", "drafts.jsonl", "first.csv", "second.jsonl", "--out", "close.jsonl"];
    let run = field.run(&[&review[..], &["--format", "json"]].concat()).await;
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("2 accepted, 1 rejected, 9 waiting, 0 could not be read"), "{}", run.stderr);
    let stands: Value = serde_json::from_str(&run.stdout).unwrap();
    let stand = |id: &str| stands.as_array().unwrap().iter().find(|row| row["id"] == id).unwrap();
    assert_eq!(*stand("3"), json!({"id": "3", "state": "rejected", "stage": 2, "waits_for": []}));
    assert_eq!(*stand("4"), json!({"id": "4", "state": "waiting", "stage": 1, "waits_for": ["cyn"]}));
    assert_eq!(*stand("5"), json!({"id": "5", "state": "waiting", "stage": 1, "waits_for": ["ann", "bob", "cyn"]}));
    let mut items = lines(&field, "close.jsonl");
    items.sort_by_key(|item| item["id"].to_string());
    let first = json!({"A": "1", "B": "乙", "C": "丙", "D": "丁"});
    let second = json!({"A": "甲", "B": "乙", "C": "丙", "D": "丁"});
    let item = |id: usize, question: String, options: &Value, answer: &str| json!({"id": id.to_string(), "capability": CAPABILITIES[id % 3], "question": question, "options": options, "answer": answer});
    let revised = item(2, "新题，\r\n{y}？".to_owned(), &second, "C");
    assert_eq!(items, [item(1, format!("{}选一个", stem(1)), &first, "A"), revised]);
    let imported = field.done(&["import", "suite", "superclue-close", "close.jsonl"]).await;
    assert!(imported.contains("2 items of superclue-close imported"), "{imported}");
}

#[actix_web::test]
async fn a_killed_run_goes_on_and_asks_nothing_twice_that_is_in_the_file() {
    const QUESTIONS: usize = 20;
    let field = field(QUESTIONS).await;
    let gate = Gate::new();
    let closed = gate.clone();
    field.respond("one", move |request, _| match id_of(question(request)) {
        id if id <= 8 => reply(&draft(id)),
        id => reply_behind(&closed, &draft(id)),
    });
    let under_way = UnderWay::start(field.path(), &CONSTRUCT);
    field.upstream.until_received(8 + AT_ONCE).await;
    let second = field.refused(&CONSTRUCT).await;
    assert!(second.contains("another langya writes to it"), "{second}");
    under_way.kill();
    gate.open();
    let kept = lines(&field, "drafts.jsonl").len();
    assert_eq!(kept, 8);
    let path = field.path().join("drafts.jsonl");
    let torn = std::fs::read_to_string(&path).unwrap() + "{\"id\":\"9\",\"capab";
    std::fs::write(&path, torn).unwrap();
    let (code, row) = constructed(&field, &["--max-calls", "5"]).await;
    assert_eq!((code, &row["before"], &row["made"], &row["left"]), (Some(0), &json!(8), &json!(5), &json!(7)));
    let (code, row) = constructed(&field, &[]).await;
    assert_eq!((code, &row["before"], &row["made"], &row["left"]), (Some(0), &json!(13), &json!(7), &json!(0)));
    assert_eq!(field.repeated("one"), AT_ONCE, "what was under way when it was killed is asked again");
    let mut ids: Vec<usize> =
        lines(&field, "drafts.jsonl").iter().map(|line| line["id"].as_str().unwrap().parse().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, (1..=QUESTIONS).collect::<Vec<_>>());
}

#[actix_web::test]
async fn a_reply_that_is_no_draft_and_a_refusal_are_kept_as_that() {
    let field = field(3).await;
    field.respond("one", |request, _| match id_of(question(request)) {
        1 => reply("我不会 {改写}"),
        2 => crate::support::upstream::Script::whole("400 Bad Request", "", "filtered"),
        id => reply(&draft(id)),
    });
    let (code, row) = constructed(&field, &[]).await;
    let numbers = ["before", "made", "unreadable", "left"].map(|name| row[name].as_u64().unwrap());
    assert_eq!((code, numbers), (Some(0), [0, 1, 2, 0]), "{row}");
    assert!(row["failed"].as_str().unwrap().contains("refuses the request"), "{row}");
    assert_eq!(field.requests("one"), 3 + 1 + 1, "asked twice more for the form");
    let drafts = lines(&field, "drafts.jsonl");
    let unread: Vec<&Value> = drafts.iter().filter(|line| line["id"] == "1").collect();
    let attempts: Vec<&Value> = unread.iter().map(|line| &line["attempt"]).collect();
    assert_eq!(attempts, [&json!(1), &json!(2), &Value::Null], "each reply is a line");
    let unread = unread[2];
    assert_eq!((&unread["raw"], &unread["question"]), (&json!("我不会 {改写}"), &Value::Null));
    let refused = drafts.iter().find(|line| line["id"] == "2").unwrap();
    assert!(refused["raw"] == "" && refused["reason"].as_str().unwrap().contains("status 400"), "{refused}");
    assert!(unread["reason"].as_str().unwrap().contains("no JSON object"), "{unread}");
    field.write("reviews.csv", "id,stage,reviewer,decision\n1,1,ann,accept\n");
    let review = ["bench", "review", "drafts.jsonl", "reviews.csv", "--out", "close.jsonl"];
    assert!(field.refused(&review).await.contains("line 2: there is no draft \"1\""));

    field.respond("one", |request, _| reply(&draft(id_of(question(request)))));
    let (code, row) = constructed(&field, &[]).await;
    assert_eq!((code, &row["before"], &row["made"]), (Some(0), &json!(3), &json!(0)), "{row}");
    let (_, row) = constructed(&field, &["--retry-failed"]).await;
    assert_eq!((&row["before"], &row["made"]), (&json!(1), &json!(2)), "{row}");
    let (_, row) = constructed(&field, &["--retry-failed"]).await;
    assert_eq!(row["before"], json!(3), "the last line of an id counts: {row}");
    field.done(&review).await;
    assert!(!field.path().join("close.jsonl").exists(), "nothing is accepted yet");
}

#[actix_web::test]
async fn a_bad_row_is_refused_by_its_line_and_nothing_is_written() {
    let field = field(2).await;
    field.respond("one", |request, _| reply(&draft(id_of(question(request)))));
    field.done(&CONSTRUCT).await;
    let accepted: String =
        (1..=3).flat_map(|stage| ["ann", "bob"].map(|name| format!("1,{stage},{name},accept,,,\n"))).collect();
    let review = ["bench", "review", "drafts.jsonl", "reviews.csv", "--out", "close.jsonl"];
    for (row, said) in [
        ("9,1,ann,accept,,,", "there is no draft \"9\""),
        ("2,,ann,accept,,,", "it has no stage"),
        ("2,4,ann,accept,,,", "unknown stage 4"),
        ("2,1,,accept,,,", "it has no reviewer"),
        ("2,1,ann,maybe,,,", "decision is \"maybe\": write accept, revise or reject"),
        ("2,1,ann,revise,,,", "it revises nothing"),
        ("2,1,ann,revise,,A. 1 B. 2,A", "four different options"),
        ("1,1,cyn,accept,,,\n1,1,dan,accept,,,", "stage 1 has its 3 reviewers already, ann, bob, cyn"),
        ("2,1,ann", "another number of fields"),
    ] {
        field.write("reviews.csv", format!("id,stage,reviewer,decision,question,options,answer\n{accepted}{row}\n"));
        let refused = field.refused(&review).await;
        let line = 7 + row.lines().count();
        assert!(refused.contains(&format!("reviews.csv line {line}: ")) && refused.contains(said), "{row}: {refused}");
    }
    assert!(!field.path().join("close.jsonl").exists());
    let questions = ["bench", "construct", "open.jsonl", "--model", "one", "--out", "open.jsonl"];
    assert!(field.refused(&questions).await.contains("line 1: this is not a record"), "the questions are no drafts");
}

/// Replies that are no drafts, by question: none, one, two, forever.
#[actix_web::test]
async fn under_any_limit_every_reply_is_paid_once() {
    for limit in [1, 2, 5] {
        let field = field(8).await;
        field.respond("one", |request, times| match id_of(question(request)) {
            id if times > id % 4 && id % 4 < 3 => reply(&draft(id)),
            _ => reply("我不会"),
        });
        let mut runs = 0;
        loop {
            let before = field.requests("one");
            let (code, row) = constructed(&field, &["--max-calls", &limit.to_string()]).await;
            assert_eq!(code, Some(0), "{row}");
            assert!(field.requests("one") - before <= limit);
            assert_eq!(lines(&field, "drafts.jsonl").len(), field.requests("one"), "every reply is a line");
            runs += 1;
            if row["left"] == 0 {
                break;
            }
            assert!(runs < 40, "it never ends: {row}");
        }
        assert_eq!(field.requests("one"), 2 * (1 + 2 + 3 + 3), "limit {limit}");
    }
}
