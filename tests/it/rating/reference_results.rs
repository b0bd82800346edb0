//! Ratings agree with results that other programs computed with more digits.

use std::path::Path;

use langya::domain::rating::leaderboards::leaderboard::RankedModel;
use langya::domain::rating::options::{IntervalMethod, LeaderboardOptions};

use crate::support::ratings::{agree, leaderboard_of, read_votes, shared};

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
