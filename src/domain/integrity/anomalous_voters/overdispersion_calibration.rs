//! Calibration of the taste: the value under which the votes of the crowd's voters are no more unusual than expected by chance.
//!
//! The correlation of [`super::overdispersion`] is exact for models of equal strength. Where models are far apart, an expected win says
//! little about a taste, and the correlation of the votes is smaller than the taste behind them. With many votes on each model honest
//! voters of ordinary taste then look like riggers. So the taste is raised until the number of voters with moderately small p-values is
//! that of honest ones. Riggers have very small ones: those are not counted, and so do not raise the taste (the null distribution is fitted
//! to the centre: Efron 2004).

use rayon::prelude::*;

use super::rao_score::{ModelVotes, ScoreResult, score_test};
use crate::stats::real_len;

/// Maximum p-value that counts as moderately small; a larger one is that of an honest voter.
const MAX_MODERATE_P_VALUE: f64 = 0.1;
/// Maximum p-value of a possible rigger.
const MAX_EXTREME_P_VALUE: f64 = 0.003;
/// Tolerated number of moderately small p-values beyond the expected number.
const TOLERATED_EXCESS: f64 = 1.0;
/// Maximum taste of the search.
const MAX_TASTE: f64 = 0.95;
/// Number of bisection steps over the range of tastes.
const BISECTION_STEPS: usize = 6;

/// Score tests of voters under one taste.
#[derive(Debug)]
pub(super) struct CalibratedTests {
    pub(super) taste: f64,
    /// Whether the taste is larger than the estimate.
    pub(super) is_raised: bool,
    /// Results by voter; `None` without two votes on one model.
    pub(in crate::integrity) results: Vec<Option<ScoreResult>>,
}

/// Runs the tests under the estimated taste, or under the smallest larger one that explains the votes.
pub(super) fn calibrate(voters: &[Vec<ModelVotes>], estimate: f64) -> CalibratedTests {
    let tests = uncalibrated(voters, estimate);
    if estimate >= MAX_TASTE || is_calibrated(&tests.results) {
        return tests;
    }
    let (mut too_small, mut enough, mut results) = (estimate, MAX_TASTE, score_tests(voters, MAX_TASTE));
    for _ in 0..BISECTION_STEPS {
        let middle = f64::midpoint(too_small, enough);
        let found = score_tests(voters, middle);
        if is_calibrated(&found) {
            (enough, results) = (middle, found);
        } else {
            too_small = middle;
        }
    }
    CalibratedTests { taste: enough, is_raised: true, results }
}

/// Runs the tests under the estimated taste.
pub(super) fn uncalibrated(voters: &[Vec<ModelVotes>], estimate: f64) -> CalibratedTests {
    CalibratedTests { taste: estimate, is_raised: false, results: score_tests(voters, estimate) }
}

/// Tests each voter under a taste; `None` without two votes on one model.
pub(super) fn score_tests(voters: &[Vec<ModelVotes>], taste: f64) -> Vec<Option<ScoreResult>> {
    voters.par_iter().map(|models| score_test(models, taste)).collect()
}

/// Returns whether no more p-values are moderately small than expected from the number of larger ones.
fn is_calibrated(results: &[Option<ScoreResult>]) -> bool {
    let p_values = || results.iter().map(|found| found.map_or(1.0, |found| found.p));
    let larger = real_len(p_values().filter(|p| *p > MAX_MODERATE_P_VALUE).count());
    let moderate = real_len(p_values().filter(|p| *p > MAX_EXTREME_P_VALUE && *p <= MAX_MODERATE_P_VALUE).count());
    moderate <= larger * (MAX_MODERATE_P_VALUE - MAX_EXTREME_P_VALUE) / (1.0 - MAX_MODERATE_P_VALUE) + TOLERATED_EXCESS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integrity::anomalous_voters::rao_score::by_model;
    use crate::rating::simulate::{Simulation, SimulationOptions};
    use crate::rating::strengths::crowd_expectation::{CrowdExpectation, CrowdVote};
    use crate::rating::votes::vote_log::VoteLog;

    /// Simulates a hundred honest votes of each of 30 voters with tastes on 8 models that are far apart.
    fn honest() -> VoteLog {
        let options = SimulationOptions {
            models: 8,
            seed: 2,
            voters: 30,
            spread: 1.5,
            voter_spread: 0.5,
            ..SimulationOptions::default()
        };
        Simulation::new(options).unwrap().log(3_000)
    }

    #[test]
    fn a_taste_that_is_too_small_for_honest_votes_is_raised_until_it_explains_them() {
        let log = honest();
        let crowd = CrowdExpectation::new(&log).unwrap().unwrap();
        let of = |votes: &Vec<CrowdVote>| by_model(&crowd, votes, &crowd.strengths_without(votes));
        let voters: Vec<Vec<ModelVotes>> = crowd.votes_of_voters(&log).iter().map(of).collect();
        let raised = calibrate(&voters, 0.02);
        assert!(raised.is_raised && raised.taste > 0.1, "{}", raised.taste);
        assert!(is_calibrated(&raised.results) && !is_calibrated(&uncalibrated(&voters, 0.02).results));
        let enough = calibrate(&voters, MAX_TASTE);
        assert!(!enough.is_raised && (enough.taste - MAX_TASTE).abs() < 1e-12, "{}", enough.taste);
    }

    fn results(p_values: &[(usize, f64)]) -> Vec<Option<ScoreResult>> {
        let of = |p: f64| ScoreResult { model: 0, favours: true, votes: 20, wins: 20, expected: 9.0, z: 4.0, p };
        p_values.iter().flat_map(|&(voters, p)| vec![Some(of(p)); voters]).collect()
    }

    #[test]
    fn moderately_small_p_values_ask_for_more_taste_and_very_small_ones_do_not() {
        assert!(is_calibrated(&results(&[(90, 0.6), (10, 0.04)])), "one in ten is below 0.1");
        assert!(!is_calibrated(&results(&[(80, 0.6), (20, 0.04)])));
        assert!(is_calibrated(&results(&[(90, 0.6), (10, 0.04), (40, 1e-6)])), "riggers are not counted");
        assert!(is_calibrated(&results(&[(1, 0.04)])) && is_calibrated(&[]), "one voter says nothing");
        assert!(is_calibrated(&[None, None]));
    }
}
