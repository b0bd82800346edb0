//! `langya correlate` as a user runs it, on what the papers print.

use std::path::Path;

use serde_json::Value;

use crate::support::program::{Run, langya};

/// SuperCLUE, Tables 2 and 4: the eight Chinese models; three have no arena rate.
const SUPERCLUE: &str = "\u{feff}model,close,open_single,open_multi,carena\n\
    MiniMax,60.67,65.32,47.34,86.69\n\
    Wenxin Yiyan,56.67,57.09,41.70,\n\
    SparkDesk,55.67,59.52,32.64,\n\
    ChatGLM-130B,57.24,51.19,30.14,82.76\n\
    ChatGLM2-6B,57.67,42.33,30.67,85.63\n\
    360 Brain,56.38,28.91,18.42,-\n\
    Ziya-13B,56.67,29.05,14.12,72.48\n\
    MOSS,41.00,27.00,15.20,69.01\n";

fn run(folder: &Path, arguments: &[&str]) -> Run {
    langya(folder, ["correlate", "--table", "table.csv", "--key", "model"].iter().chain(arguments))
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("table.csv"), SUPERCLUE).unwrap();
    folder
}

#[track_caller]
pub(crate) fn found(run: &Run) -> Value {
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

#[track_caller]
pub(crate) fn close(value: &Value, expected: f64) {
    let got = value.as_f64().unwrap_or_else(|| panic!("{value} instead of {expected}"));
    assert!((got - expected).abs() <= 1e-4, "{got} instead of {expected}");
}

#[test]
fn series_of_a_table_correlate_as_the_paper_prints() {
    let folder = folder();
    let eight = run(folder.path(), &["--x", "close", "--y", "open_single", "--format", "json"]);
    let json = found(&eight);
    assert!(!eight.stderr.contains("warning"), "{}", eight.stderr);
    assert_eq!(
        (&json["n"], &json["models"][0], &json["unmatched"]),
        (&8.into(), &"360 Brain".into(), &Value::Array(vec![]))
    );
    close(&json["spearman"]["r"], 0.514_979);
    close(&json["spearman"]["p"], 0.191_549);
    close(&json["pearson"]["r"], 0.554_696);
    close(&json["pearson"]["p"], 0.153_593);
    close(&json["kendall"]["r"], 0.4001);
    close(&json["x"]["variation"], 0.1077);
    close(&json["y"]["variation"], 0.3411);
    // tanh(atanh 0.554696 ± 1.959964/√5)
    close(&json["pearson"]["lower"], -0.2462);
    close(&json["pearson"]["upper"], 0.9054);
    assert_eq!(json["spearman"]["p_method"], "t");
    // Two models have 56.67.
    close(&json["spearman"]["exact_p"], 0.198_214);
    close(&json["kendall"]["exact_p"], 0.220_139);
    for (series, r, p) in [("close", 0.7950, 0.1079), ("open_single", 0.8747, 0.0522), ("open_multi", 0.8985, 0.0382)] {
        let five = run(folder.path(), &["--x", series, "--y", "carena", "--format", "json"]);
        let json = found(&five);
        assert!(five.stderr.contains("only 5 models"), "{}", five.stderr);
        assert_eq!(json["unmatched"], serde_json::json!(["360 Brain", "SparkDesk", "Wenxin Yiyan"]));
        close(&json["pearson"]["r"], r);
        close(&json["pearson"]["p"], p);
        assert_eq!((&json["kendall"]["p_method"], &json["kendall"]["exact_p"]), (&"exact".into(), &Value::Null));
    }
}

#[test]
fn mixtures_have_the_weights_of_the_paper_and_show_that_they_are_fitted() {
    let folder = folder();
    for (series, weights, r) in [
        ("close,open_single", vec![0.544, 0.456], 0.913_214),
        ("close,open_multi", vec![0.490, 0.510], 0.939_677),
        ("open_single,open_multi", vec![0.0, 1.0], 0.898_481),
        ("close,open_single,open_multi", vec![0.49, 0.0, 0.51], 0.939_677),
    ] {
        let json = found(&run(folder.path(), &["--combine", series, "--target", "carena", "--format", "json"]));
        series.split(',').zip(weights).for_each(|(name, weight)| close(&json["weights"][name], weight));
        close(&json["pearson"]["r"], r);
        assert_eq!(json["in_sample"], true);
        let tested = &json["permutation_test"];
        assert_eq!((&tested["permutations"], &tested["seed"]), (&serde_json::json!(999), &serde_json::json!(0)));
        // By non-negative least squares in SciPy, one to four of the 120 orders of five models reach it.
        let p = tested["p"].as_f64().unwrap();
        assert!((0.001..0.08).contains(&p), "{tested}");
        let left = json["leave_one_out"]["pearson"]["r"].as_f64().unwrap();
        assert!((left - r).abs() > 1e-3, "{json}");
    }
    let table = run(folder.path(), &["--combine", "close,open_single", "--target", "carena", "--step", "0"]);
    assert!(table.stdout.contains("  close") && table.stdout.contains("fitted to the others"), "{}", table.stdout);
    for printed in [
        "p and intervals take the weights as given",
        "each of 999 random permutations of the target: 0.0",
        // Five models have 120 orders.
        "of 5 models it cannot be less than about 0.0083",
    ] {
        assert!(table.stdout.contains(printed), "no {printed:?}: {}", table.stdout);
    }
}

#[test]
fn the_level_of_intervals_and_the_method_of_p_are_printed() {
    let folder = folder();
    let pair = ["--x", "close", "--y", "carena", "--confidence", "0.8"];
    let table = run(folder.path(), &pair).stdout;
    for printed in ["0.8 interval (Fisher z)", "  exact  ", "p: two-sided"] {
        assert!(table.contains(printed), "no {printed:?}: {table}");
    }
    let tied = run(folder.path(), &["--x", "close", "--y", "open_single"]).stdout;
    assert!(tied.contains("p of spearman by all permutations of these tied values: 0.1982\n"), "{tied}");
    let json = found(&run(folder.path(), &[&pair[..], &["--format", "json"]].concat()));
    assert_eq!(json["confidence"], 0.8);
    let mixed = ["--combine", "close,open_single", "--target", "carena", "--format", "json"];
    assert_eq!(found(&run(folder.path(), &mixed))["confidence"], 0.95);
}

#[test]
fn what_cannot_be_compared_says_why() {
    let folder = folder();
    for (arguments, said) in [
        (vec!["--x", "close", "--y", "opne"], "no column \"opne\": its columns are model, close"),
        (vec!["--x", "close"], "--y"),
        (vec![], "--x"),
        (vec!["--x", "arena:fame", "--y", "close"], "\"arena:fame\" is unknown: write arena:rating"),
        (vec!["--x", "arena:rating", "--y", "close"], "langya.db"),
        (vec!["--x", "close", "--y", "published:fame"], "superclue_close"),
        (vec!["--x", "close", "--y", "published:urs:intents"], "each of the intents"),
        (vec!["--combine", "close", "--target", "carena", "--step", "2"], "step 2"),
    ] {
        let refused = run(folder.path(), &arguments);
        assert!(refused.code == Some(2) && refused.stderr.contains(said), "{arguments:?}: {}", refused.stderr);
    }
    let two =
        run(folder.path(), &["--x", "close", "--y", "carena", "--models", "MOSS,MiniMax,nobody", "--format", "json"]);
    let json = found(&two);
    assert_eq!((&json["n"], &json["pearson"]["r"]), (&2.into(), &Value::Null));
    assert!(
        json["pearson"]["undefined"].as_str().unwrap().contains("only 2") && json["unmatched"][0] == "nobody",
        "{json}"
    );
}

#[test]
fn series_without_a_common_model_say_nothing_of_pairs_of_models() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("table.csv"), "model,x,y\na,1,\nb,,2\n").unwrap();
    let json = found(&run(folder.path(), &["--x", "x", "--y", "y", "--format", "json"]));
    assert_eq!((&json["n"], &json["leaderboards"]), (&0.into(), &Value::Null));
}

