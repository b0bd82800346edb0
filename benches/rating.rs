//! Cost of a refit. Run with `cargo bench --bench rating`.

use divan::Bencher;
use langya::domain::battle::Outcome;
use langya::domain::rating::counts::comparison::ComparisonSet;
use langya::domain::rating::counts::tally::Tally;
use langya::domain::rating::leaderboards::ranking::{rank, rank_log};
use langya::domain::rating::options::LeaderboardOptions;
use langya::domain::rating::strengths::elo::EloTable;
use langya::domain::rating::votes::scoring::{Scoring, TieRule};
use langya::domain::rating::votes::vote_log::{Labels, VoteLog};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn main() {
    divan::main();
}

/// Simulates votes between models with evenly spaced strengths from −2 to 2; a fifth are ties.
fn simulated(models: u32, votes: u32) -> VoteLog {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let strength = |model: u32| 4.0 * f64::from(model) / f64::from(models - 1) - 2.0;
    let mut log = VoteLog::default();
    for _ in 0..votes {
        let a = rng.random_range(0..models);
        let b = (a + rng.random_range(1..models)) % models;
        let a_is_better = rng.random::<f64>() < 1.0 / (1.0 + (strength(b) - strength(a)).exp());
        let outcome = match rng.random::<f64>() {
            luck if luck < 0.2 => Outcome::Tie,
            _ if a_is_better => Outcome::AWins,
            _ => Outcome::BWins,
        };
        log.push(&format!("model-{a}"), &format!("model-{b}"), outcome).expect("b differs from a");
    }
    log
}

/// Refits with intervals and ranks; 59 models and 8,931 votes are the size of llmfao.
#[divan::bench(args = [(59, 8_931), (100, 100_000), (300, 100_000), (300, 3_000)])]
fn leaderboard(bencher: Bencher, (models, votes): (u32, u32)) {
    let log = simulated(models, votes);
    let (comparisons, elo) = (ComparisonSet::from_log(&log), EloTable::from_log(&log, Scoring::default()));
    bencher.bench(|| rank(&comparisons, &elo, &LeaderboardOptions::default()).expect("the votes can be fitted"));
}

/// Counts one vote.
#[divan::bench]
fn record(bencher: Bencher) {
    let mut comparisons = ComparisonSet::from_log(&simulated(59, 8_931));
    bencher.bench_local(|| comparisons.record("model-3", "model-17", Outcome::AWins));
}

/// Counts a whole log by pair.
#[divan::bench(args = [1_000_000, 10_000_000], sample_count = 10)]
fn count(bencher: Bencher, votes: u32) {
    let log = simulated(120, votes);
    bencher.bench(|| Tally::from_log(&log, Scoring::default()));
}

/// Computes the Elo ratings of a whole log.
#[divan::bench(args = [1_000_000, 10_000_000], sample_count = 10)]
fn elo(bencher: Bencher, votes: u32) {
    let log = simulated(120, votes);
    bencher.bench(|| EloTable::from_log(&log, Scoring::default()));
}

/// Ranks a million votes of 120 models by 20,000 voters, with each interval method; the bootstrap has 100 replicates.
#[divan::bench(args = ["none", "sandwich", "cluster", "bootstrap", "davidson"], sample_count = 5)]
fn million(bencher: Bencher, kind: &str) {
    let mut log = simulated(120, 1_000_000);
    let mut voters = Labels::default();
    (0..20_000).for_each(|voter| voters.push(Some(&format!("voter-{voter}"))));
    voters.rows = (0..log.len()).map(|row| voters.rows[row * 7 % 20_000]).collect();
    log.voters = Some(voters);
    let mut options = LeaderboardOptions::default();
    if kind == "davidson" {
        options.scoring.ties = TieRule::Davidson;
    } else {
        options.interval = kind.parse().expect("a kind of interval");
    }
    bencher.bench(|| rank_log(&log, &options).expect("the votes can be fitted"));
}
