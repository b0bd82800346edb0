//! The real program as an operator runs it: a process of its own, in a folder of its own.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;

/// How a command ended and what it said.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs the program in `folder`, with nothing of this process's environment.
pub(crate) fn langya<S: AsRef<OsStr>>(folder: &Path, arguments: impl IntoIterator<Item = S>) -> Run {
    let output = command(folder).args(arguments).output().unwrap();
    Run {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_langya"));
    command.env_clear().env("LANGYA__PROVIDERS__DISCOVER", "false").current_dir(folder).stdin(Stdio::null());
    command
}

/// A serving process; it does not outlive the test.
pub(crate) struct Server {
    child: Child,
    log: JoinHandle<String>,
    /// `http://127.0.0.1:PORT`
    pub(crate) url: String,
}

impl Server {
    /// Starts `langya serve` on a free port and waits until it has said where.
    pub(crate) fn start(folder: &Path, arguments: &[&str]) -> Self {
        Self::start_in(folder, arguments, &[])
    }

    /// Starts it with these environment variables.
    pub(crate) fn start_in(folder: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut command = command(folder);
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
        // A full pipe would stop the server.
        let log = std::thread::spawn(move || {
            let mut said = Vec::new();
            stderr.read_to_end(&mut said).unwrap();
            String::from_utf8(said).unwrap()
        });
        Self { url: url.to_owned(), child, log }
    }

    /// `kill -9`: no handler runs, no buffer is written.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// SIGTERM; returns how the process ended.
    pub(crate) fn terminate(mut self) -> ExitStatus {
        self.send_term();
        self.child.wait().unwrap()
    }

    /// SIGTERM; returns everything that the process logged.
    pub(crate) fn log_at_end(mut self) -> String {
        self.send_term();
        self.child.wait().unwrap();
        std::mem::replace(&mut self.log, std::thread::spawn(String::new)).join().unwrap()
    }

    fn send_term(&self) {
        let sent = Command::new("sh").args(["-c", &format!("kill -TERM {}", self.child.id())]).status().unwrap();
        assert!(sent.success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail where it has ended already, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
