//! Cost of a leaderboard from a large stored log: counted from scratch, read as columns, and after one more vote.
//!
//! ```sh
//! cargo bench --bench stored_votes -- [VOTES]
//! ```

mod support;

use std::time::Instant;

use langya::domain::rating::leaderboards::leaderboard::Leaderboard;
use langya::domain::rating::leaderboards::ranking::{rank, rank_log};
use langya::domain::rating::options::LeaderboardOptions;
use langya::domain::rating::votes::vote_log::ColumnSet;
use langya::domain::time::Timestamp;
use langya::infra::config::StorageSettings;
use langya::infra::storage::{IfMissing, Store, StoredLeaderboard, VoteRange};
use langya::infra::stored_votes::vote_log::{LogQuery, read_log};
use langya::infra::stored_votes::vote_tally::{StoreWhen, VoteTally};
use support::insert;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    // Cargo adds a flag.
    let votes = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let votes: i64 = votes.map_or(Ok(1_000_000), |text| text.parse())?;
    let folder = tempfile::tempdir_in(".")?;
    let settings = StorageSettings { data_dir: folder.path().to_owned(), ..StorageSettings::default() };
    let mut raw = support::fill(&settings, votes).await?;
    let store = Store::open(&settings, IfMissing::Fail).await?;
    let options = LeaderboardOptions::default();

    let started = Instant::now();
    let mut tally = VoteTally::default();
    tally.catch_up(&store, |_| {}).await?;
    let counted = started.elapsed();
    let leaderboard = rank(&tally.counts.comparisons, &tally.counts.elo, &options)?;
    eprintln!("{votes} votes, counted from nothing: {counted:.3?}; with the fit {:.3?}", started.elapsed());
    publish(&store, &tally, &leaderboard).await?;

    for (name, wanted, at_once) in [
        ("models and outcomes, two pages at once", ColumnSet::default(), 2),
        ("models and outcomes, one page at once", ColumnSet::default(), 1),
        ("with language and time", ColumnSet { languages: true, seconds: true, ..ColumnSet::default() }, 1),
        ("with style", ColumnSet { style: true, ..ColumnSet::default() }, 2),
    ] {
        let started = Instant::now();
        let log =
            read_log(&store, LogQuery { columns: wanted, range: VoteRange::ALL, concurrency: at_once }, |_, _| {})
                .await?;
        let read = started.elapsed();
        rank_log(&log, &options)?;
        eprintln!("as columns, {name}: {read:.3?}; with the fit {:.3?}", started.elapsed());
    }

    tally.store(&store, StoreWhen::AnyNew).await?;
    store.close().await;
    insert(&mut raw, votes, votes + 1).await?;
    let started = Instant::now();
    let store = Store::open(&settings, IfMissing::Fail).await?;
    let mut tally = VoteTally::default();
    let new = tally.catch_up(&store, |_| {}).await?;
    let leaderboard = rank(&tally.counts.comparisons, &tally.counts.elo, &options)?;
    eprintln!("{new} vote after a restart: opened, counted and fitted in {:.3?}", started.elapsed());
    insert(&mut raw, votes + 1, votes + 2).await?;
    let started = Instant::now();
    tally.catch_up(&store, |_| {}).await?;
    let next = rank(&tally.counts.comparisons, &tally.counts.elo, &options)?;
    publish(&store, &tally, &next).await?;
    eprintln!("1 more vote: counted, fitted and stored in {:.3?}", started.elapsed());
    anyhow::ensure!(next != leaderboard, "the vote is in it");
    store.close().await;
    Ok(())
}

async fn publish(store: &Store, tally: &VoteTally, leaderboard: &Leaderboard) -> anyhow::Result<()> {
    let body = serde_json::to_string(leaderboard)?;
    let last_vote_seq = tally.last_seq();
    let stored = StoredLeaderboard { fit: 0, fitted_at: Timestamp(last_vote_seq), last_vote_seq, body };
    store.put_leaderboard(&stored).await?;
    Ok(())
}
