//! Deletes a campaign as a whole.

use sqlx::Connection;

use crate::metrics::store_time;
use crate::storage::admin::audit::insert_audit;
use crate::storage::campaign::votes::EXCLUDE_DELETED;
use crate::storage::{NewAuditEntry, Store, StoreError, on_writer_once};

/// Deletes all rows of a campaign, referencing tables first.
const DELETE_ALL: [&str; 10] = [
    "DELETE FROM campaign_links WHERE campaign = $1",
    "DELETE FROM campaign_verdicts WHERE campaign = $1",
    "DELETE FROM campaign_exclusions WHERE campaign = $1",
    "DELETE FROM campaign_judgements WHERE assignment IN (SELECT id FROM campaign_assignments WHERE campaign = $1)",
    "DELETE FROM campaign_assignments WHERE campaign = $1",
    "DELETE FROM campaign_annotators WHERE campaign = $1",
    "DELETE FROM campaign_units WHERE campaign = $1",
    "DELETE FROM campaign_answers WHERE campaign = $1",
    "DELETE FROM campaign_items WHERE campaign = $1",
    "DELETE FROM campaigns WHERE id = $1",
];

impl Store {
    /// Deletes a campaign with all its judgements; their votes stay, and are excluded. Returns whether there was a campaign.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn delete_campaign(&self, id: &str, audit: &NewAuditEntry) -> Result<bool, StoreError> {
        let _time = store_time("delete_campaign");
        let deleted = on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            sqlx::query(EXCLUDE_DELETED).bind(id).bind(audit.acted_at.0).execute(&mut *tx).await?;
            let mut deleted = 0;
            for statement in DELETE_ALL {
                deleted = sqlx::query(statement).bind(id).execute(&mut *tx).await?.rows_affected();
            }
            if deleted > 0 {
                insert_audit!(&mut *tx, audit)?;
            }
            tx.commit().await.map(|()| deleted)
        })?;
        Ok(deleted > 0)
    }
}
