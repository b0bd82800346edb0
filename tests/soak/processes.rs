//! Child processes of the soak test: each ends with it, however it ends.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use rand::RngExt;
use tokio::net::TcpStream;
use tokio::time::sleep;

/// Poll interval of conditions.
const LOOK: Duration = Duration::from_millis(20);
/// Maximum time for a process to end by itself when the test is over.
const LAST_PATIENCE: Duration = Duration::from_secs(5);

/// Child process, ended when it is dropped. If the test itself is killed, the kernel sends it its last signal.
pub(crate) struct Process {
    name: String,
    last_signal: String,
    child: Child,
}

/// Start parameters of a process.
pub(crate) struct Start<'a> {
    pub(crate) name: &'a str,
    pub(crate) program: &'a Path,
    pub(crate) arguments: &'a [&'a str],
    /// Working folder.
    pub(crate) folder: &'a Path,
    /// Folder of the log.
    pub(crate) logs: &'a Path,
    /// Signal that ends the process with all its children when its parent is gone.
    pub(crate) last_signal: &'a str,
    /// User to run it as, if another one.
    pub(crate) user: Option<&'a str>,
    /// Environment variables besides the path.
    pub(crate) environment: &'a [(String, String)],
}

impl Process {
    /// Starts the program; its output is written to `NAME.log`.
    ///
    /// Call it on the test's main thread: the kernel's signal comes when the starting thread ends.
    pub(crate) fn start(start: &Start<'_>) -> anyhow::Result<Self> {
        let log = File::options().create(true).append(true).open(start.logs.join(format!("{}.log", start.name)))?;
        let mut command = Command::new("setpriv");
        if let Some(user) = start.user {
            command.args(["--reuid", user, "--regid", user, "--init-groups"]);
        }
        command.args(["--pdeathsig", start.last_signal, "--"]).arg(start.program).args(start.arguments);
        let child = command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("LANGYA__PROVIDERS__DISCOVER", "false")
            .envs(start.environment.iter().cloned())
            .current_dir(start.folder)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("{} cannot be started", start.name))?;
        Ok(Self { name: start.name.to_owned(), last_signal: start.last_signal.to_owned(), child })
    }

    /// Returns the process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal by its name, such as `STOP`.
    pub(crate) fn signal(&self, signal: &str) -> anyhow::Result<()> {
        let kill = format!("kill -{signal} {}", self.child.id());
        if !Command::new("sh").args(["-c", &kill]).status()?.success() {
            bail!("{} is gone: {signal} could not be sent", self.name);
        }
        Ok(())
    }

    /// Waits until the process has ended.
    pub(crate) async fn ended(&mut self, patience: Duration) -> anyhow::Result<ExitStatus> {
        let deadline = Instant::now() + patience;
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            if Instant::now() > deadline {
                bail!("{} did not end within {patience:?}", self.name);
            }
            sleep(LOOK).await;
        }
    }

    /// Returns the exit status, if the process has ended.
    pub(crate) fn status(&mut self) -> anyhow::Result<Option<ExitStatus>> {
        Ok(self.child.try_wait()?)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            return;
        }
        // A stopped process handles no other signal; each of these fails only if the process has just ended.
        let _ = self.signal("CONT");
        let _ = self.signal(&self.last_signal);
        let deadline = Instant::now() + LAST_PATIENCE;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < deadline {
            std::thread::sleep(LOOK);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the output of a command, if it succeeds.
pub(crate) fn output(command: &mut Command) -> anyhow::Result<String> {
    let name = format!("{:?}", command.get_program());
    let output = command.output().with_context(|| format!("{name} cannot be started"))?;
    ensure!(output.status.success(), "{name} failed: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns whether the user is root.
pub(crate) fn is_root() -> anyhow::Result<bool> {
    Ok(output(Command::new("id").arg("-u"))?.trim() == "0")
}

/// Waits until a process listens on the port.
pub(crate) async fn until_listening(port: u16, patience: Duration) -> anyhow::Result<()> {
    let deadline = Instant::now() + patience;
    while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
        if Instant::now() > deadline {
            bail!("nothing listens on port {port} after {patience:?}");
        }
        sleep(LOOK).await;
    }
    Ok(())
}

/// Returns an unused port outside the range of outgoing connections, so that it stays free while an instance is down.
pub(crate) fn free_port(rng: &mut impl RngExt) -> anyhow::Result<u16> {
    let is_free = |port: &u16| std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok();
    std::iter::repeat_with(|| rng.random_range(20_000..32_000)).take(1_000).find(is_free).context("no port is free")
}
