//! Score test of a voter for each model: does the voter favour it, or vote against it, more than the crowd and honest tastes explain?
//!
//! For the votes of a voter on model m, z_m = Σ (v − E(v)) / √(Σ Var v), v = 1 for m and 0 for its rival: the score statistic of an effect
//! of m on that voter's votes in a Bradley–Terry model (Rao 1948; Cox and Hinkley 1974, section 9.3).
//!
//! - E(v) is computed from the ratings without the votes of the voter ([`crate::rating::strengths::crowd_expectation`]) and of other outliers, who may
//!   help the same model, and from the voter's consistency in the votes on other models ([`super::voter_consistency_slope`]), so that a
//!   careless voter does not seem to oppose the best models.
//! - Votes for neither model are left out, by conditioning on the votes for one: honest voters tie between 0 and 70 % of the
//!   time, and a tie moves the target half as far.
//! - Honest voters have tastes, which correlate several of their votes ([`super::overdispersion`]). The p-value is exact for any
//!   number of votes: a Poisson binomial tail mixed over the taste ([`super::poisson_binomial`]). z is reported, not used.
//! - The p-values of all models and both directions are combined by Bonferroni's rule over those that could be this small at
//!   all (Tarone 1990), since a model of two votes can never be significant.

use nalgebra::DVector;

use super::overdispersion::SharedResiduals;
use super::poisson_binomial::{correlated_tail, correlated_win_all, tail};
use super::voter_consistency_slope::{CROWD_SLOPE, slope};
use crate::battle::Outcome;
use crate::rating::logistic;
use crate::rating::strengths::crowd_expectation::{CrowdExpectation, CrowdVote};
use crate::stats::real_len;

/// Number of model and direction pairs whose p-values are computed with the taste: those with the smallest p-values without it.
const MAX_CANDIDATES: usize = 8;
/// p-value above which the number of tests is bounded by a cheaper method.
const MIN_HONEST_P_VALUE: f64 = 0.01;
/// Relative rounding error of two ways to compute one p-value.
const ROUNDING: f64 = 1e-9;

/// Decisive votes of a voter on one model.
#[derive(Debug)]
pub(super) struct ModelVotes {
    model: usize,
    /// Probability P(v = 1) of each vote.
    expected: Vec<f64>,
    wins: usize,
    residuals: SharedResiduals,
}

/// Test result for the model with the smallest p-value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ScoreResult {
    pub(in crate::integrity) model: usize,
    pub(in crate::integrity) favours: bool,
    /// Number of decisive votes on the model.
    pub(in crate::integrity) votes: usize,
    pub(in crate::integrity) wins: usize,
    /// Expected number of wins.
    pub(in crate::integrity) expected: f64,
    /// Statistic z_m, without the taste.
    pub(in crate::integrity) z: f64,
    /// p-value over all models and directions.
    pub(in crate::integrity) p: f64,
}

/// Vote for one of two models, with the log odds of its winner.
struct DecisiveVote {
    winner: usize,
    loser: usize,
    log_odds: f64,
}

/// Groups the votes of a voter by model, for every model with at least two votes.
pub(super) fn by_model(crowd: &CrowdExpectation, votes: &[CrowdVote], strengths: &DVector<f64>) -> Vec<ModelVotes> {
    let decisive = |vote: &CrowdVote| {
        let (winner, loser) = match vote.outcome {
            Outcome::AWins => (vote.a, vote.b),
            Outcome::BWins => (vote.b, vote.a),
            Outcome::Tie | Outcome::BothBad => return None,
        };
        Some(DecisiveVote { winner, loser, log_odds: crowd.decisive_log_odds(strengths[winner] - strengths[loser]) })
    };
    let votes: Vec<DecisiveVote> = votes.iter().filter_map(decisive).collect();
    let mut met = vec![0_u32; strengths.len()];
    for vote in &votes {
        met[vote.winner] += 1;
        met[vote.loser] += 1;
    }
    let consistency = slope(votes.iter().map(|vote| vote.log_odds), CROWD_SLOPE);
    let of_model = |model: usize| ModelVotes::new(model, &votes, consistency);
    (0..met.len()).filter(|&model| met[model] > 1).map(of_model).collect()
}

impl ModelVotes {
    /// Collects the votes on a model; `consistency` is the slope of all votes of the voter.
    fn new(model: usize, votes: &[DecisiveVote], consistency: f64) -> Self {
        let has = |vote: &&DecisiveVote| vote.winner == model || vote.loser == model;
        let consistency = slope(votes.iter().filter(|vote| !has(vote)).map(|vote| vote.log_odds), consistency);
        let mut found = Self { model, expected: Vec::new(), wins: 0, residuals: SharedResiduals::default() };
        let mut residuals = Vec::new();
        for vote in votes.iter().filter(has) {
            let won = vote.winner == model;
            let p = logistic(consistency * if won { vote.log_odds } else { -vote.log_odds });
            found.expected.push(p);
            found.wins += usize::from(won);
            residuals.push(if won { ((1.0 - p) / p).sqrt() } else { -(p / (1.0 - p)).sqrt() });
        }
        found.residuals.add(residuals.into_iter());
        found
    }

