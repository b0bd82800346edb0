//! What providers do wrong: nothing of it becomes a score, and what passes is had in the end.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use langya::domain::benchmark::scores::judgement::Status;
use langya::infra::storage::{BenchFilter, IncludeText};
use serde_json::Value;

use super::mtbench101::{Dialogue, compare, data, dialogues, expected};
use super::{Field, answer, number, question, quoted, reply, score};
use crate::support::program::UnderWay;
use crate::support::upstream::Script;

/// A fault that passes, for some of the questions; the second time there is none.
pub(crate) fn passing_fault(question: &str, times: usize) -> Option<Script> {
    let kind = if times == 1 { number(question) % 11 } else { 10 };
    match kind {
        0 => Some(Script::whole("429 Too Many Requests", "retry-after: 0\r\n", "slow down")),
        1 => Some(Script::mode("err500")),
        2 => Some(Script::stream().text("Rating: [[1").reset()),
        3 => Some(Script::stream().text("I begin and").close()),
        4 => Some(Script::silence()),
        5 => Some(Script::mode("errmid")),
        6 => Some(Script::mode("garbage")),
        _ => None,
    }
}

/// What the judge makes of an answer forever.
fn fate(answer: &str) -> Result<u64, Status> {
    match number(quoted(answer)) % 13 {
        0 => Err(Status::ParseFailed),
        1 => Err(Status::OutOfRange),
        2 => Err(Status::Refused),
        _ => Ok(score(answer)),
    }
}

fn judged(prompt: &str, times: usize) -> Script {
    let again = prompt.contains("in exactly this form");
    match fate(prompt) {
        Err(Status::ParseFailed) => reply("What a [1] fine answer."),
        Err(Status::OutOfRange) => reply("Rating: [[11]]"),
        Err(_) => Script::whole("400 Bad Request", "", "filtered"),
        // Every third verdict has its form only when it is reminded of it.
        Ok(score) if score % 3 == 0 && !again => reply(&format!("I would say {score} of 10")),
        Ok(score) => {
            passing_fault(prompt, times).unwrap_or_else(|| reply(&format!("[1] says no. Rating: [[{score}]]")))
        }
    }
}

#[actix_web::test]
#[ignore = "slow: tests/run runs it"]
async fn faults_that_pass_are_passed_and_others_show_as_coverage() {
    let field = Field::with_judge(&["one", "two"], |request, times| judged(question(request), times));
    let field = field.await.with_short_timeouts();
    let silent = |asked: &str| number(asked).is_multiple_of(17);
    for model in ["one", "two"] {
        field.respond(model, move |request, times| {
            let asked = question(request);
            let said = || if silent(asked) { Script::mode("empty") } else { reply(&answer(model, asked)) };
            passing_fault(asked, times).unwrap_or_else(said)
        });
    }
    let dialogues = dialogues();
    field.write("mt.jsonl", data(&dialogues));
    field.done(&["import", "suite", "mtbench101", "mt.jsonl"]).await;
    field.done(&["bench", "run", "mtbench101", "--judge", "judge"]).await;
    let scores = field.scores("mtbench101").await;
    for model in ["one", "two"] {
        let turns = dialogues.iter().flat_map(Dialogue::judged);
        let silences: Vec<String> = turns.filter(|asked| silent(asked)).map(|asked| answer(model, asked)).collect();
        assert!(!silences.is_empty(), "the fixture has questions to which nobody knows an answer");
        let judged = |answer: &str| fate(answer).ok().filter(|_| !silences.iter().any(|silence| silence == answer));
        compare(&scores, model, &expected(&dialogues, model, judged));
    }
    every_ending_is_kept_with_the_judges_words(&field, &dialogues, silent).await;
}

async fn every_ending_is_kept_with_the_judges_words(
    field: &Field,
    dialogues: &[Dialogue],
    silent: impl Fn(&str) -> bool,
) {
    let store = field.store().await;
    let set = field.set(&store, "mtbench101").await;
    let rows = store.bench_judgements(&set, BenchFilter::ALL, IncludeText::Yes).await.unwrap();
    let mut found: BTreeMap<Status, usize> = BTreeMap::new();
    for row in &rows {
        let said = &row.judgement;
        *found.entry(said.status).or_default() += 1;
        match said.status {
            Status::Ok => assert!(said.raw_text.contains("Rating: [[") && said.attempts >= 1),
            Status::ParseFailed | Status::OutOfRange => {
                assert_eq!((row.earlier.len(), said.attempts), (2, 3), "asked again twice");
                assert!(!said.raw_text.is_empty() && said.parsed.is_none());
            }
            Status::Refused => assert_eq!((said.raw_text.as_str(), said.attempts), ("", 1)),
            Status::EmptyAnswer => assert_eq!(said.attempts, 0, "nobody is asked about nothing"),
            Status::TransportFailed => panic!("every fault of the transport passes"),
        }
    }
    let mut expected: BTreeMap<Status, usize> = BTreeMap::new();
    for model in ["one", "two"] {
        for asked in dialogues.iter().flat_map(Dialogue::judged) {
            let status = if silent(asked) {
                Status::EmptyAnswer
            } else {
                fate(&answer(model, asked)).err().unwrap_or(Status::Ok)
            };
            *expected.entry(status).or_default() += 1;
        }
    }
    assert_eq!(found, expected);
    assert_eq!(found.len(), 5, "the fixture has every ending but one: {found:?}");
}

