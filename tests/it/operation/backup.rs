//! `langya backup` and `langya restore` on the data of a running arena.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use sqlx::{Connection, PgConnection, SqlitePool};

use crate::support::program::{Run, Server, UnderWay, langya, langya_in};
use crate::support::until;
use crate::support::upstream::{Script, Upstream};
use crate::support::visitor::{Visitor, get};

/// `langya backup` of a database into a file, or a folder.
fn backup(folder: &Path, database: &str, out: &str) -> Run {
    langya(folder, ["backup", "--database", &address(database), "--out", out])
}

/// `langya restore` of a file as a database.
fn restore(folder: &Path, file: &str, database: &str) -> Run {
    langya(folder, ["restore", "--database", &address(database), "--", file])
}

fn address(database: &str) -> String {
    if database.contains("://") { database.to_owned() } else { format!("sqlite:{database}") }
}

#[track_caller]
fn check_refused(run: &Run, code: i32, because: &str) {
    assert!(run.code == Some(code) && run.stderr.contains(because) && run.stdout.is_empty(), "{run:?}");
}

#[track_caller]
fn check_done(run: &Run, expected: &str) {
    assert!(run.code == Some(0) && run.stdout.contains(expected), "{run:?}");
}

async fn vote(visitor: &mut Visitor, outcome: &str) {
    visitor.ask("Which?").await;
    visitor.until_ready().await;
    assert_eq!(visitor.vote(outcome).await["type"], "revealed");
}

/// The votes of an arena with its data in this folder's `data`, as `langya export votes` writes them.
fn votes(folder: &Path) -> Vec<String> {
    let run = langya(folder, ["export", "votes", "--text", "--out", "-"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    run.stdout.lines().map(str::to_owned).collect()
}

#[actix_web::test]
async fn a_backup_of_a_serving_arena_brings_its_votes_back() {
    let (folder, upstream) = (tempfile::tempdir().unwrap(), Upstream::start().await);
    let settings = ["one", "two"].map(|id| {
        upstream.script(id, Script::openai(["one ", "two"]));
        format!("[[models]]\nid = \"{id}\"\nprovider = \"openai\"\nbase_url = \"{}/v1\"\n", upstream.url())
    });
    std::fs::write(folder.path().join("langya.toml"), settings.concat()).unwrap();
    let server = Server::start(folder.path(), &["--config", "langya.toml"]);
    let mut visitor = Visitor::connect(&server.url).await;
    for outcome in ["a", "b", "tie"] {
        vote(&mut visitor, outcome).await;
    }
    let (here, live, file) = (folder.path(), "data/langya.db", "it's a backup");
    check_done(&backup(here, live, file), "backup written to it's a backup: 3 votes");
    assert_eq!(std::fs::metadata(here.join(file)).unwrap().permissions().mode() & 0o777, 0o600);
    vote(&mut visitor, "both_bad").await;
    check_refused(&backup(here, live, file), 2, "exists already");
    check_refused(&backup(here, "nothing.db", "other"), 2, "there is no arena at");
    check_refused(&restore(here, file, live), 2, "another langya (serve, process ");
    // As a backup lies on many a disk: nobody may write it, and everybody may read it.
    std::fs::set_permissions(here.join(file), std::fs::Permissions::from_mode(0o444)).unwrap();
    check_done(&restore(here, file, "again/data/langya.db"), "restored: 3 votes\n");
    // A check changes nothing, so it reads the copy as it is, without a write-ahead log.
    let checked = langya(here, ["upgrade", "--check", "--data-dir", "again/data"]);
    assert!(checked.code == Some(0) && checked.stderr.contains("up to date"), "{checked:?}");
    let restored = std::fs::metadata(here.join("again/data/langya.db")).unwrap();
    assert_eq!(restored.permissions().mode() & 0o777, 0o600);
    check_refused(&restore(here, file, "again/data/langya.db"), 2, "exists already");
    std::fs::hard_link(here.join(live), here.join("linked.db")).unwrap();
    let linked = backup(here, "linked.db", "of the link");
    assert!(linked.code == Some(0) && linked.stderr.contains("has another name (a hard link)"), "{linked:?}");
    std::fs::remove_file(here.join("linked.db")).unwrap();
    server.terminate();
    check_refused(&restore(here, file, live), 2, "exists already");
    let before = votes(here);
    let again = here.join("again");
    assert_eq!((before.len(), votes(&again)), (4, before[..3].to_vec()));
    // The restored arena serves, and takes the next vote.
    let server = Server::start(&again, &["--config", "../langya.toml"]);
    let mut visitor = Visitor::connect(&server.url).await;
    vote(&mut visitor, "a").await;
    server.terminate();
    assert_eq!(votes(&again).len(), 4);
    // Nothing is left beside.
    let left: Vec<_> = std::fs::read_dir(here).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains("partial")), "{left:?}");
}

