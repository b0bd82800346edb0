//! `langya judge run`: what is asked, what is kept, and that nothing is asked twice.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use langya::domain::battle_judging::subject::JudgedSubject;
use langya::domain::benchmark::scores::judgement::{Game, Status};
use serde_json::Value;

use super::{Battle, RUN, dozen, fair, field_of, qualities, report, share, verdicts};
use crate::bench::{AT_ONCE, question, reply, reply_behind};
use crate::support::program::{UnderWay, langya, langya_in};
use crate::support::upstream::{Gate, Script};

#[actix_web::test]
async fn a_fair_judge_agrees_with_everybody_and_is_asked_once() {
    let battles = dozen();
    let field = field_of(&battles, fair).await;
    let first = field.run(&[&RUN[..], &["--format", "json"]].concat()).await;
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    assert!(first.stderr.contains("visitors have not been told that models judge battles"), "{}", first.stderr);
    let asked: Value = serde_json::from_str(&first.stdout).unwrap();
    assert_eq!((asked[0]["total"].as_u64(), asked[0]["left"].as_u64()), (Some(24), Some(0)));
    assert_eq!((field.requests("judge"), field.repeated("judge")), (24, 0));
    let found = report(&field).await;
    let judge = &found["judges"][0];
    assert_eq!(share(&judge["judged"]), (12, 12));
    assert_eq!(share(&judge["consistent"]), (12, 12));
    assert_eq!(share(&judge["agreement"]["with_ties"]), (12, 12));
    assert!(judge["first_position"]["share"]["undefined"].as_str().unwrap().contains("nothing to compare"));
    let again = field.run(&RUN).await;
    assert!(again.code == Some(0) && !again.stderr.contains("visitors have not been told"), "{}", again.stderr);
    assert_eq!(field.requests("judge"), 24, "what was judged is not asked again");
    for row in verdicts(&field, &battles).await {
        assert!(row.raw_text.contains("[[") && row.attempts == 1 && row.status == Status::Ok);
        assert_eq!((row.tokens.prompt, row.tokens.reply), (100, 10), "as the provider counted them");
    }
}

#[actix_web::test]
async fn a_judge_that_looks_at_the_position_alone_says_tie_of_everything() {
    let battles = dozen();
    let field = field_of(&battles, |_, _| reply("[[A]]")).await;
    field.done(&RUN).await;
    let found = report(&field).await;
    let judge = &found["judges"][0];
    assert_eq!((share(&judge["consistent"]), share(&judge["first_position"])), ((0, 12), (12, 12)));
    let ties = battles.iter().filter(|battle| battle.quality[0][0] == battle.quality[0][1]).count() as u64;
    assert_eq!(share(&judge["agreement"]["with_ties"]), (ties, 12));
    assert_eq!(share(&judge["agreement"]["without_ties"]), (0, 0));
}

#[actix_web::test]
async fn a_judge_that_cannot_be_read_has_no_verdict_and_is_reminded_twice() {
    let battles = &dozen()[..2];
    let field = field_of(battles, |_, _| reply("I like them both.")).await;
    field.done(&RUN).await;
    let rows = verdicts(&field, battles).await;
    assert_eq!(rows.len(), 4);
    for row in &rows {
        assert_eq!((row.status, row.attempts, row.earlier.len(), row.parsed), (Status::ParseFailed, 3, 2, None));
    }
    assert_eq!(field.requests("judge"), 12);
    field.done(&RUN).await;
    assert_eq!(field.requests("judge"), 12, "a judge's last word is kept");
    let found = report(&field).await;
    assert_eq!(share(&found["judges"][0]["judged"]), (0, 2));
    assert_eq!(found["judges"][0]["statuses"]["parse_failed"], 4);
    assert!(found["judges"][0]["agreement"]["with_ties"]["share"]["value"].is_null());
}

