//! Separate PostgreSQL database per test, on the temporary server that `tests/run` starts.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use langya::infra::config::StorageSettings;
use langya::infra::storage::{IfMissing, Store};
use sqlx::postgres::{PgConnection, PgPool};
use sqlx::{AssertSqlSafe, Connection};
use tempfile::TempDir;
use tokio::sync::OnceCell;

static CREATED: AtomicU32 = AtomicU32::new(0);

/// Name of a template database with all tables and without rows. A copy takes a fifth of the time of the migrations. It is removed with the
/// server.
static TEMPLATE: OnceCell<String> = OnceCell::const_new();

/// Database of one test.
pub(crate) struct TestDatabase {
    admin: String,
    /// Name of the database.
    pub(crate) name: String,
    /// Address of the database.
    pub(crate) url: String,
}

impl TestDatabase {
    /// Creates a database without tables; `None` without a server, in which case the test is skipped.
    pub(crate) async fn create() -> Option<Self> {
        Self::create_as("").await
    }

    /// Like [`TestDatabase::create`], with the tables that opening it would create.
    pub(crate) async fn with_tables() -> Option<Self> {
        match admin_address() {
            Some(_) => Self::create_as(&format!("TEMPLATE {}", TEMPLATE.get_or_init(Self::make_template).await)).await,
            None => Self::create().await,
        }
    }

    async fn make_template() -> String {
        let database = Self::create().await.expect("a server is there");
        database.open().await.close().await;
        // A template must have no connections while it is copied.
        database.as_admin(format!("ALTER DATABASE {} ALLOW_CONNECTIONS false", database.name)).await;
        database.name
    }

    async fn create_as(kind: &str) -> Option<Self> {
        let Some(admin) = admin_address() else {
            println!("skipped: PostgreSQL tests run in ./tests/run");
            return None;
        };
        let name = format!("langya_{}_{}", std::process::id(), CREATED.fetch_add(1, Ordering::Relaxed));
        let (server, _) = admin.rsplit_once('/').expect("an address ends in a database");
        let url = format!("{server}/{name}");
        let database = Self { admin, name, url };
        database.as_admin(format!("CREATE DATABASE {} {kind}", database.name)).await;
        Some(database)
    }

    /// Returns the storage settings of an instance on it.
    pub(crate) fn settings(&self) -> StorageSettings {
        StorageSettings { database: self.url.as_str().into(), ..StorageSettings::default() }
    }

    /// Opens the store of an instance on it, with its tables.
    pub(crate) async fn open(&self) -> Store {
        Store::open(&self.settings(), IfMissing::Create).await.unwrap()
    }

    /// Connects to the same database, beside the store.
    pub(crate) async fn raw(&self) -> PgPool {
        PgPool::connect(&self.url).await.unwrap()
    }

    /// Terminates every session whose latest statement contains this word, as an administrator would.
    pub(crate) async fn end_sessions(&self, word: &str) {
        let ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                     WHERE datname = $1 AND query LIKE '%' || $2 || '%' AND pid <> pg_backend_pid()";
        let mut connection = PgConnection::connect(&self.admin).await.unwrap();
        let ended = sqlx::query(ended).bind(&self.name).bind(word).execute(&mut connection).await.unwrap();
        assert!(ended.rows_affected() > 0, "no session has run {word}");
    }

    /// Drops the database, even with open connections.
    pub(crate) async fn drop(self) {
        self.as_admin(format!("DROP DATABASE {} WITH (FORCE)", self.name)).await;
    }

    /// Runs a statement as administrator.
    pub(crate) async fn as_admin(&self, statement: String) {
        let mut connection = PgConnection::connect(&self.admin).await.unwrap();
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    }
}

/// Separate server for a test that must not disturb the shared one.
pub(crate) struct OwnServer {
    folder: PathBuf,
    port: u16,
    /// Temporary folder, removed with the server; `None` where the test supplied the folder.
    own_folder: Option<TempDir>,
}