#[actix_web::test]
async fn an_older_copy_restored_beside_a_newer_checkpoint_is_reported_and_signs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    std::fs::write(here.join("langya.toml"), "[battle]\npacing = \"raw\"\n").unwrap();
    let server = Server::start(here, &[]);
    let mut visitor = Visitor::connect(&server.url).await;
    check_done(&backup(here, "data/langya.db", "old"), "0 votes");
    vote(&mut visitor, "a").await;
    signed(&server.url).await;
    check_done(&backup(here, "data/langya.db", "new"), "1 vote,");
    server.terminate();
    let put = |file: &str| {
        for gone in ["langya.db", "langya.db-wal", "langya.db-shm"] {
            // Those of the write-ahead log are there only after a hard end.
            let _ = std::fs::remove_file(here.join("data").join(gone));
        }
        langya(here, ["restore", file])
    };
    let run = put("old");
    assert!(run.code == Some(0) && run.stderr.contains("signed with 1 entry and this copy holds 0"), "{run:?}");
    let server = Server::start(here, &[]);
    vote(&mut Visitor::connect(&server.url).await, "b").await;
    server.logged("the public log shrank").await;
    server.terminate();
    let run = put("new");
    assert!(run.code == Some(0) && run.stderr.is_empty(), "{run:?}");
}

/// Waits until the public log has a signed checkpoint with entries.
async fn signed(url: &str) {
    let is_signed = async {
        loop {
            let answer = get(&format!("{url}/log/checkpoint")).await;
            if answer.status() == 200 && answer.text().await.unwrap().lines().nth(1) != Some("0") {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(90), is_signed).await.expect("the log is signed");
}

#[actix_web::test]
async fn a_damaged_backup_and_a_file_that_is_none_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    Server::start(here, &[]).terminate();
    check_done(&backup(here, "data/langya.db", "sound"), "backup written to");
    let mut bytes = std::fs::read(here.join("sound")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..].fill(0xA5);
    std::fs::write(here.join("damaged"), &bytes).unwrap();
    std::fs::write(here.join("text"), "no database").unwrap();
    check_refused(&restore(here, "damaged", "new/langya.db"), 1, "damaged");
    check_refused(&restore(here, "text", "new/langya.db"), 2, "is not a backup of an arena");
    check_refused(&restore(here, "absent", "new/langya.db"), 2, "absent");
    check_refused(&restore(here, "data", "new/langya.db"), 2, "is not a backup of an arena");
    std::fs::copy(here.join("sound"), here.join("in use")).unwrap();
    std::fs::write(here.join("in use-wal"), "the latest votes").unwrap();
    check_refused(&restore(here, "in use", "new/langya.db"), 2, "copy it with `langya backup`");
    check_refused(&backup(here, "damaged", "copy"), 1, "damaged");
    let nowhere = backup(here, "data/langya.db", "nowhere/copy");
    check_refused(&nowhere, 2, "cannot use nowhere:");
    assert!(!nowhere.stderr.contains(".partial"), "{nowhere:?}");
    // Whether it could be copied or not: a name is looked at first.
    check_refused(&backup(here, "damaged", "new-folder/"), 2, "cannot use new-folder/: ");
    check_refused(&restore(here, "sound", "postgres://u@127.0.0.1:1/n"), 2, "copy of SQLite");
    std::fs::copy(here.join("sound"), here.join("newer")).unwrap();
    let pool = SqlitePool::connect(&format!("sqlite:{}", here.join("newer").display())).await.unwrap();
    let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
                 VALUES (99999999999999, 'of a later version', 1, x'00', 0)";
    sqlx::query(newer).execute(&pool).await.unwrap();
    pool.close().await;
    check_refused(&restore(here, "newer", "new/langya.db"), 2, "written by a newer langya");
    assert!(!here.join("new").exists(), "a refused restore makes no folder");
    assert!(!here.join("copy").exists());
}

#[test]
fn a_folder_gets_a_file_named_by_the_time_and_a_name_that_begins_with_a_dash_is_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    Server::start(here, &[]).terminate();
    std::fs::create_dir(here.join("copies")).unwrap();
    check_done(&langya(here, ["backup", "--out", "copies"]), "backup written to copies/langya-20");
    check_done(&langya(here, ["backup", "--out=-copy"]), "backup written to -copy");
    check_done(&restore(here, "-copy", "-restored"), "restored: 0 votes");
    assert!(here.join("-restored").is_file());
    let doctor = langya(here, ["doctor", "--no-models", "--format", "json"]);
    let findings: Vec<serde_json::Value> = serde_json::from_str(&doctor.stdout).unwrap();
    let of = |check: &str| findings.iter().find(|finding| finding["check"] == check).unwrap();
    assert_eq!((doctor.code, of("backup")["found"].as_str()), (Some(0), Some("0 hours old")), "{doctor:?}");
    assert_eq!(of("database")["severity"], "ok");
    let found = of("database")["found"].as_str().unwrap();
    assert!(found.ends_with("B") && !found.ends_with(" 0 KB"), "{found}");
}

