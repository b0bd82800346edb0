//! Writes of a running battle, each as one value, so that a queue can commit several together.
//!
//! Each write can be repeated if it is unknown whether its commit succeeded. Ids of runs are never reused, so `answered_by` distinguishes a
//! row already changed by the same write from another's.

use std::sync::LazyLock;

use sqlx::postgres::PgConnection;
use sqlx::query::Query;
use sqlx::sqlite::{Sqlite, SqliteArguments, SqliteConnection};

use crate::domain::battle::progress::Progress;
use crate::domain::battle::record::{BattleRow, NewReply};
use crate::domain::battle::{BattleId, ImageId, RunId, Side};
use crate::domain::time::Timestamp;
use crate::storage::rows::battle_rows::SideFailure;
use crate::storage::signed;

const INSERT_BATTLE: &str = "INSERT INTO battles (id, visitor, mode, stage, turn, model_a, model_b, pairing_policy, \
     policy_version, pair_probability, language, category, intent, answered_by, created_at, updated_at) \
     VALUES ($1, $2, $14, 'answering', 1, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12) \
     ON CONFLICT (id) DO UPDATE SET updated_at = excluded.updated_at \
     WHERE battles.answered_by = excluded.answered_by";
const INSERT_TURN: &str = "INSERT INTO turns (battle_id, turn, prompt, created_at)";
const INSERT_IMAGES: &str = "INSERT INTO battle_images (battle_id, position, image_id)";
const KEEP_FIRST_IMAGES: &str = "ON CONFLICT (battle_id, position) DO NOTHING";
const KEEP_FIRST_TURN: &str = "ON CONFLICT (battle_id, turn) DO NOTHING";
/// An edited prompt replaces the previous one, whose digest is deleted.
const LATEST_PROMPT_STAYS: &str = "ON CONFLICT (battle_id, turn) DO UPDATE SET prompt = excluded.prompt, digest = NULL";
const BEGIN_TURN: &str = "UPDATE battles SET stage = 'answering', turn = $2, answered_by = $3, updated_at = $4, \
     language = COALESCE($8, language) \
     WHERE id = $1 AND ((stage = 'ready' AND turn = $5 AND answered_by IS NOT DISTINCT FROM $6) \
     OR (stage = 'answering' AND turn = $2 AND answered_by = $3))";
const TAKE_OVER_TURN: &str = "UPDATE battles SET answered_by = $3, updated_at = $4 WHERE id = $1 \
     AND stage = 'answering' AND (answered_by IS NOT DISTINCT FROM $2 OR answered_by = $3)";
/// A run that voided its battle may still report its other side.
const FAIL_SIDE: &str = "UPDATE battles SET stage = CASE WHEN $4 THEN 'voided' ELSE stage END, model_a = COALESCE($5, model_a), \
     model_b = COALESCE($6, model_b), pair_probability = COALESCE($7, pair_probability), updated_at = $8 \
     WHERE id = $1 AND answered_by = $2 AND turn = $3 AND stage IN ('answering', 'voided')";
const INSERT_FAILURE: &str =
    "INSERT INTO side_failures (battle_id, turn, side, model, replaced_by, reason, failed_at, answered_by)";
const KEEP_FIRST_FAILURE: &str = "ON CONFLICT (battle_id, COALESCE(answered_by, ''), turn, side, model) DO NOTHING";
/// Also matches a battle that is already in the target stage: the run that answered it had voided it, or retries the write.
const FINISH_TURN: &str = "UPDATE battles SET stage = $4, updated_at = $5 \
     WHERE id = $1 AND answered_by = $2 AND turn = $3 AND stage IN ('answering', $4)";
const INSERT_REPLIES: &str = "INSERT INTO replies (battle_id, turn, side, model, text, reasoning, ending, \
     first_token_ms, duration_ms)";
