//! Progress and end of campaigns.

use crate::domain::campaign::ending::EndReason;
use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::{Store, StoreError, on_reader, on_writer, unsigned};

const SUM_JUDGED: &str = "SELECT CAST(COALESCE(SUM(judged), 0) AS BIGINT) FROM campaign_annotators WHERE campaign = $1";
const COUNT_MODELS: &str = "SELECT COUNT(DISTINCT model) FROM campaign_answers WHERE campaign = $1";
/// Units without all their judgements, or assignments in progress. Those of an excluded annotator are not: their units were given back.
const SELECT_OPEN: &str = "SELECT EXISTS (SELECT 1 FROM campaign_units WHERE campaign = $1 AND given < $2) \
     OR EXISTS (SELECT 1 FROM campaign_assignments WHERE campaign = $1 AND judged_at IS NULL AND released_at IS NULL \
     AND annotator NOT IN (SELECT id FROM campaign_annotators WHERE campaign = $1 AND left_out_at IS NOT NULL))";
/// Counts no more judgements of a unit than it needs; assignments in progress do not count yet.
const SUM_JUDGED_OF_DUE: &str = "SELECT CAST(COALESCE(SUM(CASE WHEN judged < $2 THEN judged ELSE $2 END), 0) AS BIGINT) \
     FROM (SELECT u.given - COALESCE(o.waiting, 0) AS judged FROM campaign_units u LEFT JOIN (SELECT unit, \
     COUNT(*) AS waiting FROM campaign_assignments WHERE campaign = $1 AND judged_at IS NULL AND released_at IS NULL \
     AND kind <> 'repeat' AND annotator NOT IN (SELECT id FROM campaign_annotators WHERE campaign = $1 \
     AND left_out_at IS NOT NULL) GROUP BY unit) o ON o.unit = u.unit WHERE u.campaign = $1) units";
const END: &str = "UPDATE campaigns SET ended = $2, ended_at = $3 WHERE id = $1 AND ended IS NULL";

impl Store {
    /// Counts the valid judgements of a campaign.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn campaign_judged(&self, campaign: &str) -> Result<u64, StoreError> {
        let _time = store_time("campaign_judged");
        let sum: i64 = on_reader!(self, |pool| sqlx::query_scalar(SUM_JUDGED).bind(campaign).fetch_one(pool).await)?;
        unsigned(sum, "campaign_annotators", "judged", campaign)
    }

    /// Counts the models with answers in a campaign.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn campaign_models(&self, campaign: &str) -> Result<u64, StoreError> {
        let _time = store_time("campaign_models");
        let count: i64 =
            on_reader!(self, |pool| sqlx::query_scalar(COUNT_MODELS).bind(campaign).fetch_one(pool).await)?;
        unsigned(count, "campaign_answers", "model", campaign)
    }

    /// Whether each unit of a campaign has this many judgements, and no assignment is in progress.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn is_all_judged(&self, campaign: &str, needed: u32) -> Result<bool, StoreError> {
        let _time = store_time("is_all_judged");
        let is_open: bool = on_reader!(self, |pool| {
            sqlx::query_scalar(SELECT_OPEN).bind(campaign).bind(i64::from(needed)).fetch_one(pool).await
        })?;
        Ok(!is_open)
    }

    /// Counts the required judgements of a campaign that are done: at most `needed` of each unit, without repetitions and surplus.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn judged_of_due(&self, campaign: &str, needed: u32) -> Result<i64, StoreError> {
        let _time = store_time("judged_of_due");
        on_reader!(self, |pool| {
            sqlx::query_scalar(SUM_JUDGED_OF_DUE).bind(campaign).bind(i64::from(needed)).fetch_one(pool).await
        })
    }

    /// Ends a campaign: creates no more assignments, while those in progress can still be judged. The first reason stays.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn end_campaign(&self, campaign: &str, because: EndReason, now: Timestamp) -> Result<(), StoreError> {
        let _time = store_time("end_campaign");
        on_writer!(self, |connection| {
            let query = sqlx::query(END).bind(campaign).bind(because.as_str()).bind(now.0);
            query.execute(connection).await.map(drop)
        })
    }
}
