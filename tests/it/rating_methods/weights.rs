//! Weights by the probability of a pair.

use langya::domain::battle::Outcome::Tie;
use langya::domain::rating::FitError;
use langya::domain::rating::counts::weighting::Reweight;
use langya::domain::rating::leaderboards::ranking::rank_log;
use langya::domain::rating::options::LeaderboardOptions;

use crate::support::ratings::log_of;

#[test]
fn weights_need_valid_probabilities() {
    let options = LeaderboardOptions { reweight: Reweight::PairProbability, ..LeaderboardOptions::default() };
    let mut log = log_of(&[("a", "b", Tie, 2)]);
    assert!(matches!(rank_log(&log, &options), Err(FitError::NoPairProbabilities)));
    let way_out = "and 1e-12 to 1 are needed; imported votes and those of campaigns have none: reweight by pair-count, or leave \
                   such votes out, for example with --source arena";
    // The inverse of the smallest numbers is infinite.
    for probability in [0.0, f64::NAN, -0.5, 1.5, 1e-308, 5e-324] {
        log.pair_probabilities = Some(vec![0.5, probability]);
        let refused = rank_log(&log, &options).unwrap_err().to_string();
        let held = if probability.is_nan() {
            "no pair probability".to_owned()
        } else {
            format!("the pair probability {probability:?}")
        };
        assert_eq!(refused, format!("rated vote 2 has {held}, {way_out}"));
    }
}
