//! The program as an operator meets it: what it prints, and that every refusal names the thing and the way out.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use sqlx::migrate::Migrator;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool};
use tempfile::TempDir;

use crate::support::program::{Server, langya, langya_in, program};
use crate::support::ratings::shared;
use crate::support::until;
use crate::support::visitor::{Visitor, get, http};

/// An empty folder with this settings file.
fn folder(settings: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("langya.toml"), settings).unwrap();
    folder
}

const SERVE: [&str; 5] = ["serve", "--listen", "127.0.0.1:0", "--data-dir", "data"];

/// Exit code 2, nothing on stdout, and one line on stderr that holds all these words.
#[track_caller]
fn check_refused(folder: &Path, arguments: &[&str], words: &[&str]) {
    let run = langya(folder, arguments);
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{arguments:?}: {}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 1, "{arguments:?}: {}", run.stderr);
    for word in words {
        assert!(run.stderr.contains(word), "{arguments:?}: no {word:?} in {}", run.stderr);
    }
}

#[test]
fn settings_that_cannot_be_used_are_refused_by_name() {
    let typo = folder("[battle]\nmax_turn = 3\n");
    check_refused(
        typo.path(),
        &SERVE,
        &["langya.toml", "line 2", "max_turn", "unknown field", "deploy/langya.example.toml"],
    );
    let unquoted = folder("[storage]\ndatabase = postgres://me:canary@db/arena\n");
    check_refused(unquoted.path(), &SERVE, &["langya.toml", "line 2", "at \"database\""]);
    assert!(!langya(unquoted.path(), SERVE).stderr.contains("canary"));
    let keyless = folder("[[models]]\nid = \"m\"\nprovider = \"openai\"\napi_key_env = \"NO_SUCH_KEY\"\n");
    check_refused(keyless.path(), &SERVE, &["\"m\"", "NO_SUCH_KEY", "export it"]);
    let lonely = folder("[[models]]\nid = \"m\"\nprovider = \"openai\"\nbase_url = \"http://127.0.0.1:1/v1\"\n");
    check_refused(lonely.path(), &SERVE, &["two models", "[[models]]", "providers.practice"]);
    assert!(!lonely.path().join("data").exists(), "a refused start creates nothing");
    let no_scheme = folder("[redis]\nurl = \"127.0.0.1:6379\"\n");
    check_refused(no_scheme.path(), &SERVE, &["redis.url cannot be used", "redis://"]);
    assert!(!no_scheme.path().join("data").exists(), "a refused start creates nothing");
    let absent = folder("");
    check_refused(absent.path(), &["serve", "--config", "absent.toml"], &["absent.toml", "settings file"]);
}

