//! Battles as a visitor plays them, over real sockets.

use std::sync::Arc;

use langya::domain::battle::BattleId;
use langya::infra::config::{PacingMode, Settings};
use langya::infra::llm::ChatError;
use langya::infra::llm::resilient_model::ResilientModel;
use langya::infra::llm::roster::Roster;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use crate::support::arena::{SEED, TestArena, card, quick_limits};
use crate::support::scripted::{Scripted, Step};
use crate::support::until;
use crate::support::visitor::Visitor;

const WORDS: &str = "The Lancang river rises on the plateau and runs south for a long way to the sea.";

#[actix_web::test]
async fn a_visitor_asks_votes_and_learns_the_names() {
    let (one, two) = (Scripted::saying(WORDS), Scripted::saying("It rises in Tibet."));
    let arena = TestArena::start(&[("river-one", &one), ("river-two", &two)]).await;
    let mut visitor = arena.visitor().await;
    visitor.ask("Where does the Mekong rise?").await;
    let accepted = visitor.next().await;
    assert_eq!((&accepted["type"], &accepted["turn"], &accepted["seq"]), (&json!("battle"), &json!(1), &json!(1)));
    let mut texts = visitor.until_ready().await;
    let revealed = visitor.vote("a").await;
    assert_eq!(revealed["type"], "revealed");
    let sides = [&revealed["a"], &revealed["b"]];
    assert_ne!(sides[0]["id"], sides[1]["id"]);
    assert_eq!(sides[0]["rating_change"], json!(2.0), "an even pairing moves Elo by half of K");
    for (side, text) in sides.into_iter().zip(&mut texts) {
        let expected = if side["id"] == "river-one" { WORDS } else { "It rises in Tibet." };
        assert_eq!(text, expected);
        assert_eq!(side["name"], format!("Name-of-{}", side["id"].as_str().unwrap()));
    }
    arena.end().await;
}

#[actix_web::test]
async fn stop_ends_both_replies_where_they_are_seen() {
    let endless = || Scripted::new(|_| vec![Step::Say("x".repeat(30_000)), Step::Hang]);
    let (one, two) = (endless(), endless());
    let arena = TestArena::start(&[("one", &one), ("two", &two)]).await;
    let mut visitor = arena.visitor().await;
    visitor.ask("Go on and on").await;
    visitor.next_of(&["delta"]).await;
    visitor.send(json!({"type": "stop"})).await;
    let [a, b] = visitor.until_ready().await;
    assert_eq!(a, b, "what is held back does not show how fast a model is");
    one.active_becomes(0).await;
    two.active_becomes(0).await;
    assert_eq!(visitor.vote("tie").await["type"], "revealed");
}

#[actix_web::test]
async fn a_model_that_stalls_after_its_first_words_shows_them() {
    let stalls = Scripted::new(|_| {
        vec![Step::Say("The first words come at once. ".into()), Step::Gate, Step::Say("The rest.".into())]
    });
    let whole = Scripted::saying("A whole answer that ends long before the other one, whose model has stalled.");
    let arena = TestArena::start_with(&[("alpha", &stalls), ("beta", &whole)], |settings| {
        settings.battle.pace_chars_per_second = 240;
        settings.battle.reserve_ms = 400;
    })
    .await;
    let mut visitor = arena.visitor().await;
    visitor.ask("Who goes first?").await;
    visitor.until_both_begin().await;
    assert!(visitor.texts().iter().all(|text| text.len() <= 24), "as many quanta of both: {:?}", visitor.texts());
    stalls.open_gate();
    visitor.until_ready().await;
    assert!(visitor.texts().contains(&"The first words come at once. The rest.".to_owned()), "{:?}", visitor.texts());
    assert_eq!(visitor.vote("tie").await["type"], "revealed");
}

