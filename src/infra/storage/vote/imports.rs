//! Imports of votes cast elsewhere, as battles and votes of this arena: all of a file in one transaction, or none.
//!
//! Rows are inserted many at a time, in one statement with a constant text.

use std::collections::HashSet;
use std::time::Duration;

use sqlx::{AssertSqlSafe, Connection, QueryBuilder};

use crate::domain::battle::BattleId;
use crate::domain::battle::vote_reasons::ReasonSet;
use crate::domain::public_log::promised_vote::FEW_UNLOGGED;
use crate::domain::rating::votes::vote_log::ReplyTiming;
use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::postgres::{release_connection, with_response_timeout};
use crate::storage::{Database, Store, StoreError, on_reader, on_writer_once};

/// Maximum number of rows in one statement.
const MAX_ROWS_PER_STATEMENT: usize = 1_000;

/// Selects the battles in a JSON array of ids that have a vote.
const SELECT_VOTED_ON_SQLITE: &str = "SELECT battle_id FROM votes WHERE battle_id IN (SELECT value FROM json_each($1))";
const SELECT_VOTED_ON_POSTGRES: &str =
    "SELECT battle_id FROM votes WHERE battle_id IN (SELECT json_array_elements_text(CAST($1 AS JSON)))";
const INSERT_IMPORT: &str =
    "INSERT INTO imports (id, source, votes, imported_at) VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO NOTHING";
const INSERT_MODEL: &str = "INSERT INTO models (id, name, organization, license, practice, first_seen_at) \
     VALUES ($1, $1, '', '', FALSE, $2) ON CONFLICT (id) DO NOTHING";
/// A whole import is one commit: battles are inserted with their votes.
const INSERT_BATTLES: &str = "INSERT INTO battles (id, visitor, model_a, model_b, turn, language, category, intent, \
     pair_probability, created_at, updated_at, mode, stage, pairing_policy, policy_version) ";
const VOTE_COLUMNS: &str = "id, battle_id, visitor, model_a, model_b, turn, language, category, intent, pair_probability, outcome, \
     text_counts, created_at, satisfaction, reasons_a, reasons_b, first_token_ms_a, first_token_ms_b, duration_ms_a, duration_ms_b, \
     anonymous, pairing_policy, policy_version, receipt";
/// On a server, inserting votes blocks all other votes until the commit. So an import first collects its votes.
const COLLECT_VOTES: &str = "CREATE TEMPORARY TABLE collected_votes ON COMMIT DROP AS SELECT * FROM votes WITH NO DATA";
/// Announces to other instances, until the end of the transaction, that many votes will be inserted. See `is_importing`.
const LOCK_IMPORTING: &str =
    "SELECT pg_advisory_xact_lock_shared(hashtextextended('langya import ' || current_schema(), 0))";
/// Timeout of the one statement that inserts all votes.
const SET_TIME_LIMIT: &str = "SELECT set_config('statement_timeout', $1, true)";

/// Additional time for each vote in that statement: fifty times the duration measured on two cores.
const TIME_PER_VOTE: Duration = Duration::from_millis(1);

/// A vote cast elsewhere.
#[derive(Debug, Clone)]
pub struct ImportedVote<'v> {
    /// Id of the vote: the import's, and the vote's number. Votes of an import are stored ordered by id.
    pub id: String,
    /// Id of its battle.
    pub battle: BattleId,
    /// Pseudonym of the voter.
    pub voter: &'v str,
    /// The model on side A.
    pub a: &'v str,
    /// The model on side B.
    pub b: &'v str,
    /// Outcome chosen by the person.
    pub outcome: &'static str,
    /// Number of turns in the battle.
    pub turn: u32,
    /// Language of the first prompt; empty if unknown.
    pub language: &'v str,
    /// Category, if known.
    pub category: Option<&'v str>,
    /// Intent, if known.
    pub intent: Option<&'v str>,
    /// Satisfaction from 1 to 5, if known.
    pub satisfaction: Option<u32>,
    /// Reasons for sides A and B; empty if unknown.
    pub reasons: [ReasonSet; 2],
    /// Probability of the pair; 0 if unknown.
    pub probability: f64,
    /// Text counts of sides A and B, as JSON.
    pub text_counts: String,
    /// Times of the last replies of sides A and B.
    pub timings: [ReplyTiming; 2],
    /// Time of the vote in milliseconds since 1970.
    pub cast_at: i64,
}