#[test]
fn a_doctor_finds_what_keeps_an_arena_from_starting() {
    let model = |id: &str, key: &str| {
        format!("[[models]]\nid = \"{id}\"\nprovider = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\n{key}")
    };
    let hook = "[[webhooks]]\nid = \"ours\"\nurl = \"http://127.0.0.1:9/\"\nsecret_env = \"NO_SUCH_SECRET\"\n";
    for (settings, said) in [
        (hook.to_owned(), "webhooks.secret_env"),
        (model("one", "") + &model("two", "api_key_env = \"NO_SUCH_KEY\"\n"), "NO_SUCH_KEY"),
        (model("one", ""), "a battle needs two models and 1 can take part"),
        ("[redis]\nurl = \"redis://127.0.0.1:port\"\n".to_owned(), "redis.url cannot be used"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        std::fs::write(here.join("langya.toml"), settings).unwrap();
        let refused = langya(here, ["serve", "--listen", "127.0.0.1:0"]);
        assert!(refused.code == Some(2) && refused.stderr.contains(said), "{refused:?}");
        let doctor = langya(here, ["doctor", "--no-models", "--format", "json"]);
        let findings: Vec<serde_json::Value> = serde_json::from_str(&doctor.stdout).unwrap();
        let settings = findings.iter().find(|finding| finding["check"] == "settings").unwrap();
        assert_eq!((doctor.code, settings["severity"].as_str()), (Some(1), Some("wrong")), "{findings:?}");
        assert!(settings["found"].as_str().unwrap().contains(said), "{settings}");
    }
}

#[test]
fn a_doctor_names_what_is_wrong_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let entry = "[[models]]\nid = \"m\"\nprovider = \"openai\"\nbase_url = \"http://127.0.0.1:1/v1\"\n";
    let redis = "[redis]\nurl = \"redis://:sk-canary@127.0.0.1:1\"\n";
    let settings = format!("{redis}[server]\ntrusted_proxies = [\"0.0.0.0/0\"]\n[providers]\nretries = 0\n{entry}");
    std::fs::write(here.join("langya.toml"), settings).unwrap();
    std::fs::create_dir(here.join("data")).unwrap();
    std::fs::write(here.join("data/langya.db"), "no database, but long enough to be taken for one").unwrap();
    let run = langya(here, ["doctor"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(!run.stdout.contains("canary"), "{}", run.stdout);
    for said in [
        "not the database of an arena",
        "every visitor can forge an address",
        "0 of 1 answer",
        "127.0.0.1:1",
        "check redis.url",
    ] {
        assert!(run.stdout.contains(said), "{said}: {}", run.stdout);
    }
    std::fs::write(here.join("langya.toml"), "[server]\nlisen = 1\n").unwrap();
    let run = langya(here, ["doctor", "--format", "csv"]);
    assert!(run.code == Some(1) && run.stdout.contains("lisen"), "{run:?}");
}

/// A database of its own on the test server; it is dropped with the value.
struct Database {
    admin: String,
    name: String,
}

impl Database {
    fn create(admin: &str, name: &str) -> Self {
        let name = format!("backup_{name}_{}", std::process::id());
        let database = Self { admin: admin.to_owned(), name };
        psql(admin, &format!("CREATE DATABASE {}", database.name));
        database
    }

    /// Its address, with a password that is not needed and must not be shown.
    fn url(&self) -> String {
        let (server, _) = self.admin.rsplit_once('/').unwrap();
        let (scheme, rest) = server.split_once("://").unwrap();
        let (user, host) = rest.split_once('@').unwrap_or(("postgres", rest));
        let user = user.split(':').next().unwrap();
        let given = rest.split_once('@').and_then(|(user, _)| user.split_once(':')).map_or("s%C3%BCss", |(_, p)| p);
        format!("{scheme}://{user}:{given}@{host}/{}", self.name)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // Where this fails the test has failed before; the server is thrown away anyway.
        let statement = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        let _ = psql_command(&self.admin, &statement).stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

fn psql_command(url: &str, statement: &str) -> Command {
    let mut command = Command::new("psql");
    command.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"]);
    command.args(["--dbname", url, "--command", statement]);
    command
}

fn psql(url: &str, statement: &str) -> String {
    let output = psql_command(url, statement).output().unwrap();
    assert!(output.status.success(), "{statement}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The server of the tests, where there is one.
fn postgres() -> Option<String> {
    let admin = std::env::var("LANGYA_TEST_POSTGRES").ok();
    assert!(
        admin.is_some() || std::env::var("LANGYA_TESTS").as_deref() != Ok("all"),
        "LANGYA_TEST_POSTGRES is not set"
    );
    if admin.is_none() {
        println!("skipped: PostgreSQL backups run in ./tests/run");
    }
    admin
}

#[actix_web::test]
async fn a_signal_ends_the_program_that_dumps_postgres_and_nothing_is_left() {
    let Some(admin) = postgres() else { return };
    let database = Database::create(&admin, "interrupted");
    psql(&database.url(), "CREATE TABLE votes (seq BIGINT); CREATE TABLE held (x BIGINT)");
    let mut holder = PgConnection::connect(&database.url()).await.unwrap();
    sqlx::raw_sql("BEGIN; LOCK TABLE held").execute(&mut holder).await.unwrap();
    let count = |rows: &str| psql(&database.url(), &format!("SELECT COUNT(*) FROM {rows}"));
    let folder = tempfile::tempdir().unwrap();
    let backup = UnderWay::start(folder.path(), &["backup", "--database", &database.url(), "--out", "copy"]);
    let dumps = "pg_stat_activity WHERE application_name = 'pg_dump' AND wait_event_type = 'Lock' \
         AND datname = current_database()";
    until(async || (count(dumps) == "1\n").then_some(())).await;
    backup.signal("TERM");
    // Its log is the program's too, and is closed when both have ended.
    let run = backup.ended().await;
    assert!(run.code == Some(1) && run.stderr.contains("interrupted: no file was written"), "{run:?}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Stands in for `pg_dump`: a vote is cast before the real one starts.
const VOTE_BEFORE_DUMP: &str = "#!/bin/sh
PATH=/usr/bin:/bin
psql --no-psqlrc --quiet --dbname \"$LATE_VOTE_IN\" --command \"INSERT INTO votes (receipt) VALUES ('late')\"
exec pg_dump \"$@\"
";

#[test]
fn a_backup_of_postgres_names_the_votes_that_are_in_it_also_where_more_come_meanwhile() {
    let Some(admin) = postgres() else { return };
    let (old, new) = (Database::create(&admin, "counted"), Database::create(&admin, "recounted"));
    let one_vote = "CREATE TABLE votes (seq BIGINT GENERATED ALWAYS AS IDENTITY, receipt TEXT NOT NULL); \
        INSERT INTO votes (receipt) VALUES ('early')";
    psql(&old.url(), one_vote);
    let (folder, tools) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let pg_dump = tools.path().join("pg_dump");
    std::fs::write(&pg_dump, VOTE_BEFORE_DUMP).unwrap();
    std::fs::set_permissions(&pg_dump, std::fs::Permissions::from_mode(0o755)).unwrap();
    let (url, path) = (old.url(), format!("{}:/usr/bin:/bin", tools.path().display()));
    let arguments = ["backup", "--database", url.as_str(), "--out", "copy"];
    let environment = [("PATH", path.as_str()), ("LATE_VOTE_IN", url.as_str())];
    check_done(&langya_in(folder.path(), arguments, &environment), ": 1 vote,");
    assert_eq!(psql(&old.url(), "SELECT COUNT(*) FROM votes"), "2\n");
    check_done(&restore(folder.path(), "copy", &new.url()), "restored: 1 vote\n");
}

#[test]
fn a_backup_of_postgres_is_restored_into_an_empty_database_only() {
    let Some(admin) = postgres() else { return };
    let (old, new) = (Database::create(&admin, "old"), Database::create(&admin, "new"));
    let guarded = "CREATE TABLE votes (seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, receipt TEXT NOT NULL); \
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'insert only'; END $$; \
        CREATE TRIGGER votes_stay BEFORE UPDATE OR DELETE ON votes FOR EACH ROW EXECUTE FUNCTION refuse(); \
        INSERT INTO votes (receipt) SELECT repeat('text', i) FROM generate_series(1, 1000) i";
    psql(&old.url(), guarded);
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let file = here.join("backup").to_str().unwrap().to_owned();
    check_done(&backup(here, &old.url(), &file), "1000 votes");
    check_refused(&backup(here, &old.url(), &file), 2, "exists already");
    check_done(&restore(here, &file, &new.url()), "restored: 1000 votes\n");
    check_refused(&restore(here, &file, &new.url()), 2, "is not empty");
    check_refused(&restore(here, &file, "x.db"), 2, "copy of PostgreSQL");
    let all = "SELECT md5(string_agg(seq || receipt, ',' ORDER BY seq)) FROM votes";
    assert_eq!(psql(&new.url(), all), psql(&old.url(), all));
    // What guards the votes came along, and so did the next number.
    let next = psql(&new.url(), "INSERT INTO votes (receipt) VALUES ('next') RETURNING seq");
    assert_eq!(next, "1001\n");
    assert_eq!(psql(&new.url(), "SELECT COUNT(*) FROM pg_trigger WHERE tgname = 'votes_stay'"), "1\n");
    // Half a file restores nothing.
    let bytes = std::fs::read(&file).unwrap();
    let half = here.join("half").to_str().unwrap().to_owned();
    std::fs::write(&half, &bytes[..bytes.len() / 2]).unwrap();
    let empty = Database::create(&admin, "empty");
    check_refused(&restore(here, &half, &empty.url()), 1, "nothing was restored");
    assert_eq!(psql(&empty.url(), "SELECT COUNT(*) FROM pg_class WHERE relname = 'votes'"), "0\n");
    // A server that is not there: the password stays unsaid.
    let nowhere = "postgres://langya:s3cret-canary@127.0.0.1:1/langya";
    let run = backup(here, nowhere, &format!("{file}-2"));
    assert!(run.code != Some(0) && !format!("{run:?}").contains("s3cret-canary"), "{run:?}");
}
