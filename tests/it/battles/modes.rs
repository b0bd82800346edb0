//! Battles between models of the visitor's choice: everything works as in an anonymous battle, and no vote on them is rated.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use langya::domain::battle::ModelId;
use langya::domain::battle::mode::BattleMode;
use langya::domain::rating::votes::vote_log::ColumnSet;
use langya::domain::time::Timestamp;
use langya::infra::config::{Environment, LimitSettings, Settings, WindowLimits};
use langya::infra::llm::ChatError;
use langya::infra::llm::breaker::BreakerPolicy;
use langya::infra::llm::resilient_model::{ReplyLimits, ResilientModel};
use langya::infra::llm::roster::Roster;
use langya::infra::storage::{VoteRange, VoteRow};
use langya::infra::stored_votes::vote_log::{LogQuery, read_cast_votes};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use crate::support::arena::{NO_LIMITS, TestArena, card, quick_limits};
use crate::support::program::langya_beside;
use crate::support::scripted::{Scripted, Step};
use crate::support::until;
use crate::support::visitor::{Visitor, get, http};
use crate::support::wire::Wire;

/// What starts a battle in each mode beside the anonymous one.
fn choices() -> [Value; 3] {
    [
        json!({"mode": "named", "models": ["one", "two"]}),
        json!({"mode": "direct", "model": "one"}),
        json!({"mode": "one_hidden", "model": "one"}),
    ]
}

fn start(choice: &Value, prompt: &str) -> Value {
    let mut message = choice.clone();
    message["type"] = "start".into();
    message["prompt"] = prompt.into();
    message
}

async fn arena(change: impl FnOnce(&mut Settings)) -> TestArena {
    let models = ["one", "two", "three"].map(|name| (name, Scripted::saying(name)));
    let models: Vec<(&str, &Scripted)> = models.iter().map(|(name, model)| (*name, model)).collect();
    TestArena::start_with(&models, change).await
}

/// Starts a battle and reads on until a vote may be cast; returns the first frame.
async fn ask(visitor: &mut Visitor, choice: &Value) -> Value {
    visitor.send(start(choice, "Which river is longer?")).await;
    let begun = visitor.next_of(&["battle", "error"]).await;
    assert_eq!(begun["type"], "battle", "{begun}");
    visitor.until_ready().await;
    begun
}

async fn votes(arena: &TestArena) -> Vec<VoteRow> {
    arena.app.store.votes_after(0, Timestamp(i64::MIN), Timestamp(i64::MAX), 100).await.unwrap()
}

/// The ratings as published, to the last bit, once the leaderboard has read so many votes.
async fn ratings(arena: &TestArena, read: u64) -> Value {
    let mut changes = arena.app.leaderboard.changes();
    let reads = changes.wait_for(|snapshot| snapshot.leaderboard.votes.read == read);
    tokio::time::timeout(std::time::Duration::from_secs(30), reads).await.expect("the votes are read").unwrap();
    let leaderboard: Value = get(&format!("{}/api/v1/leaderboard", arena.url)).await.json().await.unwrap();
    leaderboard["models"].clone()
}

async fn refusal(visitor: &mut Visitor, message: Value) -> Value {
    visitor.send(message).await;
    let refused = visitor.next().await;
    assert_eq!(refused["type"], "error", "{refused}");
    refused
}

#[actix_web::test]
async fn the_models_of_the_visitors_choice_are_named_from_the_first_frame() {
    let arena = arena(|_| {}).await;
    let mut visitor = arena.visitor().await;
    let begun = ask(&mut visitor, &choices()[0]).await;
    assert_eq!((&begun["mode"], &begun["models"]["a"]["name"]), (&json!("named"), &json!("Name-of-one")));
    assert_eq!(begun["models"]["b"]["organization"], "Maker-of-two");
    assert_eq!(visitor.texts(), ["one", "two"], "A and B as they were asked for");

    let begun = ask(&mut visitor, &choices()[1]).await;
    assert_eq!((&begun["mode"], &begun["models"]["a"]["id"]), (&json!("direct"), &json!("one")));
    assert_eq!(begun["models"].get("b"), None);
    assert_eq!(visitor.texts(), ["one", ""]);
    let of_b =
        visitor.frames.iter().rev().take_while(|frame| !frame.contains("\"battle\",\"battle\"")).collect::<Vec<_>>();
    assert!(
        of_b.iter().all(|frame| !frame.contains("\"side\":\"b\"")),
        "nothing is said of a side that is not: {of_b:?}"
    );

    visitor.ask("Which river is longer?").await;
    let begun = visitor.next_of(&["battle"]).await;
    assert_eq!((begun.get("mode"), begun.get("models")), (None, None), "an anonymous battle has the wire that it had");
    arena.end().await;
}

