//! Votes excluded from the ratings by a rule or a person. A vote row never changes; an exclusion is a separate row, and can be withdrawn.

use std::collections::BTreeSet;
use std::sync::Arc;

use sqlx::{AssertSqlSafe, Connection};
use sqlx_macros::FromRow;

use crate::domain::integrity::exclusions::exclusions_in_force::ExclusionsInForce;
use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::admin::audit::insert_audit;
use crate::storage::{Database, NewAuditEntry, Store, StoreError, VoteRange, on_reader, on_writer_once};

/// Rule that excludes a vote of the table `votes`; NULL for a rated vote.
pub(in crate::storage) const EXCLUSION: &str =
    "(SELECT MIN(rule) FROM vote_exclusions WHERE vote_seq = votes.seq AND withdrawn_at IS NULL)";
/// Whether a vote of the table `votes` is rated.
pub(in crate::storage) const IS_RATED: &str =
    "NOT EXISTS (SELECT 1 FROM vote_exclusions WHERE vote_seq = votes.seq AND withdrawn_at IS NULL)";

const INSERT: &str = "INSERT INTO vote_exclusions (id, vote_seq, rule, reason, excluded_by, excluded_at) \
     SELECT $1, seq, $3, $4, $5, CAST($6 AS BIGINT) FROM votes WHERE seq = $2 \
     ON CONFLICT (vote_seq, rule) WHERE withdrawn_at IS NULL DO NOTHING";
/// A vote on models chosen by the voter is never rated.
const WITHDRAW: &str = "UPDATE vote_exclusions SET withdrawn_by = $3, withdrawn_at = $4 \
     WHERE vote_seq = $1 AND rule = $2 AND withdrawn_at IS NULL AND NOT (with_vote AND rule = 'named_mode')";
const SELECT: &str = "SELECT id, vote_seq, rule, reason, excluded_by, excluded_at, withdrawn_by, withdrawn_at \
     FROM vote_exclusions WHERE vote_seq = $1 ORDER BY excluded_at, id";
const SELECT_IN_FORCE: &str =
    "SELECT vote_seq, rule FROM vote_exclusions WHERE withdrawn_at IS NULL AND vote_seq > $1 AND vote_seq <= $2";
const SELECT_LATEST: &str = "SELECT id, vote_seq, rule, reason, excluded_by, excluded_at, withdrawn_by, withdrawn_at \
     FROM vote_exclusions WHERE ($1 = '' OR rule = $1) AND (excluded_at, id) < ($2, $3) \
     ORDER BY excluded_at DESC, id DESC LIMIT $4";
/// Each number is the size of a small index. A vote and the exclusions committed with it appear together, so no count ever included that
/// vote as a rated one.
const COUNT_CHANGES: &str = "SELECT (SELECT COUNT(*) FROM vote_exclusions WHERE NOT with_vote) \
     + (SELECT COUNT(*) FROM vote_exclusions WHERE withdrawn_at IS NOT NULL)";

/// Serialises withdrawals and exclusions by the program. A statement of PostgreSQL sees what was committed when it began: without this, one
/// that waits for the row of an exclusion that is being withdrawn would exclude the vote again. SQLite has one writer.
const SERIALIZE_ON_SQLITE: &str = "SELECT 1";
const SERIALIZE_ON_POSTGRES: &str =
    "SELECT pg_advisory_xact_lock(hashtextextended('langya exclusions ' || current_schema(), 0))";

/// Selects the numbers of a JSON array.
const NUMBERS_ON_SQLITE: &str = "SELECT value FROM json_each($1)";
const NUMBERS_ON_POSTGRES: &str = "SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST($1 AS JSON))";

/// Id of a vote's exclusion by decision $2: ids of one decision are ordered by vote.
pub(in crate::storage) const ID_OF_DECISION: &str =
    "$2 || '-' || SUBSTR('000000000000' || seq, LENGTH(CAST(seq AS TEXT)) + 1)";

