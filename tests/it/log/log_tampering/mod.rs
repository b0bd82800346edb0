//! What `langya verify` finds: everything that is changed in a log, its database or its leaderboard, and nothing where nothing is.

mod database;
mod published_files;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use langya::domain::public_log::log_receipt::LogReceipt;
use langya::domain::public_log::recount::RatingRules;
use langya::domain::public_log::tile::{Tile, TileKind};
use langya::domain::public_log::trust_anchors::TrustAnchors;
use langya::domain::rating::leaderboards::leaderboard_snapshot::LeaderboardSnapshot;
use langya::domain::rating::leaderboards::ranking::rank_log;
use langya::domain::rating::options::IntervalMethod;
use langya::domain::rating::votes::vote_log::ColumnSet;
use langya::domain::time::Timestamp;
use langya::formats::votes::ReadOptions;
use langya::infra::config::StorageSettings;
use langya::infra::public_log::reader::PublicLogSource;
use langya::infra::storage::{IfMissing, NewExclusions, Store, StoredLeaderboard, VoteRange};
use langya::infra::stored_votes::vote_log::{LogQuery, read_log};
use langya::services::import_export::import::{self, VotesFile};
use langya::services::public_log::reader::PublicLogLookup;
use langya::services::public_log::verification::{LeaderboardSource, VerifyError, verify};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool};
use tempfile::TempDir;

use crate::storage::public_log::{cast, log_of, sequencer};

const RULES: RatingRules = RatingRules {
    confidence: 0.95,
    interval: IntervalMethod::Auto,
    min_votes: 30,
    equal_within: 10.0,
    optimal_at_battles: 100,
};

/// Enough for a full tile, a partial one and a level above.
const VOTES: usize = 300;

/// An arena without a server: its database, and the checkpoint that somebody has verified before it grew to its size.
struct Arena {
    folder: TempDir,
    store: Store,
    known: TrustAnchors,
}

fn settings(folder: &Path) -> StorageSettings {
    StorageSettings { data_dir: folder.to_owned(), ..StorageSettings::default() }
}

impl Arena {
    /// Votes of nine voters on four models, with exclusions and a withdrawal.
    async fn new(rng: &mut ChaCha8Rng) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&settings(folder.path()), IfMissing::Create).await.unwrap();
        let mut arena = Self { folder, store, known: TrustAnchors::default() };
        arena.import(rng, VOTES / 2).await;
        arena.exclude("first", &[3, 8, 21]).await;
        arena.append().await;
        let key = log_of(&arena.store).await.key().verifier().clone();
        let checkpoint = Some(arena.store.log_checkpoint().await.unwrap().unwrap().note);
        arena.known = TrustAnchors { key: Some(key), checkpoint, ..TrustAnchors::default() };
        arena.import(rng, VOTES / 2).await;
        cast(&arena.store, &["with texts"]).await;
        arena.exclude("second", &[200, 250]).await;
        assert_eq!(arena.store.withdraw_exclusions(&[8], None, "ann", Timestamp(99), None).await.unwrap(), 1);
        arena.append().await;
        arena
    }

    async fn import(&self, rng: &mut ChaCha8Rng, votes: usize) {
        let mut csv = "model_a,model_b,winner,judge,tstamp\n".to_owned();
        for _ in 0..votes {
            let a = rng.random_range(0..4);
            let b = (a + rng.random_range(1..4)) % 4;
            let winner = ["model_a", "model_b", "tie", "model_a"][rng.random_range(0..4)];
            csv += &format!("m{a},m{b},{winner},voter{},{}\n", rng.random_range(0..9), rng.random_range(1_000..2_000));
        }
        let file = self.folder.path().join("votes.csv");
        fs::write(&file, csv).unwrap();
        let read = VotesFile::read(&file, &ReadOptions::default(), Timestamp(5)).unwrap();
        let report = import::votes(&self.store, read, |_, _| {}).await;
        assert_eq!(report.unwrap().excluded, []);
    }

    async fn exclude(&self, id: &str, votes: &[i64]) {
        let decision = NewExclusions {
            id: id.into(),
            rule: "admin".into(),
            reason: "a test".into(),
            decided_by: "ann".into(),
            decided_at: Timestamp(7),
        };
        assert_eq!(self.store.exclude(&decision, votes, None).await.unwrap(), votes.len() as u64);
    }

    async fn append(&self) {
        let body = serde_json::to_string(&LeaderboardSnapshot::default().leaderboard).unwrap();
        let last_vote_seq = self.store.last_vote_seq().await.unwrap();
        let leaderboard = StoredLeaderboard { fit: 0, fitted_at: Timestamp(last_vote_seq), last_vote_seq, body };
        self.store.put_leaderboard(&leaderboard).await.unwrap();
        let mut sequencer = sequencer(&self.store, self.folder.path()).await;
        while sequencer.append().await.unwrap() > 0 {}
    }

    /// A copy of the database, changed by these statements behind the back of its triggers.
    async fn tampered(&self, statements: &str) -> (TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let raw = |folder: &Path| SqliteConnectOptions::new().filename(folder.join("langya.db"));
        let here = SqlitePool::connect_with(raw(self.folder.path())).await.unwrap();
        let copy = folder.path().join("langya.db");
        sqlx::query("VACUUM INTO $1").bind(copy.to_str().unwrap()).execute(&here).await.unwrap();
        let there = SqlitePool::connect_with(raw(folder.path())).await.unwrap();
        let triggers: Vec<String> = sqlx::query_scalar("SELECT name FROM sqlite_master WHERE type = 'trigger'")
            .fetch_all(&there)
            .await
            .unwrap();
        let drops: String = triggers.iter().map(|name| format!("DROP TRIGGER {name};")).collect();
        let all = format!("PRAGMA foreign_keys = OFF; {drops} {statements}");
        sqlx::raw_sql(sqlx::AssertSqlSafe(all))
            .execute(&there)
            .await
            .unwrap_or_else(|error| panic!("{statements}: {error}"));
        there.close().await;
        let store = Store::open(&settings(folder.path()), IfMissing::Fail).await.unwrap();
        (folder, store)
    }
}

