//! Intervals of `langya agree`: resampled questions, or voters where no question has a second one.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{agree, files, result};

/// The judge and three people on six questions about x and y.
const SIX: [(&str, [&str; 3]); 6] = [
    ("a", ["a", "a", "b"]),
    ("b", ["b", "b", "b"]),
    ("a", ["a", "tie", "a"]),
    ("tie", ["tie", "tie", "a"]),
    ("b", ["a", "a", "a"]),
    ("a", ["b", "a", "a"]),
];

fn six_questions() -> TempDir {
    let mut people = "question,voter,model_a,model_b,winner\n".to_owned();
    let mut judge = "question,model_a,model_b,winner\n".to_owned();
    for (question, (verdict, votes)) in SIX.iter().enumerate() {
        writeln!(judge, "{question},x,y,{verdict}").unwrap();
        for (voter, vote) in votes.iter().enumerate() {
            writeln!(people, "{question},{voter},x,y,{vote}").unwrap();
        }
    }
    files(&people, &judge)
}

#[track_caller]
fn ends(statistics: &Value) -> [f64; 2] {
    ["lower", "upper"]
        .map(|end| statistics["interval"][end].as_f64().unwrap_or_else(|| panic!("no interval: {statistics}")))
}

/// All 6⁶ resamples of the questions, enumerated by `tests/data/stats/mean_kappa_expected.py`: between their 1.8th and 3.2nd percentiles
/// lies the lower end of 10,000 random ones, and between the 96.8th and 98.2nd the upper.
#[test]
fn intervals_are_those_of_all_resamples_of_the_questions() {
    let json = result(&six_questions(), &["--bootstrap", "10000"]);
    let third = 1.0 / 3.0;
    for (statistics, lower, upper) in [
        (&json["human_human"]["with_ties"], [third, third], [0.777_778, 0.777_778]),
        (&json["human_human"]["without_ties"], [0.375, 0.4], [1.0, 1.0]),
        (&json["judge_human"]["with_ties"], [third, third], [0.833_333, 0.833_333]),
        (&json["judge_human"]["without_ties"], [0.266_667, third], [0.923_077, 0.9375]),
        (&json["chance"]["cohen_majority"], [0.0, 0.0], [1.0, 1.0]),
        (&json["chance"]["fleiss"], [-third, -0.304_348], [0.621_053, 0.653_846]),
        (&json["chance"]["randolph"], [0.0, 0.0], [0.666_667, 0.666_667]),
        (&json["chance"]["krippendorff"], [-0.259_259, -0.231_884], [0.642_105, 0.673_077]),
        (&json["chance"]["krippendorff_with_judge"], [-0.221_239, -0.221_239], [0.571_429, 0.596_491]),
    ] {
        for (end, [least, most]) in ends(statistics).into_iter().zip([lower, upper]) {
            assert!(least - 1e-6 <= end && end <= most + 1e-6, "{end} is not in {least} to {most}: {statistics}");
        }
    }
    let bootstrap = &json["bootstrap"];
    assert_eq!(
        [&bootstrap["unit"], &bootstrap["units"], &bootstrap["replicates"], &bootstrap["seed"]],
        [&json!("question"), &json!(6), &json!(10_000), &json!(0)]
    );
    // The models never change sides here, so by side everything is the same.
    assert_eq!(json["sides"]["chance"]["fleiss"], json["chance"]["fleiss"]);
    let table = agree(&six_questions(), &[]).stdout;
    assert!(
        table.contains("percentiles of 1000 resamples of 6 questions, each with all votes or scores on it"),
        "{table}"
    );
    assert!(table.contains("with so few, they are too narrow"), "{table}");
    let line = table.lines().find(|line| line.starts_with("Fleiss' kappa, people")).unwrap();
    assert!(
        line.contains("0.2421  -0.") && line.contains(" to 0.") && line.ends_with("(6 items by 3, 0 left out)"),
        "{line}"
    );
}

