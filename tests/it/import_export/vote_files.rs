//! Votes that come from files and go back into files: the same leaderboard all the way.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::support::postgres::TestDatabase;
use crate::support::program::{UnderWay, langya, program};
use crate::support::until;

fn sample(name: &str) -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name).to_str().unwrap().to_owned()
}

/// What `langya` prints; it has to go well.
#[track_caller]
fn prints(folder: &Path, arguments: &[&str]) -> String {
    let done = langya(folder, arguments);
    assert_eq!(done.code, Some(0), "{arguments:?}: {}", done.stderr);
    done.stdout
}

/// The rows of a fit, and how many votes it rated.
#[track_caller]
fn leaderboard(folder: &Path, place: &[&str]) -> (Value, Value) {
    let arguments = [&["fit", "--format", "json"], place].concat();
    let leaderboard: Value = serde_json::from_str(&prints(folder, &arguments)).unwrap();
    (leaderboard["models"].clone(), leaderboard["votes"]["rated"].clone())
}

/// Imports, fits, exports and fits again, wherever the database is.
fn there_and_back(folder: &Path, place: [&str; 2]) {
    let place = &place[..];
    let files = [sample("small_votes.csv"), sample("votes/langya.jsonl"), sample("votes/lmarena_100k.parquet")];
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let import = [&["import", "votes"], &files[..], place].concat();
    let told = prints(folder, &import);
    assert!(told.contains("small_votes.csv: 160 votes imported"), "{told}");
    assert!(told.contains("langya.jsonl: 1 left out: identity_leak"), "{told}");
    let first = leaderboard(folder, place);
    assert_eq!(first.1, 160 + 3 + 4);
    let one_by_one: Vec<_> =
        files.iter().map(|file| leaderboard(folder, &["--votes", file]).1.as_u64().unwrap()).collect();
    assert_eq!(one_by_one, [160, 3, 4]);

    let told = prints(folder, &import);
    assert_eq!(told.matches("already imported; nothing changed").count(), 3, "{told}");
    assert_eq!(leaderboard(folder, place), first, "the same files twice are the same votes");

    for (format, begins) in [("jsonl", "{"), ("csv", "seq,"), ("parquet", "PAR1")] {
        let out = format!("votes.{format}");
        // Its name says the format, where no flag does.
        prints(folder, &[&["export", "votes", "--out", &out], place].concat());
        let written = std::fs::read(folder.join(&out)).unwrap();
        assert!(written.starts_with(begins.as_bytes()), "{out}");
        assert_eq!(leaderboard(folder, &["--votes", &out]).1, first.1, "{format}");
        // Elo runs in the order of the times in a file, and in that of the import in the database.
        let strengths = |leaderboard: &Value| -> Vec<_> {
            let models = leaderboard.as_array().unwrap().iter();
            models
                .map(|model| {
                    [&model["model"], &model["rating"], &model["lower"], &model["battles"]].map(Value::to_string)
                })
                .collect()
        };
        assert_eq!(strengths(&leaderboard(folder, &["--votes", &out]).0), strengths(&first.0), "{format}");
        let told = prints(folder, &[&["import", "votes", &out], place].concat());
        assert_eq!(told, format!("{out}: 0 votes imported\n{out}: 167 votes are already here\n"));
        assert_eq!(leaderboard(folder, place), first, "the arena's own votes in {format} count once");
        let battles = format!("battles.{format}");
        prints(folder, &[&["export", "battles", "--format", format, "--out", &battles], place].concat());
        prints(folder, &[&["export", "leaderboard", "--format", format, "--out", "board", "--force"], place].concat());
    }
    refuse_a_second_export(folder, place);
    let battles = std::fs::read_to_string(folder.join("battles.csv")).unwrap();
    assert!(battles.starts_with("battle_id,judge,mode,stage,model_a,model_b,turn,"), "{battles}");
    assert_eq!(battles.lines().count(), 1 + 167);
    let partial = std::fs::read_dir(folder)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|end| end == "partial"));
    assert_eq!(partial.count(), 0);
}

