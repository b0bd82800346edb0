//! R8: a disk that is full, fails, is read-only or slow costs no acknowledged vote, and the arena recovers by itself.
//!
//! The same scenario for each fault: battles are read to `ready`, the fault begins, some visitors start and some vote, `/readyz` is
//! requested, the fault ends, all visitors vote, a new battle is played, and the arena is stopped. Every receipt must have its row then.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use tokio::time::sleep;

use crate::arena::{Arena, Plan};
use crate::checker::evidence::VisitorHistory;
use crate::harness::{self, Size, has, may_mount, needs};
use crate::measurements::Measurements;
use crate::small_disk::SmallDisk;
use crate::strace::Strace;
use crate::visitor::{Answer, Visitor, waited_in_vain};

/// Maximum time after a fault until the arena is ready.
const HEALS_WITHIN: Duration = Duration::from_secs(30);

/// Number of battles per scenario in the short form; each waits for the disk several times where that is slow.
const BATTLES: usize = 10;
const SLOW_BATTLES: usize = 3;

/// Fault of the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// The disk is full except for this many bytes: with some, a commit begins and cannot be completed.
    Full { but_for: usize },
    /// The file system shrinks to the used size.
    Quota,
    /// System calls on the database's files fail by strace's `inject=`. `stops` tells whether nothing can be stored meanwhile.
    Calls { inject: &'static str, stops: bool },
}

impl Fault {
    /// Returns whether the fault stops votes; the others only delay them.
    fn stops_votes(self) -> bool {
        !matches!(self, Self::Calls { stops: false, .. })
    }
}

/// Active fault; it must be ended.
enum Begun {
    Filled,
    Shrunk,
    Traced(Strace),
}

impl Begun {
    async fn begin(fault: Fault, arena: &Arena, disk: &SmallDisk) -> anyhow::Result<Self> {
        Ok(match fault {
            Fault::Full { but_for } => {
                disk.fill_but_for(but_for)?;
                Self::Filled
            }
            Fault::Quota => {
                disk.shrink_to_what_is_used()?;
                Self::Shrunk
            }
            Fault::Calls { inject, .. } => {
                Self::Traced(Strace::attach(arena.folder(), arena.pid()?, &arena.files(), Some(inject)).await?)
            }
        })
    }

    async fn end(self, disk: &SmallDisk) -> anyhow::Result<()> {
        match self {
            Self::Filled => disk.free(),
            Self::Shrunk => disk.grow(),
            Self::Traced(strace) => strace.detach().await.map(drop),
        }
    }
}

fn visitor(arena: &Arena, number: usize) -> Visitor {
    Visitor::new(number, arena.port(), harness::rng(harness::seed(), number), Measurements::new())
}

/// Lists the violations in the end. Of the newcomer only its prompts are known: its battles were abandoned.
async fn wrong_after(arena: &Arena, visitors: Vec<Visitor>, newcomer: Visitor) -> anyhow::Result<Vec<String>> {
    let mut histories: Vec<VisitorHistory> = visitors.into_iter().map(Visitor::into_history).collect();
    histories.push(VisitorHistory { battles: Vec::new(), ..newcomer.into_history() });
    let mut wrong = arena.panics();
    wrong.extend(arena.violations(histories).await?.iter().map(ToString::to_string));
    Ok(wrong)
}

/// Connects visitors whose battles wait for the vote.
async fn ready_visitors(arena: &Arena, count: usize) -> anyhow::Result<Vec<Visitor>> {
    let mut visitors = Vec::with_capacity(count);
    for number in 0..count {
        let mut visitor = visitor(arena, number);
        visitor.ready_battle().await?;
        visitors.push(visitor);
    }
    Ok(visitors)
}

/// Effect of a disk fault on the answers to votes.
#[derive(Clone, Copy, PartialEq)]
enum Answers {
    InTime,
    /// An answer may take longer than a visitor waits; reconnecting gets the same one.
    Late,
}