/// The judge and people on questions about x and y: its verdict, their votes, and how many such questions there are.
fn repeated_questions(rows: &[(&str, &str, usize)]) -> TempDir {
    let mut people = "question,voter,model_a,model_b,winner\n".to_owned();
    let mut judge = "question,model_a,model_b,winner\n".to_owned();
    let questions = rows.iter().flat_map(|&(verdict, votes, times)| std::iter::repeat_n((verdict, votes), times));
    for (question, (verdict, votes)) in questions.enumerate() {
        writeln!(judge, "{question},x,y,{verdict}").unwrap();
        for (voter, vote) in votes.chars().enumerate() {
            writeln!(people, "{question},{voter},x,y,{vote}").unwrap();
        }
    }
    files(&people, &judge)
}

/// Percentiles as above, of all resamples of the questions by pattern and of all resamples of the people, each with its probability,
/// enumerated by the same program.
#[test]
fn the_mean_kappa_varies_with_questions_and_from_five_people_on_with_people() {
    let mean_kappa = |rows: &[(&str, &str, usize)], kappa: f64, [lower, upper]: [[f64; 2]; 2]| {
        let found = result(&repeated_questions(rows), &["--bootstrap", "10000"])["chance"]["cohen_people"].clone();
        assert!((found["kappa"].as_f64().unwrap() - kappa).abs() < 1e-6, "{found}");
        let ends = ends(&found);
        for (end, [least, most]) in ends.into_iter().zip([lower, upper]) {
            assert!(least - 1e-6 <= end && end <= most + 1e-6, "{end} is not in {least} to {most}: {found}");
        }
        ends
    };
    let five = [("a", "aaaab", 5), ("b", "bbbab", 5), ("a", "babba", 1), ("b", "aabba", 1)];
    let [lower, upper] = mean_kappa(&five, 0.466_667, [[0.023_229, 0.082_751], [0.825, 0.894_118]]);
    // Resamples of their kappas 2/3, 5/6, 5/6, 0 and 0 alone, without the questions behind them: 0.133 to 0.8.
    assert!(upper - lower > 0.8 - 0.133_333, "{lower} to {upper}");
    // Three people stay as they are: resamples of their kappas alone go from 0.226 to 1.
    let three = [("a", "aaa", 5), ("b", "bba", 4), ("a", "baa", 2), ("b", "abb", 1)];
    mean_kappa(&three, 0.575_269, [[0.409_938, 0.428_571], [0.666_667, 0.683_112]]);
}

#[test]
fn a_seed_gives_the_same_intervals_again_and_no_resamples_give_none() {
    let folder = six_questions();
    let of = |seed: &str| result(&folder, &["--seed", seed])["chance"]["fleiss"].clone();
    assert_eq!(of("3"), of("3"));
    let without = result(&folder, &["--bootstrap", "0"]);
    assert!(without["bootstrap"].is_null() && without["chance"]["fleiss"]["interval"].is_null(), "{without}");
    assert!(!agree(&folder, &["--bootstrap", "0"]).stdout.contains("resamples"));
}

/// Votes on questions, each with the voter and two models, and whether it agrees with the judge, who always says a.
fn votes(rows: impl Iterator<Item = (String, String, bool)>) -> TempDir {
    let mut people = "question,voter,model_a,model_b,winner\n".to_owned();
    let mut judge = "question,model_a,model_b,winner\n".to_owned();
    for (question, voter, agrees) in rows {
        writeln!(people, "{question},{voter},{}", if agrees { "a" } else { "b" }).unwrap();
        let (_, models) = voter.split_once(',').unwrap();
        writeln!(judge, "{question},{models},a").unwrap();
    }
    files(&people, &judge)
}

