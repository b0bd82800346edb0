//! Captures the log of code under test.

use std::io::Write;
use std::sync::Arc;

use parking_lot::Mutex;

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        self.0.lock().write(line)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Returns the log lines of this operation.
pub(super) fn logged_lines(happening: impl FnOnce()) -> Vec<String> {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
    tracing::subscriber::with_default(subscriber, happening);
    let lines = String::from_utf8(log.0.lock().clone()).unwrap();
    lines.lines().map(str::to_owned).collect()
}
