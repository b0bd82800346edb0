//! Rankings: agreement with results from elsewhere, hard cases worked out by hand, options, and properties.

mod bounds;
mod components;
pub(super) mod derived_tables;
mod hard_cases;
pub(super) mod jackknife;
mod options;
pub(super) mod pooling;
mod properties;
mod reference_results;
pub(super) mod robustness;
pub(super) mod robustness_overall;
pub(super) mod sequential;
pub(super) mod slices;
pub(super) mod stats;
pub(super) mod style;
pub(super) mod ties;
pub(super) mod value;
pub(super) mod vote_covariates;

use langya::domain::battle::Outcome::{self, AWins, BWins, Tie};
use langya::domain::rating::leaderboards::leaderboard::Leaderboard;
use langya::domain::rating::options::{IntervalMethod, LeaderboardOptions};
use langya::domain::rating::votes::scoring::{Scoring, TieRule};
use langya::domain::rating::votes::vote_log::Labels;

use crate::support::ratings::{Votes, leaderboard_of, log_of, points};

fn leaderboard(votes: &Votes) -> Leaderboard {
    leaderboard_of(&log_of(votes), &LeaderboardOptions::default())
}

/// Every method and interval method of Bradley–Terry. Each vote has its own voter.
fn every_method() -> [LeaderboardOptions; 5] {
    let by = |interval| LeaderboardOptions { interval, ..LeaderboardOptions::default() };
    let scoring = Scoring { ties: TieRule::Davidson, ..Scoring::default() };
    [
        by(IntervalMethod::Sandwich),
        by(IntervalMethod::Cluster),
        by(IntervalMethod::Bootstrap),
        LeaderboardOptions { scoring, ..by(IntervalMethod::Sandwich) },
        LeaderboardOptions { scoring, ..by(IntervalMethod::Bootstrap) },
    ]
}

/// The ratings, in the order of the leaderboard, by every method.
#[track_caller]
fn check(votes: &Votes, expected: &[(&str, f64)]) {
    let mut log = log_of(votes);
    log.voters = Some(Labels::default());
    let voters = log.voters.as_mut().unwrap();
    voters.rows = (0..log.outcomes.len()).map(|row| voters.names.position(&row.to_string())).collect();
    for options in every_method() {
        check_leaderboard(&leaderboard_of(&log, &options), expected);
    }
}

#[track_caller]
fn check_leaderboard(leaderboard: &Leaderboard, expected: &[(&str, f64)]) {
    let names: Vec<&str> = leaderboard.models.iter().map(|line| line.model.as_str()).collect();
    assert_eq!(names, expected.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    for (line, (name, rating)) in leaderboard.models.iter().zip(expected) {
        assert!(
            (line.rating_or_limit() - rating).abs() < 1e-9,
            "{name}: {} instead of {rating}",
            line.rating_or_limit()
        );
    }
    assert!(leaderboard.converged, "{leaderboard:?}");
}

/// The 95 % likelihood-ratio limit, in points, of a model that won `wins` votes against an opponent at the mean.
fn limit_points(wins: f64) -> f64 {
    let chi_square: f64 = 3.841_458_820_694_124;
    -points((chi_square / (2.0 * wins)).exp_m1())
}

const BALANCED: [(&str, &str, Outcome, u32); 3] = [("b", "c", AWins, 6), ("b", "c", BWins, 3), ("c", "d", Tie, 2)];
