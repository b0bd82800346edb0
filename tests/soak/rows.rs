//! Reads what the database holds, with SQL of its own: the code under test has no part in it.

use langya::battle::Side;
use sqlx::PgPool;

use crate::checker::evidence::{Stored, StoredBattle, StoredFailure, StoredReply, StoredTurn, StoredVote};

/// All rows that the checker compares.
pub(crate) async fn read(database: &str) -> anyhow::Result<Stored> {
    let pool = PgPool::connect(database).await?;
    let stored = Stored {
        battles: battles(&pool).await?,
        turns: turns(&pool).await?,
        replies: replies(&pool).await?,
        failures: failures(&pool).await?,
        votes: votes(&pool).await?,
    };
    pool.close().await;
    Ok(stored)
}

async fn battles(pool: &PgPool) -> anyhow::Result<Vec<StoredBattle>> {
    type Row = (String, String, String, i64, String, String);
    let rows: Vec<Row> =
        sqlx::query_as("SELECT id, visitor, stage, turn, model_a, model_b FROM battles").fetch_all(pool).await?;
    rows.into_iter()
        .map(|(id, visitor, stage, turn, a, b)| {
            Ok(StoredBattle { id, visitor, stage, turn: turn.try_into()?, models: [a, b] })
        })
        .collect()
}

async fn turns(pool: &PgPool) -> anyhow::Result<Vec<StoredTurn>> {
    let rows: Vec<(String, i64, String)> =
        sqlx::query_as("SELECT battle_id, turn, prompt FROM turns").fetch_all(pool).await?;
    rows.into_iter().map(|(battle, turn, prompt)| Ok(StoredTurn { battle, turn: turn.try_into()?, prompt })).collect()
}

async fn replies(pool: &PgPool) -> anyhow::Result<Vec<StoredReply>> {
    type Row = (String, i64, String, String, String, String);
    let rows: Vec<Row> =
        sqlx::query_as("SELECT battle_id, turn, side, model, text, ending FROM replies").fetch_all(pool).await?;
    rows.into_iter()
        .map(|(battle, turn, side, model, text, ending)| {
            Ok(StoredReply { battle, turn: turn.try_into()?, side: side_of(&side), model, text, ending })
        })
        .collect()
}

async fn failures(pool: &PgPool) -> anyhow::Result<Vec<StoredFailure>> {
    let rows: Vec<(String, String, String)> =
        sqlx::query_as("SELECT battle_id, side, model FROM side_failures").fetch_all(pool).await?;
    Ok(rows.into_iter().map(|(battle, side, model)| StoredFailure { battle, side: side_of(&side), model }).collect())
}

async fn votes(pool: &PgPool) -> anyhow::Result<Vec<StoredVote>> {
    type Row = (i64, String, String, String, String, String, String, i64, String);
    let rows: Vec<Row> = sqlx::query_as(
        "SELECT seq, id, battle_id, visitor, model_a, model_b, outcome, turn, receipt FROM votes ORDER BY seq",
    )
    .fetch_all(pool)
    .await?;
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
