//! Services of the soak test: PostgreSQL, Redis, two instances, and nginx in front of them, all started here, on free ports and in a
//! temporary folder.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use rand::RngExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::sleep;

use crate::instance::{self, Instance, Launch, STOP_PATIENCE, program};
use crate::postgres_server::{Postgres, Shutdown};
use crate::processes::{Process, Start, free_port, output, until_listening};

/// Maximum wait for the start of a service.
const START_PATIENCE: Duration = Duration::from_secs(30);
const MODELS: [&str; 6] = ["amber", "birch", "cedar", "delta", "ember", "fjord"];

/// Running services and instances.
pub(crate) struct Services {
    folder: PathBuf,
    ports: Ports,
    // Dropped in this order: clients before the services they use.
    nginx: Option<Process>,
    instances: [Option<Instance>; 2],
    redis: Option<Process>,
    postgres: Postgres,
}

#[derive(Debug, Clone, Copy)]
struct Ports {
    nginx: u16,
    instances: [u16; 2],
    redis: u16,
}

/// Names of the two instances.
pub(crate) const NAMES: [&str; 2] = ["a", "b"];

impl Services {
    /// Starts everything and waits until both instances accept visitors. The models answer at `upstream`; `settings` are further sections
    /// of the instances' settings.
    pub(crate) async fn start(
        folder: &Path,
        upstream: &str,
        settings: &str,
        rng: &mut impl RngExt,
    ) -> anyhow::Result<Self> {
        // Services that run as other users need access to the path.
        fs::set_permissions(folder, fs::Permissions::from_mode(0o711))?;
        let mut port = || free_port(rng);
        let ports = Ports { nginx: port()?, instances: [port()?, port()?], redis: port()? };
        let postgres = Postgres::start(folder, port()?).await?;
        let folder = folder.to_owned();
        let mut services = Self { folder, ports, nginx: None, instances: [None, None], redis: None, postgres };
        services.start_redis().await?;
        services.write_settings(upstream, settings)?;
        for which in 0..2 {
            services.start_instance(which).await?;
        }
        services.start_nginx().await?;
        Ok(services)
    }

    /// Returns the port for visitors.
    pub(crate) fn visitors_port(&self) -> u16 {
        self.ports.nginx
    }

    pub(crate) fn instance_url(&self, which: usize) -> String {
        format!("http://127.0.0.1:{}", self.ports.instances[which])
    }

    pub(crate) fn database_url(&self) -> String {
        self.postgres.url()
    }

