//! `langya correlate --study` and `--charts` as a user runs them.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use langya::domain::sha256::sha256;
use serde_json::Value;

use crate::correlation::correlate::judged;
use crate::support::program::{Run, UnderWay, langya};

/// A study that ships with the project.
fn shipped(name: &str) -> String {
    format!("{}/tests/data/studies/{name}.toml", env!("CARGO_MANIFEST_DIR"))
}

fn study(folder: &Path, file: &str, more: &[&str]) -> Run {
    langya(folder, [&["correlate", "--data-dir", "data", "--study", file], more].concat())
}

/// Writes a study and makes it.
fn made(folder: &Path, text: &str) -> Run {
    std::fs::write(folder.join("mine.toml"), text).unwrap();
    study(folder, "mine.toml", &[])
}

#[track_caller]
fn done(run: &Run) -> &Run {
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    run
}

/// Every file of a folder by its path in it.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(inner) = folders.pop() {
        for entry in std::fs::read_dir(folder.join(&inner)).unwrap() {
            let path = inner.join(entry.unwrap().file_name());
            match folder.join(&path).is_dir() {
                true => folders.push(path),
                false => _ = found.insert(path.to_str().unwrap().to_owned(), std::fs::read(folder.join(path)).unwrap()),
            }
        }
    }
    found
}

fn results(folder: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join("results.json")).unwrap()).unwrap()
}

#[track_caller]
fn close(value: &Value, expected: f64) {
    let got = value.as_f64().unwrap_or_else(|| panic!("{value} instead of {expected}"));
    assert!((got - expected).abs() <= 1e-4, "{got} instead of {expected}");
}

fn rows(folder: &Path, table: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(folder.join(table)).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

#[test]
fn the_papers_studies_have_the_papers_numbers_and_the_same_bytes_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for out in ["one", "deeper/two", "one"] {
        done(&study(folder.path(), &shipped("superclue"), &["--out", out]));
        assert_eq!(files(&at("one")), files(&at(out)), "{out}");
    }
    let json = results(&at("one"));
    let pair = |x: &str, y: &str| {
        let names = [x, y].map(|name| format!("published:superclue_{name}"));
        let is = |pair: &&Value| [&pair["x"]["series"], &pair["y"]["series"]] == [&names[0], &names[1]];
        json["pairs"].as_array().unwrap().iter().find(is).unwrap().clone()
    };
    let open = pair("close", "open:turn:1");
    for (coefficient, field, value) in [
        ("spearman", "r", 0.514_979),
        ("spearman", "p", 0.191_549),
        ("pearson", "r", 0.554_696),
        ("pearson", "p", 0.153_593),
        ("kendall", "r", 0.4001),
    ] {
        close(&open[coefficient][field], value);
    }
    close(&json["series"][0]["variation"], 0.1077);
    close(&json["series"][1]["variation"], 0.3411);
    for (series, r, p) in [("close", 0.7950, 0.1079), ("open:turn:1", 0.8747, 0.0522), ("open:turn:2", 0.8985, 0.0382)]
    {
        let arena = pair(series, "arena");
        close(&arena["pearson"]["r"], r);
        close(&arena["pearson"]["p"], p);
        assert_eq!(arena["n"], 5);
    }
    let mixtures = [(0.544, 0.913_214), (0.490, 0.939_677), (0.0, 0.898_481), (0.49, 0.939_677)];
    for (found, (first, r)) in json["combinations"].as_array().unwrap().iter().zip(mixtures) {
        close(&found["found"]["weights"][found["of"][0].as_str().unwrap()], first);
        close(&found["found"]["pearson"]["r"], r);
        assert!(found["found"]["leave_one_out"]["pearson"]["r"].is_number(), "{found}");
    }
    // What stands in the folder is all that it takes.
    done(&study(folder.path(), "one/study.toml", &["--out", "again"]));
    assert_eq!(files(&at("one")), files(&at("again")));
    let sums = Command::new("sha256sum").args(["--check", "--quiet", "SHA256SUMS"]).current_dir(at("one")).status();
    assert!(sums.unwrap().success());
    done(&study(folder.path(), &shipped("alignbench"), &["--out", "judges"]));
    let judges = results(&at("judges"));
    let judges = &judges["pairs"][0];
    for (coefficient, r) in [("pearson", 0.9851), ("spearman", 0.9945), ("kendall", 0.9668)] {
        close(&judges[coefficient]["r"], r);
    }
}

