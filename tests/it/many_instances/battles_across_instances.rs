//! One arena served by several instances: a battle goes on wherever its visitor comes back.

use futures_util::future::join_all;
use langya::domain::battle::message::Message;
use langya::domain::battle::progress::{Progress, Stage};
use langya::domain::battle::{BattleId, ModelId, RunId, Side};
use langya::domain::time::Timestamp;
use langya::infra::storage::{NewReply, ReplyEnding, SideFailure};
use serde_json::{Value, json};

use crate::support::arena::TestArena;
use crate::support::scripted::{Scripted, Step};
use crate::support::until;
use crate::support::visitor::Visitor;
use crate::support::wire::Wire;

const WHOLE: &str = "First half, then the second half.";

/// A model that stops half-way until its gate is opened.
fn halting() -> Scripted {
    let (first, second) = WHOLE.split_at(11);
    Scripted::new(move |_| vec![Step::Say(first.into()), Step::Gate, Step::Say(second.into())])
}

/// Two instances of one arena, each with its own models, between them a wire.
async fn two_instances(one: &Scripted, two: &Scripted) -> (TestArena, TestArena, Wire) {
    let wire = Wire::new();
    let models = [("one", one), ("two", two)];
    let change = |settings: &mut langya::infra::config::Settings| {
        settings.battle.pacing = langya::infra::config::PacingMode::Raw
    };
    let first = TestArena::start_on(&models, wire.bus("first"), None, change).await;
    let second = TestArena::start_on(&models, wire.bus("second"), Some(&first), change).await;
    (first, second, wire)
}

/// The same person at another instance.
async fn at(arena: &TestArena, visitor: &Visitor) -> Visitor {
    Visitor::connect_with(&arena.url, Some(("cookie", visitor.cookie().to_owned()))).await.unwrap()
}

/// Starts a battle and reads the first half of both replies.
async fn half_way(arena: &TestArena) -> Visitor {
    let mut visitor = arena.visitor().await;
    visitor.ask("Both halves?").await;
    visitor.next_of(&["battle"]).await;
    visitor.next_of(&["delta"]).await;
    visitor.next_of(&["delta"]).await;
    visitor
}

/// The same person at both instances with a battle that is ready, where the models have opened gates.
async fn ready_at_both(first: &TestArena, second: &TestArena) -> (Visitor, Visitor) {
    let mut visitor = half_way(first).await;
    visitor.until_ready().await;
    let mut back = at(second, &visitor).await;
    resume(&mut back, &visitor.battle(), visitor.last_seq()).await;
    back.next_of(&["ready"]).await;
    (visitor, back)
}

async fn resume(visitor: &mut Visitor, battle: &BattleId, after: u64) {
    visitor.send(json!({"type": "resume", "battle": battle, "after": after})).await;
}

fn seqs(visitor: &Visitor) -> Vec<u64> {
    let frames = visitor.frames.iter().map(|frame| serde_json::from_str::<Value>(frame).unwrap());
    frames.filter_map(|frame| frame["seq"].as_u64()).collect()
}

#[actix_web::test]
async fn a_battle_goes_on_at_another_instance_without_a_lost_or_doubled_token() {
    let (one, two) = (halting(), halting());
    let (first, second, wire) = two_instances(&one, &two).await;
    let visitor = half_way(&first).await;
    let (battle, seen) = (visitor.battle(), visitor.last_seq());
    let mut back = at(&second, &visitor).await;
    visitor.drop_connection();
    resume(&mut back, &battle, seen).await;
    // One letter asks, one answers.
    wire.delivered(2).await;
    one.open_gate();
    two.open_gate();
    let rest = back.until_ready().await;
    assert_eq!(rest, [&WHOLE[11..]; 2], "the second halves, once: {:?}", back.frames);
    assert_eq!(seqs(&back), (seen + 1..=back.last_seq()).collect::<Vec<_>>());
    assert_eq!((one.asked(), two.asked()), (1, 1), "nobody was asked twice");
    let revealed = back.vote("a").await;
    assert_eq!(revealed["type"], "revealed");
}

