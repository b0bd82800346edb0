//! R9: jumps of the system's clock do not affect durations, expiry and order.
//!
//! libfaketime shows the program a time of day that the test changes while battles are in progress; the monotonic clock is unchanged.
//! Durations stay correct, a battle that waits for its vote does not expire early, an abandoned one expires, and the log keeps the order of
//! the votes.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::Value;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection};
use tokio::time::sleep;

use crate::arena::{Arena, Plan};
use crate::harness::{self, Size, needs};
use crate::measurements::Measurements;
use crate::upstream::Tempo;
use crate::visitor::Visitor;

/// Path of the library in Debian, below the system's architecture.
const LIBRARY: &str = "faketime/libfaketime.so.1";
/// Offsets of the clock from the true time.
const JUMPS: [&str; 6] = ["+1h", "-1h", "+1d", "-1d", "+0", "-2d"];
const JUMPS_IN_SHORT_FORM: usize = 4;
/// Battles are abandoned after a minute.
const SETTINGS: &str = "[battle]\npacing = \"raw\"\nabandon_after_minutes = 1\n";
/// Maximum wait for the expiry of a battle: several sweep intervals of the arena.
const LEFT_WITHIN: Duration = Duration::from_secs(150);
/// All durations in these tests are far below this, and every jump is far above it.
const LONGEST_MS: u64 = 10 * 60 * 1000;

/// Clock that the program sees.
struct FakeClock {
    library: PathBuf,
    file: PathBuf,
}

impl FakeClock {
    fn new(library: PathBuf, folder: &Path) -> anyhow::Result<Self> {
        let clock = Self { library, file: folder.join("clock") };
        clock.show("+0")?;
        Ok(clock)
    }

    /// Sets the clock atomically: the program never reads a partial time.
    fn show(&self, offset: &str) -> anyhow::Result<()> {
        let next = self.file.with_extension("next");
        std::fs::write(&next, offset)?;
        Ok(std::fs::rename(next, &self.file)?)
    }

