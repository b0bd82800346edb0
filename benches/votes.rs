//! Durable votes per second: each caller casts one vote after the other through `Store::insert_vote`, every vote on a different ready
//! battle and acknowledged after its commit. Concurrently, battles run as in an arena: each begins, is answered for 2.2 seconds, and its
//! replies and its vote are stored. Without callers only the battles run, beside another measurement. With `log` as the last argument the
//! public log is written concurrently, as in a serving arena; its cost is the difference of two alternating runs.
//!
//! ```sh
//! cargo bench --bench votes -- [URL] [CALLERS] [SECONDS] [BATTLES] [log]
//! ```

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::Context;
use langya::domain::battle::progress::{Progress, Stage};
use langya::domain::battle::text_counts::TextCounts;
use langya::domain::battle::{BattleId, ModelId, Outcome, RunId, Side, VisitorId};
use langya::domain::rating::leaderboards::leaderboard_snapshot::LeaderboardSnapshot;
use langya::domain::time::Timestamp;
use langya::infra::config::{CurrentSettings, Settings, StorageSettings};
use langya::infra::job_report::JobReports;
use langya::infra::llm::ModelCard;
use langya::infra::public_log::signed_checkpoint_file::CheckpointFile;
use langya::infra::rng::SharedRng;
use langya::infra::storage::{
    BattleRow, IfMissing, InsertedVote, NewReply, NewVoteRow, ReplyEnding, Store, StoredLeaderboard,
};
use langya::infra::time::clock::SystemClock;
use langya::server::jobs::public_log::append_public_log;
use langya::services::leaderboard::latest_leaderboard::LatestLeaderboard;
use langya::services::public_log::PublicLog;
use langya::services::public_log::sequencer::{Sequencer, SequencerDependencies};
use sqlx::sqlite::{SqliteConnectOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, PgPool, SqlitePool};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Number of battles created in advance, per second of the run: more than any database can use.
const BATTLES_A_SECOND: u32 = 60_000;
/// Inserts `$1` battles on either database.
const MAKE_BATTLES: &str = "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < $1) \
     INSERT INTO battles (id, visitor, mode, stage, turn, model_a, model_b, pairing_policy, policy_version, \
     pair_probability, language, category, intent, answered_by, created_at, updated_at) \
     SELECT '01980000-0000-7000-8000-' || CAST(100000000000 + n AS TEXT), '8a5edab282632443219e051e4ade2d1d', \
     'anonymous', 'ready', 1, 'one', 'two', 'weighted', 1, 0.5, 'en', NULL, NULL, 'bench', 1794000000000 + n, \
     1794000000000 + n FROM numbers";

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    // Cargo adds a flag.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let number = |at: usize, default| arguments.get(at).map_or(Ok(default), |text| text.parse::<u32>());
    let (callers, seconds, beside) = (number(1, 64)?, number(2, 10)?, number(3, 100)?);
    let folder = tempfile::tempdir_in(".")?;
    let mut settings = StorageSettings { data_dir: folder.path().to_owned(), ..StorageSettings::default() };
    settings.database = arguments.first().map_or_else(Default::default, |url| url.as_str().into());
    let store = Store::open(&settings, IfMissing::Create).await?;
    let battles = i64::from(seconds) * i64::from(BATTLES_A_SECOND);
    store.register_models(&["one", "two"].map(card), Timestamp(1)).await?;
    if callers > 0 {
        make_battles(&settings, battles)
            .await
            .context("the battles could not be made: the database has to be empty")?;
    }
    let over = CancellationToken::new();
    let running: Vec<_> = (0..beside).map(|at| tokio::spawn(run_battles(store.clone(), at, over.clone()))).collect();
    let log = match arguments.get(4).map(String::as_str) {
        Some("log") => Some(tokio::spawn(keep_log(store.clone(), folder.path().to_owned(), over.clone()))),
        _ => None,
    };
    if callers == 0 {
        eprintln!("{beside} battles at once are under way");
        tokio::time::sleep(Duration::from_secs(seconds.into())).await;
    }
    let mut latencies = cast_votes(&store, callers, Duration::from_secs(seconds.into()), battles).await?;
    over.cancel();
    let mut battles_beside = 0;
    for battles in running {
        battles_beside += battles.await??;
    }
    if let Some(log) = log {
        eprintln!("{} votes are in the public log", log.await??);
    }
    store.close().await;
    if callers == 0 {
        eprintln!("{battles_beside} battles came to their vote in {seconds} s");
        return Ok(());
    }
    if settings.database.is_empty() {
        let rate = floor(&settings, callers, Duration::from_secs(seconds.into())).await?;
        eprintln!("floor of the same run: {rate} rows/s by a bare loop that inserts {callers} rows a commit");
    }
    latencies.sort_unstable();
    let at = |share: usize| latencies.get(latencies.len() * share / 1_000).copied().unwrap_or_default();
    eprintln!(
        "{} votes from {callers} callers in {seconds} s beside {battles_beside} battles of {beside} at once: \
         {} votes/s, p50 {:.2?}, p99 {:.2?}, longest {:.2?}",
        latencies.len(),
        latencies.len() / seconds.max(1) as usize,
        at(500),
        at(990),
        latencies.last().copied().unwrap_or_default(),
    );
    Ok(())
}

