//! Votes are kept once, in groups, and read in the order of the log.

use std::collections::HashSet;

use futures_util::future::join_all;
use langya::domain::battle::Outcome;
use langya::domain::battle::progress::Stage;
use langya::domain::time::Timestamp;
use langya::infra::storage::{InsertedVote, NewVoteRow, Store};

use super::{ALWAYS, battle, battle_id, by, exclude, ready, stage, vote};

pub(super) async fn a_vote_is_kept_once_and_closes_its_battle(store: &Store) {
    ready(store, "x").await;
    assert_eq!(store.insert_vote(&vote("late", "x", 2)).await.unwrap(), InsertedVote::BattleMoved);
    assert_eq!(store.insert_vote(&vote("lost", "y", 1)).await.unwrap(), InsertedVote::BattleMoved);
    for run in [Some(by("former")), None] {
        let on_other_replies = NewVoteRow { answered_by: run, ..vote("former", "x", 1) };
        assert_eq!(store.insert_vote(&on_other_replies).await.unwrap(), InsertedVote::BattleMoved, "regenerated since");
    }
    assert_eq!(store.insert_vote(&vote("first", "x", 1)).await.unwrap(), InsertedVote::Stored);
    assert_eq!(stage(store, "x").await, Stage::Voted);
    let first = store.vote_on(&battle_id("x")).await.unwrap().unwrap();
    let battles = store.battles_of_votes(&[first.seq, first.seq + 1]).await.unwrap();
    assert_eq!((battles.len(), battles.get(&first.seq)), (1, Some(&battle_id("x"))));
    let second = NewVoteRow { outcome: Outcome::Tie, ..vote("second", "x", 1) };
    assert_eq!(store.insert_vote(&second).await.unwrap(), InsertedVote::Existing(Box::new(first.clone())));
    let (new, kept) = (vote("first", "x", 1), battle("x"));
    assert_eq!((&first.id, &first.receipt, first.outcome), (&new.id, &new.receipt, new.outcome));
    assert_eq!(first.reasons, new.reasons);
    assert_eq!((first.satisfaction, first.turn, first.created_at), (Some(4), 1, new.created_at));
    assert_eq!((first.first_token_ms, first.duration_ms), (new.first_token_ms, new.duration_ms));
    assert_eq!((first.text_counts, first.exclusion), (new.text_counts, None));
    assert_eq!((first.models, first.visitor, first.language), (kept.models, Some(kept.visitor), kept.language));
    assert_eq!((first.pairing_policy, first.pair_probability), (kept.pairing_policy, kept.pair_probability));
    assert_eq!((first.category, first.intent), (kept.category, kept.intent));
}

pub(super) async fn a_vote_sent_again_gets_the_answer_of_the_first_time(store: &Store) {
    ready(store, "x").await;
    let (first, second) = (vote("first", "x", 1), vote("second", "x", 1));
    let at_once = [&first, &second, &first].map(|vote| store.insert_vote(vote));
    let answers: Vec<InsertedVote> = join_all(at_once).await.into_iter().map(Result::unwrap).collect();
    let kept = store.vote_on(&battle_id("x")).await.unwrap().unwrap();
    assert_eq!(kept.id, "first");
    assert_eq!(answers, [InsertedVote::Stored, InsertedVote::Existing(Box::new(kept)), InsertedVote::Stored]);
}

/// Of twelve battles, three votes each, at once: the first one counts, and those between that do not change nothing.
pub(super) async fn every_battle_of_a_group_ends_with_its_vote(store: &Store) {
    let ids: Vec<String> = (0..12).map(|number| format!("g{number}")).collect();
    for id in &ids {
        ready(store, id).await;
    }
    ready(store, "waits").await;
    let votes: Vec<NewVoteRow> =
        (0..36).map(|number| vote(&format!("v{number}"), &ids[number / 3], if number == 0 { 2 } else { 1 })).collect();
    let answers = join_all(votes.iter().map(|vote| store.insert_vote(vote))).await;
    let stored = answers.iter().filter(|answer| matches!(answer, Ok(InsertedVote::Stored))).count();
    assert_eq!(stored, ids.len(), "{answers:?}");
    for id in &ids {
        assert_eq!(stage(store, id).await, Stage::Voted, "{id}");
    }
    assert_eq!(stage(store, "waits").await, Stage::Ready);
}

pub(super) async fn a_vote_that_cannot_be_kept_harms_no_other(store: &Store) {
    let ids: Vec<String> = (0..9).map(|number| format!("v{number}")).collect();
    for id in &ids {
        ready(store, id).await;
    }
    let bad = |id: &str| (id == "v4").then_some(9).or(Some(1));
    let votes: Vec<NewVoteRow> = ids.iter().map(|id| NewVoteRow { satisfaction: bad(id), ..vote(id, id, 1) }).collect();
    let answers = join_all(votes.iter().map(|vote| store.insert_vote(vote))).await;
    for (id, answer) in ids.iter().zip(answers) {
        assert_eq!(answer.is_ok(), id != "v4", "{id}: {answer:?}");
        assert_eq!(stage(store, id).await, if id == "v4" { Stage::Ready } else { Stage::Voted });
    }
}

pub(super) async fn votes_in_the_queue_are_written_before_the_end(store: &Store) {
    ready(store, "x").await;
    let vote = vote("v", "x", 1);
    let (answer, ()) = futures_util::join!(store.insert_vote(&vote), store.close());
    // The statement that would read more of it finds the store closed; the vote itself was stored.
    assert_eq!(answer.unwrap(), InsertedVote::Stored);
    assert!(store.insert_vote(&vote).await.is_err());
}

pub(super) async fn battles_with_a_vote_are_told_from_others(store: &Store) {
    ready(store, "x").await;
    ready(store, "y").await;
    assert_eq!(store.insert_vote(&vote("v", "x", 1)).await.unwrap(), InsertedVote::Stored);
    let battles = ["y", "x", "\"z\"", "nul\0"].map(str::to_owned);
    assert_eq!(store.voted_battles(&battles).await.unwrap(), HashSet::from(["x".to_owned()]));
    assert!(store.voted_battles(&[]).await.unwrap().is_empty());
}

pub(super) async fn votes_are_paged_in_log_order(store: &Store) {
    for (number, id) in (0..5).zip(["v", "w", "x", "y", "z"]) {
        ready(store, id).await;
        let cast = NewVoteRow { created_at: Timestamp(10 * number), ..vote(id, id, 1) };
        assert_eq!(store.insert_vote(&cast).await.unwrap(), InsertedVote::Stored);
    }
    exclude(store, "x", "admin").await;
    let page = store.votes_after(0, ALWAYS[0], ALWAYS[1], 3).await.unwrap();
    assert_eq!(page.iter().map(|row| row.id.as_str()).collect::<Vec<_>>(), ["v", "w", "x"]);
    assert_eq!(page[2].exclusion.as_deref(), Some("admin"));
    let rest = store.votes_after(page[2].seq, ALWAYS[0], ALWAYS[1], 3).await.unwrap();
    assert_eq!(rest.iter().map(|row| row.id.as_str()).collect::<Vec<_>>(), ["y", "z"]);
    let between = store.votes_after(0, Timestamp(10), Timestamp(30), 9).await.unwrap();
    assert_eq!(between.iter().map(|row| row.id.as_str()).collect::<Vec<_>>(), ["w", "x"]);
}