#[actix_web::test]
async fn a_further_turn_gives_each_side_its_own_history() {
    let parrot = |name: &'static str| {
        Scripted::new(move |messages| {
            let heard: Vec<&str> = messages.iter().map(|message| message.content.as_str()).collect();
            vec![Step::Say(format!("{name}({})", heard.join("|")))]
        })
    };
    let (one, two) = (parrot("one"), parrot("two"));
    let arena = TestArena::start(&[("one", &one), ("two", &two)]).await;
    let mut visitor = arena.visitor().await;
    visitor.ask("first").await;
    let before = visitor.until_ready().await;
    visitor.send(json!({"type": "message", "prompt": "second"})).await;
    assert_eq!(visitor.next().await["turn"], 2);
    for (reply, before) in visitor.until_ready().await.iter().zip(before) {
        assert_eq!(*reply, format!("{}(first|{before}|second)", &before[..3]));
    }
}

#[actix_web::test]
async fn regenerating_starts_the_same_turn_over() {
    let model = || Scripted::new(|messages| vec![Step::Say(format!("heard {} messages", messages.len()))]);
    let (one, two) = (model(), model());
    let arena = TestArena::start(&[("one", &one), ("two", &two)]).await;
    let mut visitor = arena.visitor().await;
    visitor.ask("Once more?").await;
    visitor.until_ready().await;
    visitor.send(json!({"type": "regenerate"})).await;
    let again = visitor.next().await;
    assert_eq!((&again["type"], &again["turn"]), (&json!("battle"), &json!(1)));
    assert_eq!(visitor.until_ready().await, ["heard 1 messages", "heard 1 messages"]);
    assert_eq!((one.asked(), two.asked()), (2, 2));
    let kept = arena.app.store.replies(&visitor.battle()).await.unwrap();
    assert_eq!(kept.len(), 2, "the reply that counts is kept once for each side");
}

#[actix_web::test]
async fn an_edited_question_takes_the_place_of_the_latest_one_for_both_sides() {
    let model = || Scripted::new(|messages| vec![Step::Say(messages.last().unwrap().content.clone())]);
    let (one, two) = (model(), model());
    let arena = TestArena::start(&[("one", &one), ("two", &two)]).await;
    let mut visitor = arena.visitor().await;
    visitor.ask("Why is the sky blue during the day?").await;
    visitor.until_ready().await;
    let edited = "为什么白天的天空是蓝色的？请用简单的话解释一下。";
    visitor.send(json!({"type": "regenerate", "prompt": edited})).await;
    assert_eq!(visitor.next().await["turn"], 1);
    assert_eq!(visitor.until_ready().await, [edited, edited]);
    visitor.send(json!({"type": "message", "prompt": "And at night?"})).await;
    visitor.until_ready().await;
    visitor.send(json!({"type": "regenerate", "prompt": "And at dusk?"})).await;
    assert_eq!(visitor.until_ready().await, ["And at dusk?", "And at dusk?"]);

    let record = arena.app.store.battle_record(&visitor.battle()).await.unwrap().unwrap();
    let prompts: Vec<&str> = record.turns.iter().map(|turn| turn.prompt.as_str()).collect();
    assert_eq!(prompts, [edited, "And at dusk?"]);
    assert_eq!(record.battle.language, "Chinese", "the language of the first question as it stands now");
    assert_eq!(record.replies.len(), 4);
    let mut back = visitor.reconnect().await;
    back.send(json!({"type": "resume", "battle": visitor.battle(), "after": 0})).await;
    assert_eq!(visitor.vote("a").await["type"], "revealed");
}

#[actix_web::test]
async fn the_limit_of_turns_is_said_and_the_vote_stays_open() {
    let (one, two) = (Scripted::saying("1"), Scripted::saying("2"));
    let arena = TestArena::start_with(&[("one", &one), ("two", &two)], |settings| settings.battle.max_turns = 2).await;
    let mut visitor = arena.visitor().await;
    visitor.ask("first").await;
    visitor.until_ready().await;
    visitor.send(json!({"type": "message", "prompt": "second"})).await;
    visitor.until_ready().await;
    visitor.send(json!({"type": "message", "prompt": "third"})).await;
    let refused = visitor.next().await;
    assert_eq!(refused["code"], "too_many_turns");
    assert!(refused["message"].as_str().unwrap().contains("2 turns"));
    assert_eq!(visitor.vote("b").await["type"], "revealed");
}

