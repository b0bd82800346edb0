//! Watches beside the steps of the log whether votes can be promised.

use std::sync::Arc;

use super::{PublicLog, PublicLogError};
use crate::domain::public_log::promised_vote::included_within;
use crate::infra::clock::Clock;
use crate::infra::config::CurrentSettings;

/// Looks for votes that wait for the log, and reports when promises end and begin again.
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

    /// Looks for votes that are not in the log.
    ///
    /// # Errors
    /// [`PublicLogError`]; what was seen before stays.
    pub async fn look(&self) -> Result<(), PublicLogError> {
        self.log.refresh_backlog().await
    }

    /// Logs when votes are no longer promised, unless their reason is logged elsewhere, and when they are again.
    pub fn report(&self) {
        let within = included_within(self.settings.now().rating.leaderboards_every());
        self.log.report_promises(self.clock.now(), within);
    }
}
