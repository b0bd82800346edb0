//! Daily battle counts of each model: derived from the battles, so that the model register never scans them on a request.
//!
//! A battle's id begins with its time, so a time range is a range of ids, served by the primary key. Imported battles are counted by
//! import, from the ids of their votes.

use std::collections::BTreeMap;

use sqlx::Connection;

use crate::domain::battle::ModelId;
use crate::domain::model_register::days::{BattleDay, day_of_number, number_of, start_of};
use crate::domain::model_register::report::FailedBattles;
use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::{Store, StoreError, on_reader, on_writer, unsigned};

/// Source name of battles drawn by this arena.
const ARENA_SOURCE: &str = "arena";
/// Number of imported votes counted in one statement; each is of another battle.
const IMPORT_PAGE_SIZE: i64 = 200_000;

/// Sorts after every id that begins with a time, and before those of imports.
const AFTER_ALL_TIMED_IDS: &str = "g";
const SELECT_THROUGH: &str = "SELECT through_day FROM counted_sources WHERE source = $1";
const SELECT_NEXT: &str = "SELECT MIN(id) FROM battles WHERE id >= $1 AND id < $2";
const SELECT_OPEN: &str = "SELECT MIN(id) FROM battles WHERE stage IN ('answering', 'ready') AND id < $1";
/// Counts battles drawn by the arena: visitors' choices are not part of the pairing.
const COUNT_DAY: &str = "SELECT model, COUNT(*) FROM (SELECT model_a AS model FROM battles WHERE id >= $1 AND id < $2 \
     AND mode = 'anonymous' UNION ALL SELECT model_b FROM battles WHERE id >= $1 AND id < $2 AND mode = 'anonymous') AS sides GROUP BY model";
/// A model that was replaced by another one is on no side of the battle.
const SELECT_FAILED: &str = "SELECT failures.model, COUNT(DISTINCT failures.battle_id), COUNT(DISTINCT CASE WHEN failures.model \
     NOT IN (battles.model_a, battles.model_b) THEN failures.battle_id END) \
     FROM side_failures AS failures JOIN battles ON battles.id = failures.battle_id \
     WHERE failures.battle_id >= $1 AND failures.battle_id < $2 AND battles.mode = 'anonymous' GROUP BY failures.model";
const SELECT_IMPORTS: &str =
    "SELECT id, votes FROM imports WHERE id NOT IN (SELECT source FROM counted_sources) ORDER BY id";
/// The votes of an import have its id and a number; their battles may be named by the arena that they come from.
const COUNT_IMPORT: &str = "SELECT created_at / 86400000, model, COUNT(*) FROM \
     (SELECT created_at, model_a AS model FROM votes WHERE id >= $1 AND id < $2 \
     UNION ALL SELECT created_at, model_b FROM votes WHERE id >= $1 AND id < $2) AS sides GROUP BY 1, 2";
const INSERT_DAY: &str = "INSERT INTO battle_days (source, day, model, battles) VALUES ($1, $2, $3, $4) \
     ON CONFLICT (source, day, model) DO UPDATE SET battles = excluded.battles";
const UPSERT_SOURCE: &str = "INSERT INTO counted_sources (source, through_day) VALUES ($1, $2) ON CONFLICT (source) \
     DO UPDATE SET through_day = excluded.through_day";
const SELECT_DAYS: &str = "SELECT day, model, CASE WHEN source = 'arena' THEN 0 ELSE 1 END AS imported, \
     CAST(SUM(battles) AS BIGINT) FROM battle_days GROUP BY day, model, imported ORDER BY day, model, imported";

/// Battle counts by day and model, of one source.
type DayCounts = BTreeMap<(i64, String), i64>;

impl Store {
    /// Counts the battles of every uncounted day before `until` (days since 1970). Returns the number of days. Days counted from `until` on
    /// mean that the clock was ahead: they are counted again once they are over.
    ///
    /// # Errors
    /// [`StoreError`]; the days before it are then counted.
    pub async fn count_battle_days(&self, until: i64) -> Result<u64, StoreError> {
        let _time = store_time("count_battle_days");
        let through = self.counted_through().await?;
        if through.is_some_and(|day| day >= until) {
            self.put_counts(ARENA_SOURCE, &DayCounts::new(), until - 1).await?;
            return Ok(0);
        }
        let (mut first, mut counted) = (through.map_or(0, |day| day + 1), 0);
        while let Some(day) = self.next_day_with_battles(first, until).await? {
            let counts = self.count_day(day).await?;
            self.put_counts(ARENA_SOURCE, &counts, day).await?;
            (first, counted) = (day + 1, counted + 1);
        }
        if first < until {
            self.put_counts(ARENA_SOURCE, &DayCounts::new(), until - 1).await?;
        }
        Ok(counted)
    }

