//! Votes that are cast while the public log is kept, or cannot be. What the log costs them is measured by `benches/votes.rs`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use futures_util::{StreamExt, stream};
use langya::domain::public_log::promised_vote::FEW_UNLOGGED;
use langya::domain::time::Timestamp;
use langya::formats::votes::ReadOptions;
use langya::infra::config::{CurrentSettings, Settings, StorageSettings};
use langya::infra::events::{BusState, InstanceId};
use langya::infra::job_report::JobReports;
use langya::infra::storage::{IfMissing, Store};
use langya::infra::time::clock::SystemClock;
use langya::server::jobs::heartbeat::send_heartbeats;
use langya::server::jobs::public_log::append_public_log;
use langya::services::arena::instances::ArenaInstances;
use langya::services::import_export::import::{self, VotesFile};
use langya::services::public_log::{LogRole, PublicLogError};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::storage::public_log::{cast, log_of, sequencer, show};
use crate::storage::{ready, vote};
use crate::support::log::Log;
use crate::support::{embedded, until};

const VOTES: usize = 1_000;
/// Votes that wait for their commit at the same time.
const AT_ONCE: usize = 64;

#[actix_web::test]
async fn votes_that_are_cast_while_the_log_is_kept_are_all_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let settings = StorageSettings { data_dir: folder.path().to_owned(), ..StorageSettings::default() };
    let store = Store::open(&settings, IfMissing::Create).await.unwrap();
    let battles: Vec<String> = (0..VOTES).map(|number| format!("battle-{number}")).collect();
    for battles in battles.chunks(256) {
        join_all(battles.iter().map(|battle| ready(&store, battle))).await;
    }
    let (over, shutdown) = (AtomicBool::new(false), CancellationToken::new());
    let (_lead, leads) = watch::channel(true);
    let sequencer = sequencer(&store, folder.path()).await;
    let leaderboard = Arc::clone(sequencer.leaderboard());
    let job = tokio::spawn(append_public_log(sequencer, leads, JobReports::default().of("log"), shutdown.clone()));
    let publish = async || {
        show(&store, store.last_vote_seq().await.unwrap()).await;
        leaderboard.reload(&store).await.unwrap();
    };
    let boards = async {
        while !over.load(Ordering::Relaxed) {
            publish().await;
        }
    };
    let cast = async {
        let casting = stream::iter(&battles).for_each_concurrent(AT_ONCE, async |battle| {
            store.insert_vote(&vote(&format!("vote-{battle}"), battle, 1)).await.unwrap();
        });
        casting.await;
        over.store(true, Ordering::Relaxed);
    };
    tokio::join!(cast, boards);
    publish().await;
    until(async || (store.log_checkpoint().await.unwrap()?.head.size == VOTES as u64).then_some(())).await;
    assert_eq!(store.logged_vote_count().await.unwrap(), VOTES as u64);
    shutdown.cancel();
    job.await.unwrap();
}

#[actix_web::test]
async fn a_failure_of_the_log_is_reported_when_it_begins_and_when_it_is_over() {
    let (folder, said) = (tempfile::tempdir().unwrap(), Log::keep());
    let settings = StorageSettings { data_dir: folder.path().to_owned(), ..StorageSettings::default() };
    let store = embedded::open(&settings).await;
    let obstacle = folder.path().join("log-checkpoint");
    std::fs::create_dir(&obstacle).unwrap();
    let numbers = cast(&store, &["x", "y"]).await;
    show(&store, numbers[1]).await;
    let (shutdown, (_lead, leads)) = (CancellationToken::new(), watch::channel(true));
    let sequencer = sequencer(&store, folder.path()).await;
    let leaderboard = Arc::clone(sequencer.leaderboard());
    let job = tokio::spawn(append_public_log(sequencer, leads, JobReports::default().of("log"), shutdown.clone()));
    let began = said.until("cannot append to the public log").await;
    assert!(began.contains("log-checkpoint cannot be used"), "{began}");
    let last = cast(&store, &["z"]).await[0];
    show(&store, last).await;
    leaderboard.reload(&store).await.unwrap();
    std::fs::remove_dir(&obstacle).unwrap();
    let over = said.until("appending to the public log works again").await;
    assert!(over.contains("entries=3") && over.contains("seconds="), "{over}");
    assert_eq!(said.lines("cannot append to the public log").len(), 1, "{}", said.text());
    shutdown.cancel();
    job.await.unwrap();
}

