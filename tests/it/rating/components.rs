//! Groups of models that votes do not connect both ways are rated separately.

use std::collections::BTreeSet;

use langya::domain::battle::Outcome::{AWins, BWins, Tie};
use langya::domain::rating::strengths::fit::Direction;

use super::{leaderboard, limit_points};
use crate::support::ratings::{line, points};

#[test]
fn components_joined_by_one_way_votes_are_rated_separately_and_the_bridge_is_named() {
    let votes = [
        ("a", "b", AWins, 3),
        ("a", "b", BWins, 1),
        ("x", "y", AWins, 1),
        ("x", "y", BWins, 3),
        ("y", "z", Tie, 2),
        ("a", "x", AWins, 2),
    ];
    let leaderboard = leaderboard(&votes);
    assert_eq!(leaderboard.components, 2);
    assert_eq!(
        (line(&leaderboard, "z").component, line(&leaderboard, "a").component),
        (0, 1),
        "the largest comes first"
    );
    for component in 0..2 {
        let ratings: Vec<f64> = leaderboard
            .models
            .iter()
            .filter(|line| line.component == component)
            .map(|line| line.rating_or_limit())
            .collect();
        let mean = ratings.iter().sum::<f64>() / f64::from(u32::try_from(ratings.len()).unwrap());
        assert!((mean - 1000.0).abs() < 1e-9, "component {component}: {ratings:?}");
    }
    let group = |name: &str| {
        let models = leaderboard.group_of(line(&leaderboard, name)).expect("there are two groups").into_iter();
        models.map(|line| line.model.as_str()).collect::<BTreeSet<_>>()
    };
    assert_eq!((group("y"), group("b")), (["x", "y", "z"].into(), ["a", "b"].into()));
    assert!(
        (line(&leaderboard, "a").rating_or_limit() - line(&leaderboard, "b").rating_or_limit() - points(3.0)).abs()
            < 1e-9
    );
    assert_eq!((leaderboard.bridges[0].winner.as_str(), leaderboard.bridges[0].loser.as_str()), ("a", "x"));
    assert!(
        leaderboard.notes.iter().any(|note| note.to_string().contains("\"a\" over \"x\" (2)")),
        "{:?}",
        leaderboard.notes
    );
}

#[test]
fn votes_between_components_do_not_change_the_bound_of_a_winner() {
    let apart =
        [("b", "c", Tie, 2), ("x", "y", Tie, 2), ("x", "b", AWins, 5), ("a", "b", AWins, 3), ("a", "c", AWins, 3)];
    let bound = line(&leaderboard(&apart), "a").rating_or_limit();
    assert!((bound - 1000.0 - limit_points(6.0)).abs() < 1e-6, "{bound}");
}

#[test]
fn a_winner_that_met_only_a_loser_is_its_own_component() {
    let leaderboard = leaderboard(&[("b", "c", Tie, 2), ("b", "loser", AWins, 3), ("odd", "loser", AWins, 1)]);
    let odd = line(&leaderboard, "odd");
    assert_eq!((leaderboard.components, odd.component, odd.unbounded), (2, 1, None));
    assert_eq!((odd.rating_or_limit().to_bits(), odd.lower, odd.average_win_rate), (1000_f64.to_bits(), None, None));
    assert_eq!(line(&leaderboard, "loser").unbounded, Some(Direction::Below));
}
