//! Shared support of the tests: a real arena on a free port with scripted models, a visitor, a scripted model server, and the real program.

pub(crate) mod api_document;
pub(crate) mod arena;
pub(crate) mod batch_provider;
pub(crate) mod embedded;
pub(crate) mod identity_provider;
pub(crate) mod instance;
pub(crate) mod log;
pub(crate) mod module_graph;
pub(crate) mod postgres;
pub(crate) mod program;
pub(crate) mod proxy;
pub(crate) mod ratings;
pub(crate) mod raw_socket;
pub(crate) mod redis;
pub(crate) mod routes;
pub(crate) mod scripted;
pub(crate) mod upstream;
pub(crate) mod visitor;
pub(crate) mod wire;

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use program::Server;

/// Maximum wait for an expected event; reached only by a failing test. Shorter than the minute after which most jobs poll for work that was
/// not announced. The leaderboard's and the correlations' jobs poll after half a minute: `instances.rs` has a shorter wait for what an
/// announcement must bring.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(50);

/// Returns a loopback port for a server that a test starts, stops and restarts. It is below the ephemeral ports of the system, so that no
/// other process takes it in between.
pub(crate) fn free_port() -> u16 {
    static ASKED: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = std::process::id().wrapping_mul(97).wrapping_add(ASKED.fetch_add(1, Ordering::Relaxed));
        let port = u16::try_from(20_000 + number % 12_000).unwrap();
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// Polls until there is a result; only a failing test waits long. It polls at most a hundred times a second, so that polling does not take
/// processor time from the awaited work.
pub(crate) async fn until<T>(mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let mut turns = tokio::time::interval(Duration::from_millis(10));
    turns.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let asking = async {
        loop {
            turns.tick().await;
            if let Some(answer) = ask().await {
                return answer;
            }
        }
    };
    tokio::time::timeout(TIMEOUT, asking).await.expect("what the test waits for comes in time")
}

/// Returns the size of a test: the long one with `LANGYA_TEST_SIZE=long`.
pub(crate) fn size(short: usize, long: usize) -> usize {
    if std::env::var("LANGYA_TEST_SIZE").as_deref() == Ok("long") { long } else { short }
}

/// Returns a memory statistic of the process in bytes, such as `VmRSS` or, the highest so far, `VmHWM`.
pub(crate) fn memory(server: &Server, field: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':')).unwrap();
    1024 * line.trim().trim_end_matches(" kB").parse::<u64>().unwrap()
}