/// The arena's own log with a further vote in it, and then all of it in another file.
#[test]
fn of_a_log_that_has_votes_of_this_arena_only_the_others_are_imported() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let place = ["--data-dir", "data"];
    std::fs::write(folder.join("votes.csv"), "model_a,model_b,winner\nx,y,A\nx,y,B\nx,y,tie\n").unwrap();
    prints(folder, &["import", "votes", "votes.csv", "--data-dir", "data"]);
    prints(folder, &["export", "votes", "--out", "own.jsonl", "--data-dir", "data"]);
    let own = std::fs::read_to_string(folder.join("own.jsonl")).unwrap();
    let other = r#"{"model_a":"z","model_b":"x","winner":"tie","battle_id":"elsewhere","tstamp":1}"#;
    std::fs::write(folder.join("more.jsonl"), format!("{other}\n{own}")).unwrap();
    let told = prints(folder, &[&["import", "votes", "more.jsonl"], &place[..]].concat());
    assert_eq!(told, "more.jsonl: 1 vote imported\nmore.jsonl: 3 votes are already here\n");
    assert_eq!(leaderboard(folder, &place).1, 4);
    // What was imported has an id of this arena, and is known by it from then on.
    prints(folder, &["export", "votes", "--out", "all.csv", "--data-dir", "data"]);
    let told = prints(folder, &[&["import", "votes", "all.csv", "more.jsonl"], &place[..]].concat());
    let of_all = "all.csv: 0 votes imported\nall.csv: 4 votes are already here\n";
    assert_eq!(told, format!("{of_all}more.jsonl: already imported; nothing changed\n"));
    assert_eq!(leaderboard(folder, &place).1, 4);
}

/// A file that exists stays as it is without `--force`.
fn refuse_a_second_export(folder: &Path, place: &[&str]) {
    let export = [&["export", "leaderboard", "--format", "csv", "--out", "votes.csv"], place].concat();
    let simulate =
        ["simulate", "--models", "3", "--votes", "9", "--seed", "1", "--out", "s.csv", "--truth", "votes.csv"];
    let before = std::fs::read(folder.join("votes.csv")).unwrap();
    for command in [&export[..], &simulate] {
        let refused = langya(folder, command);
        let told = "error: votes.csv exists: choose another name, or replace it with --force\n";
        assert_eq!((refused.code, refused.stderr.as_str()), (Some(2), told));
        assert_eq!(std::fs::read(folder.join("votes.csv")).unwrap(), before);
    }
    assert!(!folder.join("s.csv").exists(), "nothing is written where one of two files cannot be");
    prints(folder, &[&export[..], &["--force"]].concat());
    assert_ne!(std::fs::read(folder.join("votes.csv")).unwrap(), before);
}

/// From the database, from its export, and with all votes counted.
#[test]
fn a_slice_counts_its_own_excluded_votes() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rows = "x,y,A,en\nx,y,B,zh\n".repeat(4);
    std::fs::write(folder.join("votes.csv"), format!("model_a,model_b,winner,language\n{rows}")).unwrap();
    prints(folder, &["import", "votes", "votes.csv", "--data-dir", "data"]);
    let exclude = ["votes", "exclude", "--seq", "1..3", "--reason", "a test", "--by", "test", "--data-dir", "data"];
    prints(folder, &exclude);
    let totals = |place: &[&str], language: &str| {
        let fit = [&["fit", "--format", "json", "--language", language], place].concat();
        serde_json::from_str::<Value>(&prints(folder, &fit)).unwrap()["votes"].clone()
    };
    let counted = |rated: u64, admin: u64| serde_json::json!({"read": 4, "rated": rated, "excluded": {"admin": admin}});
    for format in ["csv", "parquet"] {
        let out = format!("out.{format}");
        prints(folder, &["export", "votes", "--data-dir", "data", "--out", &out]);
        for place in [["--data-dir", "data"], ["--votes", &out]] {
            assert_eq!(totals(&place, "en"), counted(2, 2), "{place:?}");
            assert_eq!(totals(&place, "zh"), counted(3, 1), "{place:?}");
        }
    }
    let all = serde_json::json!({"read": 4, "rated": 4, "excluded": {}});
    assert_eq!(totals(&["--data-dir", "data", "--include-excluded"], "en"), all);
}

