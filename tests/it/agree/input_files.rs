//! Files of every kind, and files that are wrong, incomplete or hostile.

use std::path::Path;

use serde_json::{Value, json};

use super::votes::four_questions;
use super::{agree, files, nothing, result, share};
use crate::correlation::correlate::{close, found};
use crate::support::program::langya;

#[test]
fn files_that_cannot_be_compared_say_why() {
    let votes = "question,voter,model_a,model_b,winner\n1,ann,x,y,a\n";
    let scores = "item,model,annotator,score\n1,x,ann,3\n";
    for (people, judge, said) in [
        ("", votes, "people.csv: no column is called winner or outcome or verdict (for votes) or score (for scores)"),
        (votes, "model,score\nx,3\n", "judge.csv: no column is called question or question_id"),
        (votes, "question,model_a,winner\n", "judge.csv: no column is called model_b or right or model_2"),
        (votes, "question,model_a,model_b,winner\n1,x,y,both\n", "judge.csv: line 2: the winner \"both\""),
        (votes, "question,model_a,model_b,winner\n1,x,x,a\n", "line 2: both sides are the model \"x\""),
        (votes, "question,model_a,model_b,winner\n1,x,y\n", "judge.csv line 2: 3 fields where the header has 4"),
        (votes, scores, "people.csv holds votes and judge.csv scores"),
        (scores, votes, "judge.csv holds votes and people.csv scores"),
        (scores, "item,model,score\n1,x,3\n2,x,good\n", "judge.csv: line 3: the score \"good\" is not a finite number"),
        (scores, "item,model,score\n1,x,NaN\n", "line 2: the score \"NaN\""),
        (scores, "item,model,score\n1,x,1e999\n", "line 2: the score \"1e999\""),
        (scores, "item,score\n1,3\n", "judge.csv: no column is called model"),
    ] {
        let refused = agree(&files(people, judge), &[]);
        assert!(refused.code == Some(2) && refused.stderr.contains(said), "{people:?} {judge:?}: {}", refused.stderr);
        assert_eq!(refused.stdout, "");
    }
    let missing = langya(tempfile::tempdir().unwrap().path(), ["agree", "--votes", "no.csv", "--verdicts", "no.csv"]);
    assert!(missing.code == Some(2) && missing.stderr.contains("no.csv"), "{}", missing.stderr);
    let folder = files(votes, votes);
    for (arguments, said) in [
        (["--anchor", "8"], "judge.csv holds votes: the bias"),
        (["--anchor", "nan"], "an anchor of NaN points"),
        (["--planned", "0"], "--planned"),
    ] {
        let refused = agree(&folder, &arguments);
        assert!(refused.code == Some(2) && refused.stderr.contains(said), "{arguments:?}: {}", refused.stderr);
    }
}