#[test]
fn figures_of_the_arena_are_those_of_its_leaderboard() {
    let folder = tempfile::tempdir().unwrap();
    let votes = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/small_votes.csv");
    let ask = |arguments: &[&str]| langya(folder.path(), [arguments, &["--data-dir", "data"]].concat());
    assert_eq!(ask(&["import", "votes", votes.to_str().unwrap()]).code, Some(0));
    let leaderboard = ask(&["fit", "--format", "csv"]);
    std::fs::write(folder.path().join("board.csv"), &leaderboard.stdout).unwrap();
    let with = |x: &str, y: &str| ask(&["correlate", "--table", "board.csv", "--x", x, "--y", y, "--format", "json"]);
    for metric in ["rating", "elo", "win_tie_rate"] {
        let json = found(&with(&format!("arena:{metric}"), metric));
        assert_eq!((&json["n"], &json["pearson"]["r"]), (&5.into(), &1.0.into()), "{metric}: {json}");
        // A rating has no zero point.
        assert_eq!(json["x"]["variation"].is_null(), metric != "win_tie_rate", "{metric}: {json}");
        assert!(json["pearson"]["no_interval"].is_string() && json["unmatched"] == Value::Array(vec![]), "{json}");
    }
    assert_ne!(found(&with("arena:rating", "elo"))["pearson"]["r"], 1.0);
    let unknown = with("arena:fame", "elo");
    assert!(unknown.code == Some(2) && unknown.stderr.contains("arena:win_tie_rate"), "{}", unknown.stderr);
    let nobody = with("arena:rating:language=xx", "elo");
    assert!(nobody.code == Some(2) && nobody.stderr.contains("\"xx\""), "{}", nobody.stderr);
}

