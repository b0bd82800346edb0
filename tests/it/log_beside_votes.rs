//! Votes that are cast while the public log is kept, or cannot be. What the log costs them is measured by `benches/votes.rs`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::join_all;
use futures_util::{StreamExt, stream};
use langya::infra::config::StorageSettings;
use langya::infra::job_report::JobReports;
use langya::infra::storage::{IfMissing, Store};
use langya::server::jobs::public_log::append_public_log;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::storage::public_log::{cast, sequencer, show};
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
    let began = said.until("the public log is not continued").await;
    assert!(began.contains("log-checkpoint cannot be used"), "{began}");
    let last = cast(&store, &["z"]).await[0];
    show(&store, last).await;
    std::fs::remove_dir(&obstacle).unwrap();
    leaderboard.reload(&store).await.unwrap();
    let over = said.until("the public log is continued again").await;
    assert!(over.contains("entries=3") && over.contains("seconds="), "{over}");
    assert_eq!(said.lines("the public log is not continued").len(), 1, "{}", said.text());
    shutdown.cancel();
    job.await.unwrap();
}
