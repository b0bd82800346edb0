//! `deploy/archive-month.sh` on an arena that runs.

use std::path::Path;
use std::process::{Command, Stdio};

use langya::domain::battle::BattleId;
use langya::domain::time::Timestamp;

use crate::storage::partitions::past_battle;
use crate::support::postgres::TestDatabase;
use crate::support::program::{Run, langya, program};

/// Two battles of January 2026 (the second one's vote was cast in February) and one of February.
const BATTLES: [(&str, i64); 3] = [
    ("019bd9df-b600-7000-8000-000000000001", 1_768_888_800_000),
    ("019c167f-cbff-7000-8000-000000000002", 1_769_903_999_999),
    ("019c167f-cc00-7000-8000-000000000003", 1_769_904_000_000),
];

/// Runs the script on this database, with files going into `archive` of the folder.
fn archive(url: &str, folder: &Path, command: &str, arguments: &[&str]) -> Run {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/archive-month.sh");
    let mut bash = Command::new("bash");
    bash.arg(script).arg(url).args(arguments).current_dir(folder).stdin(Stdio::null());
    let output = bash.env("LANGYA", program()).env("ARCHIVE_COMMAND", command).output().unwrap();
    let [stdout, stderr] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    Run { code: output.status.code(), stdout, stderr }
}

#[actix_web::test]
async fn a_month_leaves_only_when_its_files_are_stored() {
    let Some(database) = TestDatabase::create().await else { return };
    let store = database.open().await;
    let pool = database.raw().await;
    sqlx::query("SELECT add_month('2026-01-01'), add_month('2026-02-01')").execute(&pool).await.unwrap();
    for (id, began) in BATTLES {
        past_battle(&store, id, Timestamp(began)).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let run = |command, arguments: &[&str]| archive(&database.url, folder.path(), command, arguments);
    let refused = |command, arguments: &[&str], because: &str| {
        let run = run(command, arguments);
        assert!(run.code == Some(1) && run.stderr.contains(because), "{arguments:?}: {run:?}");
    };
    let copy = r#"mkdir -p archive && cp "$1" "archive/$2""#;
    refused(copy, &["2026-1"], "give a database and a month");
    refused(copy, &["9999-01"], "has not ended yet");
    refused(copy, &["2025-12"], "has no partition of 2025-12");
    refused("false", &["2026-01"], "nothing was detached");
    refused("true", &["2026-01", "--votes"], "the kept counts do not hold all votes");
    sqlx::query("UPDATE battles SET stage = 'ready' WHERE id = $1").bind(BATTLES[0].0).execute(&pool).await.unwrap();
    refused(copy, &["2026-01"], "battles of 2026-01 that are not over yet: 1");
    sqlx::query("UPDATE battles SET stage = 'voted'").execute(&pool).await.unwrap();
    assert_eq!(store.replies(&BattleId::new(BATTLES[0].0)).await.unwrap().len(), 2, "nothing has left so far");

    let done = run(copy, &["2026-01"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stdout.contains("archived replies-2026-01.parquet: 4 replies"), "{done:?}");
    assert!(done.stdout.contains("detached replies_2026_01") && !done.stdout.contains("detached votes"), "{done:?}");
    let left = async |id: &str| {
        (
            store.replies(&BattleId::new(id)).await.unwrap().len(),
            store.vote_on(&BattleId::new(id)).await.unwrap().is_some(),
        )
    };
    assert_eq!((left(BATTLES[0].0).await, left(BATTLES[1].0).await), ((0, true), (0, true)));
    assert_eq!(left(BATTLES[2].0).await, (2, true), "February stays");
    let kept: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM replies_2026_01").fetch_one(&pool).await.unwrap();
    assert_eq!(kept, 4, "a detached table is still there");
    refused(copy, &["2026-01"], "replies has no partition of 2026-01");

    sqlx::query("INSERT INTO vote_counts (id, last_vote_seq, body) VALUES (1, 3, '{}')").execute(&pool).await.unwrap();
    let done = run(copy, &["2026-02", "--votes"]);
    assert!(done.code == Some(0) && done.stdout.contains("detached votes_2026_02"), "{done:?}");
    assert_eq!(left(BATTLES[2].0).await, (0, false));
    let fit = langya(folder.path(), ["fit", "--votes", "archive/votes-2026-01.parquet", "--format", "json"]);
    assert!(fit.code == Some(0) && fit.stdout.contains("\"two\""), "{fit:?}");
    database.drop().await;
}
