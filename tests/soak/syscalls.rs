//! R1b: each system call of a vote's commit fails once, with an I/O error, with a full disk, and with the death of the process; afterwards
//! the vote is in the database, or was never acknowledged, and the arena accepts votes.
//!
//! The calls are counted first, by strace, on the votes of an idle arena.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::ensure;
use rand::seq::SliceRandom;

use crate::arena::{Arena, Plan};
use crate::checker::evidence::VisitorHistory;
use crate::harness::{self, Size};
use crate::measurements::Measurements;
use crate::strace::Strace;
use crate::visitor::{Answer, Visitor};

/// Injected fault of a call, and `+` if all later calls also fail until strace detaches.
const FAULTS: [(&str, &str); 3] = [("error=EIO", ""), ("error=ENOSPC", "+"), ("signal=KILL", "")];

/// First number of the visitors that only start a battle.
const NEWCOMERS: usize = 1_000;

/// Call of the commit: its name and its position among those of that name.
type Call = (String, usize);

/// Traces the calls of one vote's commit.
async fn calls_of_a_vote(arena: &mut Arena, visitor: &mut Visitor) -> anyhow::Result<Vec<Call>> {
    visitor.ready_battle().await?;
    let strace = Strace::attach(arena.folder(), arena.pid()?, &arena.files(), None).await?;
    visitor.vote_until_acknowledged("a").await?;
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for line in strace.detach().await? {
        let name = line.split_whitespace().nth(1).and_then(|call| call.split_once('('));
        if let Some((name, _)) = name {
            *counts.entry(name.to_owned()).or_default() += 1;
        }
    }
    println!("the commit of a vote: {counts:?}");
    Ok(counts.into_iter().flat_map(|(name, count)| (1..=count).map(move |place| (name.clone(), place))).collect())
}

/// Casts one vote with one failing call; returns the history of its visitor, which ends with a receipt.
async fn vote_with(
    arena: &mut Arena,
    number: usize,
    call: &Call,
    (fault, and_after): (&str, &str),
) -> anyhow::Result<[VisitorHistory; 2]> {
    let [mut visitor, mut newcomer] = [number, number + NEWCOMERS]
        .map(|number| Visitor::new(number, arena.port(), harness::rng(harness::seed(), number), Measurements::new()));
    visitor.ready_battle().await?;
    let inject = format!("{}:{fault}:when={}{and_after}", call.0, call.1);
    let strace = Strace::attach(arena.folder(), arena.pid()?, &arena.files(), Some(&inject)).await?;
    let answer = visitor.try_to_vote("a").await;
    // A lasting fault also affects the start of a battle: that is several statements in one transaction.
    newcomer.try_to_start().await;
    let seen = strace.detach().await?;
    let hit = seen.iter().any(|line| line.contains("INJECTED") || line.contains("killed by SIGKILL"));
    println!("{inject}: {answer:?}{}", if hit { "" } else { ", but the call did not come" });
    if fault == "signal=KILL" && hit {
        arena.ended().await?;
        ensure!(answer != Answer::Reached || is_stored(arena, &visitor).await?, "{inject}: acknowledged and lost");
    } else {
        // Without a restart.
        visitor.vote_until_acknowledged("b").await?;
        ensure!(is_stored(arena, &visitor).await?, "{inject}: acknowledged and not in the database");
        let (status, text) = arena.readiness().await?;
        ensure!(status == 200, "{inject}: after an acknowledged vote /readyz says {status} {text}");
        arena.kill().await?;
    }
    arena.start().await?;
    visitor.vote_until_acknowledged("b").await?;
    ensure!(is_stored(arena, &visitor).await?, "{inject}: after a restart, acknowledged and not in the database");
    // No vote is cast on the newcomer's battle: only its prompt is known.
    Ok([visitor.into_history(), VisitorHistory { battles: Vec::new(), ..newcomer.into_history() }])
}

async fn is_stored(arena: &Arena, visitor: &Visitor) -> anyhow::Result<bool> {
    let rows = arena.rows().await?;
    Ok(rows.votes.iter().any(|vote| Some(vote.battle.as_str()) == visitor.battle_id()))
}

async fn every_call_fails_once(folder: &Path) -> anyhow::Result<Vec<String>> {
    let size = Size::or_short(7);
    let mut arena = Arena::on_sqlite(folder, Plan::quick(size.seed)).await?;
    let mut quiet = Visitor::new(0, arena.port(), harness::rng(size.seed, 0), Measurements::new());
    let calls = calls_of_a_vote(&mut arena, &mut quiet).await?;
    ensure!(calls.iter().any(|(name, _)| name.contains("sync")), "a vote is committed without a sync: {calls:?}");
    let cases: Vec<(&Call, (&str, &str))> = calls.iter().flat_map(|call| FAULTS.map(|fault| (call, fault))).collect();
    let mut chosen = cases.clone();
    chosen.shuffle(&mut size.rng(0));
    chosen.truncate(size.count);
    let mut histories = vec![quiet.into_history()];
    let mut wrong = Vec::new();
    for (number, (call, fault)) in chosen.iter().enumerate() {
        match vote_with(&mut arena, number + 1, call, *fault).await {
            Ok(both) => histories.extend(both),
            Err(error) => {
                wrong.push(format!("{error:#}"));
                arena.restart_anyway().await?;
            }
        }
    }
    arena.stop().await?;
    wrong.extend(arena.panics());
    // Histories of failed cases are incomplete, and are reported above.
    if wrong.is_empty() {
        wrong.extend(arena.violations(histories).await?.iter().map(ToString::to_string));
    }
    println!("{} of {} faults made", chosen.len(), cases.len());
    Ok(wrong)
}

#[test]
#[ignore = "restarts an arena for each system call: tests/soak/run starts it"]
fn a_vote_is_kept_or_refused_whichever_call_of_its_commit_fails() {
    if harness::has("strace", "strace") {
        harness::run(every_call_fails_once);
    }
}
