//! The public log: entries, hashes of full tiles, the latest checkpoint, and salts that may be deleted without breaking a proof.

pub(super) mod unlogged_entries;

use std::collections::HashSet;

use serde::Serialize;
use sqlx::{AssertSqlSafe, Connection};
use sqlx_macros::FromRow;

use super::{Database, Store, StoreError, on_reader, on_writer, signed, unsigned};
use crate::domain::battle::{BattleId, VisitorId};
use crate::domain::public_log::frontier::TileHash;
use crate::domain::public_log::hash::TreeHash;
use crate::domain::public_log::merkle_proof::TreeHead;
use crate::domain::time::Timestamp;
use crate::metrics::store_time;

const SELECT_CHECKPOINT: &str =
    "SELECT size, root, note, signed_at, last_vote_seq, exclusion_changes FROM log_checkpoint WHERE id = 1";
/// Optimistic concurrency: the first checkpoint needs no row, every later one the row that it continues. Another writer's row stays.
const INSERT_CHECKPOINT: &str = "INSERT INTO log_checkpoint \
     (id, size, root, note, signed_at, last_vote_seq, exclusion_changes) VALUES (1, $1, $2, $3, $4, $5, $6) \
     ON CONFLICT (id) DO NOTHING";
const REPLACE_CHECKPOINT: &str = "UPDATE log_checkpoint SET size = $1, root = $2, note = $3, signed_at = $4, \
     last_vote_seq = $5, exclusion_changes = $6 WHERE id = 1 AND size = $7 AND root = $8";
/// Adds signatures to the checkpoint of the same tree.
const REPLACE_NOTE: &str = "UPDATE log_checkpoint SET note = $1 WHERE id = 1 AND note = $2";
const SELECT_BODIES: &str = "SELECT body FROM log_entries WHERE position >= $1 AND position < $2 ORDER BY position";
const SELECT_NODES: &str =
    "SELECT hash FROM log_nodes WHERE level = $1 AND position >= $2 AND position < $3 ORDER BY position";
const SELECT_VOTE: &str = "SELECT log_entries.position, body, salt FROM log_entries \
     LEFT JOIN log_salts ON log_salts.position = log_entries.position WHERE kind = 'vote' AND subject = $1";
const COUNT_VOTES: &str = "SELECT COUNT(*) FROM log_entries WHERE kind = 'vote'";
const SELECT_CHANGES: &str = "SELECT log_entries.position, subject, body, vote_seq, rule, reason, excluded_at, withdrawn_at \
     FROM log_entries LEFT JOIN vote_exclusions ON vote_exclusions.id = subject \
     WHERE kind <> 'vote' AND position > $1 ORDER BY position LIMIT $2";
/// Bulk inserts from one JSON array per table, so that a thousand entries are one statement.
struct BulkInserts {
    entries: &'static str,
    nodes: &'static str,
    salts: &'static str,
    /// Selects the battles that have their texts, and locks them until the commit: a concurrent deletion waits, and then finds the salt.
    texts: &'static str,
    voters: &'static str,
    tags: &'static str,
    votes: &'static str,
}

const ON_SQLITE: BulkInserts = BulkInserts {
    entries: "INSERT INTO log_entries (position, kind, subject, body) SELECT value ->> 'position', value ->> 'kind', \
         value ->> 'subject', value ->> 'body' FROM json_each($1)",
    nodes: "INSERT INTO log_nodes (level, position, hash) SELECT value ->> 'level', value ->> 'position', value ->> 'hash' \
         FROM json_each($1)",
    salts: "INSERT INTO log_salts (position, salt) SELECT value ->> 'position', value ->> 'salt' FROM json_each($1)",
    texts: "SELECT battle_id FROM turns WHERE turn = 1 AND battle_id IN (SELECT value FROM json_each($1))",
    voters: "INSERT INTO log_voters (visitor, tag) SELECT value ->> 'visitor', value ->> 'tag' FROM json_each($1)",
    tags: "SELECT visitor, tag FROM log_voters WHERE visitor IN (SELECT value FROM json_each($1))",
    votes: "SELECT subject, log_entries.position, body, salt FROM log_entries \
         LEFT JOIN log_salts ON log_salts.position = log_entries.position \
         WHERE kind = 'vote' AND subject IN (SELECT value FROM json_each($1))",
};
const ON_POSTGRES: BulkInserts = BulkInserts {
    entries: "INSERT INTO log_entries (position, kind, subject, body) SELECT position, kind, subject, body \
         FROM json_to_recordset(CAST($1 AS JSON)) AS rows (position BIGINT, kind TEXT, subject TEXT, body TEXT)",
    nodes: "INSERT INTO log_nodes (level, position, hash) SELECT level, position, hash \
         FROM json_to_recordset(CAST($1 AS JSON)) AS rows (level BIGINT, position BIGINT, hash TEXT)",
    salts: "INSERT INTO log_salts (position, salt) SELECT position, salt \
         FROM json_to_recordset(CAST($1 AS JSON)) AS rows (position BIGINT, salt TEXT)",
    texts: "SELECT battle_id FROM turns WHERE turn = 1 \
         AND battle_id IN (SELECT json_array_elements_text(CAST($1 AS JSON))) ORDER BY battle_id FOR KEY SHARE",
    voters: "INSERT INTO log_voters (visitor, tag) SELECT visitor, tag \
         FROM json_to_recordset(CAST($1 AS JSON)) AS rows (visitor TEXT, tag TEXT)",
    tags: "SELECT visitor, tag FROM log_voters WHERE visitor IN (SELECT json_array_elements_text(CAST($1 AS JSON)))",
    votes: "SELECT subject, log_entries.position, body, salt FROM log_entries \
         LEFT JOIN log_salts ON log_salts.position = log_entries.position \
         WHERE kind = 'vote' AND subject IN (SELECT json_array_elements_text(CAST($1 AS JSON)))",
};

