//! Ratings: goldens of independent implementations, edge cases and invariances.

use std::collections::BTreeSet;
use std::path::Path;

use langya::domain::battle::Outcome::{self, AWins, BWins, BothBad, Tie};
use langya::domain::rating::FitError;
use langya::domain::rating::bradley_terry::fit;
use langya::domain::rating::comparison::Comparison;
use langya::domain::rating::comparison::ComparisonSet;
use langya::domain::rating::elo::EloTable;
use langya::domain::rating::fit::Direction;
use langya::domain::rating::fit::ModelStrength;
use langya::domain::rating::leaderboard::{Leaderboard, RankedModel};
use langya::domain::rating::options::{Anchor, IntervalMethod, LeaderboardOptions, Method};
use langya::domain::rating::ranking::{rank, rank_log};
use langya::domain::rating::scoring::{BothBadRule, Scoring, TieRule};
use langya::domain::rating::tally::Tally;
use langya::domain::rating::vote_log::{InternedTexts, Labels, VoteLog};
use proptest::prelude::*;

use crate::support::ratings::{
    Votes, agree, connected_votes, leaderboard_of, line, log_of, points, read_votes, recorded, shared,
};

// ---------------------------------------------------------------------------------------------------- goldens

#[track_caller]
fn check_goldens(votes: &Path, golden: &Path) {
    let log = read_votes(votes);
    let by_votes = LeaderboardOptions { interval: IntervalMethod::Sandwich, ..LeaderboardOptions::default() };
    let leaderboard = leaderboard_of(&log, &by_votes);
    agree(&leaderboard, &golden.join("bt.csv"), "exact", 1e-6, |model| model.rating_or_limit());
    agree(&leaderboard, &golden.join("elo_online.csv"), "exact", 1e-6, |model| model.elo);
    let sandwich = golden.join("sandwich.csv");
    agree(&leaderboard, &sandwich, "exact_lower", 1e-6, |model| model.lower.unwrap());
    agree(&leaderboard, &sandwich, "exact_upper", 1e-6, |model| model.upper.unwrap());
    agree(&leaderboard, &sandwich, "exact_rank_ub", 0.0, |model| f64::from(u32::try_from(model.rank).unwrap()));
    let rates = golden.join("avg_win_rate.csv");
    agree(&leaderboard, &rates, "exact_predicted", 1e-9, |model| model.average_win_rate.unwrap());
    agree(&leaderboard, &rates, "exact_empirical_half_ties", 1e-9, |model| model.empirical_win_rate.unwrap());
    let models = golden.join("models.csv");
    for (column, count) in [
        ("battles", (|model| model.battles) as fn(&RankedModel) -> u64),
        ("wins", |model| model.wins),
        ("losses", |model| model.losses),
        ("ties", |model| model.ties),
        ("both_bad", |model| model.both_bad),
    ] {
        agree(&leaderboard, &models, column, 0.0, |model| f64::from(u32::try_from(count(model)).unwrap()));
    }
    assert!(leaderboard.converged && leaderboard.components == 1 && leaderboard.notes.is_empty(), "{leaderboard:?}");
}

#[test]
fn llmfao_agrees_with_the_exact_results() {
    let Some(shared) = shared() else { return };
    check_goldens(&shared.join("data/llmfao.csv"), &shared.join("golden/llmfao"));
}

#[test]
fn the_sparse_simulation_agrees_with_the_exact_results() {
    let Some(shared) = shared() else { return };
    check_goldens(&shared.join("data/synth_5000.csv"), &shared.join("golden/synth_5000"));
}

#[test]
fn the_small_fixture_agrees_with_fifty_digit_results() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let log = read_votes(&data.join("small_votes.csv"));
    let leaderboard = leaderboard_of(&log, &LeaderboardOptions::default());
    let expected = data.join("small_expected.csv");
    agree(&leaderboard, &expected, "rating", 1e-9, |model| model.rating_or_limit());
    agree(&leaderboard, &expected, "lower", 1e-9, |model| model.lower.unwrap());
    agree(&leaderboard, &expected, "upper", 1e-9, |model| model.upper.unwrap());
    agree(&leaderboard, &expected, "elo", 1e-9, |model| model.elo);
    agree(&leaderboard, &expected, "rank", 0.0, |model| f64::from(u32::try_from(model.rank).unwrap()));
    assert_eq!(leaderboard.models[0].model, "Ärger 7B");
}

// ------------------------------------------------------------------------------------------------- hard cases

fn leaderboard(votes: &Votes) -> Leaderboard {
    leaderboard_of(&log_of(votes), &LeaderboardOptions::default())
}

