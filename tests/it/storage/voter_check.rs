//! Votes of flagged voters are excluded where the operator says so, by both databases alike.

use std::fmt::Write as _;
use std::sync::Arc;

use langya::domain::admin::action::AdminAction;
use langya::domain::integrity::anomalous_voters::simulated_riggers::{RiggerSimulation, RiggerStrategy, add_riggers};
use langya::domain::integrity::anomalous_voters::voter_check_state::VoterCheckState;
use langya::domain::integrity::exclusions::exclusion_decision::ExclusionDecision;
use langya::domain::integrity::exclusions::exclusion_rule::ExclusionRule;
use langya::domain::integrity::pseudonym::voter_pseudonym;
use langya::domain::integrity::vote_filter::VoteFilter;
use langya::domain::rating::simulate::{Simulation, SimulationOptions};
use langya::domain::rating::votes::vote_log::VoteLog;
use langya::domain::time::Timestamp;
use langya::formats::votes::ReadOptions;
use langya::infra::config::{CurrentSettings, FlaggedVoterPolicy, Settings};
use langya::infra::rng::SharedRng;
use langya::infra::storage::{NewExclusions, Store};
use langya::infra::stored_votes::selection::select;
use langya::infra::time::clock::SystemClock;
use langya::services::admin::actor::Actor;
use langya::services::exclusions::voter_check::VoterCheck;
use langya::services::exclusions::write_decision::{DecisionContext, write_decision};
use langya::services::import_export::import::{self, VotesFile};
use sqlx::postgres::PgPool;

use super::admin::entry;
use super::{ready, vote};
use crate::support::postgres::TestDatabase;
use crate::support::until;

const RULE: ExclusionRule = ExclusionRule::AnomalousVoter;

/// Votes of 60 honest voters on 8 models, and of three riggers with 100 votes each.
pub(crate) fn rigged() -> VoteLog {
    let options = SimulationOptions { models: 8, voters: 60, seed: 5, ..SimulationOptions::default() };
    let log = Simulation::new(options).unwrap().log(3_000);
    let strategy = RiggerStrategy::TargetOnly;
    add_riggers(&log, RiggerSimulation { riggers: 3, votes: 100, strategy, target_share: 1.0, seed: 3 }).unwrap()
}

/// Imports some votes of a log from the first one on, as a file.
pub(crate) async fn import_votes(store: &Store, log: &VoteLog, votes: impl Iterator<Item = usize>) {
    let mut rows = "model_a,model_b,winner,judge\n".to_owned();
    let voters = log.voters.as_ref().unwrap();
    for vote in votes {
        let model = |at: u32| log.models.as_slice()[at as usize].clone();
        let voter = &voters.names.as_slice()[voters.rows[vote] as usize];
        let (a, b) = (model(log.a[vote]), model(log.b[vote]));
        writeln!(rows, "{a},{b},{},{voter}", winner(log, vote)).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("votes.csv");
    std::fs::write(&file, rows).unwrap();
    let read = VotesFile::read(&file, &ReadOptions::default(), Timestamp(1)).unwrap();
    import::votes(store, read, |_, _| {}).await.unwrap();
}

fn winner(log: &VoteLog, vote: usize) -> &'static str {
    match log.outcomes[vote].as_str() {
        "a" => "model_a",
        "b" => "model_b",
        "tie" => "tie",
        _ => "tie (bothbad)",
    }
}

fn check_of(store: &Store, settings: &CurrentSettings) -> VoterCheck {
    VoterCheck::new(store.clone(), settings.clone(), Arc::new(SharedRng::seeded(1)), Arc::new(SystemClock))
}

/// Numbers of votes that the rule excludes, by voter.
async fn excluded(store: &Store) -> Vec<(String, usize)> {
    let filter = VoteFilter { rule: Some(RULE.to_string()), ..VoteFilter::default() };
    let mut voters: Vec<(String, usize)> = Vec::new();
    for vote in select(store, &filter, |_, _| {}).await.unwrap() {
        match voters.iter_mut().find(|(voter, _)| **voter == *vote.voter) {
            Some((_, votes)) => *votes += 1,
            None => voters.push((vote.voter.to_string(), 1)),
        }
    }
    voters
}

async fn let_back_in(store: &Store, voter: &str) {
    let filter = VoteFilter { voters: vec![voter.to_owned()], ..VoteFilter::default() };
    let votes = select(store, &filter, |_, _| {}).await.unwrap();
    let actor = Actor::of_command("olga".to_owned());
    let author = DecisionContext { id: "back".to_owned(), actor, decided_at: Timestamp(9), subject: filter.summary() };
    let decision = ExclusionDecision::Include { rule: Some(RULE.to_string()) };
    assert_eq!(write_decision(store, &decision, &votes, author).await.unwrap(), 90);
}

