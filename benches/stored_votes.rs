//! What a leaderboard costs on top of a large stored log: counted from nothing, read as columns, and after one more vote.
//!
//! ```sh
//! cargo bench --bench stored_votes -- [VOTES]
//! ```

use std::time::Instant;

use langya::battle::ModelId;
use langya::clock::Timestamp;
use langya::config::StorageSettings;
use langya::llm::ModelCard;
use langya::rating::leaderboard::{Leaderboard, LeaderboardOptions, rank, rank_log};
use langya::rating::vote_log::Wanted;
use langya::services::vote_log::{Reading, read_log};
use langya::services::vote_tally::VoteTally;
use langya::storage::{IfMissing, Store, StoredLeaderboard, VoteRange};
use sqlx::ConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};

/// Votes `$1 < n ≤ $2` between 120 models of strengths that lie evenly; a fifth are ties. Rows are as long as real ones.
const MAKE_VOTES: &str = "WITH RECURSIVE numbers (n) AS (SELECT $1 + 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < $2), \
     drawn AS (SELECT n, n * 7919 % 120 AS a, (n * 7919 % 120 + 1 + n * 104729 % 119) % 120 AS b, n * 48271 % 997 AS luck \
     FROM numbers) \
     INSERT INTO votes (id, battle_id, visitor, model_a, model_b, outcome, turn, anonymous, language, pairing_policy, \
     policy_version, pair_probability, first_token_ms_a, first_token_ms_b, duration_ms_a, duration_ms_b, text_counts, rated, \
     receipt, created_at) SELECT '01980000-0000-7000-9000-' || n, '01980000-0000-7000-8000-' || n, \
     '8a5edab282632443219e051e4ade' || (n % 5000), 'model-' || a, 'model-' || b, \
     CASE WHEN luck < 200 THEN 'tie' WHEN luck < 600 + 3 * (a - b) THEN 'a' ELSE 'b' END, 1, TRUE, \
     CASE WHEN n % 3 = 0 THEN 'zh' ELSE 'en' END, 'weighted', 1, 0.5, 210, 340, 2345, 3210, \
     '[{\"tokens\":183,\"headings\":[0,2,0,0,0,0],\"ordered\":0,\"unordered\":4,\"bold_stars\":3,\"bold_underscores\":0},\
     {\"tokens\":95,\"headings\":[0,0,0,0,0,0],\"ordered\":3,\"unordered\":0,\"bold_stars\":0,\"bold_underscores\":0}]', TRUE, \
     $3, 1795000000000 + n FROM drawn";

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    // Cargo adds a flag of its own.
    let votes = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let votes: i64 = votes.map_or(Ok(1_000_000), |text| text.parse())?;
    let folder = tempfile::tempdir_in(".")?;
    let settings = StorageSettings { data_dir: folder.path().to_owned(), ..StorageSettings::default() };
    let store = Store::open(&settings, IfMissing::Create).await?;
    let cards: Vec<ModelCard> = (0..120).map(|model| card(&format!("model-{model}"))).collect();
    store.register_models(&cards, Timestamp(1)).await?;
    // Votes without battles: what is measured does not look at them.
    let file = SqliteConnectOptions::new().filename(folder.path().join("langya.db")).foreign_keys(false);
    let mut raw = file.connect().await?;
    insert(&mut raw, 0, votes).await?;
    sqlx::raw_sql("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut raw).await?;
    let options = LeaderboardOptions::default();

    let started = Instant::now();
    let mut tally = VoteTally::default();
    tally.catch_up(&store, |_, _, _| {}).await?;
    let counted = started.elapsed();
    let board = rank(&tally.comparisons, &tally.elo, &options)?;
    eprintln!("{votes} votes, counted from nothing: {counted:.3?}; with the fit {:.3?}", started.elapsed());
    publish(&store, &tally, &board).await?;

    for (name, wanted, at_once) in [
        ("models and outcomes, two pages at once", Wanted::default(), 2),
        ("models and outcomes, one page at once", Wanted::default(), 1),
        ("with language and time", Wanted { languages: true, seconds: true, ..Wanted::default() }, 1),
        ("with style", Wanted { style: true, ..Wanted::default() }, 2),
    ] {
        let started = Instant::now();
        let log = read_log(&store, Reading { wanted, range: VoteRange::ALL, at_once }, |_, _| {}).await?;
        let read = started.elapsed();
        rank_log(&log, &options)?;
        eprintln!("as columns, {name}: {read:.3?}; with the fit {:.3?}", started.elapsed());
    }

    tally.keep(&store, true).await?;
    store.close().await;
    insert(&mut raw, votes, votes + 1).await?;
    let started = Instant::now();
    let store = Store::open(&settings, IfMissing::Fail).await?;
    let mut tally = VoteTally::default();
    let new = tally.catch_up(&store, |_, _, _| {}).await?;
    let board = rank(&tally.comparisons, &tally.elo, &options)?;
    eprintln!("{new} vote after a restart: opened, counted and fitted in {:.3?}", started.elapsed());
    insert(&mut raw, votes + 1, votes + 2).await?;
    let started = Instant::now();
    tally.catch_up(&store, |_, _, _| {}).await?;
    let next = rank(&tally.comparisons, &tally.elo, &options)?;
    publish(&store, &tally, &next).await?;
    eprintln!("1 more vote: counted, fitted and stored in {:.3?}", started.elapsed());
    anyhow::ensure!(next != board, "the vote is in it");
    store.close().await;
    Ok(())
}

async fn insert(raw: &mut SqliteConnection, after: i64, upto: i64) -> anyhow::Result<()> {
    sqlx::query(MAKE_VOTES).bind(after).bind(upto).bind("r".repeat(540)).execute(raw).await?;
    Ok(())
}

async fn publish(store: &Store, tally: &VoteTally, board: &Leaderboard) -> anyhow::Result<()> {
    let body = serde_json::to_string(board)?;
    let stored = StoredLeaderboard { fitted_at: Timestamp(tally.last_seq()), last_vote_seq: tally.last_seq(), body };
    Ok(store.put_leaderboard(&stored).await?)
}

fn card(id: &str) -> ModelCard {
    let text = || id.to_owned();
    ModelCard { id: ModelId::new(id), name: text(), organization: text(), license: text(), practice: false }
}