/// Latest signed checkpoint of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogCheckpoint {
    /// Head of the tree.
    pub head: TreeHead,
    /// Signed note.
    pub note: String,
    /// Time of the signature.
    pub signed_at: Timestamp,
    /// Number of the last vote in the log.
    pub last_vote_seq: i64,
    /// Number of withdrawals, and of exclusions made after the vote, in the log.
    pub exclusion_changes: i64,
}

/// Subject of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LogSubject {
    /// A vote, identified by its id.
    Vote,
    /// An exclusion, identified by its id.
    Exclusion,
    /// The withdrawal of an exclusion, identified by the exclusion's id.
    Withdrawal,
}

/// Entry to append.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NewLogEntry {
    /// Subject of the entry.
    pub kind: LogSubject,
    /// Id of the vote or of the exclusion.
    pub subject: String,
    /// Serialised entry as hashed.
    pub body: String,
    /// Salt of its commitment.
    #[serde(skip)]
    pub salt: Option<NewSalt>,
}

/// Salt of a commitment. It is stored only if the committed texts still exist when the entry is appended: a visitor may delete them after
/// they were read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSalt {
    /// Salt in hexadecimal.
    pub digits: String,
    /// Battle of the committed texts; `None` if there were none.
    pub texts_of: Option<BattleId>,
}

/// Entries to append, with the new checkpoint.
#[derive(Debug, Clone)]
pub struct LogAppend {
    /// Tree that the entries extend; `None` for the first ones.
    pub before: Option<TreeHead>,
    /// The entries.
    pub entries: Vec<NewLogEntry>,
    /// Hashes of the tiles filled by them.
    pub filled: Vec<TileHash>,
    /// New voters with their log names.
    pub voters: Vec<(VisitorId, String)>,
    /// New checkpoint.
    pub after: LogCheckpoint,
}

/// Log entry of a vote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedVote {
    /// Position in the log.
    pub position: u64,
    /// Serialised entry.
    pub body: String,
    /// Salt of its commitment, unless it was deleted.
    pub salt: Option<String>,
}

/// Log entry of an exclusion or a withdrawal, with the row of the exclusion if it exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedChange {
    /// Position in the log.
    pub position: u64,
    /// Id of the exclusion.
    pub subject: String,
    /// Serialised entry.
    pub body: String,
    /// Number of the vote.
    pub vote_seq: Option<i64>,
    /// Name of the rule.
    pub rule: Option<String>,
    /// Reason of the exclusion.
    pub reason: Option<String>,
    /// Time of the exclusion, in milliseconds.
    pub excluded_at: Option<i64>,
    /// Time of the withdrawal.
    pub withdrawn_at: Option<i64>,
}

#[derive(FromRow)]
struct RawLogChange {
    position: i64,
    subject: String,
    body: String,
    vote_seq: Option<i64>,
    rule: Option<String>,
    reason: Option<String>,
    excluded_at: Option<i64>,
    withdrawn_at: Option<i64>,
}

impl RawLogChange {
    fn change(self) -> Result<LoggedChange, StoreError> {
        let Self { position, subject, body, vote_seq, rule, reason, excluded_at, withdrawn_at } = self;
        let position = unsigned(position, "log_entries", "position", &subject)?;
        Ok(LoggedChange { position, subject, body, vote_seq, rule, reason, excluded_at, withdrawn_at })
    }
}

#[derive(FromRow)]
struct RawCheckpoint {
    size: i64,
    root: String,
    note: String,
    signed_at: i64,
    last_vote_seq: i64,
    exclusion_changes: i64,
}

