//! Moves a whole arena from its embedded database to another one.
//!
//! All rows of every table that is not derived from others are copied in one transaction. Before it commits, both sides are summed row by
//! row and compared, so that a changed value aborts the move.

use std::path::PathBuf;

use futures_util::TryStreamExt;
use sha2::{Digest, Sha256};
use sqlx::postgres::{PgConnection, Postgres};
use sqlx::sqlite::SqlitePool;
use sqlx::{AssertSqlSafe, ColumnIndex, Decode, QueryBuilder, Row, Type};

use super::partitions::add_months_of_battles;
use super::{Database, Store, StoreError};

/// Number of rows read at a time.
const PAGE_SIZE: i64 = 1_000;
/// Maximum number of rows in one statement: each statement is a round trip, and PostgreSQL accepts at most 65,535 values in one.
const MAX_ROWS_PER_STATEMENT: usize = 100;
/// Number of rows read at a time if a row contains a file of megabytes.
const FILE_PAGE_SIZE: i64 = 16;
/// Lifts the timeouts of a serving arena: reading millions of rows back takes longer than any of its statements, and so may reading the
/// next rows of a file on a slow disk.
const DISABLE_TIMEOUTS: [&str; 2] =
    ["SET LOCAL statement_timeout = 0", "SET LOCAL idle_in_transaction_session_timeout = 0"];
/// Continues the sequence after the last imported vote.
const CONTINUE_SEQ: &str =
    "SELECT setval(pg_get_serial_sequence('votes', 'seq'), MAX(seq)) FROM votes HAVING MAX(seq) IS NOT NULL";

/// Type of a column.
#[derive(Debug, Clone, Copy)]
enum ColumnKind {
    Text,
    Number,
    Real,
    Flag,
    Bytes,
}

/// Tables in order of their references. Leaderboards and counts are derived, and instances are gone.
const TABLES: [&str; 57] = [
    "models",
    "model_changes",
    "pairing_changes",
    "battles",
    "turns",
    "replies",
    "side_failures",
    "votes",
    "vote_exclusions",
    "leak_checks",
    "battle_shares",
    "images",
    "battle_images",
    "battle_verdicts",
    "prompt_labels",
    "imports",
    "bench_suites",
    "bench_items",
    "bench_answers",
    "bench_judgements",
    "request_attempts",
    "bench_batches",
    "bench_scores",
    "bench_plans",
    "bench_runs",
    "secrets",
    "log_entries",
    "log_nodes",
    "log_checkpoint",
    "log_salts",
    "log_voters",
    "invites",
    "sign_ins",
    "campaigns",
    "campaign_items",
    "campaign_answers",
    "campaign_units",
    "campaign_annotators",
    "campaign_assignments",
    "campaign_judgements",
    "campaign_exclusions",
    "campaign_links",
    "campaign_verdicts",
    "admin_users",
    "admin_identities",
    "admin_recovery_codes",
    "admin_invites",
    "admin_sessions",
    "admin_audit",
    "api_keys",
    "webhook_positions",
    "webhook_messages",
    "deletion_requests",
    "moderation_flags",
    "consent_texts",
    "consents",
    "label_replies",
];

/// Tables that are recomputed from the copied rows.
const DERIVED_TABLES: [&str; 4] = ["leaderboards", "vote_counts", "counted_sources", "battle_days"];
/// Tables that commands may fill in an arena without battles; the source's rows replace them, including the keys of its cookies and its
/// log.
const REPLACED_TABLES: [&str; 4] = ["model_changes", "pairing_changes", "models", "secrets"];

/// A table and its columns.
struct TransferTable {
    name: &'static str,
    columns: Vec<(String, ColumnKind)>,
}

/// Progress of a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moved {
    /// Name of the table.
    pub table: &'static str,
    /// Number of its rows so far.
    pub rows: u64,
}

