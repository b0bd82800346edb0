//! What the public log costs voters: figures, without a limit that a busy machine could miss.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use futures_util::{StreamExt, stream};
use langya::infra::config::StorageSettings;
use langya::infra::storage::{IfMissing, Store};
use langya::server::jobs::public_log::keep_public_log;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::storage::public_log::{sequencer, show};
use crate::storage::{ready, vote};
use crate::support::{size, until};

/// Votes that wait for their commit at the same time.
const AT_ONCE: usize = 64;

/// Votes per second, with or without the job that keeps the log. A leaderboard is stored four times a second in both cases.
async fn votes_per_second(votes: usize, with_log: bool) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let settings = StorageSettings { data_dir: folder.path().to_owned(), ..StorageSettings::default() };
    let store = Store::open(&settings, IfMissing::Create).await.unwrap();
    let battles: Vec<String> = (0..votes).map(|number| format!("battle-{number}")).collect();
    for battles in battles.chunks(256) {
        join_all(battles.iter().map(|battle| ready(&store, battle))).await;
    }
    let (over, shutdown) = (AtomicBool::new(false), CancellationToken::new());
    let (_lead, leads) = watch::channel(with_log);
    let sequencer = sequencer(&store, folder.path()).await;
    let leaderboard = Arc::clone(sequencer.leaderboard());
    let job = tokio::spawn(keep_public_log(sequencer, leads, shutdown.clone()));
    let boards = async {
        while !over.load(Ordering::Relaxed) {
            show(&store, store.last_vote_seq().await.unwrap()).await;
            leaderboard.reload(&store).await.unwrap();
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
    };
    let started = Instant::now();
    let cast = async {
        let casting = stream::iter(&battles).for_each_concurrent(AT_ONCE, async |battle| {
            store.insert_vote(&vote(&format!("vote-{battle}"), battle, 1)).await.unwrap();
        });
        casting.await;
        over.store(true, Ordering::Relaxed);
        started.elapsed()
    };
    let (took, ()) = tokio::join!(cast, boards);
    show(&store, store.last_vote_seq().await.unwrap()).await;
    leaderboard.reload(&store).await.unwrap();
    if with_log {
        until(async || (store.log_checkpoint().await.unwrap()?.head.size == votes as u64).then_some(())).await;
    }
    shutdown.cancel();
    job.await.unwrap();
    f64::from(u32::try_from(votes).unwrap()) / took.as_secs_f64()
}

#[actix_web::test]
#[ignore = "slow: tests/run runs it"]
async fn votes_are_cast_while_the_log_is_kept() {
    let votes = size(1_000, 20_000);
    let mut shares = Vec::new();
    for _ in 0..size(1, 5) {
        let (without, with) = (votes_per_second(votes, false).await, votes_per_second(votes, true).await);
        println!("{votes} votes: {without:.0} a second without the log, {with:.0} with it");
        shares.push(with / without);
    }
    shares.sort_by(f64::total_cmp);
    println!("median share of the throughput that is left: {:.2}", shares[shares.len() / 2]);
}