#[actix_web::test]
async fn beside_a_chosen_model_the_other_one_stays_hidden_until_the_vote() {
    let arena = arena(|_| {}).await;
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..12 {
        let mut visitor = arena.visitor().await;
        let begun = ask(&mut visitor, &choices()[2]).await;
        assert_eq!((&begun["models"]["a"]["id"], begun["models"].get("b")), (&json!("one"), None));
        for frame in &visitor.frames {
            for told in ["Name-of-two", "Name-of-three", "Maker-of-t", "License-of-t", "\"two\"}", "\"three\"}", "_ms"]
            {
                let text = format!("\"text\":{:?}", visitor.texts()[1]);
                assert!(!frame.replace(&text, "").contains(told), "{told} in {frame}");
            }
        }
        let revealed = visitor.vote("b").await;
        assert_eq!(revealed["a"]["id"], "one");
        assert_eq!(revealed["b"]["id"].as_str(), Some(visitor.texts()[1].as_str()));
        seen.insert(visitor.texts()[1].clone());
    }
    assert!(seen.contains("two") && seen.contains("three") && seen.len() == 2, "drawn among the others: {seen:?}");
    arena.end().await;
}

#[actix_web::test]
async fn votes_on_models_of_ones_own_choice_are_kept_and_move_no_rating_to_the_last_bit() {
    // Votes that are not rated wait for the clock.
    let arena = arena(|settings| settings.rating.group_seconds = 1).await;
    let mut visitor = arena.visitor().await;
    for outcome in ["a", "b", "tie", "a"] {
        visitor.ask("Which river is longer?").await;
        visitor.until_ready().await;
        assert_eq!(visitor.vote(outcome).await["type"], "revealed");
    }
    let before = ratings(&arena, 4).await;
    let pairing = get(&format!("{}/api/v1/pairing", arena.url)).await.text().await.unwrap();
    for choice in &choices() {
        ask(&mut visitor, choice).await;
        let revealed = visitor.vote("a").await;
        assert_eq!(revealed["excluded"]["rule"], "named_mode", "{revealed}");
        assert_eq!(revealed["a"]["rating_change"], 0.0);
        assert_eq!(revealed.get("b").is_none(), choice["mode"] == "direct", "{revealed}");
        assert_eq!(visitor.vote("a").await["vote"], revealed["vote"], "once");
    }
    assert_eq!(ratings(&arena, 7).await, before);
    assert_eq!(get(&format!("{}/api/v1/pairing", arena.url)).await.text().await.unwrap(), pairing);
    let kept = votes(&arena).await;
    let of_modes: Vec<_> = kept.iter().map(|vote| (vote.anonymous, vote.exclusion.as_deref())).collect();
    assert_eq!(of_modes[..4], [(true, None); 4]);
    assert_eq!(of_modes[4..], [(false, Some("named_mode")); 3]);
    assert_eq!(
        kept[4..].iter().map(|vote| vote.pairing_policy.as_str()).collect::<Vec<_>>(),
        ["named", "direct", "one_hidden"]
    );

    let query = LogQuery { columns: ColumnSet::default(), range: VoteRange::ALL, concurrency: 1 };
    let cast = read_cast_votes(&arena.app.store, query, |_, _| {}).await.unwrap();
    assert_eq!(cast.numbers, kept[..4].iter().map(|vote| vote.seq).collect::<Vec<_>>(), "under other exclusions, too");
    assert_eq!((cast.log.len(), &cast.log.excluded), (4, &[("named_mode".to_owned(), 3)].into()));

    let seqs: Vec<i64> = kept.iter().map(|vote| vote.seq).collect();
    assert_eq!(
        arena.app.store.withdraw_exclusions(&seqs, None, "ann", Timestamp(9), None).await.unwrap(),
        0,
        "never rated"
    );
    arena.end().await;
}

