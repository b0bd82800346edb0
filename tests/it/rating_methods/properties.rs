//! Properties of every method on any votes.

use std::collections::BTreeMap;

use langya::domain::battle::Outcome::{self, AWins, BWins, BothBad, Tie};
use langya::domain::rating::counts::weighting::Reweight;
use langya::domain::rating::leaderboards::leaderboard::{Leaderboard, RankedModel};
use langya::domain::rating::options::{IntervalMethod, LeaderboardOptions};
use langya::domain::rating::votes::scoring::{Scoring, TieRule};
use langya::domain::stats::resample::BootstrapOptions;
use proptest::prelude::*;

use super::{POINTS, davidson, with_voters};
use crate::support::ratings::{connected_votes, leaderboard_of, line, recorded};

/// Ratings and intervals by model; without an interval, the rating stands for its ends.
fn numbers(leaderboard: &Leaderboard) -> BTreeMap<&str, [f64; 3]> {
    let of = |model: &RankedModel| {
        [Some(model.rating_or_limit()), model.lower, model.upper].map(|at| at.unwrap_or(model.rating_or_limit()))
    };
    leaderboard.models.iter().map(|model| (model.model.as_str(), of(model))).collect()
}

fn all_near(one: &BTreeMap<&str, [f64; 3]>, other: &BTreeMap<&str, [f64; 3]>) -> bool {
    one.len() == other.len()
        && one.iter().all(|(model, these)| these.iter().zip(&other[model]).all(|(x, y)| (x - y).abs() < 1e-7))
}

