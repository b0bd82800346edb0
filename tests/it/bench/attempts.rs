//! Replies that settle nothing: whatever ends a run, each is paid once, kept, and gone on with.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use langya::infra::config::StorageSettings;
use langya::infra::storage::{BenchFilter, IfMissing, IncludeText, Store};
use serde_json::Value;

use super::mtbench101::{Dialogue, data, dialogues};
use super::{AT_ONCE, Field, answer, number, question, quoted, reply};
use crate::support::postgres::TestDatabase;
use crate::support::program::UnderWay;
use crate::support::upstream::Script;

/// Replies with which nobody can do anything, until it is the last word.
const LAST_WORD: usize = 3;
const FORMS: u64 = 6;

/// What the server said to whom, and how often it was paid for.
#[derive(Clone, Default)]
struct Bill(Arc<Mutex<BTreeMap<String, usize>>>);

impl Bill {
    fn add(&self, key: &str) -> usize {
        let mut bill = self.0.lock().unwrap();
        let times = bill.entry(key.to_owned()).or_default();
        *times += 1;
        *times
    }

    fn all(&self) -> BTreeMap<String, usize> {
        self.0.lock().unwrap().clone()
    }

    fn sum(&self) -> usize {
        self.0.lock().unwrap().values().sum()
    }
}

/// The form of the replies to a question: so many that settle nothing come first, or there is never another.
fn form(key: &str) -> u64 {
    number(key) % FORMS
}

/// A judge's reply to an answer for the so many-th time.
fn judged(key: &str, times: usize) -> Script {
    let rated = || reply("Rating: [[7]]");
    match form(key) {
        0 => rated(),
        1 | 2 if times > 1 => rated(),
        3 if times > 2 => rated(),
        2 => reply("Rating: [[11]]"),
        4 if times > 1 => Script::whole("400 Bad Request", "", "filtered"),
        _ => reply("Who knows."),
    }
}

/// A model's reply to a question for the so many-th time.
fn answered(key: &str, times: usize) -> Script {
    let said = || reply(&answer("one", key));
    match form(key) {
        0 | 1 => said(),
        2 | 3 if times > usize::try_from(form(key)).unwrap() - 1 => said(),
        4 => Script::whole("400 Bad Request", "", "filtered"),
        _ => Script::mode("empty"),
    }
}

/// Two models' dialogues, of which the first turns in the data's own context are asked side by side.
fn some() -> Vec<Dialogue> {
    dialogues().into_iter().take(10).collect()
}

async fn field(bill: &Bill, dialogues: &[Dialogue]) -> Field {
    let field = Field::empty(&["one"]).await;
    let (answers, verdicts) = (bill.clone(), bill.clone());
    field.respond("one", move |request, _| {
        let asked = question(request);
        answered(asked, answers.add(asked))
    });
    field.respond("judge", move |request, _| {
        let key = quoted(question(request));
        judged(key, verdicts.add(key))
    });
    field.write("mt.jsonl", data(dialogues));
    field
}

const RUN: [&str; 5] = ["bench", "run", "mtbench101", "--judge", "judge"];

/// All that is kept, without ids and times.
async fn kept(store: &Store, field: &Field) -> Vec<Value> {
    let set = field.set(store, "mtbench101").await;
    let answers = store.bench_answers(&set, BenchFilter::ALL).await.unwrap();
    let judgements = store.bench_judgements(&set, BenchFilter::ALL, IncludeText::Yes).await.unwrap();
    store.clone().close().await;
    let answers = answers.into_iter().map(|row| serde_json::json!([row.item, row.turn, row.text, row.attempts]));
    let judgements = judgements.into_iter().map(|row| {
        let said = row.judgement;
        let tokens = said.tokens.map(|tokens| (tokens.prompt, tokens.reply));
        serde_json::json!([
            said.item_id,
            said.turn,
            said.status,
            said.raw_text,
            row.earlier,
            said.parsed,
            said.attempts,
            tokens
        ])
    });
    let mut kept: Vec<Value> = answers.chain(judgements).collect();
    kept.sort_by_key(ToString::to_string);
    kept
}

