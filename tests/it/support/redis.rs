//! Separate Redis server per test: on a free loopback port, in a separate folder, stopped with the test.

use std::io::{BufRead, BufReader, ErrorKind};
use std::process::{Child, Command, Stdio};

use langya::infra::config::RedisSettings;
use redis::{Client, FromRedisValue};
use tempfile::TempDir;

/// Redis server of one test.
pub(crate) struct TestRedis {
    port: u16,
    password: &'static str,
    folder: TempDir,
    child: Option<Child>,
}

impl TestRedis {
    /// Starts a server. `None` unless the tests that need servers are enabled.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with_password("")
    }

    /// Starts a server that requires a password; an empty one means none.
    pub(crate) fn start_with_password(password: &'static str) -> Option<Self> {
        if std::env::var("LANGYA_TESTS").as_deref() != Ok("all") {
            println!("skipped: Redis tests run in ./tests/run");
            return None;
        }
        let mut redis = Self { port: super::free_port(), password, folder: tempfile::tempdir().unwrap(), child: None };
        redis.run();
        Some(redis)
    }

    /// Returns the settings of a connection to it.
    pub(crate) fn settings(&self) -> RedisSettings {
        self.settings_with_password(self.password)
    }

    /// Returns the settings of a connection to it, with a password that may be wrong.
    pub(crate) fn settings_with_password(&self, password: &str) -> RedisSettings {
        RedisSettings { url: self.url(password).into(), prefix: "test".into(), timeout_ms: 10_000 }
    }

    /// Runs a command as an operator would.
    pub(crate) fn command<T: FromRedisValue>(&self, words: &[&str]) -> T {
        self.command_with(self.password, words)
    }

    /// Runs a command with another password.
    pub(crate) fn command_with<T: FromRedisValue>(&self, password: &str, words: &[&str]) -> T {
        let mut connection = Client::open(self.url(password)).unwrap().get_connection().unwrap();
        let mut command = redis::Cmd::new();
        words.iter().for_each(|word| {
            command.arg(*word);
        });
        command.query(&mut connection).unwrap()
    }

    /// Lists every key with its time to live in milliseconds; -1 for one that never expires.
    pub(crate) fn keys(&self) -> Vec<(String, i64)> {
        let keys: Vec<String> = self.command(&["KEYS", "*"]);
        keys.into_iter().map(|key| (key.clone(), self.command(&["PTTL", &key]))).collect()
    }

    /// Kills the server as in a crash.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Restarts the server on its port, empty, after [`TestRedis::kill`].
    pub(crate) fn run(&mut self) {
        assert!(self.child.is_none(), "it runs already");
        let mut command = Command::new("redis-server");
        command.args(["--port", &self.port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]);
        command.args(["--requirepass", self.password]).arg("--dir").arg(self.folder.path());
        let started = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let missing = started.as_ref().is_err_and(|error| error.kind() == ErrorKind::NotFound);
        assert!(!missing, "redis-server is not installed: ./tests/run installs it");
        let mut child = started.unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        self.child = Some(child);
        let (mut line, mut all) = (String::new(), String::new());
        while !line.contains("Ready to accept connections") {
            line.clear();
            assert!(said.read_line(&mut line).unwrap() > 0, "redis-server ended: {all}");
            all.push_str(&line);
        }
        // A full pipe would block it.
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
    }

    /// Stops the process by SIGSTOP: connections stay open and nothing answers.
    pub(crate) fn freeze(&self) {
        self.signal("STOP");
    }

    /// Resumes the process.
    pub(crate) fn thaw(&self) {
        self.signal("CONT");
    }

    fn signal(&self, signal: &str) {
        let id = self.child.as_ref().unwrap().id();
        assert!(Command::new("sh").args(["-c", &format!("kill -{signal} {id}")]).status().unwrap().success());
    }

    fn url(&self, password: &str) -> String {
        match password {
            "" => format!("redis://127.0.0.1:{}", self.port),
            _ => format!("redis://:{password}@127.0.0.1:{}", self.port),
        }
    }
}

impl Drop for TestRedis {
    fn drop(&mut self) {
        self.kill();
    }
}