/// Error of a move; nothing was moved.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseMoveError {
    /// Source and target are not of the required kinds.
    #[error(
        "an arena is moved from a SQLite file into PostgreSQL: name that with --database postgres://…; a SQLite arena is moved \
         elsewhere with `langya backup` and `langya restore`"
    )]
    WrongBackends,
    /// The target is in use.
    #[error("the PostgreSQL database holds {0} battles already: an arena can only be moved into an empty one")]
    NotEmpty(i64),
    /// The target was started: it has its own keys and log, and may be in use now.
    #[error(
        "the PostgreSQL database is not empty (table {0} has rows, as after `langya serve`): an arena can only be moved into a database \
         on which none was started, so create another one"
    )]
    Started(&'static str),
    /// The copied rows differ from the source.
    #[error("table {0} differs after the copy, so nothing was moved: check the file with PRAGMA integrity_check")]
    Changed(&'static str),
    /// An arena has opened a source that was read without locking.
    #[error(
        "an arena began to use {} while it was moved, so nothing was moved: stop that arena, and run the import again",
        .0.display()
    )]
    SourceStarted(PathBuf),
    /// A table of the source cannot be read.
    #[error(
        "table {table} of the SQLite file cannot be read, so nothing was moved: check the file with PRAGMA integrity_check, and move a \
         restored backup where it is damaged"
    )]
    Unreadable {
        /// Name of the table.
        table: &'static str,
        /// Cause of the error.
        source: StoreError,
    },
    /// PostgreSQL refuses the rows of a table.
    #[error("the rows of table {table} cannot be written to PostgreSQL, so nothing was moved")]
    Unwritable {
        /// Name of the table.
        table: &'static str,
        /// Cause of the error.
        source: StoreError,
    },
    /// Error of a database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<sqlx::Error> for DatabaseMoveError {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(error.into())
    }
}

/// Moves everything from `source` to `target`, an empty arena, and returns the number of rows of each table.
///
/// # Errors
/// [`DatabaseMoveError`]; the target is then unchanged.
pub async fn transfer(
    source: &Store,
    target: &Store,
    mut progress: impl FnMut(Moved),
) -> Result<Vec<Moved>, DatabaseMoveError> {
    let (Database::Sqlite(source), Database::Postgres(target)) = (&source.database, &target.database) else {
        return Err(DatabaseMoveError::WrongBackends);
    };
    let mut tx = target.pool.begin().await?;
    for unlimited in DISABLE_TIMEOUTS {
        sqlx::query(unlimited).execute(&mut *tx).await?;
    }
    // Meanwhile no instance may begin a battle, or record a change of its models.
    sqlx::query("LOCK TABLE battles, model_changes, pairing_changes IN SHARE ROW EXCLUSIVE MODE")
        .execute(&mut *tx)
        .await?;
    let battles: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM battles").fetch_one(&mut *tx).await?;
    if battles > 0 {
        return Err(DatabaseMoveError::NotEmpty(battles));
    }
    check_not_started(&mut tx).await?;
    for name in DERIVED_TABLES.into_iter().chain(REPLACED_TABLES) {
        sqlx::query(AssertSqlSafe(format!("DELETE FROM {name}"))).execute(&mut *tx).await?;
    }
    let mut tables = Vec::with_capacity(TABLES.len());
    for name in TABLES {
        tables.push(TransferTable::read_schema(name, &source.reader).await?);
    }
    // Battles keep their stored state, instead of the state that a new vote would set.
    sqlx::query("ALTER TABLE votes DISABLE TRIGGER votes_end_their_battle").execute(&mut *tx).await?;
    let mut left = Vec::new();
    for table in &tables {
        // Once the battles are copied, and before the first row of a partitioned table.
        if table.name == "turns" {
            add_months_of_battles(&mut tx).await?;
        }
        left.push(table.copy(&source.reader, &mut tx, &mut progress).await?);
    }
    sqlx::query("ALTER TABLE votes ENABLE TRIGGER votes_end_their_battle").execute(&mut *tx).await?;
    for (table, left) in tables.iter().zip(&left) {
        if table.sum_of_target(&mut tx).await? != *left {
            return Err(DatabaseMoveError::Changed(table.name));
        }
    }
    sqlx::query(CONTINUE_SEQ).execute(&mut *tx).await?;
    // The rows read may mix two states.
    if let Some(file) = source.changed_file() {
        return Err(DatabaseMoveError::SourceStarted(file.to_owned()));
    }
    tx.commit().await?;
    Ok(tables.iter().zip(left).map(|(table, sum)| Moved { table: table.name, rows: sum.rows }).collect())
}