/// Everything that an arena with this database would serve of its log, as files.
async fn publish(store: &Store, to: &Path) {
    let log = log_of(store).await;
    let write = |path: &str, bytes: &[u8]| {
        let path = to.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    let latest = store.log_checkpoint().await.unwrap().unwrap();
    write("checkpoint", latest.note.as_bytes());
    for tile in Tile::all(latest.head.size) {
        let mut kinds = vec![TileKind::Hashes(tile)];
        kinds.extend((tile.level() == 0).then_some(TileKind::Entries(tile)));
        for kind in kinds {
            // What cannot be read is not served.
            if let Ok(Some(bytes)) = log.tile(kind).await {
                write(&kind.to_string(), &bytes);
            }
        }
    }
    let description = serde_json::json!({"key": log.key().verifier().to_string(), "rating": RULES});
    write("log.json", description.to_string().as_bytes());
    let columns = ColumnSet { voters: true, ..ColumnSet::default() };
    let reading = LogQuery { columns, range: VoteRange::ALL, concurrency: 1 };
    let votes = read_log(store, reading, |_, _| {}).await.unwrap();
    let leaderboard = rank_log(&votes, &RULES.options().unwrap()).unwrap();
    write("leaderboard.json", serde_json::to_string(&leaderboard).unwrap().as_bytes());
}

async fn check(folder: &Path, known: &TrustAnchors, receipts: &[LogReceipt]) -> Result<u64, VerifyError> {
    let source = PublicLogSource::parse(folder.to_str().unwrap()).unwrap();
    let verified = verify(&source, known, receipts, LeaderboardSource::Published, |_, _| {}).await?;
    Ok(verified.leaderboard_votes.unwrap())
}

/// Paths of the files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> =
        entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect();
    found.sort();
    found
}

/// Proofs of some votes, as voters keep them.
async fn receipts(arena: &Arena) -> Vec<LogReceipt> {
    let mut receipts = Vec::new();
    for vote in
        arena.store.votes_after(0, Timestamp(i64::MIN), Timestamp(i64::MAX), 1_000).await.unwrap().iter().step_by(40)
    {
        let receipt = log_of(&arena.store).await.receipt(&vote.id, Duration::ZERO).await.unwrap().unwrap();
        let PublicLogLookup::Logged(found) = receipt else { panic!("{receipt:?}") };
        receipts.push(LogReceipt::read(&vote.id, &found.logged.to_text()).unwrap());
    }
    receipts
}