/// Starts and votes during the fault; then `/readyz` must report the failure if a vote was refused.
async fn try_everything(
    arena: &Arena,
    visitors: &mut [Visitor],
    newcomer: &mut Visitor,
    answers: Answers,
) -> anyhow::Result<usize> {
    let mut refused = 0;
    for visitor in visitors.iter_mut() {
        // The outcome of a start does not matter here: no vote is cast on its battle.
        newcomer.try_to_start().await;
        match visitor.try_to_vote("a").await {
            Answer::Reached => {}
            Answer::Refused(code) => {
                ensure!(code == "storage" || code == "busy", "a vote was refused with {code:?}");
                refused += 1;
            }
            Answer::Lost(why) if waited_in_vain(&why) && answers == Answers::Late => {
                visitor.vote_until_acknowledged("a").await?
            }
            Answer::Lost(why) => ensure!(false, "a vote on a failing disk was not answered: {why}"),
        }
    }
    let (status, text) = arena.readiness().await?;
    ensure!(refused == 0 || status == 503, "{refused} votes were refused and /readyz says {status} {text}");
    Ok(refused)
}

async fn until_ready(arena: &Arena) -> anyhow::Result<()> {
    let deadline = Instant::now() + HEALS_WITHIN;
    loop {
        let (status, text) = arena.readiness().await?;
        if status == 200 {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "{HEALS_WITHIN:?} after the fault /readyz says {status} {text}");
        sleep(Duration::from_millis(100)).await;
    }
}

/// Lets all visitors vote, and a latecomer play a new battle.
async fn heal(arena: &Arena, visitors: &mut [Visitor], late: &mut Visitor) -> anyhow::Result<()> {
    until_ready(arena).await?;
    late.ready_battle().await?;
    late.vote_until_acknowledged("tie").await?;
    for visitor in visitors {
        visitor.vote_until_acknowledged("b").await?;
    }
    until_ready(arena).await
}

/// Runs the scenario of one fault; returns the violations.
async fn story(folder: &Path, fault: Fault, battles: usize) -> anyhow::Result<Vec<String>> {
    std::fs::create_dir_all(folder)?;
    let disk = SmallDisk::in_memory(&folder.join("data"))?;
    let mut arena = Arena::on_sqlite(folder, Plan::quick(harness::seed())).await?;
    let mut visitors = ready_visitors(&arena, battles).await?;
    let mut newcomer = visitor(&arena, 1_000);
    let begun = Begun::begin(fault, &arena, &disk).await?;
    let answers = if fault.stops_votes() { Answers::InTime } else { Answers::Late };
    let tried = try_everything(&arena, &mut visitors, &mut newcomer, answers).await;
    begun.end(&disk).await?;
    let refused = tried?;
    println!("{fault:?}: {refused} of {battles} votes refused meanwhile");
    ensure!(!fault.stops_votes() || refused > 0, "the fault did not reach the votes");
    ensure!(fault.stops_votes() || refused == 0, "{refused} votes were refused on a slow disk");
    let mut wrong = Vec::new();
    // New battles begin and are stored, without a restart. A failed recovery is reported, and the votes are counted anyway.
    let mut late = visitor(&arena, 1_001);
    if let Err(error) = heal(&arena, &mut visitors, &mut late).await {
        wrong.push(format!("{error:#}"));
    }
    visitors.push(late);
    arena.stop().await?;
    wrong.extend(wrong_after(&arena, visitors, newcomer).await?);
    Ok(wrong.into_iter().map(|line| format!("{fault:?}: {line}")).collect())
}

async fn stories(folder: &Path, faults: &[Fault], battles: usize) -> anyhow::Result<Vec<String>> {
    let mut wrong = Vec::new();
    for (number, fault) in faults.iter().enumerate() {
        let told = story(&folder.join(number.to_string()), *fault, battles).await;
        wrong.extend(told.unwrap_or_else(|error| vec![format!("{fault:?}: {error:#}")]));
    }
    Ok(wrong)
}