/// Refuses a target with rows that conflict with those of the source.
async fn check_not_started(target: &mut PgConnection) -> Result<(), DatabaseMoveError> {
    for name in TABLES.into_iter().filter(|name| !REPLACED_TABLES.contains(name)) {
        let has_rows = format!("SELECT EXISTS (SELECT 1 FROM {name})");
        let has_rows: bool = sqlx::query_scalar(AssertSqlSafe(has_rows.as_str())).fetch_one(&mut *target).await?;
        if has_rows {
            return Err(DatabaseMoveError::Started(name));
        }
    }
    Ok(())
}

impl TransferTable {
    /// Reads the columns of a table as declared in the source.
    async fn read_schema(name: &'static str, source: &SqlitePool) -> Result<Self, DatabaseMoveError> {
        let declared: Vec<(String, String)> =
            sqlx::query_as("SELECT name, type FROM pragma_table_info($1) ORDER BY cid")
                .bind(name)
                .fetch_all(source)
                .await?;
        let columns = declared.into_iter().map(|(column, declared)| {
            let kind = match declared.as_str() {
                "BIGINT" | "INTEGER" => ColumnKind::Number,
                "DOUBLE PRECISION" => ColumnKind::Real,
                "BOOLEAN" => ColumnKind::Flag,
                "BLOB" => ColumnKind::Bytes,
                _ => ColumnKind::Text,
            };
            (column, kind)
        });
        Ok(Self { name, columns: columns.collect() })
    }

    /// Whether rows contain files of megabytes.
    fn has_files(&self) -> bool {
        self.columns.iter().any(|(_, kind)| matches!(kind, ColumnKind::Bytes))
    }

    /// Returns the number of rows in memory at once.
    fn page(&self) -> i64 {
        if self.has_files() { FILE_PAGE_SIZE } else { PAGE_SIZE }
    }

    /// Returns the number of rows in one statement, of which both sides hold a second copy in memory: one if they contain files.
    fn rows_at_once(&self) -> usize {
        if self.has_files() { 1 } else { MAX_ROWS_PER_STATEMENT }
    }

