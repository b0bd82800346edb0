//! Excluding votes from the ratings, and withdrawing that.

use std::sync::Arc;

use futures_util::future::join_all;
use langya::domain::integrity::exclusion_rule::ExclusionRule;
use langya::domain::rating::ranking::rank_log;
use langya::domain::rating::vote_log::ColumnSet;
use langya::domain::time::Timestamp;
use langya::infra::clock::SystemClock;
use langya::infra::config::{CurrentSettings, Settings};
use langya::infra::events::{InstanceId, LocalBus};
use langya::infra::storage::{ExclusionRow, InsertedVote, NewExclusion, NewVoteRow, Store, VoteExclusion};
use langya::services::labeling::final_labels::FacetChanges;
use langya::services::leaderboard::rated_votes::RatedVotes;
use langya::services::leaderboard::refit::{LatestLeaderboard, Refitter, leaderboard_options};
use langya::services::leaderboard::vote_tally::{StoreWhen, VoteTally};

use super::fits::{cast, whole_log};
use super::{exclude, ready, vote};

pub(super) async fn an_exclusion_stands_beside_the_vote_and_can_be_withdrawn(store: &Store) {
    for id in ["x", "y"] {
        ready(store, id).await;
        store.insert_vote(&vote(id, id, 1)).await.unwrap();
    }
    assert_eq!(store.exclusion_changes().await.unwrap(), 0);
    exclude(store, "y", "duplicate").await;
    exclude(store, "y", "admin").await;
    let vote = store.vote_on("y").await.unwrap().unwrap();
    assert_eq!(vote.exclusion.as_deref(), Some("admin"), "one rule is named: the first in alphabetical order");
    assert_eq!(store.vote_on("x").await.unwrap().unwrap().exclusion, None);

    let again = NewExclusion {
        id: "again",
        vote_seq: vote.seq,
        rule: "admin",
        reason: "another reason",
        excluded_by: "bob",
        excluded_at: Timestamp(10),
    };
    let nowhere = NewExclusion { id: "nowhere", vote_seq: 999, ..again };
    assert_eq!(store.exclude_votes(&[again, nowhere]).await.unwrap(), 0, "once a rule, and only votes");
    assert!(store.withdraw_exclusion(vote.seq, "admin", "bob", Timestamp(11)).await.unwrap());
    assert!(!store.withdraw_exclusion(vote.seq, "admin", "bob", Timestamp(12)).await.unwrap(), "once");
    assert_eq!(store.vote_on("y").await.unwrap().unwrap().exclusion.as_deref(), Some("duplicate"));
    assert_eq!(store.exclude_votes(&[again]).await.unwrap(), 1, "what was withdrawn may be excluded again");
    assert_eq!(store.exclusion_changes().await.unwrap(), 4, "three exclusions and one withdrawal");

    let rows = store.exclusions_of(vote.seq).await.unwrap();
    let found: Vec<_> = rows.iter().map(|row| (row.id.as_str(), row.excluded_by.as_str(), &row.withdrawn)).collect();
    let withdrawn = Some(("bob".to_owned(), Timestamp(11)));
    assert_eq!(found, [("admin on y", "ann", &withdrawn), ("duplicate on y", "ann", &None), ("again", "bob", &None)]);
}

