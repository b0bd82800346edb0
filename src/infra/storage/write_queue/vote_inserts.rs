//! Inserts a group of votes. Each database accepts many rows at once in a different form: SQLite as a list of values, PostgreSQL as one
//! array per column. A vote ends its battle: on SQLite by a second statement, on PostgreSQL by a trigger, which runs once for all of them.
//!
//! A rule that excludes a vote when it is cast adds a row to `vote_exclusions` in the same transaction. Groups without such a vote, nearly
//! all, use the same statements as if there were no rules.

use std::sync::LazyLock;

use sqlx::Row;
use sqlx::postgres::{PgArguments, PgConnection, Postgres};
use sqlx::query::Query;
use sqlx::sqlite::SqliteConnection;

use crate::domain::battle::RunId;
use crate::storage::rows::vote_rows::{NewVoteRow, VoteExclusion};
use crate::storage::signed;
use crate::storage::write_queue::battle_writes::SqliteQuery;

type PostgresQuery<'b> = Query<'b, Postgres, PgArguments>;

/// Maximum number of votes in one statement for SQLite.
const MAX_VOTES_PER_STATEMENT: usize = 256;
/// Lengths of the statements for SQLite, so that each is prepared once; unused places hold no vote.
const STATEMENT_LENGTHS: [usize; 9] = [1, 4, 16, 32, 64, 96, 128, 192, MAX_VOTES_PER_STATEMENT];

const COLUMNS: [&str; 15] = [
    "id",
    "battle",
    "turn",
    "run",
    "outcome",
    "satisfaction",
    "reasons_a",
    "reasons_b",
    "first_token_ms_a",
    "first_token_ms_b",
    "duration_ms_a",
    "duration_ms_b",
    "text_counts",
    "receipt",
    "created_at",
];
/// Columns of the vote come from its row of `new_votes`, and the rest from its battle.
const INSERT: &str = "INSERT INTO votes (id, battle_id, visitor, model_a, model_b, outcome, turn, anonymous, language, \
     category, intent, satisfaction, reasons_a, reasons_b, pairing_policy, policy_version, pair_probability, \
     first_token_ms_a, first_token_ms_b, duration_ms_a, duration_ms_b, text_counts, receipt, created_at) \
     SELECT new_votes.id, battles.id, visitor, model_a, model_b, new_votes.outcome, battles.turn, \
     battles.mode = 'anonymous', language, \
     category, intent, new_votes.satisfaction, new_votes.reasons_a, new_votes.reasons_b, pairing_policy, policy_version, \
     pair_probability, new_votes.first_token_ms_a, new_votes.first_token_ms_b, new_votes.duration_ms_a, new_votes.duration_ms_b, \
     new_votes.text_counts, new_votes.receipt, new_votes.created_at";
/// A further turn may have begun since the voter looked, or another run may have answered the same one again: then no row matches. Of two
/// votes on a battle the first stays.
const JOIN: &str = "ON battles.id = new_votes.battle WHERE battles.stage = 'ready' AND battles.turn = new_votes.turn \
     AND battles.answered_by IS NOT DISTINCT FROM new_votes.run";
const KEEP_FIRST: &str = "ON CONFLICT (battle_id) DO NOTHING";

/// Inserts the exclusions of a vote. Their id combines the vote's and the rule's, so that a repeated statement adds nothing.
const EXCLUDE_ON_SQLITE: &str = "INSERT INTO vote_exclusions \
     (id, vote_seq, rule, reason, excluded_by, excluded_at, with_vote) \
     SELECT id || ' ' || ?3, seq, ?3, ?4, 'langya', created_at, TRUE FROM votes WHERE battle_id = ?1 AND id = ?2 \
     ON CONFLICT DO NOTHING";

static SQLITE: LazyLock<[String; STATEMENT_LENGTHS.len()]> = LazyLock::new(|| STATEMENT_LENGTHS.map(for_sqlite));
static POSTGRES: LazyLock<String> = LazyLock::new(for_postgres);
static POSTGRES_EXCLUDING: LazyLock<String> = LazyLock::new(for_postgres_excluding);