#[test]
fn people_are_compared_with_each_other_where_there_is_no_judge() {
    let votes = "question,voter,model_a,model_b,winner\n1,ann,x,y,a\n1,ben,x,y,a\n2,ann,x,y,a\n2,ben,y,x,a\n";
    let folder = files(votes, "");
    let alone = |more: &[&str]| langya(folder.path(), ["agree", "--votes", "people.csv"].iter().chain(more));
    let json = found(&alone(&["--format", "json"]));
    share(&json["human_human"]["with_ties"], 1, 2);
    assert_eq!((&json["sides"]["people"]["a"], &json["sides"]["people"]["b"]), (&json!(4), &json!(0)));
    // Of two people who both lean to A, one leans the other way half of the time by chance.
    close(&json["sides"]["people"]["p"]["value"], 0.5);
    assert_eq!(json["sides"]["people"]["voters"], 2);
    nothing(&json["judge_human"]["with_ties"], "rate", "nothing to compare");
    let table = alone(&[]);
    assert!(table.stdout.starts_with("2 questions with votes\nhuman-human "), "{}", table.stdout);
    // Four votes by two people on two questions.
    let sides = "(0 ties; equal sides, by 2 voters: p = 0.5000)";
    assert!(table.stdout.contains(sides), "{}", table.stdout);
    let unnamed = "question,model_a,model_b,winner\n1,x,y,a\n2,x,y,a\n3,x,y,a\n4,y,x,a\n";
    let unnamed = langya(files(unnamed, "").path(), ["agree", "--votes", "people.csv"]).stdout;
    assert!(unnamed.contains("(0 ties; equal sides, votes as independent: p = 0.1250)"), "{unnamed}");
    assert!(!table.stdout.contains("judge") && table.stderr.is_empty(), "{}{}", table.stdout, table.stderr);

    let scores = "item,model,annotator,score\n1,x,ann,7\n1,x,ben,8\n2,x,ann,1\n2,x,ben,3\n";
    std::fs::write(folder.path().join("people.csv"), scores).unwrap();
    let json = found(&alone(&["--format", "json"]));
    share(&json["labels"]["human_human"], 2, 2);
    // Squared differences: 2.5 in the mean within items, 262/12 between all scores.
    close(&json["labels"]["krippendorff"]["value"], 1.0 - 2.5 / (262.0 / 12.0));
    let table = alone(&[]);
    assert!(table.stdout.starts_with("2 answers with scores\nhuman-human labels "), "{}", table.stdout);
    assert!(!table.stdout.contains("judge") && table.stderr.is_empty(), "{}{}", table.stdout, table.stderr);
    let refused = alone(&["--anchor", "8"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("--verdicts"), "{}", refused.stderr);
}

#[test]
fn votes_are_read_from_every_kind_of_file() {
    let folder = four_questions();
    let of_csv = result(&folder, &[]);
    let rows = |name: &str| {
        let mut reader = csv::Reader::from_path(folder.path().join(name)).unwrap();
        let header = reader.headers().unwrap().clone();
        let row = |record: csv::StringRecord| header.iter().zip(&record).map(|(k, v)| (k.into(), json!(v))).collect();
        reader.records().map(|record| row(record.unwrap())).collect::<Vec<serde_json::Map<String, Value>>>()
    };
    let (people, judge) = (rows("people.csv"), rows("judge.csv"));
    let lines: String = people.iter().map(|row| format!("{}\n", json!(row))).collect();
    std::fs::write(folder.path().join("people.csv"), lines).unwrap();
    let packed = zstd::encode_all(json!(judge).to_string().as_bytes(), 1).unwrap();
    std::fs::write(folder.path().join("judge.csv"), packed).unwrap();
    assert_eq!(result(&folder, &[]), of_csv, "lines of JSON, and an array packed by zstd");
}

#[test]
fn votes_are_read_from_parquet() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/votes");
    let run = langya(&data, ["agree", "--votes", "lmarena_100k.parquet", "--format", "json"]);
    let json = found(&run);
    let sides = &json["sides"]["people"];
    assert_eq!(
        [&json["voted"], &sides["a"], &sides["b"], &sides["ties"]],
        [&json!(4), &json!(1), &json!(1), &json!(2)]
    );
}

#[test]
fn where_there_is_nothing_to_compare_every_figure_says_so() {
    let head = "question,voter,model_a,model_b,winner\n";
    let json = result(&files(head, head), &[]);
    nothing(&json["human_human"]["with_ties"], "rate", "nothing to compare");
    nothing(&json["chance"]["cohen_majority"], "kappa", "nothing to compare");
    nothing(&json["chance"]["fleiss"], "kappa", "nothing to compare");
    nothing(&json["chance"]["krippendorff"], "value", "nothing to compare");
    assert_eq!(json["wins"], json!([]));
    let ties = "question,voter,model_a,model_b,winner\n1,ann,x,y,tie\n1,ben,x,y,tie\n2,ann,x,y,tie\n2,ben,x,y,tie\n";
    let json = result(&files(ties, ties), &["--pool-judges"]);
    share(&json["human_human"]["with_ties"], 2, 2);
    nothing(&json["human_human"]["without_ties"], "rate", "nothing to compare");
    nothing(&json["chance"]["cohen_majority"], "kappa", "chance alone");
    nothing(&json["chance"]["fleiss"], "kappa", "chance alone");
    nothing(&json["wins"][0]["votes"]["win_rate_without_ties"], "value", "nothing to compare");
    let head = "item,model,annotator,score\n";
    for scores in [head, "item,model,annotator,score\n1,x,ann,5\n"] {
        let run = agree(&files(scores, scores), &["--format", "json"]);
        let json = found(&run);
        nothing(&json["sample_level"]["pearson"], "value", "only 0");
        nothing(&json["system_level"]["kendall"], "r", "only");
        nothing(&json["pairwise"]["judge_ties_dropped"], "rate", "nothing to compare");
        nothing(&json["labels"]["human_human"], "rate", "nothing to compare");
        nothing(&json["labels"]["fleiss"]["people"], "kappa", "nothing to compare");
        assert!(!run.stdout.contains("NaN") && run.stderr.contains("warning: only "), "{}", run.stderr);
    }
    let folder = files(head, head);
    assert!(agree(&folder, &[]).stdout.contains("there is nothing to compare"));
    assert!(agree(&folder, &["--format", "csv"]).stdout.contains(",there is nothing to compare\n"));
}