/// The models of SuperCLUE's correlations, and the five of them with votes.
const EIGHT: &str = "MiniMax,Wenxin Yiyan,SparkDesk,ChatGLM-130B,ChatGLM2-6B,360 Brain,Ziya-13B,MOSS";
const FIVE: &str = "MiniMax,ChatGLM-130B,ChatGLM2-6B,Ziya-13B,MOSS";

#[test]
fn what_the_papers_print_correlates_without_any_file() {
    let folder = tempfile::tempdir().unwrap();
    let with = |x: &str, y: &str, more: &[&str]| {
        found(&langya(folder.path(), ["correlate", "--x", x, "--y", y, "--format", "json"].iter().chain(more)))
    };
    let judges = with("published:alignbench_gpt4", "published:alignbench_critiquellm", &[]);
    assert_eq!((&judges["n"], &judges["bootstrap"]), (&17.into(), &Value::Null));
    for (coefficient, r) in [("pearson", 0.9851), ("spearman", 0.9945), ("kendall", 0.9668)] {
        close(&judges[coefficient]["r"], r);
    }
    let close_open = with("published:superclue_close", "published:superclue_open:turn:1", &["--models", EIGHT]);
    close(&close_open["spearman"]["r"], 0.514_979);
    close(&close_open["x"]["variation"], 0.1077);
    for (series, r) in [("close", 0.7950), ("open:turn:1", 0.8747), ("open:turn:2", 0.8985)] {
        let json = with(&format!("published:superclue_{series}"), "published:superclue_arena", &["--models", FIVE]);
        close(&json["pearson"]["r"], r);
    }
    let list = langya(folder.path(), ["correlate", "--list"]);
    assert!(list.code == Some(0) && list.stdout.lines().any(|line| line == "published:urs:intents"), "{}", list.stdout);
}

