//! What the arena stands on and behind: PostgreSQL, Redis, two instances, and nginx in front of them, all started here,
//! on free ports and in a folder of their own.

use std::fmt::{self, Display, Formatter};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use rand::RngExt;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::sleep;

use crate::processes::{Process, Start, free_port, until_listening};

/// Longest wait for a service to come up.
const START_PATIENCE: Duration = Duration::from_secs(30);
/// An instance that was told to end has to be through after this.
const STOP_PATIENCE: Duration = Duration::from_secs(30);
/// Files in memory, and the room that is needed, in kilobytes.
const MEMORY: &str = "/dev/shm";
const MEMORY_NEEDED: u64 = 1024 * 1024;
const MODELS: [&str; 6] = ["amber", "birch", "cedar", "delta", "ember", "fjord"];

/// Everything that runs.
pub(crate) struct Services {
    folder: PathBuf,
    ports: Ports,
    is_root: bool,
    // Dropped in this order: those who use others first.
    nginx: Option<Process>,
    instances: [Option<Process>; 2],
    redis: Option<Process>,
    postgres: Option<Process>,
    /// Home of PostgreSQL.
    data: TempDir,
}

#[derive(Debug, Clone, Copy)]
struct Ports {
    nginx: u16,
    instances: [u16; 2],
    redis: u16,
    postgres: u16,
}

/// `battle.pacing` of the instances.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Pacing {
    Common,
    Raw,
}

impl FromStr for Pacing {
    type Err = anyhow::Error;

    fn from_str(name: &str) -> anyhow::Result<Self> {
        match name {
            "common" => Ok(Self::Common),
            "raw" => Ok(Self::Raw),
            _ => bail!("pacing {name:?} is unknown: there are common and raw"),
        }
    }
}

impl Display for Pacing {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Common => "common",
            Self::Raw => "raw",
        })
    }
}

/// How PostgreSQL is shut down.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shutdown {
    /// Running statements are cut off, what is committed is written.
    Fast,
    /// Like a crash: the log is replayed at the next start.
    Immediate,
}

/// Names of the two instances.
pub(crate) const NAMES: [&str; 2] = ["a", "b"];

impl Services {
    /// Starts everything and waits until both instances take visitors.
    pub(crate) async fn start(
        folder: &Path,
        upstream: &str,
        pacing: Pacing,
        rng: &mut impl RngExt,
    ) -> anyhow::Result<Self> {
        // Services that run as other users pass through.
        fs::set_permissions(folder, fs::Permissions::from_mode(0o711))?;
        let mut port = || free_port(rng);
        let ports = Ports { nginx: port()?, instances: [port()?, port()?], redis: port()?, postgres: port()? };
        let is_root = output(Command::new("id").arg("-u"))?.trim() == "0";
        let mut services = Self {
            folder: folder.to_owned(),
            data: data_folder()?,
            ports,
            is_root,
            nginx: None,
            instances: [None, None],
            redis: None,
            postgres: None,
        };
        services.init_postgres()?;
        services.start_postgres().await?;
        services.create_database().await?;
        services.start_redis().await?;
        services.write_settings(upstream, pacing)?;
        for which in 0..2 {
            services.start_instance(which).await?;
        }
        services.start_nginx().await?;
        Ok(services)
    }

    /// Where visitors connect.
    pub(crate) fn visitors_port(&self) -> u16 {
        self.ports.nginx
    }

    pub(crate) fn instance_url(&self, which: usize) -> String {
        format!("http://127.0.0.1:{}", self.ports.instances[which])
    }

    pub(crate) fn database_url(&self) -> String {
        format!("postgres://arena@127.0.0.1:{}/arena", self.ports.postgres)
    }

