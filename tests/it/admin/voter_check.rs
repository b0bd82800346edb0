//! The check that excludes flagged voters beside an arena that serves: its exclusions are public, and its outage shows.

use langya::domain::admin::role::Role;
use langya::domain::battle::Outcome;
use langya::domain::rating::votes::vote_log::{ColumnSet, VoteLog};
use langya::infra::config::FlaggedVoterPolicy;
use langya::infra::events::Event;
use reqwest::StatusCode;
use serde_json::Value;
use sqlx::sqlite::SqlitePool;

use super::browser::{Browser, arena, signed_in};
use crate::storage::voter_check::{import_votes, rigged};
use crate::support::arena::TestArena;
use crate::support::until;
use crate::support::visitor::get;

/// As a full disk would, for this rule alone.
const BREAK: &str = "CREATE TRIGGER broken BEFORE INSERT ON vote_exclusions WHEN NEW.rule = 'anomalous_voter' \
     BEGIN SELECT RAISE(ABORT, 'made up'); END";

/// Of 28 voters, twenty prefer one model in nine of ten votes, and eight always vote for the other one.
fn eight_suspects() -> VoteLog {
    let mut log = VoteLog::with_columns(ColumnSet { voters: true, ..ColumnSet::default() });
    let mut cast = |voter: &str, winner: &str, loser: &str, votes: usize| {
        for _ in 0..votes {
            log.push(winner, loser, Outcome::AWins).unwrap();
            log.voters.as_mut().unwrap().push(Some(voter));
        }
    };
    for voter in (0..20).map(|voter| format!("honest-{voter}")) {
        cast(&voter, "strong", "weak", 18);
        cast(&voter, "weak", "strong", 2);
    }
    (0..8).for_each(|voter| cast(&format!("rigger-{voter}"), "weak", "strong", 10));
    log
}

async fn overview(browser: &mut Browser) -> String {
    let answer = browser.get("/admin").await;
    assert_eq!(answer.status(), StatusCode::OK);
    answer.text().await.unwrap()
}

async fn failed_checks(arena: &TestArena) -> f64 {
    let text = get(&format!("{}/metrics", arena.url)).await.text().await.unwrap();
    let line = text.lines().find(|line| line.starts_with("langya_voter_checks_failed_total"));
    line.and_then(|line| line.rsplit(' ').next()).unwrap().parse().unwrap()
}

#[actix_web::test]
async fn an_outage_of_the_check_shows_and_excludes_nobody_and_what_it_excludes_later_everybody_can_read() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let arena = arena(|settings| settings.storage.data_dir.clone_from(&data)).await;
    let mut operator = signed_in(&arena, Role::Operator).await;
    assert!(!overview(&mut operator).await.contains("Voters checked"), "flagged voters are only listed");
    let database = SqlitePool::connect(&format!("sqlite:{}", data.join("langya.db").display())).await.unwrap();
    sqlx::raw_sql(BREAK).execute(&database).await.unwrap();
    let log = rigged();
    import_votes(&arena.app.store, &log, 0..log.len()).await;

    let mut settings = (*arena.app.settings.now()).clone();
    settings.integrity.flagged_voters = FlaggedVoterPolicy::Exclude;
    let failed_before = failed_checks(&arena).await;
    arena.app.settings.replace(settings.clone());
    until(async || arena.app.voter_check.state().failing_since).await;
    assert!(failed_checks(&arena).await > failed_before);
    let seen = overview(&mut operator).await;
    assert!(seen.contains("The voter check is failing, so no flagged voter is excluded"), "{seen}");
    let exclusions: Value = get(&format!("{}/api/v1/exclusions", arena.url)).await.json().await.unwrap();
    assert_eq!(exclusions["exclusions"], Value::Array(vec![]), "an outage excludes nobody");

    sqlx::raw_sql("DROP TRIGGER broken").execute(&database).await.unwrap();
    arena.app.settings.replace(settings);
    until(async || arena.app.voter_check.state().checked_at).await;
    arena.app.events.publish(Event::VoteRecorded);
    until(async || {
        (arena.app.leaderboard.latest().leaderboard.votes.excluded.get("anomalous_voter") == Some(&300)).then_some(())
    })
    .await;
    let seen = overview(&mut operator).await;
    assert!(seen.contains("Voters checked") && !seen.contains("The voter check is failing"), "{seen}");
    let exclusions: Value = get(&format!("{}/api/v1/exclusions?limit=1", arena.url)).await.json().await.unwrap();
    let reason = exclusions["exclusions"][0]["reason"].as_str().unwrap();
    assert!(reason.starts_with("score test: 100 of 100 votes for "), "{exclusions}");
    database.close().await;
    arena.end().await;
}

#[actix_web::test]
async fn where_too_many_voters_seem_suspicious_to_be_flagged_the_overview_says_so() {
    let arena = arena(|settings| settings.integrity.flagged_voters = FlaggedVoterPolicy::Exclude).await;
    let mut operator = signed_in(&arena, Role::Operator).await;
    let log = eight_suspects();
    import_votes(&arena.app.store, &log, 0..log.len()).await;
    arena.app.settings.replace((*arena.app.settings.now()).clone());
    let suspects = until(async || arena.app.voter_check.state().withheld).await;
    assert!(suspects >= 8, "{suspects}");
    let seen = overview(&mut operator).await;
    assert!(seen.contains(&format!("{suspects} voters look suspicious")), "{seen}");
    arena.app.voter_check.run().await.unwrap();
    assert_eq!(arena.app.voter_check.state().withheld, Some(suspects), "also where no vote has come since");
    arena.end().await;
}