#[actix_web::test]
async fn one_reply_alone_is_good_or_not_and_the_talk_goes_on_after_the_vote() {
    let arena = arena(|_| {}).await;
    let mut visitor = arena.visitor().await;
    ask(&mut visitor, &choices()[1]).await;
    for outcome in ["b", "tie"] {
        assert_eq!(visitor.vote(outcome).await["code"], "unknown_outcome");
    }
    visitor.send(json!({"type": "message", "prompt": "And the shorter one?"})).await;
    assert_eq!(visitor.next_of(&["battle"]).await["models"]["a"]["id"], "one");
    assert_eq!(visitor.until_ready().await, ["one", ""]);
    visitor.send(json!({"type": "regenerate"})).await;
    assert_eq!(visitor.until_ready().await, ["one", ""]);
    assert_eq!(visitor.vote("both_bad").await["outcome"], "both_bad");
    let record = arena.app.store.battle_record(&visitor.battle()).await.unwrap().unwrap();
    assert_eq!((record.battle.mode, record.turns.len(), record.replies.len()), (BattleMode::Direct, 2, 2));

    visitor.send(json!({"type": "message", "prompt": "Thanks.", "unrated": true})).await;
    assert_eq!(visitor.next_of(&["battle"]).await["turn"], 3);
    assert_eq!(visitor.until_ready().await, ["one", ""]);
    arena.end().await;
}

#[actix_web::test]
async fn a_model_that_cannot_be_chosen_is_refused_in_the_same_words_whatever_the_reason() {
    let saying = Scripted::saying("one");
    let failing = Scripted::new(|_| vec![Step::Fail(ChatError::Unreached("a test".into()))]);
    let strict = BreakerPolicy { failures: 1, open_for: std::time::Duration::from_secs(600) };
    let limits = ReplyLimits { breaker: strict, ..quick_limits() };
    let guarded = |id: &str, weight, model: &Scripted| {
        let rng = ChaCha8Rng::seed_from_u64(1);
        Arc::new(ResilientModel::new(card(id), weight, Arc::new(model.clone()), limits, rng))
    };
    let roster = Roster::new(vec![
        guarded("one", 1.0, &saying),
        guarded("two", 1.0, &saying),
        guarded("paused", 0.0, &saying),
        guarded("failing", 1.0, &failing),
    ]);
    let arena = TestArena::start_with_roster(roster, |_| {}).await;
    let mut visitor = arena.visitor().await;
    visitor.send(start(&json!({"mode": "direct", "model": "failing"}), "Are you there?")).await;
    assert_eq!(visitor.next_of(&["error"]).await["code"], "voided");
    let mut told = std::collections::BTreeSet::new();
    for model in ["failing", "paused", "nobody", "", "'; DROP TABLE votes; --"] {
        for choice in [
            json!({"mode": "direct", "model": model}),
            json!({"mode": "one_hidden", "model": model}),
            json!({"mode": "named", "models": ["one", model]}),
        ] {
            let refused = refusal(&mut visitor, start(&choice, "Who?")).await;
            assert_eq!(refused["code"], "model_unavailable", "{choice}");
            told.insert(refused["message"].to_string());
        }
    }
    assert_eq!(told.len(), 1, "{told:?}");
    arena.end().await;
}

