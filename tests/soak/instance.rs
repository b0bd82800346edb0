//! Instance of `langya serve`, started, killed, stopped and paused from outside.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::ensure;
use tokio::time::sleep;

use crate::processes::{Process, Start};

/// Maximum wait until battles can begin.
const START_PATIENCE: Duration = Duration::from_secs(30);
/// Maximum duration of an orderly shutdown of an instance.
pub(crate) const STOP_PATIENCE: Duration = Duration::from_secs(30);

/// Returns the program under test: `LANGYA_BIN`, or the one that was built with this test.
pub(crate) fn program() -> PathBuf {
    std::env::var_os("LANGYA_BIN").map_or_else(|| env!("CARGO_BIN_EXE_langya").into(), PathBuf::from)
}

/// Launch parameters of an instance.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Launch<'a> {
    /// Name; the log is `NAME.log`.
    pub(crate) name: &'a str,
    /// Working folder with its `langya.toml`.
    pub(crate) folder: &'a Path,
    pub(crate) port: u16,
    pub(crate) environment: &'a [(String, String)],
}

/// Serving process, ended when it is dropped.
pub(crate) struct Instance {
    name: String,
    port: u16,
    process: Process,
}

impl Instance {
    /// Starts the process and waits until it reports that battles can begin.
    pub(crate) async fn start(launch: &Launch<'_>) -> anyhow::Result<Self> {
        let process = Process::start(&Start {
            name: launch.name,
            program: &program(),
            arguments: &["serve", "--config", "langya.toml", "--listen", &format!("127.0.0.1:{}", launch.port)],
            folder: launch.folder,
            logs: launch.folder,
            last_signal: "KILL",
            user: None,
            environment: launch.environment,
        })?;
        let mut instance = Self { name: launch.name.to_owned(), port: launch.port, process };
        let deadline = Instant::now() + START_PATIENCE;
        while !matches!(instance.readiness().await, Ok((200, _))) {
            let ended = instance.process.status()?;
            ensure!(ended.is_none(), "{0} ended at its start: see {0}.log", launch.name);
            ensure!(Instant::now() < deadline, "{} does not get ready", launch.name);
            sleep(Duration::from_millis(50)).await;
        }
        Ok(instance)
    }

    /// Returns `http://HOST:PORT`.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns status and text of `/readyz`.
    pub(crate) async fn readiness(&self) -> anyhow::Result<(u16, String)> {
        let answer = reqwest::get(format!("{}/readyz", self.url())).await?;
        Ok((answer.status().as_u16(), answer.text().await?))
    }

    /// Returns the process id.
    pub(crate) fn pid(&self) -> u32 {
        self.process.pid()
    }

    pub(crate) fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    /// Kills the process by `kill -9`.
    pub(crate) async fn kill(mut self) -> anyhow::Result<()> {
        self.process.signal("KILL")?;
        self.process.ended(STOP_PATIENCE).await?;
        Ok(())
    }

    /// Stops the process by SIGTERM; it must end by itself, in time and with exit code 0.
    pub(crate) async fn stop(mut self) -> anyhow::Result<()> {
        self.process.signal("TERM")?;
        let status = self.process.ended(STOP_PATIENCE).await?;
        ensure!(status.success(), "{} ended with {status} after SIGTERM", self.name);
        Ok(())
    }

    /// Pauses the process by SIGSTOP and, after a while, SIGCONT.
    pub(crate) async fn pause(&self, pause: Duration) -> anyhow::Result<()> {
        self.process.signal("STOP")?;
        sleep(pause).await;
        self.process.signal("CONT")
    }
}

/// Returns log lines that must not occur.
pub(crate) fn panics(folder: &Path, name: &str) -> Vec<String> {
    let log = std::fs::read_to_string(folder.join(format!("{name}.log"))).unwrap_or_default();
    log.lines().filter(|line| line.contains("panicked at")).map(str::to_owned).collect()
}
