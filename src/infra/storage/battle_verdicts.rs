//! What judge models said of battles that people had voted on, and of the answers of campaigns: insert-only, with the judge's own words. Of failures there
//! may be several for one game; of readable verdicts there is one.

use super::vote_exclusions::IS_RATED;
use sqlx_macros::FromRow;
use std::sync::LazyLock;

use super::{Store, StoreError, on_reader, on_writer, signed, unsigned};
use crate::domain::battle::{BattleId, Outcome};
use crate::domain::battle_judging::pending::SettledGame;
use crate::domain::battle_judging::subject::JudgedSubject;
use crate::domain::battle_judging::verdicts::JudgedVote;
use crate::domain::benchmark::item::ItemSampling;
use crate::domain::benchmark::judgement::{Game, JudgeTokens, Status};
use crate::domain::judging::verdict::{Preference, Verdict};
use crate::domain::time::Timestamp;
use crate::metrics::store_time;
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
/// What did not come through is asked again.
const SELECT_SETTLED: &str = "SELECT DISTINCT battle_id, judge, game FROM battle_verdicts \
     WHERE prompt_sha256 = $1 AND created_at >= $2 AND status <> 'transport_failed'";
/// Leaves out refusals and unreadable replies as well, so that they can be asked again.
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

/// What a judge said of a battle or a unit, in one order of its sides.
#[derive(Debug, Clone, PartialEq)]
pub struct VerdictRow {
    /// Its id.
    pub id: String,
    /// What it is about.
    pub subject: JudgedSubject,
    /// The judge.
    pub judge: String,
    /// In the first the judge sees the sides as the visitor did, or in the order of the models' names; in the second the other way round.
    pub game: Game,
    /// SHA-256 of the judge's instructions before a conversation is put in.
    pub prompt_sha256: String,
    /// How the judge was sampled.
    pub params: ItemSampling,
    /// The judge's last reply as it came; empty where there was none.
    pub raw_text: String,
    /// Replies before it, which could not be read.
    pub earlier: Vec<String>,
    /// What was read in it, as the judge saw the sides; none unless the status is ok.
    pub parsed: Option<Preference>,
    /// How it ended.
    pub status: Status,
    /// How often the judge was asked.
    pub attempts: u32,
    /// Milliseconds from the question to the end of the last reply.
    pub latency_ms: u64,
    /// Tokens of all replies, estimated where the provider counts none.
    pub tokens: JudgeTokens,
    /// When it ended.
    pub created_at: Timestamp,
}

/// What a judge was asked and what that took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeSpending {
    /// The judge.
    pub judge: String,
    /// Requests that were sent.
    pub calls: u64,
    /// Their tokens.
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
    /// Keeps verdicts, unless the same one is there already; all of them in one commit.
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

    /// All that judges said of a battle, in the order in which it came.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn verdicts_of(&self, battle: &BattleId) -> Result<Vec<VerdictRow>, StoreError> {
        let _time = store_time("verdicts_of");
        let rows: Vec<RawBattleVerdict> =
            on_reader!(self, |pool| sqlx::query_as(SELECT_OF_BATTLE).bind(battle.as_str()).fetch_all(pool).await)?;
        rows.into_iter().map(VerdictRow::try_from).collect()
    }

    /// The games that were settled with these instructions since a moment, by whichever judge.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn settled_games(&self, prompt_sha256: &str, since: Timestamp) -> Result<Vec<SettledGame>, StoreError> {
        self.games(SELECT_SETTLED, prompt_sha256, since).await
    }

    /// The settled games without refusals and unreadable replies: those with a verdict, or with nothing to judge.
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

    /// Every verdict of a judge, or of all where it is empty, beside the rated vote on the same battle, in the order of the
    /// votes; of one game the latest stands last.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn judged_votes(&self, judge: &str) -> Result<Vec<JudgedVote>, StoreError> {
        let _time = store_time("judged_votes");
        let rows: Vec<RawJudgedVote> =
            on_reader!(self, |pool| sqlx::query_as(SELECT_JUDGED.as_str()).bind(judge).fetch_all(pool).await)?;
        rows.into_iter().map(JudgedVote::try_from).collect()
    }

    /// How many verdicts there are; they are never taken away, so the number shows whether there are new ones.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn verdict_count(&self) -> Result<u64, StoreError> {
        let _time = store_time("verdict_count");
        let count: i64 = on_reader!(self, |pool| sqlx::query_scalar(COUNT).fetch_one(pool).await)?;
        unsigned(count, TABLE, "COUNT(*)", "")
    }

    /// Whether any judge was asked about a battle.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn has_verdicts(&self) -> Result<bool, StoreError> {
        let _time = store_time("has_verdicts");
        let count: i64 = on_reader!(self, |pool| sqlx::query_scalar(COUNT_UP_TO_ONE).fetch_one(pool).await)?;
        Ok(count > 0)
    }

    /// What each judge was asked since a moment, by whichever process.
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

pub(super) fn game(number: i64) -> Option<Game> {
    Game::try_from(u8::try_from(number).ok()?).ok()
}

/// The outer `None` is a text that no verdict has.
pub(super) fn winner(text: &str) -> Option<Option<Preference>> {
    match serde_json::from_str::<Option<Verdict>>(text).ok()? {
        None => Some(None),
        Some(Verdict::Pair { winner, .. }) => Some(Some(winner)),
        Some(_) => None,
    }
}

fn inconsistent(column: &'static str, row: &str, value: impl ToString) -> StoreError {
    StoreError::Inconsistent { table: TABLE, column, row: row.to_owned(), value: value.to_string() }
}