/// Vote to insert.
#[derive(Debug)]
pub(in crate::storage) struct VoteInsert {
    vote: NewVoteRow,
    text_counts: String,
}

impl From<NewVoteRow> for VoteInsert {
    fn from(vote: NewVoteRow) -> Self {
        Self { text_counts: serde_json::to_string(&vote.text_counts).expect("counts are plain numbers"), vote }
    }
}

/// Connection that inserts a group of votes in as few round trips as its database allows.
pub(in crate::storage) trait InsertVotes {
    /// Inserts each vote whose battle is ready with the replies that the voter saw and has no vote, and ends those battles. Returns the
    /// number of inserted votes.
    async fn take(&mut self, inserts: &[VoteInsert]) -> sqlx::Result<u64>;
}

impl InsertVotes for SqliteConnection {
    async fn take(&mut self, inserts: &[VoteInsert]) -> sqlx::Result<u64> {
        let mut taken = 0;
        for inserts in inserts.chunks(MAX_VOTES_PER_STATEMENT) {
            let at = STATEMENT_LENGTHS
                .iter()
                .position(|length| *length >= inserts.len())
                .unwrap_or(STATEMENT_LENGTHS.len() - 1);
            let filled = inserts.iter().fold(sqlx::query(SQLITE[at].as_str()), bind_vote);
            let left_over = (STATEMENT_LENGTHS[at] - inserts.len()) * COLUMNS.len();
            let filled = (0..left_over).fold(filled, |query, _| query.bind(None::<i64>));
            // Each vote, and its battle.
            taken += filled.execute(&mut *self).await?.rows_affected() / 2;
        }
        for (vote, exclusion) in exclusions(inserts) {
            let query = sqlx::query(EXCLUDE_ON_SQLITE).bind(vote.battle.as_str()).bind(&vote.id);
            query.bind(exclusion.rule.name()).bind(&exclusion.reason).execute(&mut *self).await?;
        }
        Ok(taken)
    }
}

/// Returns the exclusions of a group, each with its vote.
fn exclusions(inserts: &[VoteInsert]) -> impl Iterator<Item = (&NewVoteRow, &VoteExclusion)> {
    inserts.iter().flat_map(|insert| insert.vote.exclusions.iter().map(|exclusion| (&insert.vote, exclusion)))
}

fn bind_vote<'b>(query: SqliteQuery<'b>, VoteInsert { vote, text_counts }: &'b VoteInsert) -> SqliteQuery<'b> {
    query
        .bind(&vote.id)
        .bind(vote.battle.as_str())
        .bind(i64::from(vote.turn))
        .bind(vote.answered_by.as_ref().map(RunId::as_str))
        .bind(vote.outcome.as_str())
        .bind(vote.satisfaction)
        .bind(vote.reasons[0].stored())
        .bind(vote.reasons[1].stored())
        .bind(vote.first_token_ms[0].map(signed))
        .bind(vote.first_token_ms[1].map(signed))
        .bind(signed(vote.duration_ms[0]))
        .bind(signed(vote.duration_ms[1]))
        .bind(text_counts)
        .bind(&vote.receipt)
        .bind(vote.created_at.0)
}

impl InsertVotes for PgConnection {
    async fn take(&mut self, inserts: &[VoteInsert]) -> sqlx::Result<u64> {
        if exclusions(inserts).next().is_none() {
            return Ok(bind_columns(sqlx::query(POSTGRES.as_str()), inserts).execute(self).await?.rows_affected());
        }
        let (mut votes, mut rules, mut reasons) = (Vec::new(), Vec::new(), Vec::new());
        for (vote, exclusion) in exclusions(inserts) {
            votes.push(vote.id.as_str());
            rules.push(exclusion.rule.name());
            reasons.push(exclusion.reason.as_str());
        }
        let filled = bind_columns(sqlx::query(POSTGRES_EXCLUDING.as_str()), inserts);
        let stored: i64 = filled.bind(votes).bind(rules).bind(reasons).fetch_one(self).await?.try_get(0)?;
        Ok(u64::try_from(stored).unwrap_or(0))
    }
}