#[actix_web::test]
async fn a_model_that_another_battle_tries_out_can_be_chosen() {
    let asked = AtomicUsize::new(0);
    let shaky = Scripted::new(move |_| match asked.fetch_add(1, Ordering::SeqCst) {
        0 => vec![Step::Fail(ChatError::Unreached("a test".into()))],
        1 => vec![Step::Say("Tried.".into()), Step::Gate],
        _ => vec![Step::Say("Chosen.".into())],
    });
    // It opens at the first failure, and is half open at once.
    let strict = BreakerPolicy { failures: 1, open_for: std::time::Duration::ZERO };
    let limits = ReplyLimits { breaker: strict, ..quick_limits() };
    let (other, direct) = (Scripted::saying("Other."), json!({"mode": "direct", "model": "shaky"}));
    let arena = TestArena::start_with_limits(&[("shaky", &shaky), ("other", &other)], limits, |_| {}).await;
    let (mut first, mut hidden, mut curious) = (arena.visitor().await, arena.visitor().await, arena.visitor().await);
    first.send(start(&direct, "Are you there?")).await;
    assert_eq!(first.next_of(&["error"]).await["code"], "voided");
    hidden.ask("Who is it?").await;
    shaky.asked_becomes(2).await;
    // A refusal would say that the model is in the battle that runs.
    ask(&mut curious, &direct).await;
    assert_eq!(curious.texts(), ["Chosen.", ""]);
    shaky.open_gate();
    hidden.until_ready().await;
    arena.end().await;
}

#[actix_web::test]
async fn what_names_no_models_and_what_is_turned_off_is_refused_by_name() {
    let only = |settings: &mut Settings| settings.battle.modes = vec![BattleMode::Anonymous, BattleMode::Direct];
    let arena = arena(only).await;
    let mut visitor = arena.visitor().await;
    for (choice, code, says) in [
        (json!({"mode": "named"}), "invalid_message", "\"models\""),
        (json!({"mode": "named", "models": ["one"]}), "invalid_message", "two different"),
        (json!({"mode": "named", "models": ["one", "one"]}), "invalid_message", "two different"),
        (json!({"mode": "named", "models": ["one", "two", "three"]}), "invalid_message", "two different"),
        (json!({"mode": "named", "models": "one"}), "invalid_message", ""),
        (json!({"mode": "direct"}), "invalid_message", "\"model\""),
        (json!({"mode": "one_hidden", "models": ["one", "two"]}), "invalid_message", "\"model\""),
        (json!({"mode": "secret"}), "unsupported_mode", "one_hidden"),
        (choices()[0].clone(), "unsupported_mode", "named"),
        (choices()[2].clone(), "unsupported_mode", "one_hidden"),
    ] {
        let refused = refusal(&mut visitor, start(&choice, "Who?")).await;
        assert_eq!(refused["code"], code, "{choice}: {refused}");
        assert!(refused["message"].as_str().unwrap().contains(says), "{choice}: {refused}");
    }
    ask(&mut visitor, &choices()[1]).await;
    arena.end().await;
}

/// How the latest battle ended. Of an earlier one whose end the connection has not passed on yet, it says that it leaves it.
async fn ended(visitor: &mut Visitor) -> Value {
    loop {
        let frame = visitor.next_of(&["error", "ready"]).await;
        if frame["code"] != "superseded" {
            return frame;
        }
    }
}

