//! R1: an acknowledged vote is never lost, no matter which process is killed, and when.
//!
//! Many visitors vote, and processes get `kill -9` repeatedly. After each kill the stored log is compared with a recount; in the end every
//! receipt is compared with the rows.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::ensure;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use tokio::time::sleep;

use crate::arena::{Arena, Plan};
use crate::harness::{self, Size};
use crate::measurements::Measurements;
use crate::postgres_server::Shutdown;
use crate::visitor::VisitorGroup;

/// Numbers of concurrent visitors, in the long form and in the short one.
const VISITORS: usize = 50;
const SHORT_VISITORS: usize = 8;
/// Maximum delay of a kill after the first vote since the last one, in milliseconds, in the long form and in the short one.
const CALM_MS: u64 = 2_000;
const SHORT_CALM_MS: u64 = 400;
/// Maximum time after a crash until votes are accepted again.
const VOTES_AGAIN_WITHIN: Duration = Duration::from_secs(60);

/// Lets visitors vote while `crash` is repeated; returns the violations in the end.
pub(crate) async fn vote_through(
    arena: &mut Arena,
    size: Size,
    mut crash: impl AsyncFnMut(&mut Arena, &mut ChaCha8Rng) -> anyhow::Result<()>,
) -> anyhow::Result<Vec<String>> {
    let (measurements, mut rng) = (Measurements::new(), size.rng(0));
    let visitors = if size.is_long { VISITORS } else { SHORT_VISITORS };
    let visitors = VisitorGroup::gather(visitors, arena.port(), |stream| size.rng(stream), &measurements);
    for _ in 0..size.count {
        let calm = rng.random_range(0..if size.is_long { CALM_MS } else { SHORT_CALM_MS });
        next_vote(&measurements).await?;
        sleep(Duration::from_millis(calm)).await;
        measurements.fault("crash");
        crash(arena, &mut rng).await?;
    }
    let histories = visitors.disperse().await?;
    print!("{measurements}");
    arena.stop().await?;
    let mut wrong = arena.panics();
    wrong.extend(arena.violations(histories).await?.iter().map(ToString::to_string));
    println!("{} crashes, {} things wrong", size.count, wrong.len());
    Ok(wrong)
}

/// Waits until one more battle is voted on, so that every crash occurs under load.
async fn next_vote(measurements: &Measurements) -> anyhow::Result<()> {
    let (before, deadline) = (measurements.counted("battles voted on"), Instant::now() + VOTES_AGAIN_WITHIN);
    while measurements.counted("battles voted on") == before {
        ensure!(Instant::now() < deadline, "no vote came through in {VOTES_AGAIN_WITHIN:?}");
        sleep(Duration::from_millis(2)).await;
    }
    Ok(())
}

/// Checks the stored data while the process is down, and restarts it.
pub(crate) async fn come_back(arena: &mut Arena) -> anyhow::Result<()> {
    let violations = arena.stored_violations().await?;
    ensure!(violations.is_empty(), "after a crash: {violations:?}");
    arena.start().await
}

async fn kill_arena(arena: &mut Arena, _: &mut ChaCha8Rng) -> anyhow::Result<()> {
    arena.kill().await?;
    come_back(arena).await
}

async fn on_sqlite(folder: &Path) -> anyhow::Result<Vec<String>> {
    let size = Size::or_short(10);
    let mut arena = Arena::on_sqlite(folder, Plan::quick(size.seed)).await?;
    vote_through(&mut arena, size, kill_arena).await
}

/// Crashes the arena, one of PostgreSQL's processes and PostgreSQL's first process in turn.
async fn on_postgres(folder: &Path) -> anyhow::Result<Vec<String>> {
    let size = Size::or_short(6);
    let mut arena = Arena::on_postgres(folder, Plan::quick(size.seed)).await?;
    let mut turn = 0;
    let crash = async |arena: &mut Arena, rng: &mut ChaCha8Rng| {
        turn += 1;
        match turn % 3 {
            1 => kill_arena(arena, rng).await,
            2 => arena.postgres()?.kill_backend(rng.random_range(0..100)).await,
            _ => arena.postgres()?.restart(Shutdown::Kill, Duration::ZERO).await,
        }
    };
    vote_through(&mut arena, size, crash).await
}

#[test]
#[ignore = "kills processes for a while: tests/soak/run starts it"]
fn no_acknowledged_vote_is_lost_on_sqlite() {
    harness::run(on_sqlite);
}

#[test]
#[ignore = "needs PostgreSQL: tests/soak/run starts it"]
fn no_acknowledged_vote_is_lost_on_postgres() {
    if harness::has("pg_lsclusters", "postgresql") {
        harness::run(on_postgres);
    }
}
