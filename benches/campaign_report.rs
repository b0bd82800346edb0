//! Cost of a large campaign's report, and of an annotator's next item: 100,000 items, each judged by 5 of 50 annotators.
//!
//! ```sh
//! cargo bench --bench campaign_report -- [ITEMS]
//! ```

use std::time::Instant;

use langya::domain::campaign::assignment::CampaignShape;
use langya::domain::rating::options::LeaderboardOptions;
use langya::domain::time::Timestamp;
use langya::infra::config::StorageSettings;
use langya::infra::storage::{AssignmentLimit, AssignmentRequest, IfMissing, Store};
use langya::services::campaign::reports::campaign_report;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Executor};

const ANNOTATORS: i64 = 50;
const EACH: i64 = 5;
const PLAN: &str = r#"{"id":"big","title":"Which?","task":"pairwise","answers":"x","judgements_per_item":6}"#;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    // Cargo adds a flag.
    let items = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let items: i64 = items.map_or(Ok(100_000), |text| text.parse())?;
    let folder = tempfile::tempdir_in(".")?;
    let settings = StorageSettings { data_dir: folder.path().to_owned(), ..StorageSettings::default() };
    let store = Store::open(&settings, IfMissing::Create).await?;
    let file = folder.path().join("langya.db");
    fill(&mut SqliteConnectOptions::new().filename(file).connect().await?, items).await?;
    let campaign = store.campaign("big").await?.expect("it was just stored");
    for run in 1..=3 {
        let started = Instant::now();
        let report = campaign_report(&store, &campaign, &LeaderboardOptions::default()).await?;
        eprintln!("report {run} of {} judgements: {:.3?}", report.judgements, started.elapsed());
    }
    let mut times = Vec::new();
    for number in 0..ANNOTATORS {
        let (annotator, id) = (format!("big-{number}"), format!("new-{number}"));
        let shape = CampaignShape { items: u32::try_from(items)?, shared_units: 0, repeat_share: 0.0 };
        let (annotator, id) = (annotator.as_str(), id.as_str());
        let request = AssignmentRequest {
            campaign: "big",
            annotator,
            id,
            shape,
            needed: 6,
            seed: 1,
            room: AssignmentLimit::ForAll,
            now: Timestamp(9),
        };
        let started = Instant::now();
        store.next_assignment(request).await?;
        times.push(started.elapsed());
    }
    times.sort();
    eprintln!("next item: median {:.3?}, slowest {:.3?}", times[times.len() / 2], times[times.len() - 1]);
    store.close().await;
    Ok(())
}

/// Inserts items and judgements: item i has the pair of models (i mod 10, i + 1 mod 10), and its judgement k is by annotator (i + 10 k) mod
/// 50.
async fn fill(raw: &mut SqliteConnection, items: i64) -> anyhow::Result<()> {
    let numbers = format!("WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {items}) ");
    let each = format!("WITH RECURSIVE k (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM k WHERE k + 1 < {EACH}) ");
    let people =
        format!("WITH RECURSIVE p (p) AS (SELECT 0 UNION ALL SELECT p + 1 FROM p WHERE p + 1 < {ANNOTATORS}) ");
    let statements = [
        format!("INSERT INTO campaigns (id, plan, state, items, units, shared_units, created_at) VALUES ('big', '{PLAN}', 'open', {items}, {items}, 0, 1)"),
        format!("{numbers} INSERT INTO campaign_items (campaign, item, name, prompt, reference, category, language) SELECT 'big', i, 'q' || i, 'Why?', '', '', '' FROM n"),
        format!("{numbers} INSERT INTO campaign_units (campaign, unit, item, models, shared, gold, given) SELECT 'big', i, i, '[\"m' || MIN(i % 10, (i + 1) % 10) || '\",\"m' || MAX(i % 10, (i + 1) % 10) || '\"]', FALSE, NULL, {EACH} FROM n"),
        format!("{people} INSERT INTO campaign_annotators (id, campaign, token_hash, created_at, first_time, repeats, shared, judged, side_balance) SELECT 'big-' || p, 'big', p, 1, {items}, 0, 0, 1, '{{}}' FROM p"),
        format!("{each} INSERT INTO campaign_assignments (id, campaign, annotator, number, unit, item, kind, shown, given_at, judged_at) SELECT unit || '-' || k, 'big', 'big-' || ((unit + 10 * k) % {ANNOTATORS}), unit, unit, item, 'fresh', models, unit * 1000, unit * 1000 + k FROM campaign_units, k ORDER BY unit, k"),
        "INSERT INTO campaign_judgements (id, assignment, revision, judgement, judged_at) SELECT 'j' || id, id, 1, CASE (unit * 7 + judged_at * 13) % 5 WHEN 0 THEN '{\"outcome\":\"b\"}' WHEN 1 THEN '{\"outcome\":\"tie\"}' ELSE '{\"outcome\":\"a\"}' END, judged_at FROM campaign_assignments".to_owned(),
    ];
    for statement in statements {
        raw.execute(AssertSqlSafe(statement)).await?;
    }
    Ok(())
}
