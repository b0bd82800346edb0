//! The settings in force: replaced as a whole when the file changes, read again at each use.

use std::sync::Arc;

use tokio::sync::watch;

use super::Settings;

/// A handle that every part of the arena shares. Code that needs several keys takes one [`CurrentSettings::now`]
/// and keeps it, so that they belong together.
#[derive(Debug, Clone)]
pub struct CurrentSettings(Arc<watch::Sender<Arc<Settings>>>);

impl CurrentSettings {
    /// Begins with these.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self(Arc::new(watch::Sender::new(Arc::new(settings))))
    }

    /// The settings in force.
    #[must_use]
    pub fn now(&self) -> Arc<Settings> {
        Arc::clone(&self.0.borrow())
    }

    /// Puts others in force.
    pub fn replace(&self, settings: Settings) {
        self.0.send_replace(Arc::new(settings));
    }

    /// Announces every change.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<Arc<Settings>> {
        self.0.subscribe()
    }
}
