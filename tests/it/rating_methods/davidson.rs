//! Ties by Davidson: closed forms, and the tie parameter.

use langya::domain::battle::Outcome::{AWins, BWins, BothBad, Tie};
use langya::domain::rating::options::{IntervalMethod, LeaderboardOptions};
use langya::domain::rating::strengths::fit::Direction;
use langya::domain::rating::votes::scoring::{BothBadRule, Scoring, TieRule};

use super::{POINTS, Z, by, davidson, near};
use crate::support::ratings::{leaderboard_of, line, log_of, points};

#[test]
fn two_models_with_ties_have_the_closed_form_of_davidson() {
    let (wins, losses, ties) = (6.0, 3.0, 2.0_f64);
    let leaderboard =
        leaderboard_of(&log_of(&[("a", "b", AWins, 6), ("b", "a", AWins, 3), ("a", "b", Tie, 2)]), &davidson());
    let (a, effect) = (line(&leaderboard, "a"), leaderboard.davidson.unwrap());
    near(a.rating_or_limit(), 1000.0 + points(wins / losses) / 2.0);
    near(effect.nu, ties / f64::sqrt(wins * losses));
    near(a.standard_error.unwrap(), 0.5 * POINTS * f64::sqrt(1.0 / wins + 1.0 / losses));
    let error = f64::sqrt(1.0 / ties + 0.25 * (1.0 / wins + 1.0 / losses));
    near(effect.upper.unwrap(), effect.nu * f64::exp(Z * error));
    near(effect.lower.unwrap(), effect.nu * f64::exp(-Z * error));
    // Half a tie each: the expected share is the observed one.
    near(a.average_win_rate.unwrap(), (wins + ties / 2.0) / (wins + losses + ties));
    near(
        leaderboard.log_likelihood,
        wins * f64::ln(wins / 11.0) + losses * f64::ln(losses / 11.0) + ties * f64::ln(ties / 11.0),
    );
}

#[test]
fn both_bad_is_a_tie_of_davidson_unless_it_is_dropped() {
    let votes = [("a", "b", AWins, 6), ("b", "a", AWins, 3), ("a", "b", Tie, 1), ("b", "a", BothBad, 1)];
    let nu = |both_bad| {
        let options = LeaderboardOptions { scoring: Scoring { ties: TieRule::Davidson, both_bad }, ..davidson() };
        leaderboard_of(&log_of(&votes), &options).davidson.unwrap().nu
    };
    near(nu(BothBadRule::Half), 2.0 / 18_f64.sqrt());
    near(nu(BothBadRule::Drop), 1.0 / 18_f64.sqrt());
}

#[test]
fn an_infinite_tie_parameter_is_noted() {
    for (votes, note) in [
        (&[("a", "b", Tie, 3), ("b", "c", BothBad, 2)][..], "no finite value"),
        // The more the two are apart, and the likelier a tie, the likelier both votes.
        (&[("a", "b", AWins, 1), ("a", "b", Tie, 1)], "no finite value"),
        (&[("a", "b", AWins, 3), ("b", "a", AWins, 1)], "no vote is a tie"),
    ] {
        let (leaderboard, half) = (
            leaderboard_of(&log_of(votes), &davidson()),
            leaderboard_of(&log_of(votes), &by(IntervalMethod::Sandwich)),
        );
        assert_eq!((&leaderboard.models, leaderboard.davidson), (&half.models, None));
        assert!(leaderboard.notes[0].to_string().contains(note), "{:?}", leaderboard.notes);
    }
}

#[test]
fn a_cycle_of_wins_keeps_the_tie_parameter_finite() {
    let circle = [("a", "b", AWins, 2), ("b", "c", AWins, 2), ("c", "a", AWins, 2), ("a", "b", Tie, 3)];
    let leaderboard = leaderboard_of(&log_of(&circle), &davidson());
    assert!(
        leaderboard.converged && leaderboard.davidson.is_some_and(|effect| effect.nu > 0.1 && effect.nu < 10.0),
        "{leaderboard:?}"
    );
}

#[test]
fn components_share_the_tie_parameter_and_keep_their_own_means() {
    let votes =
        [("a", "b", AWins, 6), ("b", "a", AWins, 3), ("a", "b", Tie, 2), ("x", "y", AWins, 4), ("y", "x", AWins, 4)];
    let leaderboard = leaderboard_of(&log_of(&votes), &davidson());
    assert_eq!(leaderboard.components, 2);
    near(line(&leaderboard, "a").rating_or_limit() + line(&leaderboard, "b").rating_or_limit(), 2000.0);
    near(line(&leaderboard, "x").rating_or_limit(), 1000.0);
    let alone = leaderboard_of(&log_of(&votes[..3]), &davidson()).davidson.unwrap().nu;
    assert!(leaderboard.davidson.unwrap().nu < 0.9 * alone, "eight votes without a tie make ties rarer");
}

#[test]
fn a_winner_of_every_vote_is_bounded_under_davidson() {
    let rest = [("b", "c", AWins, 6), ("b", "c", BWins, 3), ("c", "b", Tie, 2)];
    let lone = [("x", "y", AWins, 9)];
    let without = leaderboard_of(&log_of(&rest), &davidson());
    let leaderboard = leaderboard_of(&log_of(&[&rest[..], &lone, &[("a", "b", AWins, 5)]].concat()), &davidson());
    for model in &without.models {
        near(line(&leaderboard, &model.model).rating_or_limit(), model.rating_or_limit());
    }
    let (a, x) = (line(&leaderboard, "a"), line(&leaderboard, "x"));
    assert_eq!((a.unbounded, x.unbounded), (Some(Direction::Above), Some(Direction::Above)));
    assert!(a.rating_or_limit() > 900.0 && a.rating_or_limit() < 1300.0, "{a:?}");
    // Nine wins at the limit cost half of the chi-square quantile.
    let d = 2.0 * (x.rating_or_limit() - 1000.0) / POINTS;
    let loss = 9.0 * ((-d).exp() + leaderboard.davidson.unwrap().nu * (-0.5 * d).exp()).ln_1p();
    near(2.0 * loss, Z * Z);
}
