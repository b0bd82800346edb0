//! Excluding votes from the ratings, and withdrawing that.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use langya::domain::battle::progress::{Progress, Stage};
use langya::domain::battle::{BattleId, ModelId, Outcome, RunId, Side, VisitorId};
use langya::domain::integrity::exclusions::exclusion_decision::ExclusionDecision;
use langya::domain::integrity::exclusions::exclusion_rule::ExclusionRule;
use langya::domain::integrity::exclusions::exclusions_in_force::ExclusionsInForce;
use langya::domain::integrity::exclusions::leaderboard_change::LeaderboardChange;
use langya::domain::integrity::pseudonym::voter_pseudonym;
use langya::domain::integrity::vote_filter::VoteFilter;
use langya::domain::rating::leaderboards::leaderboard::Leaderboard;
use langya::domain::rating::leaderboards::ranking::rank_log;
use langya::domain::rating::vote_counts::VoteCounts;
use langya::domain::rating::votes::vote_log::ColumnSet;
use langya::domain::time::Timestamp;
use langya::infra::config::{CurrentSettings, Settings};
use langya::infra::events::{InstanceId, LocalBus};
use langya::infra::storage::{
    BattleRow, ExclusionRow, InsertedVote, NewExclusion, NewExclusions, NewReply, NewVoteRow, Store, VoteExclusion,
    VoteRange,
};
use langya::infra::stored_votes::final_labels::SliceVoteChanges;
use langya::infra::stored_votes::prompt_index::read_prompt_index;
use langya::infra::stored_votes::rated_votes::RatedVotes;
use langya::infra::stored_votes::selection::select;
use langya::infra::stored_votes::vote_tally::{StoreWhen, VoteTally};
use langya::infra::time::clock::{Clock, SystemClock};
use langya::services::admin::actor::Actor;
use langya::services::exclusions::preview::preview;
use langya::services::exclusions::write_decision::{DecisionContext, write_decision};
use langya::services::leaderboard::latest_leaderboard::{LatestLeaderboard, Refitter};

use super::fits::{cast, whole_log};
use super::{battle, exclude, ready, reply, vote};
use crate::support::arena::card;

pub(super) async fn an_exclusion_stands_beside_the_vote_and_can_be_withdrawn(store: &Store) {
    for id in ["x", "y"] {
        ready(store, id).await;
        store.insert_vote(&vote(id, id, 1)).await.unwrap();
    }
    assert_eq!(store.exclusion_changes().await.unwrap(), 0);
    exclude(store, "y", "duplicate").await;
    exclude(store, "y", "admin").await;
    let vote = store.vote_on(&BattleId::new("y")).await.unwrap().unwrap();
    assert_eq!(vote.exclusion.as_deref(), Some("admin"), "one rule is named: the first in alphabetical order");
    assert_eq!(store.vote_on(&BattleId::new("x")).await.unwrap().unwrap().exclusion, None);

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
    assert_eq!(store.vote_on(&BattleId::new("y")).await.unwrap().unwrap().exclusion.as_deref(), Some("duplicate"));
    assert_eq!(store.exclude_votes(&[again]).await.unwrap(), 1, "what was withdrawn may be excluded again");
    assert_eq!(store.exclusion_changes().await.unwrap(), 4, "three exclusions and one withdrawal");

    let rows = store.exclusions_of(vote.seq).await.unwrap();
    let found: Vec<_> = rows.iter().map(|row| (row.id.as_str(), row.excluded_by.as_str(), &row.withdrawn)).collect();
    let withdrawn = Some(("bob".to_owned(), Timestamp(11)));
    assert_eq!(found, [("admin on y", "ann", &withdrawn), ("duplicate on y", "ann", &None), ("again", "bob", &None)]);
}

/// Twelve battles with two votes each at once, every third battle excluded when its vote is cast.
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
        let kept = store.vote_on(&BattleId::new(format!("b{number}"))).await.unwrap().unwrap();
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
    let seq = store.vote_on(&BattleId::new("b0")).await.unwrap().unwrap().seq;
    assert!(store.withdraw_exclusion(seq, "identity_leak", "bob", Timestamp(3_000)).await.unwrap());
    assert_eq!(store.insert_vote(&votes[0]).await.unwrap(), InsertedVote::Stored, "sent again after a withdrawal");
    assert_eq!(store.vote_on(&BattleId::new("b0")).await.unwrap().unwrap().exclusion.as_deref(), Some("failed_side"));
    assert_eq!(store.exclusion_changes().await.unwrap(), 1, "the withdrawal");
}

