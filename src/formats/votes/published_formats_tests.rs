//! The published formats, each from a small file in its schema: `tests/data/votes`.

use std::path::{Path, PathBuf};

use super::tests::{EVERYTHING, lines_of};
use super::*;
use crate::domain::rating::votes::slice::Slice;
use crate::domain::rating::votes::vote_log::Labels;

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/votes").join(name)
}

fn read(name: &str) -> VoteLog {
    read_log(&[sample(name)], EVERYTHING, &ReadOptions::default()).unwrap()
}

/// The votes of the samples in the order of their times.
const IN_ORDER: [&str; 4] = [
    "aster-7b AWins birch-13b",
    "cedar, large BothBad aster-7b",
    "birch-13b Tie cedar, large",
    "aster-7b BWins cedar, large",
];

/// Replaces "both bad" by a tie, for formats without it.
fn as_ties(votes: &[&str]) -> Vec<String> {
    votes.iter().map(|vote| vote.replace("BothBad", "Tie")).collect()
}

#[track_caller]
fn labels(labels: &Option<Labels>) -> Vec<&str> {
    let labels = labels.as_ref().unwrap();
    labels.rows.iter().map(|&row| labels.names.as_slice().get(row as usize).map_or("", String::as_str)).collect()
}

/// Voters, times and turns of the samples.
#[track_caller]
fn check_details(log: &VoteLog) {
    assert_eq!(labels(&log.voters), ["judge-1", "judge-1", "judge-2", "judge-3"]);
    assert_eq!(log.seconds.as_deref(), Some(&[1000.5, 2000.25, 3000.0, 4000.0][..]));
}

/// The counts of the samples, whose rows are numbered from 0 in the order of the file.
#[track_caller]
fn check_style(log: &VoteLog) {
    let style = log.style.as_ref().unwrap();
    assert_eq!(style.tokens(), [[0, 10], [20, 30], [10, 20], [30, 40]]);
    assert_eq!(style.headings(), [[1, 2], [3, 4], [2, 3], [4, 5]]);
    assert_eq!(style.lists(), [[2, 3], [4, 5], [3, 4], [5, 6]]);
    assert_eq!(style.bold(), [[3, 4], [5, 6], [4, 5], [6, 7]]);
}

#[test]
fn fastchat_clean_battles_are_read_and_named_ones_left_out() {
    let log = read("fastchat_clean_battle.json");
    assert_eq!(lines_of(&log), IN_ORDER);
    assert_eq!(log.excluded, [("named_mode".to_owned(), 1)].into());
    assert_eq!(labels(&log.languages), ["English", "German", "Chinese", "English"]);
    assert_eq!(log.turns.as_deref(), Some(&[1, 1, 2, 3][..]));
    check_details(&log);
}

#[test]
fn lmarena_33k_is_read() {
    let log = read("lmarena_33k.parquet");
    assert_eq!(lines_of(&log), IN_ORDER);
    assert_eq!(log.turns.as_deref(), Some(&[1, 1, 2, 3][..]));
    assert_eq!((log.style.is_none(), log.pair_probabilities.is_none()), (true, true));
    check_details(&log);
}

#[test]
fn lmarena_55k_has_a_flag_for_each_outcome() {
    let log = read("lmarena_55k.csv");
    let in_file_order = [IN_ORDER[0], IN_ORDER[2], IN_ORDER[1], IN_ORDER[3]];
    assert_eq!(lines_of(&log), as_ties(&in_file_order));
    assert!(log.seconds.is_none() && log.voters.is_none());
}