#[actix_web::test]
async fn a_dropped_socket_resumes_without_a_lost_or_doubled_token() {
    let gated = || {
        Scripted::new(|_| {
            let words = |from: u32| (from..from + 200).map(|n| Step::Say(format!("{n} ")));
            words(0).chain([Step::Gate]).chain(words(200)).collect()
        })
    };
    let (one, two) = (gated(), gated());
    let models = [("one", &one), ("two", &two)];
    let arena = TestArena::start_with(&models, |settings| settings.battle.pace_chars_per_second = 1_000).await;
    let mut visitor = arena.visitor().await;
    visitor.ask("Count").await;
    visitor.next_of(&["delta"]).await;
    visitor.next_of(&["delta"]).await;
    let battle = visitor.battle();
    let mut back = visitor.reconnect().await;
    back.frames.append(&mut visitor.frames);
    let seen = back.last_seq();
    visitor.drop_connection();
    back.send(json!({"type": "resume", "battle": battle, "after": seen})).await;
    one.open_gate();
    two.open_gate();
    let expected: String = (0..400).map(|n| format!("{n} ")).collect();
    assert_eq!(back.until_ready().await, [expected.clone(), expected]);
    let seqs: Vec<u64> = back.frames.iter().map(|frame| seq_of(frame)).collect();
    assert!(seqs.iter().copied().eq(1..=seqs.len() as u64), "{seqs:?}");
    assert_eq!(back.vote("a").await["type"], "revealed");
}

fn seq_of(frame: &str) -> u64 {
    serde_json::from_str::<Value>(frame).unwrap()["seq"].as_u64().unwrap()
}

#[actix_web::test]
async fn a_visitor_who_leaves_stops_both_upstreams() {
    let endless = || Scripted::new(|_| vec![Step::Say("x".repeat(30_000)), Step::Hang]);
    let (one, two) = (endless(), endless());
    let arena = TestArena::start_with(&[("one", &one), ("two", &two)], |settings| {
        settings.battle.resume_grace_ms = 50;
    })
    .await;
    let mut visitor = arena.visitor().await;
    visitor.ask("Go on").await;
    visitor.next_of(&["delta"]).await;
    let battle = visitor.battle();
    let mut back = visitor.reconnect().await;
    visitor.drop_connection();
    one.active_becomes(0).await;
    two.active_becomes(0).await;
    back.send(json!({"type": "resume", "battle": battle, "after": 0})).await;
    back.until_ready().await;
    assert_eq!(back.vote("tie").await["type"], "revealed", "what was answered so far can be voted on");
}

fn failing(error: ChatError) -> Scripted {
    Scripted::new(move |_| vec![Step::Fail(error.clone())])
}

#[actix_web::test]
async fn a_side_that_fails_before_its_first_token_is_replaced_and_the_other_goes_on() {
    let broken = failing(ChatError::Status { status: 500, retry_after: None });
    let (good, spare) = (Scripted::saying("Good words."), Scripted::saying("Spare words."));
    let arena = TestArena::start(&[("broken", &broken), ("good", &good), ("spare", &spare)]).await;
    for _ in 0..12 {
        let mut visitor = arena.visitor().await;
        visitor.ask("Who answers?").await;
        let mut texts = visitor.until_ready().await;
        texts.sort();
        assert_eq!(texts, ["Good words.", "Spare words."]);
        let revealed = visitor.vote("tie").await;
        assert!(revealed["a"]["id"] != "broken" && revealed["b"]["id"] != "broken", "{revealed}");
        let stored = arena.app.store.battle(&visitor.battle()).await.unwrap().unwrap();
        let ids = stored.models.map(|model| model.to_string());
        assert!(!ids.contains(&"broken".to_owned()), "{ids:?}");
    }
    assert!(broken.asked() > 0, "the broken model was never drawn");
    assert_eq!((good.asked(), spare.asked()), (12, 12), "the healthy side is asked once");
}

