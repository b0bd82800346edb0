//! Separate PostgreSQL server per test, with several kinds of shutdown, kill and restart.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use sqlx::Connection;
use tempfile::TempDir;
use tokio::time::sleep;

use crate::instance::STOP_PATIENCE;
use crate::processes::{Process, Start, is_root, output};

/// Maximum wait for the server's start.
const START_PATIENCE: Duration = Duration::from_secs(30);
/// Folder for files in memory, and the required free space, in kilobytes.
const MEMORY: &str = "/dev/shm";
const MEMORY_NEEDED: u64 = 1024 * 1024;

/// Kind of shutdown of PostgreSQL.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shutdown {
    /// Cuts running statements off and writes committed data.
    Fast,
    /// Like a crash: the log is replayed at the next start.
    Immediate,
    /// `kill -9` of the server's first process; the others end when they notice.
    Kill,
}

/// PostgreSQL server, ended when it is dropped.
pub(crate) struct Postgres {
    port: u16,
    logs: PathBuf,
    is_root: bool,
    process: Option<Process>,
    /// Data folder.
    data: TempDir,
}

impl Postgres {
    /// Starts a new server with an empty database `arena`.
    pub(crate) async fn start(logs: &Path, port: u16) -> anyhow::Result<Self> {
        let mut postgres =
            Self { port, logs: logs.to_owned(), is_root: is_root()?, process: None, data: data_folder()? };
        postgres.init()?;
        postgres.launch().await?;
        postgres.create_database("arena").await?;
        Ok(postgres)
    }

    /// Returns the address of the arena's database.
    pub(crate) fn url(&self) -> String {
        self.url_of("arena")
    }

    fn url_of(&self, name: &str) -> String {
        format!("postgres://arena@127.0.0.1:{}/{name}", self.port)
    }

    /// Returns the exit status if the server ended unexpectedly.
    pub(crate) fn status(&mut self) -> anyhow::Result<Option<ExitStatus>> {
        Ok(self.process.as_mut().map(Process::status).transpose()?.flatten())
    }

    fn init(&self) -> anyhow::Result<()> {
        let home = self.data.path();
        let mut initdb = Command::new(postgres_program("initdb")?);
        if self.is_root {
            output(Command::new("chown").arg("postgres:").arg(home))?;
            let program = initdb.get_program().to_owned();
            initdb = Command::new("setpriv");
            initdb.args(["--reuid", "postgres", "--regid", "postgres", "--init-groups", "--"]).arg(program);
        }
        let arguments = ["-D", "data", "-U", "arena", "--auth=trust", "-E", "UTF8", "--no-locale", "--no-sync"];
        output(initdb.args(arguments).current_dir(home))?;
        Ok(())
    }

    async fn launch(&mut self) -> anyhow::Result<()> {
        let deadline = Instant::now() + START_PATIENCE;
        self.process = Some(self.spawn()?);
        while let Err(error) = self.admin("SELECT 1").await {
            ensure!(Instant::now() < deadline, "PostgreSQL does not come up: {error}");
            // Processes of a killed server may hold its memory for a moment.
            if self.status()?.is_some() {
                self.process = Some(self.spawn()?);
            }
            sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }

    fn spawn(&self) -> anyhow::Result<Process> {
        let port = self.port.to_string();
        Process::start(&Start {
            name: "postgres",
            program: &postgres_program("postgres")?,
            arguments: &["-D", "data", "-p", &port, "-k", "", "-c", "listen_addresses=127.0.0.1", "-c", "fsync=on"],
            folder: self.data.path(),
            logs: &self.logs,
            last_signal: "QUIT",
            user: self.is_root.then_some("postgres"),
            environment: &[],
        })
    }

    /// Creates a further, empty database; returns its address.
    pub(crate) async fn create_database(&self, name: &str) -> anyhow::Result<String> {
        self.admin(&format!("CREATE DATABASE {name}")).await?;
        Ok(self.url_of(name))
    }

    /// Runs a statement as the server's owner.
    async fn admin(&self, statement: &str) -> anyhow::Result<()> {
        let mut connection = sqlx::PgConnection::connect(&self.url_of("postgres")).await?;
        sqlx::query(sqlx::AssertSqlSafe(statement)).execute(&mut connection).await?;
        Ok(connection.close().await?)
    }

    /// Shuts the server down, waits for the time `down` and restarts it.
    pub(crate) async fn restart(&mut self, shutdown: Shutdown, down: Duration) -> anyhow::Result<()> {
        let mut process = self.process.take().context("PostgreSQL runs")?;
        process.signal(match shutdown {
            Shutdown::Fast => "INT",
            Shutdown::Immediate => "QUIT",
            Shutdown::Kill => "KILL",
        })?;
        process.ended(STOP_PATIENCE).await?;
        sleep(down).await;
        self.launch().await
    }

    /// Kills by `kill -9` the process of one of the arena's connections, selected by its position: the server ends all others, replays its
    /// log and continues.
    pub(crate) async fn kill_backend(&self, place: usize) -> anyhow::Result<()> {
        let mut connection = sqlx::PgConnection::connect(&self.url()).await?;
        let backends: Vec<i32> = sqlx::query_scalar(
            "SELECT pid FROM pg_stat_activity WHERE datname = 'arena' AND pid <> pg_backend_pid() ORDER BY state, pid",
        )
        .fetch_all(&mut connection)
        .await?;
        ensure!(!backends.is_empty(), "the arena has no connection");
        let backend = backends[place % backends.len()];
        // A backend may have ended by itself a moment ago.
        let _ = Command::new("sh").args(["-c", &format!("kill -KILL {backend}")]).status()?;
        Ok(())
    }
}

/// Returns a folder for PostgreSQL's data, in memory if there is room. The faults here are those of processes: written data survives them
/// in memory, too. A start after a crash syncs a thousand files first, which on a busy disk takes longer than everything that is measured
/// here.
fn data_folder() -> anyhow::Result<TempDir> {
    let free = output(Command::new("df").args(["--output=avail", "-k", MEMORY])).unwrap_or_default();
    let free: u64 = free.lines().last().and_then(|kilobytes| kilobytes.trim().parse().ok()).unwrap_or(0);
    let in_memory = (free >= MEMORY_NEEDED).then(|| tempfile::tempdir_in(MEMORY)).and_then(Result::ok);
    Ok(match in_memory {
        Some(folder) => folder,
        None => tempfile::tempdir()?,
    })
}

/// Finds a program of PostgreSQL, which Debian installs outside the path, by version.
fn postgres_program(name: &str) -> anyhow::Result<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").context("PostgreSQL is not installed: package postgresql")?;
    let programs = versions.filter_map(|version| Some(version.ok()?.path().join("bin").join(name)));
    programs.filter(|program| program.exists()).max().with_context(|| format!("PostgreSQL's {name} is not installed"))
}
