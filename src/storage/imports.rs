//! Votes that were cast elsewhere, as battles and votes of this arena: all of a file in one transaction, or none.
//!
//! Rows go in many at a time, as one JSON array a statement, which each database reads in a way of its own.

use serde::Serialize;

use super::{Database, Store, StoreError};
use crate::clock::Timestamp;

/// Rows in one statement.
const ROWS: usize = 1_000;

const INSERT_IMPORT: &str =
    "INSERT INTO imports (id, source, votes, imported_at) VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO NOTHING";
const INSERT_MODEL: &str = "INSERT INTO models (id, name, organization, license, practice, first_seen_at) \
     VALUES ($1, $1, '', '', FALSE, $2) ON CONFLICT (id) DO NOTHING";
/// A whole import is one commit: the battles of a file are voted on as soon as they are there.
const INSERT_BATTLES: &str = "INSERT INTO battles (id, visitor, mode, stage, turn, model_a, model_b, pairing_policy, \
     policy_version, pair_probability, language, category, intent, created_at, updated_at) \
     SELECT battle, voter, 'anonymous', 'voted', turn, a, b, 'import', 0, probability, language, category, intent, cast_at, \
     cast_at FROM";
const INSERT_VOTES: &str = "INSERT INTO votes (id, battle_id, visitor, model_a, model_b, outcome, turn, anonymous, \
     language, category, intent, pairing_policy, policy_version, pair_probability, duration_ms_a, duration_ms_b, \
     text_counts, rated, receipt, created_at) \
     SELECT battle, battle, voter, a, b, outcome, turn, TRUE, language, category, intent, 'import', 0, probability, 0, 0, \
     text_counts, TRUE, '{}', cast_at FROM";
/// Each database's way to make rows of a JSON array.
const ROWS_ON_SQLITE: &str = "(SELECT value->>'battle' AS battle, value->>'voter' AS voter, value->>'a' AS a, \
     value->>'b' AS b, value->>'outcome' AS outcome, value->>'turn' AS turn, value->>'language' AS language, \
     value->>'category' AS category, value->>'intent' AS intent, value->>'probability' AS probability, \
     value->>'text_counts' AS text_counts, value->>'cast_at' AS cast_at FROM json_each($1) ORDER BY key) AS imported";
const ROWS_ON_POSTGRES: &str = "(SELECT battle, voter, a, b, outcome, turn, language, category, intent, probability, \
     text_counts, cast_at FROM ROWS FROM (jsonb_to_recordset($1::jsonb) AS (battle TEXT, voter TEXT, a TEXT, b TEXT, \
     outcome TEXT, turn BIGINT, language TEXT, category TEXT, intent TEXT, probability DOUBLE PRECISION, \
     text_counts TEXT, cast_at BIGINT)) WITH ORDINALITY ORDER BY ordinality) AS imported";

/// A vote that was cast elsewhere.
#[derive(Debug, Clone, Serialize)]
pub struct ImportedVote<'v> {
    /// Id of the vote and of its battle: the import's, and the vote's number.
    pub battle: String,
    /// Pseudonym of the voter.
    pub voter: &'v str,
    /// The model on side A.
    pub a: &'v str,
    /// The model on side B.
    pub b: &'v str,
    /// What the person said.
    pub outcome: &'static str,
    /// Turns of the battle.
    pub turn: u32,
    /// Language of the first prompt; empty where it is not known.
    pub language: &'v str,
    /// Category, where known.
    pub category: Option<&'v str>,
    /// Intent, where known.
    pub intent: Option<&'v str>,
    /// Probability of the pair; 0 where it is not known.
    pub probability: f64,
    /// Text counts of sides A and B, as JSON.
    pub text_counts: String,
    /// When it was cast, in milliseconds since 1970.
    pub cast_at: i64,
}

/// What came of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Imported {
    /// Every vote was kept.
    All(u64),
    /// The same file came in before: nothing was changed.
    Before,
}

/// A file of votes.
#[derive(Debug, Clone, Copy)]
pub struct Import<'i> {
    /// Its id, made of what it holds.
    pub id: &'i str,
    /// Its name.
    pub source: &'i str,
    /// The models in it.
    pub models: &'i [String],
    /// When it is imported.
    pub at: Timestamp,
}

/// The statements of an import on an open transaction, with the database's way to read rows.
macro_rules! insert_all {
    ($tx:expr, $rows:expr, $import:expr, $votes:expr, $count:expr, $progress:expr) => {{
        let new = sqlx::query(INSERT_IMPORT)
            .bind($import.id)
            .bind($import.source)
            .bind(i64::try_from($count).unwrap_or(i64::MAX))
            .bind($import.at.0)
            .execute(&mut *$tx)
            .await?
            .rows_affected();
        if new == 0 {
            return Ok(Imported::Before);
        }
        for model in $import.models {
            sqlx::query(INSERT_MODEL).bind(model).bind($import.at.0).execute(&mut *$tx).await?;
        }
        let (battles, casts) = (format!("{INSERT_BATTLES} {}", $rows), format!("{INSERT_VOTES} {}", $rows));
        let mut votes = $votes.peekable();
        let mut done = 0;
        while votes.peek().is_some() {
            let page: Vec<ImportedVote<'_>> = votes.by_ref().take(ROWS).collect();
            let json = serde_json::to_string(&page).expect("a vote is plain text and numbers");
            for insert in [&battles, &casts] {
                sqlx::query(sqlx::AssertSqlSafe(insert.as_str())).bind(&json).execute(&mut *$tx).await?;
            }
            done += page.len() as u64;
            $progress(done);
        }
        $tx.commit().await?;
        Ok(Imported::All(done))
    }};
}

impl Store {
    /// Keeps all votes of a file, in their order, or none of them.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was kept then.
    pub async fn import_votes<'v>(
        &self,
        import: Import<'_>,
        votes: impl ExactSizeIterator<Item = ImportedVote<'v>>,
        mut progress: impl FnMut(u64),
    ) -> Result<Imported, StoreError> {
        let count = votes.len();
        match &self.database {
            Database::Sqlite(pools) => {
                let mut tx = pools.writer.begin().await?;
                insert_all!(tx, ROWS_ON_SQLITE, import, votes, count, progress)
            }
            Database::Postgres(postgres) => {
                let mut tx = postgres.pool.begin().await?;
                insert_all!(tx, ROWS_ON_POSTGRES, import, votes, count, progress)
            }
        }
    }
}
