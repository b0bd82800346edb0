//! Captures the log output of the code under test on this thread.

use std::io;
use std::sync::OnceLock;
use std::time::Duration;

use tokio::sync::watch;
use tracing::Dispatch;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::fmt::MakeWriter;

/// With only one subscriber, a log line that is first reached by another thread without one is disabled for all threads. So there are
/// always additional, unused ones.
static KNOWN: OnceLock<[Dispatch; 2]> = OnceLock::new();

/// Captured log while this value lives.
pub(crate) struct Log {
    text: watch::Sender<String>,
    _guard: DefaultGuard,
}

impl Log {
    /// Captures everything that this thread logs from now on.
    pub(crate) fn keep() -> Self {
        KNOWN
            .get_or_init(|| [(), ()].map(|()| Dispatch::new(tracing_subscriber::fmt().with_writer(io::sink).finish())));
        let text = watch::Sender::new(String::new());
        let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(Sink(text.clone())).finish();
        Self { text, _guard: tracing::subscriber::set_default(subscriber) }
    }

    /// Waits for a line with these words and returns it.
    pub(crate) async fn until(&self, words: &str) -> String {
        let mut text = self.text.subscribe();
        let found = tokio::time::timeout(Duration::from_secs(20), text.wait_for(|text| text.contains(words))).await;
        assert!(found.is_ok(), "no line with {words:?} in:\n{}", self.text());
        self.lines(words).remove(0)
    }

    /// Returns the lines with these words.
    pub(crate) fn lines(&self, words: &str) -> Vec<String> {
        self.text.borrow().lines().filter(|line| line.contains(words)).map(str::to_owned).collect()
    }

    /// Returns everything captured so far.
    pub(crate) fn text(&self) -> String {
        self.text.borrow().clone()
    }
}

#[derive(Clone)]
struct Sink(watch::Sender<String>);

impl io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send_modify(|text| text.push_str(&String::from_utf8_lossy(bytes)));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Sink {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}
