//! The current settings: replaced as a whole when the file changes, read again at each use.

use std::sync::Arc;

use tokio::sync::watch;

use super::Settings;

/// Shared handle of the current settings. Code that needs several consistent keys calls [`CurrentSettings::now`] once and keeps the result.
#[derive(Debug, Clone)]
pub struct CurrentSettings(Arc<watch::Sender<Arc<Settings>>>);

impl CurrentSettings {
    /// Starts with these settings.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self(Arc::new(watch::Sender::new(Arc::new(settings))))
    }

    /// Returns the current settings.
    #[must_use]
    pub fn now(&self) -> Arc<Settings> {
        Arc::clone(&self.0.borrow())
    }

    /// Replaces the current settings.
    pub fn replace(&self, settings: Settings) {
        self.0.send_replace(Arc::new(settings));
    }

    /// Returns a receiver that is notified of every change.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<Arc<Settings>> {
        self.0.subscribe()
    }
}
