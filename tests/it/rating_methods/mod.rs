//! Options of the fit: Davidson's ties, clustered and bootstrap intervals, weights, slices, matrices.

mod davidson;
mod intervals;
mod properties;
mod reference_results;
mod slices;
mod weights;

use langya::domain::rating::options::{IntervalMethod, LeaderboardOptions};
use langya::domain::rating::votes::scoring::{Scoring, TieRule};
use langya::domain::rating::votes::vote_log::{Labels, VoteLog};

/// The normal quantile of a 95 % interval.
const Z: f64 = 1.959_963_984_540_054;

/// Rating points of one unit of strength.
const POINTS: f64 = 400.0 / std::f64::consts::LN_10;

fn by(interval: IntervalMethod) -> LeaderboardOptions {
    LeaderboardOptions { interval, ..LeaderboardOptions::default() }
}

fn davidson() -> LeaderboardOptions {
    let scoring = Scoring { ties: TieRule::Davidson, ..Scoring::default() };
    LeaderboardOptions { scoring, ..LeaderboardOptions::default() }
}

#[track_caller]
fn near(got: f64, expected: f64) {
    assert!((got - expected).abs() < 1e-9 * expected.abs().max(1.0), "{got} instead of {expected}");
}

fn with_voters(mut log: VoteLog, voter: impl Fn(usize) -> Option<String>) -> VoteLog {
    let mut voters = Labels::default();
    for row in 0..log.len() {
        let position = voter(row).map_or(Labels::NONE, |name| voters.names.position(&name));
        voters.rows.push(position);
    }
    log.voters = Some(voters);
    log
}
