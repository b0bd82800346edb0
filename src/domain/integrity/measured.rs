//! The tests of voters on real votes: false alarms, and riggers found.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::planted::{Planting, RiggerStrategy, is_planted, plant};
use super::voters::{DEFAULT_ALPHA, VoterReport, VoterTest, test_voters};
use crate::battle::Outcome;
use crate::rating::vote_log::{ColumnSet, VoteLog};
use crate::stats::real_len;

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
fn planted(log: &VoteLog, test: VoterTest, planting: Planting, times: u64) -> [Flags; 2] {
    let mut sums = [Flags::default(); 2];
    for seed in SEED..SEED + times {
        let report = test_voters(&plant(log, Planting { seed, ..planting }).unwrap(), test, seed).unwrap();
        let found = [flags(&report, |result| result.q <= DEFAULT_ALPHA), flags(&report, |result| result.p <= 0.01)];
        for (sum, found) in sums.iter_mut().zip(found) {
            sum.riggers += found.riggers;
            sum.honest += found.honest;
        }
    }
    sums
}

/// `cargo test --release -p langya-domain table_of_planted_riggers -- --ignored --nocapture` prints the table of DESIGN.md.
#[test]
#[ignore = "slow: tests/run runs it"]
fn table_of_planted_riggers() {
    let Some(log) = llmfao() else { return };
    let mut table = String::new();
    for test in VoterTest::ALL {
        let report = test_voters(&log, test, SEED).unwrap();
        let [by_q, by_p] = [flags(&report, |r| r.q <= DEFAULT_ALPHA), flags(&report, |r| r.p <= 0.01)];
        writeln!(table, "{}: {} of {} tested; flagged {} by q ≤ 0.05, {} by p ≤ 0.01; taste {:?}", test.as_str(),
            report.results.len(), report.voters, by_q.honest, by_p.honest, report.taste).unwrap();
        for result in report.results.iter().take(5) {
            writeln!(table, "  {result:?}").unwrap();
        }
    }
    for (strategy, target_share) in
        [(RiggerStrategy::TargetOnly, 1.0), (RiggerStrategy::Smart, 0.2), (RiggerStrategy::Naive, 0.2), (RiggerStrategy::Smart, 0.034)]
    {
        for riggers in [1, 10] {
            for votes in [20, 50, 100] {
                let times = 30 / u64::from(riggers);
                let planting = Planting { riggers, votes, strategy, target_share, seed: 0 };
                write!(table, "| {} | {target_share} | {riggers} | {votes} |", strategy.as_str()).unwrap();
                for test in VoterTest::ALL {
                    let [by_q, by_p] = planted(&log, test, planting, times);
                    let all = real_len(usize::try_from(times * u64::from(riggers)).unwrap());
                    let honest = real_len(usize::try_from(124 * times).unwrap());
                    write!(table, " {:.2} ({:.3}) {:.2} ({:.3}) |", real_len(by_q.riggers) / all, real_len(by_q.honest) / honest,
                        real_len(by_p.riggers) / all, real_len(by_p.honest) / honest).unwrap();
                }
                writeln!(table).unwrap();
            }
        }
    }
    println!("seed {SEED}\n{table}");
}