/// Full disks, from no free byte to room for most of a commit.
const FULL: [Fault; 5] = [
    Fault::Full { but_for: 0 },
    Fault::Full { but_for: 4_096 },
    Fault::Full { but_for: 3 * 4_096 },
    Fault::Full { but_for: 7 * 4_096 },
    Fault::Full { but_for: 15 * 4_096 },
];

/// Errors of a file system that fails or is read-only. Every call fails, until strace detaches.
const FAILING: [Fault; 5] = [
    Fault::Calls { inject: "pwrite64:error=EIO", stops: true },
    Fault::Calls { inject: "fsync,fdatasync:error=EIO", stops: true },
    Fault::Calls { inject: "pwrite64,ftruncate,fsync,fdatasync:error=EROFS", stops: true },
    Fault::Calls { inject: "pwrite64:error=EDQUOT", stops: true },
    Fault::Calls { inject: "pwrite64:error=EIO:when=2+3", stops: true },
];

const SLOW: Fault = Fault::Calls { inject: "fsync,fdatasync:delay_enter=500000", stops: false };

#[test]
#[ignore = "mounts small disks: tests/soak/run starts it"]
fn a_full_disk_costs_no_acknowledged_vote() {
    if may_mount() {
        let size = Size::or_short(BATTLES);
        let faults = if size.is_long { FULL.to_vec() } else { vec![FULL[0], FULL[3]] };
        harness::run(async |folder| stories(folder, &faults, size.count).await);
    }
}

#[test]
#[ignore = "mounts a small disk: tests/soak/run starts it"]
fn a_reached_quota_costs_no_acknowledged_vote() {
    if may_mount() {
        harness::run(async |folder| stories(folder, &[Fault::Quota], Size::or_short(BATTLES).count).await);
    }
}

#[test]
#[ignore = "makes system calls fail: tests/soak/run starts it"]
fn a_failing_disk_costs_no_acknowledged_vote() {
    if may_mount() && has("strace", "strace") {
        let size = Size::or_short(BATTLES);
        let faults = if size.is_long { FAILING.to_vec() } else { vec![FAILING[2], FAILING[4]] };
        harness::run(async |folder| stories(folder, &faults, size.count).await);
    }
}

#[test]
#[ignore = "delays system calls: tests/soak/run starts it"]
fn a_slow_disk_refuses_no_vote() {
    if may_mount() && has("strace", "strace") {
        harness::run(async |folder| stories(folder, &[SLOW], Size::or_short(SLOW_BATTLES).count).await);
    }
}

/// Tests an ext4 that met an error: it stays read-only for all programs, so the arena is restarted on the repaired one.
async fn read_only(folder: &Path) -> anyhow::Result<Vec<String>> {
    let disk = SmallDisk::ext4(&folder.join("data"))?;
    let mut arena = Arena::on_sqlite(folder, Plan::quick(harness::seed())).await?;
    let mut visitors = ready_visitors(&arena, Size::or_short(BATTLES).count).await?;
    visitors[0].vote_until_acknowledged("a").await?;
    disk.break_down()?;
    let mut newcomer = visitor(&arena, 1_000);
    let refused = try_everything(&arena, &mut visitors[1..], &mut newcomer, Answers::InTime).await?;
    ensure!(refused > 0, "the fault did not reach the votes");
    let log = arena.log()?;
    log.lines().find(|line| line.contains("the data folder cannot be")).context("the log does not name the folder")?;
    arena.stop().await?;
    disk.repair()?;
    arena.start().await?;
    for visitor in &mut visitors {
        visitor.vote_until_acknowledged("b").await?;
    }
    arena.stop().await?;
    wrong_after(&arena, visitors, newcomer).await
}

#[test]
#[ignore = "mounts a small disk: tests/soak/run starts it"]
fn a_read_only_disk_costs_no_acknowledged_vote() {
    let has_ext4 = || needs(Path::new("/sys/fs/ext4").exists(), "this kernel has no ext4");
    if may_mount() && has("mkfs.ext4", "e2fsprogs") && has_ext4() {
        harness::run(read_only);
    }
}