/// Twelve battles with two ballots each at once, every third battle excluded when its vote is cast.
pub(super) async fn an_exclusion_is_stored_with_its_vote_or_not_at_all(store: &Store) {
    use ExclusionRule::{Admin, FailedSide, IdentityLeak};
    let excluding = |rules: &[ExclusionRule]| {
        let exclusion = |rule: &ExclusionRule| VoteExclusion { rule: *rule, reason: format!("because of {rule}") };
        rules.iter().map(exclusion).collect::<Vec<_>>()
    };
    let mut votes = Vec::new();
    for number in 0..12 {
        let id = format!("b{number}");
        ready(store, &id).await;
        let exclusions = excluding(if number % 3 == 0 { &[IdentityLeak, FailedSide] } else { &[] });
        votes.push(NewVoteRow { exclusions, ..vote(&format!("first {id}"), &id, 1) });
        votes.push(NewVoteRow { exclusions: excluding(&[Admin]), ..vote(&format!("second {id}"), &id, 1) });
    }
    let answers = join_all(votes.iter().chain(&votes[..1]).map(|vote| store.insert_vote(vote))).await;
    assert_eq!(answers.iter().filter(|answer| matches!(answer, Ok(InsertedVote::Stored))).count(), 13, "{answers:?}");
    for number in 0..12 {
        let kept = store.vote_on(&format!("b{number}")).await.unwrap().unwrap();
        let rows = store.exclusions_of(kept.seq).await.unwrap();
        let mut rules: Vec<&str> = rows.iter().map(|row| row.rule.as_str()).collect();
        rules.sort_unstable();
        assert_eq!(rules, if number % 3 == 0 { vec!["failed_side", "identity_leak"] } else { Vec::new() });
        let as_cast = |row: &ExclusionRow| row.excluded_by == "langya" && row.excluded_at == kept.created_at;
        assert!(rows.iter().all(|row| as_cast(row) && row.reason == format!("because of {}", row.rule)), "{rows:?}");
    }
    assert_eq!(store.exclusion_changes().await.unwrap(), 0, "no vote that was counted as rated is excluded");
    let late = NewVoteRow { exclusions: excluding(&[IdentityLeak]), ..vote("late", "b0", 1) };
    assert!(matches!(store.insert_vote(&late).await.unwrap(), InsertedVote::Existing(_)));
    let seq = store.vote_on("b0").await.unwrap().unwrap().seq;
    assert!(store.withdraw_exclusion(seq, "identity_leak", "bob", Timestamp(3_000)).await.unwrap());
    assert_eq!(store.insert_vote(&votes[0]).await.unwrap(), InsertedVote::Stored, "sent again after a withdrawal");
    assert_eq!(store.vote_on("b0").await.unwrap().unwrap().exclusion.as_deref(), Some("failed_side"));
    assert_eq!(store.exclusion_changes().await.unwrap(), 1, "the withdrawal");
}

pub(super) async fn the_leaderboard_follows_exclusions_and_withdrawals(store: &Store) {
    cast(store, 0..8).await;
    let settings = Settings::default();
    let options = leaderboard_options(&settings.rating).unwrap();
    let leaderboard = Arc::new(LatestLeaderboard::default());
    let refitter = || Refitter {
        store: store.clone(),
        leaderboard: Arc::clone(&leaderboard),
        events: Arc::new(LocalBus::new(InstanceId("one".into()))),
        clock: Arc::new(SystemClock),
        settings: CurrentSettings::new(settings.clone()),
        ranked_by: None,
        ranked_exclusions: None,
        tally: VoteTally::default(),
        votes: RatedVotes::default(),
        relabelled: FacetChanges::default(),
    };
    let mut first = refitter();
    assert!(first.refit().await.unwrap() && !first.refit().await.unwrap());
    first.store_counts(StoreWhen::AnyNew).await.unwrap();
    let (whole, pairs) = (leaderboard.latest(), leaderboard.votes_between("one", "two"));

    exclude(store, "v3", "admin").await;
    assert!(first.refit().await.unwrap(), "an exclusion is a reason to fit");
    let mut expected =
        rank_log(&whole_log(store, ColumnSet { voters: true, ..ColumnSet::default() }).await, &options).unwrap();
    expected.votes.exclude(&[].into());
    let without = leaderboard.latest();
    assert_eq!((without.board.votes.rated, without.board.votes.excluded["admin"]), (7, 1));
    assert_eq!((&without.board.models, leaderboard.votes_between("one", "two")), (&expected.models, pairs - 1));

    // Another process finds stored counts that know nothing of it.
    let mut second = refitter();
    assert!(!second.refit().await.unwrap(), "the stored leaderboard heeds it");
    assert_eq!((second.tally.counts.read, second.tally.counts.excluded["admin"]), (8, 1));

    let seq = store.vote_on("v3").await.unwrap().unwrap().seq;
    assert!(store.withdraw_exclusion(seq, "admin", "bob", Timestamp(11)).await.unwrap());
    assert!(first.refit().await.unwrap());
    assert_eq!(leaderboard.latest().board, whole.board, "to the last bit as before");
    let mut third = refitter();
    exclude(store, "v5", "admin").await;
    assert!(third.refit().await.unwrap(), "the first fit of a process sees that too");
}