#[actix_web::test]
async fn what_a_judge_refused_or_wrote_in_no_form_is_asked_again_only_where_that_is_wanted() {
    let (battles, mended) = (&dozen()[..9], Arc::new(AtomicBool::new(false)));
    let switch = Arc::clone(&mended);
    let field = field_of(battles, move |seen, times| match (switch.load(Ordering::SeqCst), seen[0] % 2) {
        (true, _) => fair(seen, times),
        (false, 0) => Script::whole("400 Bad Request", "", "no temperature"),
        (false, _) => reply("I like them both."),
    })
    .await;
    field.done(&RUN).await;
    let asked = field.requests("judge");
    mended.store(true, Ordering::SeqCst);
    field.done(&RUN).await;
    assert_eq!(field.requests("judge"), asked, "a judge's last word is kept");
    let again = [&RUN[..], &["--retry-failed"]].concat();
    field.done(&again).await;
    assert_eq!(field.requests("judge"), asked + 18, "every game once");
    assert_eq!(share(&report(&field).await["judges"][0]["judged"]), (9, 9));
    field.done(&again).await;
    assert_eq!(field.requests("judge"), asked + 18, "verdicts stay");
}

#[actix_web::test]
async fn a_judge_that_fails_leaves_its_battles_to_the_next_run() {
    let dead = Arc::new(AtomicBool::new(true));
    let switch = Arc::clone(&dead);
    let battles = dozen();
    let field = field_of(&battles, move |seen, times| match switch.load(Ordering::SeqCst) {
        true => Script::mode("err500"),
        false => fair(seen, times),
    })
    .await;
    let failed = field.run(&RUN).await;
    assert_eq!(failed.code, Some(1), "{}", failed.stderr);
    assert!(failed.stderr.contains("24 results are left"), "{}", failed.stderr);
    assert!(field.requests("judge") < 24 * 3, "it is given up before every question was tried");
    let found = report(&field).await;
    let judged = share(&found["judges"][0]["judged"]);
    assert!(judged.0 == 0 && judged.1 > 0, "{judged:?}");
    dead.store(false, Ordering::SeqCst);
    field.done(&RUN).await;
    assert_eq!(share(&report(&field).await["judges"][0]["judged"]), (12, 12));
}

#[actix_web::test]
async fn a_budget_ends_a_run_and_the_next_one_goes_on() {
    let battles = dozen();
    let field = field_of(&battles, fair).await;
    let ended = field.run(&[&RUN[..], &["--max-calls", "7"]].concat()).await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("the limit --max-calls"), "{}", ended.stderr);
    assert_eq!(field.requests("judge"), 7);
    field.done(&RUN).await;
    assert_eq!((field.requests("judge"), field.repeated("judge")), (24, 0));
    let settings = std::fs::read_to_string(field.path().join("langya.toml")).unwrap();
    field.write("langya.toml", settings.replace("input_price = 10.0\n", ""));
    let refused = field.refused(&[&RUN[..], &["--budget", "1"]].concat()).await;
    assert!(refused.contains("has no prices"), "{refused}");
}

