//! `deploy/backup.sh` and `deploy/restore.sh` on the data of a running arena.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::program::{Run, Server, langya};
use crate::support::upstream::{Script, Upstream};
use crate::support::visitor::Visitor;

fn script(name: &str, arguments: &[&str]) -> Run {
    script_in(Path::new("."), name, arguments)
}

fn script_in(folder: &Path, name: &str, arguments: &[&str]) -> Run {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy").join(name);
    let output =
        Command::new("bash").arg(path).args(arguments).current_dir(folder).stdin(Stdio::null()).output().unwrap();
    let [stdout, stderr] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    Run { code: output.status.code(), stdout, stderr }
}

#[track_caller]
fn refuses(name: &str, arguments: &[&str], because: &str) {
    let run = script(name, arguments);
    assert!(run.code == Some(1) && run.stderr.contains(because), "{name} {arguments:?}: {run:?}");
}

#[track_caller]
fn does(name: &str, arguments: &[&str]) -> String {
    let run = script(name, arguments);
    assert_eq!(run.code, Some(0), "{name} {arguments:?}: {run:?}");
    run.stdout
}

/// Whether a tool is there; in the full test command it has to be.
fn has(tool: &str, package: &str) -> bool {
    let there = Command::new(tool).arg("--version").stdout(Stdio::null()).status().is_ok_and(|status| status.success());
    let all = std::env::var("LANGYA_TESTS").as_deref() == Ok("all");
    assert!(there || !all, "{tool} is not installed (Debian package {package})");
    if !there {
        println!("skipped: backups (install {package})");
    }
    there
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
    if !has("sqlite3", "sqlite3") {
        return;
    }
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
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (live, file, restored) = (path("data/langya.db"), path("it's a backup"), path("again/data/langya.db"));
    assert!(does("backup.sh", &[&live, &file]).starts_with("kept in "));
    vote(&mut visitor, "both_bad").await;
    refuses("backup.sh", &[&live, &file], "exists already");
    refuses("backup.sh", &[&path("nothing.db"), &path("other")], "there is no database");
    refuses("restore.sh", &[&file, &live], "exists already");
    assert_eq!(does("restore.sh", &[&file, &restored]), "restored: 3 votes\n");
    refuses("restore.sh", &[&file, &restored], "exists already");
    drop(server);
    let before = votes(folder.path());
    let again = folder.path().join("again");
    assert_eq!((before.len(), votes(&again)), (4, before[..3].to_vec()));
    // The restored arena serves, and takes the next vote.
    let server = Server::start(&again, &["--config", "../langya.toml"]);
    let mut visitor = Visitor::connect(&server.url).await;
    vote(&mut visitor, "a").await;
    drop(server);
    assert_eq!(votes(&again).len(), 4);
}

#[actix_web::test]
async fn a_damaged_backup_and_a_file_that_is_none_are_refused() {
    if !has("sqlite3", "sqlite3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    Server::start(folder.path(), &[]).terminate();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    does("backup.sh", &[&path("data/langya.db"), &path("sound")]);
    let mut bytes = std::fs::read(path("sound")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..].fill(0xA5);
    std::fs::write(path("damaged"), &bytes).unwrap();
    std::fs::write(path("text"), "no database").unwrap();
    refuses("restore.sh", &[&path("damaged"), &path("new/langya.db")], "damaged");
    refuses("restore.sh", &[&path("text"), &path("new/langya.db")], "is no backup of an arena");
    refuses("backup.sh", &[&path("damaged"), &path("copy")], "cannot be");
    assert!(!Path::new(&path("new/langya.db")).exists() && !Path::new(&path("copy")).exists());
}

#[test]
fn a_name_that_begins_with_a_dash_is_a_file() {
    if !has("sqlite3", "sqlite3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    Server::start(folder.path(), &[]).terminate();
    for (name, from, to) in [("backup.sh", "data/langya.db", "-copy"), ("restore.sh", "-copy", "-restored")] {
        let run = script_in(folder.path(), name, &[from, to]);
        assert_eq!(run.code, Some(0), "{name}: {run:?}");
        assert!(folder.path().join(to).is_file(), "{name}");
    }
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

    /// Its address, with a password that is not needed and must not be told.
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

#[test]
fn a_backup_of_postgres_is_restored_into_an_empty_database_only() {
    let Ok(admin) = std::env::var("LANGYA_TEST_POSTGRES") else {
        assert!(std::env::var("LANGYA_TESTS").as_deref() != Ok("all"), "LANGYA_TEST_POSTGRES is not set");
        println!("skipped: PostgreSQL backups run in ./tests/run");
        return;
    };
    let (old, new) = (Database::create(&admin, "old"), Database::create(&admin, "new"));
    let guarded = "CREATE TABLE votes (seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, receipt TEXT NOT NULL); \
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'insert only'; END $$; \
        CREATE TRIGGER votes_stay BEFORE UPDATE OR DELETE ON votes FOR EACH ROW EXECUTE FUNCTION refuse(); \
        INSERT INTO votes (receipt) SELECT repeat('text', i) FROM generate_series(1, 1000) i";
    psql(&old.url(), guarded);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("backup").to_str().unwrap().to_owned();
    does("backup.sh", &[&old.url(), &file]);
    refuses("backup.sh", &[&old.url(), &file], "exists already");
    assert_eq!(does("restore.sh", &[&file, &new.url()]), "restored: 1000 votes\n");
    refuses("restore.sh", &[&file, &new.url()], "is not empty");
    let all = "SELECT md5(string_agg(seq || receipt, ',' ORDER BY seq)) FROM votes";
    assert_eq!(psql(&new.url(), all), psql(&old.url(), all));
    // What guards the votes came along, and so did the next number.
    let next = psql(&new.url(), "INSERT INTO votes (receipt) VALUES ('next') RETURNING seq");
    assert_eq!(next, "1001\n");
    assert_eq!(psql(&new.url(), "SELECT COUNT(*) FROM pg_trigger WHERE tgname = 'votes_stay'"), "1\n");
    // Half a file restores nothing.
    let bytes = std::fs::read(&file).unwrap();
    let half = folder.path().join("half").to_str().unwrap().to_owned();
    std::fs::write(&half, &bytes[..bytes.len() / 2]).unwrap();
    let empty = Database::create(&admin, "empty");
    refuses("restore.sh", &[&half, &empty.url()], "nothing was restored");
    assert_eq!(psql(&empty.url(), "SELECT COUNT(*) FROM pg_class WHERE relname = 'votes'"), "0\n");
    // A server that is not there: the password stays unsaid.
    let nowhere = "postgres://langya:s3cret-canary@127.0.0.1:1/langya";
    let run = script("backup.sh", &[nowhere, &format!("{file}-2")]);
    assert!(run.code == Some(1) && !format!("{run:?}").contains("s3cret-canary"), "{run:?}");
}