#[test]
fn raters_are_told_apart_under_every_name_and_a_word_for_the_wrong_side_is_refused() {
    for name in ["rater", "rater_id", "annotator", "evaluator", "worker_id", "user"] {
        let people = format!("question,{name},model,score\n1,ann,x,2\n1,ben,x,8\n");
        let json = result(&files(&people, "question,model,score\n1,x,5\n"), &[]);
        assert_eq!(json["replaced"], 0, "{name}");
    }
    let folder =
        files("question,model_a,model_b,winner\n1,B,A,A\n", "question,model_a,model_b,winner\n1,B,A,model_a\n");
    let refused = agree(&folder, &[]);
    assert!(refused.code == Some(2) && refused.stderr.contains("is side A or the model \"A\""), "{}", refused.stderr);
}

#[test]
fn several_judges_are_never_taken_for_one_unless_that_is_asked_for() {
    let people = "item,model,annotator,score\n1,x,ann,2\n1,y,ann,5\n1,z,ann,9\n";
    let rows = |judge: &str, scores: [u32; 3]| -> String {
        ["x", "y", "z"].iter().zip(scores).map(|(model, score)| format!("1,{model},{judge},{score}\n")).collect()
    };
    let judges = rows("good", [2, 5, 9]) + &rows("inverse", [9, 6, 2]);
    let folder = files(people, &format!("item,model,judge,score\n{judges}"));
    let refused = agree(&folder, &[]);
    let told = "judge.csv has verdicts of 2 judges (good, inverse): compare one with --judge NAME";
    assert!(refused.code == Some(2) && refused.stderr.contains(told), "{}", refused.stderr);
    let pearson = |more: &[&str]| result(&folder, more)["system_level"]["pearson"]["r"].as_f64();
    assert_eq!(pearson(&["--judge", "good"]), Some(1.0));
    assert_eq!(pearson(&["--judge", "inverse"]), Some(-1.0));
    share(&result(&folder, &["--pool-judges"])["pairwise"]["judge_ties_disagree"], 0, 3);
    let unknown = agree(&folder, &["--judge", "best"]);
    let told = "judge.csv has no verdicts of the judge \"best\": its judges are good, inverse";
    assert!(unknown.code == Some(2) && unknown.stderr.contains(told), "{}", unknown.stderr);
}

#[test]
fn of_several_rows_of_one_individual_the_last_counts_and_the_rest_are_reported() {
    let votes = "\u{feff}question,voter,model_a,model_b,winner\n1,ann,x,y,a\n1,ann,y,x,a\n1,ben,x,y,b\n";
    let folder = files(votes, "question,model_a,model_b,winner\n1,x,y,b\n1,x,y,b\n");
    let json = result(&folder, &[]);
    share(&json["human_human"]["with_ties"], 1, 1);
    share(&json["judge_human"]["with_ties"], 2, 2);
    assert_eq!(json["replaced"], 2);
    assert!(agree(&folder, &[]).stdout.contains(", 2 rows replaced by a later one of the same individual"));
    let people = "\u{feff}item,turn,model,annotator,score\n1,1,x,ann,2\n1,1,x,ann,8\n1,2,x,ann,3\n";
    let json = result(&files(people, "item,turn,model,score\n1,1,x,7\n1,2,x,9\n"), &[]);
    assert_eq!((&json["replaced"], &json["questions"]), (&json!(1), &json!(2)));
    share(&json["labels"]["judge_human"], 1, 2);
    assert_eq!(json["sample_level"]["by_question"][1]["question"], "1, turn 2");
}

