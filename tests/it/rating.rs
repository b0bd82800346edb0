//! Ratings against independent results: goldens of the field, the hard cases, and what must not matter.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use langya::battle::Outcome::{self, AWins, BWins, BothBad, Tie};
use langya::rating::FitError;
use langya::rating::bradley_terry::{Direction, Standing, fit};
use langya::rating::comparison::{ComparisonSet, Scoring, TieRule};
use langya::rating::elo::EloTable;
use langya::rating::leaderboard::{Anchor, IntervalMethod, Leaderboard, LeaderboardOptions, Method, RankedModel, rank};
use langya::services::vote_file::read_votes;
use proptest::prelude::*;

// ---------------------------------------------------------------------------------------------------- goldens

/// Reference votes and results that are too large to keep here: beside the checkout, or where `LANGYA_SHARED` says.
fn shared() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let folder = std::env::var_os("LANGYA_SHARED").map_or_else(beside, PathBuf::from);
    if folder.join("golden").is_dir() {
        return Some(folder);
    }
    println!("skipped: no reference results at {}", folder.display());
    None
}

/// A column of a golden file by model.
fn golden(file: &Path, column: &str) -> BTreeMap<String, f64> {
    let mut reader = csv::Reader::from_path(file).unwrap();
    let header = reader.headers().unwrap().clone();
    let place = header.iter().position(|name| name == column).unwrap_or_else(|| panic!("no {column} in {file:?}"));
    reader
        .records()
        .map(|row| row.unwrap())
        .map(|row| {
            (row[header.iter().position(|name| name == "model").unwrap()].to_owned(), row[place].parse().unwrap())
        })
        .collect()
}

#[track_caller]
fn agree(board: &Leaderboard, file: &Path, column: &str, tolerance: f64, value: impl Fn(&RankedModel) -> f64) {
    let expected = golden(file, column);
    assert_eq!(board.models.len(), expected.len());
    for model in &board.models {
        let (got, want) = (value(model), expected[&model.model]);
        assert!((got - want).abs() <= tolerance, "{column} of {}: {got} instead of {want}", model.model);
    }
}

#[track_caller]
fn agree_with_goldens(votes: &Path, golden: &Path) {
    let comparisons = read_votes(&[votes]).unwrap();
    let board = board_of(&comparisons, &LeaderboardOptions::default());
    agree(&board, &golden.join("bt.csv"), "exact", 1e-6, |model| model.rating);
    agree(&board, &golden.join("elo_online.csv"), "exact", 1e-6, |model| model.elo);
    let sandwich = golden.join("sandwich.csv");
    agree(&board, &sandwich, "exact_lower", 1e-6, |model| model.lower.unwrap());
    agree(&board, &sandwich, "exact_upper", 1e-6, |model| model.upper.unwrap());
    agree(&board, &sandwich, "exact_rank_ub", 0.0, |model| f64::from(u32::try_from(model.rank).unwrap()));
    agree(&board, &golden.join("avg_win_rate.csv"), "exact_predicted", 1e-9, |model| model.average_win_rate.unwrap());
    let models = golden.join("models.csv");
    for (column, count) in [
        ("battles", (|model| model.battles) as fn(&RankedModel) -> u64),
        ("wins", |model| model.wins),
        ("losses", |model| model.losses),
        ("ties", |model| model.ties),
        ("both_bad", |model| model.both_bad),
    ] {
        agree(&board, &models, column, 0.0, |model| f64::from(u32::try_from(count(model)).unwrap()));
    }
    assert!(board.converged && board.components == 1 && board.notes.is_empty(), "{board:?}");
}

#[test]
fn llmfao_agrees_with_the_exact_results() {
    let Some(shared) = shared() else { return };
    agree_with_goldens(&shared.join("data/llmfao.csv"), &shared.join("golden/llmfao"));
}

#[test]
fn the_sparse_simulation_agrees_with_the_exact_results() {
    let Some(shared) = shared() else { return };
    agree_with_goldens(&shared.join("data/synth_5000.csv"), &shared.join("golden/synth_5000"));
}

fn board_of(comparisons: &ComparisonSet, options: &LeaderboardOptions) -> Leaderboard {
    let elo = EloTable::replay(comparisons, options.scoring);
    rank(comparisons, &elo, options).unwrap()
}
