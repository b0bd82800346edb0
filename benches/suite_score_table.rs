//! Cost of the score table of all models and suites with a large suite: 10,000 items, 20 models, 3 judges.
//!
//! ```sh
//! cargo bench --bench suite_score_table -- [ITEMS]
//! ```
//!
//! Computed as a running arena computes it, with resampled items; then the pages are requested from the program itself. Each page is
//! requested before and after an expensive intermediate result is cached.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use langya::domain::correlation::Aliases;
use langya::domain::correlation::suite_score_table::SuiteScoreTable;
use langya::domain::rating::options::LeaderboardOptions;
use langya::domain::stats::resample::BootstrapOptions;
use langya::infra::config::StorageSettings;
use langya::infra::storage::{IfMissing, Store};
use langya::services::correlation::{SeriesReader, Sources};
use serde_json::Value;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor};

const PROGRAM: &str = env!("CARGO_BIN_EXE_langya");
const MODELS: i64 = 20;
const JUDGES: i64 = 3;
/// Number of items of a small suite of two tasks only: it has parts and no overall score, so no column in the score table.
const SMALL: i64 = 100;
const RUNS: usize = 3;
/// Maximum wait for the program's score table.
const LONGEST: Duration = Duration::from_secs(120);

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    // An error means that a provider is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // Cargo adds a flag.
    let items = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let items: i64 = items.map_or(Ok(10_000), |text| text.parse())?;
    let folder = tempfile::tempdir_in(".")?;
    let settings = StorageSettings { data_dir: folder.path().to_owned(), ..StorageSettings::default() };
    let store = Store::open(&settings, IfMissing::Create).await?;
    let mut raw = SqliteConnectOptions::new().filename(folder.path().join("langya.db")).connect().await?;
    let started = Instant::now();
    // Data lost in a crash is regenerated.
    raw.execute("PRAGMA synchronous = OFF").await?;
    for (suite, items) in [("urs", items), ("mtbench101", SMALL)] {
        fill(&mut raw, suite, items).await?;
    }
    raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").await?;
    eprintln!("filled in {:.1?}", started.elapsed());
    for run in 1..=RUNS {
        let started = Instant::now();
        let table = score_table(&store).await?;
        eprintln!(
            "score table {run} of {} suites and {} models: {:.3?}",
            table.suites.len(),
            table.models.len(),
            started.elapsed()
        );
    }
    store.close().await;
    pages(folder.path()).await
}

/// Computes the score table as in the arena's snapshot of series.
async fn score_table(store: &Store) -> anyhow::Result<SuiteScoreTable> {
    let sources = Sources {
        store: Some(store),
        table: None,
        aliases: Aliases::default(),
        rating: LeaderboardOptions::default(),
        bootstrap: BootstrapOptions { replicates: 200, seed: 0 },
    };
    let mut reader = SeriesReader::new(sources);
    let names = reader.stored_scores().await?;
    Ok(SuiteScoreTable::new(&reader.read_all(&names).await?))
}

