//! Withdrawal of judgements by their annotators: the row stays, with its time, and no longer counts.

use sqlx::Connection;

use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::campaign::assignments::{COUNT_JUDGEMENT, LOCK_ANNOTATOR};
use crate::storage::campaign::votes::EXCLUDE_TAKEN_BACK;
use crate::storage::{Store, StoreError, on_reader, on_writer};

const SELECT_LAST_JUDGEMENT: &str = "SELECT j.id FROM campaign_assignments a JOIN campaign_judgements j ON j.assignment = a.id \
     AND j.withdrawn_at IS NULL WHERE a.annotator = $1 AND a.judged_at IS NOT NULL \
     ORDER BY a.judged_at DESC, a.number DESC LIMIT 1";
const SELECT_LAST: &str = "SELECT id FROM campaign_assignments WHERE annotator = $1 AND judged_at IS NOT NULL \
     ORDER BY judged_at DESC, number DESC LIMIT 1";
const SELECT_ASSIGNMENT: &str = "SELECT a.id, j.withdrawn_at FROM campaign_judgements j \
     JOIN campaign_assignments a ON a.id = j.assignment WHERE j.id = $1 AND a.annotator = $2";
const WITHDRAW: &str =
    "UPDATE campaign_judgements SET withdrawn_at = $2 WHERE assignment = $1 AND withdrawn_at IS NULL";
const REOPEN: &str = "UPDATE campaign_assignments SET judged_at = NULL WHERE id = $1";

/// Result of a request to withdraw a judgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JudgementWithdrawal {
    /// The judgement is withdrawn, now or by an earlier request.
    Withdrawn,
    /// The annotator has made another judgement since.
    NotLast,
    /// The annotator made no such judgement.
    Unknown,
}

impl Store {
    /// Reads the id of an annotator's latest valid judgement.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn last_judgement(&self, annotator: &str) -> Result<Option<String>, StoreError> {
        let _time = store_time("last_judgement");
        on_reader!(self, |pool| sqlx::query_scalar(SELECT_LAST_JUDGEMENT).bind(annotator).fetch_optional(pool).await)
    }

    /// Withdraws a judgement if it is the annotator's latest one, excludes its vote in a rated campaign, and reopens its assignment.
    /// Repeating the request changes nothing.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn withdraw_judgement(
        &self,
        annotator: &str,
        judgement: &str,
        now: Timestamp,
    ) -> Result<JudgementWithdrawal, StoreError> {
        let _time = store_time("withdraw_judgement");
        on_writer!(self, |connection| {
            let mut tx = connection.begin().await?;
            sqlx::query(LOCK_ANNOTATOR).bind(annotator).bind(now.0).fetch_one(&mut *tx).await?;
            let query = sqlx::query_as(SELECT_ASSIGNMENT).bind(judgement).bind(annotator);
            let found: Option<(String, Option<i64>)> = query.fetch_optional(&mut *tx).await?;
            let last: Option<String> = sqlx::query_scalar(SELECT_LAST).bind(annotator).fetch_optional(&mut *tx).await?;
            let withdrawal = match found {
                None => JudgementWithdrawal::Unknown,
                Some((_, Some(_))) => JudgementWithdrawal::Withdrawn,
                Some((assignment, None)) if last.as_deref() != Some(assignment.as_str()) => {
                    JudgementWithdrawal::NotLast
                }
                Some((assignment, None)) => {
                    sqlx::query(WITHDRAW).bind(&assignment).bind(now.0).execute(&mut *tx).await?;
                    sqlx::query(EXCLUDE_TAKEN_BACK).bind(&assignment).bind(now.0).execute(&mut *tx).await?;
                    sqlx::query(REOPEN).bind(&assignment).execute(&mut *tx).await?;
                    sqlx::query(COUNT_JUDGEMENT).bind(annotator).bind(-1_i64).execute(&mut *tx).await?;
                    JudgementWithdrawal::Withdrawn
                }
            };
            tx.commit().await.map(|()| withdrawal)
        })
    }
}