pub(super) async fn the_leaderboard_follows_exclusions_and_withdrawals(store: &Store) {
    cast(store, 0..8).await;
    let settings = Settings::default();
    let options = settings.rating.leaderboard_options().unwrap();
    let leaderboard = Arc::new(LatestLeaderboard::default());
    let refitter = || refitter(store, &leaderboard, Arc::new(SystemClock), &settings);
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
    assert_eq!((without.leaderboard.votes.rated, without.leaderboard.votes.excluded["admin"]), (7, 1));
    assert_eq!((&without.leaderboard.models, leaderboard.votes_between("one", "two")), (&expected.models, pairs - 1));

    // Another process finds stored counts that know nothing of it.
    let mut second = refitter();
    assert!(!second.refit().await.unwrap(), "the stored leaderboard heeds it");
    assert_eq!((second.tally.counts.read, second.tally.counts.excluded["admin"]), (8, 1));

    let seq = store.vote_on(&BattleId::new("v3")).await.unwrap().unwrap().seq;
    assert!(store.withdraw_exclusion(seq, "admin", "bob", Timestamp(11)).await.unwrap());
    assert!(first.refit().await.unwrap());
    assert_eq!(leaderboard.latest().leaderboard, whole.leaderboard, "to the last bit as before");
    let mut third = refitter();
    exclude(store, "v5", "admin").await;
    assert!(third.refit().await.unwrap(), "the first fit of a process sees that too");
}

/// The refitter of a process that has fitted nothing yet.
fn refitter(
    store: &Store,
    leaderboard: &Arc<LatestLeaderboard>,
    clock: Arc<dyn Clock>,
    settings: &Settings,
) -> Refitter {
    Refitter {
        store: store.clone(),
        leaderboard: Arc::clone(leaderboard),
        events: Arc::new(LocalBus::new(InstanceId("one".into()))),
        clock,
        settings: CurrentSettings::new(settings.clone()),
        ranked_by: None,
        ranked_exclusions: None,
        tally: VoteTally::default(),
        votes: RatedVotes::default(),
        relabeled: SliceVoteChanges::default(),
    }
}

/// A clock that shows when the votes of these tests are cast.
struct VoteTime;

impl Clock for VoteTime {
    fn now(&self) -> Timestamp {
        vote("", "", 1).created_at
    }
}

pub(super) async fn votes_that_are_excluded_as_they_are_cast_fill_no_group(store: &Store) {
    let (settings, leaderboard) = (Settings::default(), Arc::new(LatestLeaderboard::default()));
    let mut refitter = refitter(store, &leaderboard, Arc::new(VoteTime), &settings);
    refitter.ranked_by = Some(settings.rating.leaderboard_options().unwrap());
    assert_eq!(refitter.wait_for_votes().await.unwrap(), None, "no vote waits");
    let full_ten_seconds = Some(Duration::from_secs(8));
    for number in 0..settings.rating.group_votes {
        let id = format!("chosen {number}");
        ready(store, &id).await;
        let exclusions = vec![VoteExclusion { rule: ExclusionRule::NamedMode, reason: "chosen".into() }];
        store.insert_vote(&NewVoteRow { exclusions, ..vote(&id, &id, 1) }).await.unwrap();
        assert_eq!(refitter.wait_for_votes().await.unwrap(), full_ten_seconds);
    }
    for missing in (0..settings.rating.group_votes).rev() {
        let id = format!("hidden {missing}");
        ready(store, &id).await;
        store.insert_vote(&vote(&id, &id, 1)).await.unwrap();
        assert_eq!(refitter.wait_for_votes().await.unwrap(), full_ten_seconds.filter(|_| missing > 0), "{missing}");
    }
}

fn decision(id: &str, rule: &str, at: i64) -> NewExclusions {
    let text = str::to_owned;
    NewExclusions {
        id: text(id),
        rule: text(rule),
        reason: text("spam"),
        decided_by: text("ann"),
        decided_at: Timestamp(at),
    }
}

