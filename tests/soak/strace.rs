//! Traces system calls of a running process, or makes them fail.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::ensure;
use tokio::time::sleep;

use crate::processes::{Process, Start};

/// System calls that change a file or make changes durable.
pub(crate) const WRITES: &str =
    "write,pwrite64,writev,pwritev,fsync,fdatasync,ftruncate,rename,renameat,renameat2,fallocate";
const TIMEOUT: Duration = Duration::from_secs(30);

/// Attached strace; it detaches when it is dropped.
pub(crate) struct Strace {
    process: Process,
    trace: PathBuf,
}

impl Strace {
    /// Attaches to all threads of a process, for calls on these files, with at most one `-e inject=`.
    pub(crate) async fn attach(
        folder: &Path,
        pid: u32,
        files: &[PathBuf],
        inject: Option<&str>,
    ) -> anyhow::Result<Self> {
        let trace = folder.join("strace.out");
        // Removes the trace of an earlier strace.
        let _ = std::fs::remove_file(&trace);
        let mut arguments = vec!["-f".to_owned(), "-o".into(), "strace.out".into(), "-p".into(), pid.to_string()];
        arguments.extend(["-e".into(), format!("trace={WRITES}")]);
        arguments.extend(inject.into_iter().flat_map(|inject| ["-e".to_owned(), format!("inject={inject}")]));
        for file in files {
            arguments.extend(["-P".into(), file.display().to_string()]);
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let process = Process::start(&Start {
            name: "strace",
            program: Path::new("strace"),
            arguments: &arguments,
            folder,
            logs: folder,
            last_signal: "TERM",
            user: None,
            environment: &[],
        })?;
        let mut strace = Self { process, trace };
        let deadline = Instant::now() + TIMEOUT;
        while !is_traced_by(pid, strace.process.pid()) {
            let ended = strace.process.status()?;
            ensure!(ended.is_none() && Instant::now() < deadline, "strace cannot attach: see strace.log");
            sleep(Duration::from_millis(5)).await;
        }
        Ok(strace)
    }

    /// Detaches from the process; returns the traced calls.
    pub(crate) async fn detach(mut self) -> anyhow::Result<Vec<String>> {
        // It has ended already if its process has.
        if self.process.status()?.is_none() {
            self.process.signal("TERM")?;
        }
        self.process.ended(TIMEOUT).await?;
        Ok(std::fs::read_to_string(&self.trace)?.lines().map(str::to_owned).collect())
    }
}

/// Returns whether every thread is traced.
fn is_traced_by(pid: u32, tracer: u32) -> bool {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return false };
    let line = format!("TracerPid:\t{tracer}\n");
    threads
        .filter_map(Result::ok)
        .all(|thread| std::fs::read_to_string(thread.path().join("status")).is_ok_and(|status| status.contains(&line)))
}
