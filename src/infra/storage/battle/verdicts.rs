//! Verdicts of judge models on battles that people had voted on, and on the answers of campaigns: insert-only, with the judge's reply
//! verbatim. One game may have several failures, but only one readable verdict.

use crate::storage::vote::exclusions::IS_RATED;
use sqlx_macros::FromRow;
use std::sync::LazyLock;

use crate::domain::battle::{BattleId, Outcome};
use crate::domain::battle_judging::pending::SettledGame;
use crate::domain::battle_judging::subject::JudgedSubject;
use crate::domain::battle_judging::verdicts::JudgedVote;
use crate::domain::benchmark::item::ItemSampling;
use crate::domain::benchmark::scores::judgement::{Game, JudgeTokens, Status};
use crate::domain::judging::verdict::{Preference, Verdict};
use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::{Store, StoreError, on_reader, on_writer, signed, unsigned};
use sqlx::Connection;

const INSERT: &str = "INSERT INTO battle_verdicts (id, judge, game, prompt_sha256, params, raw_text, earlier, \
     parsed, status, attempts, latency_ms, input_tokens, output_tokens, created_at, battle_id) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) ON CONFLICT DO NOTHING";
const INSERT_OF_UNIT: &str = "INSERT INTO campaign_verdicts (id, judge, game, prompt_sha256, params, raw_text, earlier, \
     parsed, status, attempts, latency_ms, input_tokens, output_tokens, created_at, campaign, unit) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) ON CONFLICT DO NOTHING";
const SELECT_OF_BATTLE: &str = "SELECT id, battle_id, judge, game, prompt_sha256, params, raw_text, earlier, parsed, status, \
     attempts, latency_ms, input_tokens, output_tokens, created_at \
     FROM battle_verdicts WHERE battle_id = $1 ORDER BY created_at, id";
/// Leaves out transport failures, so that they are retried.
const SELECT_SETTLED: &str = "SELECT DISTINCT battle_id, judge, game FROM battle_verdicts \
     WHERE prompt_sha256 = $1 AND created_at >= $2 AND status <> 'transport_failed'";
/// Also leaves out refusals and unreadable replies, so that they can be retried.
const SELECT_READ: &str = "SELECT DISTINCT battle_id, judge, game FROM battle_verdicts \
     WHERE prompt_sha256 = $1 AND created_at >= $2 AND status IN ('ok', 'empty_answer')";
static SELECT_JUDGED: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT votes.seq, votes.model_a, votes.model_b, votes.outcome, votes.turn, votes.language, votes.category, \
         votes.intent, said.judge, said.prompt_sha256, said.game, said.status, said.parsed, said.created_at, said.id \
         FROM battle_verdicts AS said JOIN votes ON votes.battle_id = said.battle_id \
         WHERE {IS_RATED} AND ($1 = '' OR said.judge = $1) \
         ORDER BY votes.seq, said.judge, said.prompt_sha256, said.game, said.created_at, said.id"
    )
});
const COUNT: &str = "SELECT COUNT(*) FROM battle_verdicts";
const COUNT_UP_TO_ONE: &str = "SELECT COUNT(*) FROM (SELECT id FROM battle_verdicts LIMIT 1) AS one";
const SUM_SPENT: &str = "SELECT judge, CAST(SUM(attempts) AS BIGINT), CAST(SUM(input_tokens) AS BIGINT), \
     CAST(SUM(output_tokens) AS BIGINT) FROM battle_verdicts WHERE created_at >= $1 GROUP BY judge ORDER BY judge";
const TABLE: &str = "battle_verdicts";

/// A judge's verdict on a battle or a unit, in one order of its sides.
#[derive(Debug, Clone, PartialEq)]
pub struct VerdictRow {
    /// Id of the verdict.
    pub id: String,
    /// The judged battle or unit.
    pub subject: JudgedSubject,
    /// Id of the judge.
    pub judge: String,
    /// Order of the sides: in the first game that of the visitor, or of the models' names; in the second the reverse.
    pub game: Game,
    /// SHA-256 of the judge's prompt template.
    pub prompt_sha256: String,
    /// Sampling parameters of the judge.
    pub params: ItemSampling,
    /// Last reply of the judge, verbatim; empty if there was none.
    pub raw_text: String,
    /// Earlier replies, which could not be parsed.
    pub earlier: Vec<String>,
    /// Parsed preference in the order shown to the judge; `None` unless the status is ok.
    pub parsed: Option<Preference>,
    /// Status of the query.
    pub status: Status,
    /// Number of requests to the judge.
    pub attempts: u32,
    /// Milliseconds from the first request to the end of the last reply.
    pub latency_ms: u64,
    /// Tokens of all replies, estimated if the provider reports none.
    pub tokens: JudgeTokens,
    /// End of the query.
    pub created_at: Timestamp,
}

