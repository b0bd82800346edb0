//! Soak test: invariants that hold while all services around two instances fail, and the checker of their histories.
//!
//! Plain `cargo test` runs the checker's own tests. The soak test needs PostgreSQL, Redis and nginx from Debian and is started by
//! `tests/soak/run`; README.md describes it and its findings.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on fails there, and says what it measured"
)]

mod arena;
mod backup;
mod checker;
mod clock;
mod disk;
mod faults;
mod harness;
mod instance;
mod kills;
mod measurements;
mod postgres_server;
mod power;
mod processes;
#[path = "../it/support/proxy.rs"]
mod proxy;
mod repeated_votes;
mod rows;
mod services;
mod small_disk;
mod strace;
mod syscalls;
mod upstream;
mod visitor;

use std::path::Path;
use std::time::{Duration, Instant};

use checker::evidence::{Evidence, VisitorHistory};
use faults::Fault;
use harness::{number, port_rng};
use measurements::{Measurements, RECOVERY_LIMIT};
use serde_json::Value;
use services::{NAMES, Services};
use tokio::time::sleep;
use upstream::{Tempo, Upstream};
use visitor::VisitorGroup;

/// Maximum time until the leaderboards of both instances contain the last vote.
const LAST_REFIT: Duration = Duration::from_secs(15);

/// Parameters of a run.
struct Plan {
    seconds: u64,
    visitors: usize,
    faults: &'static [Fault],
    /// Whether a vote may be refused and retried.
    may_refuse_votes: bool,
}

impl Plan {
    fn of_environment(faults: &'static [Fault]) -> Self {
        Self {
            seconds: number("LANGYA_SOAK_SECONDS", 60),
            visitors: usize::try_from(number("LANGYA_SOAK_VISITORS", 100)).unwrap(),
            faults,
            may_refuse_votes: faults != [Fault::RollingRestart],
        }
    }
}

#[test]
#[ignore = "needs PostgreSQL, Redis and nginx: tests/soak/run starts it"]
fn nothing_is_lost_doubled_or_invented_while_everything_fails() {
    run(&Plan::of_environment(&Fault::ALL));
}

#[test]
#[ignore = "needs PostgreSQL, Redis and nginx: tests/soak/run starts it"]
fn a_rolling_restart_refuses_no_vote() {
    run(&Plan::of_environment(&[Fault::RollingRestart]));
}

fn run(plan: &Plan) {
    println!("{} s, {} visitors", plan.seconds, plan.visitors);
    harness::run(async |folder| soak(folder, plan).await);
}

/// Runs the soak test; returns the violations.
async fn soak(folder: &Path, plan: &Plan) -> anyhow::Result<Vec<String>> {
    let (seed, mut rng) = (harness::seed(), harness::rng(harness::seed(), 0));
    let upstream = Upstream::start(seed, Tempo::REAL).await;
    let pacing = std::env::var("LANGYA_SOAK_PACING").unwrap_or_else(|_| "common".to_owned());
    println!("pacing {pacing}");
    // Visitors stop replies after a moment: with a reserve, most of the stopped ones would still be empty.
    let settings = format!("[battle]\npacing = \"{pacing}\"\nreserve_ms = 0\n");
    let mut services = Services::start(folder, &upstream.url(), &settings, &mut port_rng()).await?;
    let measurements = Measurements::new();
    let visitors = VisitorGroup::gather(
        plan.visitors,
        services.visitors_port(),
        |stream| harness::rng(seed, stream),
        &measurements,
    );
    let raged =
        faults::inject_faults(&mut services, plan.faults, Duration::from_secs(plan.seconds), &measurements, &mut rng)
            .await;
    measurements.step("no more faults");
    let histories = visitors.disperse().await?;
    let mut wrong: Vec<String> = raged.err().map(|error| format!("{error:#}")).into_iter().collect();
    let evidence = gather(&mut services, &upstream, histories).await?;
    wrong.extend(services.panics());
    print_summary(&evidence, &measurements);
    let mut violations = checker::violations(&evidence);
    if !plan.may_refuse_votes {
        violations.extend(checker::refused_votes(&evidence));
    }
    checker::keep_histories(folder, &evidence.visitors, &violations, &measurements.slow_battles())?;
    wrong.extend(violations.iter().map(ToString::to_string));
    wrong.extend(beyond_limits(plan, &measurements));
    Ok(wrong)
}

/// Stops the instances in order and collects the evidence.
async fn gather(
    services: &mut Services,
    upstream: &Upstream,
    visitors: Vec<VisitorHistory>,
) -> anyhow::Result<Evidence> {
    let votes = rows::read(&services.database_url()).await?.votes.len();
    let mut leaderboards = Vec::new();
    for (which, name) in NAMES.iter().enumerate() {
        let leaderboard = board_with(&services.instance_url(which), votes).await?;
        leaderboards.push((format!("instance {name}"), leaderboard));
    }
    for which in 0..NAMES.len() {
        services.stop_instance(which).await?;
    }
    leaderboards
        .push(("langya fit".to_owned(), serde_json::from_str(&services.langya(&["fit", "--format", "json"])?)?));
    let log = services.langya(&["export", "votes", "--out", "/dev/stdout"])?;
    let log = log.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>()?;
    let stored = rows::read(&services.database_url()).await?;
    Ok(Evidence { visitors, stored, written: upstream.written(), log, leaderboards })
}

/// Returns the leaderboard of an instance once it contains all votes, or its last one.
async fn board_with(instance: &str, votes: usize) -> anyhow::Result<Value> {
    let deadline = Instant::now() + LAST_REFIT;
    loop {
        let leaderboard: Value =
            reqwest::get(format!("{instance}/api/v1/leaderboard")).await?.error_for_status()?.json().await?;
        if leaderboard["votes"]["rated"] == votes || Instant::now() > deadline {
            return Ok(leaderboard);
        }
        sleep(Duration::from_millis(50)).await;
    }
}

fn print_summary(evidence: &Evidence, measurements: &Measurements) {
    let stored = &evidence.stored;
    println!(
        "{} battles, {} turns, {} votes stored; {} requests to models",
        stored.battles.len(),
        stored.turns.len(),
        stored.votes.len(),
        evidence.written.len()
    );
    print!("{measurements}");
}

/// Minimum duration in seconds of a run that measures latencies.
const LONG_FORM: u64 = 300;

fn beyond_limits(plan: &Plan, measurements: &Measurements) -> Vec<String> {
    let mut wrong = Vec::new();
    // Only the long form, which is run to measure, checks a latency: tests fail on errors, not on slowness.
    let judged = measurements.recovery_p99().filter(|_| plan.seconds >= LONG_FORM);
    if let Some(p99) = judged.filter(|p99| *p99 >= RECOVERY_LIMIT) {
        wrong.push(format!("the 99th percentile of recoveries is {:.2} s", p99.as_secs_f64()));
    }
    if measurements.counted("battles voted on") == 0 {
        wrong.push("no battle was voted on".into());
    }
    wrong
}