#[test]
fn a_model_is_the_same_under_all_of_its_names() {
    let folder = folder();
    let names = "[aliases]\nmoss = [\"MOSS\"]\n";
    std::fs::write(folder.path().join("langya.toml"), names).unwrap();
    std::fs::write(folder.path().join("more.toml"), "minimax = [\"MiniMax\", \"abab\"]\n").unwrap();
    std::fs::write(folder.path().join("mine.csv"), "model,mine\nmoss,1\nabab,5\nChatGLM-130B,3\nelse,2\n").unwrap();
    let mine = |more: &[&str]| {
        let arguments = ["correlate", "--table", "mine.csv", "--x", "mine", "--y", "published:superclue_close"];
        langya(folder.path(), arguments.iter().chain(more))
    };
    let json = found(&mine(&["--aliases", "more.toml", "--format", "json"]));
    assert_eq!(json["models"], serde_json::json!(["ChatGLM-130B", "minimax", "moss"]));
    assert_eq!(json["x"]["only_here"], serde_json::json!(["else"]));
    let table = mine(&["--models", "MOSS,minimax,ChatGLM-130B"]);
    assert!(table.stdout.contains("models  2: ChatGLM-130B, moss"), "{}", table.stdout);
    assert!(table.stderr.contains("no series has \"minimax\""), "{}", table.stderr);
    assert!(mine(&[]).stdout.contains("under [aliases] in the settings or with --aliases"));
    std::fs::write(folder.path().join("more.toml"), "minimax = [\"MOSS\", \"MiniMax\"]\n").unwrap();
    std::fs::write(folder.path().join("langya.toml"), "").unwrap();
    let refused = mine(&["--aliases", "more.toml"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("\"minimax\""), "{}", refused.stderr);
    std::fs::write(folder.path().join("more.toml"), "minimax = MOSS").unwrap();
    let refused = mine(&["--aliases", "more.toml"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("more.toml"), "{}", refused.stderr);
}

/// Four models judged on twelve cases of three intents.
pub(super) fn judged(folder: &Path) {
    let (mut cases, mut verdicts) = ("question,reference_ans,user_intent,language\n".to_owned(), String::new());
    for case in 1..=12 {
        let intent = ["Factual_QA", "Leisure", "Ask_for_Advice"][case % 3];
        cases += &format!("Question {case}?,Answer.,{intent},EN\n");
        for (place, model) in ["qwen, 14B", "通义千问", "Ärger 7B", "other"].into_iter().enumerate() {
            let score = 1 + (place * 2 + case * case) % 10;
            let line = serde_json::json!({"item": case.to_string(), "model": model, "judge": "owl", "score": score});
            verdicts += &(line.to_string() + "\n");
        }
    }
    std::fs::write(folder.join("urs.csv"), cases).unwrap();
    std::fs::write(folder.join("verdicts.jsonl"), verdicts).unwrap();
    for arguments in [["suite", "urs", "urs.csv"].as_slice(), &["verdicts", "verdicts.jsonl", "--suite", "urs"]] {
        let run = langya(folder, [&["import"], arguments, &["--data-dir", "data"]].concat());
        assert_eq!(run.code, Some(0), "{}", run.stderr);
    }
}

#[test]
fn scores_and_votes_are_resampled_and_scores_are_those_of_the_report() {
    let folder = tempfile::tempdir().unwrap();
    let votes = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/small_votes.csv");
    let ask = |arguments: &[&str]| langya(folder.path(), [arguments, &["--data-dir", "data"]].concat());
    assert_eq!(ask(&["import", "votes", votes.to_str().unwrap()]).code, Some(0));
    judged(folder.path());
    let with = |x: &str, y: &str, more: &[&str]| {
        found(&ask(&[&["correlate", "--x", x, "--y", y, "--format", "json"], more].concat()))
    };
    let json = with("bench:urs", "arena:win_tie_rate", &["--bootstrap", "40", "--seed", "5"]);
    println!("seed 5");
    assert_eq!((&json["n"], &json["x"]["only_here"]), (&3.into(), &serde_json::json!(["other"])));
    assert_eq!(json["bootstrap"], serde_json::json!({"replicates": 40, "seed": 5}));
    let resampled = &json["pearson"]["resampled"];
    assert!(resampled["lower"].as_f64().unwrap() < resampled["upper"].as_f64().unwrap(), "{resampled}");
    for point in json["points"].as_array().unwrap() {
        let within = |axis: &str| {
            let [low, value, high] =
                ["_lower", "", "_upper"].map(|end| point[format!("{axis}{end}")].as_f64().unwrap());
            low < high && low <= value && value <= high
        };
        assert!(within("x") && within("y"), "{point}");
    }
    assert_eq!(
        json,
        with("bench:urs", "arena:win_tie_rate", &["--bootstrap", "40", "--seed", "5"]),
        "the same seed, the same numbers"
    );
    let other = with("bench:urs", "arena:win_tie_rate", &["--bootstrap", "40", "--seed", "6"]);
    assert_ne!(json["pearson"]["resampled"], other["pearson"]["resampled"]);
    let fixed = with("bench:urs@owl:Leisure", "arena:elo", &["--bootstrap", "0"]);
    assert_eq!((&fixed["bootstrap"], &fixed["pearson"]["resampled"]), (&Value::Null, &Value::Null));
    let scores = ask(&["bench", "report", "urs", "--format", "csv"]).stdout;
    std::fs::write(folder.path().join("scores.csv"), scores).unwrap();
    for point in fixed["points"].as_array().unwrap() {
        let model = point["model"].as_str().unwrap();
        let mut rows = csv::Reader::from_path(folder.path().join("scores.csv")).unwrap();
        let header = rows.headers().unwrap().clone();
        let column = |name: &str| header.iter().position(|column| column == name).unwrap();
        let row = rows
            .records()
            .map(Result::unwrap)
            .find(|row| &row[column("model")] == model && &row[column("part")] == "Leisure");
        let score: f64 = row.unwrap()[column("score")].parse().unwrap();
        assert!((score - point["x"].as_f64().unwrap()).abs() < 1e-9, "{point}");
    }
    for (series, said) in [
        ("bench:urs:fame", "expected one of overall"),
        ("bench:alignbench", "import suite alignbench"),
        ("bench:urs@nobody", "by nobody"),
    ] {
        let refused = ask(&["correlate", "--x", series, "--y", "arena:elo"]);
        assert!(refused.code == Some(2) && refused.stderr.contains(said), "{}", refused.stderr);
    }
    let list = ask(&["correlate", "--list", "--format", "json"]);
    let names: Vec<String> = serde_json::from_str(&list.stdout).unwrap();
    for name in ["arena:win_tie_rate", "bench:urs", "bench:urs:intents"] {
        assert!(names.contains(&name.to_owned()), "{name} in {names:?}");
    }
    assert!(!list.stdout.contains("bench:urs@"), "the only judge is no series beside the whole: {names:?}");
    let second = std::fs::read_to_string(folder.path().join("verdicts.jsonl")).unwrap().replace("owl", "hawk");
    std::fs::write(folder.path().join("second.jsonl"), second).unwrap();
    assert_eq!(ask(&["import", "verdicts", "second.jsonl", "--suite", "urs"]).code, Some(0));
    let list = ask(&["correlate", "--list"]).stdout;
    for name in ["bench:urs", "bench:urs@hawk", "bench:urs@owl"] {
        assert!(list.lines().any(|line| line == name), "{name} in {list}");
    }
}

#[test]
fn satisfaction_by_intent_is_compared_with_what_a_benchmark_says_of_intents() {
    let folder = tempfile::tempdir().unwrap();
    // Leisure 1 and 3, advice 4, creativity 5 and one that says nothing, factual 2 and one that says nothing.
    let votes = "model_a,model_b,winner,intent,satisfaction\none,two,model_a,leisure,1\none,two,tie,leisure,3\n\
        two,one,model_b,ask_for_advice,4\none,two,model_a,seek_creativity,5\none,two,model_a,seek_creativity,\n\
        one,two,model_b,factual_qa,2\none,two,model_b,factual_qa,\none,two,tie,,5\n";
    std::fs::write(folder.path().join("votes.csv"), votes).unwrap();
    let ask = |arguments: &[&str]| langya(folder.path(), [arguments, &["--data-dir", "data"]].concat());
    let y = "published:urs:intents";
    let with = |x: &str| ask(&["correlate", "--x", x, "--y", y, "--bootstrap", "50", "--format", "json"]);
    assert_eq!(ask(&["import", "votes", "votes.csv"]).code, Some(0));
    let json = found(&with("arena:satisfaction"));
    let means: Vec<f64> = json["points"].as_array().unwrap().iter().map(|point| point["x"].as_f64().unwrap()).collect();
    assert_eq!(json["models"], serde_json::json!(["ask_for_advice", "factual_qa", "leisure", "seek_creativity"]));
    assert_eq!(means, [4.0, 2.0, 2.0, 5.0]);
    assert!(json["points"][2]["x_lower"].as_f64().unwrap() < 2.0 && json["pearson"]["resampled"].is_object(), "{json}");
    let models = with("arena:rating");
    assert!(models.code == Some(2) && models.stderr.contains("each of the models"), "{}", models.stderr);
    let again = tempfile::tempdir().unwrap();
    std::fs::write(again.path().join("none.csv"), "model_a,model_b,winner\none,two,tie\n").unwrap();
    assert_eq!(langya(again.path(), ["import", "votes", "none.csv", "--data-dir", "data"]).code, Some(0));
    let nobody = langya(again.path(), ["correlate", "--x", "arena:satisfaction", "--y", y, "--data-dir", "data"]);
    assert!(nobody.code == Some(2) && nobody.stderr.contains("how satisfied"), "{}", nobody.stderr);
}

#[test]
fn the_papers_numbers_stand_beside_ours() {
    let ask = |format| langya(Path::new("/"), ["correlate", "--papers", "--format", format]);
    let claims: Vec<Value> = serde_json::from_str(&ask("json").stdout).unwrap();
    let verdict = |id: &str| claims.iter().find(|claim| claim["id"] == id).unwrap()["verdict"].clone();
    assert_eq!([verdict("S1"), verdict("S10"), verdict("S24")], ["reproduced", "reproduced", "contradiction"]);
    let table = ask("table").stdout;
    assert!(table.contains("CONTRADICTION") && table.contains("0.5150"), "{table}");
    let rows = csv::Reader::from_reader(ask("csv").stdout.as_bytes()).records().map(Result::unwrap).count();
    assert!(rows > claims.len(), "{rows} numbers of {} claims", claims.len());
}

#[test]
fn who_only_wins_has_a_rate_and_no_rating_and_groups_that_never_met_are_not_compared() {
    let folder = tempfile::tempdir().unwrap();
    let mut votes = "model_a,model_b,winner\n".to_owned();
    for (a, b) in [("a", "b"), ("b", "c"), ("c", "a"), ("p", "q")] {
        votes += &format!("{a},{b},model_a\n{a},{b},model_b\n{a},{b},model_a\n");
    }
    votes += "best,a,model_a\nbest,b,model_a\n";
    std::fs::write(folder.path().join("votes.csv"), votes).unwrap();
    let table = "model,score\na,1\nb,3\nc,2\np,5\nq,4\nbest,9\n";
    std::fs::write(folder.path().join("table.csv"), table).unwrap();
    let ask = |arguments: &[&str]| langya(folder.path(), [arguments, &["--data-dir", "data"]].concat());
    assert_eq!(ask(&["import", "votes", "votes.csv"]).code, Some(0));
    let with = |x: &str| {
        found(&ask(&[
            "correlate",
            "--table",
            "table.csv",
            "--x",
            x,
            "--y",
            "score",
            "--bootstrap",
            "20",
            "--format",
            "json",
        ]))
    };
    assert_eq!(with("arena:win_tie_rate")["models"], serde_json::json!(["a", "b", "best", "c", "p", "q"]));
    assert_eq!(with("arena:elo")["n"], 6);
    let ratings = with("arena:rating");
    assert_eq!(ratings["models"], serde_json::json!(["a", "b", "c"]));
    let notes = ratings["notes"].to_string();
    assert!(notes.contains("left out are best: they won or lost") && notes.contains("left out are p, q"), "{notes}");
}

#[test]
fn a_series_is_mixed_once_and_nothing_is_drawn_for_a_mixture() {
    let folder = folder();
    let twice = run(folder.path(), &["--combine", "close,close", "--target", "carena"]);
    assert!(twice.code == Some(2) && twice.stderr.contains("is listed twice"), "{}", twice.stderr);
    let many = run(folder.path(), &["--x", "close", "--y", "carena", "--bootstrap", "100001"]);
    assert!(many.code == Some(2) && many.stderr.contains("100000"), "{}", many.stderr);
}

#[test]
fn names_that_look_alike_get_a_note() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("table.csv"), "model,x,y\np-4,1,2\n\u{440}-4,2,1\nc,3,3\nd,4,4\n").unwrap();
    let said = run(folder.path(), &["--x", "x", "--y", "y"]).stderr;
    let note = "warning: these names look alike, and are treated as different models";
    assert!(said.contains(note) && said.contains(": \"p-4\", \"\u{440}-4\"\n"), "{said}");
}

