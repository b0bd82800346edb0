//! Intervals by leaving out one voter at a time.

use std::path::Path;

use langya::domain::battle::Outcome::{self, AWins, BWins, BothBad, Tie};
use langya::domain::rating::intervals::sequential_testing::SequentialOptions;
use langya::domain::rating::leaderboards::leaderboard::Leaderboard;
use langya::domain::rating::notes::RatingNote;
use langya::domain::rating::options::{IntervalMethod, LeaderboardOptions};
use langya::domain::rating::votes::scoring::{Scoring, TieRule};
use langya::domain::rating::votes::vote_log::{ColumnSet, Labels, VoteLog};
use langya::formats::votes::{ReadOptions, read_log};

use crate::support::ratings::{agree, leaderboard_of, line};

/// Votes with their voters; an empty name is no voter.
fn log_of(votes: &[(&str, &str, Outcome, &str)]) -> VoteLog {
    let (mut log, mut voters) = (VoteLog::default(), Labels::default());
    for &(a, b, outcome, voter) in votes {
        log.push(a, b, outcome).unwrap();
        voters.rows.push(if voter.is_empty() { Labels::NONE } else { voters.names.position(voter) });
    }
    log.voters = Some(voters);
    log
}

fn jackknife() -> LeaderboardOptions {
    LeaderboardOptions { interval: IntervalMethod::Jackknife, ..LeaderboardOptions::default() }
}

#[test]
fn intervals_agree_with_an_independent_program() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let wanted = ColumnSet { voters: true, ..ColumnSet::default() };
    let log = read_log(&[data.join("jackknife_votes.csv")], wanted, &ReadOptions::default()).unwrap();
    let leaderboard = leaderboard_of(&log, &LeaderboardOptions::default());
    assert_eq!(leaderboard.interval, IntervalMethod::Jackknife, "the default where voters are known");
    let expected = data.join("jackknife_expected.csv");
    agree(&leaderboard, &expected, "rating", 1e-6, |model| model.rating_or_limit());
    agree(&leaderboard, &expected, "standard_error", 1e-6, |model| model.standard_error.unwrap());
    agree(&leaderboard, &expected, "lower", 1e-6, |model| model.lower.unwrap());
    agree(&leaderboard, &expected, "upper", 1e-6, |model| model.upper.unwrap());
    agree(&leaderboard, &expected, "effective_voters", 1e-6, |model| model.effective_voters.unwrap());
    let few = |note: &RatingNote| matches!(note, RatingNote::FewVoters { models, .. } if models.len() == 6);
    assert!(leaderboard.notes.iter().any(few), "{:?}", leaderboard.notes);
}

#[test]
fn neighbours_agree_with_an_independent_program() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let wanted = ColumnSet { voters: true, ..ColumnSet::default() };
    let log = read_log(&[data.join("jackknife_votes.csv")], wanted, &ReadOptions::default()).unwrap();
    let sequential = Some(SequentialOptions::default());
    let leaderboard = leaderboard_of(&log, &LeaderboardOptions { sequential, ..LeaderboardOptions::default() });
    let mut expected = csv::Reader::from_path(data.join("jackknife_neighbours.csv")).unwrap();
    let expected: Vec<(String, String, f64, f64, f64)> = expected.deserialize().collect::<Result<_, _>>().unwrap();
    assert_eq!(leaderboard.neighbours.len(), expected.len());
    for (pair, (upper, lower, difference, low, high)) in leaderboard.neighbours.iter().zip(expected) {
        assert_eq!((&pair.upper, &pair.lower), (&upper, &lower));
        let found = [pair.difference.unwrap(), pair.low.unwrap(), pair.high.unwrap()];
        for (found, expected) in found.into_iter().zip([difference, low, high]) {
            assert!((found - expected).abs() < 1e-6, "{pair:?}: {found} instead of {expected}");
        }
    }
}

/// Three voters, each with more than a quarter of the information on some model, so each is left out by a refit.
fn votes_of_three() -> Vec<(&'static str, &'static str, Outcome, &'static str)> {
    let mut votes = Vec::new();
    for (number, voter) in ["v", "w", "x"].into_iter().enumerate() {
        for (round, (a, b)) in [("one", "two"), ("two", "three"), ("three", "one")].into_iter().enumerate() {
            let mostly = if (number + round) % 3 == 0 { BWins } else { AWins };
            votes.extend([(a, b, mostly, voter), (a, b, AWins, voter), (b, a, AWins, voter), (a, b, Tie, voter)]);
        }
        votes.extend(vec![("one", "three", [AWins, BothBad, BWins][number], voter); number + 2]);
    }
    votes
}

fn check_against_refits(options: &LeaderboardOptions) -> Leaderboard {
    let votes = votes_of_three();
    let whole = leaderboard_of(&log_of(&votes), options);
    let voters = ["v", "w", "x"];
    let without = voters.map(|voter| {
        let others: Vec<_> = votes.iter().filter(|vote| vote.3 != voter).copied().collect();
        leaderboard_of(&log_of(&others), &LeaderboardOptions { interval: IntervalMethod::None, ..options.clone() })
    });
    for model in &whole.models {
        let change =
            |other: &Leaderboard| (line(other, &model.model).rating_or_limit() - model.rating_or_limit()).powi(2);
        let expected = (2.0 / 3.0 * without.iter().map(change).sum::<f64>()).sqrt();
        let found = model.standard_error.unwrap();
        assert!((found - expected).abs() < 1e-6, "{}: {found} instead of {expected}", model.model);
    }
    whole
}

