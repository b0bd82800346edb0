//! Small and unusual sets of votes, with results worked out by hand.

use langya::domain::battle::Outcome::{AWins, BWins, BothBad, Tie};
use langya::domain::rating::counts::comparison::ComparisonSet;
use langya::domain::rating::notes::RatingNote;
use langya::domain::rating::options::{IntervalMethod, LeaderboardOptions};
use langya::domain::rating::votes::vote_log::{Labels, VoteLog};

use super::{check, every_method, leaderboard};
use crate::support::ratings::{leaderboard_of, line, log_of, points};

#[test]
fn three_of_four_are_exactly_a_factor_of_three_apart() {
    let half = 190.848_501_887_865 / 2.0;
    check(&[("a", "b", AWins, 3), ("b", "a", AWins, 1)], &[("a", 1000.0 + half), ("b", 1000.0 - half)]);
}

#[test]
fn ten_thousand_to_one_loses_no_precision() {
    let half = points(9999.0) / 2.0;
    check(&[("a", "b", AWins, 9999), ("a", "b", BWins, 1)], &[("a", 1000.0 + half), ("b", 1000.0 - half)]);
    assert!((2.0 * half - 1_599.982_627).abs() < 1e-6);
}

#[test]
fn names_that_look_alike_are_rated_apart_with_a_note() {
    let votes = [
        ("GPT", "other", AWins, 2),
        ("other", "gpt ", AWins, 1),
        ("Mod\u{e8}le", "other", Tie, 1),
        ("Mode\u{300}le", "other", Tie, 1),
    ];
    let leaderboard = leaderboard(&votes);
    assert_eq!(leaderboard.models.len(), 5);
    let models = ["GPT", "gpt ", "Mode\u{300}le", "Mod\u{e8}le"].map(str::to_owned).to_vec();
    assert!(leaderboard.notes.contains(&RatingNote::AlikeNames { models }), "{:?}", leaderboard.notes);
}

#[test]
fn only_ties_rate_all_models_at_the_mean() {
    let votes = [("a", "b", Tie, 3), ("b", "c", BothBad, 2), ("c", "a", Tie, 1)];
    check(&votes, &[("a", 1000.0), ("b", 1000.0), ("c", 1000.0)]);
}

#[test]
fn the_bootstrap_of_ties_alone_gives_no_interval() {
    let log = log_of(&[("a", "b", Tie, 5), ("b", "c", Tie, 5)]);
    let leaderboard =
        leaderboard_of(&log, &LeaderboardOptions { interval: IntervalMethod::Bootstrap, ..Default::default() });
    assert!(leaderboard.models.iter().all(|model| model.lower.is_none() && model.upper.is_none()), "{leaderboard:?}");
    assert!(!leaderboard.notes.is_empty());
}

#[test]
fn both_bad_votes_are_neither_won_nor_tied() {
    let leaderboard =
        leaderboard(&[("a", "b", BothBad, 20), ("a", "c", AWins, 1), ("c", "a", AWins, 1), ("b", "c", Tie, 2)]);
    let rate = |model| line(&leaderboard, model).win_tie_rate;
    assert_eq!((rate("a"), rate("b"), rate("c")), (1.0 / 22.0, 2.0 / 22.0, 3.0 / 4.0));
}

#[test]
fn votes_equal_to_their_predictions_give_no_interval() {
    let leaderboard = leaderboard_of(&log_of(&[("a", "b", Tie, 1)]), &LeaderboardOptions::default());
    assert!(
        leaderboard.models.iter().all(|model| (model.lower, model.upper, model.standard_error) == (None, None, None))
    );
    assert!(
        leaderboard.notes.iter().any(|note| note.to_string().contains("such as a single tie")),
        "{:?}",
        leaderboard.notes
    );
}

#[test]
fn a_model_whose_only_vote_equals_its_prediction_has_no_interval_and_no_certain_rank() {
    let others = [("a", "b", AWins, 30), ("a", "b", BWins, 10), ("b", "c", AWins, 30), ("b", "c", BWins, 10)];
    for interval in [IntervalMethod::Sandwich, IntervalMethod::Cluster] {
        let options = LeaderboardOptions { interval, ..LeaderboardOptions::default() };
        let mut log = log_of(&[&others[..], &[("a", "new", Tie, 1)]].concat());
        let mut voters = Labels::default();
        (0..log.len()).for_each(|vote| voters.push(Some(&format!("voter {vote}"))));
        log.voters = Some(voters);
        let leaderboard = leaderboard_of(&log, &options);
        let new = line(&leaderboard, "new");
        assert_eq!((new.lower, new.upper, new.standard_error, new.shown_rank(interval)), (None, None, None, None));
        assert_eq!(
            (line(&leaderboard, "b").rank, line(&leaderboard, "c").rank),
            (2, 3),
            "{interval:?}: nothing is certain of it"
        );
        assert!(line(&leaderboard, "a").lower.is_some());
        assert!(
            leaderboard.notes.iter().any(|note| note.to_string().contains("equals its prediction")),
            "{:?}",
            leaderboard.notes
        );
    }
}

#[test]
fn a_perfect_cycle_rates_all_models_at_the_mean() {
    let votes = [("a", "b", AWins, 2), ("b", "c", AWins, 2), ("c", "a", AWins, 2)];
    check(&votes, &[("a", 1000.0), ("b", 1000.0), ("c", 1000.0)]);
}

#[test]
fn unusual_names_are_unchanged() {
    let votes = [("say \"hi\", ok", "通义千问", Tie, 1), ("通义千问", " Ärger\t", Tie, 1)];
    check(&votes, &[(" Ärger\t", 1000.0), ("say \"hi\", ok", 1000.0), ("通义千问", 1000.0)]);
}

#[test]
fn no_votes_give_an_empty_leaderboard_with_a_note() {
    let log = VoteLog { voters: Some(Labels::default()), ..VoteLog::default() };
    for options in every_method() {
        let leaderboard = leaderboard_of(&log, &options);
        assert!(leaderboard.models.is_empty() && leaderboard.converged);
        assert_eq!((leaderboard.votes.read, leaderboard.components), (0, 0));
        assert!(leaderboard.notes[0].to_string().contains("no rated votes"), "{:?}", leaderboard.notes);
    }
}

#[test]
fn a_model_against_itself_is_refused_and_not_counted() {
    let mut comparisons = ComparisonSet::new();
    let error = comparisons.record("a", "a", AWins).unwrap_err();
    assert!(error.to_string().contains("\"a\" is compared with itself"), "{error}");
    assert!(comparisons.is_empty() && comparisons.models().is_empty());
}