impl ImportedVote<'_> {
    /// Returns the duration; 0 if unknown, as the column is NOT NULL.
    fn duration_ms(&self, side: usize) -> i64 {
        i64::from(self.timings[side].duration_ms.unwrap_or(0))
    }
}

/// Result of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Imported {
    /// Every vote was stored.
    All(u64),
    /// The same file was imported before: nothing was changed.
    Before,
}

/// An import of a file of votes.
#[derive(Debug, Clone, Copy)]
pub struct Import<'i> {
    /// Id of the import, derived from its content.
    pub id: &'i str,
    /// Name of the import.
    pub source: &'i str,
    /// Models in the file.
    pub models: &'i [String],
    /// Time of the import.
    pub at: Timestamp,
}

/// Adds the common values of battles and votes.
macro_rules! push_common {
    ($row:expr, $vote:expr) => {
        $row.push_bind($vote.voter)
            .push_bind($vote.a)
            .push_bind($vote.b)
            .push_bind(i64::from($vote.turn))
            .push_bind($vote.language)
            .push_bind($vote.category)
            .push_bind($vote.intent)
            .push_bind($vote.probability)
    };
}

/// Target table of an import's votes.
#[derive(Debug, Clone, Copy)]
struct ImportTarget {
    table: &'static str,
    /// Maximum wait for the response to each statement, if there is one.
    limit: Option<Duration>,
}

/// Runs the statements of an import in an open transaction of either database.
macro_rules! insert_all {
    ($tx:expr, $target:expr, $import:expr, $votes:expr, $count:expr, $progress:expr) => {{
        let ImportTarget { table, limit } = $target;
        let new = sqlx::query(INSERT_IMPORT)
            .bind($import.id)
            .bind($import.source)
            .bind(i64::try_from($count).unwrap_or(i64::MAX))
            .bind($import.at.0);
        if within(limit, new.execute(&mut *$tx)).await?.rows_affected() == 0 {
            return Ok(Imported::Before);
        }
        for model in $import.models {
            let model = sqlx::query(INSERT_MODEL).bind(model).bind($import.at.0);
            within(limit, model.execute(&mut *$tx)).await?;
        }
        let mut votes = $votes.peekable();
        let mut done = 0;
        while votes.peek().is_some() {
            let page: Vec<ImportedVote<'_>> = votes.by_ref().take(MAX_ROWS_PER_STATEMENT).collect();
            let mut battles = QueryBuilder::new(INSERT_BATTLES);
            battles.push_values(&page, |mut row, vote| {
                push_common!(row.push_bind(vote.battle.as_str()), vote)
                    .push_bind(vote.cast_at)
                    .push_bind(vote.cast_at)
                    .push("'anonymous', 'voted', 'import', 0");
            });
            within(limit, battles.build().execute(&mut *$tx)).await?;
            let mut casts = QueryBuilder::new(insert_votes_into(table));
            casts.push_values(&page, |mut row, vote| {
                push_common!(row.push_bind(vote.id.as_str()).push_bind(vote.battle.as_str()), vote)
                    .push_bind(vote.outcome)
                    .push_bind(&vote.text_counts)
                    .push_bind(vote.cast_at)
                    .push_bind(vote.satisfaction.map(i64::from))
                    .push_bind(vote.reasons[0].stored())
                    .push_bind(vote.reasons[1].stored())
                    .push_bind(vote.timings[0].first_token_ms.map(i64::from))
                    .push_bind(vote.timings[1].first_token_ms.map(i64::from))
                    .push_bind(vote.duration_ms(0))
                    .push_bind(vote.duration_ms(1))
                    .push("TRUE, 'import', 0, '{}'");
            });
            within(limit, casts.build().execute(&mut *$tx)).await?;
            done += page.len() as u64;
            $progress(done);
        }
        Ok::<_, StoreError>(Imported::All(done))
    }};
}