/// Writes the public log, with a leaderboard that shows new votes four times a second; returns the number of logged votes.
async fn keep_log(store: Store, folder: PathBuf, over: CancellationToken) -> anyhow::Result<u64> {
    let rng = SharedRng::from_system();
    let log = PublicLog::open(store.clone(), &rng, &SystemClock, "bench").await?;
    let leaderboard = Arc::new(LatestLeaderboard::open(&store).await?);
    let sequencer = Sequencer::new(SequencerDependencies {
        log,
        leaderboard: Arc::clone(&leaderboard),
        clock: Arc::new(SystemClock),
        rng: Arc::new(rng),
        file: CheckpointFile::in_folder(&folder),
        settings: CurrentSettings::new(Settings::default()),
    });
    let (_leads, leads) = watch::channel(true);
    let report = JobReports::default().of("append_public_log");
    let job = tokio::spawn(append_public_log(sequencer, leads, report, over.clone()));
    let body = serde_json::to_string(&LeaderboardSnapshot::default().leaderboard)?;
    while !over.is_cancelled() {
        let last_vote_seq = store.last_vote_seq().await?;
        // One leaderboard per minute is stored, so each has a separate minute.
        let fitted_at = Timestamp(last_vote_seq * 60_000);
        store.put_leaderboard(&StoredLeaderboard { fit: 0, fitted_at, last_vote_seq, body: body.clone() }).await?;
        leaderboard.reload(&store).await?;
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    job.await?;
    Ok(store.logged_vote_count().await?)
}

async fn make_battles(settings: &StorageSettings, battles: i64) -> anyhow::Result<()> {
    let url = settings.database.expose();
    if url.starts_with("postgres") {
        let pool = PgPool::connect(url).await?;
        sqlx::query(MAKE_BATTLES).bind(battles).execute(&pool).await?;
        for tidy in ["VACUUM ANALYZE", "CHECKPOINT"] {
            sqlx::raw_sql(tidy).execute(&pool).await?;
        }
    } else {
        let file = settings.data_dir.join("langya.db");
        let url = if url.is_empty() { format!("sqlite:{}", file.display()) } else { url.to_owned() };
        let pool = SqlitePool::connect(&url).await?;
        sqlx::query(MAKE_BATTLES).bind(battles).execute(&pool).await?;
        sqlx::raw_sql("PRAGMA wal_checkpoint(TRUNCATE)").execute(&pool).await?;
    }
    Ok(())
}

/// Casts votes and returns the latency of each acknowledged one.
async fn cast_votes(store: &Store, callers: u32, lasting: Duration, battles: i64) -> anyhow::Result<Vec<Duration>> {
    let (next, began) = (Arc::new(AtomicUsize::new(1)), Instant::now());
    let tasks: Vec<_> = (0..callers)
        .map(|_| {
            let (store, next) = (store.clone(), Arc::clone(&next));
            tokio::spawn(async move {
                let mut latencies = Vec::new();
                while began.elapsed() < lasting {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    anyhow::ensure!(i64::try_from(number)? <= battles, "all battles have their vote");
                    let (vote, cast) = (vote(number), Instant::now());
                    anyhow::ensure!(store.insert_vote(&vote).await? == InsertedVote::Stored, "a vote was not stored");
                    latencies.push(cast.elapsed());
                }
                Ok(latencies)
            })
        })
        .collect();
    let mut all = Vec::new();
    for task in tasks {
        all.extend(task.await??);
    }
    Ok(all)
}

/// Runs one battle after the other, like an arena's visitor; returns the number of voted battles.
async fn run_battles(store: Store, visitor: u32, over: CancellationToken) -> anyhow::Result<usize> {
    // Staggers the starts.
    tokio::time::sleep(ANSWERING * (visitor % 100) / 100).await;
    for number in 0.. {
        let id = format!("01980000-0000-7000-a000-{:012}", u64::from(visitor) * 1_000_000 + number);
        let battle = BattleRow {
            id: BattleId::new(&id),
            visitor: VisitorId::new(format!("visitor {visitor}")),
            mode: langya::domain::battle::mode::BattleMode::Anonymous,
            progress: Progress { stage: Stage::Answering, turn: 1 },
            models: ["one", "two"].map(ModelId::new),
            pairing_policy: "weighted".to_owned(),
            policy_version: 1,
            pair_probability: 0.5,
            language: "en".to_owned(),
            category: None,
            intent: None,
            answered_by: Some(RunId::new(&id)),
        };
        store.insert_battle(&battle, "Which of the two is better, and why?", Timestamp(1)).await?;
        if over.run_until_cancelled(tokio::time::sleep(ANSWERING)).await.is_none() {
            return Ok(usize::try_from(number)?);
        }
        let ready = Progress { stage: Stage::Ready, turn: 1 };
        anyhow::ensure!(
            store
                .finish_turn(&battle.id, &RunId::new(&id), ready, &[reply(Side::A), reply(Side::B)], Timestamp(2))
                .await?
        );
        let cast = NewVoteRow { id, battle: battle.id, answered_by: battle.answered_by, ..vote(0) };
        anyhow::ensure!(store.insert_vote(&cast).await? == InsertedVote::Stored, "a vote was not stored");
    }
    Ok(0)
}

/// Duration of a battle's answers: 100 tokens at 50 per second.
const ANSWERING: Duration = Duration::from_millis(2_200);

fn reply(side: Side) -> NewReply {
    NewReply {
        side,
        model: ModelId::new(["one", "two"][side.index()]),
        text: "The first one, for it is shorter. ".repeat(18),
        reasoning: String::new(),
        ending: ReplyEnding::Complete,
        first_token_ms: Some(210),
        duration_ms: 2_200,
    }
}

/// Measures the baseline of the machine: a loop that only inserts the same JSON into a table of the same columns and keys, without
/// triggers, foreign keys, battles, queue and callers.
async fn floor(settings: &StorageSettings, callers: u32, lasting: Duration) -> anyhow::Result<u64> {
    let file = SqliteConnectOptions::new().filename(settings.data_dir.join("langya.db"));
    let mut connection = file.synchronous(SqliteSynchronous::Full).foreign_keys(false).connect().await?;
    sqlx::raw_sql(MAKE_BARE).execute(&mut connection).await?;
    let (mut rows, began) = (0, Instant::now());
    while began.elapsed() < lasting {
        let group: Vec<_> = (0..u64::from(callers)).map(|at| format!("\"{}\"", 100_000_000_000 + rows + at)).collect();
        let group = format!("[{}]", group.join(","));
        sqlx::query(INSERT_BARE).bind(group).bind(RECEIPT).execute(&mut connection).await?;
        rows += u64::from(callers);
    }
    Ok(rows * 1_000 / u64::try_from(began.elapsed().as_millis())?)
}

const MAKE_BARE: &str = "CREATE TABLE bare (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, \
     battle_id TEXT NOT NULL UNIQUE, visitor TEXT, model_a TEXT, model_b TEXT, outcome TEXT, turn BIGINT, \
     anonymous BOOLEAN, language TEXT, pairing_policy TEXT, policy_version BIGINT, pair_probability DOUBLE PRECISION, \
     first_token_ms_a BIGINT, first_token_ms_b BIGINT, duration_ms_a BIGINT, duration_ms_b BIGINT, text_counts TEXT, \
     receipt TEXT, created_at BIGINT)";
const INSERT_BARE: &str = "INSERT INTO bare (id, battle_id, visitor, model_a, model_b, outcome, turn, anonymous, \
     language, pairing_policy, policy_version, pair_probability, first_token_ms_a, first_token_ms_b, duration_ms_a, \
     duration_ms_b, text_counts, receipt, created_at) \
     SELECT '01980000-0000-7000-9000-' || value, '01980000-0000-7000-8000-' || value, \
     '8a5edab282632443219e051e4ade2d1d', 'one', 'two', 'a', 1, TRUE, 'en', 'weighted', 1, 0.5, 210, 340, 2345, 3210, \
     '[{\"tokens\":3,\"headings\":1,\"lists\":1,\"bold\":0},{\"tokens\":0,\"headings\":0,\"lists\":0,\"bold\":0}]', $2, \
     1795000000000 FROM json_each($1)";

fn vote(number: usize) -> NewVoteRow {
    NewVoteRow {
        id: format!("01980000-0000-7000-9000-{}", 100_000_000_000 + number),
        battle: BattleId::new(format!("01980000-0000-7000-8000-{}", 100_000_000_000 + number)),
        turn: 1,
        answered_by: Some(RunId::new("bench")),
        outcome: Outcome::AWins,
        satisfaction: None,
        reasons: Default::default(),
        first_token_ms: [Some(210), Some(340)],
        duration_ms: [2_345, 3_210],
        text_counts: [TextCounts::count("# One\n\n- two"), TextCounts::default()],
        receipt: RECEIPT.to_owned(),
        created_at: Timestamp(1_795_000_000_000),
        exclusions: Vec::new(),
    }
}

/// Receipt of realistic length.
const RECEIPT: &str = r#"{"vote":"01980000-0000-7000-9000-100000000000","outcome":"a","a":{"id":"qwen-14b","name":"Qwen 14B Chat","organization":"Alibaba","license":"Apache-2.0","practice":false,"rating":1012.25,"rating_change":1.93,"first_token_ms":210,"duration_ms":2345,"chars_per_second":187.4},"b":{"id":"llama-8b","name":"Llama 3.1 8B Instruct","organization":"Meta","license":"Llama 3.1 Community","practice":false,"rating":987.75,"rating_change":-1.93,"first_token_ms":340,"duration_ms":3210,"chars_per_second":144.1}}"#;

fn card(id: &str) -> ModelCard {
    let text = || id.to_owned();
    ModelCard { id: ModelId::new(id), name: text(), organization: text(), license: text(), practice: false }
}
