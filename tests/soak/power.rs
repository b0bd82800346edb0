//! R1c: an acknowledged vote survives a power loss.
//!
//! A layer below the program (`power.c`, loaded before the C library) records the data that each unsynced write replaces. A power loss
//! kills the process and undoes the unsynced writes: all of them, or those after a random one, file by file. The last test drops the syncs
//! of SQLite's log, which until the log is first copied into the database is the behaviour of `synchronous=NORMAL`, and must find votes
//! missing.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::arena::{Arena, Plan};
use crate::checker::Violation;
use crate::harness::{self, Size};
use crate::kills::{come_back, vote_through};
use crate::measurements::Measurements;
use crate::processes::output;
use crate::visitor::Visitor;

/// Duration of a sync in microseconds, as on a plain disk.
const SYNC_US: &str = "5000";

/// Fault injection layer with its journals.
struct Power {
    data: PathBuf,
    journals: PathBuf,
    library: PathBuf,
}

/// Unsynced change.
struct Change {
    offset: u64,
    size_before: u64,
    bytes_before: Vec<u8>,
}

/// Extent of the lost unsynced writes.
enum Loss<'a> {
    All,
    /// Writes from a random one on, in each file.
    Some(&'a mut ChaCha8Rng),
}

impl Power {
    /// Builds the layer for an arena whose data will be in `data` of this folder.
    fn build(folder: &Path) -> anyhow::Result<Self> {
        let folder = folder.canonicalize()?;
        let (source, library) = (folder.join("power.c"), folder.join("power.so"));
        std::fs::write(&source, include_str!("power.c"))?;
        output(Command::new("cc").args(["-O1", "-shared", "-fPIC", "-o"]).args([&library, &source]).arg("-ldl"))?;
        let journals = folder.join("journals");
        std::fs::create_dir_all(&journals)?;
        Ok(Self { data: folder.join("data"), journals, library })
    }

    fn environment(&self) -> Vec<(String, String)> {
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        [
            ("LD_PRELOAD", text(&self.library)),
            ("POWER_FOLDER", text(&self.data)),
            ("POWER_JOURNALS", text(&self.journals)),
            ("POWER_SYNC_US", SYNC_US.to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }

    /// Undoes unsynced writes; returns their number. The process must have ended.
    fn lose(&self, mut loss: Loss<'_>) -> anyhow::Result<usize> {
        let mut lost = 0;
        for entry in std::fs::read_dir(&self.journals)? {
            let journal = entry?.path();
            let changes = changes(&std::fs::read(&journal)?)?;
            let kept = match &mut loss {
                Loss::All => 0,
                Loss::Some(rng) => rng.random_range(0..=changes.len()),
            };
            let file = self.data.join(journal.file_name().context("a journal has a name")?);
            if file.exists() {
                undo(&File::options().write(true).open(file)?, &changes[kept..])?;
                lost += changes.len() - kept;
            }
            std::fs::remove_file(journal)?;
        }
        Ok(lost)
    }
}

/// Parses a journal. An incomplete record was being written when the process was killed: its change did not happen.
fn changes(mut journal: &[u8]) -> anyhow::Result<Vec<Change>> {
    let mut changes = Vec::new();
    while let Some((head, rest)) = journal.split_at_checked(24) {
        let number = |place: usize| u64::from_ne_bytes(head[8 * place..8 * (place + 1)].try_into().unwrap());
        let Some((bytes, rest)) = rest.split_at_checked(usize::try_from(number(2))?) else { break };
        changes.push(Change { offset: number(0), size_before: number(1), bytes_before: bytes.to_vec() });
        journal = rest;
    }
    Ok(changes)
}

/// Undoes the changes, the last one first.
fn undo(file: &File, changes: &[Change]) -> std::io::Result<()> {
    for change in changes.iter().rev() {
        file.write_all_at(&change.bytes_before, change.offset)?;
        file.set_len(change.size_before)?;
    }
    Ok(())
}

async fn cuts(folder: &Path) -> anyhow::Result<Vec<String>> {
    let size = Size::or_short(5);
    let power = Power::build(folder)?;
    let plan = Plan { environment: power.environment(), ..Plan::quick(size.seed) };
    let mut arena = Arena::on_sqlite(folder, plan).await?;
    let mut lost = 0;
    let cut = async |arena: &mut Arena, rng: &mut ChaCha8Rng| {
        arena.kill().await?;
        let loss = if rng.random_bool(0.5) { Loss::All } else { Loss::Some(rng) };
        lost += power.lose(loss)?;
        come_back(arena).await
    };
    let mut wrong = vote_through(&mut arena, size, cut).await?;
    println!("{lost} unsynced writes lost in {} cuts", size.count);
    if lost == 0 {
        wrong.push("no cut took anything away: the test proves little".into());
    }
    Ok(wrong)
}

/// Checks that votes acknowledged without a sync of the log are lost after the cut, and that the checker reports them.
async fn forgotten_syncs(folder: &Path) -> anyhow::Result<Vec<String>> {
    let seed = harness::seed();
    let power = Power::build(folder)?;
    let mut arena = Arena::on_sqlite(folder, Plan::quick(seed)).await?;
    arena.stop().await?;
    let mut environment = power.environment();
    environment.push(("POWER_FORGETS_SYNCS_OF".into(), "-wal".into()));
    arena.set_environment(environment);
    arena.start().await?;
    let mut visitor = Visitor::new(0, arena.port(), harness::rng(seed, 1), Measurements::new());
    for _ in 0..5 {
        visitor.ready_battle().await?;
        visitor.vote_until_acknowledged("a").await?;
    }
    arena.kill().await?;
    let lost = power.lose(Loss::All)?;
    let violations = arena.violations(vec![visitor.into_history()]).await?;
    let votes = violations.iter().filter(|violation| matches!(violation, Violation::VoteLost { .. })).count();
    println!("{lost} unsynced writes lost, {votes} of 5 acknowledged votes missing");
    ensure!(votes > 0, "votes without a sync have survived: this test cannot notice a lost one");
    Ok(Vec::new())
}

#[test]
#[ignore = "cuts the power for a while: tests/soak/run starts it"]
fn no_acknowledged_vote_is_lost_with_the_power() {
    if harness::has("cc", "gcc") {
        harness::run(cuts);
    }
}

#[test]
#[ignore = "cuts the power: tests/soak/run starts it"]
fn a_vote_without_a_sync_is_lost_with_the_power_and_that_is_noticed() {
    if harness::has("cc", "gcc") {
        harness::run(forgotten_syncs);
    }
}