/// Requests pages, each several times in a row.
async fn pages(data: &Path) -> anyhow::Result<()> {
    let arena = Arena::start(data)?;
    let started = Instant::now();
    // A longer wait is a failure.
    while started.elapsed() < LONGEST {
        let benchmarks: Value = serde_json::from_str(&text(&arena, "/api/v1/benchmarks").await?)?;
        if benchmarks["board"]["suites"].as_array().is_some_and(|suites| !suites.is_empty()) {
            eprintln!("the arena has its score table {:.3?} after the start", started.elapsed());
            return measured(&arena).await;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    anyhow::bail!("no score table after {LONGEST:?}")
}

async fn measured(arena: &Arena) -> anyhow::Result<()> {
    let item = "/benchmarks/urs/items/q7";
    let compared = "/benchmarks?compare_with=model-3";
    for path in ["/benchmarks", compared, "/api/v1/benchmarks.csv", "/benchmarks/urs", "/benchmarks/urs/items", item] {
        for run in 1..=RUNS {
            let started = Instant::now();
            let size = text(arena, path).await?.len();
            eprintln!("{path}, {run}: {:.3?}, {} kB", started.elapsed(), size / 1_000);
        }
    }
    Ok(())
}

async fn text(arena: &Arena, path: &str) -> anyhow::Result<String> {
    Ok(reqwest::get(format!("{}{path}", arena.url)).await?.error_for_status()?.text().await?)
}

/// `langya serve` with practice models; ended at the end of the benchmark.
struct Arena {
    process: Child,
    url: String,
}

impl Arena {
    fn start(data: &Path) -> anyhow::Result<Self> {
        let mut command = Command::new(PROGRAM);
        command.env("LANGYA__PROVIDERS__DISCOVER", "false").args(["serve", "--listen", "127.0.0.1:0", "--data-dir"]);
        let mut process = command.arg(data).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().context("its output is a pipe")?).read_line(&mut line)?;
        let url = line.trim().strip_prefix("listening on ").context("the arena did not start")?;
        Ok(Self { process, url: url.to_owned() })
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // The data folder is removed with the benchmark.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Inserts judgements: model m by judge j scores item i with a number from 1 to 10 that is a little higher for higher m.
async fn fill(raw: &mut SqliteConnection, suite: &str, items: i64) -> anyhow::Result<()> {
    let numbers = |name: &str, end: i64| {
        format!("{name} ({name}) AS (SELECT 0 UNION ALL SELECT {name} + 1 FROM {name} WHERE {name} + 1 < {end})")
    };
    let category = match suite {
        "urs" => "CASE i % 2 WHEN 0 THEN 'Factual_QA' ELSE 'Solve_Professional_Problem' END",
        _ => "CASE i % 2 WHEN 0 THEN 'CM' ELSE 'TS' END",
    };
    let all = format!("{}, {}, {}", numbers("i", items), numbers("m", MODELS), numbers("j", JUDGES));
    let score = "1 + (i * 7919 + m * 131 + j * 17 + (i * m) % 13) % 9 + (m * 7 + i) / 200 % 2";
    // Dialogues are judged from their second turn on.
    let turn = if suite == "urs" { 1 } else { 2 };
    let statements = [
        format!(
            "INSERT INTO bench_suites (suite, version, source, declaration, items, imported_at) VALUES ('{suite}', '{suite}-1', 'big', '', {items}, 1)"
        ),
        format!(
            "WITH RECURSIVE {} INSERT INTO bench_items (suite, version, item, position, body) SELECT '{suite}', '{suite}-1', 'q' || i, i, json_object('id', 'q' || i, 'category', {category}, 'language', 'en', 'turns', json_array(json_object('question', 'Why?', 'reference', 'So.'), json_object('question', 'Why?', 'reference', 'So.'))) FROM i",
            numbers("i", items)
        ),
        format!(
            "WITH RECURSIVE {all} INSERT INTO bench_judgements (id, suite, version, item, turn, model, variant, sample, judge, baseline, game, source, prompt_sha256, params, raw_text, earlier, parsed, status, attempts, latency_ms, input_tokens, output_tokens, created_at) SELECT '{suite}-' || i || '-' || m || '-' || j, '{suite}', '{suite}-1', 'q' || i, {turn}, 'model-' || m, '', 1, 'judge-' || j, '', 1, '', 'p' || i || '-' || m, '{{}}', 'Rating: fine, and then some words about it.', '[]', json_object('score', 0.0 + {score}, 'rating', json_object('Factuality', 5.0, 'Clarity', 7.0)), 'ok', 1, 900, 500, 60, i * 60 + m * 3 + j FROM i, m, j"
        ),
    ];
    let mut tx = raw.begin().await?;
    for statement in statements {
        tx.execute(AssertSqlSafe(statement)).await?;
    }
    Ok(tx.commit().await?)
}
