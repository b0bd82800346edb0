//! Reference results of ratings, and votes to rate.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use langya::domain::battle::Outcome::{self, Tie};
use langya::domain::rating::leaderboards::leaderboard::{Leaderboard, RankedModel};
use langya::domain::rating::leaderboards::ranking::rank_log;
use langya::domain::rating::options::LeaderboardOptions;
use langya::domain::rating::votes::vote_log::{ColumnSet, VoteLog};
use langya::formats::votes::{ReadOptions, read_log};
use proptest::prelude::*;
use serde_json::Value;

/// Returns the folder of reference votes and results too large for the repository: `../shared`, or `LANGYA_SHARED`. A test that needs them
/// is skipped without them; with `LANGYA_TESTS=all` it fails, unless `LANGYA_SHARED=none` leaves them out.
pub(crate) fn shared() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let folder = std::env::var_os("LANGYA_SHARED").map_or_else(beside, PathBuf::from);
    if folder.join("golden").is_dir() {
        return Some(folder);
    }
    let left_out = folder.as_os_str() == "none";
    let all = std::env::var("LANGYA_TESTS").as_deref() == Ok("all");
    assert!(left_out || !all, "no reference results at {}; LANGYA_SHARED=none leaves them out", folder.display());
    println!("skipped: no reference results at {}", folder.display());
    None
}

pub(crate) fn read_votes(path: &Path) -> VoteLog {
    read_log(&[path], ColumnSet::default(), &ReadOptions::default()).unwrap()
}

/// Reads a column of a golden file by model.
pub(crate) fn golden(file: &Path, column: &str) -> BTreeMap<String, f64> {
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
pub(crate) fn agree(
    leaderboard: &Leaderboard,
    file: &Path,
    column: &str,
    tolerance: f64,
    value: impl Fn(&RankedModel) -> f64,
) {
    let expected = golden(file, column);
    assert_eq!(leaderboard.models.len(), expected.len());
    for model in &leaderboard.models {
        let (got, want) = (value(model), expected[&model.model]);
        assert!((got - want).abs() <= tolerance, "{column} of {}: {got} instead of {want}", model.model);
    }
}

/// Repeated votes: model A, model B, outcome, count.
pub(crate) type Votes = [(&'static str, &'static str, Outcome, u32)];

pub(crate) fn log_of(votes: &Votes) -> VoteLog {
    let mut log = VoteLog::default();
    for &(a, b, outcome, count) in votes {
        for _ in 0..count {
            log.push(a, b, outcome).unwrap();
        }
    }
    log
}

pub(crate) fn leaderboard_of(log: &VoteLog, options: &LeaderboardOptions) -> Leaderboard {
    let leaderboard = rank_log(log, options).unwrap();
    let json = serde_json::to_value(&leaderboard).unwrap();
    for model in json["models"].as_array().unwrap() {
        for field in ["elo", "win_tie_rate"] {
            assert!(model[field].is_number(), "{field} is not a finite number: {model}");
        }
        let places = ["rating", "at_least", "at_most"].map(|field| model.get(field).is_some_and(Value::is_number));
        let numbers = places.iter().filter(|is_number| **is_number).count();
        assert_eq!(numbers, 1, "one of rating, at_least and at_most is a finite number: {model}");
        assert_eq!(places[0], model["unbounded"].is_null(), "a rating stands where it has both bounds: {model}");
    }
    leaderboard
}

#[track_caller]
pub(crate) fn line<'leaderboard>(leaderboard: &'leaderboard Leaderboard, model: &str) -> &'leaderboard RankedModel {
    leaderboard.models.iter().find(|line| line.model == model).unwrap_or_else(|| panic!("no {model}"))
}

/// Converts odds to rating points.
pub(crate) fn points(odds: f64) -> f64 {
    400.0 * odds.log10()
}

/// Generates votes among up to eight models; every model ties with the next, so that the graph is strongly connected.
pub(crate) fn connected_votes() -> impl Strategy<Value = Vec<(u8, u8, Outcome)>> {
    let vote = (0..8_u8, 1..8_u8, prop::sample::select(Outcome::ALL.to_vec()));
    prop::collection::vec(vote, 0..120).prop_map(|mut votes| {
        votes.iter_mut().for_each(|vote| vote.1 = (vote.0 + vote.1) % 8);
        votes.extend((0..8).map(|model| (model, (model + 1) % 8, Tie)));
        votes
    })
}

pub(crate) fn recorded(votes: &[(u8, u8, Outcome)]) -> VoteLog {
    let mut log = VoteLog::default();
    for &(a, b, outcome) in votes {
        log.push(&format!("model {a}"), &format!("model {b}"), outcome).unwrap();
    }
    log
}