    fn z(&self) -> f64 {
        let variance: f64 = self.expected.iter().map(|p| p * (1.0 - p)).sum();
        (real_len(self.wins) - self.expected.iter().sum::<f64>()) / variance.sqrt()
    }
}

/// Sums the residual products of a voter's votes on the same model.
pub(super) fn shared_residuals(models: &[ModelVotes]) -> SharedResiduals {
    models.iter().fold(SharedResiduals::default(), |sum, model| SharedResiduals {
        products: sum.products + model.residuals.products,
        pairs: sum.pairs + model.residuals.pairs,
    })
}

/// Model with the direction of the counted votes.
struct ModelDirection<'a> {
    votes: &'a ModelVotes,
    favours: bool,
    expected: Vec<f64>,
    hits: usize,
}

impl<'a> ModelDirection<'a> {
    fn both(votes: &'a ModelVotes) -> [Self; 2] {
        let against = votes.expected.iter().map(|p| 1.0 - p).collect();
        [
            Self { votes, favours: true, expected: votes.expected.clone(), hits: votes.wins },
            Self { votes, favours: false, expected: against, hits: votes.expected.len() - votes.wins },
        ]
    }

    /// Returns whether a p-value as small as this is possible.
    fn can_reach(&self, p: f64, taste: f64) -> bool {
        let least = self.expected.iter().product::<f64>();
        least <= p && (p > MIN_HONEST_P_VALUE || correlated_win_all(&self.expected, taste) <= p * (1.0 + ROUNDING))
    }
}

/// Tests a voter and returns the most suspicious model; `None` without two votes on one model. `taste` is the correlation of
/// [`super::overdispersion`].
pub(super) fn score_test(models: &[ModelVotes], taste: f64) -> Option<ScoreResult> {
    let directions: Vec<ModelDirection<'_>> = models.iter().flat_map(ModelDirection::both).collect();
    let mut candidates: Vec<(f64, &ModelDirection<'_>)> =
        directions.iter().map(|direction| (tail(&direction.expected, direction.hits), direction)).collect();
    candidates.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let mut best: Option<(f64, &ModelDirection<'_>)> = None;
    for (without_taste, direction) in candidates.into_iter().take(MAX_CANDIDATES) {
        // A taste makes a small tail larger, so no later candidate can be the best.
        if best.is_some_and(|(p, _)| p <= without_taste) {
            break;
        }
        let p = correlated_tail(&direction.expected, direction.hits, taste);
        let tests = directions.iter().filter(|other| other.can_reach(p, taste)).count().max(1);
        let p = (p * real_len(tests)).min(1.0);
        if best.is_none_or(|(least, _)| p < least) {
            best = Some((p, direction));
        }
    }
    best.map(|(p, ModelDirection { votes, favours, .. })| ScoreResult {
        model: votes.model,
        favours: *favours,
        votes: votes.expected.len(),
        wins: votes.wins,
        expected: votes.expected.iter().sum(),
        z: votes.z(),
        p,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn votes(model: usize, expected: &[f64], wins: usize) -> ModelVotes {
        ModelVotes { model, expected: expected.to_vec(), wins, residuals: SharedResiduals::default() }
    }

    #[test]
    fn the_number_of_tests_is_that_of_models_that_could_be_significant() {
        // 0.3^10 = 5.9e-6. Two votes on each of the others cannot be that rare, so one test is made; with ten votes, 6.
        let target = votes(7, &[0.3; 10], 10);
        let few: Vec<ModelVotes> = (0..5).map(|model| votes(model, &[0.4; 2], 1)).chain([target]).collect();
        let found = score_test(&few, 0.0).unwrap();
        assert_eq!((found.model, found.favours, found.wins), (7, true, 10));
        assert!((found.p / 0.3_f64.powi(10) - 1.0).abs() < 1e-9, "{found:?}");
        assert!((found.z - 7.0 / 2.1_f64.sqrt()).abs() < 1e-12, "{found:?}");
        let target = votes(7, &[0.3; 10], 10);
        let many: Vec<ModelVotes> = (0..5).map(|model| votes(model, &[0.3; 10], 3)).chain([target]).collect();
        let p = score_test(&many, 0.0).unwrap().p;
        assert!((p / 0.3_f64.powi(10) - 6.0).abs() < 1e-9, "losing all ten is likelier: {p}");
    }

    #[test]
    fn a_taste_makes_a_run_of_wins_less_suspicious() {
        let run = [votes(0, &[0.3; 10], 10)];
        let [without, with] = [0.0, 0.2].map(|taste| score_test(&run, taste).unwrap().p);
        assert!(with > 20.0 * without, "{with} against {without}");
        let against = score_test(&[votes(0, &[0.9; 12], 2)], 0.1).unwrap();
        assert!(!against.favours && against.z < -5.0 && against.p < 1e-3, "{against:?}");
        assert_eq!(score_test(&[], 0.1), None);
    }
}
