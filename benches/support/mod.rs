//! Database with a large log of votes.

use langya::domain::battle::ModelId;
use langya::domain::time::Timestamp;
use langya::infra::config::StorageSettings;
use langya::infra::llm::ModelCard;
use langya::infra::storage::{IfMissing, Store};
use sqlx::ConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};

/// Inserts votes `$1 < n ≤ $2` between 120 models of evenly spaced strengths; a fifth are ties. Rows have realistic lengths.
const MAKE_VOTES: &str = "WITH RECURSIVE numbers (n) AS (SELECT $1 + 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < $2), \
     drawn AS (SELECT n, n * 7919 % 120 AS a, (n * 7919 % 120 + 1 + n * 104729 % 119) % 120 AS b, n * 48271 % 997 AS luck \
     FROM numbers) \
     INSERT INTO votes (id, battle_id, visitor, model_a, model_b, outcome, turn, anonymous, language, pairing_policy, \
     policy_version, pair_probability, first_token_ms_a, first_token_ms_b, duration_ms_a, duration_ms_b, text_counts, \
     receipt, created_at) SELECT '01980000-0000-7000-9000-' || n, '01980000-0000-7000-8000-' || n, \
     '8a5edab282632443219e051e4ade' || (n % 5000), 'model-' || a, 'model-' || b, \
     CASE WHEN luck < 200 THEN 'tie' WHEN luck < 600 + 3 * (a - b) THEN 'a' ELSE 'b' END, 1, TRUE, \
     CASE WHEN n % 3 = 0 THEN 'zh' ELSE 'en' END, 'weighted', 1, 0.5, 210, 340, 2345, 3210, \
     '[{\"tokens\":183,\"headings\":[0,2,0,0,0,0],\"ordered\":0,\"unordered\":4,\"bold_stars\":3,\"bold_underscores\":0},\
     {\"tokens\":95,\"headings\":[0,0,0,0,0,0],\"ordered\":3,\"unordered\":0,\"bold_stars\":0,\"bold_underscores\":0}]', \
     $3, 1795000000000 + n FROM drawn";

/// Creates a database in the data folder, and returns a connection to it. The votes have no battles: the benchmarks do not read them.
pub(crate) async fn fill(settings: &StorageSettings, votes: i64) -> anyhow::Result<SqliteConnection> {
    let store = Store::open(settings, IfMissing::Create).await?;
    let cards: Vec<ModelCard> = (0..120).map(|model| card(&format!("model-{model}"))).collect();
    store.register_models(&cards, Timestamp(1)).await?;
    store.close().await;
    let file = SqliteConnectOptions::new().filename(settings.data_dir.join("langya.db")).foreign_keys(false);
    let mut raw = file.connect().await?;
    insert(&mut raw, 0, votes).await?;
    sqlx::raw_sql("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut raw).await?;
    Ok(raw)
}

/// Adds the votes with numbers above `after`.
pub(crate) async fn insert(raw: &mut SqliteConnection, after: i64, upto: i64) -> anyhow::Result<()> {
    sqlx::query(MAKE_VOTES).bind(after).bind(upto).bind("r".repeat(540)).execute(raw).await?;
    Ok(())
}

fn card(id: &str) -> ModelCard {
    let text = || id.to_owned();
    ModelCard { id: ModelId::new(id), name: text(), organization: text(), license: text(), practice: false }
}