#[actix_web::test]
async fn a_side_that_breaks_off_voids_the_battle_while_the_other_goes_on() {
    let broken = Scripted::new(|_| vec![Step::Say("A start".into()), Step::Fail(ChatError::Reported)]);
    let slow =
        Scripted::new(|_| vec![Step::Say("A whole answer".into()), Step::Gate, Step::Say(", to its end".into())]);
    let models = [("broken", &broken), ("slow", &slow)];
    // One character a step: the pace does not wait for the gate.
    let arena = TestArena::start_with(&models, |settings| settings.battle.pace_chars_per_second = 20).await;
    let mut visitor = arena.visitor().await;
    visitor.ask("Hold on?").await;
    let voided = visitor.next_of(&["error"]).await;
    assert_eq!((&voided["code"], &voided["battle"]), (&json!("voided"), &json!(visitor.battle())));
    let said = voided.to_string();
    assert!(!said.contains("broken") && !said.contains("slow"), "{said}");
    slow.open_gate();
    visitor.next_of(&["done"]).await;
    let mut texts = visitor.texts();
    texts.sort();
    assert_eq!(texts, ["A start", "A whole answer, to its end"]);
    assert_eq!(visitor.vote("a").await["code"], "voided");
}

#[actix_web::test]
async fn the_side_that_goes_on_in_a_voided_battle_can_be_stopped() {
    let broken = Scripted::new(|_| vec![Step::Say("A start".into()), Step::Fail(ChatError::Reported)]);
    let endless = Scripted::new(|_| vec![Step::Say("On and on".into()), Step::Hang]);
    let models = [("broken", &broken), ("endless", &endless)];
    let arena = TestArena::start_with(&models, |settings| settings.battle.pacing = PacingMode::Raw).await;
    let mut visitor = arena.visitor().await;
    visitor.ask("Is that all?").await;
    assert_eq!(visitor.next_of(&["error"]).await["code"], "voided");
    visitor.send(json!({"type": "stop"})).await;
    assert_eq!(visitor.next_of(&["done", "error"]).await["type"], "done");
    endless.active_becomes(0).await;
    visitor.send(json!({"type": "stop"})).await;
    assert_eq!(visitor.next().await["code"], "voided", "nothing is written any more");
}

#[actix_web::test]
async fn nobody_is_asked_in_place_of_a_side_whose_battle_is_lost() {
    let broken = Scripted::new(|_| vec![Step::Say("A start".into()), Step::Fail(ChatError::Reported)]);
    let silent = Scripted::new(|_| vec![Step::Gate, Step::Fail(ChatError::Empty)]);
    let spare = Scripted::saying("Spare.");
    // The spare model is in the battle only if the coin falls on one side a million times.
    let roster = [("broken", 1e6, &broken), ("silent", 1e6, &silent), ("spare", 1.0, &spare)];
    let roster = roster.map(|(id, weight, model)| {
        let rng = ChaCha8Rng::seed_from_u64(SEED);
        Arc::new(ResilientModel::new(card(id), weight, Arc::new(model.clone()), quick_limits(), rng))
    });
    let raw = |settings: &mut Settings| settings.battle.pacing = PacingMode::Raw;
    let arena = TestArena::start_with_roster(Roster::new(roster.into()), raw).await;
    let mut visitor = arena.visitor().await;
    visitor.ask("Anyone?").await;
    assert_eq!(visitor.next_of(&["error"]).await["code"], "voided");
    silent.open_gate();
    until(async || (arena.app.battles.under_way() == 0).then_some(())).await;
    assert_eq!((silent.asked(), spare.asked()), (1, 0));
}

#[actix_web::test]
async fn with_nobody_left_to_replace_it_the_battle_is_voided() {
    let (broken, good) = (failing(ChatError::Empty), Scripted::saying("Here."));
    let arena = TestArena::start(&[("broken", &broken), ("good", &good)]).await;
    let mut visitor = arena.visitor().await;
    visitor.ask("Anyone?").await;
    assert_eq!(visitor.next_of(&["error"]).await["code"], "voided");
}