/// Runs a statement within a timeout, if there is one.
async fn within<T>(
    limit: Option<Duration>,
    statement: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T, StoreError> {
    let answer = async { statement.await.map_err(StoreError::from) };
    match limit {
        Some(limit) => with_response_timeout(limit, answer).await,
        None => answer.await,
    }
}

/// Formats a timeout for PostgreSQL, which accepts less than 25 days.
fn milliseconds(limit: Duration) -> String {
    i32::try_from(limit.as_millis()).unwrap_or(i32::MAX).to_string()
}

/// Builds the beginning of a statement that inserts votes.
fn insert_votes_into(table: &str) -> String {
    format!("INSERT INTO {table} ({VOTE_COLUMNS}) ")
}

impl Store {
    /// Reads which of these battles have a vote, in one statement. Texts that are not ids of battles are ignored.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn voted_battles(&self, battles: &[String]) -> Result<HashSet<String>, StoreError> {
        let _time = store_time("voted_battles");
        let ids: Vec<&str> = battles.iter().map(String::as_str).filter(|id| BattleId::parse(id).is_some()).collect();
        let ids = serde_json::to_string(&ids).expect("ids are plain texts");
        let statement = match self.database {
            Database::Sqlite(_) => SELECT_VOTED_ON_SQLITE,
            Database::Postgres(_) => SELECT_VOTED_ON_POSTGRES,
        };
        let voted: Vec<String> =
            on_reader!(self, |pool| sqlx::query_scalar(statement).bind(&ids).fetch_all(pool).await)?;
        Ok(voted.into_iter().collect())
    }

    /// Inserts all votes of a file, in their order, or none of them.
    ///
    /// # Errors
    /// [`StoreError`]; then nothing was stored.
    pub async fn import_votes<'v>(
        &self,
        import: Import<'_>,
        votes: impl ExactSizeIterator<Item = ImportedVote<'v>>,
        mut progress: impl FnMut(u64),
    ) -> Result<Imported, StoreError> {
        let count = votes.len();
        let Database::Postgres(postgres) = &self.database else {
            return on_writer_once!(self, |connection| {
                let mut tx = connection.begin().await?;
                let target = ImportTarget { table: "votes", limit: None };
                let imported = insert_all!(tx, target, import, votes, count, progress)?;
                tx.commit().await?;
                Ok::<_, StoreError>(imported)
            });
        };
        let insert = insert_votes_into("votes");
        let insert_collected = format!("{insert}SELECT {VOTE_COLUMNS} FROM collected_votes ORDER BY id");
        // A server may stop responding, so each statement has a timeout. The total duration, and that of the last one, grow with the file.
        let limit = Some(postgres.longest);
        let of_all = postgres.longest + TIME_PER_VOTE * u32::try_from(count).unwrap_or(u32::MAX);
        let mut connection = postgres.acquire().await?;
        let imported: Result<Imported, StoreError> = async {
            let mut tx = within(limit, connection.begin()).await?;
            if count as u64 > FEW_UNLOGGED {
                within(limit, sqlx::query(LOCK_IMPORTING).execute(&mut *tx)).await?;
            }
            within(limit, sqlx::query(COLLECT_VOTES).execute(&mut *tx)).await?;
            let target = ImportTarget { table: "collected_votes", limit };
            let imported = insert_all!(tx, target, import, votes, count, progress)?;
            within(limit, sqlx::query(SET_TIME_LIMIT).bind(milliseconds(of_all)).execute(&mut *tx)).await?;
            within(Some(of_all), sqlx::query(AssertSqlSafe(insert_collected)).execute(&mut *tx)).await?;
            within(Some(of_all), tx.commit()).await?;
            Ok(imported)
        }
        .await;
        release_connection(connection, imported)
    }
}