    fn environment(&self) -> Vec<(String, String)> {
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        [
            ("LD_PRELOAD", text(&self.library)),
            ("FAKETIME_TIMESTAMP_FILE", text(&self.file)),
            ("FAKETIME_NO_CACHE", "1".into()),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1".into()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }
}

fn library() -> Option<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib").ok()?.filter_map(Result::ok);
    folders.map(|folder| folder.path().join(LIBRARY)).find(|library| library.exists())
}

fn visitor(arena: &Arena, number: usize) -> Visitor {
    Visitor::new(number, arena.port(), harness::rng(harness::seed(), number), Measurements::new())
}

/// Plays a battle during which the clock jumps, and votes.
async fn battle_over(arena: &Arena, clock: &FakeClock, number: usize, jump: &str) -> anyhow::Result<Visitor> {
    let mut visitor = visitor(arena, number);
    visitor.try_to_start().await;
    clock.show(jump)?;
    visitor.until_ready().await?;
    visitor.vote_until_acknowledged("a").await?;
    let receipt: Value = serde_json::from_str(visitor.receipt().context("there is a receipt")?)?;
    for side in ["a", "b"] {
        for key in ["first_token_ms", "duration_ms"] {
            let took = receipt[side][key].as_u64();
            ensure!(took.is_some_and(|took| took < LONGEST_MS), "{jump}: {key} is {}", receipt[side][key]);
        }
    }
    Ok(visitor)
}

/// Marks an unowned battle as abandoned long ago, and waits until the arena has found it: then it has inspected all battles since.
async fn until_swept(arena: &Arena) -> anyhow::Result<()> {
    let file = arena.data().join("langya.db");
    let mut connection = SqliteConnectOptions::new().filename(&file).connect().await?;
    let model: String = sqlx::query_scalar("SELECT id FROM models LIMIT 1").fetch_one(&mut connection).await?;
    let id = format!("left-{}", std::process::id());
    sqlx::query(
        "INSERT INTO battles (id, visitor, mode, stage, turn, model_a, model_b, pairing_policy, policy_version, \
         pair_probability, language, created_at, updated_at) \
         SELECT $1, 'nobody', 'anonymous', 'ready', 1, $2, id, 'uniform', 1, 1.0, 'en', 0, 0 FROM models WHERE id <> $2 \
         LIMIT 1",
    )
    .bind(&id)
    .bind(model)
    .execute(&mut connection)
    .await?;
    let swept = until_left(&mut connection, &id).await;
    sqlx::query("DELETE FROM battles WHERE id = $1").bind(&id).execute(&mut connection).await?;
    connection.close().await?;
    swept
}

async fn until_left(connection: &mut SqliteConnection, battle: &str) -> anyhow::Result<()> {
    let deadline = Instant::now() + LEFT_WITHIN;
    loop {
        let stage: String = sqlx::query_scalar("SELECT stage FROM battles WHERE id = $1")
            .bind(battle)
            .fetch_one(&mut *connection)
            .await?;
        if stage == "abandoned" {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "{LEFT_WITHIN:?} later battle {battle} is {stage}");
        sleep(Duration::from_millis(200)).await;
    }
}

async fn jumps(folder: &Path, library: PathBuf) -> anyhow::Result<Vec<String>> {
    let size = Size::or_short(JUMPS_IN_SHORT_FORM);
    let clock = FakeClock::new(library, folder)?;
    let plan = Plan { settings: SETTINGS, tempo: Tempo::SLOW, seed: size.seed, environment: clock.environment() };
    let mut arena = Arena::on_sqlite(folder, plan).await?;
    let mut visitors = Vec::new();
    for (number, jump) in JUMPS.iter().cycle().take(size.count).enumerate() {
        visitors.push(battle_over(&arena, &clock, number, jump).await?);
    }
    arena.stop().await?;
    let votes = arena.rows().await?.votes;
    let order: Vec<&str> = visitors.iter().filter_map(Visitor::battle_id).collect();
    let stored: Vec<&str> = votes.iter().map(|vote| vote.battle.as_str()).collect();
    ensure!(stored == order, "votes were cast in the order {order:?} and are in the log as {stored:?}");
    let histories = visitors.into_iter().map(Visitor::into_history).collect();
    let mut wrong = arena.panics();
    wrong.extend(arena.violations(histories).await?.iter().map(ToString::to_string));
    Ok(wrong)
}

/// Checks that a waiting battle does not expire when the clock goes a day forward.
async fn early(folder: &Path, library: PathBuf) -> anyhow::Result<Vec<String>> {
    let clock = FakeClock::new(library, folder)?;
    let plan = Plan { settings: SETTINGS, environment: clock.environment(), ..Plan::quick(harness::seed()) };
    let mut arena = Arena::on_sqlite(folder, plan).await?;
    // No battle is abandoned before the arena has observed its clock for a minute.
    until_swept(&arena).await?;
    let mut voter = visitor(&arena, 0);
    voter.ready_battle().await?;
    clock.show("+1d")?;
    until_swept(&arena).await?;
    voter.vote_until_acknowledged("a").await.context("the clock went a day on, and the battle expired with it")?;
    arena.stop().await?;
    let violations = arena.violations(vec![voter.into_history()]).await?;
    Ok(violations.iter().map(ToString::to_string).collect())
}

/// Checks that a waiting battle expires although the clock goes a day back.
async fn late(folder: &Path, library: PathBuf) -> anyhow::Result<Vec<String>> {
    let clock = FakeClock::new(library, folder)?;
    let plan = Plan { settings: SETTINGS, environment: clock.environment(), ..Plan::quick(harness::seed()) };
    let mut arena = Arena::on_sqlite(folder, plan).await?;
    let mut visitor = visitor(&arena, 0);
    visitor.ready_battle().await?;
    clock.show("-1d")?;
    let options = SqliteConnectOptions::new().filename(arena.data().join("langya.db")).read_only(true);
    let mut connection = options.connect().await?;
    let left = until_left(&mut connection, visitor.battle_id().context("there is a battle")?).await;
    connection.close().await?;
    arena.stop().await?;
    Ok(left
        .err()
        .map(|error| format!("the clock went a day back, and a battle does not expire: {error}"))
        .into_iter()
        .collect())
}

fn with_library(test: impl AsyncFnOnce(&Path, PathBuf) -> anyhow::Result<Vec<String>>) {
    let library = library();
    if needs(library.is_some(), "libfaketime is not installed (Debian package faketime)")
        && let Some(library) = library
    {
        harness::run(async |folder| test(folder, library).await);
    }
}

#[test]
#[ignore = "needs libfaketime: tests/soak/run starts it"]
fn a_jump_of_the_clock_changes_no_duration_and_no_order() {
    with_library(jumps);
}

#[test]
#[ignore = "takes minutes and needs libfaketime: tests/soak/run starts it in its long form"]
fn a_battle_does_not_expire_early_when_the_clock_goes_on() {
    with_library(early);
}

#[test]
#[ignore = "takes minutes and needs libfaketime: tests/soak/run starts it in its long form"]
fn a_battle_expires_when_the_clock_goes_back() {
    with_library(late);
}