pub(super) async fn many_votes_are_excluded_and_rated_again_in_one_step(store: &Store) {
    for id in ["x", "y", "z"] {
        ready(store, id).await;
        store.insert_vote(&vote(id, id, 1)).await.unwrap();
    }
    let seq = async |battle: &str| store.vote_on(&BattleId::new(battle)).await.unwrap().unwrap().seq;
    let [x, y, z] = [seq("x").await, seq("y").await, seq("z").await];
    assert_eq!(store.exclude(&decision("one", "admin", 10), &[x, y, 999], None).await.unwrap(), 2, "only votes");
    assert_eq!(store.exclude(&decision("two", "admin", 11), &[x, y, z], None).await.unwrap(), 1, "once a rule");
    assert_eq!(store.exclude(&decision("three", "identity_leak", 12), &[x], None).await.unwrap(), 1);
    assert_eq!(store.exclude(&decision("four", "admin", 13), &[], None).await.unwrap(), 0);
    let in_force = store.exclusions_in_force(VoteRange { after: x, ..VoteRange::ALL }).await.unwrap();
    assert_eq!((in_force.rule_of(x), in_force.rule_of(y)), (None, Some("admin")), "of the range");
    assert_eq!(store.exclusion_changes().await.unwrap(), 4);

    assert_eq!(store.withdraw_exclusions(&[x, y], Some("admin"), "bob", Timestamp(20), None).await.unwrap(), 2);
    assert_eq!(store.withdraw_exclusions(&[x, y], Some("admin"), "bob", Timestamp(21), None).await.unwrap(), 0, "once");
    assert_eq!(store.exclusion_changes().await.unwrap(), 6);
    assert_eq!(store.vote_on(&BattleId::new("x")).await.unwrap().unwrap().exclusion.as_deref(), Some("identity_leak"));
    assert_eq!(
        store.withdraw_exclusions(&[x, y, z], None, "bob", Timestamp(22), None).await.unwrap(),
        2,
        "by any rule"
    );
    assert_eq!(store.exclusions_in_force(VoteRange::ALL).await.unwrap().rules().len(), 0);

    let end = (Timestamp(i64::MAX), "");
    let ids = |rows: &[ExclusionRow]| -> Vec<String> { rows.iter().map(|row| row.id.clone()).collect() };
    let all = store.latest_exclusions(None, end, 9).await.unwrap();
    let id = |decision: &str, vote: i64| format!("{decision}-{vote:012}");
    assert_eq!(ids(&all), [id("three", x), id("two", z), id("one", y), id("one", x)]);
    assert!(all.iter().all(|row| row.withdrawn.as_ref().is_some_and(|(by, _)| by == "bob")), "{all:?}");
    let after = (all[1].excluded_at, all[1].id.as_str());
    assert_eq!(ids(&store.latest_exclusions(None, after, 1).await.unwrap()), [id("one", y)], "a page of one");
    assert_eq!(ids(&store.latest_exclusions(Some("identity_leak"), end, 9).await.unwrap()), [id("three", x)]);
}

pub(super) async fn exclusions_of_one_decision_are_in_the_order_of_their_votes(store: &Store) {
    let mut votes = Vec::new();
    for number in 0..12 {
        let id = format!("v{number}");
        ready(store, &id).await;
        store.insert_vote(&vote(&id, &id, 1)).await.unwrap();
        votes.push(store.vote_on(&BattleId::new(id)).await.unwrap().unwrap().seq);
    }
    assert!(votes[0].to_string().len() < votes[11].to_string().len(), "as texts they are in another order: {votes:?}");
    assert_eq!(store.exclude(&decision("one", "admin", 10), &votes, None).await.unwrap(), 12);
    votes.reverse();
    let (mut before, mut found) = ((Timestamp(i64::MAX), String::new()), Vec::new());
    loop {
        let page = store.latest_exclusions(None, (before.0, before.1.as_str()), 5).await.unwrap();
        let Some(last) = page.last() else { break };
        found.extend(page.iter().map(|row| row.vote_seq));
        before = (last.excluded_at, last.id.clone());
    }
    assert_eq!(found, votes, "the latest first, page by page");
}

/// Votes of two voters on prompts of which some are copies, between three models.
async fn cast_by_several(store: &Store) {
    store.register_models(&["one", "two", "three"].map(card), Timestamp(1)).await.unwrap();
    let prompts = [
        "Which river is the longest on earth, and how is that measured?",
        "Write four lines about a mountain in autumn.",
        "which RIVER is the longest on earth and how is that measured",
    ];
    let pairs = [["one", "two"], ["two", "three"], ["three", "one"], ["two", "one"]];
    for number in 0_usize..48 {
        let id = format!("c{number}");
        let row = BattleRow {
            visitor: VisitorId::new(format!("voter {}", number % 2)),
            models: pairs[number % 4].map(ModelId::new),
            ..battle(&id)
        };
        store.insert_battle(&row, prompts[number / 4 % 3], Timestamp(1_000)).await.unwrap();
        let progress = Progress { stage: Stage::Ready, turn: 1 };
        let replies =
            [Side::A, Side::B].map(|side| NewReply { model: row.models[side.index()].clone(), ..reply(side, "text") });
        store.finish_turn(&BattleId::new(&id), &RunId::new("run"), progress, &replies, Timestamp(1_500)).await.unwrap();
        let cast = NewVoteRow { outcome: Outcome::ALL[number * 5 % 7 % 4], ..vote(&id, &id, 1) };
        assert_eq!(store.insert_vote(&cast).await.unwrap(), InsertedVote::Stored);
    }
}