/// Requests to a judge and their tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeSpending {
    /// Id of the judge.
    pub judge: String,
    /// Number of requests.
    pub calls: u64,
    /// Tokens of the requests.
    pub tokens: JudgeTokens,
}

macro_rules! insert_verdict {
    ($row:expr) => {{
        let query = match &$row.subject {
            JudgedSubject::Battle(_) => sqlx::query(INSERT),
            JudgedSubject::Unit { .. } => sqlx::query(INSERT_OF_UNIT),
        };
        let query = query
            .bind(&$row.id)
            .bind(&$row.judge)
            .bind(i64::from(u8::from($row.game)))
            .bind(&$row.prompt_sha256)
            .bind(json(&$row.params))
            .bind(&$row.raw_text)
            .bind(json(&$row.earlier))
            .bind(json(&$row.parsed.map(|winner| Verdict::Pair { winner, margin: None })))
            .bind($row.status.as_str())
            .bind(i64::from($row.attempts))
            .bind(signed($row.latency_ms))
            .bind(signed($row.tokens.prompt))
            .bind(signed($row.tokens.reply))
            .bind($row.created_at.0);
        match &$row.subject {
            JudgedSubject::Battle(battle) => query.bind(battle.as_str()),
            JudgedSubject::Unit { campaign, unit } => query.bind(campaign.as_str()).bind(i64::from(*unit)),
        }
    }};
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("plain numbers and texts")
}

impl Store {
    /// Inserts verdicts, except for duplicates; all of them in one commit.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn insert_verdicts(&self, rows: &[VerdictRow]) -> Result<(), StoreError> {
        let _time = store_time("insert_verdicts");
        on_writer!(self, |connection| {
            let mut tx = connection.begin().await?;
            for row in rows {
                insert_verdict!(row).execute(&mut *tx).await?;
            }
            tx.commit().await
        })
    }

    /// Reads all verdicts on a battle in order of arrival.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn verdicts_of(&self, battle: &BattleId) -> Result<Vec<VerdictRow>, StoreError> {
        let _time = store_time("verdicts_of");
        let rows: Vec<RawBattleVerdict> =
            on_reader!(self, |pool| sqlx::query_as(SELECT_OF_BATTLE).bind(battle.as_str()).fetch_all(pool).await)?;
        rows.into_iter().map(VerdictRow::try_from).collect()
    }

    /// Reads the games settled with this prompt template since a time, by any judge.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn settled_games(&self, prompt_sha256: &str, since: Timestamp) -> Result<Vec<SettledGame>, StoreError> {
        self.games(SELECT_SETTLED, prompt_sha256, since).await
    }

    /// Reads the settled games without refusals and unreadable replies: those with a verdict, or with nothing to judge.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn read_games(&self, prompt_sha256: &str, since: Timestamp) -> Result<Vec<SettledGame>, StoreError> {
        self.games(SELECT_READ, prompt_sha256, since).await
    }

    async fn games(
        &self,
        select: &'static str,
        prompt_sha256: &str,
        since: Timestamp,
    ) -> Result<Vec<SettledGame>, StoreError> {
        let _time = store_time("settled_games");
        let rows: Vec<(String, String, i64)> = on_reader!(self, |pool| {
            sqlx::query_as(select).bind(prompt_sha256).bind(since.0).fetch_all(pool).await
        })?;
        let settled = |(battle, judge, number): (String, String, i64)| {
            let game = game(number).ok_or_else(|| inconsistent("game", &battle, number))?;
            Ok(SettledGame { subject: JudgedSubject::Battle(BattleId::new(battle)), judge, game })
        };
        rows.into_iter().map(settled).collect()
    }

    /// Reads every verdict of a judge, or of all if it is empty, with the rated vote on the same battle, in the order of the votes; the
    /// latest verdict on a game comes last.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn judged_votes(&self, judge: &str) -> Result<Vec<JudgedVote>, StoreError> {
        let _time = store_time("judged_votes");
        let rows: Vec<RawJudgedVote> =
            on_reader!(self, |pool| sqlx::query_as(SELECT_JUDGED.as_str()).bind(judge).fetch_all(pool).await)?;
        rows.into_iter().map(JudgedVote::try_from).collect()
    }

    /// Counts all verdicts. They are never removed, so the count detects new ones.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn verdict_count(&self) -> Result<u64, StoreError> {
        let _time = store_time("verdict_count");
        let count: i64 = on_reader!(self, |pool| sqlx::query_scalar(COUNT).fetch_one(pool).await)?;
        unsigned(count, TABLE, "COUNT(*)", "")
    }

    /// Whether any judge was queried about a battle.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn has_verdicts(&self) -> Result<bool, StoreError> {
        let _time = store_time("has_verdicts");
        let count: i64 = on_reader!(self, |pool| sqlx::query_scalar(COUNT_UP_TO_ONE).fetch_one(pool).await)?;
        Ok(count > 0)
    }

    /// Sums the requests and tokens of each judge since a time, by any process.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn verdict_spending(&self, since: Timestamp) -> Result<Vec<JudgeSpending>, StoreError> {
        let _time = store_time("verdict_spending");
        let rows: Vec<(String, i64, i64, i64)> =
            on_reader!(self, |pool| sqlx::query_as(SUM_SPENT).bind(since.0).fetch_all(pool).await)?;
        let spent = |(judge, calls, prompt, reply): (String, i64, i64, i64)| {
            let number = |value, column| unsigned(value, TABLE, column, &judge);
            let tokens =
                JudgeTokens { prompt: number(prompt, "input_tokens")?, reply: number(reply, "output_tokens")? };
            Ok(JudgeSpending { calls: number(calls, "attempts")?, tokens, judge })
        };
        rows.into_iter().map(spent).collect()
    }
}

