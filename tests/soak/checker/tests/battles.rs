//! Violations of battles: visitors, stages and refusals.

use langya::domain::battle::Side;

use super::{check, history, renumber, spoilt};
use crate::checker::evidence::{BattleHistory, Event, Evidence, Numbered, StoredFailure, Told, VisitorHistory};
use crate::checker::{Violation, refused_votes};

#[test]
fn a_battle_that_changes_hands_is_found() {
    let changed = |v: &Violation| matches!(v, Violation::OwnerChanged { .. });
    check(|e| e.stored.battles[2].visitor = "visitor-0".into(), changed);
    check(|e| e.stored.votes[0].visitor = "visitor-1".into(), changed);
}

#[test]
fn a_refused_vote_is_found() {
    let refuse = |e: &mut Evidence| {
        let refused = Event::Refused { asked: "vote", code: "unknown_battle".into() };
        history(e, "two").events.insert(0, refused);
    };
    check(refuse, |v| matches!(v, Violation::Refused { code, .. } if code == "unknown_battle"));
    let not_ready = Event::Refused { asked: "vote", code: "not_ready".into() };
    let refused = |v: &Violation| matches!(v, Violation::Refused { code, .. } if code == "not_ready");
    check(|e| history(e, "two").events.extend([Event::Asked, not_ready.clone()]), refused);
    let asked_twice = spoilt(|e| history(e, "two").events.extend([Event::Asked, Event::Asked, not_ready.clone()]));
    assert_eq!(asked_twice, [], "the second question is being answered");
    let not_empty = |e: &mut Evidence| {
        history(e, "two").events.push(Event::Refused { asked: "vote", code: "empty_reply".into() });
    };
    check(not_empty, |v| matches!(v, Violation::Refused { code, .. } if code == "empty_reply"));
}

#[test]
fn every_refused_vote_counts_where_none_may_be_refused() {
    let refuse = |code: &str| Event::Refused { asked: "vote", code: code.into() };
    let refused = |events: &[Event]| {
        let history = BattleHistory { id: "x".into(), events: events.to_vec() };
        refused_votes(&Evidence {
            visitors: vec![VisitorHistory { asked: Vec::new(), battles: vec![history] }],
            ..Evidence::default()
        })
        .len()
    };
    assert_eq!(refused(&[Event::Asked, refuse("not_ready")]), 1);
    assert_eq!(refused(&[Event::Asked, refuse("draining")]), 1);
    let asked_twice = [Event::Asked, Event::Asked, refuse("not_ready"), refuse("draining"), refuse("storage")];
    assert_eq!(refused(&asked_twice), 1, "only what the second question may have been refused with is excused");
}

#[test]
fn a_visitor_without_a_receipt_is_found() {
    let unfinished = |v: &Violation| matches!(v, Violation::Unfinished { .. });
    check(|e| drop(history(e, "three").events.pop()), unfinished);
    let gave_up = |e: &mut Evidence| {
        let events = &mut history(e, "three").events;
        events.pop();
        events.push(Event::GaveUp { why: "nobody answered".into() });
    };
    check(gave_up, unfinished);
}

#[test]
fn a_lost_battle_is_found() {
    let lost = |v: &Violation| matches!(v, Violation::BattleLost { battle, .. } if battle == "one");
    check(|e| drop(e.stored.battles.remove(0)), lost);
    check(|e| e.stored.turns.retain(|row| !(row.battle == "one" && row.turn == 2)), lost);
    let never_done = |e: &mut Evidence| {
        let events = &mut history(e, "one").events;
        events.retain(|event| {
            !matches!(event, Event::Heard(Numbered { turn: 2, told: Told::Done { side: Side::B }, .. }))
        });
        renumber(e, "one");
    };
    check(never_done, lost);
}

#[test]
fn an_invented_battle_is_found() {
    let invent = |e: &mut Evidence| drop(e.visitors[0].asked.pop());
    check(invent, |v| matches!(v, Violation::BattleInvented { battle } if battle == "one"));
}

#[test]
fn a_battle_voided_without_a_failed_model_is_found() {
    let voided = |v: &Violation| matches!(v, Violation::Voided { .. });
    let void = |e: &mut Evidence| e.stored.battles[3].stage = "voided".into();
    let failed = StoredFailure { battle: "four".into(), side: Side::A, model: "red".into() };
    check(void, voided);
    let found = spoilt(|e| {
        void(e);
        e.stored.failures.push(failed);
    });
    assert!(!found.iter().any(voided), "a failed model explains it: {found:#?}");
}