const LATEST_REPLY_STAYS: &str = "ON CONFLICT (battle_id, turn, side) DO UPDATE SET model = excluded.model, \
     text = excluded.text, reasoning = excluded.reasoning, ending = excluded.ending, \
     first_token_ms = excluded.first_token_ms, duration_ms = excluded.duration_ms";
const ABANDON: &str = "UPDATE battles SET stage = 'abandoned' \
     WHERE stage IN ('answering', 'ready') AND (updated_at < $1 OR updated_at > $2)";

// Each write is one round trip: on SQLite to the connection's thread, where the second statement depends on what the first one changed; on
// PostgreSQL, in one statement, to the server.
static SQLITE_BEGIN: LazyLock<String> = LazyLock::new(|| {
    format!("{INSERT_BATTLE}; {INSERT_TURN} SELECT $1, 1, $13, $12 WHERE changes() > 0 {KEEP_FIRST_TURN}")
});
/// The first turn is new if the battle is; images are numbered from 1.
static SQLITE_BEGIN_WITH_IMAGES: LazyLock<String> = LazyLock::new(|| {
    format!(
        "{}; {INSERT_IMAGES} SELECT $1, key + 1, value FROM json_each($15) WHERE changes() > 0 {KEEP_FIRST_IMAGES}",
        *SQLITE_BEGIN
    )
});
static SQLITE_BEGIN_TURN: LazyLock<String> = LazyLock::new(|| {
    format!(
        "{BEGIN_TURN}; {INSERT_TURN} SELECT $1, $2, $7, $4 WHERE changes() > 0 AND $7 IS NOT NULL {LATEST_PROMPT_STAYS}"
    )
});
static SQLITE_FAIL_SIDE: LazyLock<String> = LazyLock::new(|| {
    format!(
        "{FAIL_SIDE}; {INSERT_FAILURE} SELECT $1, $3, $9, $10, $11, $12, $8, $2 WHERE changes() > 0 {KEEP_FIRST_FAILURE}"
    )
});
/// Statements with no reply, with one and with both.
static SQLITE_FINISH_TURN: LazyLock<[String; 3]> = LazyLock::new(|| {
    [0, 1, 2].map(|replies| {
        let rows: Vec<String> = (0..replies).map(reply_places).collect();
        match rows.is_empty() {
            true => FINISH_TURN.to_owned(),
            false => format!(
                "{FINISH_TURN}; {INSERT_REPLIES} SELECT $1, $3, replies.* FROM (VALUES {}) AS replies \
                 WHERE changes() > 0 {LATEST_REPLY_STAYS}",
                rows.join(", ")
            ),
        }
    })
});
static POSTGRES_BEGIN: LazyLock<String> = LazyLock::new(|| {
    format!(
        "WITH changed AS ({INSERT_BATTLE} RETURNING id), asked AS ({INSERT_TURN} \
         SELECT id, 1, $13, $12 FROM changed {KEEP_FIRST_TURN}) SELECT COUNT(*) FROM changed"
    )
});
static POSTGRES_BEGIN_WITH_IMAGES: LazyLock<String> = LazyLock::new(|| {
    format!(
        "WITH changed AS ({INSERT_BATTLE} RETURNING id), asked AS ({INSERT_TURN} \
         SELECT id, 1, $13, $12 FROM changed {KEEP_FIRST_TURN}), shown AS ({INSERT_IMAGES} \
         SELECT changed.id, position, image FROM changed, UNNEST($15) WITH ORDINALITY AS images (image, position) \
         {KEEP_FIRST_IMAGES}) SELECT COUNT(*) FROM changed"
    )
});
static POSTGRES_BEGIN_TURN: LazyLock<String> = LazyLock::new(|| {
    format!(
        "WITH changed AS ({BEGIN_TURN} RETURNING id), asked AS ({INSERT_TURN} \
         SELECT id, $2, $7, $4 FROM changed WHERE $7 IS NOT NULL {LATEST_PROMPT_STAYS}) \
         SELECT COUNT(*) FROM changed"
    )
});
static POSTGRES_FAIL_SIDE: LazyLock<String> = LazyLock::new(|| {
    format!(
        "WITH changed AS ({FAIL_SIDE} RETURNING id), kept AS ({INSERT_FAILURE} SELECT id, $3, $9, $10, $11, $12, $8, $2 FROM changed \
         {KEEP_FIRST_FAILURE}) SELECT COUNT(*) FROM changed"
    )
});
static POSTGRES_FINISH_TURN: LazyLock<String> = LazyLock::new(|| {
    format!(
        "WITH changed AS ({FINISH_TURN} RETURNING id, turn), kept AS ({INSERT_REPLIES} \
         SELECT changed.id, changed.turn, replies.* FROM changed, \
         UNNEST($6, $7, $8, $9, $10, $11, $12) AS replies {LATEST_REPLY_STAYS}) SELECT COUNT(*) FROM changed"
    )
});

