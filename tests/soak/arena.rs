//! Arena with one instance, on the embedded database or on PostgreSQL: started with a test's environment, killed, stopped, and inspected
//! while it runs and while it is down.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use serde_json::Value;
use tempfile::TempDir;

use crate::checker::evidence::{Evidence, Stored, VisitorHistory};
use crate::checker::{self, Violation};
use crate::harness::port_rng;
use crate::instance::{self, Instance, Launch, program};
use crate::postgres_server::Postgres;
use crate::processes::{free_port, output};
use crate::rows::Database;
use crate::services;
use crate::upstream::{Tempo, Upstream};

const NAME: &str = "arena";
/// Files of the embedded database that survive the process.
const FILES: [&str; 2] = ["langya.db", "langya.db-wal"];
/// Replies are passed on without pacing: storage is under test.
pub(crate) const RAW: &str = "[battle]\npacing = \"raw\"\n";

/// Configuration of a test arena.
pub(crate) struct Plan<'a> {
    /// Sections of `langya.toml` besides those of models, storage and the log.
    pub(crate) settings: &'a str,
    pub(crate) tempo: Tempo,
    pub(crate) seed: u64,
    /// Environment variables of the process.
    pub(crate) environment: Vec<(String, String)>,
}

impl Plan<'_> {
    /// Configuration with quick models.
    pub(crate) fn quick(seed: u64) -> Self {
        Self { settings: RAW, tempo: Tempo::QUICK, seed, environment: Vec::new() }
    }
}

pub(crate) struct Arena {
    folder: PathBuf,
    port: u16,
    environment: Vec<(String, String)>,
    upstream: Upstream,
    // Dropped in this order.
    instance: Option<Instance>,
    postgres: Option<Postgres>,
}

impl Arena {
    /// Starts an arena in this folder, with its data in `data`.
    pub(crate) async fn on_sqlite(folder: &Path, plan: Plan<'_>) -> anyhow::Result<Self> {
        Self::start_in(folder, plan, None).await
    }

