//! The tests of voters on real votes: false alarms, and riggers found.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::planted::{Planting, RiggerStrategy, is_planted, plant};
use super::voters::{DEFAULT_ALPHA, VoterReport, VoterTest, test_voters};
use crate::battle::Outcome;
use crate::rating::vote_log::{ColumnSet, VoteLog};
use crate::stats::{real, real_len};

const SEED: u64 = 1;

/// The 8,931 votes of 124 people on 59 models; `None` without the folder of reference votes.
fn llmfao() -> Option<VoteLog> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = std::env::var_os("LANGYA_SHARED").map_or_else(beside, PathBuf::from);
    let mut reader = csv::Reader::from_path(folder.join("data/llmfao.csv")).ok()?;
    let mut log = VoteLog::with_columns(ColumnSet { voters: true, ..ColumnSet::default() });
    for row in reader.records() {
        let row = row.unwrap();
        let outcome = match &row[5] {
            "left" => Outcome::AWins,
            "right" => Outcome::BWins,
            _ => Outcome::Tie,
        };
        log.push(&row[6], &row[7], outcome).unwrap();
        log.voters.as_mut().unwrap().push(Some(&row[4]));
    }
    Some(log)
}

/// What one rule flags.
#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    riggers: usize,
    honest: usize,
}

fn flags(report: &VoterReport, flagged: impl Fn(&super::voters::VoterResult) -> bool) -> Flags {
    let mut flags = Flags::default();
    for result in report.results.iter().filter(|result| flagged(result)) {
        *(if is_planted(&result.voter) { &mut flags.riggers } else { &mut flags.honest }) += 1;
    }
    flags
}

/// Riggers and honest voters that each rule flags, summed over plantings.
fn planted(log: &VoteLog, test: VoterTest, planting: Planting, times: u64) -> [Flags; 3] {
    let mut sums = [Flags::default(); 3];
    for seed in SEED..SEED + times {
        let report = test_voters(&plant(log, Planting { seed, ..planting }).unwrap(), test, seed).unwrap();
        let found = [
            flags(&report, |result| result.q <= DEFAULT_ALPHA),
            flags(&report, |result| result.q <= 0.1),
            flags(&report, |result| result.p <= 0.01),
        ];
        for (sum, found) in sums.iter_mut().zip(found) {
            sum.riggers += found.riggers;
            sum.honest += found.honest;
        }
    }
    sums
}

/// Share of the riggers found, and of the 124 honest voters flagged.
fn shares(flags: Flags, riggers: u64, times: u64) -> String {
    format!(
        "{:.2} ({:.3})",
        real_len(flags.riggers) / real(riggers * times),
        real_len(flags.honest) / real(124 * times)
    )
}

/// The plantings of the table: a strategy, and the share of its votes that show the target.
const PLANTINGS: [(RiggerStrategy, f64); 4] = [
    (RiggerStrategy::TargetOnly, 1.0),
    (RiggerStrategy::Smart, 0.2),
    (RiggerStrategy::Naive, 0.2),
    // As often as a random battle of the log shows a model.
    (RiggerStrategy::Smart, 0.034),
];

/// `cargo test --release -p langya-domain table_of_planted_riggers -- --ignored --nocapture` prints the table of DESIGN.md.
#[test]
#[ignore = "slow: tests/run runs it"]
fn table_of_planted_riggers() {
    if size(0, 1) == 0 {
        eprintln!("skipped: the table of planted riggers takes minutes; set LANGYA_TEST_SIZE=long");
        return;
    }
    let Some(log) = llmfao() else { return };
    eprintln!("seed {SEED}");
    for test in VoterTest::ALL {
        let report = test_voters(&log, test, SEED).unwrap();
        let [by_q, by_p] = [flags(&report, |r| r.q <= DEFAULT_ALPHA), flags(&report, |r| r.p <= 0.01)];
        let (tested, taste) = (report.results.len(), report.taste);
        eprintln!("{}: {tested} tested, flagged {} by q, {} by p; {taste:?}", test.as_str(), by_q.honest, by_p.honest);
        report.results.iter().take(4).for_each(|result| eprintln!("  {result:?}"));
    }
    for (strategy, target_share) in PLANTINGS {
        for (riggers, votes) in [1, 3, 10].into_iter().flat_map(|riggers| [20, 50, 100].map(|votes| (riggers, votes))) {
            let times = 1.max(size(6, 60) / u64::from(riggers));
            let planting = Planting { riggers, votes, strategy, target_share, seed: 0 };
            let mut row = format!("| {} | {target_share} | {riggers} | {votes} |", strategy.as_str());
            for test in VoterTest::ALL {
                let found = planted(&log, test, planting, times).map(|found| shares(found, riggers.into(), times));
                write!(row, " {} |", found.join(" | ")).unwrap();
            }
            eprintln!("{row}");
        }
    }
}

/// Riggers of one row of the table; the long form where `LANGYA_TEST_SIZE=long` asks for it.
fn size(short: u64, long: u64) -> u64 {
    if std::env::var("LANGYA_TEST_SIZE").as_deref() == Ok("long") { long } else { short }
}

/// The promise of the score test, on real votes: of 50-vote riggers at least 65 % are flagged, of honest voters at most 1 %
/// beside the two who gave one model 149 of their 154 votes for a side.
#[test]
fn riggers_of_fifty_votes_are_flagged_and_honest_voters_are_not() {
    let Some(log) = llmfao() else { return };
    let report = test_voters(&log, VoterTest::Score, SEED).unwrap();
    let flagged: Vec<&str> = report.flagged(DEFAULT_ALPHA).map(|result| result.voter.as_str()).collect();
    assert!(flagged.starts_with(&["15", "70"]) && flagged.len() <= 3, "{flagged:?}");
    let taste = report.taste.unwrap();
    assert!(taste > 0.05 && taste < 0.2, "{taste}");
    let planting = Planting { riggers: 3, votes: 50, strategy: RiggerStrategy::TargetOnly, target_share: 1.0, seed: 0 };
    let [by_q, ..] = planted(&log, VoterTest::Score, planting, 4);
    assert!(by_q.riggers >= 8 && by_q.honest <= 12, "seed {SEED}: {by_q:?} of 12 riggers");
}