#[test]
fn a_command_without_its_database_or_file_makes_no_folder() {
    let folder = folder("");
    let here = folder.path();
    std::fs::write(here.join("bad.csv"), "model,score\none\n").unwrap();
    let before = std::fs::read_dir(here).unwrap().count();
    for (command, said) in [
        (&["upgrade"][..], "there is no arena"),
        (&["bench", "answer", "urs"][..], "langya import suite NAME FILE"),
        (&["bench", "run", "urs", "--judge", "m"][..], "langya import suite NAME FILE"),
        (&["bench", "report", "urs", "--out", "new/report"][..], "there is no arena"),
        (&["judge", "run", "--judge", "m"][..], "there is no arena"),
        (&["import", "answers", "bad.csv", "--suite", "urs"][..], "langya import suite NAME FILE"),
        (&["import", "votes", "bad.csv"][..], "bad.csv has no column model_a"),
        (&["import", "scores", "bad.csv"][..], "bad.csv line 2"),
        (&["import", "suite", "urs", "bad.csv"][..], "bad.csv"),
        (&["fit", "--votes", "bad.csv", "--charts", "new/charts"][..], "bad.csv"),
        (&["correlate", "--x", "a", "--y", "b", "--charts", "new/charts"][..], "--table"),
        (&["bench", "stop"][..], "there is no arena"),
        (&["import", "votes", "absent"][..], "cannot read absent"),
        (&["import", "suite", "urs", "absent"][..], "cannot read absent"),
        (&["import", "scores", "absent"][..], "cannot read absent"),
        (&["import", "votes", "/dev/zero"][..], "cannot read /dev/zero: it is a device"),
        (&["import", "votes", "."][..], "it is not a data set"),
        (&["import", "arena", "absent"][..], "cannot read absent"),
        (&["import", "arena", "."][..], "cannot read .: it is not a regular file; name the arena's database file"),
        (&["import", "arena", "langya.toml"][..], "--database postgres://"),
    ] {
        check_refused(here, &[command, &["--data-dir", "data"]].concat(), &[said]);
        assert_eq!(std::fs::read_dir(here).unwrap().count(), before, "{command:?}");
    }
    // A folder that cannot be entered is not one without an arena.
    std::os::unix::fs::symlink("loop", here.join("loop")).unwrap();
    for command in [&["fit"][..], &["upgrade", "--check"][..], &["backup", "--out", "copy"][..], &["bench", "stop"][..]]
    {
        check_refused(
            here,
            &[command, &["--data-dir", "loop"]].concat(),
            &["cannot use the data folder loop", "symbolic links"],
        );
    }
    let pipe = here.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    check_refused(here, &["verify", "pipe"], &["nor a folder"]);
}

#[test]
fn a_command_leaves_nothing_beside_a_database_that_nobody_serves() {
    let folder = folder("");
    let here = folder.path();
    std::fs::write(here.join("votes.csv"), "model_a,model_b,winner\none,two,model_a\ntwo,one,tie\n").unwrap();
    for (command, code) in [
        (&["import", "votes", "votes.csv"][..], 0),
        (&["fit"][..], 0),
        (&["export", "votes", "--out", "-"][..], 0),
        (&["votes", "list"][..], 0),
        (&["invites", "create"][..], 0),
        (&["bench", "list"][..], 0),
        (&["export", "scores", "--suite", "absent", "--out", "-"][..], 2),
        (&["correlate", "--x", "arena:rating", "--y", "bench:absent"][..], 2),
    ] {
        let run = langya(here, [command, &["--data-dir", "data"]].concat());
        assert_eq!(run.code, Some(code), "{command:?}: {}", run.stderr);
        let files = std::fs::read_dir(here.join("data")).unwrap().map(|entry| entry.unwrap().file_name());
        let mut files: Vec<_> = files.collect();
        files.sort_unstable();
        assert_eq!(files, ["langya.db", "langya.lock"], "{command:?}");
    }
}

#[test]
fn an_error_that_cannot_be_printed_keeps_its_exit_code() {
    let folder = folder("");
    let script = "exec \"$0\" restore absent 2>/dev/full";
    let status = Command::new("sh").args(["-c", script, &program()]).current_dir(folder.path()).status().unwrap();
    assert_eq!(status.code(), Some(2), "101 is a panic");
}

#[test]
fn a_variable_that_looks_like_a_setting_and_is_not_read_is_named_once_at_the_start() {
    let folder = folder("");
    std::fs::write(folder.path().join("file"), "").unwrap();
    let variables = [("LANGYA_LISTEN", "127.0.0.1:1"), ("LANGYA_PORT", "tcp://10.0.0.1:80")];
    let run = langya_in(folder.path(), ["serve", "--listen", "127.0.0.1:0", "--data-dir", "file"], &variables);
    let said = "the environment variable LANGYA_LISTEN is not read: use LANGYA__SERVER__LISTEN, or remove it";
    assert_eq!((run.code, run.stderr.matches(said).count()), (Some(2), 1), "{run:?}");
    assert!(!run.stderr.contains("LANGYA_PORT"), "{run:?}");
}