pub(super) async fn flagged_voters_are_excluded_only_where_the_operator_says_so_and_never_again_once_let_back_in(
    store: &Store,
) {
    let log = rigged();
    // The last ten votes of each rigger come later.
    let is_late = |vote: &usize| *vote >= 3_000 && (vote - 3_000) % 100 >= 90;
    import_votes(store, &log, (0..log.len()).filter(|vote| !is_late(vote))).await;
    let settings = CurrentSettings::new(Settings::default());
    let check = check_of(store, &settings);
    assert_eq!(check.run().await.unwrap(), 0, "flagged voters are only listed by default");
    assert_eq!((check.state(), excluded(store).await), (VoterCheckState::default(), vec![]));

    let mut wanted = Settings::default();
    wanted.integrity.flagged_voters = FlaggedVoterPolicy::Exclude;
    settings.replace(wanted);
    assert_eq!(check.run().await.unwrap(), 270);
    let found = excluded(store).await;
    assert_eq!(found.iter().map(|(_, votes)| *votes).collect::<Vec<_>>(), [90; 3], "three riggers, no honest voter");
    assert!(check.state().checked_at.is_some() && check.state().failing_since.is_none());
    let rows = store.latest_exclusions(Some(RULE.name()), (Timestamp(i64::MAX), ""), 1_000).await.unwrap();
    assert_eq!(rows.len(), 270);
    assert!(
        rows.iter().all(|row| row.excluded_by == "langya" && row.reason.starts_with("score test: 90 of 90 votes for "))
    );
    assert!(rows.iter().all(|row| !row.reason.contains("rigger")), "a reason names no voter");
    assert_eq!(check.run().await.unwrap(), 0, "once");
    assert_eq!(check_of(store, &settings).run().await.unwrap(), 0, "nor by the next instance that leads");

    let voter = found[0].0.clone();
    let_back_in(store, &voter).await;
    import_votes(store, &log, (0..log.len()).filter(is_late)).await;
    assert_eq!(check.run().await.unwrap(), 20, "the new votes of the two others");
    let now = excluded(store).await;
    assert!(now.iter().all(|(other, votes)| *other != voter && *votes == 100) && now.len() == 2, "{now:?}");
    assert_ne!(voter, voter_pseudonym(""), "a voter with a name");
}

/// Statements of a database that wait for a lock.
async fn waiting(pool: &PgPool, statements: i64) -> Option<()> {
    let count = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let found: i64 = sqlx::query_scalar(count).fetch_one(pool).await.unwrap();
    (found >= statements).then_some(())
}

#[actix_web::test]
async fn a_voter_who_is_let_back_in_while_the_check_excludes_stays_in() {
    let Some(database) = TestDatabase::create().await else { return };
    let (store, pool) = (database.open().await, database.raw().await);
    ready(&store, "x").await;
    store.insert_vote(&vote("v", "x", 1)).await.unwrap();
    let decision = |id: &str| NewExclusions {
        id: id.to_owned(),
        rule: RULE.to_string(),
        reason: "a test".to_owned(),
        decided_by: "langya".to_owned(),
        decided_at: Timestamp(3),
    };
    assert_eq!(store.exclude_unless_reinstated(&decision("first"), &[1]).await.unwrap(), 1);

    // The withdrawal has changed its row and waits for the audit log, so it is not committed yet.
    let mut held = pool.begin().await.unwrap();
    sqlx::query("LOCK TABLE admin_audit IN EXCLUSIVE MODE").execute(&mut *held).await.unwrap();
    let audit = entry("a1", AdminAction::IncludeVotes);
    let withdrawing = store.withdraw_exclusions(&[1], Some(RULE.name()), "olga", Timestamp(4), Some(&audit));
    let excluding = async {
        until(async || waiting(&pool, 1).await).await;
        store.exclude_unless_reinstated(&decision("second"), &[1]).await
    };
    let releasing = async {
        until(async || waiting(&pool, 2).await).await;
        held.rollback().await.unwrap();
    };
    let (withdrawn, excluded, ()) = tokio::join!(withdrawing, excluding, releasing);
    assert_eq!((withdrawn.unwrap(), excluded.unwrap()), (1, 0));
    let left = store.exclusions_of(1).await.unwrap();
    assert!(left.len() == 1 && left[0].withdrawn.is_some(), "{left:?}");
    store.close().await;
    pool.close().await;
    database.drop().await;
}
