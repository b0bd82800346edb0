//! `langya agree` as a user runs it: votes with verdicts, scores with scores, and files that nobody should trust.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::correlate::{close, found};
use crate::support::program::{Run, langya};
use crate::support::ratings::shared;

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

// ------------------------------------------------------------------------------------------------------ votes

#[test]
fn people_and_a_judge_agree_as_worked_out_by_hand() {
    let folder = files(
        "prompt,worker,left,right,winner\n1,ann,x,y,left\n1,ben,y,x,right\n1,eve,x,y,tie\n2,ann,x,z,right\n",
        "prompt,model_a,model_b,winner\n1,y,x,model_b\n2,x,z,x\n",
    );
    let json = result(&folder, &[]);
    share(&json["human_human"]["with_ties"], 1, 3);
    share(&json["human_human"]["without_ties"], 1, 1);
    share(&json["judge_human"]["with_ties"], 2, 4);
    share(&json["judge_human"]["without_ties"], 2, 3);
    close(&json["judge_human"]["with_ties"]["mean_over_questions"], 1.0 / 3.0);
    assert!(agree(&folder, &[]).stdout.contains("2 questions with votes, 2 of them judged\n"));
    let csv = agree(&folder, &["--format", "csv"]).stdout;
    assert!(csv.starts_with("agreement,agree,total,rate,mean_over_questions,questions,"), "{csv}");
    assert!(csv.contains("\njudge-human without ties,2,3,0.6666666666666666,0.5,2,,\n"), "{csv}");
}

/// The judge and one to four people on four questions about x and y.
const FOUR: [(&str, &[&str]); 4] =
    [("a", &["a", "a", "tie", "b"]), ("tie", &["tie", "a"]), ("b", &["b", "b", "b"]), ("a", &["tie"])];

fn four_questions() -> TempDir {
    let mut people = "question,voter,model_a,model_b,winner\n".to_owned();
    let mut judge = "question,model_a,model_b,winner\n".to_owned();
    for (question, (verdict, votes)) in FOUR.iter().enumerate() {
        writeln!(judge, "{question},x,y,{verdict}").unwrap();
        for (voter, vote) in votes.iter().enumerate() {
            writeln!(people, "{question},{voter},x,y,{vote}").unwrap();
        }
    }
    files(&people, &judge)
}

#[test]
fn agreement_is_what_fastchat_reckons_and_beyond_chance_what_hands_do() {
    let json = result(&four_questions(), &[]);
    share(&json["judge_human"]["with_ties"], 6, 10);
    share(&json["judge_human"]["without_ties"], 5, 6);
    share(&json["human_human"]["with_ties"], 4, 10);
    share(&json["human_human"]["without_ties"], 4, 6);
    close(&json["judge_human"]["with_ties"]["mean_over_questions"], 0.5);
    let rng = &json["chance"];
    // Majorities a, b and tie beside a, b and a: observed 2/3, expected 1/3. The second question has no majority.
    kappa(&rng["cohen_majority"], 0.5, 3, 1);
    // Of 4, 3, 2 and 1 votes the larger of the equally common numbers: (1/6 − 3/8)/(5/8), and (1/6 − 1/3)/(2/3).
    kappa(&rng["fleiss"], -1.0 / 3.0, 1, 3);
    kappa(&rng["randolph"], -0.25, 1, 3);
    assert_eq!(rng["fleiss"]["raters"], 4);
    close(&rng["krippendorff"]["value"], 7.0 / 39.0);
    close(&rng["krippendorff_with_judge"]["value"], 0.25);
    nothing(&rng["cohen_people"], "kappa", "only 0");
    assert_eq!((&rng["cohen_people"]["people"], &rng["cohen_people"]["excluded"]), (&json!(0), &json!(4)));
}

#[test]
fn a_person_counts_who_shares_ten_questions_with_the_judge() {
    let mut people = "question,voter,model_a,model_b,winner\n".to_owned();
    let mut judge = "question,model_a,model_b,winner\n".to_owned();
    for question in 0..10 {
        let verdict = if question < 5 { "a" } else { "b" };
        // Ann differs on two of ten, once each way: (0.8 − 0.5)/0.5. Eve always says a, as chance would; Ben has nine.
        let ann = if question == 0 {
            "b"
        } else if question == 9 {
            "a"
        } else {
            verdict
        };
        writeln!(judge, "{question},x,y,{verdict}").unwrap();
        writeln!(people, "{question},ann,x,y,{ann}\n{question},eve,x,y,a").unwrap();
        if question > 0 {
            writeln!(people, "{question},ben,y,x,{verdict}").unwrap();
        }
    }
    let rng = &result(&files(&people, &judge), &[])["chance"];
    close(&rng["cohen_people"]["kappa"], 0.3);
    assert_eq!((&rng["cohen_people"]["people"], &rng["cohen_people"]["excluded"]), (&json!(2), &json!(1)));
}