#[test]
fn a_report_says_what_was_compared_how_and_what_to_beware_of() {
    let folder = tempfile::tempdir().unwrap();
    let run = study(folder.path(), &shipped("superclue"), &["--out", "out"]);
    assert!(done(&run).stdout.contains("out/report.md") && run.stderr.contains("warning: pair 3: n = 5"), "{run:?}");
    let made = files(&folder.path().join("out"));
    let report = String::from_utf8(made["report.md"].clone()).unwrap();
    for part in [
        "# SuperCLUE: benchmarks and the arena\n",
        "| 1 | published:superclue\\_close | published:superclue\\_open:turn:1 | 8 | pearson | 0.5547 | 0.1536 (t) | -0.2462 to 0.9054 | – |",
        "- pair 3: n = 5, and a correlation of fewer than 8 says little\n",
        "- pair 3: 360 Brain, SparkDesk, Wenxin Yiyan are left out",
        "- mixture 2: its correlation is in-sample, on the numbers that its weights were fitted to, and therefore optimistic\n",
        "RWKV's 80.15 is left out",
        "arXiv:2307.15020",
        "| published:superclue\\_close | 0.5440 |",
        // The p that stands beside a mixture knows that its weights were fitted.
        "Pearson's r of the numbers fitted to has p = 0.0",
        "to each of 999 random permutations of the target (one-sided, seed 0). So many permutations of 5 models cannot give a p of \
         less than about 0.0083.",
        "| coefficient | r of the numbers fitted to | r leaving one out | p |",
        "(Kendall 1945)",
        "nothing is resampled",
    ] {
        assert!(report.contains(part), "{part}\nis not in\n{report}");
    }
    // Every picture is there, and every one that is there is shown.
    let shown: Vec<&str> = report.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()).collect();
    let drawn: Vec<&String> = made.keys().filter(|name| name.starts_with("figures/")).collect();
    assert_eq!(shown.len(), 13, "{shown:?}");
    assert!(drawn.len() == 13 && drawn.iter().all(|name| shown.contains(&name.as_str())), "{drawn:?}");
    for name in drawn {
        roxmltree::Document::parse(std::str::from_utf8(&made[name]).unwrap()).unwrap();
    }
    let mixtures = rows(&folder.path().join("out"), "data/combinations.csv");
    let p = |column: &str| mixtures[0][column].parse::<f64>().unwrap();
    assert!(p("p_weights_refitted") >= 0.001 && p("p_weights_as_given") > 0.0, "{mixtures:?}");
    assert_eq!(mixtures[0]["permutations"], "999");
    let correlations = rows(&folder.path().join("out"), "data/correlations.csv");
    assert_eq!((correlations.len(), correlations[2]["coefficient"].as_str()), (18, "kendall"));
    assert_eq!((correlations[0]["r"].get(..6), correlations[1]["p_method"].as_str()), (Some("0.5546"), "t"));
    let unmatched = rows(&folder.path().join("out"), "data/unmatched.csv");
    assert!(unmatched.iter().any(|row| row["in"] == "pair 3" && row["subject"] == "SparkDesk"), "{unmatched:?}");
    let json = study(folder.path(), &shipped("superclue"), &["--out", "out", "--format", "json"]);
    assert_eq!(serde_json::from_str::<Value>(&done(&json).stdout).unwrap(), results(&folder.path().join("out")));
}