/// Every method and interval method of Bradley–Terry. Each vote has its own voter.
fn every_method() -> [LeaderboardOptions; 5] {
    let by = |interval| LeaderboardOptions { interval, ..LeaderboardOptions::default() };
    let scoring = Scoring { ties: TieRule::Davidson, ..Scoring::default() };
    [
        by(IntervalMethod::Sandwich),
        by(IntervalMethod::Cluster),
        by(IntervalMethod::Bootstrap),
        LeaderboardOptions { scoring, ..by(IntervalMethod::Sandwich) },
        LeaderboardOptions { scoring, ..by(IntervalMethod::Bootstrap) },
    ]
}

/// The ratings, in the order of the leaderboard, by every method.
#[track_caller]
fn check(votes: &Votes, expected: &[(&str, f64)]) {
    let mut log = log_of(votes);
    log.voters = Some(Labels::default());
    let voters = log.voters.as_mut().unwrap();
    voters.rows = (0..log.outcomes.len()).map(|row| voters.names.position(&row.to_string())).collect();
    for options in every_method() {
        check_leaderboard(&leaderboard_of(&log, &options), expected);
    }
}

#[track_caller]
fn check_leaderboard(leaderboard: &Leaderboard, expected: &[(&str, f64)]) {
    let names: Vec<&str> = leaderboard.models.iter().map(|line| line.model.as_str()).collect();
    assert_eq!(names, expected.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    for (line, (name, rating)) in leaderboard.models.iter().zip(expected) {
        assert!(
            (line.rating_or_limit() - rating).abs() < 1e-9,
            "{name}: {} instead of {rating}",
            line.rating_or_limit()
        );
    }
    assert!(leaderboard.converged, "{leaderboard:?}");
}

/// The 95 % likelihood-ratio limit, in points, of a model that won `wins` votes against an opponent at the mean.
fn limit_points(wins: f64) -> f64 {
    let chi_square: f64 = 3.841_458_820_694_124;
    -points((chi_square / (2.0 * wins)).exp_m1())
}

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

const BALANCED: [(&str, &str, Outcome, u32); 3] = [("b", "c", AWins, 6), ("b", "c", BWins, 3), ("c", "d", Tie, 2)];

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

#[test]
fn a_winner_over_a_single_model_is_measured_against_it() {
    let votes = [("b", "c", Tie, 2), ("b", "loser", AWins, 3), ("odd", "loser", AWins, 1), ("first", "odd", AWins, 4)];
    let leaderboard = leaderboard(&votes);
    let (odd, first) = (line(&leaderboard, "odd"), line(&leaderboard, "first"));
    assert_eq!((odd.component, odd.unbounded), (1, None));
    assert_eq!((first.component, first.unbounded), (1, Some(Direction::Above)));
    assert!((first.rating_or_limit() - 1000.0 - limit_points(4.0)).abs() < 1e-6, "{first:?}");
}

#[test]
fn dropped_ties_are_in_no_sum_and_count_as_excluded() {
    let log = log_of(&[("a", "b", AWins, 3), ("b", "a", AWins, 1), ("a", "b", Tie, 5), ("b", "c", BothBad, 2)]);
    let scoring = Scoring { ties: TieRule::Drop, both_bad: BothBadRule::Drop };
    let leaderboard = leaderboard_of(&log, &LeaderboardOptions { scoring, ..LeaderboardOptions::default() });
    assert_eq!((leaderboard.votes.read, leaderboard.votes.rated), (11, 4));
    assert_eq!((leaderboard.votes.excluded["tie_dropped"], leaderboard.votes.excluded["both_bad_dropped"]), (5, 2));
    assert_eq!(leaderboard.models.len(), 2, "c has no rated vote");
    let a = line(&leaderboard, "a");
    assert!((a.rating_or_limit() - 1000.0 - points(3.0) / 2.0).abs() < 1e-9);
    let four_only = log_of(&[("a", "b", AWins, 3), ("b", "a", AWins, 1)]);
    let elo = EloTable::from_log(&four_only, Scoring::default()).rating(0);
    assert!((a.elo - elo).abs() < 1e-12, "Elo leaves them out as well: {} and {elo}", a.elo);
    assert_eq!((a.battles, a.ties), (4, 0));
    assert!((a.win_tie_rate - 0.75).abs() < 1e-15);
}

#[test]
fn an_anchor_moves_its_component_to_its_rating() {
    let log = log_of(&BALANCED);
    let free = leaderboard_of(&log, &LeaderboardOptions::default());
    let anchor = Some(Anchor { model: "c".into(), rating: 1200.0 });
    for method in [Method::Bt, Method::Elo] {
        let options = LeaderboardOptions { method, anchor: anchor.clone(), ..LeaderboardOptions::default() };
        assert!((line(&leaderboard_of(&log, &options), "c").rating_or_limit() - 1200.0).abs() < 1e-9);
    }
    let options = LeaderboardOptions { anchor, ..LeaderboardOptions::default() };
    let held = leaderboard_of(&log, &options);
    let shift = 1200.0 - line(&free, "c").rating_or_limit();
    assert!((line(&held, "b").lower.unwrap() - line(&free, "b").lower.unwrap() - shift).abs() < 1e-9);
}

#[test]
fn an_invalid_anchor_is_refused() {
    let log = log_of(&[&BALANCED[..], &[("a", "b", AWins, 2)]].concat());
    let refuse = |model: &str, rating: f64| {
        let anchor = Some(Anchor { model: model.into(), rating });
        rank_log(&log, &LeaderboardOptions { anchor, ..LeaderboardOptions::default() }).unwrap_err()
    };
    assert!(matches!(refuse("nobody", 1000.0), FitError::UnknownAnchor(_)));
    assert!(matches!(refuse("a", 1000.0), FitError::UnboundedAnchor(_)));
    assert!(matches!(refuse("b", f64::NAN), FitError::AnchorRating(_)));
}

#[test]
fn elo_as_the_method_ranks_by_elo_without_intervals() {
    let log = log_of(&BALANCED);
    let leaderboard =
        leaderboard_of(&log, &LeaderboardOptions { method: Method::Elo, ..LeaderboardOptions::default() });
    assert_eq!((leaderboard.interval, leaderboard.iterations, leaderboard.components), (IntervalMethod::None, 0, 1));
    for model in &leaderboard.models {
        assert!((model.rating_or_limit() - model.elo).abs() < 1e-9);
        assert_eq!(model.lower, None);
    }
    assert_eq!(leaderboard.models.iter().map(|line| line.rank).collect::<Vec<_>>(), [1, 2, 3]);
}

#[test]
fn the_elo_change_of_a_vote_is_the_same_before_and_after_counting() {
    let log = log_of(&[("a", "b", AWins, 1), ("b", "a", AWins, 1)]);
    let (mut elo, scoring) = (EloTable::default(), Scoring::default());
    let vote = |row: usize| Comparison { a: log.a[row], b: log.b[row], outcome: log.outcomes[row] };
    let first = elo.record(vote(0), scoring);
    assert!((first - 2.0).abs() < 1e-12, "half of K: {first}");
    let predicted = elo.change(1, 0, AWins);
    let second = elo.record(vote(1), scoring);
    assert_eq!(second.to_bits(), predicted.to_bits());
    assert!((elo.rating(1) - (998.0 + predicted)).abs() < 1e-12);
    assert!((elo.rating(0) + elo.rating(1) - 2000.0).abs() < 1e-12);
    assert!((elo.rating(7) - 1000.0).abs() < 1e-12, "a model without a vote is at the start");
}

#[test]
fn few_votes_are_marked_provisional() {
    let votes = [("a", "b", AWins, 20), ("b", "a", AWins, 12), ("b", "c", Tie, 2)];
    let leaderboard = leaderboard(&votes);
    let marked: Vec<_> = leaderboard.models.iter().map(|line| (line.model.as_str(), line.provisional)).collect();
    assert!(marked.contains(&("a", false)) && marked.contains(&("b", false)) && marked.contains(&("c", true)));
}

#[test]
fn a_leaderboard_has_the_documented_fields_in_order() {
    let text = serde_json::to_string(&leaderboard(&BALANCED)).unwrap();
    let order = |keys: &[&str], text: &str| {
        let places: Vec<_> = keys.iter().map(|key| text.find(&format!("\"{key}\":")).expect(key)).collect();
        assert!(places.is_sorted(), "{keys:?} in {text}");
    };
    let top = ["method", "interval", "confidence", "converged", "iterations", "log_likelihood", "votes", "components"];
    order(&[&top[..], &["models", "style"]].concat(), &text);
    let line = ["model", "rank", "rating", "lower", "upper", "elo", "battles", "wins", "losses", "ties", "both_bad"];
    let rest = ["win_tie_rate", "average_win_rate", "component", "provisional"];
    order(&[&line[..], &rest].concat(), &text[text.find("\"models\"").unwrap()..]);
    let back: Leaderboard = serde_json::from_str(&text).unwrap();
    assert_eq!(back.models.len(), 3);
}

// ------------------------------------------------------------------------------------------------- properties

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