/// One such vote in the log, and no leaderboard could be fitted again.
#[test]
fn what_the_log_cannot_hold_is_not_imported() {
    let folder = tempfile::tempdir().unwrap();
    let header = "model_a,model_b,winner,judge,language,category,intent\n";
    for (row, named) in [
        ("x\u{1e},y,tie,v,en,c,i", r#"the model "x\u{1e}""#),
        ("x,y\0,tie,v,en,c,i", r#"the model "y\0""#),
        ("x,y,tie,v\u{1e}w,en,c,i", r#"the voter "v\u{1e}w""#),
        ("x,y,tie,v,\u{1e},c,i", r#"the language "\u{1e}""#),
        ("x,y,tie,v,en,c\0,i", r#"the category "c\0""#),
        ("x,y,tie,v,en,c,\u{1e}i", r#"the intent "\u{1e}i""#),
    ] {
        std::fs::write(folder.path().join("votes.csv"), format!("{header}x,y,tie,v,en,c,i\n{row}\n")).unwrap();
        let done = langya(folder.path(), ["import", "votes", "votes.csv", "--data-dir", "data"]);
        let told = format!("error: votes.csv names {named}: remove its control character\n");
        assert_eq!((done.code, done.stderr), (Some(2), told));
    }
    assert!(!folder.path().join("data").exists(), "no database is made for it");
}

#[test]
fn reasons_come_in_and_go_out_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let reasons = |file: &str| -> Vec<[Value; 2]> {
        let text = std::fs::read_to_string(folder.path().join(file)).unwrap();
        let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        rows.map(|row| ["reasons_a", "reasons_b"].map(|name| row[name].clone())).collect()
    };
    let votes = r#"{"model_a":"x","model_b":"y","winner":"tie","reasons_a":"too_long,useful","reasons_b":"funny,wrong"}
{"model_a":"x","model_b":"y","winner":"model_a"}
"#;
    std::fs::write(folder.path().join("votes.jsonl"), votes).unwrap();
    prints(folder.path(), &["import", "votes", "votes.jsonl", "--data-dir", "data"]);
    for format in ["jsonl", "csv", "parquet"] {
        let (file, data, back) = (format!("votes.{format}"), format!("data-{format}"), format!("back-{format}.jsonl"));
        prints(
            folder.path(),
            &["export", "votes", "--format", format, "--out", &file, "--force", "--data-dir", "data"],
        );
        prints(folder.path(), &["import", "votes", &file, "--data-dir", &data]);
        prints(folder.path(), &["export", "votes", "--out", &back, "--data-dir", &data]);
        let kept = [["useful,too_long", "wrong"].map(Value::from), [Value::Null, Value::Null]];
        assert_eq!(reasons(&back), kept, "{format}: an unknown reason is left out");
    }
}

#[test]
fn votes_and_their_truth_are_two_files() {
    let folder = tempfile::tempdir().unwrap();
    let one = ["simulate", "--models", "3", "--votes", "9", "--seed", "1", "--out", "v.csv", "--truth", "v.csv"];
    let done = langya(folder.path(), one);
    assert_eq!(
        (done.code, done.stderr.as_str()),
        (Some(2), "error: --out and --truth are both v.csv: name two files\n")
    );
    assert!(!folder.path().join("v.csv").exists());
}

#[actix_web::test]
async fn a_signal_ends_a_simulation_and_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let endless = ["simulate", "--models", "3", "--votes", "4000000000", "--seed", "1", "--out", "votes.csv"];
    let files = || std::fs::read_dir(folder.path()).unwrap().count();
    let simulation = UnderWay::start(folder.path(), &endless);
    until(async || (files() == 2).then_some(())).await;
    simulation.signal("INT");
    let run = simulation.ended().await;
    assert!(run.code == Some(1) && run.stderr.contains("interrupted: no file was written"), "{run:?}");
    assert_eq!(files(), 0);
}

#[actix_web::test]
async fn a_signal_ends_an_import_while_it_reads_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let import = UnderWay::start(folder.path(), &["import", "votes", "pipe", "--data-dir", "new/data"]);
    // Opened once the command opens it too; without an end the command waits for more.
    let _open = tokio::task::spawn_blocking(move || std::fs::File::options().write(true).open(pipe)).await.unwrap();
    import.signal("TERM");
    let run = import.ended().await;
    assert!(run.code == Some(1) && run.stderr.contains("interrupted: no further file was imported"), "{run:?}");
    assert!(!folder.path().join("new").exists());
}

#[test]
fn votes_come_in_and_go_out_without_a_changed_number() {
    let folder = tempfile::tempdir().unwrap();
    there_and_back(folder.path(), ["--data-dir", "data"]);
}

#[actix_web::test]
async fn votes_come_in_and_go_out_of_postgresql() {
    let Some(database) = TestDatabase::create().await else { return };
    let folder = tempfile::tempdir().unwrap();
    there_and_back(folder.path(), ["--database", &database.url]);
    database.drop().await;
}

#[test]
fn nothing_of_a_file_with_a_bad_row_comes_in_unless_it_is_to_be_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let place = ["--data-dir", "data"];
    std::fs::write(folder.path().join("bad.csv"), "model_a,model_b,winner\nx,y,A\nx,y,nobody\nx,y,B\n").unwrap();
    let refused = langya(folder.path(), ["import", "votes", "bad.csv", "--data-dir", "data"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("bad.csv line 3: unknown winner \"nobody\""), "{}", refused.stderr);
    assert!(!folder.path().join("data").exists(), "no database is made for it");
    let told = prints(folder.path(), &[&["import", "votes", "bad.csv", "--skip-bad"], &place[..]].concat());
    assert_eq!(told, "bad.csv: 2 votes imported\nbad.csv: 1 left out: unknown_winner\n");
    assert_eq!(leaderboard(folder.path(), &place).1, 2);
}

#[test]
fn a_spreadsheet_gets_no_formula() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("sly.csv"), "model_a,model_b,winner\n=1+1,@sum,A\n=1+1,@sum,B\n").unwrap();
    prints(folder.path(), &["import", "votes", "sly.csv", "--data-dir", "data"]);
    let fitted = prints(folder.path(), &["fit", "--votes", "sly.csv", "--format", "csv"]);
    assert!(fitted.contains("\n\"'=1+1\",") && fitted.contains("\n\"'@sum\","), "{fitted}");
    let exported = prints(folder.path(), &["export", "votes", "--format", "csv", "--data-dir", "data", "--out", "-"]);
    assert_eq!(exported.matches(r#","'=1+1","'@sum","#).count(), 2, "{exported}");
}

/// Runs the program in `folder` with what a shell command prints as its standard input, through a pipe.
fn piped(folder: &Path, printing: &str, arguments: &str) -> Output {
    let script = format!("{printing} | '{}' {arguments}", program());
    Command::new("sh").args(["-c", &script]).current_dir(folder).output().unwrap()
}

#[test]
fn votes_that_come_through_a_pipe_are_known_by_their_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let import = |rows: &str| {
        let printing = format!("printf 'model_a,model_b,winner\\n{rows}'");
        let done = piped(folder.path(), &printing, "import votes /dev/stdin --data-dir data");
        String::from_utf8([done.stdout, done.stderr].concat()).unwrap()
    };
    assert_eq!(import("x,y,A\\n"), "/dev/stdin: 1 vote imported\n");
    assert_eq!(import("x,y,B\\nx,y,tie\\n"), "/dev/stdin: 2 votes imported\n");
    assert_eq!(import("x,y,A\\n"), "/dev/stdin: already imported; nothing changed\n");
    let refused = import("x,y,nobody\\n");
    assert!(refused.starts_with("error: /dev/stdin line 2: unknown winner \"nobody\""), "{refused}");
    assert_eq!(leaderboard(folder.path(), &["--data-dir", "data"]).1, 3);
}

/// The bytes of a file as they come through a pipe, from a socket, and as the file itself.
fn inputs(file: &Path) -> [Stdio; 3] {
    let bytes = std::fs::read(file).unwrap();
    let (reader, mut pipe) = std::io::pipe().unwrap();
    let (stream, mut socket) = UnixStream::pair().unwrap();
    pipe.write_all(&bytes).unwrap();
    socket.write_all(&bytes).unwrap();
    [reader.into(), OwnedFd::from(stream).into(), File::open(file).unwrap().into()]
}

/// Runs the program in `folder` with this as its standard input.
fn reading(folder: &Path, input: Stdio, arguments: &str) -> Output {
    Command::new(program()).args(arguments.split(' ')).current_dir(folder).stdin(input).output().unwrap()
}

#[test]
fn a_dash_is_the_standard_input_for_every_command_that_reads_a_file_of_votes() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let votes = "question,voter,model_a,model_b,winner\n1,v,x,y,A\n1,w,x,y,A\n2,v,x,y,B\n";
    let scores = "item,model,rater,score\n1,x,j,3\n1,y,j,4\n2,x,j,5\n2,y,j,2\n";
    for (name, text) in [
        ("votes", votes),
        ("scores", scores),
        ("prices", "model,input_price,output_price\nx,1,2\ny,3,4\n"),
        ("bad", "question,voter,model_a,model_b,winner\n1,v,x,y,nobody\n"),
    ] {
        std::fs::write(folder.join(name), text).unwrap();
    }
    for (command, file) in [
        ("fit --format json --votes FILE", "votes"),
        ("fit --format json --votes votes --prices FILE", "prices"),
        ("votes flagged --votes FILE", "votes"),
        ("agree --format json --votes FILE", "votes"),
        ("agree --format json --votes votes --pool-judges --verdicts FILE", "votes"),
        ("agree --format json --votes scores --anchor 5 --verdicts FILE", "scores"),
        ("agree --format json --anchor 5 --verdicts FILE", "scores"),
    ] {
        let of_file = reading(folder, Stdio::null(), &command.replace("FILE", file));
        assert!(of_file.status.success(), "{command}: {of_file:?}");
        for input in inputs(&folder.join(file)) {
            assert_eq!(reading(folder, input, &command.replace("FILE", "-")), of_file, "{command}");
        }
    }
    for (command, file, reason) in [
        ("fit --votes -", "bad", " line 2: unknown winner \"nobody\""),
        ("import votes - --data-dir data", "bad", " line 2: unknown winner \"nobody\""),
        ("fit --votes votes --prices -", "votes", ": no column is called model"),
        ("fit --votes votes --same-maker -", "votes", ": a column model and a column maker are needed"),
    ] {
        for input in inputs(&folder.join(file)) {
            let refused = reading(folder, input, command);
            let told = String::from_utf8(refused.stderr).unwrap();
            assert_eq!(refused.status.code(), Some(2), "{command}: {told}");
            assert!(told.starts_with(&format!("error: the standard input{reason}")), "{told}");
        }
    }
}

#[test]
fn votes_from_the_standard_input_are_known_by_their_bytes_whatever_they_come_from() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("votes.csv");
    let import = |rows: &str| {
        std::fs::write(&file, format!("model_a,model_b,winner\n{rows}")).unwrap();
        inputs(&file).map(|input| {
            let done = reading(folder.path(), input, "import votes - --data-dir data");
            String::from_utf8([done.stdout, done.stderr].concat()).unwrap()
        })
    };
    let again = "the standard input: already imported; nothing changed\n";
    assert_eq!(import("x,y,A\n"), ["the standard input: 1 vote imported\n", again, again]);
    assert_eq!(import("x,y,B\nx,y,tie\n"), ["the standard input: 2 votes imported\n", again, again]);
    assert_eq!(leaderboard(folder.path(), &["--data-dir", "data"]).1, 3);
}