#[actix_web::test]
async fn while_the_database_refuses_entries_nothing_is_promised_and_the_log_says_why_once() {
    let (folder, said) = (tempfile::tempdir().unwrap(), Log::keep());
    let settings = StorageSettings { data_dir: folder.path().to_owned(), ..StorageSettings::default() };
    let store = embedded::open(&settings).await;
    let file = SqliteConnectOptions::new().filename(folder.path().join("langya.db"));
    let raw = SqlitePool::connect_with(file).await.unwrap();
    let refuse = "CREATE TRIGGER refuse BEFORE INSERT ON log_entries BEGIN SELECT RAISE(ABORT, 'no entry today'); END";
    sqlx::raw_sql(refuse).execute(&raw).await.unwrap();
    let numbers = cast(&store, &["x"]).await;
    show(&store, numbers[0]).await;
    let (shutdown, (_lead, leads)) = (CancellationToken::new(), watch::channel(true));
    let sequencer = sequencer(&store, folder.path()).await;
    let log = sequencer.log().clone();
    // A second after the vote.
    let is_behind = || log.is_behind(Timestamp(3_000), Duration::from_secs(60));
    assert!(!is_behind());
    let job = tokio::spawn(append_public_log(sequencer, leads, JobReports::default().of("log"), shutdown.clone()));
    let began = said.until("cannot append to the public log").await;
    assert_eq!(began.matches("no entry today").count(), 1, "{began}");
    assert!(is_behind());
    sqlx::raw_sql("DROP TRIGGER refuse").execute(&raw).await.unwrap();
    until(async || (!is_behind()).then_some(())).await;
    assert_eq!(store.logged_vote_count().await.unwrap(), 1);
    shutdown.cancel();
    job.await.unwrap();
    raw.close().await;
}

#[actix_web::test]
async fn an_instance_that_follows_promises_votes_also_where_its_own_file_cannot_be_used() {
    let (folder, said) = (tempfile::tempdir().unwrap(), Log::keep());
    let settings = StorageSettings { data_dir: folder.path().to_owned(), ..StorageSettings::default() };
    let store = embedded::open(&settings).await;
    std::fs::create_dir(folder.path().join("log-checkpoint")).unwrap();
    let (shutdown, (_lead, leads)) = (CancellationToken::new(), watch::channel(false));
    let sequencer = sequencer(&store, folder.path()).await;
    let log = sequencer.log().clone();
    let job = tokio::spawn(append_public_log(sequencer, leads, JobReports::default().of("log"), shutdown.clone()));
    let began = said.until("cannot append to the public log").await;
    assert!(began.contains("log-checkpoint cannot be used"), "{began}");
    assert!(!log.is_behind(Timestamp(3_000), Duration::from_secs(60)));
    shutdown.cancel();
    job.await.unwrap();
}

#[actix_web::test]
async fn an_instance_that_has_lost_the_lead_does_not_say_that_appending_works_again() {
    let (folder, said) = (tempfile::tempdir().unwrap(), Log::keep());
    let settings = StorageSettings { data_dir: folder.path().to_owned(), ..StorageSettings::default() };
    let store = embedded::open(&settings).await;
    let obstacle = folder.path().join("log-checkpoint");
    std::fs::create_dir(&obstacle).unwrap();
    let (shutdown, (lead, leads)) = (CancellationToken::new(), watch::channel(true));
    let sequencer = sequencer(&store, folder.path()).await;
    let log = sequencer.log().clone();
    let job = tokio::spawn(append_public_log(sequencer, leads, JobReports::default().of("log"), shutdown.clone()));
    said.until("cannot append to the public log").await;
    assert!(log.cannot_append());
    std::fs::remove_dir(&obstacle).unwrap();
    lead.send(false).unwrap();
    said.until("another instance leads now and appends to the public log").await;
    assert!(!log.cannot_append() && !log.is_behind(Timestamp(3_000), Duration::from_secs(60)));
    shutdown.cancel();
    job.await.unwrap();
    assert!(said.lines("works again").is_empty(), "{}", said.text());
}