#[actix_web::test]
async fn a_dry_run_asks_nothing_and_a_larger_share_holds_a_smaller_one() {
    let battles: Vec<Battle> = (0..60).map(|number| Battle::new(number, [2, 1])).collect();
    let field = field_of(&battles, fair).await;
    let planned = async |share: &str| {
        let run = ["judge", "run", "--judge", "judge", "--share", share, "--dry-run", "--format", "json"];
        let plan: Value = serde_json::from_str(&field.done(&run).await).unwrap();
        (plan[0]["calls"].as_u64().unwrap(), plan[0]["done"].as_u64().unwrap(), plan[0]["cost"].as_f64().unwrap())
    };
    let (few, _, cost) = planned("0.2").await;
    assert!((2..=60).contains(&few) && few % 2 == 0 && cost > 0.0, "{few} calls");
    assert_eq!(field.requests("judge"), 0);
    field.done(&["judge", "run", "--judge", "judge", "--share", "0.2"]).await;
    assert_eq!(field.requests("judge") as u64, few);
    let (more, done, _) = planned("0.6").await;
    assert_eq!((done, more > few), (few, true), "the smaller sample is in the larger one");
    assert_eq!(planned("0.2").await.0, 0);
    let other = ["judge", "run", "--judge", "judge", "--share", "0.2", "--seed", "9", "--dry-run", "--format", "json"];
    let other: Value = serde_json::from_str(&field.done(&other).await).unwrap();
    assert!(other[0]["calls"].as_u64().unwrap() > 0, "another seed draws other battles");
    let spans = [
        ["--since", "1970-01-01T00:00:02Z"],
        ["--until", "1970-01-01T00:00:01Z"],
        // A date is its first moment, as for every other command.
        ["--until", "1970-01-01"],
    ];
    for span in spans {
        let plan = field.done(&[&RUN[..], &span, &["--dry-run", "--format", "json"]].concat()).await;
        let plan: Value = serde_json::from_str(&plan).unwrap();
        assert_eq!(plan[0]["calls"], 0, "all were voted on within the second second: {span:?}");
    }
}

#[actix_web::test]
async fn a_dry_run_expects_what_verdicts_took_so_far_and_says_the_worst() {
    let battles: Vec<Battle> = (0..60).map(|number| Battle::new(number, [2, 1])).collect();
    // No reply can be read, so each game takes three.
    let field = field_of(&battles, |_, _| reply("Well.")).await;
    let planned = async || {
        let plan = field.done(&[&RUN[..], &["--dry-run", "--format", "json"]].concat()).await;
        serde_json::from_str::<Value>(&plan).unwrap()[0].clone()
    };
    let first = planned().await;
    assert_eq!((first["calls"].as_u64(), first["worst_calls"].as_u64()), (Some(120), Some(9 * 120)));
    assert!(first["basis"].as_str().unwrap().contains("no result yet"), "{first}");
    // Three replies to each of 120 games, of the 2,048 tokens that a request lets them have, at 100 for a million.
    assert!(first["worst_cost"].as_f64().unwrap() > 120.0 * 3.0 * 2_048.0 * 1e-4, "{first}");
    field.done(&["judge", "run", "--judge", "judge", "--share", "0.3"]).await;
    let plan = planned().await;
    let (settled, before) = (plan["done"].as_u64().unwrap(), field.requests("judge"));
    assert_eq!((before as u64, plan["calls"].as_u64()), (3 * settled, Some(3 * (120 - settled))), "{plan}");
    assert_eq!(plan["basis"], format!("{settled} results so far"));
    // 100 tokens in and 10 out each, at 10 and 100 for a million.
    let cost = |calls: usize| f64::from(u32::try_from(calls).unwrap()) * 0.002;
    field.done(&RUN).await;
    let asked = field.requests("judge") - before;
    assert!((plan["cost"].as_f64().unwrap() / cost(asked) - 1.0).abs() < 0.05, "{plan}, and {asked} requests");
    assert!(plan["worst_cost"].as_f64().unwrap() > plan["cost"].as_f64().unwrap());
}

