use super::*;
use crate::battle::event_log::EPOCH_GAP;
use crate::battle::mode::BattleMode;
use crate::battle::progress::Progress;
use crate::battle::record::ReplyEnding;
use crate::battle::{BattleId, ModelId, VisitorId};

/// A stored battle of one turn.
fn record(stage: Stage, replies: &[&str]) -> BattleRecord {
    let row = BattleRow {
        id: BattleId::new("x"),
        visitor: VisitorId::new("visitor"),
        mode: BattleMode::Anonymous,
        progress: Progress { stage, turn: 1 },
        models: ["one", "two"].map(ModelId::new),
        pairing_policy: "uniform".into(),
        policy_version: 1,
        pair_probability: 1.0,
        language: "en".into(),
        category: None,
        intent: None,
        answered_by: Some(RunId::new("there.0")),
    };
    let reply = |(side, text): (Side, &&str)| NewReply {
        side,
        model: row.models[side.index()].clone(),
        text: (*text).to_owned(),
        reasoning: String::new(),
        ending: ReplyEnding::Complete,
        first_token_ms: Some(1),
        duration_ms: 2,
    };
    let replies = Side::BOTH.into_iter().zip(replies).map(|kept| ReplyRow { turn: 1, reply: reply(kept) }).collect();
    BattleRecord { turns: vec![TurnRow { turn: 1, prompt: "Which?".into() }], replies, images: Vec::new(), battle: row }
}

/// Events of the answering instance, numbered from 1.
fn letter(replies: [&str; 2]) -> Vec<EventEntry> {
    let answer = Some(RunId::new("there.0").public());
    let [a, b] = replies.map(str::to_owned);
    let events = [
        BattleEvent::Turn { prompt: "Which?".into(), answer },
        BattleEvent::Delta { side: Side::A, text: a },
        BattleEvent::Delta { side: Side::B, text: b },
        BattleEvent::Done { side: Side::A },
        BattleEvent::Done { side: Side::B },
        BattleEvent::Ready,
    ];
    (1..).zip(events).map(|(seq, event)| EventEntry { seq, turn: 1, event }).collect()
}

#[test]
fn a_turn_that_ends_elsewhere_is_ready_when_this_instance_can_take_its_vote() {
    let mut battle = ActiveBattle::follow(record(Stage::Answering, &[]), EPOCH_GAP);
    assert!(!battle.apply_events(1, letter(["A", "B"])));
    let told = battle.log().head();
    assert_eq!(battle.log().after(0), &letter(["A", "B"])[..5], "nothing is ready yet");
    assert_eq!(battle.row.progress.stage, Stage::Answering);
    battle.catch_up(record(Stage::Ready, &["A", "B"]), EPOCH_GAP);
    assert_eq!(battle.log().after(told), &letter(["A", "B"])[5..], "with the number that it has elsewhere");
    assert_eq!(battle.row.progress.stage, Stage::Ready);
}

#[test]
fn what_the_database_holds_otherwise_is_sent_again() {
    let mut battle = ActiveBattle::follow(record(Stage::Answering, &[]), EPOCH_GAP);
    assert!(!battle.apply_events(1, letter(["A", "B"])));
    let known = battle.log().head();
    battle.catch_up(record(Stage::Ready, &["A", "Another"]), EPOCH_GAP);
    let told = battle.log().after(known);
    let texts: Vec<BattleEvent> = told.iter().map(|entry| entry.event.clone()).collect();
    let anew: Vec<BattleEvent> = letter(["A", "Another"]).into_iter().map(|entry| entry.event).collect();
    assert!(told[0].seq >= EPOCH_GAP, "{told:?}");
    // Replies of a finished turn are logged one after the other.
    let in_order = [0, 1, 3, 2, 4, 5].map(|at| anew[at].clone());
    assert_eq!(texts, in_order);
}

#[test]
fn the_same_text_of_another_answering_is_sent_again_because_votes_name_the_answering() {
    let mut battle = ActiveBattle::follow(record(Stage::Answering, &[]), EPOCH_GAP);
    assert!(!battle.apply_events(1, letter(["A", "B"])));
    let known = battle.log().head();
    let mut ended = record(Stage::Ready, &["A", "B"]);
    ended.battle.answered_by = Some(RunId::new("here.0"));
    battle.catch_up(ended, EPOCH_GAP);
    let answer = Some(RunId::new("here.0").public());
    assert_eq!(battle.log().after(known)[0].event, BattleEvent::Turn { prompt: "Which?".into(), answer });
}

