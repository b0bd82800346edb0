//! Logging: a readable message and dotted fields on stderr. Never prompts, replies, keys or addresses.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::{EnvFilter, fmt};

use crate::config::LoggingFormat;

/// Starts logging to stderr. `RUST_LOG` sets the filter; the default is what an operator needs. That excludes clients' protocol errors,
/// which would let anyone fill the log, and the database driver's messages on each lost connection: [`crate::storage`] logs an outage once.
pub fn start(format: LoggingFormat) {
    let filter = EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| EnvFilter::new("warn,actix_http=off,sqlx=error,langya=info"));
    // A second start in one process (tests) keeps the first.
    let _ = tracing::subscriber::set_global_default(log(format, filter, std::io::stderr));
}

/// Logs panics by their location, without their message, which may quote a prompt, a reply or a key.
pub fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(panic.place = place, "a thread panicked");
    }));
}

/// Creates a log in this format to this writer.
pub fn log<W>(format: LoggingFormat, filter: EnvFilter, writer: W) -> Box<dyn Subscriber + Send + Sync>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    // A failed log write must not end the arena: the subscriber would report its write error to stderr, which panics.
    let log = fmt().with_env_filter(filter).with_writer(writer).with_target(false).log_internal_errors(false);
    match format {
        LoggingFormat::Text => {
            Box::new(log.with_ansi(std::io::stderr().is_terminal()).finish().with(AcceptErrors::default()))
        }
        LoggingFormat::Json => {
            let log = log.json().flatten_event(true).with_current_span(false);
            Box::new(log.finish().with(AcceptErrors::default()))
        }
    }
}

/// Module of the web server that accepts connections.
const ACCEPT_MODULE: &str = "actix_server::accept";
/// Time without the error after which an outage is over. During one it occurs twice a second.
const RECOVERY_PERIOD: Duration = Duration::from_secs(60);

/// Logs the web server's errors on accepting connections, such as without free file descriptors, once per outage.
#[derive(Default)]
struct AcceptErrors(Mutex<HashMap<&'static str, Instant>>);

impl<S: Subscriber> Layer<S> for AcceptErrors {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        if event.metadata().target() != ACCEPT_MODULE {
            return true;
        }
        let now = Instant::now();
        // The name of an event is its location in the source.
        let former = self.0.lock().insert(event.metadata().name(), now);
        former.is_none_or(|former| now.duration_since(former) > RECOVERY_PERIOD)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::Arc;

    use super::*;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_outage_of_accepting_is_logged_once_and_other_errors_each_time() {
        for format in [LoggingFormat::Text, LoggingFormat::Json] {
            let written = Written::default();
            let writer = written.clone();
            let log = log(format, EnvFilter::new("warn"), move || writer.clone());
            tracing::subscriber::with_default(log, || {
                for _ in 0..3 {
                    tracing::error!(target: ACCEPT_MODULE, "no free file descriptor");
                    tracing::error!("another error");
                }
                tracing::error!(target: ACCEPT_MODULE, "another trouble with accepting");
            });
            let text = String::from_utf8(written.0.lock().clone()).unwrap();
            let count = |said: &str| text.matches(said).count();
            let counts = ["no free file descriptor", "another error", "another trouble"].map(count);
            assert_eq!(counts, [1, 3, 1], "{text}");
        }
    }
}
