//! Logs: a readable message and dotted fields on stderr. Never prompts, replies, keys or addresses.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

/// Starts logging to stderr. `RUST_LOG` chooses what is logged; without it, what an operator needs. What clients do
/// wrong on the wire is not among it: anybody could fill the log.
pub fn start() {
    let filter =
        EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn,actix_http=off,langya=info"));
    // A second start in one process (tests) keeps the first.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_target(false)
        .with_ansi(std::io::stderr().is_terminal())
        .try_init();
}