#[actix_web::test]
async fn a_chosen_model_that_fails_is_not_replaced_and_a_hidden_one_is() {
    let fails = |before: usize| {
        let asked = std::sync::atomic::AtomicUsize::new(0);
        Scripted::new(move |_| match asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
            number if number < before => vec![Step::Say("fine".into())],
            _ => vec![Step::Fail(ChatError::Unreached("a test".into()))],
        })
    };
    let (failing, fine) = (fails(0), Scripted::saying("fine"));
    let models = [("failing", &failing), ("fine", &fine), ("spare", &fine)];
    let arena = TestArena::start(&models).await;
    let mut visitor = arena.visitor().await;
    for choice in [
        json!({"mode": "named", "models": ["fine", "failing"]}),
        json!({"mode": "named", "models": ["failing", "fine"]}),
        json!({"mode": "direct", "model": "failing"}),
    ] {
        visitor.send(start(&choice, "Are you there?")).await;
        let voided = ended(&mut visitor).await;
        assert_eq!(voided["code"], "voided", "{choice}");
        assert!(voided["message"].as_str().unwrap().contains("no other takes its place"), "{voided}");
        until(async || {
            let battle = arena.app.store.battle(&visitor.battle()).await.unwrap().unwrap();
            (battle.progress.stage.as_str() == "voided").then_some(())
        })
        .await;
        let battle = arena.app.store.battle(&visitor.battle()).await.unwrap().unwrap();
        assert!(battle.models.contains(&ModelId::new("failing")), "{battle:?}");
        assert_eq!(visitor.vote("a").await["code"], "voided");
    }
    let chosen = json!({"mode": "one_hidden", "model": "failing"});
    visitor.send(start(&chosen, "Are you there?")).await;
    let voided = ended(&mut visitor).await;
    let said = voided["message"].as_str().unwrap();
    assert!(said.contains("one answer failed") && !said.contains("chose"), "not whose answer: {said}");

    for _ in 0..6 {
        visitor.send(start(&json!({"mode": "one_hidden", "model": "fine"}), "Are you there?")).await;
        // The battle before may still be under way, which the visitor gets as an error.
        assert_eq!(ended(&mut visitor).await["type"], "ready");
        assert_eq!(visitor.texts(), ["fine", "fine"]);
        assert_eq!(visitor.vote("tie").await["b"]["id"], "spare");
    }
    assert!(failing.asked() > 4, "the hidden model failed at times: {}", failing.asked());
    arena.end().await;
}

#[actix_web::test]
async fn a_battle_on_chosen_models_is_resumed_here_and_at_another_instance_with_its_names() {
    let halting = |name: &'static str| {
        Scripted::new(move |_| vec![Step::Say(name.into()), Step::Gate, Step::Say(" and the rest".into())])
    };
    for choice in &choices() {
        let (one, two) = (halting("one"), halting("two"));
        let (wire, models) = (Wire::new(), [("one", &one), ("two", &two)]);
        let first = TestArena::start_on(&models, wire.bus("first"), None, |_| {}).await;
        let second = TestArena::start_on(&models, wire.bus("second"), Some(&first), |_| {}).await;
        let mut visitor = first.visitor().await;
        visitor.send(start(choice, "Both halves?")).await;
        visitor.next_of(&["battle"]).await;
        let battle = visitor.battle();
        let cookie = ("cookie", visitor.cookie().to_owned());
        let mut back = Visitor::connect_with(&second.url, Some(cookie)).await.unwrap();
        back.send(json!({"type": "resume", "battle": battle, "after": 0})).await;
        let begun = back.next_of(&["battle"]).await;
        assert_eq!((&begun["mode"], &begun["models"]["a"]["id"]), (&choice["mode"], &json!("one")), "{begun}");
        assert_eq!(begun["models"].get("b").is_some(), choice["mode"] == "named");
        one.open_gate();
        two.open_gate();
        let texts = back.until_ready().await;
        let alone = choice["mode"] == "direct";
        assert_eq!(texts, ["one and the rest", if alone { "" } else { "two and the rest" }]);

        visitor.until_ready().await;
        visitor.drop_connection();
        // Nobody watches it here any more, so it is read back from the database.
        let mut again = back.reconnect().await;
        back.drop_connection();
        until(async || {
            second.app.battles.sweep();
            (!second.app.battles.is_in_memory(&battle)).then_some(())
        })
        .await;
        again.send(json!({"type": "resume", "battle": battle})).await;
        assert_eq!(again.next().await["mode"], choice["mode"]);
        assert_eq!(again.until_ready().await, texts);
        let dones = again.frames.iter().filter(|frame| frame.contains("\"done\"")).count();
        assert_eq!(dones, if alone { 1 } else { 2 }, "{:?}", again.frames);
        assert_eq!(again.vote("a").await["type"], "revealed");
    }
}

