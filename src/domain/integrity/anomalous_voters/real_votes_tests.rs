//! Tests of rigging detection on real votes: false alarms and detected riggers.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use super::detection::{DEFAULT_ALPHA, VoterReport, VoterTest, test_voters};
use super::simulated_riggers::{RiggerSimulation, RiggerStrategy, add_riggers, is_simulated_rigger};
use crate::battle::Outcome;
use crate::rating::votes::vote_log::{ColumnSet, VoteLog};
use crate::stats::{real, real_len};

const SEED: u64 = 1;
/// α below the default, for comparison.
const STRICTER_ALPHA: f64 = 0.05;

/// Loads the 8,931 votes of 124 people on 59 models; `None` without the folder of reference votes.
fn llmfao() -> Option<VoteLog> {
    llmfao_with_prompts().map(|(log, _)| log)
}

/// Loads the same votes, and the prompt of each vote.
fn llmfao_with_prompts() -> Option<(VoteLog, Vec<String>)> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = std::env::var_os("LANGYA_SHARED").map_or_else(beside, PathBuf::from);
    let mut reader = csv::Reader::from_path(folder.join("data/llmfao.csv")).ok()?;
    let mut log = VoteLog::with_columns(ColumnSet { voters: true, ..ColumnSet::default() });
    let mut prompts = Vec::new();
    for row in reader.records() {
        let row = row.unwrap();
        let outcome = match &row[5] {
            "left" => Outcome::AWins,
            "right" => Outcome::BWins,
            _ => Outcome::Tie,
        };
        log.push(&row[6], &row[7], outcome).unwrap();
        log.voters.as_mut().unwrap().push(Some(&row[4]));
        prompts.push(row[1].to_owned());
    }
    Some((log, prompts))
}

/// Numbers of riggers and honest voters that one rule flags.
#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    riggers: usize,
    honest: usize,
}

fn flags(report: &VoterReport, flagged: impl Fn(&super::detection::VoterResult) -> bool) -> Flags {
    let mut flags = Flags::default();
    for result in report.results.iter().filter(|result| flagged(result)) {
        *(if is_simulated_rigger(&result.voter) { &mut flags.riggers } else { &mut flags.honest }) += 1;
    }
    flags
}

/// Counts the riggers and honest voters that each rule flags, summed over simulations.
fn flags_of_simulations(log: &VoteLog, test: VoterTest, simulation: RiggerSimulation, times: u64) -> [Flags; 3] {
    let mut sums = [Flags::default(); 3];
    for seed in SEED..SEED + times {
        let report =
            test_voters(&add_riggers(log, RiggerSimulation { seed, ..simulation }).unwrap(), test, seed).unwrap();
        let found = [
            flags(&report, |result| result.q <= STRICTER_ALPHA),
            flags(&report, |result| result.q <= DEFAULT_ALPHA),
            flags(&report, |result| result.p <= 0.01),
        ];
        for (sum, found) in sums.iter_mut().zip(found) {
            sum.riggers += found.riggers;
            sum.honest += found.honest;
        }
    }
    sums
}

/// Formats the share of riggers found, and of the 124 honest voters flagged.
fn shares(flags: Flags, riggers: u64, times: u64) -> String {
    format!(
        "{:.2} ({:.3})",
        real_len(flags.riggers) / real(riggers * times),
        real_len(flags.honest) / real(124 * times)
    )
}

/// Simulations of the table: a strategy, and the share of its votes that show the target.
const SIMULATIONS: [(RiggerStrategy, f64); 4] = [
    (RiggerStrategy::TargetOnly, 1.0),
    (RiggerStrategy::Smart, 0.2),
    (RiggerStrategy::Naive, 0.2),
    // The frequency of a model in a random battle of the log.
    (RiggerStrategy::Smart, 0.034),
];

/// `LANGYA_TEST_SIZE=long cargo test --release -p langya-domain table_of_simulated_riggers -- --ignored --nocapture` prints the
/// table of DESIGN.md. The short form has one row of it.
#[test]
#[ignore = "slow: tests/run runs it"]
fn table_of_simulated_riggers() {
    let Some(log) = llmfao() else { return };
    println!("seed {SEED}");
    for test in VoterTest::ALL {
        let report = test_voters(&log, test, SEED).unwrap();
        let [by_q, by_p] = [flags(&report, |r| r.q <= DEFAULT_ALPHA), flags(&report, |r| r.p <= 0.01)];
        let (tested, taste) = (report.results.len(), report.taste);
        println!("{}: {tested} tested, flagged {} by q, {} by p; {taste:?}", test.as_str(), by_q.honest, by_p.honest);
        report.results.iter().take(4).for_each(|result| println!("  {result:?}"));
    }
    if !is_long() {
        let (strategy, target_share) = SIMULATIONS[0];
        return row(&log, RiggerSimulation { riggers: 10, votes: 100, strategy, target_share, seed: 0 });
    }
    for (strategy, target_share) in SIMULATIONS {
        for (riggers, votes) in [1, 3, 10].into_iter().flat_map(|riggers| [20, 50, 100].map(|votes| (riggers, votes))) {
            row(&log, RiggerSimulation { riggers, votes, strategy, target_share, seed: 0 });
        }
    }
}