#[actix_web::test]
async fn other_instances_promise_nothing_from_their_next_heartbeat_while_the_one_that_leads_cannot_append() {
    let folder = tempfile::tempdir().unwrap();
    let settings = StorageSettings { data_dir: folder.path().to_owned(), ..StorageSettings::default() };
    let store = embedded::open(&settings).await;
    let (reports, shutdown) = (JobReports::default(), CancellationToken::new());
    let [leader, follower] = [log_of(&store).await, log_of(&store).await];
    let beating = [("leader", &leader), ("follower", &follower)].map(|(name, log)| {
        let (me, clock) = (InstanceId(name.into()), Arc::new(SystemClock));
        let instances = Arc::new(ArenaInstances::with_peers(store.clone(), me, BusState::Connected));
        let (store, log, current) = (store.clone(), log.clone(), CurrentSettings::new(Settings::default()));
        tokio::spawn(send_heartbeats(instances, store, log, current, clock, reports.of(name), shutdown.clone()))
    });
    let is_behind = || follower.is_behind(Timestamp(3_000), Duration::from_secs(60));
    leader.note_step(LogRole::Leads, Some(&PublicLogError::Rewritten(7)));
    until(async || is_behind().then_some(())).await;
    leader.note_step(LogRole::Leads, None);
    until(async || (!is_behind()).then_some(())).await;
    shutdown.cancel();
    for beats in beating {
        beats.await.unwrap();
    }
}

#[actix_web::test]
async fn a_backlog_of_imported_votes_ends_promises_with_one_line_and_begins_them_with_another() {
    let (folder, said) = (tempfile::tempdir().unwrap(), Log::keep());
    let settings = StorageSettings { data_dir: folder.path().to_owned(), ..StorageSettings::default() };
    let store = embedded::open(&settings).await;
    let votes = FEW_UNLOGGED + 1;
    let (file, rows) = (folder.path().join("votes.csv"), "one,two,model_a\n".repeat(usize::try_from(votes).unwrap()));
    std::fs::write(&file, format!("model_a,model_b,winner\n{rows}")).unwrap();
    let read = VotesFile::read(&file, &ReadOptions::default(), Timestamp(1)).unwrap();
    import::votes(&store, read, |_, _| {}).await.unwrap();
    let (shutdown, (_lead, leads)) = (CancellationToken::new(), watch::channel(true));
    let sequencer = sequencer(&store, folder.path()).await;
    let (log, leaderboard) = (sequencer.log().clone(), Arc::clone(sequencer.leaderboard()));
    let is_behind = || log.is_behind(Timestamp(i64::MAX), Duration::from_secs(60));
    assert!(is_behind(), "the next vote comes into the log after all of them");
    let job = tokio::spawn(append_public_log(sequencer, leads, JobReports::default().of("log"), shutdown.clone()));
    let begun = said.until("new votes get no promise").await;
    assert!(begun.contains("too many votes wait for it, as after an import"), "{begun}");
    assert!(log.lag(Timestamp(i64::MAX)).is_zero(), "and they are no lag");
    show(&store, store.last_vote_seq().await.unwrap()).await;
    leaderboard.reload(&store).await.unwrap();
    said.until("new votes get a promise again").await;
    assert!(!is_behind());
    until(async || (store.log_checkpoint().await.unwrap()?.head.size == votes).then_some(())).await;
    shutdown.cancel();
    job.await.unwrap();
    assert_eq!(said.lines("promise").len(), 2, "{}", said.text());
}

#[actix_web::test]
async fn a_lag_that_cannot_be_queried_is_not_reported_as_a_failure_to_append() {
    let (folder, said) = (tempfile::tempdir().unwrap(), Log::keep());
    let settings = StorageSettings { data_dir: folder.path().to_owned(), ..StorageSettings::default() };
    let store = embedded::open(&settings).await;
    let (shutdown, (_lead, leads)) = (CancellationToken::new(), watch::channel(false));
    let sequencer = sequencer(&store, folder.path()).await;
    let file = SqliteConnectOptions::new().filename(folder.path().join("langya.db"));
    let raw = SqlitePool::connect_with(file).await.unwrap();
    sqlx::raw_sql("ALTER TABLE votes RENAME TO other_votes").execute(&raw).await.unwrap();
    let (reports, name) = (JobReports::default(), "log");
    let job = tokio::spawn(append_public_log(sequencer, leads, reports.of(name), shutdown.clone()));
    let failed = said.until("cannot query the oldest vote that is not in the public log").await;
    assert!(failed.contains("no such table"), "{failed}");
    until(async || reports.all()[name].next).await;
    assert!(said.lines("cannot append to the public log").is_empty(), "{}", said.text());
    shutdown.cancel();
    job.await.unwrap();
    raw.close().await;
}