#[actix_web::test]
async fn limits_and_rules_for_prompts_hold_in_every_mode() {
    let arena = arena(|settings| {
        settings.limits = LimitSettings { turns: WindowLimits { minute: 3, ..WindowLimits::NONE }, ..NO_LIMITS };
        settings.battle.max_prompt_bytes = 100;
        let rules = Settings::parse("[moderation]\nrefuse = ['forbidden']", "a test", &Environment::default()).unwrap();
        settings.moderation = rules.moderation;
    })
    .await;
    for choice in &choices() {
        let mut visitor = arena.visitor().await;
        for (prompt, code) in [("a forbidden word".to_owned(), "prompt_refused"), ("x".repeat(101), "prompt_too_long")]
        {
            assert_eq!(refusal(&mut visitor, start(choice, &prompt)).await["code"], code, "{choice}");
        }
        ask(&mut visitor, choice).await;
        assert_eq!(refusal(&mut visitor, start(choice, "Once more?")).await["code"], "rate_limited", "{choice}");
    }
    arena.end().await;
}

#[actix_web::test]
async fn exports_history_and_the_public_log_mark_what_was_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let arena = arena(|settings| settings.storage.data_dir = data).await;
    let mut visitor = arena.visitor().await;
    for (choice, outcome) in
        [(json!({}), "a"), (choices()[0].clone(), "b"), (choices()[1].clone(), "both_bad"), (choices()[2].clone(), "a")]
    {
        ask(&mut visitor, &choice).await;
        assert_eq!(visitor.vote(outcome).await["type"], "revealed");
    }
    ask(&mut visitor, &choices()[1]).await;
    until(async || (arena.app.public_log.latest().await.unwrap()?.head.size >= 4).then_some(())).await;
    let run = langya_beside(folder.path(), &["verify", &format!("{}/log", arena.url)]).await;
    assert!(run.code == Some(0) && run.stdout.contains("(4 votes)"), "{run:?}");

    for what in ["votes", "battles"] {
        let out = format!("{what}.jsonl");
        let run = langya_beside(folder.path(), &["export", what, "--text", "--out", &out, "--data-dir", "data"]).await;
        assert_eq!(run.code, Some(0), "{run:?}");
    }
    let rows = |file: &str| {
        let text = std::fs::read_to_string(folder.path().join(file)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
    };
    let exported = rows("votes.jsonl");
    let marks = exported.iter().map(|row| (row["anony"].as_bool(), row["rated"].as_bool(), row["exclusion"].as_str()));
    let named = (Some(false), Some(false), Some("named_mode"));
    assert_eq!(marks.collect::<Vec<_>>(), [(Some(true), Some(true), None), named, named, named]);
    assert_eq!((&exported[2]["model_a"], &exported[2]["model_b"]), (&json!("one"), &json!("one")));
    let modes: Vec<Value> = rows("battles.jsonl").iter().map(|row| row["mode"].clone()).collect();
    assert_eq!(modes, ["anonymous", "named", "direct", "one_hidden"], "one that awaits its vote is left out");

    let target = ["--data-dir", "copy"];
    let imported = langya_beside(folder.path(), &[&["import", "votes", "votes.jsonl"], &target[..]].concat()).await;
    assert_eq!(imported.code, Some(0), "{imported:?}");
    let fit = async |from: &str| {
        let run = langya_beside(folder.path(), &["fit", "--data-dir", from, "--format", "json"]).await;
        serde_json::from_str::<Value>(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"))["models"].clone()
    };
    assert_eq!(fit("data").await, fit("copy").await);

    get(&arena.url).await;
    let cookie = visitor.cookie().to_owned();
    let page = async |path: &str| {
        let client = http().get(format!("{}{path}", arena.url)).header("cookie", &cookie);
        client.header("accept-language", "en").send().await.unwrap().text().await.unwrap()
    };
    let history = page("/history").await;
    for said in [
        "Side by side · Not rated",
        "Direct chat · Not rated",
        "One hidden · Not rated",
        "You found the reply not good.",
    ] {
        assert!(history.contains(said), "{said}");
    }
    assert!(history.contains("model by model: 1 in all"), "the visitor's own leaderboard counts rated votes alone");
    assert!(history.matches("Name-of-one").count() >= 4, "chosen names are shown without a vote too");
    let own: Value = serde_json::from_str(&page("/history/export").await).unwrap();
    assert_eq!(own["battles"][0]["chosen"], json!(["one"]), "{own}");
    assert_eq!(own["battles"][0]["mode"], "direct");
    arena.end().await;
}