fn bind_columns<'b>(query: PostgresQuery<'b>, inserts: &'b [VoteInsert]) -> PostgresQuery<'b> {
    fn column<'b, T>(inserts: &'b [VoteInsert], value: impl Fn(&'b VoteInsert) -> T) -> Vec<T> {
        inserts.iter().map(value).collect()
    }
    query
        .bind(column(inserts, |insert| insert.vote.id.as_str()))
        .bind(column(inserts, |insert| insert.vote.battle.as_str()))
        .bind(column(inserts, |insert| i64::from(insert.vote.turn)))
        .bind(column(inserts, |insert| insert.vote.answered_by.as_ref().map(RunId::as_str)))
        .bind(column(inserts, |insert| insert.vote.outcome.as_str()))
        .bind(column(inserts, |insert| insert.vote.satisfaction))
        .bind(column(inserts, |insert| insert.vote.reasons[0].stored()))
        .bind(column(inserts, |insert| insert.vote.reasons[1].stored()))
        .bind(column(inserts, |insert| insert.vote.first_token_ms[0].map(signed)))
        .bind(column(inserts, |insert| insert.vote.first_token_ms[1].map(signed)))
        .bind(column(inserts, |insert| signed(insert.vote.duration_ms[0])))
        .bind(column(inserts, |insert| signed(insert.vote.duration_ms[1])))
        .bind(column(inserts, |insert| insert.text_counts.as_str()))
        .bind(column(inserts, |insert| insert.vote.receipt.as_str()))
        .bind(column(inserts, |insert| insert.vote.created_at.0))
}

/// Builds the SQLite statement. `CROSS JOIN` makes SQLite iterate over the votes and look each battle up, whatever its estimate of their
/// number. The placeholders have no names: the driver asks for the name of each, and SQLite would search all of them each time.
///
/// A refused vote may use up a number all the same, so the accepted ones are anywhere among the last `inserts` numbers. The other votes
/// there have ended their battles already.
fn for_sqlite(inserts: usize) -> String {
    let row = format!("({})", ["?"; COLUMNS.len()].join(", "));
    let rows = vec![row; inserts].join(", ");
    let columns = COLUMNS.join(", ");
    format!(
        "WITH new_votes ({columns}) AS (VALUES {rows}) {INSERT} FROM new_votes CROSS JOIN battles {JOIN} {KEEP_FIRST}; \
         UPDATE battles SET stage = 'voted', \
         updated_at = (SELECT created_at FROM votes WHERE seq = last_insert_rowid()) \
         WHERE changes() > 0 AND stage = 'ready' \
         AND id IN (SELECT battle_id FROM votes WHERE seq > last_insert_rowid() - {inserts})"
    )
}

/// Builds the PostgreSQL statement. There are other writers, so the battles are locked until the commit; a trigger serialises groups of
/// votes before they draw their numbers.
fn for_postgres() -> String {
    let (places, columns) = (places(), COLUMNS.join(", "));
    format!(
        "{INSERT} FROM UNNEST({places}) AS new_votes ({columns}) JOIN battles {JOIN} FOR UPDATE OF battles {KEEP_FIRST}"
    )
}

/// Builds the PostgreSQL statement for votes with exclusions, so that they need no transaction of several round trips. It excludes only
/// votes that it inserts, so that a repeated group adds nothing. Returns the number of votes.
fn for_postgres_excluding() -> String {
    let votes = &*POSTGRES;
    let [vote, rule, reason] = [1, 2, 3].map(|place| COLUMNS.len() + place);
    format!(
        "WITH stored AS ({votes} RETURNING seq, id, created_at), excluded AS (INSERT INTO vote_exclusions \
         (id, vote_seq, rule, reason, excluded_by, excluded_at, with_vote) \
         SELECT stored.id || ' ' || rules.rule, stored.seq, rules.rule, rules.reason, 'langya', stored.created_at, TRUE \
         FROM UNNEST(${vote}, ${rule}, ${reason}) AS rules (vote, rule, reason) JOIN stored ON stored.id = rules.vote \
         ON CONFLICT DO NOTHING) SELECT COUNT(*) FROM stored"
    )
}

/// Returns the placeholders of one vote's columns.
fn places() -> String {
    (1..=COLUMNS.len()).map(|column| format!("${column}")).collect::<Vec<_>>().join(", ")
}