#[test]
fn the_variance_is_that_of_the_fits_without_each_voter() {
    check_against_refits(&jackknife());
}

#[test]
fn the_variance_of_a_fit_with_ties_is_that_of_the_fits_without_each_voter() {
    let scoring = Scoring { ties: TieRule::Davidson, ..Scoring::default() };
    let leaderboard = check_against_refits(&LeaderboardOptions { scoring, ..jackknife() });
    let ties = leaderboard.davidson.unwrap();
    assert!(ties.lower.unwrap() < ties.nu && ties.nu < ties.upper.unwrap());
}

#[test]
fn a_model_that_one_voter_alone_compares_with_the_rest_has_no_interval() {
    let mut votes = votes_of_three();
    votes.extend([("four", "one", AWins, "v"), ("four", "two", BWins, "v")]);
    let leaderboard = leaderboard_of(&log_of(&votes), &jackknife());
    let note = RatingNote::CarriedByOneVoter { models: vec!["four".to_owned()] };
    assert!(leaderboard.notes.contains(&note), "{:?}", leaderboard.notes);
    for model in &leaderboard.models {
        let has_interval = model.lower.is_some() && model.upper.is_some();
        assert_eq!(has_interval, model.model != "four", "{model:?}");
    }
}

#[test]
fn beside_models_with_intervals_two_without_have_no_certain_order() {
    let mut votes = votes_of_three();
    votes.extend([("four", "one", AWins, "v"), ("four", "two", BWins, "v")]);
    votes.extend([("five", "one", BWins, "w"), ("five", "one", BWins, "w"), ("five", "two", AWins, "w")]);
    let leaderboard = leaderboard_of(&log_of(&votes), &jackknife());
    let [four, five] = ["four", "five"].map(|model| line(&leaderboard, model));
    assert!(four.rating_or_limit() > five.rating_or_limit() + 1.0, "{four:?} {five:?}");
    assert_eq!((four.lower, five.lower, four.rank, five.rank), (None, None, 1, 1));
    let without = LeaderboardOptions { interval: IntervalMethod::None, ..jackknife() };
    let leaderboard = leaderboard_of(&log_of(&votes), &without);
    let ranks: std::collections::BTreeSet<u64> = leaderboard.models.iter().map(|model| model.rank).collect();
    assert_eq!(ranks.len(), 5, "without any interval, ranks are by rating");
}

#[test]
fn a_model_whose_votes_all_equal_their_predictions_has_no_interval() {
    let mut votes = votes_of_three();
    votes.extend(["v", "w", "x"].map(|voter| ("tied", "one", Tie, voter)));
    let missing = [
        (IntervalMethod::Jackknife, RatingNote::NoVoterVariance),
        (IntervalMethod::Bootstrap, RatingNote::NoVoteVariance),
    ];
    for (interval, note) in missing {
        let leaderboard = leaderboard_of(&log_of(&votes), &LeaderboardOptions { interval, ..jackknife() });
        assert!(leaderboard.notes.contains(&note), "{:?}", leaderboard.notes);
        for model in &leaderboard.models {
            let has_interval = model.lower.is_some() && model.upper.is_some();
            // What else its strength could err by is the error of "one", against which it is measured.
            assert_eq!(has_interval, model.model != "tied", "{interval:?}: {model:?}");
        }
    }
}

#[test]
fn votes_of_a_single_voter_are_taken_as_independent_with_a_note() {
    let votes = [("a", "b", AWins, "v"), ("a", "b", AWins, "v"), ("b", "a", AWins, "v")];
    let leaderboard = leaderboard_of(&log_of(&votes), &LeaderboardOptions::default());
    assert_eq!(leaderboard.interval, IntervalMethod::Sandwich);
    assert!(leaderboard.models.iter().all(|model| model.lower.is_some()));
    assert!(leaderboard.notes.contains(&RatingNote::IntervalsOfOneVoter), "{:?}", leaderboard.notes);

    let left_out = leaderboard_of(&log_of(&votes), &jackknife());
    assert!(left_out.models.iter().all(|model| model.lower.is_none() && model.standard_error.is_none()));
    assert!(!left_out.notes.is_empty() && !left_out.notes.contains(&RatingNote::IntervalsOfOneVoter));
}

#[test]
fn votes_without_a_voter_are_voters_of_their_own() {
    let vote = |outcome, voter| ("a", "b", outcome, voter);
    let anonymous = [vote(AWins, ""), vote(AWins, ""), vote(BWins, ""), vote(AWins, "v"), vote(BWins, "v")];
    let named = [vote(AWins, "1"), vote(AWins, "2"), vote(BWins, "3"), vote(AWins, "v"), vote(BWins, "v")];
    let [anonymous, named] = [&anonymous, &named].map(|votes| leaderboard_of(&log_of(votes), &jackknife()));
    for (one, other) in anonymous.models.iter().zip(&named.models) {
        assert!((one.lower.unwrap() - other.lower.unwrap()).abs() < 1e-9, "{one:?} {other:?}");
        assert!((one.effective_voters.unwrap() - other.effective_voters.unwrap()).abs() < 1e-9, "{one:?} {other:?}");
    }
}

#[test]
fn votes_that_name_no_voter_have_sandwich_intervals() {
    let votes = [("a", "b", AWins, ""), ("a", "b", AWins, ""), ("b", "a", AWins, "")];
    let leaderboard = leaderboard_of(&log_of(&votes), &LeaderboardOptions::default());
    assert_eq!(leaderboard.interval, IntervalMethod::Sandwich);
    assert!(leaderboard.models.iter().all(|model| model.effective_voters.is_none()));
}