#[actix_web::test]
async fn letters_that_get_lost_are_asked_for_again() {
    let (one, two) = (halting(), halting());
    let (first, second, wire) = two_instances(&one, &two).await;
    let visitor = half_way(&first).await;
    let (battle, seen) = (visitor.battle(), visitor.last_seq());
    let mut back = at(&second, &visitor).await;
    resume(&mut back, &battle, seen).await;
    wire.delivered(2).await;
    wire.lose(3);
    one.open_gate();
    two.open_gate();
    assert_eq!(back.until_ready().await, [&WHOLE[11..]; 2]);
    assert_eq!(seqs(&back), (seen + 1..=back.last_seq()).collect::<Vec<_>>());
}

#[actix_web::test]
async fn a_visitor_who_watches_elsewhere_keeps_the_battle_going() {
    let (one, two) = (halting(), halting());
    let (first, second, _wire) = two_instances(&one, &two).await;
    let visitor = half_way(&first).await;
    let mut back = at(&second, &visitor).await;
    let battle = visitor.battle();
    resume(&mut back, &battle, visitor.last_seq()).await;
    visitor.drop_connection();
    // Longer than the grace for a visitor who has left.
    let quiet = tokio::time::timeout(std::time::Duration::from_millis(2_500), back.try_next()).await;
    assert!(quiet.is_err(), "{quiet:?}");
    assert!(first.app.battles.is_in_memory(&battle));
    one.open_gate();
    two.open_gate();
    assert_eq!(back.until_ready().await, [&WHOLE[11..]; 2]);
}

#[actix_web::test]
async fn a_visitor_who_left_both_instances_stops_the_upstreams() {
    let (one, two) = (halting(), halting());
    let (first, second, _wire) = two_instances(&one, &two).await;
    let visitor = half_way(&first).await;
    let mut back = at(&second, &visitor).await;
    resume(&mut back, &visitor.battle(), 0).await;
    back.next_of(&["delta"]).await;
    visitor.drop_connection();
    back.drop_connection();
    one.active_becomes(0).await;
    two.active_becomes(0).await;
}

#[actix_web::test]
async fn a_stop_reaches_the_instance_that_answers() {
    let (one, two) = (halting(), halting());
    let (first, second, _wire) = two_instances(&one, &two).await;
    let visitor = half_way(&first).await;
    let mut back = at(&second, &visitor).await;
    resume(&mut back, &visitor.battle(), 0).await;
    back.next_of(&["delta"]).await;
    back.send(json!({"type": "stop"})).await;
    back.next_of(&["ready"]).await;
    assert_eq!(back.texts(), [&WHOLE[..11]; 2]);
    one.active_becomes(0).await;
}

#[actix_web::test]
async fn while_nothing_crosses_the_end_of_the_turn_comes_from_the_database() {
    let (one, two) = (halting(), halting());
    let (first, second, wire) = two_instances(&one, &two).await;
    let visitor = half_way(&first).await;
    let (battle, seen) = (visitor.battle(), visitor.last_seq());
    wire.cut();
    let mut back = at(&second, &visitor).await;
    visitor.drop_connection();
    resume(&mut back, &battle, seen).await;
    one.open_gate();
    two.open_gate();
    assert_eq!(back.until_ready().await, [WHOLE; 2], "sent again, whole");
    let told = seqs(&back);
    assert!(told[0] > seen && told.is_sorted(), "{told:?}");
    assert_eq!((one.asked(), two.asked()), (1, 1), "nobody was asked twice");
}

/// Has a run of nobody answer the battle's turn again.
async fn begin_elsewhere(arena: &TestArena, battle: &BattleId, run: &RunId) {
    let store = &arena.app.store;
    let from = store.battle(battle).await.unwrap().unwrap().answered_by;
    assert!(store.begin_turn(battle, 1, None, from.as_ref(), run, Timestamp(1)).await.unwrap());
}