/// Returns the placeholders of one reply, after the five of [`FINISH_TURN`].
fn reply_places(at: usize) -> String {
    let places: Vec<String> = (0..7).map(|column| format!("${}", 6 + 7 * at + column)).collect();
    format!("({})", places.join(", "))
}

/// A change of one battle, written atomically; returns the number of battles changed.
#[derive(Debug, Clone)]
pub(in crate::storage) enum BattleWrite {
    /// Inserts a battle with its first prompt. Changes nothing if another battle has its id.
    Begin { battle: BattleRow, prompt: String, images: Vec<ImageId>, now: Timestamp },
    /// Begins a turn. Changes nothing if the battle is not ready in the previous turn, with the replies of the run `from`.
    BeginTurn(NewTurn),
    /// Lets `run` answer the latest turn in place of `from`. Changes nothing if another run does, or the turn needs no answer.
    TakeOverTurn { battle: BattleId, from: Option<RunId>, run: RunId, now: Timestamp },
    /// Replaces a failed side, or voids the battle. Changes nothing if `run` no longer answers this turn.
    FailSide { battle: BattleId, run: RunId, failure: SideFailure, now: Timestamp },
    /// Stores both replies of a turn and the next stage. Changes nothing if `run` no longer answers it.
    FinishTurn { battle: BattleId, run: RunId, progress: Progress, replies: Vec<NewReply>, now: Timestamp },
    /// Abandons every battle without a vote that was last active before `oldest` or after `newest`.
    Abandon { oldest: Timestamp, newest: Timestamp },
}

/// A turn that begins: the one after `former` with its prompt, or `former` repeated, with a prompt if it was edited.
#[derive(Debug, Clone)]
pub(in crate::storage) struct NewTurn {
    pub(in crate::storage) battle: BattleId,
    pub(in crate::storage) number: u32,
    pub(in crate::storage) former: u32,
    pub(in crate::storage) from: Option<RunId>,
    pub(in crate::storage) prompt: Option<String>,
    /// Language of the battle if the first prompt was edited.
    pub(in crate::storage) language: Option<String>,
    pub(in crate::storage) run: RunId,
    pub(in crate::storage) now: Timestamp,
}

/// Connection that applies a [`BattleWrite`] in as few round trips as its database allows.
pub(in crate::storage) trait ApplyWrite {
    /// Applies the write and returns the number of battles changed. On SQLite the caller's transaction makes it atomic.
    async fn apply(&mut self, write: &BattleWrite) -> sqlx::Result<u64>;
}

// Parameters of both databases, in the order of the placeholders.
macro_rules! bind_battle {
    ($query:expr, $battle:expr, $prompt:expr, $now:expr) => {
        $query
            .bind($battle.id.as_str())
            .bind($battle.visitor.as_str())
            .bind($battle.models[0].as_str())
            .bind($battle.models[1].as_str())
            .bind(&$battle.pairing_policy)
            .bind(i64::from($battle.policy_version))
            .bind($battle.pair_probability)
            .bind(&$battle.language)
            .bind(&$battle.category)
            .bind(&$battle.intent)
            .bind($battle.answered_by.as_ref().map(RunId::as_str))
            .bind($now.0)
            .bind($prompt)
            .bind($battle.mode.as_str())
    };
}

