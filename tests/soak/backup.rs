//! R10: a backup taken under load contains a consistent state, every former schema is migrated with its votes, and a program older than its
//! database refuses it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use langya::domain::battle::text_counts::TextCounts;
use sqlx::migrate::Migrator;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection};

use crate::arena::{Arena, Look, Plan};
use crate::checker;
use crate::harness::{self, Size, may_mount};
use crate::instance::program;
use crate::measurements::Measurements;
use crate::processes::output;
use crate::small_disk::SmallDisk;
use crate::visitor::{Visitor, VisitorGroup};

const VISITORS: usize = 20;

/// Runs a command on a database, given by its path or its address, for an arena of this folder.
fn langya(folder: &Path, command: &str, database: &str, arguments: &[&str]) -> anyhow::Result<String> {
    let address = if database.contains("://") { database.to_owned() } else { format!("sqlite:{database}") };
    // The record of the last backup is in the data folder, which is the database's folder where it has one.
    let folder = Path::new(database).parent().filter(|folder| folder.is_dir()).unwrap_or(folder);
    let mut langya = Command::new("timeout");
    langya.arg("60").arg(program()).args([command, "--database", &address, "--data-dir"]).arg(folder);
    // Bounded, so that a hanging command does not block the test.
    output(langya.args(arguments))
}

/// Names of one backup.
struct Backup {
    /// The database and the file as the commands name them, and the target of the restore.
    live: String,
    file: String,
    restored: String,
    look: Look,
}

impl Backup {
    async fn of(arena: &mut Arena, number: usize) -> anyhow::Result<Self> {
        let text = |path: PathBuf| path.to_str().map(str::to_owned).context("the folder's name is text");
        let file = text(arena.folder().join(format!("backup-{number}")))?;
        if let Ok(postgres) = arena.postgres() {
            let restored = postgres.create_database(&format!("restored_{number}")).await?;
            return Ok(Self { live: postgres.url(), file, look: Look::Postgres(restored.clone()), restored });
        }
        let folder = arena.folder().join(format!("restored-{number}"));
        let restored = text(folder.join("langya.db"))?;
        Ok(Self { live: text(arena.data().join("langya.db"))?, file, restored, look: Look::Live(folder) })
    }
}

/// Takes backups one after the other while visitors vote, restores each at once and checks its sums.
async fn under_load(mut arena: Arena, size: Size) -> anyhow::Result<Vec<String>> {
    let measurements = Measurements::new();
    let visitors = VisitorGroup::gather(VISITORS, arena.port(), |stream| size.rng(stream), &measurements);
    let (mut wrong, mut restored) = (Vec::new(), Vec::new());
    for number in 0..size.count {
        // Each backup contains votes that the previous one has not.
        let before = more_votes(&arena, restored.last().map_or(0, Vec::len)).await?;
        let backup = Backup::of(&mut arena, number).await?;
        langya(arena.folder(), "backup", &backup.live, &["--out", &backup.file])?;
        langya(arena.folder(), "restore", &backup.restored, &[&backup.file])?;
        let evidence = backup.look.evidence(arena.folder()).await?;
        wrong
            .extend(checker::leaderboard_violations(&evidence).iter().map(|found| format!("backup {number}: {found}")));
        let votes: Vec<String> = evidence.stored.votes.iter().map(|vote| format!("{vote:?}")).collect();
        println!("backup {number}: {} votes, {before} of them before it began", votes.len());
        if votes.len() < before {
            wrong.push(format!("backup {number} holds {} votes and {before} were there before it began", votes.len()));
        }
        restored.push(votes);
    }
    let histories = visitors.disperse().await?;
    arena.stop().await?;
    let all: Vec<String> = arena.rows().await?.votes.iter().map(|vote| format!("{vote:?}")).collect();
    for (number, votes) in restored.iter().enumerate() {
        if !all.starts_with(votes) {
            wrong.push(format!("backup {number} is not how the log began"));
        }
    }
    wrong.extend(arena.violations(histories).await?.iter().map(ToString::to_string));
    wrong.extend(arena.panics());
    Ok(wrong)
}