    /// Counts the battles of uncounted imports. Returns the number of imports.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn count_imported_battles(&self) -> Result<u64, StoreError> {
        let _time = store_time("count_imported_battles");
        let imports: Vec<(String, i64)> =
            on_reader!(self, |pool| sqlx::query_as(SELECT_IMPORTS).fetch_all(pool).await)?;
        for (import, votes) in &imports {
            let mut counts = DayCounts::new();
            let mut first = 1;
            while first <= *votes {
                self.count_import_page(import, first, &mut counts).await?;
                first += IMPORT_PAGE_SIZE;
            }
            let last = counts.keys().map(|(day, _)| *day).max().unwrap_or(0);
            self.put_counts(import, &counts, last).await?;
        }
        Ok(imports.len() as u64)
    }

    /// Reads the start of the oldest battle that may still get a vote; `None` if there is none.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn oldest_open_battle(&self) -> Result<Option<Timestamp>, StoreError> {
        let _time = store_time("oldest_open_battle");
        let id: Option<String> =
            on_reader!(self, |pool| sqlx::query_scalar(SELECT_OPEN).bind(AFTER_ALL_TIMED_IDS).fetch_one(pool).await)?;
        // An id without a time blocks the counting.
        Ok(id.map(|id| time_of(&id).unwrap_or(Timestamp(0))))
    }

    /// Reads battle counts by day and model, and whether their votes were imported.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn battle_days(&self) -> Result<Vec<BattleDay>, StoreError> {
        let _time = store_time("battle_days");
        let rows: Vec<(i64, String, i32, i64)> =
            on_reader!(self, |pool| sqlx::query_as(SELECT_DAYS).fetch_all(pool).await)?;
        rows.into_iter()
            .map(|(day, model, imported, battles)| {
                let battles = unsigned(battles, "battle_days", "battles", &model)?;
                Ok(BattleDay { day: day_of_number(day), model: ModelId::new(model), imported: imported == 1, battles })
            })
            .collect()
    }

    /// Counts this arena's battles from day `first` to day `last` (days since 1970) in which each model failed.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn failed_battles(&self, first: i64, last: i64) -> Result<BTreeMap<ModelId, FailedBattles>, StoreError> {
        let _time = store_time("failed_battles");
        let (from, to) = (first_id(first), first_id(last + 1));
        let rows: Vec<(String, i64, i64)> =
            on_reader!(self, |pool| sqlx::query_as(SELECT_FAILED).bind(&from).bind(&to).fetch_all(pool).await)?;
        rows.into_iter()
            .map(|(model, failed, replaced)| {
                let failed = unsigned(failed, "side_failures", "battle_id", &model)?;
                let replaced = unsigned(replaced, "side_failures", "battle_id", &model)?;
                Ok((ModelId::new(model), FailedBattles { failed, replaced }))
            })
            .collect()
    }

    /// Reads the last counted day (days since 1970) of this arena's battles.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn counted_through(&self) -> Result<Option<i64>, StoreError> {
        on_reader!(self, |pool| sqlx::query_scalar(SELECT_THROUGH).bind(ARENA_SOURCE).fetch_optional(pool).await)
    }

    /// Finds the first day from `first` to before `until` on which a battle began.
    async fn next_day_with_battles(&self, first: i64, until: i64) -> Result<Option<i64>, StoreError> {
        if first >= until {
            return Ok(None);
        }
        let from = first_id(first);
        let id: Option<String> = on_reader!(self, |pool| {
            sqlx::query_scalar(SELECT_NEXT).bind(&from).bind(AFTER_ALL_TIMED_IDS).fetch_one(pool).await
        })?;
        Ok(id.and_then(|id| time_of(&id)).map(number_of).filter(|day| *day < until))
    }

    async fn count_day(&self, day: i64) -> Result<DayCounts, StoreError> {
        let (from, to) = (first_id(day), first_id(day + 1));
        let rows: Vec<(String, i64)> =
            on_reader!(self, |pool| sqlx::query_as(COUNT_DAY).bind(&from).bind(&to).fetch_all(pool).await)?;
        Ok(rows.into_iter().map(|(model, battles)| ((day, model), battles)).collect())
    }

    async fn count_import_page(&self, import: &str, first: i64, counts: &mut DayCounts) -> Result<(), StoreError> {
        let [from, to] = [first, first + IMPORT_PAGE_SIZE].map(|number| format!("{import}-{number:09}"));
        let rows: Vec<(i64, String, i64)> =
            on_reader!(self, |pool| sqlx::query_as(COUNT_IMPORT).bind(&from).bind(&to).fetch_all(pool).await)?;
        for (day, model, battles) in rows {
            *counts.entry((day, model)).or_default() += battles;
        }
        Ok(())
    }

    /// Stores counts of a source, and that it is counted through this day.
    async fn put_counts(&self, source: &str, counts: &DayCounts, through: i64) -> Result<(), StoreError> {
        on_writer!(self, |connection| {
            let mut tx = connection.begin().await?;
            for ((day, model), battles) in counts {
                sqlx::query(INSERT_DAY).bind(source).bind(*day).bind(model).bind(*battles).execute(&mut *tx).await?;
            }
            sqlx::query(UPSERT_SOURCE).bind(source).bind(through).execute(&mut *tx).await?;
            tx.commit().await
        })
    }
}

/// Returns the smallest id of a battle that begins on this day.
fn first_id(day: i64) -> String {
    first_id_at(start_of(day))
}

/// Returns the smallest id of a battle that begins at this time, in milliseconds since 1970.
pub(in crate::storage) fn first_id_at(milliseconds: i64) -> String {
    let digits = format!("{:012x}", milliseconds.max(0));
    format!("{}-{}-0000-0000-000000000000", &digits[..8], &digits[8..12])
}

/// Parses the start time in a battle id.
fn time_of(id: &str) -> Option<Timestamp> {
    let digits = format!("{}{}", id.get(..8)?, id.get(9..13)?);
    i64::from_str_radix(&digits, 16).ok().map(Timestamp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_of_ids_begins_at_midnight() {
        assert_eq!(first_id(20_473), "019bd8b3-7c00-0000-0000-000000000000");
        assert_eq!(time_of(&first_id(20_473)), Some(Timestamp(start_of(20_473))));
        assert_eq!(first_id(0), "00000000-0000-0000-0000-000000000000");
        assert_eq!(time_of("019bd9fd-1300-7000-8000-000000000001"), Some(Timestamp(1_768_888_800_000)));
        assert_eq!((time_of("import-1"), time_of("b1"), time_of("")), (None, None, None));
    }
}