#[test]
fn a_turn_that_is_taken_over_has_the_models_that_its_instance_left() {
    let mut battle = ActiveBattle::follow(record(Stage::Answering, &[]), EPOCH_GAP);
    let mut left = record(Stage::Answering, &[]);
    left.battle.models = ["one", "three"].map(ModelId::new);
    (left.battle.pair_probability, left.battle.answered_by) = (0.25, Some(RunId::new("here.0")));
    battle.adopt(left.clone(), EPOCH_GAP);
    assert_eq!((&battle.row, battle.is_followed()), (&left.battle, false));
}

/// A battle whose second question is being answered.
fn second_question() -> BattleRecord {
    let mut record = record(Stage::Answering, &["A", "B"]);
    record.turns.push(TurnRow { turn: 2, prompt: "And?".into() });
    record.battle.progress.turn = 2;
    record
}

/// Events sent after taking over a battle of which only these events of the first turn were received.
fn sent_after(received: &[EventEntry]) -> (ActiveBattle, Vec<BattleEvent>) {
    let mut battle = ActiveBattle::follow(second_question(), EPOCH_GAP);
    assert!(!battle.apply_events(1, received.to_vec()));
    let known = battle.log().last_seq().unwrap_or(0);
    battle.adopt(second_question(), EPOCH_GAP);
    let sent = battle.log().after(known);
    assert!(sent.iter().all(|entry| entry.seq >= EPOCH_GAP && entry.turn == 1), "{sent:?}");
    let sent = sent.iter().map(|entry| entry.event.clone()).collect();
    (battle, sent)
}

#[test]
fn a_turn_that_is_taken_over_before_its_beginning_came_has_its_question_and_the_replies_before_it() {
    let all = letter(["A", "B"]);
    for received in 0..=all.len() {
        let (battle, _) = sent_after(&all[..received]);
        let conversation = [Message::user("Which?"), Message::assistant("B"), Message::user("And?")];
        assert_eq!(battle.conversation(2, Side::B), conversation, "{received} events received");
        assert_eq!(battle.exchanges.last(), Some(&Exchange::unanswered("And?")));
    }
}

#[test]
fn the_turn_before_one_that_is_taken_over_is_sent_again_unless_all_of_it_was_sent() {
    let all = letter(["A", "B"]);
    let (_, sent) = sent_after(&all);
    assert_eq!(sent, [], "it is on every screen");
    for received in 0..all.len() - 1 {
        let (_, sent) = sent_after(&all[..received]);
        // Replies of a finished turn are logged one after the other.
        let expected = [1, 3, 2, 4].map(|at| all[at].event.clone());
        assert!(matches!(sent[0], BattleEvent::Turn { .. }), "{received} events received: {sent:?}");
        assert_eq!(sent[1..], expected, "{received} events received");
    }
}

#[test]
fn a_turn_that_is_answered_again_keeps_none_of_its_former_replies() {
    let mut regenerated = record(Stage::Answering, &["former A", "former B"]);
    regenerated.battle.answered_by = Some(RunId::new("gone.0"));
    let mut restored = ActiveBattle::restore(regenerated.clone(), 1);
    let mut followed = ActiveBattle::follow(regenerated.clone(), EPOCH_GAP);
    for battle in [&mut restored, &mut followed] {
        battle.adopt(regenerated.clone(), EPOCH_GAP);
        assert_eq!((&battle.replies[..], &battle.exchanges[..]), (&[][..], &[Exchange::unanswered("Which?")][..]));
        let new = record(Stage::Ready, &["A", "B"]).replies;
        battle.keep_replies(1, new.iter().map(|row| row.reply.clone()).collect());
        battle.move_on(Stage::Ready, BattleEvent::Ready);
        let kept = battle.awaiting_vote().map(|kept| kept.replies);
        assert_eq!(kept, Some(new), "the vote is about these");
    }
}
