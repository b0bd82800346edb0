//! `langya agree` as a user runs it: votes with verdicts, scores with scores, and files that nobody should trust.

mod input_files;
mod intervals;
mod scores;
mod votes;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::correlation::correlate::{close, found};
use crate::support::program::{Run, langya};

/// A folder with people's file and the judge's.
fn files(people: &str, judge: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("people.csv"), people).unwrap();
    std::fs::write(folder.path().join("judge.csv"), judge).unwrap();
    folder
}

fn agree(folder: &TempDir, more: &[&str]) -> Run {
    langya(folder.path(), ["agree", "--votes", "people.csv", "--verdicts", "judge.csv"].iter().chain(more))
}

#[track_caller]
fn result(folder: &TempDir, more: &[&str]) -> Value {
    found(&agree(folder, &[more, &["--format", "json"]].concat()))
}

#[track_caller]
fn share(statistics: &Value, of: u64, total: u64) {
    assert_eq!([&statistics["agree"], &statistics["total"]], [&json!(of), &json!(total)], "{statistics}");
}

/// A kappa and how many items it rests on and leaves out.
#[track_caller]
fn kappa(statistics: &Value, value: f64, items: u64, excluded: u64) {
    close(&statistics["kappa"], value);
    assert_eq!([&statistics["items"], &statistics["excluded"]], [&json!(items), &json!(excluded)], "{statistics}");
}

#[track_caller]
fn nothing(statistics: &Value, number: &str, reason: &str) {
    assert!(statistics[number].is_null(), "{statistics}");
    let undefined = statistics["undefined"].as_str().unwrap_or_else(|| panic!("no reason: {statistics}"));
    assert!(undefined.contains(reason), "{undefined}");
}