#[test]
fn a_redirected_file_is_read_from_where_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for name in ["small_votes.csv", "votes/lmarena_100k.parquet"] {
        let votes = std::fs::read(sample(name)).unwrap();
        std::fs::write(folder.join("votes"), &votes).unwrap();
        std::fs::write(folder.join("noted"), [&b"a note\n"[..], &votes[..]].concat()).unwrap();
        let behind_the_note = || {
            let mut file = File::open(folder.join("noted")).unwrap();
            file.seek(SeekFrom::Start(7)).unwrap();
            Stdio::from(file)
        };
        let of_file = reading(folder, Stdio::null(), "fit --votes votes --format json");
        assert!(of_file.status.success(), "{name}: {of_file:?}");
        assert_eq!(reading(folder, behind_the_note(), "fit --votes - --format json"), of_file, "{name}");
        let imported = reading(folder, behind_the_note(), "import votes - --data-dir data");
        assert!(imported.status.success(), "{name}: {imported:?}");
        let told = prints(folder, &["import", "votes", "votes", "--data-dir", "data"]);
        assert!(told.starts_with("votes: already imported; nothing changed\n"), "{name}: {told}");
    }
}

#[test]
fn a_dash_that_is_given_twice_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for command in [
        "fit --votes - -",
        "fit --votes - --prices -",
        "fit --votes - --same-maker -",
        "votes flagged --votes - -",
        "import votes - - --data-dir data",
        "agree --votes - --verdicts -",
    ] {
        let refused = langya(folder.path(), command.split(' '));
        let told = "error: standard input can be read only once: use - for one file only\n";
        assert_eq!((refused.code, refused.stderr.as_str()), (Some(2), told), "{command}");
    }
}

