//! Intervals by voter and by the bootstrap.

use langya::domain::battle::Outcome::{AWins, Tie};
use langya::domain::rating::FitError;
use langya::domain::rating::counts::comparison::ComparisonSet;
use langya::domain::rating::counts::weighting::Reweight;
use langya::domain::rating::intervals::sequential_testing::{NeighbourState, SequentialOptions};
use langya::domain::rating::leaderboards::leaderboard::Leaderboard;
use langya::domain::rating::leaderboards::ranking::{rank, rank_log};
use langya::domain::rating::notes::RatingNote;
use langya::domain::rating::options::{IntervalMethod, LeaderboardOptions};
use langya::domain::rating::strengths::elo::EloTable;
use langya::domain::rating::votes::vote_log::VoteLog;
use langya::domain::stats::resample::BootstrapOptions;

use super::{by, davidson, with_voters};
use crate::support::ratings::{leaderboard_of, line, log_of};

#[test]
fn clustered_intervals_need_voters() {
    let log = log_of(&[("a", "b", Tie, 2)]);
    assert!(matches!(rank_log(&log, &by(IntervalMethod::Cluster)), Err(FitError::NoVoters)));
    let counts = ComparisonSet::from_log(&log);
    let refused = rank(&counts, &EloTable::default(), &by(IntervalMethod::Cluster)).unwrap_err();
    assert_eq!(refused.to_string(), "the votes name no voters: add a voter column or use sandwich intervals");
}

#[test]
fn a_single_voter_gives_no_interval() {
    let log = with_voters(log_of(&[("a", "b", AWins, 2), ("b", "a", AWins, 1)]), |_| Some("only".into()));
    let leaderboard = leaderboard_of(&log, &by(IntervalMethod::Cluster));
    assert!(
        leaderboard.models.iter().all(|model| model.lower.is_none() && model.standard_error.is_none()),
        "{leaderboard:?}"
    );
    assert!(leaderboard.notes.iter().any(|note| note.to_string().contains("voter")), "{:?}", leaderboard.notes);
}

#[test]
fn intervals_by_voter_say_how_few_voters_they_rest_on() {
    let votes = log_of(&[("a", "b", AWins, 61), ("b", "a", AWins, 40)]);
    let by_two = with_voters(votes.clone(), |row| Some(if row % 3 == 0 { "ann" } else { "ben" }.into()));
    let by_many = with_voters(votes.clone(), |row| Some(row.to_string()));
    let warns = |leaderboard: &Leaderboard| {
        let of_two = |note: &RatingNote| match note {
            RatingNote::TooFewVoters { voters, effective } => *voters == 2 && (1.8..1.9).contains(effective),
            _ => false,
        };
        leaderboard.notes.iter().any(of_two)
    };
    for interval in [IntervalMethod::Cluster, IntervalMethod::Bootstrap] {
        let two = leaderboard_of(&by_two, &by(interval));
        assert!(two.voters == Some(2) && warns(&two), "{interval:?}: {:?}", two.notes);
        let many = leaderboard_of(&by_many, &by(interval));
        assert!(many.voters == Some(101) && many.notes.is_empty(), "{interval:?}: {:?}", many.notes);
    }
    let left_out = leaderboard_of(&by_two, &by(IntervalMethod::Jackknife));
    assert!(left_out.voters == Some(2) && !warns(&left_out), "{:?}", left_out.notes);
    assert_eq!(leaderboard_of(&by_two, &by(IntervalMethod::Sandwich)).voters, None);
    let by_one = leaderboard_of(&with_voters(votes, |_| Some("only".into())), &by(IntervalMethod::Bootstrap));
    assert!(by_one.notes.contains(&RatingNote::IntervalsOfOneVoter), "{:?}", by_one.notes);
}

#[test]
fn neighbours_that_few_voters_tell_apart_have_a_note() {
    let votes = log_of(&[("a", "b", AWins, 420), ("b", "a", AWins, 180)]);
    let by_three =
        with_voters(votes.clone(), |row| Some(if row < 10 { "0".to_owned() } else { (row % 3).to_string() }));
    let by_many = with_voters(votes, |row| Some(row.to_string()));
    for interval in [IntervalMethod::Jackknife, IntervalMethod::Cluster] {
        let decided = |log: &VoteLog| {
            let options = LeaderboardOptions { sequential: Some(SequentialOptions::default()), ..by(interval) };
            let leaderboard = leaderboard_of(log, &options);
            assert_eq!(leaderboard.neighbours[0].state, NeighbourState::Separated, "{interval:?}");
            leaderboard.notes.into_iter().find_map(|note| match note {
                RatingNote::DecidedByFewVoters { least } => Some(least),
                _ => None,
            })
        };
        assert!(decided(&by_three).is_some_and(|least| (1.0..3.1).contains(&least)), "{interval:?}");
        assert_eq!(decided(&by_many), None, "{interval:?}");
    }
}

fn resampled(votes: &VoteLog, replicates: u32, seed: u64) -> Leaderboard {
    let bootstrap = BootstrapOptions { replicates, seed };
    leaderboard_of(votes, &LeaderboardOptions { bootstrap, ..by(IntervalMethod::Bootstrap) })
}

#[test]
fn the_bootstrap_depends_on_its_seed_but_not_on_threads() {
    let log = log_of(&[("a", "b", AWins, 60), ("b", "a", AWins, 30), ("b", "c", Tie, 20), ("a", "c", AWins, 9)]);
    let on = |threads, seed| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| resampled(&log, 50, seed))
    };
    assert_eq!(on(1, 7), on(3, 7));
    assert_ne!(on(1, 7).models, on(1, 8).models);
    let report = on(1, 7).bootstrap.unwrap();
    assert_eq!((report.replicates, report.seed, report.not_finite, report.converged), (50, 7, 0, true));
}