macro_rules! bind_turn {
    ($query:expr, $turn:expr) => {
        $query
            .bind($turn.battle.as_str())
            .bind(i64::from($turn.number))
            .bind($turn.run.as_str())
            .bind($turn.now.0)
            .bind(i64::from($turn.former))
            .bind($turn.from.as_ref().map(RunId::as_str))
            .bind(&$turn.prompt)
            .bind(&$turn.language)
    };
}

macro_rules! bind_failure {
    ($query:expr, $battle:expr, $run:expr, $failure:expr, $now:expr) => {{
        let replacement = $failure.replacement.as_ref();
        let model_of = |side| replacement.filter(|_| $failure.side == side).map(|(model, _)| model.as_str());
        $query
            .bind($battle.as_str())
            .bind($run.as_str())
            .bind(i64::from($failure.turn))
            .bind(replacement.is_none())
            .bind(model_of(Side::A))
            .bind(model_of(Side::B))
            .bind(replacement.map(|(_, probability)| *probability))
            .bind($now.0)
            .bind($failure.side.as_str())
            .bind($failure.model.as_str())
            .bind(replacement.map(|(model, _)| model.as_str()))
            .bind(&$failure.reason)
    }};
}

macro_rules! bind_finish {
    ($query:expr, $battle:expr, $run:expr, $progress:expr, $now:expr) => {
        $query
            .bind($battle.as_str())
            .bind($run.as_str())
            .bind(i64::from($progress.turn))
            .bind($progress.stage.as_str())
            .bind($now.0)
    };
}

impl ApplyWrite for SqliteConnection {
    async fn apply(&mut self, write: &BattleWrite) -> sqlx::Result<u64> {
        match write {
            BattleWrite::Begin { battle, prompt, images, now } if images.is_empty() => {
                changed(self, bind_battle!(sqlx::query(SQLITE_BEGIN.as_str()), battle, prompt, now)).await
            }
            BattleWrite::Begin { battle, prompt, images, now } => {
                let images = serde_json::to_string(images).expect("ids are text");
                let begin = bind_battle!(sqlx::query(SQLITE_BEGIN_WITH_IMAGES.as_str()), battle, prompt, now);
                changed(self, begin.bind(images)).await
            }
            BattleWrite::BeginTurn(turn) => {
                changed(self, bind_turn!(sqlx::query(SQLITE_BEGIN_TURN.as_str()), turn)).await
            }
            BattleWrite::TakeOverTurn { battle, from, run, now } => {
                let taken = sqlx::query(TAKE_OVER_TURN)
                    .bind(battle.as_str())
                    .bind(from.as_ref().map(RunId::as_str))
                    .bind(run.as_str())
                    .bind(now.0);
                Ok(taken.execute(self).await?.rows_affected())
            }
            BattleWrite::FailSide { battle, run, failure, now } => {
                let fail = sqlx::query(SQLITE_FAIL_SIDE.as_str());
                changed(self, bind_failure!(fail, battle, run, failure, now)).await
            }
            BattleWrite::FinishTurn { battle, run, progress, replies, now } => {
                let statement = SQLITE_FINISH_TURN.get(replies.len());
                let statement = statement.ok_or_else(|| sqlx::Error::Encode("a turn has two replies".into()))?;
                let finish = bind_finish!(sqlx::query(statement.as_str()), battle, run, progress, now);
                changed(self, replies.iter().fold(finish, bind_reply)).await
            }
            BattleWrite::Abandon { oldest, newest } => {
                Ok(sqlx::query(ABANDON).bind(oldest.0).bind(newest.0).execute(self).await?.rows_affected())
            }
        }
    }
}