#[test]
fn addresses_and_folders_that_cannot_be_used_are_refused_by_name() {
    let folder = folder("");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let arguments = ["serve", "--listen", &address, "--data-dir", "data"];
    check_refused(folder.path(), &arguments, &[&address, "in use", "--listen"]);
    std::fs::write(folder.path().join("file"), "").unwrap();
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--data-dir", "file"];
    check_refused(folder.path(), &arguments, &["data folder file", "--data-dir"]);
}

#[test]
fn a_doctor_sees_a_data_folder_that_cannot_be_made_and_redis_beside_sqlite() {
    let folder = folder("[storage]\ndata_dir = \"langya.toml\"\n[redis]\nurl = \"redis://127.0.0.1:1\"\n");
    let run = langya(folder.path(), ["doctor", "--no-models"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    for said in ["langya.toml is not a folder that this user can write", "--data-dir", "SQLite, which only one"] {
        assert!(run.stdout.contains(said), "{said}: {}", run.stdout);
    }
}

#[test]
fn a_doctor_names_models_that_nobody_can_tell_apart() {
    let model = |id: &str| {
        format!(
            "[[models]]\nid = \"{id}\"\nname = \"Twin\"\nprovider = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\n"
        )
    };
    let folder = folder(&["one", "two"].map(model).concat());
    let run = langya(folder.path(), ["doctor", "--no-models"]);
    assert!(run.stdout.contains("the models one, two have the same name: Twin"), "{}", run.stdout);
}

/// The flags of a help text under a heading.
#[track_caller]
fn flags_under(help: &str, heading: &str) -> String {
    let Some((_, rest)) = help.split_once(&format!("\n{heading}:\n")) else { panic!("no {heading:?} in {help}") };
    rest.lines().take_while(|line| line.is_empty() || line.starts_with(' ')).collect()
}

#[test]
fn a_help_text_keeps_a_commands_own_flags_apart_from_those_of_all_commands() {
    let here = tempfile::tempdir().unwrap();
    let help = |command: &[&str]| langya(here.path(), command.iter().chain(&["--help"])).stdout;
    let fit = help(&["fit"]);
    for (help, own) in [(&fit, "--method"), (&help(&["backup"]), "--out"), (&help(&["models", "add"]), "--from")] {
        let (options, shared) = (flags_under(help, "Options"), flags_under(help, "Settings and database"));
        assert!(options.contains(own) && !options.contains("--config"), "{help}");
        assert!(shared.contains("--config") && shared.contains("--data-dir") && !shared.contains(own), "{help}");
    }
    let columns = flags_under(&fit, "Files of votes");
    assert!(columns.contains("--winner") && !columns.contains("--method"), "{fit}");
}

#[test]
fn a_second_server_on_the_same_folder_is_refused() {
    let folder = folder("");
    let _first = Server::start(folder.path(), &[]);
    check_refused(folder.path(), &SERVE, &["another langya", "data", "--data-dir"]);
}

#[actix_web::test]
async fn a_database_of_a_newer_version_is_left_alone() {
    let folder = folder("");
    Server::start(folder.path(), &[]).terminate();
    let database = folder.path().join("data/langya.db");
    let pool = SqlitePool::connect_with(SqliteConnectOptions::new().filename(&database)).await.unwrap();
    let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
                 VALUES (99990101000000, 'from the future', TRUE, x'00', 0)";
    sqlx::query(newer).execute(&pool).await.unwrap();
    pool.close().await;
    std::fs::remove_file(folder.path().join("data/langya.lock")).unwrap();
    check_refused(folder.path(), &SERVE, &["newer langya", "99990101000000"]);
    assert!(!folder.path().join("data/langya.lock").exists(), "nothing is made beside it");
}

#[test]
fn nothing_is_made_beside_a_file_that_the_server_cannot_use() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    std::fs::write(here.join("votes.csv"), "model_a,model_b,winner\nx,y,model_a\n").unwrap();
    std::fs::write(here.join("scores.csv"), "suite,model,score\nurs,m,50\n").unwrap();
    std::fs::write(here.join("copy"), "SQLite").unwrap();
    let mut files = 3;
    for (name, bytes, said) in [
        ("text.db", "no database, but long enough to be taken for one", "is not the database of an arena"),
        ("empty.db", "", "is empty, so its arena is lost"),
    ] {
        std::fs::write(here.join(name), bytes).unwrap();
        files += 1;
        let database = format!("sqlite:{name}");
        for command in [
            &["serve", "--listen", "127.0.0.1:0"][..],
            &["import", "votes", "votes.csv"][..],
            &["import", "scores", "scores.csv"][..],
            &["judge", "run", "--judge", "m"][..],
            &["upgrade"][..],
        ] {
            check_refused(here, &[command, &["--database", database.as_str()]].concat(), &[said]);
            assert_eq!(std::fs::read_dir(here).unwrap().count(), files, "{command:?} {name}");
        }
        check_refused(here, &["restore", "copy", "--database", &database], &["exists already"]);
        assert_eq!(std::fs::read_dir(here).unwrap().count(), files, "{name}");
    }
}

/// An arena as the version before the last migration left it.
pub(crate) async fn arena_before_the_last_migration(data: &Path) -> i64 {
    let mut files: Vec<PathBuf> = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/sqlite"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let last = files.pop().unwrap();
    let earlier = tempfile::tempdir().unwrap();
    for file in files {
        std::fs::copy(&file, earlier.path().join(file.file_name().unwrap())).unwrap();
    }
    std::fs::create_dir(data).unwrap();
    let options = SqliteConnectOptions::new().filename(data.join("langya.db")).create_if_missing(true);
    let pool = SqlitePool::connect_with(options).await.unwrap();
    Migrator::new(earlier.path()).await.unwrap().run(&pool).await.unwrap();
    pool.close().await;
    last.file_name().unwrap().to_str().unwrap().split('_').next().unwrap().parse().unwrap()
}

#[actix_web::test]
async fn an_earlier_database_is_changed_only_when_it_is_asked_for() {
    let folder = folder("");
    let last = arena_before_the_last_migration(&folder.path().join("data")).await;
    let pending = |arguments: &[&'static str]| {
        let run = langya(folder.path(), [&["upgrade", "--format", "json", "--data-dir", "data"], arguments].concat());
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let changes: Vec<Value> = serde_json::from_str(&run.stdout).unwrap();
        (changes.iter().map(|change| change["version"].as_i64().unwrap()).collect::<Vec<_>>(), run.stderr)
    };
    check_refused(folder.path(), &["fit", "--data-dir", "data"], &["older langya", "langya upgrade"]);
    for _ in 0..2 {
        let (changes, advice) = pending(&["--check"]);
        assert_eq!(changes, [last], "a check changes nothing");
        assert!(advice.contains("no backup") && advice.contains("langya backup --out"), "{advice}");
    }
    assert_eq!(pending(&[]).0, [last]);
    let (changes, advice) = pending(&["--check"]);
    assert!(changes.is_empty() && advice.contains("up to date"), "{advice}");
    assert_eq!(langya(folder.path(), ["votes", "list", "--data-dir", "data"]).code, Some(0));
    let _serving = Server::start(folder.path(), &[]);
    check_refused(folder.path(), &["upgrade", "--data-dir", "data"], &["another langya", "data"]);
    check_refused(folder.path(), &["upgrade", "--check", "--data-dir", "none"], &["no arena", "langya serve"]);
}

#[test]
fn votes_that_cannot_be_fitted_are_refused_by_file_and_line() {
    let folder = folder("");
    std::fs::write(folder.path().join("bad.csv"), "model_a,model_b,winner\nx,y,model_a\nx,y,nobody\n").unwrap();
    let path = folder.path();
    check_refused(path, &["fit", "--votes", "bad.csv"], &["bad.csv", "line 3", "nobody", "both_bad"]);
    check_refused(path, &["fit", "--votes", "absent.csv"], &["absent.csv"]);
    check_refused(path, &["fit", "--data-dir", "data"], &["no arena", "langya serve", "--data-dir"]);
    let unknown = langya(path, ["fit", "--surprise"]);
    assert_eq!((unknown.code, unknown.stdout.as_str()), (Some(2), ""));
    assert!(unknown.stderr.contains("--surprise"), "{}", unknown.stderr);
}

#[test]
fn an_export_that_cannot_be_written_is_refused_by_name() {
    let folder = folder("");
    Server::start(folder.path(), &[]).terminate();
    let out = |rest: &[&'static str]| [&["export", "votes", "--data-dir", "data"], rest].concat();
    check_refused(folder.path(), &out(&["--out", "absent/votes.jsonl"]), &["absent/votes.jsonl"]);
    check_refused(folder.path(), &out(&["--out", "data"]), &["data", "--out"]);
    assert!(!folder.path().join("data.partial").exists(), "a failed export leaves nothing behind");
    let never = langya(folder.path(), out(&["--out", "votes.jsonl", "--since", "soon"]));
    assert_eq!(never.code, Some(2));
    assert!(never.stderr.contains("'soon'") && never.stderr.contains("write 2026-11-21"), "{}", never.stderr);
    assert!(!folder.path().join("votes.jsonl").exists());
}

#[test]
fn a_data_set_cannot_take_the_place_of_the_current_folder() {
    let folder = tempfile::tempdir().unwrap();
    let absolute = folder.path().to_str().unwrap();
    for (out, said) in [
        (".", "is the current folder: choose a new folder in it"),
        ("./", "is the current folder"),
        (absolute, "is the current folder"),
        ("new/..", "has no name: choose a new folder"),
    ] {
        check_refused(folder.path(), &["export", "dataset", out], &[said]);
    }
}

#[actix_web::test]
async fn the_server_answers_where_it_says_and_ends_at_sigterm() {
    let folder = folder("");
    let server = Server::start(folder.path(), &[]);
    for path in ["/healthz", "/readyz", "/"] {
        let answer = get(&format!("{}{path}", server.url)).await;
        assert_eq!(answer.status(), 200, "{path}");
        for header in ["content-security-policy", "x-content-type-options", "x-frame-options", "referrer-policy"] {
            assert!(answer.headers().contains_key(header), "{path} has no {header}");
        }
    }
    // The first leaderboard, of no votes, comes a moment after the start, and changes what is tagged.
    let leaderboard = format!("{}/api/v1/leaderboard", server.url);
    let dated = async || (!get(&leaderboard).await.text().await.unwrap().contains("\"as_of\":null")).then_some(());
    until(dated).await;
    // Monitors ask with HEAD.
    for path in ["/healthz", "/readyz", "/metrics", "/leaderboard.atom", "/api/v1/leaderboard", "/api/v1/openapi.json"]
    {
        let answer = http().head(format!("{}{path}", server.url)).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        let tag = answer.headers().get("etag").cloned();
        assert!(answer.bytes().await.unwrap().is_empty(), "{path}");
        assert_eq!(tag.as_ref(), get(&format!("{}{path}", server.url)).await.headers().get("etag"), "{path}");
    }
    let posted = http().post(format!("{}/api/v1/leaderboard", server.url)).send().await.unwrap();
    assert_eq!(posted.status(), 405);
    assert_eq!(server.terminate().code(), Some(0));
}

#[test]
fn models_are_listed_as_json() {
    let folder = folder("");
    let run = langya(folder.path(), ["models", "list", "--format", "json"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let models: Value = serde_json::from_str(&run.stdout).unwrap();
    let models = models.as_array().unwrap();
    assert!(models.len() >= 2);
    assert!(models.iter().all(|model| model["practice"] == true && model["provider"] == "builtin"), "{models:?}");
}

/// The keys that DESIGN promises for `fit --format json`.
const FIT_KEYS: [&str; 8] =
    ["method", "interval", "confidence", "converged", "iterations", "log_likelihood", "votes", "components"];
const FIT_MODEL_KEYS: [&str; 15] = [
    "model",
    "rank",
    "rating",
    "lower",
    "upper",
    "elo",
    "battles",
    "wins",
    "losses",
    "ties",
    "both_bad",
    "win_tie_rate",
    "average_win_rate",
    "component",
    "provisional",
];

#[track_caller]
fn check_fit(votes: &Path) {
    let folder = folder("");
    let arguments = ["fit".into(), "--votes".into(), votes.as_os_str().to_owned(), "--format".into(), "json".into()];
    let run = langya(folder.path(), arguments);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let leaderboard: Value = serde_json::from_str(&run.stdout).unwrap();
    for key in FIT_KEYS {
        assert!(leaderboard.get(key).is_some(), "no {key}");
    }
    for model in leaderboard["models"].as_array().unwrap() {
        for key in FIT_MODEL_KEYS {
            assert!(model.get(key).is_some(), "no {key} in {model}");
        }
    }
}

#[test]
fn a_fit_prints_the_keys_of_the_contract() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    check_fit(&root.join("tests/data/small_votes.csv"));
    if let Some(shared) = shared() {
        check_fit(&shared.join("data/llmfao.csv"));
    }
}

/// The names of DESIGN, section 8.
const LOG_KEYS: [&str; 24] = [
    "seq",
    "battle_id",
    "model_a",
    "model_b",
    "winner",
    "judge",
    "turn",
    "anony",
    "language",
    "tstamp",
    "conv_metadata",
    "category",
    "intent",
    "satisfaction",
    "reasons_a",
    "reasons_b",
    "pairing_policy",
    "pair_probability",
    "first_token_ms_a",
    "first_token_ms_b",
    "duration_ms_a",
    "duration_ms_b",
    "rated",
    "exclusion",
];

#[actix_web::test]
async fn the_exported_log_has_the_names_of_the_contract() {
    let folder = folder("[battle]\npacing = \"raw\"\n");
    let server = Server::start(folder.path(), &[]);
    let mut visitor = Visitor::connect(&server.url).await;
    visitor.ask("What is 2 + 2?").await;
    let texts = visitor.until_ready().await;
    assert_eq!(visitor.vote("b").await["type"], "revealed");
    server.terminate();
    let export = |rest: &[&'static str]| {
        let run = langya(folder.path(), [&["export", "votes", "--data-dir", "data", "--out", "-"], rest].concat());
        assert_eq!((run.code, run.stdout.lines().count()), (Some(0), 1), "{}", run.stderr);
        serde_json::from_str::<Value>(&run.stdout).unwrap()
    };
    let mut keys = LOG_KEYS.to_vec();
    keys.sort_unstable();
    let row = export(&[]);
    let mut found: Vec<&String> = row.as_object().unwrap().keys().collect();
    found.sort_unstable();
    assert_eq!(found, keys);
    assert_eq!((&row["winner"], &row["turn"], &row["anony"]), (&"model_b".into(), &1.into(), &true.into()));
    let row = export(&["--text"]);
    for (side, text) in ["conversation_a", "conversation_b"].into_iter().zip(&texts) {
        let expected = serde_json::json!([
            {"role": "user", "content": "What is 2 + 2?"}, {"role": "assistant", "content": text}
        ]);
        assert_eq!(row[side], expected);
    }
    let run = langya(folder.path(), ["export", "replies", "--data-dir", "data", "--out", "-"]);
    let replies: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((run.code, replies.len()), (Some(0), 2), "{}", run.stderr);
    for (reply, (side, text)) in replies.iter().zip(["a", "b"].into_iter().zip(texts)) {
        let said = ["side", "text", "prompt", "ending", "battle_id"].map(|key| &reply[key]);
        assert_eq!(said, [&side.into(), &text.into(), &"What is 2 + 2?".into(), &"complete".into(), &row["battle_id"]]);
    }
}