#[test]
fn what_is_no_study_says_what_to_mend_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (urs, close) = ("\"published:urs\"", "\"published:superclue_close\"");
    for (text, said) in [
        ("sereis = []".to_owned(), "unknown field `sereis`"),
        (format!("series = [{urs}, {close}]\n[[pairs]]\nx = {urs}\ny = {close}\nz = 1"), "unknown field `z`"),
        (format!("series = [{urs}]"), "compares nothing"),
        ("series = [".to_owned(), "mine.toml"),
        (format!("series = [{urs}, {close}, {urs}]"), "published:urs is listed twice"),
        (format!("[[pairs]]\nx = {urs}\ny = {urs}"), "with itself"),
        (format!("series = [{urs}, {close}]\nslices = [\"lang=en\"]"), "invalid slice \"lang=en\""),
        (format!("series = [{urs}, {close}]\nslices = [\"\"]"), "invalid slice \"\""),
        (format!("[[combinations]]\nof = [{urs}]\ntarget = {close}\nstep = 2"), "the step 2 is invalid"),
        (format!("series = [{urs}, {close}]\nconfidence = 1.5"), "1.5"),
        (format!("series = [{urs}, {close}]\ntable = \"gone.csv\""), "gone.csv"),
        (format!("series = [{urs}, \"arena:rating\"]"), "langya.db"),
        (format!("series = [{urs}, \"arena:fame\"]"), "\"arena:fame\" is unknown"),
        (format!("series = [{urs}, \"column\"]"), "name the file"),
        ("[[pairs]]\nx = \"published:urs\"\ny = \"published:urs:intents\"".to_owned(), "each of the intents"),
        (format!("series = [{urs}, {close}]\n[aliases]\na = [\"x\"]\nb = [\"x\"]"), "give it to only one of them"),
    ] {
        let refused = made(folder.path(), &text);
        assert!(refused.code == Some(2) && refused.stderr.contains(said), "{text}\n{}", refused.stderr);
        assert_eq!(files(folder.path()).into_keys().collect::<Vec<_>>(), ["mine.toml"], "{text}");
    }
    let gone = study(folder.path(), "gone.toml", &[]);
    assert!(gone.code == Some(2) && gone.stderr.contains("cannot read gone.toml"), "{}", gone.stderr);
    let both = study(folder.path(), "mine.toml", &["--bootstrap", "5"]);
    assert!(both.code == Some(2) && both.stderr.contains("--bootstrap"), "{}", both.stderr);
}

const SMALL: &str = "series = [\"published:urs\", \"published:superclue_close\"]\n";

#[test]
fn a_folder_that_holds_something_else_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    done(&made(folder.path(), SMALL));
    let first = files(&at("mine"));
    let refused = |said: &str| {
        let before = files(folder.path());
        let run = made(folder.path(), SMALL);
        assert!(run.code == Some(2) && run.stderr.contains(said) && run.stderr.contains("--out"), "{}", run.stderr);
        assert_eq!(files(folder.path()), before, "{said}");
    };
    std::fs::write(at("mine/notes.md"), "mine").unwrap();
    refused("mine/notes.md is in the way");
    std::fs::remove_file(at("mine/notes.md")).unwrap();
    std::fs::write(at("mine/report.md"), "mended by hand").unwrap();
    refused("mine/report.md is in the way");
    std::fs::remove_dir_all(at("mine")).unwrap();
    std::fs::write(at("mine"), "a file").unwrap();
    refused("mine is in the way");
    std::fs::remove_file(at("mine")).unwrap();
    std::fs::create_dir_all(at("mine.partial")).unwrap();
    std::fs::write(at("mine.partial/thesis.md"), "mine").unwrap();
    refused("mine.partial/thesis.md is in the way");
    std::fs::remove_dir_all(at("mine.partial")).unwrap();
    std::fs::create_dir_all(at("mine")).unwrap();
    done(&made(folder.path(), SMALL));
    assert_eq!(files(&at("mine")), first, "an empty folder is in nobody's way");
    done(&made(folder.path(), &(SMALL.to_owned() + "title = \"Another\"")));
    assert_ne!(files(&at("mine")), first, "an earlier study is replaced");
    assert!(!at("mine.partial").exists() && !at("mine.earlier").exists());
}

