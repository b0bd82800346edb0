//! Rate of marked replies in published data sets; skipped if these are not beside the project.

use std::path::PathBuf;

use super::tests::names;
use super::*;

/// Reads the prompts of each data set with their replies; `None` without the folder.
fn published(file: &str) -> Option<Vec<(String, String)>> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let path = std::env::var_os("LANGYA_SHARED").map_or_else(beside, PathBuf::from).join("data").join(file);
    let text = std::fs::read_to_string(path).ok()?;
    let field = |value: &serde_json::Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let turns = |line: &str| -> Vec<(String, String)> {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let history = row["history"].as_array().into_iter().flatten();
        let dialogue = history.map(|turn| (field(turn, "user"), field(turn, "bot")));
        let single = [(field(&row, "question"), field(&row, "reference"))];
        dialogue.chain(single).filter(|(_, reply)| !reply.is_empty()).collect()
    };
    if file.ends_with(".csv") {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        return Some(reader.records().flatten().map(|row| (row[0].to_owned(), row[1].to_owned())).collect());
    }
    Some(text.lines().flat_map(turns).collect())
}

/// Number of replies in these data sets in which a model identifies itself, found by hand.
const SAY_WHO: usize = 12;

#[test]
fn hardly_any_published_reply_is_marked_that_says_nothing_of_its_author() {
    let files = ["mtbench101.jsonl", "alignbench_v1.1.jsonl", "urs.csv"];
    let Some(sets) = files.into_iter().map(published).collect::<Option<Vec<_>>>() else {
        println!("skipped: no published replies beside the project");
        return;
    };
    let names = names();
    let rows: Vec<&(String, String)> = sets.iter().flatten().collect();
    let marked = rows.iter().filter(|(prompt, reply)| {
        let turn = TurnTexts { turn: 1, prompt, replies: ["Fine.", reply], reasoning: [""; 2] };
        let found = find_leaks(&names, ["one", "nightjar-7b"], &[turn], LeakSearch::RulesAndWeights);
        let is_marked = found.iter().any(|leak| leak.place == LeakPlace::Reply(Side::B));
        if is_marked {
            println!(
                "{prompt}
  {reply}"
            );
        }
        is_marked
    });
    let marked = marked.count();
    println!("published replies: {marked} of {} are marked, {SAY_WHO} of them say who wrote them", rows.len());
    assert!(marked <= SAY_WHO + rows.len() / 1000, "{marked} are marked");
}
