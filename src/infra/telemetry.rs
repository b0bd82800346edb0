//! Logs: a readable message and dotted fields on stderr. Never prompts, replies, keys or addresses.

use std::io::IsTerminal;

use tracing::Subscriber;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::{EnvFilter, fmt};

use crate::config::LoggingFormat;

/// Starts logging to stderr. `RUST_LOG` chooses what is logged; without it, what an operator needs. What clients do
/// wrong on the wire is not among it: anybody could fill the log. Nor is what the database's driver says of each
/// connection that it loses: [`crate::storage`] tells of an outage once.
pub fn start(format: LoggingFormat) {
    let filter = EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| EnvFilter::new("warn,actix_http=off,sqlx=error,langya=info"));
    // A second start in one process (tests) keeps the first.
    let _ = tracing::subscriber::set_global_default(log(format, filter, std::io::stderr));
}

/// Has panics logged by where they happen, without what they say: that may quote a prompt, a reply or a key.
pub fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(panic.place = place, "a thread panicked");
    }));
}

/// A log in this format to this writer.
pub fn log<W>(format: LoggingFormat, filter: EnvFilter, writer: W) -> Box<dyn Subscriber + Send + Sync>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    // A log that cannot be written must not end the arena: the subscriber would report its write error to stderr, which panics.
    let log = fmt().with_env_filter(filter).with_writer(writer).with_target(false).log_internal_errors(false);
    match format {
        LoggingFormat::Text => Box::new(log.with_ansi(std::io::stderr().is_terminal()).finish()),
        LoggingFormat::Json => Box::new(log.json().flatten_event(true).with_current_span(false).finish()),
    }
}