/// Votes of 30 people who each like some of four models better than others do, and a table of those models.
fn tastes(folder: &Path) {
    let votes = ["--models", "4", "--votes", "1200", "--seed", "5", "--out", "votes.jsonl"];
    let people = ["--voters", "30", "--voter-spread", "0.7", "--spread", "0.5", "--ties", "0.1", "--both-bad", "0.05"];
    for arguments in [[&["simulate"][..], &votes, &people].concat(), vec!["import", "votes", "votes.jsonl"]] {
        let at: &[&str] = if arguments[0] == "import" { &["--data-dir", "data"] } else { &[] };
        let run = langya(folder, [&arguments[..], at].concat());
        assert_eq!(run.code, Some(0), "{}", run.stderr);
    }
    std::fs::write(folder.join("table.csv"), "model,worth\nmodel-1,4\nmodel-2,1\nmodel-3,3\nmodel-4,2\n").unwrap();
}

/// Width of a pair of bounds.
fn width(bounds: &Value, of: &str) -> f64 {
    let bound = |end: &str| bounds[format!("{of}{end}")].as_f64().unwrap_or_else(|| panic!("no {of}{end}: {bounds}"));
    bound("upper") - bound("lower")
}

#[test]
fn voters_are_resampled_with_all_of_their_votes_unless_the_settings_take_votes_as_independent() {
    let folder = tempfile::tempdir().unwrap();
    tastes(folder.path());
    let ask = |x: &str, format: &str| {
        let series = ["--x", x, "--y", "worth", "--bootstrap", "200", "--format", format, "--data-dir", "data"];
        run(folder.path(), &series)
    };
    println!("seed 5 of the votes, seed 0 of the resamples");
    for part in ["", ":turns=first"] {
        for metric in ["rating", "elo", "win_tie_rate"] {
            let x = format!("arena:{metric}{part}");
            std::fs::write(folder.path().join("langya.toml"), "").unwrap();
            let by_voter = found(&ask(&x, "json"));
            assert_eq!((&by_voter["x"]["resampled"], &by_voter["y"]["resampled"]), (&"voters".into(), &Value::Null));
            std::fs::write(folder.path().join("langya.toml"), "[rating]\ninterval = \"sandwich\"\n").unwrap();
            let by_vote = found(&ask(&x, "json"));
            assert_eq!(by_vote["x"]["resampled"], Value::Null, "{x}");
            let sum =
                |json: &Value| json["points"].as_array().unwrap().iter().map(|point| width(point, "x_")).sum::<f64>();
            assert!(sum(&by_voter) > 1.3 * sum(&by_vote), "{x}: {by_voter} {by_vote}");
            let [of_voters, of_votes] = [&by_voter, &by_vote].map(|json| width(&json["pearson"]["resampled"], ""));
            assert!(of_voters > of_votes, "{x}: {of_voters} {of_votes}");
            assert_eq!(by_voter["pearson"]["r"], by_vote["pearson"]["r"], "{x}");
        }
    }
    std::fs::write(folder.path().join("langya.toml"), "").unwrap();
    let table = ask("arena:rating", "table").stdout;
    assert!(table.contains("resampled: voters with all of their votes and judged items, 200 times"), "{table}");
}