#[test]
fn a_judge_that_saw_both_orders_has_one_verdict_whatever_the_order_of_the_rows() {
    let votes = "question,voter,model_a,model_b,winner\n1,ann,x,y,a\n2,ann,x,y,a\n3,ann,x,y,tie\n";
    let rows = ["1,x,y,a\n", "1,y,x,b\n", "2,x,y,a\n", "2,y,x,a\n", "3,y,x,a\n", "3,x,y,a\n"];
    let of = |rows: Vec<&str>| files(votes, &format!("question,model_a,model_b,winner\n{}", rows.concat()));
    let folder = of(rows.to_vec());
    let json = result(&folder, &[]);
    // The first verdict is x, the other two are ties.
    share(&json["judge_human"]["with_ties"], 2, 3);
    assert_eq!((&json["merged_orders"], &json["replaced"]), (&json!(3), &json!(0)));
    assert_eq!((&json["wins"][0]["verdicts"]["wins"], &json["wins"][0]["verdicts"]["ties"]), (&json!(1), &json!(2)));
    assert_eq!(json["sides"]["judge"]["a"], 5, "a side is what the judge saw");
    assert_eq!(result(&of(rows.into_iter().rev().collect()), &[]), json);
    assert!(agree(&folder, &[]).stdout.contains(", 3 pairs of verdicts in both orders merged to one"));
}

#[test]
fn in_an_export_of_votes_each_battle_is_a_question() {
    let votes = "seq,battle_id,model_a,model_b,winner,judge,turn\n1,b1,x,y,model_a,v,1\n2,b2,x,y,both_bad,w,1\n";
    let folder = files(votes, "battle_id,turn,model_a,model_b,winner\nb1,1,y,x,model_b\nb2,1,x,y,model_a\n");
    let json = result(&folder, &[]);
    assert_eq!((&json["voted"], &json["judged"]), (&json!(2), &json!(2)));
    share(&json["judge_human"]["with_ties"], 1, 2);
}

#[test]
fn bands_are_only_of_a_scale_of_ten() {
    let scores = "item,model,annotator,score\n1,x,ann,87.5\n1,x,ben,87.5\n2,x,ann,-0\n2,x,ben,0\n";
    let labels = result(&files(scores, scores), &["--pool-judges"])["labels"].clone();
    assert!(labels["undefined"].as_str().unwrap().contains("take exact bins"), "{labels}");
    let labels = result(&files(scores, scores), &["--pool-judges", "--bins", "exact"])["labels"].clone();
    share(&labels["human_human"], 2, 2);
}

#[test]
fn hostile_names_steer_neither_terminal_nor_spreadsheet() {
    let votes = "question,voter,model_a,model_b,winner\n1,ann,\"=cmd()\",\"x\u{1b}[31m\ny\",a\n";
    let folder = files(votes, votes);
    let table = agree(&folder, &[]).stdout;
    assert!(table.contains("=cmd() against x\u{fffd}[31m\u{fffd}y by votes"), "{table}");
    assert!(!table.contains('\u{1b}'), "{table:?}");
    let csv = agree(&folder, &["--format", "csv"]).stdout;
    assert!(csv.contains("\"'=cmd() against "), "{csv}");
    let bias = files("", "item,model,judge,score\n1,x,\u{1b}]0;owned\u{7},8\n");
    let told = langya(bias.path(), ["agree", "--verdicts", "judge.csv", "--anchor", "8"]).stdout;
    assert!(told.contains("rating bias of \u{fffd}]0;owned\u{fffd}"), "{told:?}");
    let refused = agree(&files(votes, "question,model_a,model_b,winner\n1,x,y,\u{1b}[2J\n"), &[]);
    assert!(refused.code == Some(2) && !refused.stderr.contains('\u{1b}'), "{:?}", refused.stderr);
}