/// SQLite query with parameters being bound.
pub(in crate::storage) type SqliteQuery<'q> = Query<'q, Sqlite, SqliteArguments>;

/// Runs a write on one battle; 1 if it changed the battle. The second statement changes rows only if the first did.
async fn changed(connection: &mut SqliteConnection, write: SqliteQuery<'_>) -> sqlx::Result<u64> {
    Ok(u64::from(write.execute(connection).await?.rows_affected() > 0))
}

fn bind_reply<'q>(query: SqliteQuery<'q>, reply: &'q NewReply) -> SqliteQuery<'q> {
    query
        .bind(reply.side.as_str())
        .bind(reply.model.as_str())
        .bind(&reply.text)
        .bind(&reply.reasoning)
        .bind(reply.ending.as_str())
        .bind(reply.first_token_ms.map(signed))
        .bind(signed(reply.duration_ms))
}

impl ApplyWrite for PgConnection {
    async fn apply(&mut self, write: &BattleWrite) -> sqlx::Result<u64> {
        let count = |changed: i64| u64::try_from(changed).unwrap_or_default();
        match write {
            BattleWrite::Begin { battle, prompt, images, now } if images.is_empty() => {
                let begin = bind_battle!(sqlx::query_scalar(POSTGRES_BEGIN.as_str()), battle, prompt, now);
                begin.fetch_one(self).await.map(count)
            }
            BattleWrite::Begin { battle, prompt, images, now } => {
                let statement = sqlx::query_scalar(POSTGRES_BEGIN_WITH_IMAGES.as_str());
                let images: Vec<&str> = images.iter().map(ImageId::as_str).collect();
                bind_battle!(statement, battle, prompt, now).bind(images).fetch_one(self).await.map(count)
            }
            BattleWrite::BeginTurn(turn) => {
                let begin = bind_turn!(sqlx::query_scalar(POSTGRES_BEGIN_TURN.as_str()), turn);
                begin.fetch_one(self).await.map(count)
            }
            BattleWrite::TakeOverTurn { battle, from, run, now } => {
                let taken = sqlx::query(TAKE_OVER_TURN)
                    .bind(battle.as_str())
                    .bind(from.as_ref().map(RunId::as_str))
                    .bind(run.as_str())
                    .bind(now.0);
                Ok(taken.execute(self).await?.rows_affected())
            }
            BattleWrite::FailSide { battle, run, failure, now } => {
                let statement = sqlx::query_scalar(POSTGRES_FAIL_SIDE.as_str());
                let fail = bind_failure!(statement, battle, run, failure, now);
                fail.fetch_one(self).await.map(count)
            }
            BattleWrite::FinishTurn { battle, run, progress, replies, now } => {
                fn column<'a, T>(replies: &'a [NewReply], value: impl Fn(&'a NewReply) -> T) -> Vec<T> {
                    replies.iter().map(value).collect()
                }
                let statement = sqlx::query_scalar(POSTGRES_FINISH_TURN.as_str());
                let finish = bind_finish!(statement, battle, run, progress, now)
                    .bind(column(replies, |reply| reply.side.as_str()))
                    .bind(column(replies, |reply| reply.model.as_str()))
                    .bind(column(replies, |reply| reply.text.as_str()))
                    .bind(column(replies, |reply| reply.reasoning.as_str()))
                    .bind(column(replies, |reply| reply.ending.as_str()))
                    .bind(column(replies, |reply| reply.first_token_ms.map(signed)))
                    .bind(column(replies, |reply| signed(reply.duration_ms)));
                finish.fetch_one(self).await.map(count)
            }
            BattleWrite::Abandon { oldest, newest } => {
                Ok(sqlx::query(ABANDON).bind(oldest.0).bind(newest.0).execute(self).await?.rows_affected())
            }
        }
    }
}
