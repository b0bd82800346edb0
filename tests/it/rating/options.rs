//! Options of a leaderboard: dropped ties, an anchor, Elo; and its fields.

use langya::domain::battle::Outcome::{AWins, BothBad, Tie};
use langya::domain::rating::FitError;
use langya::domain::rating::counts::comparison::Comparison;
use langya::domain::rating::leaderboards::leaderboard::Leaderboard;
use langya::domain::rating::leaderboards::ranking::rank_log;
use langya::domain::rating::options::{Anchor, IntervalMethod, LeaderboardOptions, Method};
use langya::domain::rating::strengths::elo::EloTable;
use langya::domain::rating::votes::scoring::{BothBadRule, Scoring, TieRule};

use super::{BALANCED, leaderboard};
use crate::support::ratings::{leaderboard_of, line, log_of, points};

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
