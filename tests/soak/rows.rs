//! Reads the rows of the database with separate SQL, independently of the code under test.

use std::path::Path;

use anyhow::ensure;
use langya::domain::battle::Side;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{PgPool, SqlitePool};

use crate::checker::evidence::{Stored, StoredBattle, StoredFailure, StoredReply, StoredTurn, StoredVote};

/// Separate connection to a database.
pub(crate) enum Database {
    Postgres(PgPool),
    Sqlite(SqlitePool),
}

/// Fetches all rows of a statement, on either database.
macro_rules! rows {
    ($database:expr, $statement:expr) => {
        match $database {
            Database::Postgres(pool) => sqlx::query_as($statement).fetch_all(pool).await?,
            Database::Sqlite(pool) => sqlx::query_as($statement).fetch_all(pool).await?,
        }
    };
}

impl Database {
    pub(crate) async fn of_postgres(address: &str) -> anyhow::Result<Self> {
        Ok(Self::Postgres(PgPool::connect(address).await?))
    }

    /// Opens a file of SQLite, which an arena may be using.
    pub(crate) async fn of_sqlite(file: &Path) -> anyhow::Result<Self> {
        let options = SqliteConnectOptions::new().filename(file).read_only(true);
        Ok(Self::Sqlite(SqlitePool::connect_with(options).await?))
    }

    /// Reads all rows that the checker compares. SQLite's file must pass its integrity check.
    pub(crate) async fn read(self) -> anyhow::Result<Stored> {
        self.check_sound().await?;
        let stored = Stored {
            battles: battles(&self).await?,
            turns: turns(&self).await?,
            replies: replies(&self).await?,
            failures: failures(&self).await?,
            votes: votes(&self).await?,
        };
        match self {
            Self::Postgres(pool) => pool.close().await,
            Self::Sqlite(pool) => pool.close().await,
        }
        Ok(stored)
    }

    async fn check_sound(&self) -> anyhow::Result<()> {
        if let Self::Sqlite(pool) = self {
            let said: String = sqlx::query_scalar("PRAGMA integrity_check").fetch_one(pool).await?;
            ensure!(said == "ok", "the database is damaged: {said}");
        }
        Ok(())
    }
}

/// Reads all rows of a PostgreSQL database.
pub(crate) async fn read(database: &str) -> anyhow::Result<Stored> {
    Database::of_postgres(database).await?.read().await
}

async fn battles(database: &Database) -> anyhow::Result<Vec<StoredBattle>> {
    type Row = (String, String, String, i64, String, String);
    let rows: Vec<Row> = rows!(database, "SELECT id, visitor, stage, turn, model_a, model_b FROM battles");
    rows.into_iter()
        .map(|(id, visitor, stage, turn, a, b)| {
            Ok(StoredBattle { id, visitor, stage, turn: turn.try_into()?, models: [a, b] })
        })
        .collect()
}

async fn turns(database: &Database) -> anyhow::Result<Vec<StoredTurn>> {
    let rows: Vec<(String, i64, String)> = rows!(database, "SELECT battle_id, turn, prompt FROM turns");
    rows.into_iter().map(|(battle, turn, prompt)| Ok(StoredTurn { battle, turn: turn.try_into()?, prompt })).collect()
}

async fn replies(database: &Database) -> anyhow::Result<Vec<StoredReply>> {
    type Row = (String, i64, String, String, String, String);
    let rows: Vec<Row> = rows!(database, "SELECT battle_id, turn, side, model, text, ending FROM replies");
    rows.into_iter()
        .map(|(battle, turn, side, model, text, ending)| {
            Ok(StoredReply { battle, turn: turn.try_into()?, side: side_of(&side), model, text, ending })
        })
        .collect()
}

async fn failures(database: &Database) -> anyhow::Result<Vec<StoredFailure>> {
    let rows: Vec<(String, String, String)> = rows!(database, "SELECT battle_id, side, model FROM side_failures");
    Ok(rows.into_iter().map(|(battle, side, model)| StoredFailure { battle, side: side_of(&side), model }).collect())
}

async fn votes(database: &Database) -> anyhow::Result<Vec<StoredVote>> {
    type Row = (i64, String, String, String, String, String, String, i64, String);
    let rows: Vec<Row> = rows!(
        database,
        "SELECT seq, id, battle_id, visitor, model_a, model_b, outcome, turn, receipt FROM votes ORDER BY seq"
    );
    rows.into_iter()
        .map(|(seq, id, battle, visitor, a, b, outcome, turn, receipt)| {
            let turn = turn.try_into()?;
            Ok(StoredVote { seq, id, battle, visitor, models: [a, b], outcome, turn, receipt })
        })
        .collect()
}

fn side_of(text: &str) -> Side {
    if text == "b" { Side::B } else { Side::A }
}
