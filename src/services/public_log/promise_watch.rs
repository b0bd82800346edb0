//! Watches, independently of the log's steps, whether votes can be promised.

use std::sync::Arc;

use super::{PublicLog, PublicLogError};
use crate::domain::public_log::promised_vote::included_within;
use crate::infra::config::CurrentSettings;
use crate::infra::time::clock::Clock;

/// Observes unlogged votes, and reports when promises end and resume.
#[derive(Clone)]
pub struct PromiseWatch {
    pub(super) log: PublicLog,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) settings: CurrentSettings,
}

impl PromiseWatch {
    /// Whether votes can be imported while the arena serves.
    #[must_use]
    pub fn is_needed(&self) -> bool {
        self.log.store.is_shared()
    }

    /// Observes the unlogged votes.
    ///
    /// # Errors
    /// [`PublicLogError`]; the previous observation stays.
    pub async fn observe(&self) -> Result<(), PublicLogError> {
        self.log.refresh_backlog().await
    }

    /// Logs when promises end, unless the reason is logged elsewhere, and when they resume.
    pub fn report(&self) {
        let within = included_within(self.settings.now().rating.leaderboards_every());
        self.log.report_promises(self.clock.now(), within);
    }
}