    /// Shuts PostgreSQL down, waits for the time `down` and restarts it.
    pub(crate) async fn restart_postgres(&mut self, shutdown: Shutdown, down: Duration) -> anyhow::Result<()> {
        self.postgres.restart(shutdown, down).await
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
            environment: &[],
        })?;
        self.redis = Some(redis);
        until_listening(self.ports.redis, START_PATIENCE).await
    }

    /// Restarts Redis without data after the time `down`.
    pub(crate) async fn restart_redis(&mut self, down: Duration) -> anyhow::Result<()> {
        let mut redis = self.redis.take().context("Redis runs")?;
        redis.signal("KILL")?;
        redis.ended(STOP_PATIENCE).await?;
        sleep(down).await;
        self.start_redis().await
    }

    /// Deletes all data of Redis while it stays up.
    pub(crate) async fn empty_redis(&self) -> anyhow::Result<()> {
        let mut redis = TcpStream::connect(("127.0.0.1", self.ports.redis)).await?;
        redis.write_all(b"FLUSHALL\r\n").await?;
        let mut answer = [0; 5];
        redis.read_exact(&mut answer).await?;
        ensure!(&answer == b"+OK\r\n", "Redis answered {}", String::from_utf8_lossy(&answer));
        Ok(())
    }

    fn write_settings(&self, upstream: &str, further: &str) -> anyhow::Result<()> {
        let settings = format!(
            "[server]\nworkers = 1\ntrusted_proxies = [\"127.0.0.0/8\"]\n[storage]\ndatabase = \"{}\"\n\
             [redis]\nurl = \"redis://127.0.0.1:{}\"\n[log]\nformat = \"json\"\n{further}{}",
            self.database_url(),
            self.ports.redis,
            models_and_limits(upstream),
        );
        Ok(fs::write(self.folder.join("langya.toml"), settings)?)
    }

    /// Starts an instance and waits until it reports that battles can begin.
    pub(crate) async fn start_instance(&mut self, which: usize) -> anyhow::Result<()> {
        let launch = Launch {
            name: &instance_name(which),
            folder: &self.folder,
            port: self.ports.instances[which],
            environment: &[],
        };
        self.instances[which] = Some(Instance::start(&launch).await?);
        Ok(())
    }

    /// Kills an instance by `kill -9`.
    pub(crate) async fn kill_instance(&mut self, which: usize) -> anyhow::Result<()> {
        self.take_instance(which)?.kill().await
    }

    /// Stops an instance by SIGTERM; it must end by itself, in time and with exit code 0.
    pub(crate) async fn stop_instance(&mut self, which: usize) -> anyhow::Result<()> {
        self.take_instance(which)?.stop().await
    }

    /// Pauses an instance by SIGSTOP and, after a while, SIGCONT.
    pub(crate) async fn pause_instance(&mut self, which: usize, pause: Duration) -> anyhow::Result<()> {
        let instance = self.take_instance(which)?;
        let paused = instance.pause(pause).await;
        self.instances[which] = Some(instance);
        paused
    }

    fn take_instance(&mut self, which: usize) -> anyhow::Result<Instance> {
        self.instances[which].take().with_context(|| format!("{} does not run", instance_name(which)))
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
            environment: &[],
        })?;
        self.nginx = Some(nginx);
        until_listening(self.ports.nginx, START_PATIENCE).await
    }

    /// Fails if an instance or a service has ended unexpectedly.
    pub(crate) fn check_alive(&mut self) -> anyhow::Result<()> {
        if let Some(status) = self.postgres.status()? {
            bail!("PostgreSQL ended by itself: {status}");
        }
        let instances = self.instances.iter_mut().map(|instance| instance.as_mut().map(Instance::process));
        let instances = instances.zip(["instance a", "instance b"]);
        let services = [(self.redis.as_mut(), "Redis"), (self.nginx.as_mut(), "nginx")];
        for (process, name) in instances.chain(services) {
            if let Some(status) = process.map(Process::status).transpose()?.flatten() {
                bail!("{name} ended by itself: {status}");
            }
        }
        Ok(())
    }

    /// Returns log lines that must not occur.
    pub(crate) fn panics(&self) -> Vec<String> {
        (0..NAMES.len()).flat_map(|which| instance::panics(&self.folder, &instance_name(which))).collect()
    }

    /// Runs the program on the database and returns its output.
    pub(crate) fn langya(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let database = self.database_url();
        let mut command = Command::new(program());
        output(command.args(arguments).args(["--database", &database]).current_dir(&self.folder))
    }
}

/// Returns the settings common to all arenas: the models, all of which answer at this address, and no limits, since one visitor here acts
/// for many.
pub(crate) fn models_and_limits(upstream: &str) -> String {
    let model = |id: &&str| format!("[[models]]\nid = \"{id}\"\nprovider = \"openai\"\nbase_url = \"{upstream}\"\n");
    let limits = "[limits]\nturns = []\nvotes = []\nturns_per_address = []\nvotes_per_address = []\n\
                  turns_per_arena = []\nvotes_per_arena = []\n";
    format!(
        "{limits}[rating]\ngroup_votes = 1\n[providers]\npractice = \"never\"\n{}",
        MODELS.iter().map(model).collect::<String>()
    )
}

fn instance_name(which: usize) -> String {
    format!("instance-{}", NAMES[which])
}