/// Runs a study that may write files of 8 KiB at most; `trap` says what a larger one does to it.
fn limited(folder: &Path, trap: &str) -> Option<i32> {
    let script = format!("{trap} ulimit -f 16; exec \"$0\" correlate --study mine.toml");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_langya")]).env_clear().current_dir(folder);
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().code()
}

#[test]
fn a_run_that_fails_or_is_killed_leaves_the_earlier_study_whole() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    done(&made(folder.path(), SMALL));
    let first = files(&at("mine"));
    let text = std::fs::read_to_string(shipped("superclue")).unwrap();
    std::fs::write(at("mine.toml"), text).unwrap();
    assert_eq!(limited(folder.path(), "trap '' XFSZ;"), Some(1));
    assert_eq!(files(&at("mine")), first);
    assert!(!at("mine.partial").exists() && !at("mine.earlier").exists());
    // As by a signal: nobody clears up.
    assert_eq!(limited(folder.path(), ""), None);
    assert_eq!(files(&at("mine")), first);
    assert!(at("mine.partial").exists());
    done(&study(folder.path(), "mine.toml", &[]));
    assert_ne!(files(&at("mine")), first);
    assert!(!at("mine.partial").exists());
}

/// Votes in two languages and with one or more turns, and a judged suite.
fn arena(folder: &Path) {
    let votes = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/small_votes.csv");
    let mut out = csv::Writer::from_path(folder.join("votes.csv")).unwrap();
    out.write_record(["model_a", "model_b", "winner", "tstamp", "language", "turn"]).unwrap();
    for (at, row) in csv::Reader::from_path(votes).unwrap().records().map(Result::unwrap).enumerate() {
        let language = if at % 3 == 0 { "German" } else { "English" };
        out.write_record(row.iter().chain([language, if at % 4 == 0 { "2" } else { "1" }])).unwrap();
    }
    drop(out);
    done(&langya(folder, ["import", "votes", "votes.csv", "--data-dir", "data"]));
    judged(folder);
}