#[actix_web::test]
async fn a_turn_whose_instance_is_unknown_is_answered_again_at_once() {
    let (one, two) = (halting(), halting());
    let (first, second, _wire) = two_instances(&one, &two).await;
    one.open_gate();
    two.open_gate();
    let mut visitor = half_way(&first).await;
    visitor.until_ready().await;
    let battle = visitor.battle();
    begin_elsewhere(&first, &battle, &RunId::new("gone.0")).await;
    let mut back = at(&second, &visitor).await;
    resume(&mut back, &battle, visitor.last_seq()).await;
    let begun = back.next().await;
    assert_eq!((&begun["type"], &begun["turn"]), (&json!("battle"), &json!(1)), "forget what you have of it");
    assert_eq!(back.until_ready().await, [WHOLE; 2]);
}

#[actix_web::test]
async fn a_turn_is_taken_over_when_its_instance_stops_beating() {
    let (one, two) = (halting(), halting());
    let (first, second, _wire) = two_instances(&one, &two).await;
    one.open_gate();
    two.open_gate();
    let mut visitor = half_way(&first).await;
    visitor.until_ready().await;
    let battle = visitor.battle();
    first.app.store.heartbeat("stopped", "", Timestamp(1)).await.unwrap();
    begin_elsewhere(&first, &battle, &RunId::new("stopped.0")).await;
    let mut back = at(&second, &visitor).await;
    resume(&mut back, &battle, visitor.last_seq()).await;
    assert_eq!(back.until_ready().await, [WHOLE; 2]);
    assert_eq!((one.asked(), two.asked()), (2, 2));
}

#[actix_web::test]
async fn a_turn_that_is_taken_over_is_answered_by_the_models_that_its_instance_left() {
    let (wire, names) = (Wire::new(), ["one", "two", "three"]);
    let scripts = names.map(Scripted::saying);
    let models: Vec<(&str, &Scripted)> = names.into_iter().zip(&scripts).collect();
    let first = TestArena::start_on(&models, wire.bus("first"), None, |_| {}).await;
    let second = TestArena::start_on(&models, wire.bus("second"), Some(&first), |_| {}).await;
    let mut visitor = first.visitor().await;
    visitor.ask("Who are you?").await;
    visitor.until_ready().await;
    let (battle, store, run) = (visitor.battle(), &first.app.store, RunId::new("stopped.0"));
    store.heartbeat("stopped", "", Timestamp(1)).await.unwrap();
    begin_elsewhere(&first, &battle, &run).await;
    let mut back = at(&second, &visitor).await;
    resume(&mut back, &battle, visitor.last_seq()).await;
    until(async || {
        store.heartbeat("stopped", "", Timestamp(1)).await.unwrap();
        second.app.battles.is_in_memory(&battle).then_some(())
    })
    .await;
    // The second instance has read the row, and then the other one replaces a model and is gone.
    let [failed, stays] = store.battle(&battle).await.unwrap().unwrap().models;
    let spare = names.map(ModelId::new).into_iter().find(|model| ![&failed, &stays].contains(&model)).unwrap();
    let replacement = Some((spare.clone(), 0.25));
    let failure = SideFailure { turn: 1, side: Side::A, model: failed, reason: "a test".into(), replacement };
    assert!(store.record_side_failure(&battle, &run, &failure, Timestamp(2)).await.unwrap());
    let texts = back.until_ready().await;
    assert_eq!(texts, [spare.as_str(), stays.as_str()]);
    let revealed = back.vote("a").await;
    assert_eq!([&revealed["a"]["id"], &revealed["b"]["id"]], [spare.as_str(), stays.as_str()]);
    let kept = store.replies(&battle).await.unwrap();
    assert!(kept.iter().map(|row| &row.reply.model).eq([&spare, &stays]), "{kept:?}");
}