impl OwnServer {
    /// Starts a server on a free port; `None` where the tests run without PostgreSQL.
    pub(crate) fn start() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut server = Self::start_in(folder.path())?;
        server.own_folder = Some(folder);
        Some(server)
    }

    /// Starts a server with its files in this folder.
    pub(crate) fn start_in(folder: &Path) -> Option<Self> {
        if admin_address().is_none() {
            println!("skipped: PostgreSQL tests run in ./tests/run");
            return None;
        }
        std::fs::set_permissions(folder, PermissionsExt::from_mode(0o777)).unwrap();
        let server = Self { folder: folder.to_owned(), port: super::free_port(), own_folder: None };
        run(program("initdb").arg("-D").arg(server.data()).args([
            "--username=arena",
            "--auth=trust",
            "--encoding=UTF8",
            "--no-locale",
            "--no-sync",
            "--wal-segsize=1",
        ]));
        server.ask_for_passwords();
        run(&mut server.control("start", "fast", ""));
        Some(server)
    }

    /// Requires a password of one user, so that tests can give a wrong one.
    fn ask_for_passwords(&self) {
        let file = self.data().join("pg_hba.conf");
        let rules = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, format!("host all locked 127.0.0.1/32 scram-sha-256\n{rules}")).unwrap();
    }

    /// Returns the address of a database on it, for its administrator.
    pub(crate) fn url(&self, database: &str) -> String {
        format!("postgres://arena@127.0.0.1:{}/{database}", self.port)
    }

    /// Opens the store of an instance on it, with its tables.
    pub(crate) async fn open(&self) -> Store {
        let settings = StorageSettings { database: self.url("postgres").into(), ..StorageSettings::default() };
        Store::open(&settings, IfMissing::Create).await.unwrap()
    }

    /// Runs a statement as administrator.
    pub(crate) async fn as_admin(&self, statement: &'static str) -> Result<(), sqlx::Error> {
        let mut connection = PgConnection::connect(&self.url("postgres")).await?;
        sqlx::raw_sql(statement).execute(&mut connection).await?;
        connection.close().await
    }

    /// Sets a setting of its first database, or resets it.
    pub(crate) async fn alter_database(&self, setting: &str, value: Option<&str>) {
        let change = value.map_or_else(|| format!("RESET {setting}"), |value| format!("SET {setting} = {value}"));
        // The session must be writable, whatever the database's default.
        let address = self.url("postgres") + "?options[default_transaction_read_only]=off";
        let mut connection = PgConnection::connect(&address).await.unwrap();
        let alter = AssertSqlSafe(format!("ALTER DATABASE postgres {change}"));
        sqlx::raw_sql(alter).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    }

    /// Restarts the server, `fast` (in order) or `immediate` (as after a crash); starts it if it has ended.
    pub(crate) async fn restart(&self, mode: &str) {
        self.restart_with(mode, "").await;
    }

    /// Restarts the server with further options.
    pub(crate) async fn restart_with(&self, mode: &str, options: &str) {
        let mut restart = self.control("restart", mode, options);
        tokio::task::spawn_blocking(move || run(&mut restart)).await.unwrap();
    }

    /// Stops the server as in a crash.
    pub(crate) async fn crash(&self) {
        let mut stop = self.control("stop", "immediate", "");
        tokio::task::spawn_blocking(move || run(&mut stop)).await.unwrap();
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn control(&self, action: &str, mode: &str, options: &str) -> Command {
        let mut control = program("pg_ctl");
        let options = format!("-p {} -c listen_addresses=127.0.0.1 -c unix_socket_directories= {options}", self.port);
        control.arg("-D").arg(self.data()).arg("-l").arg(self.folder.join("log"));
        control.args(["-w", "-m", mode, "-o", &options, action]);
        // Maximum seconds for the server to start or stop: more than a busy machine takes.
        control.env("PGCTLTIMEOUT", "300");
        control
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        // Fails if the test has stopped the server already.
        let _ = self.control("stop", "immediate", "").stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

/// Builds the command of a program of the newest installed PostgreSQL, as a user that it accepts.
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

/// Reads the address of the administrator's database from `LANGYA_TEST_POSTGRES`; only the full run fails without it.
fn admin_address() -> Option<String> {
    let address = std::env::var("LANGYA_TEST_POSTGRES").ok().filter(|address| !address.is_empty());
    let all = std::env::var("LANGYA_TESTS").is_ok_and(|which| which == "all");
    assert!(address.is_some() || !all, "LANGYA_TESTS=all needs LANGYA_TEST_POSTGRES");
    address
}
