//! A Redis of the test's own: a free port of loopback, a folder of its own, ended with the test.

use std::io::{BufRead, BufReader, ErrorKind};
use std::process::{Child, Command, Stdio};

use langya::infra::config::RedisSettings;
use redis::{Client, FromRedisValue};
use tempfile::TempDir;

/// A Redis that only this test uses.
pub(crate) struct TestRedis {
    port: u16,
    password: &'static str,
    folder: TempDir,
    child: Option<Child>,
}

impl TestRedis {
    /// Starts one. `None` where the tests that need servers are not asked for.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with_password("")
    }

    /// Starts one that asks for a password; empty means that it does not.
    pub(crate) fn start_with_password(password: &'static str) -> Option<Self> {
        if std::env::var("LANGYA_TESTS").as_deref() != Ok("all") {
            println!("skipped: Redis tests run in ./tests/run");
            return None;
        }
        let mut redis = Self { port: super::free_port(), password, folder: tempfile::tempdir().unwrap(), child: None };
        redis.run();
        Some(redis)
    }

    /// Settings that lead to it.
    pub(crate) fn settings(&self) -> RedisSettings {
        self.settings_with_password(self.password)
    }

    /// Settings that lead to it, with a password that may be wrong.
    pub(crate) fn settings_with_password(&self, password: &str) -> RedisSettings {
        RedisSettings { url: self.url(password).into(), prefix: "test".into(), timeout_ms: 10_000 }
    }

    /// Runs a command as an operator would.
    pub(crate) fn command<T: FromRedisValue>(&self, words: &[&str]) -> T {
        self.command_with(self.password, words)
    }

    /// The same where the password was changed.
    pub(crate) fn command_with<T: FromRedisValue>(&self, password: &str, words: &[&str]) -> T {
        let mut connection = Client::open(self.url(password)).unwrap().get_connection().unwrap();
        let mut command = redis::Cmd::new();
        words.iter().for_each(|word| {
            command.arg(*word);
        });
        command.query(&mut connection).unwrap()
    }

    /// Every key with its time to live in milliseconds; -1 for one that never expires.
    pub(crate) fn keys(&self) -> Vec<(String, i64)> {
        let keys: Vec<String> = self.command(&["KEYS", "*"]);
        keys.into_iter().map(|key| (key.clone(), self.command(&["PTTL", &key]))).collect()
    }

    /// Ends it as a crash would.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Starts it again on its port, empty, after [`TestRedis::kill`].
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
        // A full pipe would stop it.
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
    }

    /// Stops it where it stands: connections stay open and nothing answers.
    pub(crate) fn freeze(&self) {
        self.signal("STOP");
    }

    /// Lets it go on.
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
