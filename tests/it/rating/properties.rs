//! Properties of rankings of any votes.

use langya::domain::battle::Outcome::{self, AWins, BWins, Tie};
use langya::domain::rating::counts::comparison::ComparisonSet;
use langya::domain::rating::counts::tally::Tally;
use langya::domain::rating::leaderboards::leaderboard::{Leaderboard, RankedModel};
use langya::domain::rating::leaderboards::ranking::{rank, rank_log};
use langya::domain::rating::options::{Anchor, LeaderboardOptions};
use langya::domain::rating::strengths::bradley_terry::fit;
use langya::domain::rating::strengths::elo::EloTable;
use langya::domain::rating::strengths::fit::ModelStrength;
use langya::domain::rating::votes::scoring::Scoring;
use langya::domain::rating::votes::vote_log::InternedTexts;
use proptest::prelude::*;

use crate::support::ratings::{connected_votes, leaderboard_of, line, recorded};

fn without_elo(leaderboard: Leaderboard) -> Vec<RankedModel> {
    leaderboard.models.into_iter().map(|line| RankedModel { elo: 0.0, ..line }).collect()
}

fn mirrored((a, b, outcome): (u8, u8, Outcome)) -> (u8, u8, Outcome) {
    let turned = match outcome {
        AWins => BWins,
        BWins => AWins,
        other => other,
    };
    (b, a, turned)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn neither_vote_order_nor_side_changes_a_bit((votes, shuffled) in connected_votes().prop_flat_map(|votes| {
        (Just(votes.clone()), Just(votes).prop_shuffle())
    })) {
        let options = LeaderboardOptions::default();
        let turned: Vec<_> = shuffled.into_iter().enumerate()
            .map(|(place, vote)| if place % 2 == 0 { mirrored(vote) } else { vote })
            .collect();
        let (one, other) = (leaderboard_of(&recorded(&votes), &options), leaderboard_of(&recorded(&turned), &options));
        prop_assert_eq!(without_elo(one), without_elo(other));
    }

    #[test]
    fn restored_counts_give_the_leaderboard_of_the_log(votes in connected_votes()) {
        let (log, scoring, options) = (recorded(&votes), Scoring::default(), LeaderboardOptions::default());
        let (mut running, mut elo) = (ComparisonSet::new(), EloTable::default());
        for &(a, b, outcome) in &votes {
            let vote = running.record(&format!("model {a}"), &format!("model {b}"), outcome).unwrap();
            elo.record(vote, scoring);
        }
        prop_assert_eq!(&running, &ComparisonSet::from_log(&log));
        let mut names = InternedTexts::default();
        running.models().iter().for_each(|name| { names.position(name); });
        let restored = ComparisonSet::restore(names, running.pairs());
        let stored: EloTable = serde_json::from_str(&serde_json::to_string(&elo).unwrap()).unwrap();
        prop_assert_eq!(&stored, &EloTable::from_log(&log, scoring));
        prop_assert_eq!(rank(&restored, &stored, &options).unwrap(), rank_log(&log, &options).unwrap());
    }

    #[test]
    fn elo_does_not_depend_on_sides(votes in connected_votes()) {
        let turned: Vec<_> = votes.iter().copied().map(mirrored).collect();
        let (one, other) = (recorded(&votes), recorded(&turned));
        let (elo_one, elo_other) =
            (EloTable::from_log(&one, Scoring::default()), EloTable::from_log(&other, Scoring::default()));
        for (index, model) in one.models.as_slice().iter().enumerate() {
            let mirror = elo_other.rating(other.models.find(model).unwrap() as usize);
            prop_assert!((elo_one.rating(index) - mirror).abs() < 1e-9);
        }
    }

    #[test]
    fn the_gradient_is_at_rounding_and_strengths_sum_to_zero(votes in connected_votes()) {
        let tally = Tally::from_log(&recorded(&votes), Scoring::default());
        let fit = fit(&tally).unwrap();
        prop_assert!(fit.converged && fit.iterations < 20, "{:?}", fit);
        let strengths: Vec<f64> = fit.strengths().map(|strength| strength.unwrap()).collect();
        prop_assert!(strengths.iter().sum::<f64>().abs() < 1e-13);
        let mut gradient = vec![0.0; strengths.len()];
        for pair in &tally.pairs {
            let p = 1.0 / (1.0 + (strengths[pair.second] - strengths[pair.first]).exp());
            let surplus = pair.points_first() - (pair.first_wins + pair.second_wins + pair.halves) * p;
            gradient[pair.first] += surplus;
            gradient[pair.second] -= surplus;
        }
        for slope in gradient {
            prop_assert!(slope.abs() < 1e-13 * f64::from(u32::try_from(votes.len()).unwrap()), "{}", slope);
        }
    }

    #[test]
    fn doubling_the_votes_narrows_intervals_by_the_square_root_of_two(votes in connected_votes()) {
        let options = LeaderboardOptions::default();
        let once = leaderboard_of(&recorded(&votes), &options);
        let twice = leaderboard_of(&recorded(&[votes.clone(), votes].concat()), &options);
        for model in &once.models {
            let double = line(&twice, &model.model);
            prop_assert!((double.rating_or_limit() - model.rating_or_limit()).abs() < 1e-9);
            prop_assert_eq!(model.standard_error.is_some(), double.standard_error.is_some());
            if let Some((single, double)) = model.standard_error.zip(double.standard_error) {
                prop_assert!((single / double - 2_f64.sqrt()).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn an_anchor_shifts_every_rating_equally(votes in connected_votes(), rating in -3000.0..3000.0) {
        let log = recorded(&votes);
        let free = leaderboard_of(&log, &LeaderboardOptions::default());
        let anchor = Some(Anchor { model: "model 3".into(), rating });
        let held = leaderboard_of(&log, &LeaderboardOptions { anchor, ..LeaderboardOptions::default() });
        let shift = rating - line(&free, "model 3").rating_or_limit();
        for model in &free.models {
            let moved = line(&held, &model.model);
            prop_assert!((moved.rating_or_limit() - model.rating_or_limit() - shift).abs() < 1e-9);
            prop_assert_eq!(moved.rank, model.rank);
        }
    }

    #[test]
    fn any_votes_give_finite_numbers(votes in prop::collection::vec(
        (0..12_u8, 1..12_u8, prop::sample::select(vec![AWins, AWins, AWins, BWins, Tie])), 0..25,
    )) {
        let votes: Vec<_> = votes.into_iter().map(|(a, b, outcome)| (a, (a + b) % 12, outcome)).collect();
        let log = recorded(&votes);
        let leaderboard = leaderboard_of(&log, &LeaderboardOptions::default());
        prop_assert!(leaderboard.converged);
        prop_assert_eq!(leaderboard.models.len(), log.models.as_slice().len());
        prop_assert!(leaderboard.models.iter().all(|line| line.component < leaderboard.components && line.rating_or_limit().abs() < 1e5));
        let fit = fit(&Tally::from_log(&log, Scoring::default())).unwrap();
        for members in fit.members().into_iter().filter(|members| !members.is_empty()) {
            let sum: f64 = members.iter().map(|&model| match fit.model_strengths[model] {
                ModelStrength::Rated { strength, .. } => strength,
                ModelStrength::Unbounded { .. } => f64::NAN,
            }).sum();
            prop_assert!(sum.abs() < 1e-12);
        }
    }
}