#[actix_web::test]
async fn a_turn_of_which_nothing_was_received_is_taken_over_with_its_question_and_the_replies_before_it() {
    let conversation = |messages: &[Message]| messages.iter().map(|said| said.content.clone()).collect::<Vec<_>>();
    let repeating = || Scripted::new(move |messages| vec![Step::Say(conversation(messages).join(" | "))]);
    let (one, two) = (repeating(), repeating());
    let (first, second, _wire) = two_instances(&one, &two).await;
    let mut visitor = first.visitor().await;
    visitor.ask("Which?").await;
    assert_eq!(visitor.until_ready().await, ["Which?"; 2]);
    // The first instance begins a turn and does not remember it: it sends the turn before, and says that this is all.
    let (battle, store) = (visitor.battle(), &first.app.store);
    let answered_by = store.battle(&battle).await.unwrap().unwrap().answered_by.unwrap();
    let forgotten = RunId::new(format!("{}0", answered_by.as_str()));
    let begun = store.begin_turn(&battle, 2, Some("And then?"), Some(&answered_by), &forgotten, Timestamp(1)).await;
    assert!(begun.unwrap());
    let mut back = at(&second, &visitor).await;
    resume(&mut back, &battle, visitor.last_seq()).await;
    back.next_of(&["ready"]).await;
    assert_eq!(back.texts(), ["Which? | Which? | And then?"; 2]);
    let kept = store.turns(&battle).await.unwrap();
    assert!(kept.iter().map(|turn| turn.prompt.as_str()).eq(["Which?", "And then?"]), "{kept:?}");
}

/// A model that says so many words beyond its gate and then no more.
fn endless(word: &'static str) -> Scripted {
    Scripted::new(move |_| {
        let rest = std::iter::repeat_n(Step::Say(format!("{word} ")), 20);
        [Step::Say(format!("{word} ")), Step::Gate].into_iter().chain(rest).chain([Step::Hang]).collect()
    })
}

#[actix_web::test]
async fn two_tabs_that_come_back_before_anything_was_heard_get_all_of_it() {
    let (one, two) = (halting(), halting());
    let (first, second, wire) = two_instances(&one, &two).await;
    let visitor = half_way(&first).await;
    let battle = visitor.battle();
    let mut tabs = [at(&second, &visitor).await, at(&second, &visitor).await];
    // The question for the events gets lost, so that the second tab comes while nothing is known of them.
    wire.lose(1);
    resume(&mut tabs[0], &battle, 0).await;
    wire.lost_all().await;
    resume(&mut tabs[1], &battle, 0).await;
    one.open_gate();
    two.open_gate();
    for tab in &mut tabs {
        assert_eq!(tab.until_ready().await, [WHOLE; 2]);
    }
}

#[actix_web::test]
async fn numbers_of_one_telling_lead_into_no_other() {
    let (wire, theirs, ours) = (Wire::new(), [endless("theirs"), endless("theirs")], [halting(), halting()]);
    let raw = |settings: &mut langya::infra::config::Settings| {
        settings.battle.pacing = langya::infra::config::PacingMode::Raw
    };
    let models = [("one", &theirs[0]), ("two", &theirs[1])];
    let first = TestArena::start_on(&models, wire.bus("first"), None, raw).await;
    let models = [("one", &ours[0]), ("two", &ours[1])];
    let second = TestArena::start_on(&models, wire.bus("second"), Some(&first), raw).await;
    let mut visitor = half_way(&first).await;
    let (battle, seen, store) = (visitor.battle(), visitor.last_seq(), &first.app.store);
    // The first instance goes on without knowing that it was taken for gone.
    let run = store.battle(&battle).await.unwrap().unwrap().answered_by;
    let taken = store.take_over_turn(&battle, run.as_ref(), &RunId::new("gone.0"), Timestamp(1)).await.unwrap();
    assert!(taken.is_some());
    let mut back = at(&second, &visitor).await;
    resume(&mut back, &battle, seen).await;
    back.next_of(&["battle"]).await;
    back.next_of(&["delta"]).await;
    theirs.iter().for_each(Scripted::open_gate);
    while visitor.texts().iter().any(|text| text.matches("theirs").count() < 21) {
        visitor.next_of(&["delta"]).await;
    }
    let mut again = visitor.reconnect().await;
    resume(&mut again, &battle, back.last_seq()).await;
    assert_eq!(again.next().await["type"], "battle", "a telling is entered at its beginning");
}

