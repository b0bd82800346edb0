//! Excluded annotators of a campaign: their judgements stay but do not count, and can be readmitted.

use std::sync::LazyLock;

use sqlx::Connection;
use sqlx_macros::FromRow;

use crate::metrics::store_time;
use crate::storage::admin::audit::insert_audit;
use crate::storage::vote::exclusions::ID_OF_DECISION;
use crate::storage::{NewAuditEntry, Store, StoreError, on_reader, on_writer_once};

/// Locks the annotator until the end of the transaction, so that no judgement is in progress.
const LEAVE_OUT: &str =
    "UPDATE campaign_annotators SET left_out_at = $3 WHERE campaign = $1 AND id = $2 AND left_out_at IS NULL";
const READMIT: &str = "UPDATE campaign_annotators SET left_out_at = NULL WHERE campaign = $1 AND id = $2 \
     AND left_out_at IS NOT NULL";
const INSERT: &str = "INSERT INTO campaign_exclusions (id, campaign, annotator, reason, excluded_by, excluded_at) \
     VALUES ($1, $2, $3, $4, $5, $6)";
const WITHDRAW: &str = "UPDATE campaign_exclusions SET withdrawn_by = $2, withdrawn_at = $3 \
     WHERE annotator = $1 AND withdrawn_at IS NULL";
const SELECT: &str = "SELECT annotator, reason, excluded_by, excluded_at, withdrawn_by, withdrawn_at FROM campaign_exclusions \
     WHERE campaign = $1 ORDER BY excluded_at, id";
/// Units of an excluded annotator need other annotators.
const GIVE_BACK: &str = "UPDATE campaign_units SET given = given - 1 WHERE campaign = $1 AND given > 0 AND unit IN \
     (SELECT unit FROM campaign_assignments WHERE annotator = $2 AND kind <> 'repeat' AND released_at IS NULL)";
const TAKE_AGAIN: &str = "UPDATE campaign_units SET given = given + 1 WHERE campaign = $1 AND unit IN \
     (SELECT unit FROM campaign_assignments WHERE annotator = $2 AND kind <> 'repeat' AND released_at IS NULL)";
static EXCLUDE_VOTES: LazyLock<String> = LazyLock::new(|| {
    format!(
        "INSERT INTO vote_exclusions (id, vote_seq, rule, reason, excluded_by, excluded_at) \
         SELECT {ID_OF_DECISION}, seq, 'left_out', $3, $4, CAST($5 AS BIGINT) FROM votes WHERE battle_id IN \
         (SELECT j.id FROM campaign_judgements j JOIN campaign_assignments a ON a.id = j.assignment WHERE a.annotator = $1) \
         ON CONFLICT (vote_seq, rule) WHERE withdrawn_at IS NULL DO NOTHING"
    )
});
const INCLUDE_VOTES: &str = "UPDATE vote_exclusions SET withdrawn_by = $2, withdrawn_at = $3 WHERE rule = 'left_out' \
     AND withdrawn_at IS NULL AND vote_seq IN (SELECT seq FROM votes WHERE battle_id IN \
     (SELECT j.id FROM campaign_judgements j JOIN campaign_assignments a ON a.id = j.assignment WHERE a.annotator = $1))";

/// Exclusion of an annotator, possibly withdrawn.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct AnnotatorExclusion {
    /// Pseudonym of the annotator.
    pub annotator: String,
    /// Reason of the exclusion.
    pub reason: String,
    /// User who excluded the annotator.
    pub excluded_by: String,
    /// Time of the exclusion in milliseconds since 1970.
    pub excluded_at: i64,
    /// User who withdrew the exclusion.
    pub withdrawn_by: Option<String>,
    /// Time of the withdrawal; `None` while the annotator is excluded.
    pub withdrawn_at: Option<i64>,
}

impl Store {
    /// Excludes an annotator, with the votes of a rated campaign. Returns whether the campaign has this annotator and counted the
    /// judgements.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn exclude_annotator(
        &self,
        (campaign, annotator): (&str, &str),
        reason: &str,
        audit: &NewAuditEntry,
    ) -> Result<bool, StoreError> {
        let _time = store_time("exclude_annotator");
        let (id, by, now) = (&audit.id, &audit.actor, audit.acted_at.0);
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            let query = sqlx::query(LEAVE_OUT).bind(campaign).bind(annotator).bind(now);
            let was_counted = query.execute(&mut *tx).await?.rows_affected() > 0;
            if was_counted {
                let query = sqlx::query(INSERT).bind(id).bind(campaign).bind(annotator).bind(reason).bind(by);
                query.bind(now).execute(&mut *tx).await?;
                sqlx::query(GIVE_BACK).bind(campaign).bind(annotator).execute(&mut *tx).await?;
                let query = sqlx::query(EXCLUDE_VOTES.as_str()).bind(annotator).bind(id).bind(reason).bind(by);
                query.bind(now).execute(&mut *tx).await?;
                insert_audit!(&mut *tx, audit)?;
            }
            tx.commit().await.map(|()| was_counted)
        })
    }

    /// Withdraws the exclusion of an annotator. Returns whether the annotator was excluded.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn readmit_annotator(
        &self,
        campaign: &str,
        annotator: &str,
        audit: &NewAuditEntry,
    ) -> Result<bool, StoreError> {
        let _time = store_time("readmit_annotator");
        let (by, now) = (&audit.actor, audit.acted_at.0);
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            let query = sqlx::query(READMIT).bind(campaign).bind(annotator);
            let was_left_out = query.execute(&mut *tx).await?.rows_affected() > 0;
            if was_left_out {
                sqlx::query(WITHDRAW).bind(annotator).bind(by).bind(now).execute(&mut *tx).await?;
                sqlx::query(TAKE_AGAIN).bind(campaign).bind(annotator).execute(&mut *tx).await?;
                sqlx::query(INCLUDE_VOTES).bind(annotator).bind(by).bind(now).execute(&mut *tx).await?;
                insert_audit!(&mut *tx, audit)?;
            }
            tx.commit().await.map(|()| was_left_out)
        })
    }

    /// Reads current and withdrawn exclusions of a campaign, in the order of the decisions.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn annotator_exclusions(&self, campaign: &str) -> Result<Vec<AnnotatorExclusion>, StoreError> {
        let _time = store_time("annotator_exclusions");
        on_reader!(self, |pool| sqlx::query_as(SELECT).bind(campaign).fetch_all(pool).await)
    }
}