impl RawCheckpoint {
    fn checkpoint(self) -> Result<LogCheckpoint, StoreError> {
        Ok(LogCheckpoint {
            head: TreeHead {
                size: unsigned(self.size, "log_checkpoint", "size", "1")?,
                root: parse_hash(&self.root, "log_checkpoint", "root", "1")?,
            },
            note: self.note,
            signed_at: Timestamp(self.signed_at),
            last_vote_seq: self.last_vote_seq,
            exclusion_changes: self.exclusion_changes,
        })
    }
}

#[derive(Serialize)]
struct EntryJson<'a> {
    position: u64,
    #[serde(flatten)]
    entry: &'a NewLogEntry,
}

#[derive(Serialize)]
struct NodeJson {
    level: u8,
    position: u64,
    hash: String,
}

#[derive(Serialize)]
struct SaltJson<'a> {
    position: u64,
    salt: &'a str,
}

#[derive(Serialize)]
struct VoterJson<'a> {
    visitor: &'a str,
    tag: &'a str,
}

impl Store {
    /// Reads the latest checkpoint; `None` before the first entry.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn log_checkpoint(&self) -> Result<Option<LogCheckpoint>, StoreError> {
        let _time = store_time("log_checkpoint");
        let row: Option<RawCheckpoint> =
            on_reader!(self, |pool| sqlx::query_as(SELECT_CHECKPOINT).fetch_optional(pool).await)?;
        row.map(RawCheckpoint::checkpoint).transpose()
    }

    /// Appends entries and replaces the checkpoint, in one transaction. Returns `false` and changes nothing if the log is not the one that
    /// the entries extend.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn append_to_log(&self, append: &LogAppend) -> Result<bool, StoreError> {
        let _time = store_time("append_to_log");
        let bulk = self.log_statements();
        let first = append.before.map_or(0, |head| head.size);
        let rows = [
            (bulk.entries, json((first..).zip(&append.entries).map(|(position, entry)| EntryJson { position, entry }))),
            (bulk.nodes, json(append.filled.iter().map(node))),
            (
                bulk.voters,
                json(append.voters.iter().map(|(visitor, tag)| VoterJson { visitor: visitor.as_str(), tag })),
            ),
        ];
        let (after, battles) = (&append.after, json(append.entries.iter().filter_map(texts_of).map(BattleId::as_str)));
        on_writer!(self, |connection| {
            let mut tx = connection.begin().await?;
            let statement = if append.before.is_some() { REPLACE_CHECKPOINT } else { INSERT_CHECKPOINT };
            let mut query = sqlx::query(statement)
                .bind(signed(after.head.size))
                .bind(after.head.root.to_base64())
                .bind(&after.note)
                .bind(after.signed_at.0)
                .bind(after.last_vote_seq)
                .bind(after.exclusion_changes);
            if let Some(before) = append.before {
                query = query.bind(signed(before.size)).bind(before.root.to_base64());
            }
            // Locks the row until the commit, so that another writer waits and then finds another tree.
            let is_next = query.execute(&mut *tx).await?.rows_affected() > 0;
            for (statement, rows) in rows.iter().filter(|(_, rows)| is_next && rows != "[]") {
                sqlx::query(*statement).bind(rows).execute(&mut *tx).await?;
            }
            if is_next {
                let with_texts = sqlx::query_scalar(bulk.texts).bind(&battles).fetch_all(&mut *tx).await?;
                let salts = json(salts(first, &append.entries, &with_texts.into_iter().collect()));
                sqlx::query(bulk.salts).bind(&salts).execute(&mut *tx).await?;
            }
            tx.commit().await.map(|()| is_next)
        })
    }

    /// Replaces the note of the latest checkpoint by one with more signatures. Returns whether the note was still current.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn replace_log_note(&self, before: &str, note: &str) -> Result<bool, StoreError> {
        on_writer!(self, |connection| {
            let done = sqlx::query(REPLACE_NOTE).bind(note).bind(before).execute(connection).await;
            done.map(|done| done.rows_affected() > 0)
        })
    }

    /// Reads the entries at these positions, as far as they exist.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn log_bodies(&self, positions: std::ops::Range<u64>) -> Result<Vec<String>, StoreError> {
        let _time = store_time("log_bodies");
        on_reader!(self, |pool| {
            sqlx::query_scalar(SELECT_BODIES)
                .bind(signed(positions.start))
                .bind(signed(positions.end))
                .fetch_all(pool)
                .await
        })
    }

    /// Reads hashes of tiles of a level above 0.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn log_hashes(&self, level: u8, positions: std::ops::Range<u64>) -> Result<Vec<TreeHash>, StoreError> {
        let _time = store_time("log_hashes");
        let rows: Vec<String> = on_reader!(self, |pool| {
            let query = sqlx::query_scalar(SELECT_NODES).bind(i64::from(level));
            query.bind(signed(positions.start)).bind(signed(positions.end)).fetch_all(pool).await
        })?;
        rows.iter().map(|hash| parse_hash(hash, "log_nodes", "hash", &format!("level {level}"))).collect()
    }

    /// Reads the entry of a vote.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn logged_vote(&self, vote: &str) -> Result<Option<LoggedVote>, StoreError> {
        let _time = store_time("logged_vote");
        let row: Option<(i64, String, Option<String>)> =
            on_reader!(self, |pool| sqlx::query_as(SELECT_VOTE).bind(vote).fetch_optional(pool).await)?;
        let logged = |(position, body, salt)| {
            Ok(LoggedVote { position: unsigned(position, "log_entries", "position", vote)?, body, salt })
        };
        row.map(logged).transpose()
    }

    /// Reads the entries of these votes, as far as they are in the log, by the vote's id.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn logged_votes(&self, votes: &[&str]) -> Result<Vec<(String, LoggedVote)>, StoreError> {
        let _time = store_time("logged_votes");
        let (statement, votes) = (self.log_statements().votes, json(votes.iter()));
        let rows: Vec<(String, i64, String, Option<String>)> =
            on_reader!(self, |pool| sqlx::query_as(AssertSqlSafe(statement)).bind(&votes).fetch_all(pool).await)?;
        let logged = |(vote, position, body, salt): (String, i64, String, Option<String>)| {
            let position = unsigned(position, "log_entries", "position", &vote)?;
            Ok((vote, LoggedVote { position, body, salt }))
        };
        rows.into_iter().map(logged).collect()
    }

    /// Counts the votes in the log.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn logged_vote_count(&self) -> Result<u64, StoreError> {
        let _time = store_time("logged_vote_count");
        let count: i64 = on_reader!(self, |pool| sqlx::query_scalar(COUNT_VOTES).fetch_one(pool).await)?;
        unsigned(count, "log_entries", "COUNT(*)", "")
    }

    /// Reads exclusions and withdrawals in the log after a position, with the rows of the exclusions.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn logged_changes(&self, after: Option<u64>, limit: u32) -> Result<Vec<LoggedChange>, StoreError> {
        let _time = store_time("logged_changes");
        let after = after.map_or(-1, signed);
        let rows: Vec<RawLogChange> = on_reader!(self, |pool| {
            sqlx::query_as(SELECT_CHANGES).bind(after).bind(i64::from(limit)).fetch_all(pool).await
        })?;
        rows.into_iter().map(RawLogChange::change).collect()
    }

    /// Reads the log names of these voters, as far as they have one.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn log_voters(&self, visitors: &[&str]) -> Result<Vec<(String, String)>, StoreError> {
        let _time = store_time("log_voters");
        let (statement, visitors) = (self.log_statements().tags, json(visitors.iter()));
        on_reader!(self, |pool| sqlx::query_as(AssertSqlSafe(statement)).bind(&visitors).fetch_all(pool).await)
    }

    fn log_statements(&self) -> BulkInserts {
        match self.database {
            Database::Sqlite(_) => ON_SQLITE,
            Database::Postgres(_) => ON_POSTGRES,
        }
    }
}

