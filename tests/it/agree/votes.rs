//! Agreement of votes with verdicts: rates, agreement beyond chance, and win rates.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::json;
use tempfile::TempDir;

use super::{agree, files, kappa, nothing, result, share};
use crate::correlation::correlate::{close, found};
use crate::support::program::langya;
use crate::support::ratings::shared;

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
    // Both questions drawn twice give 1 and 0, a quarter of the resamples each.
    assert!(csv.contains("\njudge-human without ties,2,3,0.6666666666666666,0.5,2,,0,1,\n"), "{csv}");
    for line in ["\n\"p of equal sides, people\",,,,,,", "\n\"p of equal sides, judge\",,,,,,"] {
        assert!(csv.contains(line), "{csv}");
    }
}

/// The judge and one to four people on four questions about x and y.
const FOUR: [(&str, &[&str]); 4] =
    [("a", &["a", "a", "tie", "b"]), ("tie", &["tie", "a"]), ("b", &["b", "b", "b"]), ("a", &["tie"])];

pub(super) fn four_questions() -> TempDir {
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
fn agreement_is_that_of_fastchat_and_beyond_chance_as_computed_by_hand() {
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
    // Computed by a script of a page that shares no code with this.
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

#[test]
fn the_win_and_tie_rate_is_that_of_the_leaderboard() {
    let mut votes = "question,model_a,model_b,winner\n".to_owned();
    let winners = ["model_a", "model_a", "tie", "both_bad", "both_bad", "both_bad", "model_b", "model_b"];
    for (question, winner) in winners.iter().enumerate() {
        writeln!(votes, "{question},x,y,{winner}").unwrap();
    }
    let folder = files(&votes, &votes);
    let json = result(&folder, &[]);
    let pair = &json["wins"][0]["votes"];
    let counts = [&pair["wins"], &pair["ties"], &pair["losses"], &pair["both_bad"]];
    assert_eq!(counts, [&json!(2), &json!(1), &json!(2), &json!(3)]);
    close(&pair["win_tie_rate"]["value"], 3.0 / 8.0);
    let fitted = found(&langya(folder.path(), ["fit", "--votes", "people.csv", "--format", "json"]));
    for model in fitted["models"].as_array().unwrap() {
        assert_eq!(model["win_tie_rate"], pair["win_tie_rate"]["value"], "{model}");
    }
    // Agreement takes every kind of tie for the same label.
    share(&json["judge_human"]["with_ties"], 8, 8);
    assert!(agree(&folder, &[]).stdout.contains("(2 won, 1 tied, 2 lost, 3 both bad)"));
}