#[test]
fn votes_and_items_are_resampled_in_every_part_of_the_votes() {
    let folder = tempfile::tempdir().unwrap();
    arena(folder.path());
    let text = "title = \"Ours\"\nseries = [\"arena:rating\", \"bench:urs\", \"arena:win_tie_rate\"]\njudge = \"owl\"\n\
                slices = [\"turns=first\", \"language=English\"]\nbootstrap = 30\nseed = 5\n";
    println!("seed 5");
    done(&made(folder.path(), text));
    let out = folder.path().join("mine");
    let first = files(&out);
    done(&made(folder.path(), text));
    assert_eq!(files(&out), first);
    let json = results(&out);
    let pairs = json["pairs"].as_array().unwrap();
    assert_eq!(pairs.len(), 9, "three pairs of all votes and of two parts");
    let found = pairs.iter().find(|pair| pair["pair"] == 1 && pair["slice"] == "turns=first").unwrap();
    let [x, y] = ["arena:rating:turns=first", "bench:urs@owl"];
    assert_eq!([&found["x"]["series"], &found["y"]["series"]], [x, y]);
    let alone = ["correlate", "--x", x, "--y", y, "--bootstrap", "30", "--seed", "5", "--format", "json"];
    let alone = langya(folder.path(), alone.iter().chain(&["--data-dir", "data"]));
    let alone: Value = serde_json::from_str(&done(&alone).stdout).unwrap();
    for (key, value) in alone.as_object().unwrap() {
        assert_eq!(found[key], *value, "{key}");
    }
    assert!(found["pearson"]["resampled"]["lower"].is_number(), "{found}");
    assert_ne!(found["points"], pairs[0]["points"], "a part of the votes has ratings of its own");
    let report = String::from_utf8(first["report.md"].clone()).unwrap();
    for part in
        ["| pair | all votes | turns=first | language=English |", "### language=English", "30 times with seed 5"]
    {
        assert!(report.contains(part), "{report}");
    }
    let suite = std::fs::read(folder.path().join("urs.csv")).unwrap();
    let facts = rows(&out, "data/sources.csv");
    let fact = |what: &str| facts.iter().find(|row| row["what"] == what).map(|row| row["value"].clone());
    assert_eq!(fact("SHA-256"), Some(sha256(&suite)));
    assert_eq!((fact("rated").as_deref(), fact("judges").as_deref()), (Some("160"), Some("owl")));
    assert_eq!(fact("number of the last one in the log").as_deref(), Some("160"));
    for name in ["figures/resampled-pearson.svg", "figures/pair-01-slice-2.svg", "figures/matrix-kendall.svg"] {
        assert!(first.contains_key(name), "{name} in {:?}", first.keys());
    }
    let nobody = made(folder.path(), &text.replace("English", "Klingon"));
    assert!(nobody.code == Some(2) && nobody.stderr.contains("\"Klingon\""), "{}", nobody.stderr);
    assert_eq!(files(&out), first);
}

/// Ends a command by a signal while it reads the pipe `table.csv`.
async fn interrupt_while_reading(folder: &Path, arguments: &[&str]) {
    let pipe = "mkfifo table.csv && exec 3> table.csv && echo opened && cat";
    let mut writer = Command::new("timeout");
    writer.args(["60", "sh", "-c", pipe]).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut writer = writer.spawn().unwrap();
    while !folder.join("table.csv").exists() {
        tokio::task::yield_now().await;
    }
    let running = UnderWay::start(folder, arguments);
    // The pipe can be opened once the program reads it, and the program then waits for what is written to it.
    let mut opened = String::new();
    std::io::BufReader::new(writer.stdout.take().unwrap()).read_line(&mut opened).unwrap();
    // Not INT, which is ignored where a shell without job control has started the tests in the background.
    running.signal("TERM");
    assert_eq!((opened.trim(), running.ended().await.code), ("opened", None), "ended by the signal");
    drop(writer.stdin.take());
    writer.wait().unwrap();
    std::fs::remove_file(folder.join("table.csv")).unwrap();
}

#[tokio::test]
async fn an_interrupted_study_leaves_no_folder() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mine.toml"), "table = \"table.csv\"\nseries = [\"a\", \"b\"]\n").unwrap();
    interrupt_while_reading(folder.path(), &["correlate", "--study", "mine.toml"]).await;
    assert_eq!(files(folder.path()).into_keys().collect::<Vec<_>>(), ["mine.toml"]);
}

#[tokio::test]
async fn an_interrupted_command_leaves_no_folder_for_its_charts() {
    let folder = tempfile::tempdir().unwrap();
    for reading in
        [&["fit", "--votes", "table.csv"][..], &["correlate", "--table", "table.csv", "--x", "a", "--y", "b"][..]]
    {
        interrupt_while_reading(folder.path(), &[reading, &["--charts", "new/charts"]].concat()).await;
        assert!(!folder.path().join("new").exists(), "{reading:?}");
    }
}