#[test]
fn people_and_gpt_4_agree_on_llmfao_from_the_command_line() {
    let Some(shared) = shared() else { return };
    let file = |name: &str| shared.join("data").join(name).to_str().unwrap().to_owned();
    let (votes, verdicts) = (file("llmfao.csv"), file("llmfao_gpt4.csv"));
    let arguments = ["agree", "--votes", &votes, "--verdicts", &verdicts, "--format", "json"];
    let json = found(&langya(Path::new("/"), arguments));
    let statistics = |kind: &str, setup: &str| json[kind][setup].clone();
    share(&statistics("human_human", "with_ties"), 8043, 15_112);
    share(&statistics("human_human", "without_ties"), 4737, 6755);
    share(&statistics("judge_human", "with_ties"), 3705, 8931);
    share(&statistics("judge_human", "without_ties"), 3545, 5358);
    close(&statistics("human_human", "with_ties")["rate"], 0.532_226);
    close(&statistics("judge_human", "without_ties")["rate"], 0.661_627);
    // Reckoned by a script of a page that shares no code with this.
    let rng = &json["chance"];
    kappa(&rng["cohen_majority"], 0.208_803, 1831, 308);
    kappa(&rng["fleiss"], 0.292_348, 998, 1141);
    kappa(&rng["randolph"], 0.295_842, 998, 1141);
    close(&rng["cohen_people"]["kappa"], 0.162_812);
    assert_eq!((&rng["cohen_people"]["people"], &rng["cohen_people"]["excluded"]), (&json!(91), &json!(33)));
    close(&rng["krippendorff"]["value"], 0.290_345);
    close(&rng["krippendorff_with_judge"]["value"], 0.225_738);
    // By Zermelo's iteration in a script of its own.
    assert_eq!(json["worth"]["battles"], 2139, "questions: the votes on one depend on each other");
    close(&json["worth"]["residual_correlation"], 0.080_705);
    close(&json["worth"]["times"], 1.006_556);
    assert_eq!((json["wins"].as_array().unwrap().len(), &json["replaced"]), (927, &json!(0)));
}

/// Votes of one person on so many questions each, won, tied and lost by the first of two models.
fn contest(rows: &[(&str, [usize; 3])]) -> String {
    let mut text = "question,model_a,model_b,winner\n".to_owned();
    for (models, counts) in rows {
        for (winner, count) in ["model_a", "tie", "model_b"].iter().zip(counts) {
            (0..*count).for_each(|question| writeln!(text, "{winner}{question},{models},{winner}").unwrap());
        }
    }
    text
}

#[test]
fn win_rates_are_those_of_the_papers_over_what_was_planned() {
    let rows = [("a1,b1", [217, 94, 155]), ("a2,b2", [241, 102, 139]), ("a3,b3", [186, 167, 147])];
    let folder = files(&contest(&rows), &contest(&rows.map(|(models, _)| (models, [0, 1, 0]))));
    let json = result(&folder, &["--planned", "500"]);
    let expected = [(0.583_333, 0.124), (0.634_210, 0.204), (0.558_559, 0.078)];
    for (pair, (rate, delta)) in json["wins"].as_array().unwrap().iter().zip(expected) {
        let votes = &pair["votes"];
        close(&votes["win_rate_without_ties"]["value"], rate);
        close(&votes["delta_of_planned"]["value"], delta);
        assert_eq!(votes["planned"], 500);
        nothing(&pair["verdicts"]["win_rate_without_ties"], "value", "nothing to compare");
        close(&pair["verdicts"]["delta"]["value"], 0.0);
    }
    close(&json["wins"][0]["votes"]["delta"]["value"], 62.0 / 466.0);
    let all = result(&folder, &[]);
    close(&all["wins"][0]["votes"]["delta_of_planned"]["value"], 62.0 / 466.0);
    assert_eq!(all["wins"][0]["votes"]["planned"], 466);
    let table = agree(&folder, &["--planned", "500"]).stdout;
    let line = table.lines().find(|line| line.starts_with("a1 against b1 by votes, difference of the planned"));
    assert!(line.is_some_and(|line| line.ends_with("0.1240  (of 500)")), "{table}");
    let few = agree(&folder, &["--planned", "465"]);
    assert!(few.code == Some(2) && few.stderr.contains("466 comparisons of \"a1\" with \"b1\""), "{}", few.stderr);
    let superclue = contest(&[("m,baseline", [82, 210, 212])]);
    let json = result(&files(&superclue, &superclue), &[]);
    // Models stand by name, so the baseline comes first.
    assert_eq!(json["wins"][0]["models"], json!(["baseline", "m"]));
    let turned = contest(&[("a,baseline", [82, 210, 212])]);
    let json = result(&files(&turned, &turned), &[]);
    close(&json["wins"][0]["votes"]["win_tie_rate"]["value"], 0.579_365);
}

// ----------------------------------------------------------------------------------------------------- scores

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

// ---------------------------------------------------------------------------------------------- hostile files

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
    close(&json["sides"]["people"]["p"]["value"], 0.125);
    nothing(&json["judge_human"]["with_ties"], "rate", "nothing to compare");
    let table = alone(&[]);
    assert!(table.stdout.starts_with("2 questions with votes\nhuman-human "), "{}", table.stdout);
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
fn of_several_rows_of_one_individual_the_last_counts_and_the_rest_are_told() {
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
