//! Items of each suite, imported from files: a file in one transaction, all or nothing.

use sqlx::Connection;
use sqlx_macros::FromRow;

use crate::domain::benchmark::record::BenchSuiteRow;
use crate::domain::benchmark::suite_id::SuiteId;
use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::{Imported, Store, StoreError, on_reader, on_writer_once, unsigned};

const INSERT_SUITE: &str = "INSERT INTO bench_suites (suite, version, source, declaration, items, imported_at) \
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (suite, version) DO NOTHING";
const INSERT_ITEM: &str = "INSERT INTO bench_items (suite, version, item, position, body) VALUES ($1, $2, $3, $4, $5)";
const ADD_ITEM: &str = "INSERT INTO bench_items (suite, version, item, position, body) SELECT $1, $2, $3, COUNT(*) + 1, $4 \
     FROM bench_items WHERE suite = $1 AND version = $2 HAVING NOT EXISTS (SELECT 1 FROM bench_items WHERE suite = $1 \
     AND version = $2 AND item = $3)";
const COUNT_ITEMS: &str = "UPDATE bench_suites SET items = (SELECT COUNT(*) FROM bench_items i WHERE i.suite = bench_suites.suite \
     AND i.version = bench_suites.version) WHERE suite = $1 AND version = $2";
/// Without the prompts of campaigns: their annotators must not find answers here.
const SELECT_SUITES: &str = "SELECT suite, version, source, declaration, items, imported_at FROM bench_suites \
     WHERE suite NOT LIKE 'campaign:%' ORDER BY suite, imported_at DESC, version";
const SELECT_ITEMS: &str = "SELECT item, body FROM bench_items WHERE suite = $1 AND version = $2 ORDER BY position";
const SELECT_ITEM: &str = "SELECT body FROM bench_items WHERE suite = $1 AND version = $2 AND item = $3";

/// An item of a suite.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct BenchItemRow {
    /// Id within the suite.
    pub item: String,
    /// Content of the item, as JSON.
    pub body: String,
}

impl Store {
    /// Inserts a data file's items in their order, or reports that the file was imported before.
    ///
    /// # Errors
    /// [`StoreError`]; then nothing was stored.
    pub async fn import_suite(&self, suite: &BenchSuiteRow, items: &[BenchItemRow]) -> Result<Imported, StoreError> {
        let _time = store_time("import_suite");
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            let new = sqlx::query(INSERT_SUITE)
                .bind(suite.suite.as_str())
                .bind(&suite.version)
                .bind(&suite.source)
                .bind(suite.declaration.as_deref().unwrap_or_default())
                .bind(crate::storage::signed(suite.items))
                .bind(suite.imported_at.0)
                .execute(&mut *tx)
                .await?
                .rows_affected();
            if new == 0 {
                return Ok(Imported::Before);
            }
            for (row, position) in items.iter().zip(1_i64..) {
                sqlx::query(INSERT_ITEM)
                    .bind(suite.suite.as_str())
                    .bind(&suite.version)
                    .bind(&row.item)
                    .bind(position)
                    .bind(&row.body)
                    .execute(&mut *tx)
                    .await?;
            }
            tx.commit().await?;
            Ok::<_, StoreError>(Imported::All(suite.items))
        })
    }

    /// Inserts a data file and those of its items that are not stored yet.
    ///
    /// # Errors
    /// [`StoreError`]; then nothing was stored.
    pub async fn add_bench_items(&self, suite: &BenchSuiteRow, items: &[BenchItemRow]) -> Result<(), StoreError> {
        let _time = store_time("add_bench_items");
        let (name, version) = (suite.suite.as_str(), &suite.version);
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            let new = sqlx::query(INSERT_SUITE).bind(name).bind(version).bind(&suite.source);
            let new = new.bind(suite.declaration.as_deref().unwrap_or_default());
            new.bind(crate::storage::signed(suite.items)).bind(suite.imported_at.0).execute(&mut *tx).await?;
            for row in items {
                let item = sqlx::query(ADD_ITEM).bind(name).bind(version).bind(&row.item).bind(&row.body);
                item.execute(&mut *tx).await?;
            }
            sqlx::query(COUNT_ITEMS).bind(name).bind(version).execute(&mut *tx).await?;
            tx.commit().await?;
            Ok::<_, StoreError>(())
        })
    }

    /// Reads every listed data file, by suite, the latest one of a suite first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn bench_suites(&self) -> Result<Vec<BenchSuiteRow>, StoreError> {
        let _time = store_time("bench_suites");
        type Row = (String, String, String, String, i64, i64);
        let rows: Vec<Row> = on_reader!(self, |pool| sqlx::query_as(SELECT_SUITES).fetch_all(pool).await)?;
        let row = |(suite, version, source, declaration, items, imported_at): Row| {
            let items = unsigned(items, "bench_suites", "items", &suite)?;
            let declaration = Some(declaration).filter(|text| !text.is_empty());
            let (suite, imported_at) = (SuiteId::new(suite), Timestamp(imported_at));
            Ok(BenchSuiteRow { suite, version, source, declaration, items, imported_at })
        };
        rows.into_iter().map(row).collect()
    }

    /// Reads a data file's items in their order.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn bench_items(&self, suite: &SuiteId, version: &str) -> Result<Vec<BenchItemRow>, StoreError> {
        let _time = store_time("bench_items");
        on_reader!(self, |pool| sqlx::query_as(SELECT_ITEMS).bind(suite.as_str()).bind(version).fetch_all(pool).await)
    }

    /// Reads one item's body.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn bench_item(&self, suite: &SuiteId, version: &str, item: &str) -> Result<Option<String>, StoreError> {
        let _time = store_time("bench_item");
        on_reader!(self, |pool| {
            sqlx::query_scalar(SELECT_ITEM).bind(suite.as_str()).bind(version).bind(item).fetch_optional(pool).await
        })
    }
}