#[actix_web::test]
async fn a_run_that_is_killed_between_games_goes_on_with_the_other_game() {
    let battles = dozen();
    let gate = Gate::new();
    let at_the_judge = gate.clone();
    let field = field_of(&battles, fair).await;
    // The first seven replies come at once, all others wait forever.
    let seen = std::sync::atomic::AtomicUsize::new(0);
    field.respond("judge", move |request, times| {
        let script = fair(qualities(question(request)), times);
        if seen.fetch_add(1, Ordering::SeqCst) < 7 { script } else { reply_behind(&at_the_judge, "[[C]]") }
    });
    let run = UnderWay::start(field.path(), &RUN);
    field.upstream.until_received(7 + AT_ONCE).await;
    run.kill();
    let kept = verdicts(&field, &battles).await;
    let games =
        |battle: &Battle| kept.iter().filter(|row| row.subject == JudgedSubject::Battle(battle.id.clone())).count();
    assert!((7 - AT_ONCE..=7).contains(&kept.len()), "{} were kept", kept.len());
    assert!(battles.iter().any(|battle| games(battle) == 1), "a battle is left with one game");
    field.respond("judge", |request, times| fair(qualities(question(request)), times));
    field.done(&RUN).await;
    let all = verdicts(&field, &battles).await;
    assert_eq!(all.len(), 24);
    assert!(kept.iter().all(|row| all.contains(row)), "what was kept stays as it was");
    let once: BTreeSet<(&JudgedSubject, Game)> = all.iter().map(|row| (&row.subject, row.game)).collect();
    assert_eq!(once.len(), 24);
    assert!(field.requests("judge") <= 24 + 7 + AT_ONCE - kept.len());
}

#[actix_web::test]
async fn an_interrupt_lets_what_is_under_way_finish_and_another_run_is_refused_meanwhile() {
    let gate = Gate::new();
    let at_the_judge = gate.clone();
    let field = field_of(&dozen(), move |_, _| reply_behind(&at_the_judge, "[[C]]")).await;
    let run = UnderWay::start(field.path(), &RUN);
    field.upstream.until_received(AT_ONCE).await;
    let refused = field.refused(&RUN).await;
    assert!(refused.contains("another langya judges battles"), "{refused}");
    run.signal("INT");
    run.until_log_has("stopping").await;
    gate.open();
    let ended = run.ended().await;
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains(&format!("{} results are left", 24 - AT_ONCE)), "{}", ended.stderr);
    field.done(&RUN).await;
    assert_eq!((field.requests("judge"), field.repeated("judge")), (24, 0));
}

#[actix_web::test]
async fn only_rated_battles_that_can_be_read_whole_are_sent() {
    let mut battles = dozen();
    battles[0].exclusion = Some("asked_for_name");
    battles[1].ballast = "word ".repeat(50_000);
    battles[2].quality = vec![[0, 2]];
    let field = field_of(&battles, fair).await;
    field.write("old.csv", "model_a,model_b,winner\none,two,model_a\n");
    field.done(&["import", "votes", "old.csv"]).await;
    let run = field.run(&RUN).await;
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("not judged: 1 battle imported without what was said"), "{}", run.stderr);
    assert!(run.stderr.contains("not judged: 1 battle of more than 24000 tokens"), "{}", run.stderr);
    assert_eq!(field.requests("judge"), 18, "nine battles are left");
    let silent = verdicts(&field, &battles[2..3]).await;
    let found: Vec<_> = silent.iter().map(|row| (row.status, row.attempts)).collect();
    assert_eq!(found, [(Status::EmptyAnswer, 0); 2], "nobody is asked about nothing");
    let found = report(&field).await;
    assert_eq!(share(&found["judges"][0]["judged"]), (9, 10));
}