/// What one run without limits asks and keeps.
async fn undisturbed(dialogues: &[Dialogue]) -> (BTreeMap<String, usize>, Vec<Value>) {
    let bill = Bill::default();
    let field = field(&bill, dialogues).await;
    field.done(&["import", "suite", "mtbench101", "mt.jsonl"]).await;
    let run = field.run(&RUN).await;
    assert_eq!(run.code, Some(0), "what is refused for good is no failure: {}", run.stderr);
    assert!(run.stderr.contains("only --retry-failed sends refused requests again"), "{}", run.stderr);
    let (asked, kept) = (bill.all(), kept(&field.store().await, &field).await);
    let forms: std::collections::BTreeSet<u64> = asked.keys().map(|key| form(key)).collect();
    assert_eq!(forms.len() as u64, FORMS, "the fixture has every form");
    assert_eq!(asked.values().max(), Some(&LAST_WORD));
    let again = field.run(&RUN).await;
    assert_eq!((again.code, bill.all()), (Some(0), asked.clone()), "nothing is asked again: {}", again.stderr);
    (asked, kept)
}

#[actix_web::test]
#[ignore = "slow: tests/run runs it"]
async fn under_any_limit_every_reply_is_paid_once_and_the_end_is_the_same() {
    let dialogues = some();
    let (asked, expected) = undisturbed(&dialogues).await;
    for limit in [1, 2, 7] {
        let bill = Bill::default();
        let field = field(&bill, &dialogues).await;
        field.done(&["import", "suite", "mtbench101", "mt.jsonl"]).await;
        let most = limit.to_string();
        let limited = [&RUN[..], &["--max-calls", &most]].concat();
        for left in (0..=asked.values().sum()).rev() {
            let before = bill.sum();
            let run = field.run(&limited).await;
            assert_eq!(run.code, Some(0), "{}", run.stderr);
            assert!(bill.sum() - before <= limit, "{} requests", bill.sum() - before);
            if !run.stderr.contains("result is left") && !run.stderr.contains("results are left") {
                break;
            }
            assert!(run.stderr.contains(&format!("the limit --max-calls {limit} is reached")), "{}", run.stderr);
            assert!(left > 0, "it never ends");
        }
        assert_eq!(bill.all(), asked, "limit {limit}");
        assert_eq!(kept(&field.store().await, &field).await, expected, "limit {limit}");
    }
}

#[actix_web::test]
#[ignore = "slow: tests/run runs it"]
async fn on_postgresql_too_a_limit_loses_no_reply() {
    let Some(database) = TestDatabase::create().await else { return };
    let dialogues = some();
    let (asked, expected) = undisturbed(&dialogues).await;
    let (bill, url) = (Bill::default(), database.url.as_str());
    let field = field(&bill, &dialogues).await;
    field.done(&["import", "suite", "mtbench101", "mt.jsonl", "--database", url]).await;
    let all: usize = asked.values().sum();
    while bill.sum() < all {
        let before = bill.sum();
        field.done(&[&RUN[..], &["--max-calls", "3", "--database", url]].concat()).await;
        assert!(bill.sum() > before, "each run goes on");
    }
    field.done(&[&RUN[..], &["--database", url]].concat()).await;
    assert_eq!(bill.all(), asked);
    let settings = StorageSettings { database: url.to_owned().into(), ..StorageSettings::default() };
    let store = Store::open(&settings, IfMissing::Fail).await.unwrap();
    assert_eq!(kept(&store, &field).await, expected);
    database.drop().await;
}

/// At most what was under way is paid twice after a kill, and nothing after an interrupt.
#[actix_web::test]
#[ignore = "slow: tests/run runs it"]
async fn a_kill_or_an_interrupt_at_any_moment_loses_no_reply_that_came() {
    let dialogues = some();
    let (asked, expected) = undisturbed(&dialogues).await;
    let all: usize = asked.values().sum();
    for (signal, in_flight) in [("KILL", AT_ONCE), ("INT", 0)] {
        let bill = Bill::default();
        let field = field(&bill, &dialogues).await;
        field.done(&["import", "suite", "mtbench101", "mt.jsonl"]).await;
        let mut ended = 0;
        for moment in (2..all - AT_ONCE).step_by(3) {
            if field.upstream.received().len() >= moment {
                continue;
            }
            let run = UnderWay::start(field.path(), &RUN);
            field.upstream.until_received(moment).await;
            if signal == "KILL" {
                run.kill();
            } else {
                run.signal(signal);
                run.ended().await;
            }
            ended += 1;
        }
        assert!(ended > 5, "{ended} runs were ended");
        field.done(&RUN).await;
        assert_eq!(kept(&field.store().await, &field).await, expected, "{signal}");
        let (paid, most) = (bill.sum(), all + ended * in_flight);
        assert!((all..=most).contains(&paid), "{signal}: {paid} replies, not {all}, after {ended} of them");
        println!("{signal}: {ended} ended runs, {paid} requests instead of {all}");
    }
}