/// Waits until there are more votes than `than`, and returns their number.
async fn more_votes(arena: &Arena, than: usize) -> anyhow::Result<usize> {
    loop {
        let votes = arena.rows().await?.votes.len();
        if votes > than {
            return Ok(votes);
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}

/// Checks that a restored arena serves and accepts votes.
async fn serve_restored(folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut arena = Arena::on_sqlite(folder, Plan::quick(harness::seed())).await?;
    let voter = one_vote(visitor(&arena)).await?;
    let backup = Backup::of(&mut arena, 0).await?;
    langya(arena.folder(), "backup", &backup.live, &["--out", &backup.file])?;
    arena.kill().await?;
    std::fs::remove_dir_all(arena.data())?;
    langya(arena.folder(), "restore", &backup.live, &[&backup.file])?;
    arena.start().await?;
    let voter = one_vote(voter).await?;
    arena.stop().await?;
    Ok(arena.violations(vec![voter.into_history()]).await?.iter().map(ToString::to_string).collect())
}

/// Checks that a backup without enough disk space leaves no files, and that its error names the disk and not the database.
async fn copy_without_room(folder: &Path) -> anyhow::Result<Vec<String>> {
    let disk = SmallDisk::in_memory(&folder.join("data"))?;
    let mut arena = Arena::on_sqlite(folder, Plan::quick(harness::seed())).await?;
    one_vote(visitor(&arena)).await?;
    arena.stop().await?;
    disk.fill_but_for(8 * 4_096)?;
    let text = |path: PathBuf| path.to_str().map(str::to_owned).context("the folder's name is text");
    let (database, file) = (text(arena.data().join("langya.db"))?, text(arena.data().join("copy"))?);
    let copied = langya(arena.folder(), "backup", &database, &["--out", &file]);
    let said = copied.err().context("a copy found room on a full disk")?.to_string();
    ensure!(said.contains("free space") && !said.contains("damaged"), "the error misleads: {said}");
    ensure!(!Path::new(&file).exists(), "a part of a copy has its name");
    Ok(arena.panics())
}

fn visitor(arena: &Arena) -> Visitor {
    Visitor::new(0, arena.port(), harness::rng(harness::seed(), 1), Measurements::new())
}

async fn one_vote(mut visitor: Visitor) -> anyhow::Result<Visitor> {
    visitor.ready_battle().await?;
    visitor.vote_until_acknowledged("a").await?;
    Ok(visitor)
}

/// Opens the database file of an arena that is down.
async fn open(arena: &Arena) -> anyhow::Result<SqliteConnection> {
    let file = arena.data().join("langya.db");
    Ok(SqliteConnectOptions::new().filename(file).create_if_missing(true).connect().await?)
}

/// First schema that stores exclusions in a separate table.
const EXCLUDE_BESIDE_VOTES: i64 = 20_261_123_110_000;

/// Returns sample rows for a schema, with parsable counts; all votes are rated, as the recount expects.
fn sample_rows(schema: i64) -> anyhow::Result<String> {
    let counts = serde_json::to_string(&[TextCounts::default(); 2])?;
    let mut rows = include_str!("../data/sample_rows.sql").replace("FALSE, 'admin'", "TRUE, NULL");
    if schema >= EXCLUDE_BESIDE_VOTES {
        rows = rows.replace("rated, exclusion, ", "").replace("TRUE, NULL, '{}'", "'{}'");
    }
    Ok(rows.replace("'[]'", &format!("'{counts}'")))
}

/// Checks that an arena of every former schema is migrated at its start, keeps its votes and accepts new ones.
async fn former_schemas(folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut arena = Arena::on_sqlite(folder, Plan::quick(harness::seed())).await?;
    arena.stop().await?;
    let migrations = Migrator::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations/sqlite")).await?;
    let mut wrong = Vec::new();
    for migration in migrations.iter() {
        std::fs::remove_dir_all(arena.data())?;
        std::fs::create_dir(arena.data())?;
        let mut connection = open(&arena).await?;
        migrations.run_to(migration.version, &mut connection).await?;
        sqlx::raw_sql(sqlx::AssertSqlSafe(sample_rows(migration.version)?)).execute(&mut connection).await?;
        connection.close().await?;
        arena.start().await?;
        one_vote(visitor(&arena)).await?;
        arena.stop().await?;
        let votes = arena.rows().await?.votes;
        ensure!(votes.len() == 3, "{} votes after the schema {}", votes.len(), migration.version);
        let violations = arena.stored_violations().await?;
        wrong.extend(violations.iter().map(|found| format!("after the schema {}: {found}", migration.version)));
    }
    println!("{} former schemas", migrations.iter().count());
    Ok(wrong)
}

/// Checks that a database of a later version is not modified.
async fn downgrade(folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut arena = Arena::on_sqlite(folder, Plan::quick(harness::seed())).await?;
    one_vote(visitor(&arena)).await?;
    arena.stop().await?;
    let mut connection = open(&arena).await?;
    let later = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
         VALUES (99990101000000, 'of a later version', TRUE, x'00', 1)";
    sqlx::query(later).execute(&mut connection).await?;
    connection.close().await?;
    let before = std::fs::read(arena.data().join("langya.db"))?;
    for command in ["serve", "fit"] {
        let mut langya = Command::new("timeout");
        langya.arg("60").arg(program()).args([command, "--data-dir", "data"]).current_dir(arena.folder());
        let run = langya.output()?;
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        ensure!(run.status.code().is_some_and(|code| code != 0 && code != 124), "{command} took it: {said}");
        ensure!(said.contains("newer"), "{command} does not say why: {said}");
    }
    ensure!(std::fs::read(arena.data().join("langya.db"))? == before, "the database was changed");
    Ok(Vec::new())
}

async fn on_sqlite(folder: &Path) -> anyhow::Result<Vec<String>> {
    let size = Size::or_short(3);
    under_load(Arena::on_sqlite(folder, Plan::quick(size.seed)).await?, size).await
}

async fn on_postgres(folder: &Path) -> anyhow::Result<Vec<String>> {
    let size = Size::or_short(2);
    under_load(Arena::on_postgres(folder, Plan::quick(size.seed)).await?, size).await
}

#[test]
#[ignore = "mounts a small disk: tests/soak/run starts it"]
fn a_backup_onto_a_full_disk_names_the_disk() {
    if may_mount() {
        harness::run(copy_without_room);
    }
}

#[test]
#[ignore = "backs up an arena under load: tests/soak/run starts it"]
fn a_backup_under_load_on_sqlite_holds_how_the_log_began() {
    harness::run(on_sqlite);
}

#[test]
#[ignore = "needs PostgreSQL: tests/soak/run starts it"]
fn a_backup_under_load_on_postgres_holds_how_the_log_began() {
    if harness::has("pg_lsclusters", "postgresql") {
        harness::run(on_postgres);
    }
}

#[test]
#[ignore = "restores an arena: tests/soak/run starts it"]
fn a_restored_arena_serves() {
    harness::run(serve_restored);
}

#[test]
#[ignore = "starts an arena for each schema: tests/soak/run starts it"]
fn every_former_schema_is_brought_up_to_date() {
    harness::run(former_schemas);
}

#[test]
#[ignore = "starts an arena: tests/soak/run starts it"]
fn a_downgrade_is_refused() {
    harness::run(downgrade);
}