#[test]
fn votes_without_voters_are_resampled_one_by_one_and_a_note_says_so() {
    let votes = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/small_votes.csv");
    let mut by_few = csv::Writer::from_writer(Vec::new());
    by_few.write_record(["model_a", "model_b", "winner", "tstamp", "judge"]).unwrap();
    for (at, row) in csv::Reader::from_path(&votes).unwrap().records().map(Result::unwrap).enumerate() {
        by_few.write_record(row.iter().chain([["ann", "ben", "cat"][at % 3]])).unwrap();
    }
    let (none, few) = (std::fs::read(&votes).unwrap(), by_few.into_inner().unwrap());
    let one = String::from_utf8(few.clone()).unwrap().replace(",ben\n", ",ann\n").replace(",cat\n", ",ann\n");
    for (file, resampled, note) in [
        (none, "votes", "arena:elo: no vote names its voter, so votes are taken as independent"),
        (one.into_bytes(), "votes", "arena:elo: all votes are one voter's"),
        (few, "voters", "arena:elo: these votes are by 3 voters (in effect 3.0)"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("votes.csv"), file).unwrap();
        let ask = |arguments: &[&str]| langya(folder.path(), [arguments, &["--data-dir", "data"]].concat());
        assert_eq!(ask(&["import", "votes", "votes.csv"]).code, Some(0));
        let pair = ["correlate", "--x", "arena:elo", "--y", "arena:win_tie_rate", "--bootstrap", "20"];
        let json = found(&ask(&[&pair[..], &["--format", "json"]].concat()));
        assert!(json["x"]["resampled"] == resampled && json["notes"].to_string().contains(note), "{note}: {json}");
        let said = ask(&pair).stderr;
        assert!(said.contains(&format!("warning: {note}")), "{said}");
        assert!(said.contains("warning: resampling adds the noise of votes and items a second time"), "{said}");
    }
}