#[actix_web::test]
async fn instructions_of_ones_own_are_asked_again_and_a_judge_sees_both_orders_of_every_turn() {
    let mut battle = Battle::new(1, [5, 3]);
    battle.quality = vec![[5, 3], [1, 9]];
    battle.outcome = langya::domain::battle::Outcome::BWins;
    battle.language = "Chinese";
    let field = field_of(std::slice::from_ref(&battle), fair).await;
    field.done(&RUN).await;
    field.write("own.txt", "Who is better?\n{conversation_a}\n--\n{conversation_b}");
    field.done(&[&RUN[..], &["--prompt", "own.txt"]].concat()).await;
    let requests = field.upstream.received();
    let prompts: Vec<&str> = requests.iter().map(question).collect();
    assert_eq!(prompts.len(), 4, "two games by each set of instructions");
    let numbers = |prompt: &str| -> Vec<String> {
        prompt.split('«').skip(1).map(|rest| rest.split_once('»').unwrap().0.to_owned()).collect()
    };
    let mut seen: Vec<Vec<String>> = prompts.iter().map(|prompt| numbers(prompt)).collect();
    seen.sort();
    assert_eq!(seen, [["3", "9", "5", "1"], ["3", "9", "5", "1"], ["5", "1", "3", "9"], ["5", "1", "3", "9"]]);
    assert!(prompts.iter().all(|prompt| prompt.contains("第2轮") && prompt.contains("Question 2 of battle-001")));
    assert_eq!(prompts.iter().filter(|prompt| prompt.starts_with("Who is better?")).count(), 2);
    let found = report(&field).await;
    assert_eq!(
        (share(&found["judges"][0]["judged"]), found["judges"][0]["by_other_prompts"].as_u64()),
        ((1, 1), Some(1))
    );
    field.write("bad.txt", "Who is better? {conversation_a}");
    let refused = field.refused(&[&RUN[..], &["--prompt", "bad.txt"]].concat()).await;
    assert!(refused.contains("{conversation_b}"), "{refused}");
    assert!(field.refused(&["judge", "run", "--judge", "nobody"]).await.contains("there is no model \"nobody\""));
    assert!(field.refused(&["judge", "report", "--judge", "nobody"]).await.contains("verdicts of judge"));
}

#[actix_web::test]
async fn a_key_reaches_no_log_no_table_and_no_output() {
    let battles = &dozen()[..2];
    let field =
        field_of(battles, |_, times| if times == 1 { Script::mode("err401") } else { fair([2, 1], times) }).await;
    let settings = std::fs::read_to_string(field.path().join("langya.toml")).unwrap();
    field.write("langya.toml", settings.replace("id = \"judge\"", "id = \"judge\"\napi_key_env = \"JUDGE_KEY\""));
    let path = field.path().to_owned();
    let environment = [("JUDGE_KEY", "sk-secret-of-the-judge")];
    let run = tokio::task::spawn_blocking(move || langya_in(&path, RUN, &environment));
    let run = run.await.unwrap();
    let sent = field.upstream.received();
    assert!(sent.iter().any(|request| format!("{request:?}").contains("sk-secret-of-the-judge")), "the key is used");
    let kept = format!("{:?}", verdicts(&field, battles).await);
    for text in [&run.stdout, &run.stderr, &kept] {
        assert!(!text.contains("sk-secret") && !text.contains("sk-CANARY"), "{text}");
    }
    assert!(!run.stderr.contains("Question 1"), "no prompt is logged: {}", run.stderr);
    let unset = langya(field.path(), RUN);
    assert!(unset.code == Some(2) && unset.stderr.contains("JUDGE_KEY"), "{}", unset.stderr);
}

#[actix_web::test]
async fn two_judges_are_asked_side_by_side_and_compared() {
    let battles = dozen();
    let field = field_of(&battles, fair).await;
    field.respond("three", |_, _| reply("[[A]]"));
    let run = ["judge", "run", "--judge", "judge,three", "--share", "1"];
    field.done(&run).await;
    assert_eq!((field.requests("judge"), field.requests("three")), (24, 24));
    let found = report(&field).await;
    let ties = battles.iter().filter(|battle| battle.quality[0][0] == battle.quality[0][1]).count() as u64;
    assert_eq!(found["between"][0]["judges"], serde_json::json!(["judge", "three"]));
    assert_eq!(share(&found["between"][0]["agreement"]["with_ties"]), (ties, 12));
    let csv = field.done(&["judge", "report", "--judge", "three", "--format", "csv"]).await;
    assert!(csv.lines().skip(1).all(|line| line.starts_with("three,")), "{csv}");
    let table = field.done(&["judge", "report"]).await;
    assert!(table.contains("judge three") && table.contains("both orders say the same: 0.000"), "{table}");
    assert!(field.refused(&["judge", "run", "--judge", "judge,judge"]).await.contains("named twice"));
}