#[actix_web::test]
async fn an_instance_that_was_taken_for_gone_does_not_write_over_the_other() {
    let (one, two) = (halting(), halting());
    let (first, _second, _wire) = two_instances(&one, &two).await;
    let mut visitor = half_way(&first).await;
    let (battle, store) = (visitor.battle(), &first.app.store);
    let run = store.battle(&battle).await.unwrap().unwrap().answered_by;
    let taken = store.take_over_turn(&battle, run.as_ref(), &RunId::new("other.0"), Timestamp(1)).await.unwrap();
    assert!(taken.is_some());
    let theirs = Side::BOTH.map(|side| NewReply {
        side,
        model: ModelId::new("one"),
        text: "theirs".into(),
        reasoning: String::new(),
        ending: ReplyEnding::Complete,
        first_token_ms: None,
        duration_ms: 1,
    });
    let ready = Progress { stage: Stage::Ready, turn: 1 };
    assert!(store.finish_turn(&battle, &RunId::new("other.0"), ready, &theirs, Timestamp(2)).await.unwrap());
    one.open_gate();
    two.open_gate();
    let end = loop {
        match visitor.try_next().await {
            Ok(frame) => assert_ne!(frame["type"], "ready"),
            Err(code) => break code,
        }
    };
    assert_eq!(end.map(u16::from), Some(1012), "come back for it");
    let kept = store.replies(&battle).await.unwrap();
    assert!(kept.iter().all(|row| row.reply.text == "theirs"), "{kept:?}");
    let mut back = visitor.reconnect().await;
    resume(&mut back, &battle, 0).await;
    assert_eq!(back.until_ready().await, ["theirs"; 2]);
}

#[actix_web::test]
async fn a_further_turn_moves_the_battle_to_the_instance_that_was_asked() {
    let (one, two) = (halting(), halting());
    let (first, second, _wire) = two_instances(&one, &two).await;
    one.open_gate();
    two.open_gate();
    let (visitor, mut back) = ready_at_both(&first, &second).await;
    let battle = visitor.battle();
    back.send(json!({"type": "message", "prompt": "And then?"})).await;
    let begun = back.next_of(&["battle"]).await;
    assert_eq!(begun["turn"], 2);
    back.until_ready().await;
    // The first instance still has the first turn in its memory.
    let mut again = visitor.reconnect().await;
    resume(&mut again, &battle, 0).await;
    let ready = again.next_of(&["ready", "error"]).await;
    assert_eq!((&ready["type"], &ready["turn"]), (&json!("ready"), &json!(2)), "{ready}");
    let vote = again.vote("tie").await;
    assert_eq!(vote["type"], "revealed");
    back.send(json!({"type": "vote", "outcome": "a"})).await;
    assert_eq!(back.next_of(&["revealed", "error"]).await, vote, "the first vote counts, wherever it is asked for");
}

#[actix_web::test]
async fn a_vote_on_regenerated_replies_counts_at_the_instance_that_remembers_the_former_ones() {
    let (one, two) = (halting(), halting());
    let (first, second, _wire) = two_instances(&one, &two).await;
    one.open_gate();
    two.open_gate();
    let (mut visitor, mut back) = ready_at_both(&first, &second).await;
    let battle = visitor.battle();
    back.send(json!({"type": "regenerate"})).await;
    let latest = back.next_of(&["battle"]).await["answer"].clone();
    back.until_ready().await;
    assert!(latest.is_string() && first.app.battles.is_in_memory(&battle), "{latest}");
    visitor.send(json!({"type": "vote", "battle": battle, "turn": 1, "answer": latest, "outcome": "a"})).await;
    let receipt = visitor.next_of(&["revealed", "error"]).await;
    assert_eq!(receipt["type"], "revealed", "{receipt}");
}

