//! Agreement of scores: by question, system and pair, calibration, bands, and the bias of a judge.

use std::fmt::Write as _;

use serde_json::json;
use tempfile::TempDir;

use super::{agree, files, kappa, nothing, result, share};
use crate::correlation::correlate::{close, found};
use crate::support::program::langya;

/// Scores of one question a row and one model a column, by one rater.
fn scores(rater: &str, questions: &[[f64; 4]]) -> String {
    let mut text = "item,model,annotator,score\n".to_owned();
    for (question, row) in questions.iter().enumerate() {
        for (model, score) in row.iter().enumerate() {
            writeln!(text, "{question},m{model},{rater},{score}").unwrap();
        }
    }
    text
}

const BY_PEOPLE: [[f64; 4]; 4] = [[5.0, 3.0, 1.0, 4.0], [2.0, 2.0, 4.0, 3.0], [3.0; 4], [1.0, 5.0, 2.0, 2.0]];

const BY_JUDGE: [[f64; 4]; 4] =
    [[8.0, 6.0, 2.0, 8.0], [4.0, 5.0, 7.0, 7.0], [6.0, 7.0, 5.0, 6.0], [2.0, 9.0, 4.0, 3.0]];

#[test]
fn scores_agree_by_sample_system_and_pair_as_alignbench_measures() {
    let folder = files(&scores("ann", &BY_PEOPLE), &scores("judge", &BY_JUDGE));
    let json = result(&folder, &[]);
    let sample = &json["sample_level"];
    close(&sample["pearson"]["value"], 0.942_285);
    assert_eq!((&sample["defined"], &sample["questions"]), (&json!(3), &json!(4)));
    close(&sample["by_question"][0]["value"], 0.966_092);
    nothing(&sample["by_question"][2], "value", "all values of the first series are equal");
    let system = &json["system_level"];
    close(&system["pearson"]["r"], 0.992_795);
    close(&system["spearman"]["r"], 1.0);
    assert_eq!(
        (&system["kendall"]["p_method"], &system["models"]),
        (&json!("exact"), &json!(["m0", "m1", "m2", "m3"]))
    );
    share(&json["pairwise"]["judge_ties_disagree"], 14, 16);
    share(&json["pairwise"]["judge_ties_dropped"], 14, 14);
    let told = agree(&folder, &[]);
    assert!(told.stderr.contains("warning: only 4 models"), "{}", told.stderr);
    let line = told.stdout.lines().find(|line| line.starts_with("sample-level Pearson, mean"));
    assert!(line.is_some_and(|line| line.ends_with("0.9423  (3 of 4 questions)")), "{}", told.stdout);
}

#[test]
fn the_mean_of_several_raters_counts_and_answers_of_one_side_do_not() {
    // Each alone would give other correlations; the mean of both is what one gave above.
    let lean =
        |sign: f64| BY_PEOPLE.map(|row| std::array::from_fn(|model| row[model] + sign * [2.0, 0.0, 5.0, 1.0][model]));
    let mut people = scores("ann", &lean(1.0));
    people.push_str(scores("ben", &lean(-1.0)).split_once('\n').unwrap().1);
    people.push_str("0,m9,ann,4\n9,m0,ann,4\n1,m0,ann,\n");
    let json = result(&files(&people, &scores("judge", &BY_JUDGE)), &[]);
    close(&json["sample_level"]["pearson"]["value"], 0.942_285);
    assert_eq!((&json["answers"], &json["unmatched"], &json["replaced"]), (&json!(16), &json!(2), &json!(0)));
    assert_eq!(json["system_level"]["models"], json!(["m0", "m1", "m2", "m3"]));
    share(&json["pairwise"]["judge_ties_disagree"], 14, 16);
}

/// A line of the table by its name.
#[track_caller]
fn line<'t>(table: &'t str, name: &str) -> &'t str {
    table.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no {name:?} in {table}"))
}