/// Of 40 questions the judge agrees on 30, and of 20 voters with 15: the binomial distribution of n = 40 and p = 0.75 has its
/// percentiles 2.5 and 97.5 at 24 and 35, that of n = 20 at 11 and 18, and none of them moves by more than one.
#[test]
fn what_belongs_together_is_drawn_together() {
    let agreement = |rows: Vec<(String, String, bool)>| {
        let json = result(&votes(rows.into_iter()), &[]);
        let judged = &json["judge_human"]["with_ties"];
        (json["bootstrap"]["unit"].clone(), json["bootstrap"]["units"].clone(), judged["total"].clone(), ends(judged))
    };
    let near = |found: f64, expected: f64, unit: f64| assert!((found - expected).abs() < 1.01 * unit, "{found}");
    // Ten pairs of models on each question are no ten questions.
    let questions = (0..40).flat_map(|question| {
        (0..10).map(move |pair| (question.to_string(), format!("ann,x{pair},y{pair}"), question % 4 > 0))
    });
    let (unit, units, total, [lower, upper]) = agreement(questions.collect());
    assert_eq!((unit, units, total), (json!("question"), json!(40), json!(400)));
    near(lower, 0.6, 1.0 / 40.0);
    near(upper, 0.875, 1.0 / 40.0);
    // Ten battles of one voter are no ten voters.
    let battles = (0..20).flat_map(|voter| {
        (0..10).map(move |battle| (format!("{voter}-{battle}"), format!("{voter},x,y"), voter % 4 > 0))
    });
    let (unit, units, total, [lower, upper]) = agreement(battles.collect());
    assert_eq!((unit, units, total), (json!("voter"), json!(20), json!(200)));
    near(lower, 0.55, 1.0 / 20.0);
    near(upper, 0.9, 1.0 / 20.0);
}

#[test]
fn full_agreement_and_one_question_have_no_interval_but_a_reason() {
    let rows = |questions: usize| (0..questions).map(|n| (n.to_string(), "ann,x,y".to_owned(), true));
    let all = result(&votes(rows(20)), &[])["judge_human"]["with_ties"].clone();
    assert!(all["rate"] == 1.0 && all["interval"].is_null(), "{all}");
    assert!(all["no_interval"].as_str().unwrap().contains("all resamples give the same number"), "{all}");
    let one = result(&votes(rows(1)), &[])["judge_human"]["with_ties"].clone();
    assert!(one["no_interval"].as_str().unwrap().contains("only 1 of the 2"), "{one}");
    // A number that does not exist has a reason of its own, and no items that were left out.
    let table = agree(&votes(rows(20)), &[]).stdout;
    assert!(table.contains("chance alone would agree as well") && !table.contains("0 items"), "{table}");
    let kappa = result(&votes(rows(20)), &[])["chance"]["cohen_majority"].clone();
    assert!(kappa["undefined"].is_string() && kappa["no_interval"].is_null(), "{kappa}");
}

/// People of whom each differs from the judge on one to four of twelve questions.
#[test]
fn intervals_of_few_people_say_so() {
    let table = |people: usize| {
        let mut votes = "question,voter,model_a,model_b,winner\n".to_owned();
        let mut judge = "question,model_a,model_b,winner\n".to_owned();
        let sides = ["a", "b"];
        for question in 0..12 {
            writeln!(judge, "{question},x,y,{}", sides[question % 2]).unwrap();
            for voter in 0..people {
                let differs = usize::from(question <= voter % 4);
                writeln!(votes, "{question},p{voter},x,y,{}", sides[(question + differs) % 2]).unwrap();
            }
        }
        agree(&files(&votes, &judge), &[]).stdout
    };
    let (three, ten) = (table(3), table(10));
    let kappa = |table: &str| {
        table.lines().find(|line| line.starts_with("Cohen's kappa, judge and person ")).unwrap_or_default().to_owned()
    };
    let note = "(3 people, 0 left out; the interval is over questions and holds for these people alone)";
    assert!(kappa(&three).contains(" to ") && kappa(&three).ends_with(note), "{three}");
    assert!(kappa(&ten).contains(" to ") && kappa(&ten).ends_with("(10 people, 0 left out)"), "{ten}");
    assert!(three.contains("; they hold for 3 people, not for others\n"), "{three}");
    assert!(!ten.contains("not for others") && !three.contains("with so few, they are too narrow"), "{ten}{three}");
}

#[test]
fn the_warning_of_few_models_counts_one_in_the_singular() {
    let scores = "item,model,annotator,score\n1,x,ann,5\n";
    let run = agree(&files(scores, scores), &[]);
    assert!(run.stderr.contains("warning: only 1 model has scores"), "{}", run.stderr);
}
