//! Models that always win or always lose have a bound in place of a rating.

use langya::domain::battle::Outcome::{AWins, BWins, Tie};
use langya::domain::rating::strengths::fit::Direction;

use super::{BALANCED, check, leaderboard, limit_points};
use crate::support::ratings::line;

#[test]
fn a_model_that_always_wins_comes_first_with_a_bound_and_changes_no_other_rating() {
    let without = leaderboard(&BALANCED);
    let with = leaderboard(&[&BALANCED[..], &[("a", "b", AWins, 2), ("c", "a", BWins, 4)]].concat());
    let winner = &with.models[0];
    assert_eq!((winner.model.as_str(), winner.rank, winner.unbounded), ("a", 1, Some(Direction::Above)));
    assert_eq!((winner.rating, winner.at_least, winner.at_most), (None, winner.lower, None));
    assert_eq!((winner.lower, winner.upper), (Some(winner.rating_or_limit()), None));
    // From the likelihood equations, solved by a general root finder in 40 digits.
    assert!((winner.rating_or_limit() - 1_144.650_934_945_092_3).abs() < 1e-9, "{}", winner.rating_or_limit());
    for model in &without.models {
        let line = line(&with, &model.model);
        assert_eq!(
            (line.rating_or_limit().to_bits(), line.lower, line.upper),
            (model.rating_or_limit().to_bits(), model.lower, model.upper)
        );
    }
    assert_eq!(with.components, 1);
    assert!(with.notes[0].to_string().contains("\"a\" won every vote"), "{:?}", with.notes);
}

#[test]
fn a_model_that_always_loses_mirrors_one_that_always_wins() {
    let mirrored: Vec<_> = [&BALANCED[..], &[("a", "b", AWins, 2), ("c", "a", BWins, 4)]]
        .concat()
        .into_iter()
        .map(|(a, b, outcome, count)| match outcome {
            AWins => (a, b, BWins, count),
            BWins => (a, b, AWins, count),
            other => (a, b, other, count),
        })
        .collect();
    let winning = leaderboard(&[&BALANCED[..], &[("a", "b", AWins, 2), ("c", "a", BWins, 4)]].concat());
    let losing = leaderboard(&mirrored);
    let loser = losing.models.last().unwrap();
    assert_eq!((loser.model.as_str(), loser.unbounded), ("a", Some(Direction::Below)));
    assert_eq!((loser.rating, loser.at_least, loser.at_most), (None, None, loser.upper));
    assert_eq!((loser.lower, loser.upper), (None, Some(loser.rating_or_limit())));
    for model in &winning.models {
        let mirror = 2000.0 - line(&losing, &model.model).rating_or_limit();
        assert!(
            (model.rating_or_limit() - mirror).abs() < 1e-9,
            "{}: {} and {mirror}",
            model.model,
            model.rating_or_limit()
        );
    }
}

#[test]
fn the_bound_of_a_winner_is_its_likelihood_ratio_limit() {
    // Against one rated group of two equal models it is that of six wins in a row, all else being symmetrical.
    let leaderboard = leaderboard(&[("b", "c", Tie, 8), ("a", "b", AWins, 3), ("a", "c", AWins, 3)]);
    let bound = line(&leaderboard, "a").rating_or_limit();
    assert!((bound - (1000.0 + limit_points(6.0))).abs() < 1e-6, "{bound}");
}

#[test]
fn two_models_of_which_one_always_wins_share_the_bound() {
    let half = limit_points(9.0) / 2.0;
    let votes = [("b", "a", BWins, 9)];
    check(&votes, &[("a", 1000.0 + half), ("b", 1000.0 - half)]);
    let leaderboard = leaderboard(&votes);
    assert_eq!(
        leaderboard.models.iter().map(|line| line.unbounded).collect::<Vec<_>>(),
        [Some(Direction::Above), Some(Direction::Below)]
    );
}

#[test]
fn one_vote_between_two_models_gives_finite_numbers() {
    let half = limit_points(1.0) / 2.0;
    check(&[("a", "b", AWins, 1)], &[("a", 1000.0 + half), ("b", 1000.0 - half)]);
}

#[test]
fn each_model_in_a_chain_of_winners_is_bounded() {
    let leaderboard =
        leaderboard(&[("a", "b", AWins, 9), ("b", "c", AWins, 9), ("c", "d", AWins, 5), ("c", "d", BWins, 5)]);
    let order: Vec<_> = leaderboard.models.iter().map(|line| (line.model.as_str(), line.unbounded)).collect();
    let above = Some(Direction::Above);
    assert_eq!(order, [("a", above), ("b", above), ("c", None), ("d", None)]);
    assert_eq!(leaderboard.group_of(line(&leaderboard, "c")), None, "models without a rating are no other group");
    assert!(line(&leaderboard, "a").rating_or_limit() > line(&leaderboard, "b").rating_or_limit(), "{leaderboard:?}");
    assert!((line(&leaderboard, "c").rating_or_limit() - 1000.0).abs() < 1e-9);
}

#[test]
fn a_winner_over_a_single_model_is_measured_against_it() {
    let votes = [("b", "c", Tie, 2), ("b", "loser", AWins, 3), ("odd", "loser", AWins, 1), ("first", "odd", AWins, 4)];
    let leaderboard = leaderboard(&votes);
    let (odd, first) = (line(&leaderboard, "odd"), line(&leaderboard, "first"));
    assert_eq!((odd.component, odd.unbounded), (1, None));
    assert_eq!((first.component, first.unbounded), (1, Some(Direction::Above)));
    assert!((first.rating_or_limit() - 1000.0 - limit_points(4.0)).abs() < 1e-6, "{first:?}");
}