#[test]
fn a_judges_scores_are_calibrated_on_those_of_people_out_of_fold() {
    // The judge is on a scale of ten, and orders answers as people do, on every question.
    let (people, judge) = ([1.0, 2.0, 4.0, 5.0], [2.0, 6.0, 7.0, 10.0]);
    let folder = files(&scores("ann", &[people; 12]), &scores("judge", &[judge; 12]));
    let found = &result(&folder, &["--folds", "4", "--seed", "9"])["calibration"];
    close(&found["raw"]["mean_absolute_error"]["value"], 13.0 / 4.0);
    close(&found["calibrated"]["mean_absolute_error"]["value"], 0.0);
    close(&found["without_judge"]["value"], 1.5);
    // Σ(x−3)(y−25/4) = 17, Σ(x−3)² = 10 and Σ(y−25/4)² = 32.75.
    close(&found["raw"]["pearson"]["value"], 17.0 / (10.0_f64 * 32.75).sqrt());
    close(&found["calibrated"]["pearson"]["value"], 1.0);
    assert_eq!([&found["folds"], &found["seed"], &found["questions"]], [&json!(4), &json!(9), &json!(12)]);
    assert_eq!(found["curve"][1], json!({"judge": 6.0, "people": 2.0}));
    let told = agree(&folder, &[]).stdout;
    assert!(line(&told, "mean absolute error, raw scores").ends_with("3.2500  (on the judge's own scale)"), "{told}");
    let calibrated = line(&told, "mean absolute error, calibrated scores");
    assert!(calibrated.ends_with("0.0000  (isotonic, out of fold: 5 folds of 12 questions)"), "{calibrated}");
    assert!(line(&told, "mean absolute error, people's mean alone").contains("1.5000"), "{told}");
    let few = &result(&files(&scores("ann", &BY_PEOPLE), &scores("judge", &BY_JUDGE)), &[])["calibration"];
    nothing(&few["calibrated"]["mean_absolute_error"], "value", "only 4 of the 10");
    let refused = agree(&folder, &["--folds", "1"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("--folds"), "{}", refused.stderr);
}

#[test]
fn scores_of_a_campaign_are_read_as_it_exports_them() {
    let line = |item: usize, score: f64| {
        json!({"judgement": format!("j{item}"), "item": item.to_string(), "annotator": "ann", "kind": "fresh",
            "model_a": "m0", "score": score, "shown_at": 1, "judged_at": 2})
        .to_string()
            + "\n"
    };
    let people: String = BY_PEOPLE.iter().enumerate().map(|(item, row)| line(item, row[0])).collect();
    let folder = files("", &scores("judge", &BY_JUDGE));
    std::fs::write(folder.path().join("people.jsonl"), people).unwrap();
    let run = ["agree", "--votes", "people.jsonl", "--verdicts", "judge.csv", "--format", "json"];
    let json = found(&langya(folder.path(), run));
    assert_eq!((&json["answers"], &json["system_level"]["models"]), (&json!(4), &json!(["m0"])));
}

/// Three dialogues scored by five experts and a judge from 1 to 10.
const EXPERTS: [[u8; 5]; 3] = [[7, 8, 9, 7, 8], [3, 4, 4, 6, 2], [10, 10, 9, 10, 9]];

const JUDGED: [u8; 3] = [9, 5, 9];

fn dialogues() -> TempDir {
    let (mut people, mut judge) = ("item,model,annotator,score\n".to_owned(), "item,model,judge,score\n".to_owned());
    for (dialogue, (experts, judged)) in EXPERTS.iter().zip(JUDGED).enumerate() {
        writeln!(judge, "{dialogue},m,gpt-4,{judged}").unwrap();
        experts.iter().enumerate().for_each(|(expert, score)| {
            writeln!(people, "{dialogue},m,{expert},{score}").unwrap();
        });
    }
    files(&people, &judge)
}

/// All resamples of the three dialogues and of the five people, enumerated by `tests/data/stats/mean_kappa_expected.py`: their
/// percentiles 1.8 and 3.2 are -1, their percentiles 96.8 and 98.2 are 13/15 and 1. In 4 % of them nobody has a kappa.
#[test]
fn the_mean_kappa_of_labels_varies_with_dialogues_and_people() {
    let labels = result(&dialogues(), &["--bootstrap", "10000"])["labels"].clone();
    let interval = &labels["fleiss"]["judge_with_each"]["interval"];
    let [lower, upper] = ["lower", "upper"].map(|end| interval[end].as_f64().unwrap());
    assert!((lower + 1.0).abs() < 1e-6, "{interval}");
    assert!((13.0 / 15.0 - 1e-6..=1.0 + 1e-6).contains(&upper), "{interval}");
}

#[test]
fn scores_of_dialogues_agree_in_bands_and_exactly_as_worked_out_by_hand() {
    let folder = dialogues();
    let bands = result(&folder, &[])["labels"].clone();
    assert_eq!(bands["bins"], "bands");
    share(&bands["human_human"], 18, 30);
    share(&bands["judge_human"], 10, 15);
    share(&bands["judge_majority"], 2, 3);
    assert_eq!(bands["judge_majority"]["undecided"], 0);
    let fleiss = &bands["fleiss"];
    // P = 1, 2/5, 2/5 and p = 2, 3, 7 and 3 fifteenths: (0.6 − 71/225)/(154/225).
    kappa(&fleiss["people"], 64.0 / 154.0, 3, 0);
    // The five are 0, 10/22, 1, 10/22 and 1/3.
    close(&fleiss["judge_with_each"]["kappa"], 0.448_485);
    kappa(&fleiss["judge_with_majority"], 10.0 / 22.0, 3, 0);
    kappa(&fleiss["people_and_judge"], 91.6 / 214.0, 3, 0);
    assert_eq!([&fleiss["people"]["raters"], &fleiss["people_and_judge"]["raters"]], [&json!(5), &json!(6)]);
    let exact = result(&folder, &["--bins", "exact"])["labels"].clone();
    share(&exact["human_human"], 7, 30);
    share(&exact["judge_human"], 3, 15);
    share(&exact["judge_majority"], 0, 2);
    assert_eq!((&exact["bins"], &exact["judge_majority"]["undecided"]), (&json!("exact"), &json!(1)));
    kappa(&exact["fleiss"]["judge_with_majority"], -1.0 / 3.0, 2, 1);
}

#[test]
fn fleiss_own_example_comes_out_of_a_file_of_scores() {
    let counts = [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ];
    let mut people = "item,model,annotator,score\n".to_owned();
    for (item, counts) in counts.iter().enumerate() {
        let scores = (1..).zip(counts).flat_map(|(score, &count)| std::iter::repeat_n(score, count));
        scores.enumerate().for_each(|(rater, score)| writeln!(people, "{item},m,{rater},{score}").unwrap());
    }
    let json = result(&files(&people, "item,model,score\n0,m,5\n"), &["--bins", "exact"]);
    kappa(&json["labels"]["fleiss"]["people"], 0.209_931, 10, 0);
    kappa(&json["labels"]["randolph"], 0.222_527, 10, 0);
}

#[test]
fn the_bias_of_a_judge_is_what_its_scores_lie_above_the_references() {
    let folder = files("", "item,model,judge,score\n1,b1,A,8.15\n1,b2,A,8\n2,b2,A,9.2\n1,b3,A,7.9\n1,b1,C,7\n");
    let bias =
        |format| langya(folder.path(), ["agree", "--verdicts", "judge.csv", "--anchor", "8", "--format", format]);
    let json = found(&bias("json"));
    let judges = &json["rating_bias"]["judges"];
    close(&judges[0]["bias"]["value"], 0.216_667);
    close(&judges[0]["generators"]["b2"], 8.6);
    close(&judges[1]["bias"]["value"], -1.0);
    assert!(bias("table").stdout.contains("rating bias of A  "), "{}", bias("table").stdout);
    let without = langya(folder.path(), ["agree", "--verdicts", "judge.csv"]);
    assert!(without.code == Some(2) && without.stderr.contains("--votes"), "{}", without.stderr);
    let both = files(&scores("ann", &BY_PEOPLE), &scores("judge", &BY_JUDGE));
    let json = result(&both, &["--anchor", "8"]);
    assert!(json["rating_bias"]["judges"][0]["bias"]["value"].is_number() && json["answers"] == 16, "{json}");
}