#[test]
fn a_folder_for_temporary_files_that_takes_none_is_named_with_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    for command in ["fit --votes -", "import votes - --data-dir data"] {
        let [pipe, ..] = inputs(Path::new(&sample("votes/lmarena_100k.parquet")));
        let mut run = Command::new(program());
        run.args(command.split(' ')).env("TMPDIR", "absent").current_dir(folder.path()).stdin(pipe);
        let refused = run.output().unwrap();
        let told = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(2), "{command}: {told}");
        let reason = "error: cannot read the standard input: a copy of it cannot be kept in absent: ";
        assert!(told.starts_with(reason) && told.ends_with("; set TMPDIR to another folder\n"), "{told}");
    }
}

#[test]
fn a_number_of_replicates_that_no_interval_draws_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let votes = sample("small_votes.csv");
    let warned = |flags: &[&str]| {
        let fit = [&["fit", "--votes", votes.as_str(), "--bootstrap", "10"], flags].concat();
        let done = langya(folder.path(), fit);
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        done.stderr.contains("--bootstrap has no effect without --interval bootstrap")
    };
    assert!(warned(&[]) && !warned(&["--interval", "bootstrap"]));
}

#[test]
fn parquet_is_read_from_a_pipe_too() {
    let folder = tempfile::tempdir().unwrap();
    let file = sample("votes/lmarena_100k.parquet");
    let done = piped(folder.path(), &format!("cat '{file}'"), "fit --votes /dev/stdin --format json");
    let fitted: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(
        (fitted["models"].clone(), fitted["votes"]["rated"].clone()),
        leaderboard(folder.path(), &["--votes", &file])
    );
}