#[test]
fn hostile_names_stay_text_in_every_file() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["=HYPERLINK(1)", "<script>alert(1)</script>", "a|b`*_[x](y)", "\u{1b}[2Jred", "@sum", "通义"];
    let mut table = csv::Writer::from_path(folder.path().join("table.csv")).unwrap();
    table.write_record(["model", "=1+1", "<b>|y|", "-z"]).unwrap();
    for (place, name) in names.iter().enumerate() {
        table
            .write_record([*name, &place.to_string(), &(place * place % 7).to_string(), &(place % 4).to_string()])
            .unwrap();
    }
    drop(table);
    let text = "title = \"<img src=x>\\n# two\"\ntable = \"table.csv\"\nseries = [\"=1+1\", \"<b>|y|\", \"-z\"]\n\
                [[combinations]]\nof = [\"=1+1\", \"<b>|y|\"]\ntarget = \"-z\"\nstep = 0.1\n";
    let run = made(folder.path(), text);
    assert!(!done(&run).stderr.contains('\u{1b}'), "{}", run.stderr);
    let made = files(&folder.path().join("mine"));
    for (name, bytes) in &made {
        let text = std::str::from_utf8(bytes).unwrap();
        match name.rsplit('.').next().unwrap() {
            "svg" => assert!(roxmltree::Document::parse(text).is_ok() && !text.contains("<script"), "{name}: {text}"),
            "md" => {
                // A letter after a backslash is only that letter.
                let live: String = text.split('\\').map(|part| part.get(1..).unwrap_or_default()).collect();
                for part in ["<", "\u{1b}", "\n# two", "`*_", "|y|"] {
                    assert!(!live.contains(part), "{part} in {text}");
                }
                assert!(text.contains("\\<script\\>") && text.contains("a\\|b"), "{text}");
            }
            "csv" if name != "data/table.csv" => {
                let mut reader = csv::Reader::from_reader(bytes.as_slice());
                let cells: Vec<String> = reader
                    .records()
                    .flat_map(|row| row.unwrap().iter().map(str::to_owned).collect::<Vec<_>>())
                    .collect();
                let number = |cell: &str| cell.parse::<f64>().is_ok();
                let live = cells.iter().find(|cell| cell.starts_with(['=', '+', '-', '@']) && !number(cell));
                assert_eq!(live, None, "{name}");
            }
            _ => {}
        }
    }
    let original = std::fs::read(folder.path().join("table.csv")).unwrap();
    assert_eq!(made["data/table.csv"], original);
    assert_eq!(results(&folder.path().join("mine"))["data"]["table_sha256"], sha256(&original));
    done(&study(folder.path(), "mine/study.toml", &["--out", "again"]));
    assert_eq!(files(&folder.path().join("again")), made, "with the table that is in the folder");
}

#[test]
fn what_has_nothing_in_common_or_does_not_vary_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let table = "model,none,one,all,same\na,,1,1,4\nb,,,2,4\nc,,,4,4\nd,,,3,4\n";
    std::fs::write(folder.path().join("table.csv"), table).unwrap();
    let text = "table = \"table.csv\"\nseries = [\"none\", \"one\", \"all\", \"same\", \"published:urs\", \"published:urs:intents\"]\n\
                models = [\"a\", \"b\", \"c\", \"d\", \"nobody\"]\n\
                [[combinations]]\nof = [\"none\", \"same\"]\ntarget = \"all\"\nstep = 0\n";
    let run = made(folder.path(), text);
    let said = &done(&run).stderr;
    let json = results(&folder.path().join("mine"));
    let pair = |x: &str, y: &str| {
        let is = |pair: &&Value| pair["x"]["series"] == x && pair["y"]["series"] == y;
        json["pairs"].as_array().unwrap().iter().find(is).unwrap().clone()
    };
    let undefined = |pair: &Value| pair["pearson"]["undefined"].as_str().unwrap().to_owned();
    assert_eq!((&pair("none", "all")["n"], &pair("one", "all")["n"]), (&0.into(), &1.into()));
    assert!(undefined(&pair("none", "all")).contains("only 0") && undefined(&pair("all", "same")).contains("equal"));
    assert_eq!(pair("all", "published:urs")["n"], 0);
    assert!(said.contains("nobody") && said.contains("published:urs:intents of intents"), "{said}");
    assert!(json["combinations"][0]["undefined"].is_string(), "{json}");
    assert_eq!(json["pairs"].as_array().unwrap().len(), 10, "series of intents are compared with none of models");
    let report = std::fs::read_to_string(folder.path().join("mine/report.md")).unwrap();
    assert!(!report.contains("NaN") && report.contains("There is none: "), "{report}");
}