#[actix_web::test]
async fn a_hanging_side_is_cut_by_its_timeout_and_replaced() {
    let (hanging, good, spare) =
        (Scripted::new(|_| vec![Step::Hang]), Scripted::saying("Good."), Scripted::saying("Spare."));
    let mut limits = crate::support::arena::quick_limits();
    limits.timeouts.first_token = std::time::Duration::from_millis(30);
    let models = [("hanging", &hanging), ("good", &good), ("spare", &spare)];
    let arena = TestArena::start_with_limits(&models, limits, |_| {}).await;
    for _ in 0..8 {
        let mut visitor = arena.visitor().await;
        visitor.ask("Are you there?").await;
        let mut texts = visitor.until_ready().await;
        texts.sort();
        assert_eq!(texts, ["Good.", "Spare."]);
    }
    assert!(hanging.asked() > 0, "the hanging model was never drawn");
    hanging.active_becomes(0).await;
}

#[actix_web::test]
async fn reasoning_is_shown_after_the_vote_and_never_counted_as_the_answer() {
    let thinker = || Scripted::new(|_| vec![Step::Think("Let me see.".into()), Step::Say("Forty-two.".into())]);
    let (one, two) = (thinker(), thinker());
    let arena = TestArena::start(&[("one", &one), ("two", &two)]).await;
    let mut visitor = arena.visitor().await;
    visitor.ask("What is it?").await;
    assert_eq!(visitor.until_ready().await, ["Forty-two.", "Forty-two."]);
    assert!(!visitor.frames.concat().contains("Let me see"));
    assert_eq!(visitor.vote("a").await["a"]["reasoning"], json!(["Let me see."]));
}

#[actix_web::test]
async fn what_a_failed_model_thought_is_not_shown_as_its_replacements() {
    let fails = Scripted::new(|_| vec![Step::Think("Mine alone.".into()), Step::Fail(ChatError::Empty)]);
    let (good, spare) = (Scripted::saying("Good."), Scripted::saying("Spare."));
    let arena = TestArena::start(&[("fails", &fails), ("good", &good), ("spare", &spare)]).await;
    while fails.asked() == 0 {
        let mut visitor = arena.visitor().await;
        visitor.ask("Who?").await;
        visitor.until_ready().await;
        let revealed = visitor.vote("a").await.to_string();
        assert!(revealed.contains("revealed") && !revealed.contains("Mine alone"), "{revealed}");
    }
}

#[actix_web::test]
async fn a_battle_that_was_left_for_too_long_says_so() {
    let (one, two) = (Scripted::saying("1"), Scripted::saying("2"));
    let arena = TestArena::start(&[("one", &one), ("two", &two)]).await;
    let mut visitor = arena.visitor().await;
    visitor.ask("first").await;
    visitor.until_ready().await;
    arena
        .app
        .store
        .abandon_battles(langya::domain::time::Timestamp(i64::MAX), langya::domain::time::Timestamp(i64::MAX))
        .await
        .unwrap();
    for _ in 0..2 {
        visitor.send(json!({"type": "message", "prompt": "second"})).await;
        let refused = visitor.next().await;
        assert_eq!(refused["code"], "battle_over");
        assert!(refused["message"].as_str().unwrap().contains("too long"), "{refused}");
    }
    assert_eq!(visitor.vote("a").await["code"], "battle_over");
    let (battle, mut again) = (visitor.battle(), visitor.reconnect().await);
    visitor.drop_connection();
    until(async || {
        arena.app.battles.sweep();
        (!arena.app.battles.is_in_memory(&battle)).then_some(())
    })
    .await;
    again.send(json!({"type": "resume", "battle": battle, "after": 0})).await;
    let told = again.next_of(&["error", "ready"]).await;
    assert_eq!(
        (&told["code"], &told["battle"]),
        (&json!("battle_over"), &json!(battle)),
        "nothing else is to come: {told}"
    );
}

/// A visitor who asks and stops both replies before their first text.
async fn stopped_at_once(arena: &TestArena) -> Visitor {
    let mut visitor = arena.visitor().await;
    visitor.ask("Quick?").await;
    visitor.send(json!({"type": "stop"})).await;
    assert_eq!(visitor.until_ready().await, ["", ""]);
    visitor
}