#[derive(FromRow)]
struct RawBattleVerdict {
    id: String,
    battle_id: String,
    judge: String,
    game: i64,
    prompt_sha256: String,
    params: String,
    raw_text: String,
    earlier: String,
    parsed: String,
    status: String,
    attempts: i64,
    latency_ms: i64,
    input_tokens: i64,
    output_tokens: i64,
    created_at: i64,
}

impl TryFrom<RawBattleVerdict> for VerdictRow {
    type Error = StoreError;

    fn try_from(raw: RawBattleVerdict) -> Result<Self, StoreError> {
        let row = raw.id.clone();
        let broken = |column, value: &str| inconsistent(column, &row, value);
        let number = |value, column| unsigned(value, TABLE, column, &row);
        let tokens = JudgeTokens {
            prompt: number(raw.input_tokens, "input_tokens")?,
            reply: number(raw.output_tokens, "output_tokens")?,
        };
        Ok(Self {
            game: game(raw.game).ok_or_else(|| inconsistent("game", &row, raw.game))?,
            params: serde_json::from_str(&raw.params).map_err(|_| broken("params", &raw.params))?,
            earlier: serde_json::from_str(&raw.earlier).map_err(|_| broken("earlier", &raw.earlier))?,
            parsed: winner(&raw.parsed).ok_or_else(|| broken("parsed", &raw.parsed))?,
            status: raw.status.parse().map_err(|_| broken("status", &raw.status))?,
            attempts: u32::try_from(raw.attempts).map_err(|_| inconsistent("attempts", &row, raw.attempts))?,
            latency_ms: number(raw.latency_ms, "latency_ms")?,
            tokens,
            created_at: Timestamp(raw.created_at),
            id: raw.id,
            subject: JudgedSubject::Battle(BattleId::new(raw.battle_id)),
            judge: raw.judge,
            prompt_sha256: raw.prompt_sha256,
            raw_text: raw.raw_text,
        })
    }
}

#[derive(FromRow)]
struct RawJudgedVote {
    seq: i64,
    model_a: String,
    model_b: String,
    outcome: String,
    turn: i64,
    language: String,
    category: Option<String>,
    intent: Option<String>,
    judge: String,
    prompt_sha256: String,
    game: i64,
    status: String,
    parsed: String,
    created_at: i64,
    id: String,
}

impl TryFrom<RawJudgedVote> for JudgedVote {
    type Error = StoreError;

    fn try_from(raw: RawJudgedVote) -> Result<Self, StoreError> {
        let broken = |column, value: &str| inconsistent(column, &raw.id, value);
        Ok(Self {
            outcome: Outcome::parse(&raw.outcome).map_err(|_| broken("outcome", &raw.outcome))?,
            turns: unsigned(raw.turn, "votes", "turn", &raw.id)?,
            game: game(raw.game).ok_or_else(|| inconsistent("game", &raw.id, raw.game))?,
            status: raw.status.parse().map_err(|_| broken("status", &raw.status))?,
            parsed: winner(&raw.parsed).ok_or_else(|| broken("parsed", &raw.parsed))?,
            seq: raw.seq,
            models: [raw.model_a, raw.model_b],
            language: raw.language,
            category: raw.category,
            intent: raw.intent,
            judge: raw.judge,
            prompt_sha256: raw.prompt_sha256,
            created_at: Timestamp(raw.created_at),
        })
    }
}

pub(in crate::storage) fn game(number: i64) -> Option<Game> {
    Game::try_from(u8::try_from(number).ok()?).ok()
}

/// Parses a winner; the outer `None` means that no verdict has this text.
pub(in crate::storage) fn winner(text: &str) -> Option<Option<Preference>> {
    match serde_json::from_str::<Option<Verdict>>(text).ok()? {
        None => Some(None),
        Some(Verdict::Pair { winner, .. }) => Some(Some(winner)),
        Some(_) => None,
    }
}

fn inconsistent(column: &'static str, row: &str, value: impl ToString) -> StoreError {
    StoreError::Inconsistent { table: TABLE, column, row: row.to_owned(), value: value.to_string() }
}