#[test]
fn an_export_to_a_name_whose_extension_is_no_format_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    prints(folder.path(), &["import", "votes", &sample("small_votes.csv"), "--data-dir", "data"]);
    let export = ["export", "votes", "--data-dir", "data", "--out"];
    let refused = langya(folder.path(), [&export[..], &["votes.xlsx"]].concat());
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("votes.xlsx: end its name in .jsonl, .csv or .parquet"), "{refused:?}");
    assert!(!folder.path().join("votes.xlsx").exists());
    for rest in [&["votes"][..], &["votes.txt", "--format", "csv"]] {
        prints(folder.path(), &[&export[..], rest].concat());
    }
}

#[test]
fn an_export_is_done_when_its_reader_goes_away_and_fails_by_name_on_a_full_device() {
    let folder = tempfile::tempdir().unwrap();
    prints(folder.path(), &["import", "votes", &sample("small_votes.csv"), "--data-dir", "data"]);
    for format in ["jsonl", "csv", "parquet"] {
        let export = ["export", "votes", "--format", format, "--data-dir", "data", "--out"];
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = Command::new(program());
        command.args(export).arg("-").current_dir(folder.path()).stdout(writer);
        let done = command.output().unwrap();
        assert_eq!((done.status.code(), String::from_utf8(done.stderr).unwrap().as_str()), (Some(0), ""), "{format}");
        let full = langya(folder.path(), [&export[..], &["/dev/full"]].concat());
        assert_eq!(full.code, Some(1), "{format}");
        assert!(full.stderr.contains("/dev/full: No space left on device"), "{format}: {}", full.stderr);
    }
}
