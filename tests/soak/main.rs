//! What holds while everything around two instances fails: the soak test, and the checker that reads its histories.
//!
//! Plain `cargo test` runs the checker's own tests. The soak needs PostgreSQL, Redis and nginx from Debian and is
//! started by `tests/soak/run`; README.md says what it does and what it found.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on fails there, and says what it measured"
)]

mod checker;
mod faults;
mod figures;
mod processes;
mod rows;
mod services;
mod upstream;
mod visitor;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;
use checker::Violation;
use checker::evidence::{Evidence, VisitorHistory};
use faults::Fault;
use figures::{Figures, RECOVERY_LIMIT};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use services::{NAMES, Pacing, Services};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use upstream::Upstream;
use visitor::Visitor;

const DEFAULT_SEED: u64 = 20_261_121;
/// Visitors may take so long to bring their last battle to its end.
const LAST_BATTLES: Duration = Duration::from_secs(90);
/// The boards of both instances hold the last vote after so long.
const LAST_REFIT: Duration = Duration::from_secs(15);

/// What a run does.
struct Plan {
    seconds: u64,
    visitors: usize,
    seed: u64,
    pacing: Pacing,
    faults: &'static [Fault],
    /// Whether a vote may be refused at all, to be sent again.
    may_refuse_votes: bool,
}

impl Plan {
    fn from_environment(faults: &'static [Fault]) -> Self {
        let number = |name: &str, default| std::env::var(name).ok().map_or(default, |text| text.parse().unwrap());
        Self {
            seconds: number("LANGYA_SOAK_SECONDS", 60),
            visitors: usize::try_from(number("LANGYA_SOAK_VISITORS", 100)).unwrap(),
            seed: number("LANGYA_SOAK_SEED", DEFAULT_SEED),
            pacing: std::env::var("LANGYA_SOAK_PACING").map_or(Pacing::Common, |name| name.parse().unwrap()),
            faults,
            may_refuse_votes: faults != [Fault::RollingRestart],
        }
    }

    fn rng(&self, stream: usize) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(u64::try_from(stream).unwrap());
        rng
    }
}

#[test]
#[ignore = "needs PostgreSQL, Redis and nginx: tests/soak/run starts it"]
fn nothing_is_lost_doubled_or_invented_while_everything_fails() {
    run(&Plan::from_environment(&Fault::ALL));
}

#[test]
#[ignore = "needs PostgreSQL, Redis and nginx: tests/soak/run starts it"]
fn a_rolling_restart_refuses_no_vote() {
    run(&Plan::from_environment(&[Fault::RollingRestart]));
}

fn run(plan: &Plan) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    // On this thread, which lasts as long as the processes that it starts.
    let wrong = runtime.block_on(async {
        tokio::select! {
            wrong = soak(plan) => wrong.unwrap_or_else(|error| vec![format!("{error:#}")]),
            () = interrupted() => vec!["interrupted".into()],
        }
    });
    wrong.iter().take(50).for_each(|line| println!("WRONG: {line}"));
    assert!(wrong.is_empty(), "{} things are wrong, seed {}, pacing {}", wrong.len(), plan.seed, plan.pacing);
}

/// Ctrl-C or SIGTERM: everything that was started is ended on the way out.
async fn interrupted() {
    let mut terminate = signal(SignalKind::terminate()).unwrap();
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}

/// The whole run; returns what is wrong.
async fn soak(plan: &Plan) -> anyhow::Result<Vec<String>> {
    println!("seed {}, pacing {}, {} s, {} visitors", plan.seed, plan.pacing, plan.seconds, plan.visitors);
    // An error says that another test of this process has installed it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let folder = tempfile::tempdir()?;
    let wrong = soak_in(folder.path(), plan).await;
    if !matches!(&wrong, Ok(wrong) if wrong.is_empty()) {
        println!("the logs are kept in {}", folder.keep().display());
    }
    wrong
}

