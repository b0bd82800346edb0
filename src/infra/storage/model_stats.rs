//! Statistics of each model in recent battles, for the admin.
//!
//! A battle's id begins with its time, so the primary keys select those since a time. Only finished battles are counted: the statistics
//! reveal nothing about a battle that awaits its vote.

use std::collections::BTreeMap;

use super::{Store, StoreError, on_reader, unsigned};
use crate::domain::admin::model_stats::ModelStats;
use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::battle::days::first_id_at;

const ENDED_STAGES: &str = "'voted', 'voided', 'abandoned'";

/// Builds a statement about finished battles since an id. Ids of imports sort after `g`.
fn since(select: &str, battle: &str, rest: &str) -> String {
    format!(
        "{select} WHERE {battle} >= $1 AND {battle} < 'g' AND {battle} IN \
         (SELECT id FROM battles WHERE id >= $1 AND id < 'g' AND stage IN ({ENDED_STAGES})) {rest}"
    )
}

/// Builds a statement about the replies of finished battles, with the time of the last; deleted replies of voted battles count as one per
/// turn.
fn written(rest: &str) -> String {
    let replies = since("SELECT model, first_token_ms, 1 AS turns FROM replies", "battle_id", rest);
    let [a, b] = ["a", "b"].map(|side| {
        since(
            &format!("SELECT model_{side}, first_token_ms_{side}, turn FROM votes"),
            "battle_id",
            "AND anonymous AND NOT EXISTS (SELECT 1 FROM replies WHERE replies.battle_id = votes.battle_id)",
        )
    });
    format!("({replies} UNION ALL {a} UNION ALL {b}) AS written")
}

/// Statistics of models, and the number of their battles.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecentModelStats {
    /// Number of finished battles of two hidden models.
    pub battles: u64,
    /// Statistics by model.
    pub models: BTreeMap<String, ModelStats>,
}

impl Store {
    /// Computes statistics of finished battles that began since a time.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn model_stats_since(&self, moment: Timestamp) -> Result<RecentModelStats, StoreError> {
        let _time = store_time("model_stats_since");
        let first = first_id_at(moment.0);
        let mut stats = RecentModelStats::default();
        let sides = "SELECT model, CAST(COUNT(*) AS BIGINT) FROM (SELECT id, model_a AS model FROM battles WHERE mode = 'anonymous' \
                     UNION ALL SELECT id, model_b FROM battles WHERE mode = 'anonymous') AS sides";
        for (model, battles) in self.counts(&since(sides, "id", "GROUP BY model"), &first).await? {
            stats.battles += battles;
            stats.models.entry(model).or_default().battles = battles;
        }
        // Each battle has two sides.
        stats.battles /= 2;
        let whole = written("AND ending <> 'failed'");
        let replies = format!("SELECT model, CAST(SUM(turns) AS BIGINT) FROM {whole} GROUP BY model");
        for (model, replies) in self.counts(&replies, &first).await? {
            stats.models.entry(model).or_default().replies = replies;
        }
        let failures =
            since("SELECT model, CAST(COUNT(*) AS BIGINT) FROM side_failures", "battle_id", "GROUP BY model");
        for (model, failures) in self.counts(&failures, &first).await? {
            stats.models.entry(model).or_default().failures = failures;
        }
        let timed = format!(
            "SELECT model, first_token_ms, ROW_NUMBER() OVER (PARTITION BY model ORDER BY first_token_ms) AS place, \
             COUNT(*) OVER (PARTITION BY model) AS replies FROM {} WHERE first_token_ms IS NOT NULL",
            written("")
        );
        let medians = format!("SELECT model, first_token_ms FROM ({timed}) AS timed WHERE place = (replies + 1) / 2");
        for (model, median) in self.counts(&medians, &first).await? {
            stats.models.entry(model).or_default().first_token_ms = Some(median);
        }
        Ok(stats)
    }

    /// Counts by model since an id.
    async fn counts(&self, statement: &str, first: &str) -> Result<Vec<(String, u64)>, StoreError> {
        let rows: Vec<(String, i64)> = on_reader!(self, |pool| {
            sqlx::query_as(sqlx::AssertSqlSafe(statement)).bind(first).fetch_all(pool).await
        })?;
        rows.into_iter()
            .map(|(model, count)| Ok((model.clone(), unsigned(count, "battles", "count", &model)?)))
            .collect()
    }
}