    fn init_postgres(&self) -> anyhow::Result<()> {
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

    async fn start_postgres(&mut self) -> anyhow::Result<()> {
        let port = self.ports.postgres.to_string();
        let arguments = ["-D", "data", "-p", &port, "-k", "", "-c", "listen_addresses=127.0.0.1", "-c", "fsync=on"];
        let postgres = Process::start(&Start {
            name: "postgres",
            program: &postgres_program("postgres")?,
            arguments: &arguments,
            folder: self.data.path(),
            logs: &self.folder,
            last_signal: "QUIT",
            user: self.is_root.then_some("postgres"),
        })?;
        self.postgres = Some(postgres);
        let deadline = Instant::now() + START_PATIENCE;
        while let Err(error) = self.admin("SELECT 1").await {
            ensure!(Instant::now() < deadline, "PostgreSQL does not come up: {error}");
            sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }

    async fn create_database(&self) -> anyhow::Result<()> {
        self.admin("CREATE DATABASE arena").await
    }

    async fn admin(&self, statement: &'static str) -> anyhow::Result<()> {
        use sqlx::Connection;
        let address = format!("postgres://arena@127.0.0.1:{}/postgres", self.ports.postgres);
        let mut connection = sqlx::PgConnection::connect(&address).await?;
        sqlx::query(statement).execute(&mut connection).await?;
        Ok(connection.close().await?)
    }

    /// Shuts PostgreSQL down in one of its two ways, leaves it down for a while and starts it again.
    pub(crate) async fn restart_postgres(&mut self, shutdown: Shutdown, down: Duration) -> anyhow::Result<()> {
        let mut postgres = self.postgres.take().context("PostgreSQL runs")?;
        postgres.signal(match shutdown {
            Shutdown::Fast => "INT",
            Shutdown::Immediate => "QUIT",
        })?;
        postgres.ended(STOP_PATIENCE).await?;
        sleep(down).await;
        self.start_postgres().await
    }

    async fn start_redis(&mut self) -> anyhow::Result<()> {
        let port = self.ports.redis.to_string();
        let redis = Process::start(&Start {
            name: "redis",
            program: Path::new("redis-server"),
            arguments: &["--port", &port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"],
            folder: &self.folder,
            logs: &self.folder,
            last_signal: "KILL",
            user: None,
        })?;
        self.redis = Some(redis);
        until_listening(self.ports.redis, START_PATIENCE).await
    }

    /// Redis loses everything and is down for a while.
    pub(crate) async fn restart_redis(&mut self, down: Duration) -> anyhow::Result<()> {
        let mut redis = self.redis.take().context("Redis runs")?;
        redis.signal("KILL")?;
        redis.ended(STOP_PATIENCE).await?;
        sleep(down).await;
        self.start_redis().await
    }

    /// Redis loses everything and stays up.
    pub(crate) async fn empty_redis(&self) -> anyhow::Result<()> {
        let mut redis = TcpStream::connect(("127.0.0.1", self.ports.redis)).await?;
        redis.write_all(b"FLUSHALL\r\n").await?;
        let mut answer = [0; 5];
        redis.read_exact(&mut answer).await?;
        ensure!(&answer == b"+OK\r\n", "Redis answered {}", String::from_utf8_lossy(&answer));
        Ok(())
    }

    fn write_settings(&self, upstream: &str, pacing: Pacing) -> anyhow::Result<()> {
        let models: String = MODELS
            .iter()
            .map(|id| format!("[[models]]\nid = \"{id}\"\nprovider = \"openai\"\nbase_url = \"{upstream}\"\n"))
            .collect();
        let settings = format!(
            "[server]\nworkers = 1\ntrusted_proxies = [\"127.0.0.0/8\"]\n[storage]\ndatabase = \"{}\"\n\
             [redis]\nurl = \"redis://127.0.0.1:{}\"\n[log]\nformat = \"json\"\n\
             [limits]\nturns_per_minute = 0\nvotes_per_minute = 0\n\
             [battle]\npacing = \"{pacing}\"\n[providers]\npractice = \"never\"\n{models}",
            self.database_url(),
            self.ports.redis,
        );
        Ok(fs::write(self.folder.join("langya.toml"), settings)?)
    }

    /// Starts an instance and waits until it says that battles can begin.
    pub(crate) async fn start_instance(&mut self, which: usize) -> anyhow::Result<()> {
        let listen = format!("127.0.0.1:{}", self.ports.instances[which]);
        let instance = Process::start(&Start {
            name: &format!("instance-{}", NAMES[which]),
            program: Path::new(env!("CARGO_BIN_EXE_langya")),
            arguments: &["serve", "--config", "langya.toml", "--listen", &listen],
            folder: &self.folder,
            logs: &self.folder,
            last_signal: "KILL",
            user: None,
        })?;
        self.instances[which] = Some(instance);
        let deadline = Instant::now() + START_PATIENCE;
        let address = format!("{}/readyz", self.instance_url(which));
        while !reqwest::get(&address).await.is_ok_and(|answer| answer.status().is_success()) {
            let ended = self.instance(which)?.status()?;
            ensure!(ended.is_none(), "instance {} ended at its start: see instance-{0}.log", NAMES[which]);
            ensure!(Instant::now() < deadline, "instance {} does not get ready", NAMES[which]);
            sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }

    /// `kill -9`.
    pub(crate) async fn kill_instance(&mut self, which: usize) -> anyhow::Result<()> {
        self.instance(which)?.signal("KILL")?;
        self.instance(which)?.ended(STOP_PATIENCE).await?;
        self.instances[which] = None;
        Ok(())
    }

    /// SIGTERM; the instance has to end by itself, in time and with exit code 0.
    pub(crate) async fn stop_instance(&mut self, which: usize) -> anyhow::Result<()> {
        self.instance(which)?.signal("TERM")?;
        let status = self.instance(which)?.ended(STOP_PATIENCE).await?;
        ensure!(status.success(), "instance {} ended with {status} after SIGTERM", NAMES[which]);
        self.instances[which] = None;
        Ok(())
    }

    /// SIGSTOP and, after a while, SIGCONT.
    pub(crate) async fn pause_instance(&mut self, which: usize, pause: Duration) -> anyhow::Result<()> {
        self.instance(which)?.signal("STOP")?;
        sleep(pause).await;
        self.instance(which)?.signal("CONT")
    }

    fn instance(&mut self, which: usize) -> anyhow::Result<&mut Process> {
        self.instances[which].as_mut().with_context(|| format!("instance {} does not run", NAMES[which]))
    }

    async fn start_nginx(&mut self) -> anyhow::Result<()> {
        let home = self.folder.join("nginx");
        fs::create_dir_all(&home)?;
        let filled = [("@A@", self.ports.instances[0]), ("@B@", self.ports.instances[1]), ("@PORT@", self.ports.nginx)]
            .iter()
            .fold(include_str!("nginx.conf").to_owned(), |text, (mark, port)| text.replace(mark, &port.to_string()));
        fs::write(home.join("nginx.conf"), filled)?;
        let prefix = home.to_str().context("the folder's name is text")?.to_owned();
        let nginx = Process::start(&Start {
            name: "nginx",
            program: Path::new("nginx"),
            arguments: &["-p", &prefix, "-c", "nginx.conf", "-e", "error.log"],
            folder: &home,
            logs: &home,
            last_signal: "TERM",
            user: None,
        })?;
        self.nginx = Some(nginx);
        until_listening(self.ports.nginx, START_PATIENCE).await
    }

    /// Fails where an instance or a service has ended that nobody ended.
    pub(crate) fn check_alive(&mut self) -> anyhow::Result<()> {
        let instances = self.instances.iter_mut().zip(["instance a", "instance b"]);
        let services = [(&mut self.postgres, "PostgreSQL"), (&mut self.redis, "Redis"), (&mut self.nginx, "nginx")];
        for (process, name) in instances.chain(services) {
            if let Some(status) = process.as_mut().map(Process::status).transpose()?.flatten() {
                bail!("{name} ended by itself: {status}");
            }
        }
        Ok(())
    }

    /// Lines that an instance should never log.
    pub(crate) fn panics(&self) -> Vec<String> {
        let lines = NAMES.iter().flat_map(|name| {
            let log = fs::read_to_string(self.folder.join(format!("instance-{name}.log"))).unwrap_or_default();
            log.lines().filter(|line| line.contains("panicked at")).map(str::to_owned).collect::<Vec<_>>()
        });
        lines.collect()
    }

    /// Runs the program on the database and returns what it prints.
    pub(crate) fn langya(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let database = self.database_url();
        let mut command = Command::new(env!("CARGO_BIN_EXE_langya"));
        output(command.args(arguments).args(["--database", &database]).current_dir(&self.folder))
    }
}

/// A folder for PostgreSQL's data, in memory where there is room. The faults here are those of processes: what is
/// written survives them in memory, too. A start after a crash syncs a thousand files first, which on a busy disk takes
/// longer than everything that is measured here.
fn data_folder() -> anyhow::Result<TempDir> {
    let free = output(Command::new("df").args(["--output=avail", "-k", MEMORY])).unwrap_or_default();
    let free: u64 = free.lines().last().and_then(|kilobytes| kilobytes.trim().parse().ok()).unwrap_or(0);
    let in_memory = (free >= MEMORY_NEEDED).then(|| tempfile::tempdir_in(MEMORY)).and_then(Result::ok);
    Ok(match in_memory {
        Some(folder) => folder,
        None => tempfile::tempdir()?,
    })
}

/// What a command prints, if it succeeds.
fn output(command: &mut Command) -> anyhow::Result<String> {
    let name = format!("{:?}", command.get_program());
    let output = command.output().with_context(|| format!("{name} cannot be started"))?;
    ensure!(output.status.success(), "{name} failed: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Debian keeps PostgreSQL's programs off the path, by version.
fn postgres_program(name: &str) -> anyhow::Result<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").context("PostgreSQL is not installed: package postgresql")?;
    let programs = versions.filter_map(|version| Some(version.ok()?.path().join("bin").join(name)));
    programs.filter(|program| program.exists()).max().with_context(|| format!("PostgreSQL's {name} is not installed"))
}