#[actix_web::test]
async fn replies_that_nobody_saw_take_no_vote_until_they_are_regenerated() {
    let gated = || Scripted::new(|_| vec![Step::Gate, Step::Say("Here.".into())]);
    let (one, two) = (gated(), gated());
    let arena = TestArena::start(&[("one", &one), ("two", &two)]).await;
    let mut visitor = stopped_at_once(&arena).await;
    assert_eq!(visitor.vote("a").await["code"], "empty_reply");
    one.open_gate();
    two.open_gate();
    visitor.send(json!({"type": "regenerate"})).await;
    visitor.until_ready().await;
    assert_eq!(visitor.vote("a").await["type"], "revealed");
}

#[actix_web::test]
async fn a_question_that_was_stopped_before_its_reply_is_asked_together_with_the_next_one() {
    let gated = || {
        Scripted::new(|messages| {
            let heard: Vec<&str> = messages.iter().map(|message| message.content.as_str()).collect();
            vec![Step::Gate, Step::Say(format!("<{}>", heard.join("|")))]
        })
    };
    let (one, two) = (gated(), gated());
    let arena = TestArena::start(&[("one", &one), ("two", &two)]).await;
    let mut visitor = stopped_at_once(&arena).await;
    one.open_gate();
    two.open_gate();
    visitor.send(json!({"type": "message", "prompt": "Short?"})).await;
    assert_eq!(visitor.next_of(&["battle"]).await["turn"], 2);
    assert_eq!(visitor.until_ready().await, ["<Quick?\n\nShort?>"; 2], "no provider gets an empty message");
}

#[actix_web::test]
async fn a_number_that_the_battle_never_had_is_answered_with_all_of_it() {
    let (one, two) = (Scripted::saying(WORDS), Scripted::saying(WORDS));
    let arena = TestArena::start(&[("one", &one), ("two", &two)]).await;
    let mut visitor = arena.visitor().await;
    visitor.ask("Remember me?").await;
    visitor.until_ready().await;
    let battle = visitor.battle();
    for forgotten in [false, true] {
        let mut back = visitor.reconnect().await;
        if forgotten {
            visitor.drop_connection();
            forget(&arena, &battle).await;
            visitor = arena.visitor().await;
        }
        back.send(json!({"type": "resume", "battle": battle, "after": u64::MAX})).await;
        assert_eq!(back.until_ready().await, [WORDS, WORDS], "forgotten: {forgotten}");
    }
}

#[actix_web::test]
async fn a_battle_that_left_memory_is_read_back_and_can_be_voted_on() {
    let (one, two) = (Scripted::saying(WORDS), Scripted::saying(WORDS));
    let arena = TestArena::start(&[("one", &one), ("two", &two)]).await;
    let mut visitor = arena.visitor().await;
    visitor.ask("Remember me?").await;
    visitor.until_ready().await;
    let (battle, seen) = (visitor.battle(), visitor.last_seq());
    let mut back = visitor.reconnect().await;
    visitor.drop_connection();
    forget(&arena, &battle).await;
    back.send(json!({"type": "resume", "battle": battle, "after": seen})).await;
    let again = back.next().await;
    assert_eq!((&again["type"], &again["turn"]), (&json!("battle"), &json!(1)));
    assert!(again["seq"].as_u64().unwrap() > seen);
    assert_eq!(back.until_ready().await, [WORDS, WORDS]);
    assert_eq!(back.vote("both_bad").await["outcome"], "both_bad");
}

/// Sweeps until the battle, which nobody watches any more, is out of memory.
async fn forget(arena: &TestArena, battle: &BattleId) {
    while arena.app.battles.is_in_memory(battle) {
        arena.app.battles.sweep();
        tokio::task::yield_now().await;
    }
}

#[actix_web::test]
async fn a_question_that_the_database_did_not_take_leaves_the_battle_as_it_was() {
    let (one, two) = (Scripted::saying("one"), Scripted::saying("two"));
    let arena = TestArena::start(&[("one", &one), ("two", &two)]).await;
    let mut visitor = arena.visitor().await;
    visitor.ask("Which?").await;
    visitor.until_ready().await;
    arena.app.store.close().await;
    for _ in 0..2 {
        visitor.send(json!({"type": "message", "prompt": "And then?"})).await;
        assert_eq!(visitor.next().await["code"], "storage");
    }
}