/// Random options.
fn methods() -> impl Strategy<Value = LeaderboardOptions> {
    let scoring = |ties| Scoring { ties, ..Scoring::default() };
    let of = move |(ties, reweight)| LeaderboardOptions {
        scoring: scoring(ties),
        reweight,
        ..LeaderboardOptions::default()
    };
    let ties = prop::sample::select(vec![TieRule::Half, TieRule::Davidson]);
    (ties, prop::sample::select(vec![Reweight::None, Reweight::PairCount])).prop_map(of)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn clusters_of_one_vote_equal_the_sandwich(votes in connected_votes(), options in methods()) {
        let log = with_voters(recorded(&votes), |row| (row % 3 != 0).then(|| row.to_string()));
        let plain = leaderboard_of(&log, &LeaderboardOptions { interval: IntervalMethod::Sandwich, ..options.clone() });
        let clustered = leaderboard_of(&log, &LeaderboardOptions { interval: IntervalMethod::Cluster, ..options });
        let groups = f64::from(u32::try_from(votes.len()).unwrap());
        for model in &plain.models {
            let other = line(&clustered, &model.model);
            prop_assert_eq!(model.rating_or_limit().to_bits(), other.rating_or_limit().to_bits());
            prop_assert_eq!(model.standard_error.is_some(), other.standard_error.is_some());
            if let Some((plain, theirs)) = model.standard_error.zip(other.standard_error) {
                let expected = plain * (groups / (groups - 1.0)).sqrt();
                prop_assert!((theirs - expected).abs() < 1e-7 * expected.max(1.0));
            }
        }
    }

    #[test]
    fn repeating_each_voters_votes_does_not_narrow_clustered_intervals(votes in connected_votes(), options in methods()) {
        let options = LeaderboardOptions { interval: IntervalMethod::Cluster, ..options };
        // Weights by pair count depend on the count: leave them out.
        let options = LeaderboardOptions { reweight: Reweight::None, ..options };
        let voter = |row: usize| Some((row % votes.len() / 3).to_string());
        let once = leaderboard_of(&with_voters(recorded(&votes), voter), &options);
        let twice = leaderboard_of(&with_voters(recorded(&[votes.clone(), votes.clone()].concat()), voter), &options);
        prop_assert!(all_near(&numbers(&once), &numbers(&twice)));
    }

    #[test]
    fn names_do_not_matter(votes in connected_votes(), options in methods()) {
        let leaderboard = leaderboard_of(&recorded(&votes), &options);
        let turned: Vec<_> = votes.iter().map(|&(a, b, outcome)| (7 - a, 7 - b, outcome)).collect();
        let mirror = leaderboard_of(&recorded(&turned), &options);
        let renamed: BTreeMap<String, [f64; 3]> = numbers(&mirror)
            .into_iter()
            .map(|(name, numbers)| (format!("model {}", 7 - name[6..].parse::<u8>().unwrap()), numbers))
            .collect();
        let renamed: BTreeMap<&str, [f64; 3]> = renamed.iter().map(|(name, numbers)| (name.as_str(), *numbers)).collect();
        prop_assert!(all_near(&numbers(&leaderboard), &renamed));
    }

    #[test]
    fn a_vote_of_half_the_probability_counts_double(votes in connected_votes(), ties in prop::bool::ANY) {
        let scoring = Scoring { ties: if ties { TieRule::Davidson } else { TieRule::Half }, ..Scoring::default() };
        let options = LeaderboardOptions { scoring, ..LeaderboardOptions::default() };
        let mut weighted = recorded(&votes);
        weighted.pair_probabilities = Some((0..votes.len()).map(|row| if row % 3 == 0 { 0.2 } else { 0.4 }).collect());
        let again = votes.iter().enumerate().filter(|(row, _)| row % 3 == 0).map(|(_, vote)| *vote);
        let repeated: Vec<_> = votes.iter().copied().chain(again).collect();
        let expected = leaderboard_of(&recorded(&repeated), &options);
        let leaderboard = leaderboard_of(&weighted, &LeaderboardOptions { reweight: Reweight::PairProbability, ..options });
        for model in &expected.models {
            prop_assert!((line(&leaderboard, &model.model).rating_or_limit() - model.rating_or_limit()).abs() < 1e-7);
        }
    }

    #[test]
    fn the_gradient_of_davidson_is_zero_at_its_fit(votes in connected_votes()) {
        let leaderboard = leaderboard_of(&recorded(&votes), &davidson());
        let Some(effect) = leaderboard.davidson else { return Ok(()) };
        let strength = |model: u8| line(&leaderboard, &format!("model {model}")).rating_or_limit() / POINTS;
        let (mut slopes, mut of_ties) = ([0.0; 8], 0.0);
        for &(a, b, outcome) in &votes {
            let d = strength(a) - strength(b);
            let weights = [(0.5 * d).exp(), (-0.5 * d).exp(), effect.nu];
            let p = weights.map(|weight| weight / weights.iter().sum::<f64>());
            let observed = match outcome { AWins => [1.0, 0.0, 0.0], BWins => [0.0, 1.0, 0.0], Tie | BothBad => [0.0, 0.0, 1.0] };
            let slope = 0.5 * ((observed[0] - p[0]) - (observed[1] - p[1]));
            slopes[usize::from(a)] += slope;
            slopes[usize::from(b)] -= slope;
            of_ties += observed[2] - p[2];
        }
        prop_assert!(leaderboard.converged && of_ties.abs() < 1e-8 && slopes.iter().all(|slope| slope.abs() < 1e-8), "{:?}", slopes);
    }

    #[test]
    fn every_method_handles_any_votes(votes in prop::collection::vec(
        (0..9_u8, 1..9_u8, prop::sample::select(vec![AWins, AWins, AWins, BWins, Tie])), 0..25,
    ), options in methods(), interval in prop::sample::select(vec![
        IntervalMethod::Sandwich, IntervalMethod::Cluster, IntervalMethod::Bootstrap,
    ])) {
        let votes: Vec<(u8, u8, Outcome)> = votes.into_iter().map(|(a, b, outcome)| (a, (a + b) % 9, outcome)).collect();
        let log = with_voters(recorded(&votes), |row| Some((row / 2).to_string()));
        let bootstrap = BootstrapOptions { replicates: 10, seed: 0 };
        let leaderboard = leaderboard_of(&log, &LeaderboardOptions { interval, bootstrap, matrices: true, ..options });
        prop_assert!(leaderboard.converged, "{:?}", leaderboard.notes);
        prop_assert_eq!(leaderboard.models.len(), log.models.as_slice().len());
        for model in &leaderboard.models {
            prop_assert!(model.lower.is_none_or(|lower| lower <= model.rating_or_limit() + 400.0) && model.rating_or_limit().abs() < 1e5);
        }
        let back: Leaderboard = serde_json::from_str(&serde_json::to_string(&leaderboard).unwrap()).unwrap();
        let texts = |leaderboard: &Leaderboard| leaderboard.notes.iter().map(ToString::to_string).collect::<Vec<_>>();
        prop_assert_eq!(texts(&back), texts(&leaderboard), "JSON holds the notes as texts");
        prop_assert_eq!(Leaderboard { notes: leaderboard.notes.clone(), ..back }, leaderboard);
    }
}