    /// Starts an arena on a separate PostgreSQL server.
    pub(crate) async fn on_postgres(folder: &Path, plan: Plan<'_>) -> anyhow::Result<Self> {
        // The server runs as another user, who needs access to the path.
        std::fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o711))?;
        let postgres = Postgres::start(folder, free_port(&mut port_rng())?).await?;
        Self::start_in(folder, plan, Some(postgres)).await
    }

    async fn start_in(folder: &Path, plan: Plan<'_>, postgres: Option<Postgres>) -> anyhow::Result<Self> {
        let upstream = Upstream::start(plan.seed, plan.tempo).await;
        let database = postgres.as_ref().map_or_else(String::new, Postgres::url);
        let settings = format!(
            "[server]\nworkers = 1\n[storage]\ndata_dir = \"data\"\ndatabase = \"{database}\"\n{}{}",
            plan.settings,
            services::models_and_limits(&upstream.url())
        );
        std::fs::write(folder.join("langya.toml"), settings)?;
        let mut arena = Self {
            folder: folder.to_owned(),
            port: free_port(&mut port_rng())?,
            environment: plan.environment,
            upstream,
            instance: None,
            postgres,
        };
        arena.start().await?;
        Ok(arena)
    }

    /// Starts the process and waits until battles can begin.
    pub(crate) async fn start(&mut self) -> anyhow::Result<()> {
        let launch = Launch { name: NAME, folder: &self.folder, port: self.port, environment: &self.environment };
        self.instance = Some(Instance::start(&launch).await?);
        Ok(())
    }

    pub(crate) async fn kill(&mut self) -> anyhow::Result<()> {
        self.instance.take().context("the arena runs")?.kill().await
    }

    pub(crate) async fn stop(&mut self) -> anyhow::Result<()> {
        self.instance.take().context("the arena runs")?.stop().await
    }

    /// Waits for the process to end by itself.
    pub(crate) async fn ended(&mut self) -> anyhow::Result<()> {
        let mut instance = self.instance.take().context("the arena runs")?;
        instance.process().ended(instance::STOP_PATIENCE).await?;
        Ok(())
    }

    /// Restarts after a failure that left the arena in an unknown state.
    pub(crate) async fn restart_anyway(&mut self) -> anyhow::Result<()> {
        drop(self.instance.take());
        self.start().await
    }

    /// Sets the environment of the next process.
    pub(crate) fn set_environment(&mut self, environment: Vec<(String, String)>) {
        self.environment = environment;
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn pid(&self) -> anyhow::Result<u32> {
        Ok(self.instance.as_ref().context("the arena runs")?.pid())
    }

    pub(crate) async fn readiness(&self) -> anyhow::Result<(u16, String)> {
        self.instance.as_ref().context("the arena runs")?.readiness().await
    }

    pub(crate) fn postgres(&mut self) -> anyhow::Result<&mut Postgres> {
        self.postgres.as_mut().context("this arena has a server of PostgreSQL")
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the folder of the embedded database.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Returns the files of the embedded database that a process writes.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        FILES.iter().map(|name| self.data().join(name)).collect()
    }

    /// Returns the log so far.
    pub(crate) fn log(&self) -> anyhow::Result<String> {
        Ok(std::fs::read_to_string(self.folder.join(format!("{NAME}.log")))?)
    }

    /// Reads the committed rows from another process.
    pub(crate) async fn rows(&self) -> anyhow::Result<Stored> {
        let copy = self.look()?;
        copy.rows().await
    }

    /// Returns the source for reading the database. While the process is down, it is a copy of the embedded database, so that only the
    /// arena itself repairs the state after a crash.
    pub(crate) fn look(&self) -> anyhow::Result<Look> {
        if let Some(postgres) = &self.postgres {
            return Ok(Look::Postgres(postgres.url()));
        }
        if self.instance.is_some() {
            return Ok(Look::Live(self.data()));
        }
        let copy = tempfile::tempdir()?;
        for file in FILES {
            let from = self.data().join(file);
            if from.exists() {
                std::fs::copy(from, copy.path().join(file))?;
            }
        }
        Ok(Look::Copy(copy))
    }

    /// Checks the stored data without the visitors: the log and a fit against a recount.
    pub(crate) async fn stored_violations(&self) -> anyhow::Result<Vec<Violation>> {
        let look = self.look()?;
        Ok(checker::leaderboard_violations(&look.evidence(&self.folder).await?))
    }

    /// Checks everything, including the visitors' histories. The arena must be down, or its visitors gone.
    pub(crate) async fn violations(&self, visitors: Vec<VisitorHistory>) -> anyhow::Result<Vec<Violation>> {
        let evidence = self.look()?.evidence(&self.folder).await?;
        let receipts =
            visitors.iter().flat_map(|visitor| &visitor.battles).filter(|battle| battle.has_receipt()).count();
        println!("{receipts} votes acknowledged, {} stored", evidence.stored.votes.len());
        let evidence = Evidence { visitors, written: self.upstream.written(), ..evidence };
        let violations = checker::violations(&evidence);
        checker::keep_histories(&self.folder, &evidence.visitors, &violations, &[])?;
        Ok(violations)
    }

    /// Returns log lines that must not occur.
    pub(crate) fn panics(&self) -> Vec<String> {
        instance::panics(&self.folder, NAME)
    }
}

/// Source for reading a database.
pub(crate) enum Look {
    Postgres(String),
    Live(PathBuf),
    Copy(TempDir),
}

impl Look {
    pub(crate) async fn rows(&self) -> anyhow::Result<Stored> {
        match self {
            Self::Postgres(address) => Database::of_postgres(address).await?.read().await,
            Self::Live(data) => Database::of_sqlite(&data.join(FILES[0])).await?.read().await,
            Self::Copy(data) => Database::of_sqlite(&data.path().join(FILES[0])).await?.read().await,
        }
    }

    fn place(&self) -> anyhow::Result<[String; 2]> {
        let data =
            |path: &Path| Ok(["--data-dir".to_owned(), path.to_str().context("the folder's name is text")?.into()]);
        match self {
            Self::Postgres(address) => Ok(["--database".to_owned(), address.clone()]),
            Self::Live(path) => data(path),
            Self::Copy(folder) => data(folder.path()),
        }
    }

    /// Collects rows, log and a fit, without visitors.
    pub(crate) async fn evidence(&self, folder: &Path) -> anyhow::Result<Evidence> {
        let stored = self.rows().await?;
        let langya = |arguments: &[&str]| {
            output(Command::new(program()).args(arguments).args(self.place()?).current_dir(folder))
        };
        let log = langya(&["export", "votes", "--out", "/dev/stdout"])?;
        let log = log.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>()?;
        let mut leaderboards = Vec::new();
        if !stored.votes.is_empty() {
            leaderboards.push(("langya fit".to_owned(), serde_json::from_str(&langya(&["fit", "--format", "json"])?)?));
        }
        Ok(Evidence { stored, log, leaderboards, ..Evidence::default() })
    }
}
