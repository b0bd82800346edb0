//! A PostgreSQL database of a test's own, on the throw-away server that `tests/run` starts.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use langya::config::StorageSettings;
use langya::storage::{IfMissing, Store};
use sqlx::postgres::{PgConnection, PgPool};
use sqlx::{AssertSqlSafe, Connection};
use tempfile::TempDir;

static CREATED: AtomicU32 = AtomicU32::new(0);

/// A database without tables.
pub(crate) struct TestDatabase {
    admin: String,
    /// Its name.
    pub(crate) name: String,
    /// Its address.
    pub(crate) url: String,
}

impl TestDatabase {
    /// Creates a database; `None` without a server, and then the test has nothing to do.
    pub(crate) async fn create() -> Option<Self> {
        let Some(admin) = admin_address() else {
            println!("skipped: PostgreSQL tests run in ./tests/run");
            return None;
        };
        let name = format!("langya_{}_{}", std::process::id(), CREATED.fetch_add(1, Ordering::Relaxed));
        let (server, _) = admin.rsplit_once('/').expect("an address ends in a database");
        let url = format!("{server}/{name}");
        let database = Self { admin, name, url };
        database.as_admin(format!("CREATE DATABASE {}", database.name)).await;
        Some(database)
    }

    /// The settings of an instance on it.
    pub(crate) fn settings(&self) -> StorageSettings {
        StorageSettings { database: self.url.as_str().into(), ..StorageSettings::default() }
    }

    /// The store of an instance on it, with its tables.
    pub(crate) async fn open(&self) -> Store {
        Store::open(&self.settings(), IfMissing::Create).await.unwrap()
    }

    /// The same database, beside the store.
    pub(crate) async fn raw(&self) -> PgPool {
        PgPool::connect(&self.url).await.unwrap()
    }

    /// Ends every session on it whose latest statement holds this word, as an administrator would.
    pub(crate) async fn end_sessions(&self, word: &str) {
        let ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                     WHERE datname = $1 AND query LIKE '%' || $2 || '%' AND pid <> pg_backend_pid()";
        let mut connection = PgConnection::connect(&self.admin).await.unwrap();
        let ended = sqlx::query(ended).bind(&self.name).bind(word).execute(&mut connection).await.unwrap();
        assert!(ended.rows_affected() > 0, "no session has run {word}");
    }

    /// Takes the database away, whoever is still connected.
    pub(crate) async fn drop(self) {
        self.as_admin(format!("DROP DATABASE {} WITH (FORCE)", self.name)).await;
    }

    /// Runs a statement of an administrator.
    pub(crate) async fn as_admin(&self, statement: String) {
        let mut connection = PgConnection::connect(&self.admin).await.unwrap();
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    }
}

/// A server of a test's own, for what no test may do to the shared one.
pub(crate) struct OwnServer {
    folder: TempDir,
    port: u16,
}

impl OwnServer {
    /// Starts a server on a free port; `None` where the tests run without PostgreSQL.
    pub(crate) fn start() -> Option<Self> {
        if admin_address().is_none() {
            println!("skipped: PostgreSQL tests run in ./tests/run");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o777)).unwrap();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = Self { folder, port };
        run(program("initdb").arg("-D").arg(server.data()).args([
            "--username=arena",
            "--auth=trust",
            "--encoding=UTF8",
            "--no-locale",
            "--no-sync",
        ]));
        run(&mut server.control("start", "fast"));
        Some(server)
    }

    /// The store of an instance on it, with its tables.
    pub(crate) async fn open(&self) -> Store {
        let url = format!("postgres://arena@127.0.0.1:{}/postgres", self.port);
        let settings = StorageSettings { database: url.into(), ..StorageSettings::default() };
        Store::open(&settings, IfMissing::Create).await.unwrap()
    }

    /// Restarts it, `fast` (in order) or `immediate` (as after a crash).
    pub(crate) async fn restart(&self, mode: &str) {
        let mut restart = self.control("restart", mode);
        tokio::task::spawn_blocking(move || run(&mut restart)).await.unwrap();
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn control(&self, action: &str, mode: &str) -> Command {
        let mut control = program("pg_ctl");
        let options = format!("-p {} -c listen_addresses=127.0.0.1 -c unix_socket_directories=", self.port);
        control.arg("-D").arg(self.data()).arg("-l").arg(self.folder.path().join("log"));
        control.args(["-w", "-m", mode, "-o", &options, action]);
        control
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        // A test that fails has told why already.
        let _ = self.control("stop", "immediate").stdout(Stdio::null()).status();
    }
}

/// A program of the newest PostgreSQL here, as a user that it agrees to run as.
fn program(name: &str) -> Command {
    let versions = std::fs::read_dir("/usr/lib/postgresql").unwrap().map(|entry| entry.unwrap().path().join("bin"));
    let path = versions.map(|folder| folder.join(name)).filter(|path| path.exists()).max().unwrap();
    let root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
    let mut command = if root { Command::new("runuser") } else { Command::new(&path) };
    if root {
        command.args(["-u", "postgres", "--"]).arg(&path);
    }
    command.current_dir(Path::new("/"));
    command
}

fn run(command: &mut Command) {
    let output = command.stdout(Stdio::null()).status().unwrap();
    assert!(output.success(), "{command:?}");
}

/// Address of an administrator's database: `LANGYA_TEST_POSTGRES`, without which only the full run fails.
fn admin_address() -> Option<String> {
    let address = std::env::var("LANGYA_TEST_POSTGRES").ok().filter(|address| !address.is_empty());
    let all = std::env::var("LANGYA_TESTS").is_ok_and(|which| which == "all");
    assert!(address.is_some() || !all, "LANGYA_TESTS=all needs LANGYA_TEST_POSTGRES");
    address
}
