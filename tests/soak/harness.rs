//! Harness of every test of this binary: size and seed, a folder that is kept after a failure, and cleanup of all started processes,
//! however the test ends.

use std::path::Path;
use std::process::{Command, Stdio};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tokio::signal::unix::{SignalKind, signal};

use crate::processes::is_root;

const DEFAULT_SEED: u64 = 20_261_121;

/// Reads a number from the environment.
pub(crate) fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().unwrap())
}

/// Number of injected faults, and their seed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub(crate) count: usize,
    pub(crate) seed: u64,
    /// Whether the size exceeds the short form's.
    pub(crate) is_long: bool,
}

impl Size {
    /// Reads `LANGYA_SOAK_COUNT`; `short` if it is unset.
    pub(crate) fn or_short(short: usize) -> Self {
        let count = usize::try_from(number("LANGYA_SOAK_COUNT", short.try_into().unwrap())).unwrap();
        Self { count, seed: seed(), is_long: count > short }
    }

    pub(crate) fn rng(self, stream: usize) -> ChaCha8Rng {
        rng(self.seed, stream)
    }
}

/// Reads `LANGYA_SOAK_SEED`.
pub(crate) fn seed() -> u64 {
    number("LANGYA_SOAK_SEED", DEFAULT_SEED)
}

/// Returns one of a seed's many random streams.
pub(crate) fn rng(seed: u64, stream: usize) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(u64::try_from(stream).unwrap());
    rng
}

/// Returns an rng for ports, independent of the seed: two runs may be concurrent.
pub(crate) fn port_rng() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(u64::from(std::process::id()))
}

/// Returns whether a tool is installed; the full test command requires it.
pub(crate) fn has(tool: &str, package: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {tool}")]).stdout(Stdio::null()).status();
    needs(found.is_ok_and(|status| status.success()), &format!("{tool} is not installed (Debian package {package})"))
}

/// Returns whether the user is root, who may mount file systems.
pub(crate) fn may_mount() -> bool {
    needs(is_root().is_ok_and(|root| root), "only root may mount a small disk")
}

/// Reports the skipped test if a requirement is missing, and fails in the full test command.
pub(crate) fn needs(there: bool, else_why: &str) -> bool {
    assert!(there || std::env::var("LANGYA_TESTS").as_deref() != Ok("all"), "{else_why}");
    if !there {
        println!("skipped: {else_why}");
    }
    there
}

/// Runs a test in a temporary folder; it returns the violations.
pub(crate) fn run(test: impl AsyncFnOnce(&Path) -> anyhow::Result<Vec<String>>) {
    println!("seed {}", seed());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    // On this thread, which lives as long as the processes that it starts.
    let wrong = runtime.block_on(async {
        tokio::select! {
            wrong = in_folder(test) => wrong.unwrap_or_else(|error| vec![format!("{error:#}")]),
            () = interrupted() => vec!["interrupted".into()],
        }
    });
    wrong.iter().take(50).for_each(|line| println!("WRONG: {line}"));
    assert!(wrong.is_empty(), "{} things are wrong, seed {}", wrong.len(), seed());
}

async fn in_folder(test: impl AsyncFnOnce(&Path) -> anyhow::Result<Vec<String>>) -> anyhow::Result<Vec<String>> {
    // An error means that another test of this process has installed it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let folder = tempfile::tempdir()?;
    let wrong = test(folder.path()).await;
    if !matches!(&wrong, Ok(wrong) if wrong.is_empty()) {
        println!("the logs are kept in {}", folder.keep().display());
    }
    wrong
}

/// Waits for Ctrl-C or SIGTERM, so that all started processes are ended on the way out.
async fn interrupted() {
    let mut terminate = signal(SignalKind::terminate()).unwrap();
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}