#[actix_web::test]
async fn what_is_said_as_soon_as_a_turn_is_ready_is_taken_at_the_instance_that_follows_it() {
    let (one, two) = (halting(), halting());
    let (first, second, wire) = two_instances(&one, &two).await;
    for _ in 0..10 {
        one.close_gate();
        two.close_gate();
        let visitor = half_way(&first).await;
        let mut back = at(&second, &visitor).await;
        resume(&mut back, &visitor.battle(), visitor.last_seq()).await;
        wire.delivered(2).await;
        one.open_gate();
        two.open_gate();
        back.next_of(&["ready"]).await;
        back.send(json!({"type": "message", "prompt": "And then?"})).await;
        let begun = back.next().await;
        assert_eq!((&begun["type"], &begun["turn"]), (&json!("battle"), &json!(2)), "{begun}");
    }
}

#[actix_web::test]
async fn only_its_own_visitor_sees_a_battle_of_another_instance() {
    let (one, two) = (halting(), halting());
    let (first, second, _wire) = two_instances(&one, &two).await;
    let visitor = half_way(&first).await;
    let mut stranger = second.visitor().await;
    resume(&mut stranger, &visitor.battle(), 0).await;
    assert_eq!(stranger.next().await["code"], "unknown_battle");
}

/// Reads on to a frame that `ends` the wait; comes back wherever the socket is closed.
async fn until_frame(mut tab: Visitor, battle: &BattleId, ends: impl Fn(&Value) -> bool) -> Visitor {
    loop {
        match tab.try_next().await {
            Ok(frame) if ends(&frame) => return tab,
            Ok(frame) => assert!(frame["type"] != "error" || frame["code"] == "not_ready", "{frame}"),
            Err(code) => {
                assert_eq!(code.map(u16::from), Some(1012));
                tab = tab.reconnect().await;
                resume(&mut tab, battle, 0).await;
            }
        }
    }
}

/// The same for several tabs at once.
async fn until_all(tabs: Vec<Visitor>, battle: &BattleId, ends: impl Fn(&Value) -> bool) -> Vec<Visitor> {
    join_all(tabs.into_iter().map(|tab| until_frame(tab, battle, &ends))).await
}

#[actix_web::test]
async fn of_tabs_that_ask_at_once_one_is_answered_and_the_others_follow() {
    let (one, two) = (halting(), halting());
    let (first, second, _wire) = two_instances(&one, &two).await;
    for round in 1..=8 {
        one.open_gate();
        two.open_gate();
        let mut visitor = half_way(&first).await;
        visitor.until_ready().await;
        let battle = visitor.battle();
        let mut tabs = vec![at(&second, &visitor).await, at(&first, &visitor).await, visitor];
        for tab in &mut tabs[..2] {
            resume(tab, &battle, 0).await;
            tab.next_of(&["ready"]).await;
        }
        one.close_gate();
        two.close_gate();
        // The tab in the middle only looks, at the instance where another one asks in the same moment.
        let words = [json!({"type": "message", "prompt": "And?"}), json!({"type": "resume", "after": 0})];
        let sent = tabs.iter_mut().zip([&words[0], &words[1], &words[0]]);
        join_all(sent.map(|(tab, words)| tab.send(words.clone()))).await;
        // Each has heard that the turn begins, or that another tab was quicker.
        let heard = |frame: &Value| frame["code"] == "not_ready" || frame["type"] == "battle" && frame["turn"] == 2;
        tabs = until_all(tabs, &battle, heard).await;
        one.open_gate();
        two.open_gate();
        until_all(tabs, &battle, |frame| frame["type"] == "ready" && frame["turn"] == 2).await;
        assert_eq!((one.asked(), two.asked()), (2 * round, 2 * round), "each turn is asked once");
    }
}