#[test]
fn lmarena_100k_is_read_with_its_counts_and_tags() {
    let log = read("lmarena_100k.parquet");
    assert_eq!(lines_of(&log), IN_ORDER);
    assert_eq!(labels(&log.categories), ["creative_writing", "creative_writing,math", "", "coding,math"]);
    assert_eq!(log.prompt_tokens.as_deref(), Some(&[0, 200, 100, 300][..]));
    assert_eq!(labels(&log.languages), ["English", "German", "Chinese", "English"]);
    assert_eq!(log.turns.as_deref(), Some(&[1, 1, 2, 3][..]));
    check_style(&log);
    check_details(&log);
    let math = Slice { category: Some("math".into()), ..Slice::default() }.take(log).unwrap();
    assert_eq!(lines_of(&math), [IN_ORDER[1], IN_ORDER[3]], "a vote may have several tags");
}

#[test]
fn lmarena_140k_is_read_with_its_sessions_as_voters() {
    let log = read("lmarena_140k.parquet");
    assert_eq!(lines_of(&log), IN_ORDER);
    assert_eq!(labels(&log.languages), ["en", "de", "zh", "en"]);
    assert_eq!(labels(&log.categories), ["creative_writing", "creative_writing,math", "", "coding,math"]);
    assert_eq!(log.turns.as_deref(), Some(&[1, 1, 2, 3][..]), "which stand in the metadata");
    assert_eq!(log.prompt_tokens.as_deref(), Some(&[0, 200, 100, 300][..]));
    check_style(&log);
    check_details(&log);
}

#[test]
fn comparia_names_the_model_that_was_chosen_and_who_chose_none_is_left_out() {
    for (name, begin) in
        [("comparia_votes.parquet", 0.0), ("comparia_votes.tsv.gz", 0.0), ("comparia_votes.jsonl", 1_700_000_000.0)]
    {
        let mut log = read(name);
        assert_eq!(lines_of(&log), as_ties(&IN_ORDER), "{name}");
        assert_eq!(log.excluded, [("no_choice".to_owned(), 2)].into(), "{name}");
        assert_eq!(log.turns.as_deref(), Some(&[1, 1, 2, 3][..]));
        log.seconds.iter_mut().flatten().for_each(|seconds| *seconds -= begin);
        check_details(&log);
    }
}

#[test]
fn open_webui_makes_a_vote_of_each_model_beside_the_rated_one() {
    let log = read("open_webui_feedback.json");
    let expected = [IN_ORDER[0], IN_ORDER[3], "aster-7b AWins birch-13b", "aster-7b AWins cedar, large"];
    assert_eq!(lines_of(&log), expected);
    assert_eq!(log.excluded, [("no_opponent".to_owned(), 2), ("no_rating".to_owned(), 1)].into());
    assert_eq!(labels(&log.voters), ["judge-1", "judge-3", "judge-9", "judge-9"]);
    assert_eq!(labels(&log.categories), ["science"; 4]);
    assert_eq!(log.seconds.as_deref(), Some(&[1000.0, 4000.0, 5000.0, 5000.0][..]));
}

#[test]
fn our_own_log_is_read_and_its_exclusions_kept() {
    let log = read("langya.jsonl");
    assert_eq!(lines_of(&log), [IN_ORDER[0], IN_ORDER[1], IN_ORDER[3]]);
    assert_eq!(log.excluded, [("identity_leak".to_owned(), 1)].into());
    assert_eq!(labels(&log.categories), ["coding"; 3]);
    assert_eq!(log.pair_probabilities.as_deref(), Some(&[0.25; 3][..]));
    assert_eq!(log.style.unwrap().headings(), [[1, 2], [3, 4], [4, 5]]);
    assert!(log.intents.is_none() && log.prompt_tokens.is_none());
}

#[test]
fn files_of_several_formats_make_one_log() {
    let paths = ["fastchat_clean_battle.json", "lmarena_140k.parquet"].map(sample);
    let log = read_log(&paths, EVERYTHING, &ReadOptions::default()).unwrap();
    let twice: Vec<&str> = IN_ORDER.iter().flat_map(|vote| [*vote, *vote]).collect();
    assert_eq!(lines_of(&log), twice);
    assert_eq!(log.models.as_slice().len(), 3);
}