async fn soak_in(folder: &Path, plan: &Plan) -> anyhow::Result<Vec<String>> {
    let mut rng = plan.rng(0);
    let upstream = Upstream::start(plan.seed).await;
    let mut services = Services::start(folder, &upstream.url(), plan.pacing, &mut port_rng()).await?;
    let figures = Figures::new();
    let (stop, stopped) = watch::channel(false);
    let mut visitors = JoinSet::new();
    for number in 0..plan.visitors {
        let visitor = Visitor::new(number, services.visitors_port(), plan.rng(number + 1), figures.clone());
        let stopped = stopped.clone();
        visitors.spawn(async move {
            // Not all at the same moment.
            sleep(Duration::from_millis(u64::try_from(number).unwrap() * 10)).await;
            visitor.visit(stopped).await
        });
    }
    let raged = faults::rage(&mut services, plan.faults, Duration::from_secs(plan.seconds), &figures, &mut rng).await;
    figures.step("no more faults");
    stop.send_replace(true);
    let histories = timeout(LAST_BATTLES, visitors.join_all()).await.context("visitors do not come to an end")?;
    let mut wrong: Vec<String> = raged.err().map(|error| format!("{error:#}")).into_iter().collect();
    let evidence = gather(&mut services, &upstream, histories).await?;
    wrong.extend(services.panics());
    print_summary(&evidence, &figures);
    let violations = checker::violations(&evidence);
    keep_histories(folder, &evidence, &violations, &figures.slow_battles())?;
    wrong.extend(violations.iter().map(ToString::to_string));
    wrong.extend(beyond_limits(plan, &figures));
    Ok(wrong)
}

/// Ports have nothing to do with the seed: two runs may go on at once.
fn port_rng() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(u64::from(std::process::id()))
}

/// Stops the instances in order and collects what all sides know.
async fn gather(
    services: &mut Services,
    upstream: &Upstream,
    visitors: Vec<VisitorHistory>,
) -> anyhow::Result<Evidence> {
    let votes = rows::read(&services.database_url()).await?.votes.len();
    let mut boards = Vec::new();
    for (which, name) in NAMES.iter().enumerate() {
        let board = board_with(&services.instance_url(which), votes).await?;
        boards.push((format!("instance {name}"), board));
    }
    for which in 0..NAMES.len() {
        services.stop_instance(which).await?;
    }
    boards.push(("langya fit".to_owned(), serde_json::from_str(&services.langya(&["fit", "--format", "json"])?)?));
    let log = services.langya(&["export", "votes", "--out", "/dev/stdout"])?;
    let log = log.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>()?;
    let stored = rows::read(&services.database_url()).await?;
    Ok(Evidence { visitors, stored, written: upstream.written(), log, boards })
}

/// The board that an instance shows once it holds all votes, or the last one that it showed.
async fn board_with(instance: &str, votes: usize) -> anyhow::Result<Value> {
    let deadline = Instant::now() + LAST_REFIT;
    loop {
        let board: Value = reqwest::get(format!("{instance}/api/v1/leaderboard")).await?.json().await?;
        if board["votes"]["rated"] == votes || Instant::now() > deadline {
            return Ok(board);
        }
        sleep(Duration::from_millis(50)).await;
    }
}

fn print_summary(evidence: &Evidence, figures: &Figures) {
    let stored = &evidence.stored;
    println!(
        "{} battles, {} turns, {} votes stored; {} requests to models",
        stored.battles.len(),
        stored.turns.len(),
        stored.votes.len(),
        evidence.written.len()
    );
    print!("{figures}");
}

/// What happened in the battles with violations and in those that were interrupted for longest, for people.
fn keep_histories(folder: &Path, evidence: &Evidence, violations: &[Violation], slow: &[String]) -> anyhow::Result<()> {
    let mut concerned: BTreeSet<&str> = violations.iter().filter_map(Violation::battle).collect();
    concerned.extend(slow.iter().map(String::as_str));
    let mut text = String::new();
    for history in evidence.visitors.iter().flat_map(|visitor| &visitor.battles) {
        if concerned.contains(history.id.as_str()) {
            writeln!(text, "battle {}", history.id)?;
            for violation in violations.iter().filter(|violation| violation.battle() == Some(&history.id)) {
                writeln!(text, "  {violation}")?;
            }
            for event in &history.events {
                writeln!(text, "    {event}")?;
            }
        }
    }
    Ok(std::fs::write(folder.join("histories.txt"), text)?)
}

/// From so many seconds on a run is one that measures.
const LONG_FORM: u64 = 300;

fn beyond_limits(plan: &Plan, figures: &Figures) -> Vec<String> {
    let mut wrong = Vec::new();
    // A time is judged by the long form only, which is run to measure: tests fail for what is wrong, not for what is slow.
    let judged = figures.recovery_p99().filter(|_| plan.seconds >= LONG_FORM);
    if let Some(p99) = judged.filter(|p99| *p99 >= RECOVERY_LIMIT) {
        wrong.push(format!("the 99th percentile of recoveries is {:.2} s", p99.as_secs_f64()));
    }
    let refused = figures.counted_under("vote refused");
    if !plan.may_refuse_votes && refused > 0 {
        wrong.push(format!("{refused} votes were refused during a rolling restart"));
    }
    if figures.counted("battles voted on") == 0 {
        wrong.push("no battle was voted on".into());
    }
    wrong
}
