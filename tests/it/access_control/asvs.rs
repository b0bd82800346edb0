//! The table of security requirements names tests and files that are there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const TABLE: &str = include_str!("../../../deploy/ASVS.md");

struct Row {
    requirements: Vec<[u32; 3]>,
    answer: String,
    evidence: Vec<String>,
}

fn rows() -> Vec<Row> {
    let lines = TABLE.lines().filter(|line| line.starts_with("| ") && line.as_bytes()[2].is_ascii_digit());
    lines.map(row).collect()
}

#[track_caller]
fn row(line: &str) -> Row {
    let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
    assert_eq!(cells.len(), 4, "{line}");
    let number = |text: &str| {
        let parts: Vec<u32> = text.split('.').map(|part| part.parse().unwrap_or_else(|_| panic!("{line}"))).collect();
        parts.try_into().unwrap_or_else(|_| panic!("{line}"))
    };
    Row {
        requirements: cells[0].split(", ").map(number).collect(),
        answer: cells[1].to_owned(),
        evidence: evidence(cells[3]),
    }
}

/// What stands in backquotes (a test or a file) or in quotes (a test in the browser).
fn evidence(cell: &str) -> Vec<String> {
    let between = |mark: char| cell.split(mark).skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    [between('`'), between('"')].concat()
}

/// The texts of all sources and tests.
fn sources() -> String {
    let mut text = String::new();
    for folder in ["src", "tests/it", "tests/browser"] {
        read(&Path::new(ROOT).join(folder), &mut text);
    }
    text
}

fn read(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path: PathBuf = entry.unwrap().path();
        let is_source = path.extension().is_some_and(|kind| kind == "rs" || kind == "mjs");
        if path.is_dir() && !path.ends_with("node_modules") {
            read(&path, text);
        } else if is_source && !path.ends_with("asvs.rs") {
            *text += &fs::read_to_string(path).unwrap();
        }
    }
}

fn is_there(evidence: &str, sources: &str) -> bool {
    let is_test = !evidence.contains(['/', '.', ' ']) && sources.contains(&format!("fn {evidence}("));
    let in_browser =
        evidence.contains(' ') && ['"', '\'', '`'].iter().any(|q| sources.contains(&format!("test({q}{evidence}{q}")));
    is_test || in_browser || (evidence.contains(['/', '.']) && Path::new(ROOT).join(evidence).is_file())
}

#[test]
fn every_requirement_that_holds_names_a_test_or_file_that_is_there() {
    let (sources, mut missing) = (sources(), Vec::new());
    for row in rows() {
        let known = ["holds", "partly", "open", "not applicable"];
        assert!(known.contains(&row.answer.as_str()), "{:?}: {}", row.requirements, row.answer);
        assert_eq!(row.evidence.is_empty(), row.answer == "open", "{:?}", row.requirements);
        missing.extend(row.evidence.into_iter().filter(|evidence| !is_there(evidence, &sources)));
    }
    assert!(missing.is_empty(), "not there: {missing:#?}");
    assert!(!is_there("a_test_that_nobody_wrote", &sources) && !is_there("src/nothing.rs", &sources));
}

#[test]
fn requirements_come_once_and_in_order() {
    let all: Vec<[u32; 3]> = rows().into_iter().flat_map(|row| row.requirements).collect();
    let chapters: BTreeSet<u32> = all.iter().map(|requirement| requirement[0]).collect();
    assert_eq!(chapters, (1..=16).collect());
    let distinct: BTreeSet<_> = all.iter().collect();
    assert_eq!(distinct.len(), all.len(), "one comes twice");
    let firsts: Vec<[u32; 3]> = rows().iter().map(|row| row.requirements[0]).collect();
    assert!(firsts.is_sorted(), "{firsts:?}");
}