#[test]
fn the_study_of_a_user_knows_names_of_models_and_its_own_pairs() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("deep")).unwrap();
    std::fs::write(folder.path().join("deep/t.csv"), "who,s\nmoss,1\nabab,5\nChatGLM-130B,3\n").unwrap();
    std::fs::write(folder.path().join("langya.toml"), "[aliases]\nmoss = [\"MOSS\"]\n").unwrap();
    let text = "table = \"t.csv\"\nkey = \"who\"\nmodels = [\"MOSS\", \"abab\", \"ChatGLM-130B\"]\nconfidence = 0.9\n\
                [[pairs]]\nx = \"s\"\ny = \"published:superclue_close\"\n[aliases]\nminimax = [\"MiniMax\", \"abab\"]\n";
    std::fs::write(folder.path().join("deep/s.toml"), text).unwrap();
    done(&study(folder.path(), "deep/s.toml", &[]));
    let json = results(&folder.path().join("deep/s"));
    assert_eq!(json["pairs"][0]["models"], serde_json::json!(["ChatGLM-130B", "minimax", "moss"]));
    assert_eq!((&json["title"], &json["confidence"]), (&"s".into(), &0.9.into()));
    // The names of the settings stand in the study as it was used, so it is the same elsewhere.
    let elsewhere = tempfile::tempdir().unwrap();
    let used = folder.path().join("deep/s/study.toml");
    done(&study(elsewhere.path(), used.to_str().unwrap(), &["--out", "s"]));
    assert_eq!(files(&elsewhere.path().join("s")), files(&folder.path().join("deep/s")));
}

#[test]
fn charts_of_a_comparison_are_drawn_into_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    arena(folder.path());
    let draw = |out: &str, arguments: &[&str]| {
        let more = ["--bootstrap", "30", "--charts", out, "--data-dir", "data"];
        done(&langya(folder.path(), ["correlate"].iter().chain(arguments).chain(&more)));
        let made = files(&folder.path().join(out));
        let text = |name: &str| String::from_utf8(made[name].clone()).unwrap();
        made.keys().map(|name| (name.clone(), text(name))).collect::<BTreeMap<_, _>>()
    };
    let close = "published:superclue_close";
    let fixed = draw("fixed", &["--x", close, "--y", "published:superclue_arena"]);
    assert_eq!(fixed.keys().collect::<Vec<_>>(), ["scatter.svg"]);
    assert!(fixed["scatter.svg"].contains("MiniMax"), "{}", fixed["scatter.svg"]);
    let drawn = draw("drawn", &["--x", "arena:win_tie_rate", "--y", "bench:urs"]);
    assert_eq!(drawn.keys().collect::<Vec<_>>(), ["resampled.svg", "scatter.svg"]);
    for part in ["pearson", "spearman", "kendall", "30 values"] {
        assert!(drawn["resampled.svg"].contains(part), "{}", drawn["resampled.svg"]);
    }
    let open = "published:superclue_open:turn:2";
    let mixed = draw("mixed", &["--combine", &[close, open].join(","), "--target", "published:superclue_arena"]);
    assert_eq!(mixed.keys().collect::<Vec<_>>(), ["matrix.svg", "scatter.svg"]);
    assert!(mixed["matrix.svg"].contains("superclue_open"), "{}", mixed["matrix.svg"]);
    assert!(mixed["scatter.svg"].contains("best mixture"), "{}", mixed["scatter.svg"]);
}
