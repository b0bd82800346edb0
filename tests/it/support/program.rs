//! Runs the real program as an operator does: in a separate process and folder.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};

use tokio::sync::watch;

use super::TIMEOUT;

/// Returns the program under test: that of this build, or the one that `LANGYA_BIN` names, as in the browser tests.
pub(crate) fn program() -> String {
    std::env::var("LANGYA_BIN").unwrap_or_else(|_| env!("CARGO_BIN_EXE_langya").to_owned())
}

/// Exit code and output of a command.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs the program in `folder`, with an empty environment. One that serves where it should have refused is ended after a while, with the
/// exit code 124 of `timeout`.
pub(crate) fn langya<S: AsRef<OsStr>>(folder: &Path, arguments: impl IntoIterator<Item = S>) -> Run {
    langya_in(folder, arguments, &[])
}

/// Like [`langya`], with these environment variables.
pub(crate) fn langya_in<S: AsRef<OsStr>>(
    folder: &Path,
    arguments: impl IntoIterator<Item = S>,
    environment: &[(&str, &str)],
) -> Run {
    let mut command = command(TIMEOUT_PROGRAM, folder);
    let output = command.envs(environment.iter().copied()).args(["300", &program()]).args(arguments).output().unwrap();
    Run {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Absolute path: the standard library copies the memory map of the whole process to search for a name without the environment's `PATH`.
const TIMEOUT_PROGRAM: &str = "/usr/bin/timeout";

fn command(program: &str, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("LANGYA__PROVIDERS__DISCOVER", "false")
        .env("LANGYA__RATING__GROUP_VOTES", "1")
        .current_dir(folder)
        .stdin(Stdio::null());
    command
}

/// Like [`langya`], concurrently with other tasks of the test.
pub(crate) async fn langya_beside(folder: &Path, arguments: &[&str]) -> Run {
    let (folder, arguments) = (folder.to_owned(), arguments.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>());
    tokio::task::spawn_blocking(move || langya(&folder, arguments)).await.unwrap()
}

/// Running command, to be signalled or killed; it does not outlive the test.
pub(crate) struct UnderWay {
    child: Child,
    log: watch::Receiver<String>,
}

impl UnderWay {
    /// Starts the command.
    pub(crate) fn start(folder: &Path, arguments: &[&str]) -> Self {
        let mut command = command(&program(), folder);
        command.args(arguments).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let log = follow(child.stderr.take().unwrap());
        Self { child, log }
    }

    /// Kills it with `kill -9`: no handler runs, no buffer is written.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends a signal by its name, such as `INT`.
    pub(crate) fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    /// Waits until its log contains this text.
    pub(crate) async fn until_log_has(&self, part: &str) {
        let mut log = self.log.clone();
        let found = tokio::time::timeout(TIMEOUT, log.wait_for(|log| log.contains(part))).await;
        assert!(found.is_ok_and(|found| found.is_ok()), "its log never had {part:?}: {}", *self.log.borrow());
    }

    /// Waits for its end and returns its exit code and output.
    pub(crate) async fn ended(mut self) -> Run {
        // The log ends with the process.
        let mut log = self.log.clone();
        let closed = async { while log.changed().await.is_ok() {} };
        assert!(tokio::time::timeout(TIMEOUT, closed).await.is_ok(), "still running: {}", *self.log.borrow());
        let code = self.child.wait().unwrap().code();
        Run { code, stdout: String::new(), stderr: self.log.borrow().clone() }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        // Both fail if it has ended already, which is intended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Serving process; it does not outlive the test.
pub(crate) struct Server {
    child: Child,
    /// `http://127.0.0.1:PORT`
    pub(crate) url: String,
    log: watch::Receiver<String>,
}

impl Server {
    /// Starts `langya serve` on a free port and waits until it logs its address.
    pub(crate) fn start(folder: &Path, arguments: &[&str]) -> Self {
        Self::start_in(folder, arguments, &[])
    }

    /// Starts the server with these environment variables.
    pub(crate) fn start_in(folder: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut command = command(&program(), folder);
        command.envs(environment.iter().copied());
        command.args(["serve", "--listen", "127.0.0.1:0", "--data-dir", "data"]).args(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let mut stderr = child.stderr.take().unwrap();
        let Some(url) = line.trim_end().strip_prefix("listening on ") else {
            let mut said = String::new();
            stderr.read_to_string(&mut said).unwrap();
            panic!("the server did not start: {line}{said}");
        };
        Self { url: url.to_owned(), child, log: follow(stderr) }
    }

    /// Kills it with `kill -9`: no handler runs, no buffer is written.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends a signal by its name, such as `TERM`.
    pub(crate) fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    /// Waits until the log contains this text, and returns the whole log.
    pub(crate) async fn logged(&self, part: &str) -> String {
        let mut log = self.log.clone();
        let found = tokio::time::timeout(TIMEOUT, log.wait_for(|log| log.contains(part))).await;
        match found {
            Ok(Ok(log)) => log.clone(),
            _ => panic!("the log lacks {part:?}: {}", *self.log.borrow()),
        }
    }

    /// Waits until this number of log lines contain this text.
    pub(crate) async fn logged_times(&self, part: &str, times: usize) {
        let mut log = self.log.clone();
        let enough = log.wait_for(|log| log.lines().filter(|line| line.contains(part)).count() >= times);
        let found = tokio::time::timeout(TIMEOUT, enough).await;
        assert!(found.is_ok_and(|found| found.is_ok()), "the log lacks {times} times {part:?}: {}", self.log());
    }

    /// Returns the log so far.
    pub(crate) fn log(&self) -> String {
        self.log.borrow().clone()
    }

    /// Returns the process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the process to end by itself.
    pub(crate) async fn ended(mut self) -> ExitStatus {
        // The log ends with the process.
        let mut log = self.log.clone();
        let closed = async { while log.changed().await.is_ok() {} };
        assert!(tokio::time::timeout(TIMEOUT, closed).await.is_ok(), "still running: {}", self.log());
        self.child.wait().unwrap()
    }

    /// Sends SIGTERM and returns everything that the process logged.
    pub(crate) async fn log_at_end(self) -> String {
        self.signal("TERM");
        let log = self.log.clone();
        self.ended().await;
        log.borrow().clone()
    }

    /// Sends SIGTERM and returns the exit status.
    pub(crate) fn terminate(mut self) -> ExitStatus {
        self.signal("TERM");
        self.child.wait().unwrap()
    }
}

/// Collects the output of the process; an unread pipe would block it.
fn follow(stderr: ChildStderr) -> watch::Receiver<String> {
    let (sender, log) = watch::channel(String::new());
    std::thread::spawn(move || {
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            sender.send_modify(|log| *log += &format!("{line}\n"));
        }
    });
    log
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail if it has ended already, which is intended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