/// Prints and checks a row of the table. Riggers with a hundred votes for the target alone must be found by the score test.
fn row(log: &VoteLog, simulation: RiggerSimulation) {
    let RiggerSimulation { riggers, votes, strategy, target_share, .. } = simulation;
    let times = 1.max(size(6, 60) / u64::from(riggers));
    let found = VoterTest::ALL.map(|test| flags_of_simulations(log, test, simulation, times));
    let shown = found.map(|flags| flags.map(|flags| shares(flags, riggers.into(), times)).join(" | ")).join(" | ");
    println!("| {} | {target_share} | {riggers} | {votes} | {shown} |", strategy.as_str());
    if (strategy, votes) == (RiggerStrategy::TargetOnly, 100) {
        let [score, likelihood, fisher] = found.map(|[_, by_default, _]| by_default.riggers);
        assert!(real_len(score) >= 0.8 * real(u64::from(riggers) * times), "the score test finds {score}: {shown}");
        assert!(score > likelihood && score > fisher, "{likelihood} and {fisher} beside {score}: {shown}");
    }
}

/// Returns the size for one row of the table; the long one with `LANGYA_TEST_SIZE=long`.
fn size(short: u64, long: u64) -> u64 {
    if is_long() { long } else { short }
}

fn is_long() -> bool {
    std::env::var("LANGYA_TEST_SIZE").as_deref() == Ok("long")
}

/// Guarantee of the score test on real votes: of 50-vote riggers at least 65 % are flagged, of honest voters at most 1 % besides the two
/// who gave one model 149 of their 154 votes for a side. 180 riggers with `LANGYA_TEST_SIZE=long`.
#[test]
fn riggers_of_fifty_votes_are_flagged_and_honest_voters_are_not() {
    let Some(log) = llmfao() else { return };
    let report = test_voters(&log, VoterTest::Score, SEED).unwrap();
    let flagged: Vec<&str> = report.flagged(DEFAULT_ALPHA).map(|result| result.voter.as_str()).collect();
    assert!(flagged.starts_with(&["15", "70"]) && flagged.len() <= 3, "{flagged:?}");
    let taste = report.taste.unwrap();
    assert!(taste > 0.05 && taste < 0.2, "{taste}");
    let simulation =
        RiggerSimulation { riggers: 3, votes: 50, strategy: RiggerStrategy::TargetOnly, target_share: 1.0, seed: 0 };
    let times = size(4, 60);
    let (mut found, mut found_stricter, mut hurt) = (0, 0, 0);
    for seed in SEED..SEED + times {
        let report =
            test_voters(&add_riggers(&log, RiggerSimulation { seed, ..simulation }).unwrap(), VoterTest::Score, seed)
                .unwrap();
        for result in report.flagged(DEFAULT_ALPHA) {
            match result.voter.as_str() {
                voter if is_simulated_rigger(voter) => {
                    found += 1;
                    found_stricter += u64::from(result.q <= STRICTER_ALPHA);
                }
                "15" | "70" => {}
                _ => hurt += 1,
            }
        }
    }
    let of_riggers = |flagged: u64| real(flagged) / real(3 * times);
    let (found, stricter, hurt) = (of_riggers(found), of_riggers(found_stricter), real(hurt) / real(122 * times));
    println!("seed {SEED}: of {} riggers {found:.3} flagged, {stricter:.3} at {STRICTER_ALPHA}", 3 * times);
    println!("of honest voters {hurt:.4} flagged");
    assert!(found >= 0.65 && hurt <= 0.01, "seed {SEED}: {found} and {hurt}");
}

/// Returns the number of voters that lose a vote to a cap, and the share of votes that it excludes.
fn capped<K: std::hash::Hash + Eq>(most: usize, votes: impl Iterator<Item = (u32, K)>) -> (usize, f64) {
    let (mut cast, mut hurt) = (HashMap::new(), HashSet::new());
    let (mut all, mut lost) = (0, 0);
    for (voter, of) in votes {
        let earlier: &mut usize = cast.entry(of).or_default();
        *earlier += 1;
        all += 1;
        if *earlier > most {
            lost += 1;
            hurt.insert(voter);
        }
    }
    (hurt.len(), real_len(lost) / real_len(all))
}

/// Prints the table of DESIGN.md on the costs of controls for honest voters.
#[test]
fn what_each_control_costs_honest_voters() {
    let Some((log, prompts)) = llmfao_with_prompts() else { return };
    let voters = log.voters.as_ref().unwrap();
    let of_voter = || voters.rows.iter().map(|&voter| (voter, voter));
    let of_prompt = || voters.rows.iter().zip(&prompts).map(|(&voter, prompt)| (voter, (voter, prompt)));
    for (what, (hurt, lost), expected) in [
        ("at most 20 votes of a voter", capped(20, of_voter()), (72, 0.78)),
        ("at most 5 votes of a voter on one prompt", capped(5, of_prompt()), (54, 0.57)),
        ("one vote of a voter on one prompt", capped(1, of_prompt()), (119, 0.86)),
    ] {
        println!("{what}: {hurt} of 124 voters lose a vote, {lost:.3} of the votes are left out");
        assert!(hurt == expected.0 && (lost - expected.1).abs() < 0.005, "{what}: {hurt}, {lost}");
    }
    for (test, expected) in [(VoterTest::Score, 3), (VoterTest::Likelihood, 17), (VoterTest::Fisher, 1)] {
        let report = test_voters(&log, test, SEED).unwrap();
        let flagged: Vec<u32> =
            report.flagged(DEFAULT_ALPHA).map(|result| voters.names.find(&result.voter).unwrap()).collect();
        let lost = voters.rows.iter().filter(|voter| flagged.contains(voter)).count();
        let share = real_len(lost) / real_len(log.len());
        println!("{}: {} of 124 voters flagged, with {share:.3} of the votes", test.as_str(), flagged.len());
        assert_eq!(flagged.len(), expected, "{}, seed {SEED}", test.as_str());
    }
}