/// The leaderboard and the stored counts of a process that starts now.
async fn fresh(store: &Store) -> (Leaderboard, VoteCounts) {
    let mut tally = VoteTally::default();
    tally.catch_up(store, |_| {}).await.unwrap();
    let options = Settings::default().rating.leaderboard_options().unwrap();
    let leaderboard =
        rank_log(&whole_log(store, ColumnSet { voters: true, ..ColumnSet::default() }).await, &options).unwrap();
    tally.store(store, StoreWhen::AnyNew).await.unwrap();
    tally.counts.exclusion_changes = 0;
    (leaderboard, tally.counts)
}

pub(super) async fn decisions_are_undone_to_the_last_bit(store: &Store) {
    cast_by_several(store).await;
    let clusters = read_prompt_index(store, |_, _| {}).await.unwrap();
    let summaries = clusters.summaries(&ExclusionsInForce::default());
    assert_eq!(summaries.iter().map(|summary| (summary.votes, summary.voters)).collect::<Vec<_>>(), [(32, 2), (16, 2)]);
    let before = fresh(store).await;
    let by_voter = VoteFilter { voters: vec![voter_pseudonym("voter 1")], ..VoteFilter::default() };
    let by_prompt = VoteFilter { prompt_cluster: Some(summaries[1].id), ..VoteFilter::default() };
    let by_number = VoteFilter { range: VoteRange { after: 3, upto: 17, ..VoteRange::ALL }, ..VoteFilter::default() };
    let by_model = VoteFilter { models: vec!["three".to_owned()], ..VoteFilter::default() };
    let by_battle = VoteFilter { battle: Some(BattleId::new("c5")), ..VoteFilter::default() };
    for (filter, rule, expected) in [
        (by_voter, ExclusionRule::AnomalousVoter, 24),
        (by_prompt, ExclusionRule::DuplicatePrompt, 16),
        (by_number, ExclusionRule::Admin, 14),
        (by_model, ExclusionRule::RateLimited, 24),
        (by_battle, ExclusionRule::IdentityLeak, 1),
    ] {
        let author = |id: &str| DecisionContext {
            id: format!("{id} {rule}"),
            actor: Actor::of_command("ann".into()),
            decided_at: Timestamp(9),
            subject: String::new(),
        };
        let votes = select(store, &filter, |_, _| {}).await.unwrap();
        assert_eq!(votes.len(), expected, "{filter:?}");
        let exclude = ExclusionDecision::Exclude { rule, reason: "a test".into() };
        let options = Settings::default().rating.leaderboard_options().unwrap();
        let announced = preview(store, &votes, &exclude, options, |_, _| {}).await.unwrap();
        assert_eq!(write_decision(store, &exclude, &votes, author("out")).await.unwrap(), expected as u64);
        let without = fresh(store).await;
        assert_eq!(announced, LeaderboardChange::between(&before.0, &without.0), "the preview said so");
        assert_ne!(without.0.models, before.0.models, "{rule}");
        assert_eq!(without.0.votes.excluded, [(rule.name().to_owned(), expected as u64)].into());
        assert_eq!(without.1.excluded, without.0.votes.excluded);
        // A rule is undone by its name, whatever the filter was.
        let undo = VoteFilter { rule: Some(rule.to_string()), ..VoteFilter::default() };
        let votes = select(store, &undo, |_, _| {}).await.unwrap();
        let include = ExclusionDecision::Include { rule: Some(rule.to_string()) };
        assert_eq!(write_decision(store, &include, &votes, author("in")).await.unwrap(), expected as u64);
        assert_eq!(fresh(store).await, before, "{rule}: to the last bit as before");
    }
    assert_eq!(store.exclusion_changes().await.unwrap(), 2 * (24 + 16 + 14 + 24 + 1), "nothing is forgotten");
}