fn exclude_many(numbers: &str) -> String {
    format!(
        "INSERT INTO vote_exclusions (id, vote_seq, rule, reason, excluded_by, excluded_at) \
         SELECT {ID_OF_DECISION}, seq, $3, $4, $5, CAST($6 AS BIGINT) FROM votes WHERE seq IN ({numbers}) \
         ON CONFLICT (vote_seq, rule) WHERE withdrawn_at IS NULL DO NOTHING"
    )
}

/// Builds a statement like [`exclude_many`], without the votes of voters with a withdrawn exclusion by the rule.
fn exclude_unless_reinstated(numbers: &str) -> String {
    let reinstated = "SELECT others.visitor FROM vote_exclusions JOIN votes AS others ON others.seq = vote_exclusions.vote_seq \
         WHERE vote_exclusions.rule = $3 AND vote_exclusions.withdrawn_at IS NOT NULL AND others.visitor IS NOT NULL";
    format!(
        "INSERT INTO vote_exclusions (id, vote_seq, rule, reason, excluded_by, excluded_at) \
         SELECT {ID_OF_DECISION}, seq, $3, $4, $5, CAST($6 AS BIGINT) FROM votes \
         WHERE seq IN ({numbers}) AND visitor IS NOT NULL AND visitor NOT IN ({reinstated}) \
         ON CONFLICT (vote_seq, rule) WHERE withdrawn_at IS NULL DO NOTHING"
    )
}

fn withdraw_many(numbers: &str) -> String {
    format!(
        "UPDATE vote_exclusions SET withdrawn_by = $3, withdrawn_at = $4 \
         WHERE withdrawn_at IS NULL AND vote_seq IN ({numbers}) AND ($2 = '' OR rule = $2) \
         AND NOT (with_vote AND rule = 'named_mode')"
    )
}

/// A decision to exclude votes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewExclusions {
    /// Id of the decision; with the number of a vote, the id of its exclusion.
    pub id: String,
    /// Name of the rule.
    pub rule: String,
    /// Reason; published.
    pub reason: String,
    /// Person or program that decided.
    pub decided_by: String,
    /// Time of the decision.
    pub decided_at: Timestamp,
}

/// Exclusion to insert.
#[derive(Debug, Clone, Copy)]
pub struct NewExclusion<'e> {
    /// Id of the exclusion.
    pub id: &'e str,
    /// Number of the vote in the log.
    pub vote_seq: i64,
    /// Name of the rule, such as `admin`.
    pub rule: &'e str,
    /// Reason why the rule applies to this vote.
    pub reason: &'e str,
    /// Person or program that excludes the vote.
    pub excluded_by: &'e str,
    /// Time of the exclusion.
    pub excluded_at: Timestamp,
}

/// A stored exclusion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExclusionRow {
    /// Id of the exclusion.
    pub id: String,
    /// Number of the vote in the log.
    pub vote_seq: i64,
    /// Name of the rule.
    pub rule: String,
    /// Reason why the rule applies to this vote.
    pub reason: String,
    /// Person or program that excluded the vote.
    pub excluded_by: String,
    /// Time of the exclusion.
    pub excluded_at: Timestamp,
    /// Author and time of the withdrawal; `None` while the exclusion is active.
    pub withdrawn: Option<(String, Timestamp)>,
}

#[derive(FromRow)]
struct RawExclusion {
    id: String,
    vote_seq: i64,
    rule: String,
    reason: String,
    excluded_by: String,
    excluded_at: i64,
    withdrawn_by: Option<String>,
    withdrawn_at: Option<i64>,
}

impl From<RawExclusion> for ExclusionRow {
    fn from(raw: RawExclusion) -> Self {
        Self {
            id: raw.id,
            vote_seq: raw.vote_seq,
            rule: raw.rule,
            reason: raw.reason,
            excluded_by: raw.excluded_by,
            excluded_at: Timestamp(raw.excluded_at),
            withdrawn: raw.withdrawn_by.zip(raw.withdrawn_at.map(Timestamp)),
        }
    }
}