#[test]
fn bootstrap_and_sandwich_intervals_of_many_votes_are_equally_wide() {
    let votes = [
        ("a", "b", AWins, 600),
        ("b", "a", AWins, 300),
        ("b", "c", Tie, 400),
        ("a", "c", AWins, 500),
        ("c", "a", AWins, 200),
    ];
    for options in [by(IntervalMethod::Sandwich), davidson()] {
        let sandwich = leaderboard_of(&log_of(&votes), &options);
        let bootstrap = BootstrapOptions { replicates: 2000, seed: 1 };
        let resampled = leaderboard_of(
            &log_of(&votes),
            &LeaderboardOptions { bootstrap, interval: IntervalMethod::Bootstrap, ..options },
        );
        for model in &sandwich.models {
            let other = line(&resampled, &model.model);
            let ratio = other.standard_error.unwrap() / model.standard_error.unwrap();
            assert!((ratio - 1.0).abs() < 0.06, "{}: {ratio}", model.model);
            for (end, expected) in [(other.lower, model.lower), (other.upper, model.upper)] {
                let off = (end.unwrap() - expected.unwrap()).abs() / model.standard_error.unwrap();
                assert!(off < 0.2, "{}: {off} standard errors off", model.model);
            }
        }
    }
}

#[test]
fn replicates_without_a_finite_rating_open_the_interval_and_are_counted() {
    let log = log_of(&[("a", "b", AWins, 40), ("b", "a", AWins, 30), ("c", "b", AWins, 1), ("b", "c", AWins, 5)]);
    let leaderboard = resampled(&log, 200, 3);
    let report = leaderboard.bootstrap.unwrap();
    // The one win of c, or all its losses, are missing in e⁻¹ + e⁻⁵ of the replicates, as nearly as 200 show.
    assert!((50..=100).contains(&report.not_finite), "{report:?}");
    let (a, c) = (line(&leaderboard, "a"), line(&leaderboard, "c"));
    assert_eq!((c.lower, c.standard_error), (None, None));
    assert!(c.upper.is_some() && a.lower.is_some() && a.upper.is_some() && leaderboard.converged, "{leaderboard:?}");
    assert!(a.rank == 1 && c.rank == 1, "an interval without a lower end is not surely below another");
    assert!(
        leaderboard.notes.iter().any(|note| note.to_string().contains(&format!("in {} of 200", report.not_finite))),
        "{:?}",
        leaderboard.notes
    );
}

#[test]
fn an_interval_with_one_open_end_is_not_missing_and_one_with_two_is() {
    let half_open = log_of(&[("a", "b", AWins, 40), ("b", "a", AWins, 30), ("c", "b", AWins, 1), ("b", "c", AWins, 5)]);
    let leaderboard = resampled(&half_open, 200, 3);
    let c = line(&leaderboard, "c");
    assert!(c.lower.is_none() && c.upper.is_some(), "{c:?}");
    let is_of_open_ends = |note: &RatingNote| matches!(note, RatingNote::InfiniteReplicates { .. });
    assert!(leaderboard.notes.iter().all(is_of_open_ends) && leaderboard.notes.len() == 1, "{:?}", leaderboard.notes);
    // A third of the resamples leave out the one win of b, and then nothing compares the two.
    let open = resampled(&log_of(&[("a", "b", AWins, 9), ("b", "a", AWins, 1)]), 200, 3);
    assert!(open.models.iter().all(|model| model.lower.is_none() && model.upper.is_none()), "{open:?}");
    assert!(open.notes.contains(&RatingNote::NoVoteVariance), "{:?}", open.notes);
}

/// Four of nine voters prefer b. In half a percent of the resamples none of them is drawn, and in fewer none of the others: the
/// spread of the resamples is then infinite, and their percentiles are not.
#[test]
fn an_interval_without_a_standard_error_is_one_and_rests_on_few_voters() {
    let votes = with_voters(log_of(&[("a", "b", AWins, 5), ("b", "a", AWins, 4)]), |row| Some(row.to_string()));
    let leaderboard = resampled(&votes, 4_000, 0);
    for model in &leaderboard.models {
        assert!(model.lower.is_some() && model.upper.is_some() && model.standard_error.is_none(), "{model:?}");
    }
    let of_nine = |note: &RatingNote| matches!(note, RatingNote::TooFewVoters { voters: 9, .. });
    assert!(leaderboard.notes.iter().any(of_nine), "{:?}", leaderboard.notes);
    assert!(!leaderboard.notes.contains(&RatingNote::NoVoteVariance), "{:?}", leaderboard.notes);
}

#[test]
fn an_invalid_bootstrap_is_refused() {
    let mut log = log_of(&[("a", "b", Tie, 2)]);
    let none =
        LeaderboardOptions { bootstrap: BootstrapOptions { replicates: 0, seed: 0 }, ..by(IntervalMethod::Bootstrap) };
    assert!(matches!(rank_log(&log, &none), Err(FitError::NoReplicates)));
    log.pair_probabilities = Some(vec![0.5; 2]);
    let weighted = LeaderboardOptions { reweight: Reweight::PairProbability, ..by(IntervalMethod::Bootstrap) };
    assert!(matches!(rank_log(&log, &weighted), Err(FitError::WeightedBootstrap)));
}
