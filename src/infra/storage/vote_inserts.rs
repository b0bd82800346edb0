//! A group of votes on its way into the database. Each database takes many rows at once in a way of its own: SQLite as a list
//! of values, PostgreSQL as one array a column. A vote ends its battle: on SQLite by a second statement, on PostgreSQL by a
//! trigger, which there runs once for all.
//!
//! A rule that excludes a vote when it is cast adds a row to `vote_exclusions` in the same transaction. Groups without such
//! a vote, nearly all, send the same statements as if there were no rules.

use std::sync::LazyLock;

use sqlx::Row;
use sqlx::postgres::{PgArguments, PgConnection, Postgres};
use sqlx::query::Query;
use sqlx::sqlite::SqliteConnection;

use super::battle_writes::SqliteQuery;
use super::signed;
use crate::storage::vote_rows::{NewVoteRow, VoteExclusion};

type PostgresQuery<'b> = Query<'b, Postgres, PgArguments>;

/// Votes in one statement for SQLite at the most.
const LONGEST: usize = 256;
/// SQLite gets statements of these lengths, so that each is prepared once; places that are left over hold no ballot.
const LENGTHS: [usize; 9] = [1, 4, 16, 32, 64, 96, 128, 192, LONGEST];

const COLUMNS: [&str; 14] = [
    "id",
    "battle",
    "turn",
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
/// What a vote says stands in its ballot, and the rest of its row in its battle.
const INSERT: &str = "INSERT INTO votes (id, battle_id, visitor, model_a, model_b, outcome, turn, anonymous, language, \
     category, intent, satisfaction, reasons_a, reasons_b, pairing_policy, policy_version, pair_probability, \
     first_token_ms_a, first_token_ms_b, duration_ms_a, duration_ms_b, text_counts, receipt, created_at) \
     SELECT ballots.id, battles.id, visitor, model_a, model_b, ballots.outcome, battles.turn, \
     battles.mode = 'anonymous', language, \
     category, intent, ballots.satisfaction, ballots.reasons_a, ballots.reasons_b, pairing_policy, policy_version, \
     pair_probability, ballots.first_token_ms_a, ballots.first_token_ms_b, ballots.duration_ms_a, ballots.duration_ms_b, \
     ballots.text_counts, ballots.receipt, ballots.created_at";
/// A further turn may have begun since the voter looked: then no row comes. Of two votes on a battle the first stays.
const JOIN: &str = "ON battles.id = ballots.battle WHERE battles.stage = 'ready' AND battles.turn = ballots.turn";
const KEEP_FIRST: &str = "ON CONFLICT (battle_id) DO NOTHING";

/// What excludes a vote when it is cast. The id is made of the vote's and the rule's, so that a statement which is sent
/// again adds nothing.
const EXCLUDE_ON_SQLITE: &str = "INSERT INTO vote_exclusions \
     (id, vote_seq, rule, reason, excluded_by, excluded_at, with_vote) \
     SELECT id || ' ' || ?3, seq, ?3, ?4, 'langya', created_at, TRUE FROM votes WHERE battle_id = ?1 AND id = ?2 \
     ON CONFLICT DO NOTHING";

static SQLITE: LazyLock<[String; LENGTHS.len()]> = LazyLock::new(|| LENGTHS.map(for_sqlite));
static POSTGRES: LazyLock<String> = LazyLock::new(for_postgres);
static POSTGRES_EXCLUDING: LazyLock<String> = LazyLock::new(for_postgres_excluding);

/// A vote on its way into the database.
#[derive(Debug)]
pub(super) struct VoteInsert {
    vote: NewVoteRow,
    text_counts: String,
}

impl From<NewVoteRow> for VoteInsert {
    fn from(vote: NewVoteRow) -> Self {
        Self { text_counts: serde_json::to_string(&vote.text_counts).expect("counts are plain numbers"), vote }
    }
}

/// A connection that takes a group of ballots in as few trips as its database allows.
pub(super) trait TakeBallots {
    /// Inserts each ballot whose battle is ready in the turn that the voter saw and has no vote, and ends those battles.
    /// Returns how many it took.
    async fn take(&mut self, ballots: &[VoteInsert]) -> sqlx::Result<u64>;
}

impl TakeBallots for SqliteConnection {
    async fn take(&mut self, ballots: &[VoteInsert]) -> sqlx::Result<u64> {
        let mut taken = 0;
        for ballots in ballots.chunks(LONGEST) {
            let at = LENGTHS.iter().position(|length| *length >= ballots.len()).unwrap_or(LENGTHS.len() - 1);
            let filled = ballots.iter().fold(sqlx::query(SQLITE[at].as_str()), bind_ballot);
            let left_over = (LENGTHS[at] - ballots.len()) * COLUMNS.len();
            let filled = (0..left_over).fold(filled, |query, _| query.bind(None::<i64>));
            // Each vote, and its battle.
            taken += filled.execute(&mut *self).await?.rows_affected() / 2;
        }
        for (vote, exclusion) in exclusions(ballots) {
            let query = sqlx::query(EXCLUDE_ON_SQLITE).bind(vote.battle.as_str()).bind(&vote.id);
            query.bind(exclusion.rule.name()).bind(&exclusion.reason).execute(&mut *self).await?;
        }
        Ok(taken)
    }
}

/// The exclusions of a group, each with its vote.
fn exclusions(ballots: &[VoteInsert]) -> impl Iterator<Item = (&NewVoteRow, &VoteExclusion)> {
    ballots.iter().flat_map(|ballot| ballot.vote.exclusions.iter().map(|exclusion| (&ballot.vote, exclusion)))
}

fn bind_ballot<'b>(query: SqliteQuery<'b>, VoteInsert { vote, text_counts }: &'b VoteInsert) -> SqliteQuery<'b> {
    query
        .bind(&vote.id)
        .bind(vote.battle.as_str())
        .bind(i64::from(vote.turn))
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

impl TakeBallots for PgConnection {
    async fn take(&mut self, ballots: &[VoteInsert]) -> sqlx::Result<u64> {
        if exclusions(ballots).next().is_none() {
            return Ok(bind_columns(sqlx::query(POSTGRES.as_str()), ballots).execute(self).await?.rows_affected());
        }
        let (mut votes, mut rules, mut reasons) = (Vec::new(), Vec::new(), Vec::new());
        for (vote, exclusion) in exclusions(ballots) {
            votes.push(vote.id.as_str());
            rules.push(exclusion.rule.name());
            reasons.push(exclusion.reason.as_str());
        }
        let filled = bind_columns(sqlx::query(POSTGRES_EXCLUDING.as_str()), ballots);
        let stored: i64 = filled.bind(votes).bind(rules).bind(reasons).fetch_one(self).await?.try_get(0)?;
        Ok(u64::try_from(stored).unwrap_or(0))
    }
}

fn bind_columns<'b>(query: PostgresQuery<'b>, ballots: &'b [VoteInsert]) -> PostgresQuery<'b> {
    fn column<'b, T>(ballots: &'b [VoteInsert], value: impl Fn(&'b VoteInsert) -> T) -> Vec<T> {
        ballots.iter().map(value).collect()
    }
    query
        .bind(column(ballots, |ballot| ballot.vote.id.as_str()))
        .bind(column(ballots, |ballot| ballot.vote.battle.as_str()))
        .bind(column(ballots, |ballot| i64::from(ballot.vote.turn)))
        .bind(column(ballots, |ballot| ballot.vote.outcome.as_str()))
        .bind(column(ballots, |ballot| ballot.vote.satisfaction))
        .bind(column(ballots, |ballot| ballot.vote.reasons[0].stored()))
        .bind(column(ballots, |ballot| ballot.vote.reasons[1].stored()))
        .bind(column(ballots, |ballot| ballot.vote.first_token_ms[0].map(signed)))
        .bind(column(ballots, |ballot| ballot.vote.first_token_ms[1].map(signed)))
        .bind(column(ballots, |ballot| signed(ballot.vote.duration_ms[0])))
        .bind(column(ballots, |ballot| signed(ballot.vote.duration_ms[1])))
        .bind(column(ballots, |ballot| ballot.text_counts.as_str()))
        .bind(column(ballots, |ballot| ballot.vote.receipt.as_str()))
        .bind(column(ballots, |ballot| ballot.vote.created_at.0))
}

/// `CROSS JOIN` has SQLite go through the ballots and look each battle up, whatever it thinks of their number. The places
/// have no names: the driver asks for the name of each, and SQLite would look through all of them each time.
///
/// A ballot that is not taken may draw a number all the same, so the numbers of those that are lie anywhere in the last
/// `ballots`. The other votes there have ended their battles already.
fn for_sqlite(ballots: usize) -> String {
    let row = format!("({})", ["?"; COLUMNS.len()].join(", "));
    let rows = vec![row; ballots].join(", ");
    let columns = COLUMNS.join(", ");
    format!(
        "WITH ballots ({columns}) AS (VALUES {rows}) {INSERT} FROM ballots CROSS JOIN battles {JOIN} {KEEP_FIRST}; \
         UPDATE battles SET stage = 'voted', \
         updated_at = (SELECT created_at FROM votes WHERE seq = last_insert_rowid()) \
         WHERE changes() > 0 AND stage = 'ready' \
         AND id IN (SELECT battle_id FROM votes WHERE seq > last_insert_rowid() - {ballots})"
    )
}

/// There are other writers here, so the battles are locked until the commit; a trigger has groups of votes wait for each
/// other before they draw their numbers.
fn for_postgres() -> String {
    let (places, columns) = (places(), COLUMNS.join(", "));
    format!(
        "{INSERT} FROM UNNEST({places}) AS ballots ({columns}) JOIN battles {JOIN} FOR UPDATE OF battles {KEEP_FIRST}"
    )
}

/// Votes and their exclusions in one statement, so that they need no transaction of more trips. Only votes that this
/// statement stores are excluded by it, so that a group which is sent again adds nothing. Returns the number of votes.
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

/// The places of one ballot's columns.
fn places() -> String {
    (1..=COLUMNS.len()).map(|column| format!("${column}")).collect::<Vec<_>>().join(", ")
}