impl Store {
    /// Excludes votes: all of them, or none on an error. Votes already excluded by the same rule, and unknown numbers, are skipped. Returns
    /// the number of new exclusions.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn exclude_votes(&self, exclusions: &[NewExclusion<'_>]) -> Result<u64, StoreError> {
        let _time = store_time("exclude_votes");
        on_writer_once!(self, |connection| {
            let (mut tx, mut new) = (connection.begin().await?, 0);
            for exclusion in exclusions {
                let inserted = sqlx::query(INSERT)
                    .bind(exclusion.id)
                    .bind(exclusion.vote_seq)
                    .bind(exclusion.rule)
                    .bind(exclusion.reason)
                    .bind(exclusion.excluded_by)
                    .bind(exclusion.excluded_at.0)
                    .execute(&mut *tx)
                    .await?;
                new += inserted.rows_affected();
            }
            tx.commit().await.map(|()| new)
        })
    }

    /// Withdraws the exclusion of a vote by a rule. Returns whether it was active.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn withdraw_exclusion(
        &self,
        vote_seq: i64,
        rule: &str,
        withdrawn_by: &str,
        withdrawn_at: Timestamp,
    ) -> Result<bool, StoreError> {
        let _time = store_time("withdraw_exclusion");
        let withdrawn: Result<u64, StoreError> = on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            sqlx::query(self.exclusions_turn()).execute(&mut *tx).await?;
            let query = sqlx::query(WITHDRAW).bind(vote_seq).bind(rule).bind(withdrawn_by).bind(withdrawn_at.0);
            let withdrawn = query.execute(&mut *tx).await?.rows_affected();
            tx.commit().await.map(|()| withdrawn)
        });
        Ok(withdrawn? > 0)
    }

    /// Reads all exclusions of a vote, withdrawn ones included, ordered by time.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn exclusions_of(&self, vote_seq: i64) -> Result<Vec<ExclusionRow>, StoreError> {
        let _time = store_time("exclusions_of");
        let rows: Vec<RawExclusion> =
            on_reader!(self, |pool| sqlx::query_as(SELECT).bind(vote_seq).fetch_all(pool).await)?;
        Ok(rows.into_iter().map(ExclusionRow::from).collect())
    }

    /// Reads the active exclusions of the votes in a range of numbers; ignores its times.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn exclusions_in_force(&self, range: VoteRange) -> Result<ExclusionsInForce, StoreError> {
        let _time = store_time("exclusions_in_force");
        let rows: Vec<(i64, String)> = on_reader!(self, |pool| {
            sqlx::query_as(SELECT_IN_FORCE).bind(range.after).bind(range.upto).fetch_all(pool).await
        })?;
        let mut names = BTreeSet::<Arc<str>>::new();
        let mut shared = |rule: String| match names.get(rule.as_str()) {
            Some(known) => Arc::clone(known),
            None => {
                let new: Arc<str> = rule.into();
                names.insert(Arc::clone(&new));
                new
            }
        };
        Ok(rows.into_iter().map(|(vote, rule)| (vote, shared(rule))).collect())
    }

    /// Excludes these votes by one decision: all of them, or none on an error. Votes already excluded by the same rule, and unknown
    /// numbers, are skipped. Returns the number of new exclusions; without any, no audit entry is written either.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn exclude(
        &self,
        decision: &NewExclusions,
        votes: &[i64],
        audit: Option<&NewAuditEntry>,
    ) -> Result<u64, StoreError> {
        let _time = store_time("exclude");
        let (statement, votes) = (exclude_many(self.numbers()), numbers_json(votes));
        let NewExclusions { id, rule, reason, decided_by, decided_at } = decision;
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            let query = sqlx::query(AssertSqlSafe(statement.clone())).bind(&votes).bind(id).bind(rule).bind(reason);
            let query = query.bind(decided_by).bind(decided_at.0);
            let excluded = query.execute(&mut *tx).await?.rows_affected();
            if let Some(audit) = audit.filter(|_| excluded > 0) {
                insert_audit!(&mut *tx, audit)?;
            }
            tx.commit().await.map(|()| excluded)
        })
    }

    /// Excludes votes like [`Store::exclude`], except for reinstated voters: once an exclusion by the rule was withdrawn for one of a
    /// voter's votes, this skips all votes of that voter.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn exclude_unless_reinstated(&self, decision: &NewExclusions, votes: &[i64]) -> Result<u64, StoreError> {
        let _time = store_time("exclude_unless_reinstated");
        let (statement, votes) = (exclude_unless_reinstated(self.numbers()), numbers_json(votes));
        let NewExclusions { id, rule, reason, decided_by, decided_at } = decision;
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            sqlx::query(self.exclusions_turn()).execute(&mut *tx).await?;
            let query = sqlx::query(AssertSqlSafe(statement.clone())).bind(&votes).bind(id).bind(rule).bind(reason);
            let query = query.bind(decided_by).bind(decided_at.0);
            let excluded = query.execute(&mut *tx).await?.rows_affected();
            tx.commit().await.map(|()| excluded)
        })
    }

    /// Withdraws the active exclusions of these votes, by one rule or by all: all of them, or none on an error. Returns their number;
    /// without any, no audit entry is written either.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn withdraw_exclusions(
        &self,
        votes: &[i64],
        rule: Option<&str>,
        withdrawn_by: &str,
        withdrawn_at: Timestamp,
        audit: Option<&NewAuditEntry>,
    ) -> Result<u64, StoreError> {
        let _time = store_time("withdraw_exclusions");
        let (statement, votes) = (withdraw_many(self.numbers()), numbers_json(votes));
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            sqlx::query(self.exclusions_turn()).execute(&mut *tx).await?;
            let query = sqlx::query(AssertSqlSafe(statement.clone())).bind(&votes).bind(rule.unwrap_or_default());
            let query = query.bind(withdrawn_by).bind(withdrawn_at.0);
            let withdrawn = query.execute(&mut *tx).await?.rows_affected();
            if let Some(audit) = audit.filter(|_| withdrawn > 0) {
                insert_audit!(&mut *tx, audit)?;
            }
            tx.commit().await.map(|()| withdrawn)
        })
    }

    /// Returns the statement that serialises withdrawals and automatic exclusions; its lock is held to the end of the transaction.
    pub(in crate::storage) fn exclusions_turn(&self) -> &'static str {
        match self.database {
            Database::Sqlite(_) => SERIALIZE_ON_SQLITE,
            Database::Postgres(_) => SERIALIZE_ON_POSTGRES,
        }
    }

    /// Returns the query for the numbers of a JSON array, the first parameter of a statement.
    pub(in crate::storage) fn numbers(&self) -> &'static str {
        match self.database {
            Database::Sqlite(_) => NUMBERS_ON_SQLITE,
            Database::Postgres(_) => NUMBERS_ON_POSTGRES,
        }
    }

    /// Reads exclusions made before a time, withdrawn ones included, the latest first and at most `limit`. At the same time, those whose id
    /// is smaller than `before.1`.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn latest_exclusions(
        &self,
        rule: Option<&str>,
        before: (Timestamp, &str),
        limit: u32,
    ) -> Result<Vec<ExclusionRow>, StoreError> {
        let _time = store_time("latest_exclusions");
        let rows: Vec<RawExclusion> = on_reader!(self, |pool| {
            let query = sqlx::query_as(SELECT_LATEST).bind(rule.unwrap_or_default()).bind(before.0.0).bind(before.1);
            query.bind(i64::from(limit)).fetch_all(pool).await
        })?;
        Ok(rows.into_iter().map(ExclusionRow::from).collect())
    }

    /// Counts withdrawals and exclusions made after the vote: the count grows whenever the set of rated votes among earlier ones changes.
    /// An exclusion committed with its vote does not count.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn exclusion_changes(&self) -> Result<i64, StoreError> {
        let _time = store_time("exclusion_changes");
        on_reader!(self, |pool| sqlx::query_scalar(COUNT_CHANGES).fetch_one(pool).await)
    }
}

pub(in crate::storage) fn numbers_json(numbers: &[i64]) -> String {
    let digits: Vec<String> = numbers.iter().map(i64::to_string).collect();
    format!("[{}]", digits.join(","))
}
