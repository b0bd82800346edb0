//! A run that is killed or stopped goes on where it was.

use std::collections::{BTreeMap, BTreeSet};

use langya::infra::storage::{BenchFilter, IncludeText};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::mtbench101::{compare, data, dialogues, expected};
use super::{AT_ONCE, Field, answer, question, reply_behind, score};
use crate::support::program::UnderWay;
use crate::support::upstream::Gate;

const SEED: u64 = 20_261_121;
const KILLS: usize = 10;
const RUN: [&str; 5] = ["bench", "run", "mtbench101", "--judge", "judge"];

/// What is kept: the model and its text of each answer, and the answer that each judgement is about.
async fn kept(field: &Field) -> BTreeSet<String> {
    let store = field.store().await;
    let set = field.set(&store, "mtbench101").await;
    let answers = store.bench_answers(&set, BenchFilter::ALL).await.unwrap();
    let texts: BTreeMap<_, _> =
        answers.iter().map(|row| ((row.model.clone(), row.item.clone(), row.turn), row.text.clone())).collect();
    let judged =
        store.bench_judgements(&set, BenchFilter::ALL, IncludeText::No).await.unwrap().into_iter().map(|row| {
            let said = row.judgement;
            format!("judged {}", texts[&(said.model, said.item_id, said.turn)])
        });
    let judged: Vec<String> = judged.collect();
    store.close().await;
    texts.into_values().map(|text| format!("answered {text}")).chain(judged).collect()
}

/// How often each of that was asked for.
fn asked(field: &Field) -> BTreeMap<String, usize> {
    let key = |model: &str, asked: &str| match model {
        "judge" => format!("judged {}", answer_in(asked)),
        model => format!("answered {}", answer(model, asked)),
    };
    let asked = field.asked.lock().unwrap();
    asked.iter().map(|((model, question), times)| (key(model, question), *times)).collect()
}

fn answer_in(prompt: &str) -> String {
    format!("I say «{}» {{answer}}", super::quoted(prompt))
}

#[actix_web::test]
#[ignore = "slow: tests/run runs it"]
async fn ten_kills_change_no_score_and_nothing_that_was_kept_is_asked_again() {
    println!("seed {SEED}");
    let field = Field::new(&["one", "two"]).await;
    let dialogues = dialogues();
    field.write("mt.jsonl", data(&dialogues));
    field.done(&["import", "suite", "mtbench101", "mt.jsonl"]).await;
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let turns: usize = dialogues.iter().map(|dialogue| dialogue.judged().len()).sum();
    let all = 4 * turns;
    // Ten moments over the whole run, so that both phases are hit.
    let mut moments: Vec<usize> = (0..KILLS).map(|_| rng.random_range(1..all - 2 * AT_ONCE)).collect();
    moments.sort_unstable();
    let mut frozen: BTreeMap<String, usize> = BTreeMap::new();
    for moment in moments {
        let run = UnderWay::start(field.path(), &RUN);
        field.upstream.until_received(moment).await;
        run.kill();
        let times = asked(&field);
        frozen.extend(kept(&field).await.into_iter().map(|key| (key.clone(), times[&key])));
    }
    field.done(&RUN).await;
    let times = asked(&field);
    for (key, before) in &frozen {
        assert_eq!(times[key], *before, "{key} was kept and is asked again");
    }
    // Models answer side by side, then the judge judges.
    let most = KILLS * 2 * AT_ONCE;
    let repeated: usize = times.values().map(|times| times - 1).sum();
    assert!(repeated <= most, "{repeated} questions asked again after {KILLS} kills");
    let scores = field.scores("mtbench101").await;
    for model in ["one", "two"] {
        compare(&scores, model, &expected(&dialogues, model, |answer| Some(score(answer))));
    }
    assert_eq!(kept(&field).await.len(), all);
}

#[actix_web::test]
async fn an_interrupt_lets_what_is_under_way_finish_and_another_run_is_refused_meanwhile() {
    let gate = Gate::new();
    let at_the_judge = gate.clone();
    let field = Field::with_judge(&["one"], move |request, _| {
        reply_behind(&at_the_judge, &format!("Rating: [[{}]]", score(question(request))))
    });
    let field = field.await;
    let dialogues = dialogues();
    let turns: usize = dialogues.iter().map(|dialogue| dialogue.judged().len()).sum();
    field.write("mt.jsonl", data(&dialogues));
    field.done(&["import", "suite", "mtbench101", "mt.jsonl"]).await;
    let run = UnderWay::start(field.path(), &RUN);
    field.upstream.until_received(turns + AT_ONCE).await;
    let refused = field.refused(&["bench", "answer", "mtbench101"]).await;
    assert!(refused.contains("another langya runs suite mtbench101"), "{refused}");
    run.signal("INT");
    run.until_log_has("stopping").await;
    gate.open();
    let ended = run.ended().await;
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let left = format!("{} results are left", turns - AT_ONCE);
    assert!(
        ended.stderr.contains("requests under way are finished") && ended.stderr.contains(&left),
        "{}",
        ended.stderr
    );
    field.done(&RUN).await;
    assert_eq!((field.requests("judge"), field.repeated("judge")), (turns, 0), "nothing is asked twice");
}
