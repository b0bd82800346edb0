//! Violations of votes, receipts, the exported log and the leaderboard.

use langya::domain::battle::Side;
use serde_json::{Value, json};

use super::{check, history};
use crate::checker::Violation;
use crate::checker::evidence::{Event, Evidence, StoredVote};

#[test]
fn a_lost_vote_is_found() {
    check(|e| drop(e.stored.votes.remove(1)), |v| matches!(v, Violation::VoteLost { battle } if battle == "two"));
}

#[test]
fn a_doubled_vote_is_found() {
    let double = |e: &mut Evidence| {
        let again = StoredVote { seq: 9, id: "another".into(), ..e.stored.votes[0].clone() };
        e.stored.votes.push(again);
    };
    check(double, |v| matches!(v, Violation::VoteDoubled { battle, rows: 2 } if battle == "one"));
}

#[test]
fn an_invented_vote_is_found() {
    let invented = |v: &Violation| matches!(v, Violation::VoteInvented { .. });
    check(|e| e.stored.votes[1].outcome = "b".into(), invented);
    check(|e| e.stored.votes[0].battle = "five".into(), invented);
    let unsent = |e: &mut Evidence| history(e, "four").events.retain(|event| !matches!(event, Event::Voted { .. }));
    check(unsent, invented);
}

#[test]
fn a_changed_outcome_is_found() {
    let change = |e: &mut Evidence| e.stored.votes[0].outcome = "b".into();
    check(change, |v| matches!(v, Violation::OutcomeChanged { battle, .. } if battle == "one"));
    let other = |e: &mut Evidence| e.stored.votes[0].id = "another".into();
    check(other, |v| matches!(v, Violation::OutcomeChanged { .. }));
}

#[test]
fn a_receipt_that_changes_on_a_retry_is_found() {
    let change = |e: &mut Evidence| {
        let Some(Event::Receipt { text }) = history(e, "one").events.last_mut() else { panic!("a retry") };
        *text = text.replace("1000.25", "1000.26");
    };
    check(change, |v| matches!(v, Violation::ReceiptChanged { .. }));
}

#[test]
fn a_receipt_that_is_not_the_stored_one_is_found() {
    let change = |e: &mut Evidence| e.stored.votes[2].receipt = e.stored.votes[2].receipt.replace("1000.25", "1001");
    check(change, |v| matches!(v, Violation::ReceiptNotAsStored { battle, .. } if battle == "three"));
}

#[test]
fn a_promise_of_another_vote_is_found() {
    let change = |e: &mut Evidence| {
        let Some(Event::Receipt { text }) = history(e, "four").events.last_mut() else { panic!("a receipt") };
        let other = text.replace("\\\"vote-four\\\"", "\\\"vote-two\\\"");
        assert_ne!(*text, other);
        *text = other;
    };
    check(change, |v| matches!(v, Violation::ReceiptNotAsStored { battle, .. } if battle == "four"));
}

#[test]
fn names_before_a_vote_are_found() {
    let early = |e: &mut Evidence| {
        let events = &mut history(e, "two").events;
        let receipt = events.pop().unwrap();
        events.insert(0, receipt);
    };
    check(early, |v| matches!(v, Violation::NamesTooEarly { .. }));
}

#[test]
fn revealed_names_that_differ_from_the_rows_are_found() {
    let differ = |v: &Violation| matches!(v, Violation::NamesDiffer { .. });
    check(|e| e.stored.votes[0].models.swap(0, 1), differ);
    let told = |e: &mut Evidence| {
        let Some(Event::Receipt { text }) = history(e, "four").events.last_mut() else { panic!("a receipt") };
        *text = text.replace("\"red\"", "\"green\"");
    };
    check(told, differ);
}

#[test]
fn a_vote_on_replies_that_had_not_ended_is_found() {
    let early = |v: &Violation| matches!(v, Violation::VoteTooEarly { battle, .. } if battle == "two");
    check(|e| e.stored.replies.retain(|row| !(row.battle == "two" && row.side == Side::B)), early);
    check(|e| e.stored.battles[1].stage = "answering".into(), early);
    check(|e| e.stored.votes[1].turn = 2, early);
    let fail = |e: &mut Evidence| {
        e.stored.replies.iter_mut().filter(|row| row.battle == "two").for_each(|row| row.ending = "failed".into());
    };
    check(fail, early);
}

#[test]
fn an_exported_log_that_is_not_the_table_is_found() {
    let differs = |v: &Violation| matches!(v, Violation::LogDiffers { .. });
    check(|e| drop(e.log.pop()), differs);
    check(|e| e.log.swap(0, 1), differs);
    check(|e| e.log[3]["winner"] = json!("both_bad"), differs);
}

#[test]
fn a_leaderboard_that_is_not_the_recount_is_found() {
    #[track_caller]
    fn spoil(change: impl FnOnce(&mut Value)) {
        check(
            |e| change(&mut e.leaderboards[0].1),
            |v| matches!(v, Violation::LeaderboardDiffers { origin, .. } if origin == "fit"),
        );
    }
    spoil(|leaderboard| leaderboard["votes"]["rated"] = json!(3));
    spoil(|leaderboard| leaderboard["models"][0]["wins"] = json!(7));
    spoil(|leaderboard| leaderboard["models"][1]["elo"] = json!(1000.001));
    spoil(|leaderboard| {
        assert_eq!(leaderboard["components"], 1, "the example's ratings can be compared");
        let rating = leaderboard["models"][2]["rating"].as_f64().unwrap();
        leaderboard["models"][2]["rating"] = json!(rating + 1e-5);
    });
    spoil(|leaderboard| drop(leaderboard["models"].as_array_mut().unwrap().pop()));
}