#[actix_web::test]
#[ignore = "slow: tests/run runs it"]
async fn a_judge_that_never_answers_leaves_a_report_and_the_next_run_goes_on() {
    let dead = Arc::new(AtomicBool::new(true));
    let switch = Arc::clone(&dead);
    let field = Field::with_judge(&["one"], move |request, _| match switch.load(Ordering::SeqCst) {
        true => Script::silence(),
        false => reply(&format!("Rating: [[{}]]", score(question(request)))),
    });
    let field = field.await.with_short_timeouts();
    let dialogues = dialogues();
    let turns: usize = dialogues.iter().map(|dialogue| dialogue.judged().len()).sum();
    field.write("mt.jsonl", data(&dialogues));
    field.done(&["import", "suite", "mtbench101", "mt.jsonl"]).await;
    let failed = field.run(&["bench", "run", "mtbench101", "--judge", "judge", "--format", "json"]).await;
    assert_eq!(failed.code, Some(1), "{}", failed.stderr);
    assert!(failed.stderr.contains(&format!("{turns} results are left")), "{}", failed.stderr);
    let rows: Value = serde_json::from_str(&failed.stdout).unwrap();
    assert_eq!((rows[0]["left"].as_u64(), rows[1]["left"].as_u64()), (Some(0), Some(turns as u64)));
    assert!(rows[1]["failed"].as_str().unwrap().contains("no first token"), "{rows}");
    assert!(field.requests("judge") < turns, "it is given up before every question has waited");
    let before = field.scores("mtbench101").await;
    assert_eq!(before[&("one".to_owned(), "overall".to_owned())], None, "a failure is no score");

    dead.store(false, Ordering::SeqCst);
    field.done(&["bench", "run", "mtbench101", "--judge", "judge"]).await;
    compare(&field.scores("mtbench101").await, "one", &expected(&dialogues, "one", |answer| Some(score(answer))));
    assert_eq!(field.requests("one"), turns, "what was answered is not asked again");
}

#[actix_web::test]
async fn failed_judgements_are_asked_again_only_where_that_is_wanted() {
    let mended = Arc::new(AtomicBool::new(false));
    let switch = Arc::clone(&mended);
    let field = Field::with_judge(&["one"], move |request, _| match switch.load(Ordering::SeqCst) {
        true => reply(&format!("Rating: [[{}]]", score(question(request)))),
        false => reply("No idea."),
    })
    .await;
    let dialogues = &dialogues()[..2];
    field.write("mt.jsonl", data(dialogues));
    field.done(&["import", "suite", "mtbench101", "mt.jsonl"]).await;
    field.unreadable(&["bench", "run", "mtbench101", "--judge", "judge"]).await;
    let asked = field.requests("judge");
    mended.store(true, Ordering::SeqCst);
    field.done(&["bench", "judge", "mtbench101", "--judge", "judge"]).await;
    assert_eq!(field.requests("judge"), asked, "a judge's last word is kept");
    field.done(&["bench", "judge", "mtbench101", "--judge", "judge", "--retry-failed"]).await;
    assert!(field.requests("judge") > asked);
    let task = expected(dialogues, "one", |answer| Some(score(answer)));
    let scores = field.scores("mtbench101").await;
    assert_eq!(scores[&("one".to_owned(), "GR".to_owned())], task["GR"], "a verdict wins over the failure before it");
}

/// Values of Retry-After that say no number of seconds.
const UNREADABLE: [&str; 7] =
    ["-1", "1e308", "NaN", "soon", "", "Fri, 31 Dec 9999 23:59:59 GMT", "7, 18446744073709551615"];

fn too_many(retry_after: &str) -> Script {
    Script::whole("429 Too Many Requests", &format!("retry-after: {retry_after}\r\n"), "slow down")
}

#[actix_web::test]
async fn a_retry_after_that_nobody_can_read_is_ignored() {
    let field = Field::new(&["one"]).await;
    field.respond("one", |request, times| {
        let asked = question(request);
        let unreadable = UNREADABLE[usize::try_from(number(asked) % 7).unwrap()];
        if times == 1 { too_many(unreadable) } else { reply(&answer("one", asked)) }
    });
    field.write("mt.jsonl", data(&dialogues()));
    field.done(&["import", "suite", "mtbench101", "mt.jsonl"]).await;
    field.done(&["bench", "answer", "mtbench101", "--models", "one"]).await;
    assert_eq!(field.requests("one"), 2 * field.repeated("one"), "every question is asked twice");
}

/// `u64::MAX` seconds, and more than any number holds: the wait is bounded, and an interrupt ends it.
#[actix_web::test]
async fn a_retry_after_of_ages_ends_no_run() {
    const RUN: [&str; 5] = ["bench", "answer", "mtbench101", "--models", "one"];
    for ages in ["18446744073709551615", "99999999999999999999999999"] {
        let field = Field::new(&["one"]).await;
        // The wait that the header asks for, and up to a minute more.
        field.edit("backoff_ms = 1\n", "backoff_ms = 60000\n");
        let first = AtomicBool::new(true);
        field.respond("one", move |request, _| match first.swap(false, Ordering::SeqCst) {
            true => too_many(ages),
            false => reply(&answer("one", question(request))),
        });
        field.write("mt.jsonl", data(&dialogues()));
        field.done(&["import", "suite", "mtbench101", "mt.jsonl"]).await;
        let run = UnderWay::start(field.path(), &RUN);
        // Other questions are asked meanwhile.
        field.upstream.until_received(12).await;
        run.signal("INT");
        let ended = run.ended().await;
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        assert!(ended.stderr.contains("are left") && !ended.stderr.contains("panicked"), "{}", ended.stderr);
        field.done(&RUN).await;
    }
}