    fn column_list(&self) -> String {
        self.columns.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Copies every row; returns the sum of the source rows.
    async fn copy(
        &self,
        source: &SqlitePool,
        target: &mut PgConnection,
        progress: &mut impl FnMut(Moved),
    ) -> Result<RowChecksum, DatabaseMoveError> {
        let columns = self.column_list();
        let name = self.name;
        let select = format!(
            "SELECT {columns}, rowid AS place FROM {name} WHERE rowid > $1 ORDER BY rowid LIMIT {}",
            self.page()
        );
        let insert = format!("INSERT INTO {name} ({columns}) ");
        let unreadable = |error: sqlx::Error| DatabaseMoveError::Unreadable { table: name, source: error.into() };
        let unwritable = |error: sqlx::Error| DatabaseMoveError::Unwritable { table: name, source: error.into() };
        let (mut sum, mut after) = (RowChecksum::default(), i64::MIN);
        loop {
            let page = sqlx::query(AssertSqlSafe(select.as_str())).bind(after).fetch_all(source).await;
            let page = page.map_err(unreadable)?;
            let Some(last) = page.last() else { return Ok(sum) };
            after = last.try_get("place").map_err(unreadable)?;
            for rows in page.chunks(self.rows_at_once()) {
                let rows: Result<Vec<_>, _> = rows.iter().map(|row| self.cells(row)).collect();
                let rows = rows.map_err(unreadable)?;
                rows.iter().for_each(|cells| sum.add(cells));
                insert_rows(target, &insert, rows).await.map_err(unwritable)?;
            }
            progress(Moved { table: name, rows: sum.rows });
        }
    }

    async fn sum_of_target(&self, target: &mut PgConnection) -> Result<RowChecksum, DatabaseMoveError> {
        let columns = self.column_list();
        let select = format!("SELECT {columns} FROM {}", self.name);
        let mut rows = sqlx::query(AssertSqlSafe(select.as_str())).fetch(target);
        let mut sum = RowChecksum::default();
        while let Some(row) = rows.try_next().await? {
            sum.add(&self.cells(&row)?);
        }
        Ok(sum)
    }

    fn cells<R>(&self, row: &R) -> Result<Vec<StoredValue>, sqlx::Error>
    where
        R: Row,
        usize: ColumnIndex<R>,
        Option<String>: for<'r> Decode<'r, R::Database> + Type<R::Database>,
        Option<i64>: for<'r> Decode<'r, R::Database> + Type<R::Database>,
        Option<f64>: for<'r> Decode<'r, R::Database> + Type<R::Database>,
        Option<bool>: for<'r> Decode<'r, R::Database> + Type<R::Database>,
        Option<Vec<u8>>: for<'r> Decode<'r, R::Database> + Type<R::Database>,
    {
        let cell = |(at, (_, kind)): (usize, &(String, ColumnKind))| {
            Ok(match kind {
                // PostgreSQL cannot store NUL characters; prompts and replies have had none since there was a choice.
                ColumnKind::Text => {
                    StoredValue::Text(row.try_get::<Option<String>, _>(at)?.map(|text| text.replace('\0', "")))
                }
                ColumnKind::Number => StoredValue::Number(row.try_get(at)?),
                ColumnKind::Real => StoredValue::Real(row.try_get(at)?),
                ColumnKind::Flag => StoredValue::Flag(row.try_get(at)?),
                ColumnKind::Bytes => StoredValue::Bytes(row.try_get(at)?),
            })
        };
        self.columns.iter().enumerate().map(cell).collect()
    }
}

/// Inserts rows in one statement.
async fn insert_rows(target: &mut PgConnection, insert: &str, rows: Vec<Vec<StoredValue>>) -> Result<(), sqlx::Error> {
    let mut statement = QueryBuilder::<Postgres>::new(insert);
    statement.push_values(rows, |mut row, cells| {
        for cell in cells {
            match cell {
                StoredValue::Text(text) => row.push_bind(text),
                StoredValue::Number(number) => row.push_bind(number),
                StoredValue::Real(real) => row.push_bind(real),
                StoredValue::Flag(flag) => row.push_bind(flag),
                StoredValue::Bytes(bytes) => row.push_bind(bytes),
            };
        }
    });
    statement.build().execute(target).await.map(drop)
}

/// Value of a cell.
#[derive(Debug, Clone, PartialEq)]
enum StoredValue {
    Text(Option<String>),
    Number(Option<i64>),
    Real(Option<f64>),
    Flag(Option<bool>),
    Bytes(Option<Vec<u8>>),
}

/// Order-independent checksum of rows: their number and the sum of their digests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct RowChecksum {
    rows: u64,
    digests: u128,
}

impl RowChecksum {
    fn add(&mut self, cells: &[StoredValue]) {
        // The debug text of a number has all of its digits.
        let digest = Sha256::digest(format!("{cells:?}"));
        let first: [u8; 16] = digest[..16].try_into().expect("a digest has 32 bytes");
        self.rows += 1;
        self.digests = self.digests.wrapping_add(u128::from_le_bytes(first));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_has_many_rows_or_one_file() {
        let rows = |kinds: [ColumnKind; 2]| {
            let columns = kinds.map(|kind| ("column".to_owned(), kind)).into();
            TransferTable { name: "table", columns }.rows_at_once()
        };
        assert_eq!(rows([ColumnKind::Text, ColumnKind::Number]), MAX_ROWS_PER_STATEMENT);
        assert_eq!(rows([ColumnKind::Text, ColumnKind::Bytes]), 1);
    }
}