fn json(rows: impl Iterator<Item = impl Serialize>) -> String {
    serde_json::to_string(&rows.collect::<Vec<_>>()).expect("rows are plain texts and numbers")
}

fn node(filled: &TileHash) -> NodeJson {
    NodeJson { level: filled.level, position: filled.position, hash: filled.hash.to_base64() }
}

fn texts_of(entry: &NewLogEntry) -> Option<&BattleId> {
    entry.salt.as_ref()?.texts_of.as_ref()
}

/// Returns the salts of entries whose committed texts still exist.
fn salts<'e>(
    first: u64,
    entries: &'e [NewLogEntry],
    with_texts: &HashSet<String>,
) -> impl Iterator<Item = SaltJson<'e>> {
    (first..).zip(entries).filter_map(|(position, entry)| {
        let is_kept = texts_of(entry).is_none_or(|battle| with_texts.contains(battle.as_str()));
        entry.salt.as_ref().filter(|_| is_kept).map(|salt| SaltJson { position, salt: &salt.digits })
    })
}

fn parse_hash(text: &str, table: &'static str, column: &'static str, row: &str) -> Result<TreeHash, StoreError> {
    TreeHash::from_base64(text).ok_or_else(|| StoreError::Inconsistent {
        table,
        column,
        row: row.to_owned(),
        value: text.to_owned(),
    })
}
