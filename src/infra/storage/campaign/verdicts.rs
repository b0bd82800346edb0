//! Verdicts of judge models on the answers of campaigns: written like verdicts on battles, read here.

use sqlx_macros::FromRow;

use crate::domain::battle_judging::subject::JudgedSubject;
use crate::domain::campaign::report::UnitVerdict;
use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::battle::verdicts::{game, winner};
use crate::storage::{SettledGame, Store, StoreError, on_reader};

const TABLE: &str = "campaign_verdicts";
/// Leaves out transport failures, so that they are retried.
const SELECT_SETTLED: &str = "SELECT DISTINCT unit, judge, game FROM campaign_verdicts \
     WHERE campaign = $1 AND prompt_sha256 = $2 AND status <> 'transport_failed'";
/// Also leaves out refusals and unreadable replies, so that they can be retried.
const SELECT_READ: &str = "SELECT DISTINCT unit, judge, game FROM campaign_verdicts \
     WHERE campaign = $1 AND prompt_sha256 = $2 AND status IN ('ok', 'empty_answer')";
const SELECT_VERDICTS: &str = "SELECT said.id, said.unit, u.models, said.judge, said.prompt_sha256, said.game, said.status, \
     said.parsed, said.created_at FROM campaign_verdicts AS said \
     JOIN campaign_units u ON u.campaign = said.campaign AND u.unit = said.unit WHERE said.campaign = $1 \
     ORDER BY said.unit, said.judge, said.prompt_sha256, said.game, said.created_at, said.id";
const SELECT_JUDGED_UNITS: &str = "SELECT u.unit, i.language FROM campaign_units u \
     JOIN campaign_items i ON i.campaign = u.campaign AND i.item = u.item WHERE u.campaign = $1 AND u.unit IN \
     (SELECT unit FROM campaign_assignments WHERE campaign = $1 AND judged_at IS NOT NULL) ORDER BY u.unit";
const SELECT_UNIT: &str = "SELECT item, models FROM campaign_units WHERE campaign = $1 AND unit = $2";

/// A unit with at least one human judgement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitJudgedByPeople {
    /// Position of the unit.
    pub unit: u32,
    /// Language of its item; may be empty.
    pub language: String,
}

#[derive(FromRow)]
struct RawCampaignVerdict {
    id: String,
    unit: i64,
    models: String,
    judge: String,
    prompt_sha256: String,
    game: i64,
    status: String,
    parsed: String,
    created_at: i64,
}

impl TryFrom<RawCampaignVerdict> for UnitVerdict {
    type Error = StoreError;

    fn try_from(raw: RawCampaignVerdict) -> Result<Self, StoreError> {
        let broken = |column, value: &str| inconsistent(column, &raw.id, value);
        Ok(Self {
            unit: position(raw.unit, &raw.id)?,
            models: serde_json::from_str(&raw.models).map_err(|_| broken("models", &raw.models))?,
            game: game(raw.game).ok_or_else(|| inconsistent("game", &raw.id, raw.game))?,
            status: raw.status.parse().map_err(|_| broken("status", &raw.status))?,
            parsed: winner(&raw.parsed).ok_or_else(|| broken("parsed", &raw.parsed))?,
            judge: raw.judge,
            prompt_sha256: raw.prompt_sha256,
            created_at: Timestamp(raw.created_at),
        })
    }
}

impl Store {
    /// Reads the games of a campaign's units settled with this prompt template, by any judge.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn settled_unit_games(
        &self,
        campaign: &str,
        prompt_sha256: &str,
    ) -> Result<Vec<SettledGame>, StoreError> {
        self.unit_games(SELECT_SETTLED, campaign, prompt_sha256).await
    }

    /// Reads the settled games without refusals and unreadable replies: those with a verdict, or with nothing to judge.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn read_unit_games(&self, campaign: &str, prompt_sha256: &str) -> Result<Vec<SettledGame>, StoreError> {
        self.unit_games(SELECT_READ, campaign, prompt_sha256).await
    }

    async fn unit_games(
        &self,
        select: &'static str,
        campaign: &str,
        prompt_sha256: &str,
    ) -> Result<Vec<SettledGame>, StoreError> {
        let _time = store_time("settled_unit_games");
        let rows: Vec<(i64, String, i64)> = on_reader!(self, |pool| {
            sqlx::query_as(select).bind(campaign).bind(prompt_sha256).fetch_all(pool).await
        })?;
        let settled = |(unit, judge, number): (i64, String, i64)| {
            let game = game(number).ok_or_else(|| inconsistent("game", campaign, number))?;
            let subject = JudgedSubject::Unit { campaign: campaign.to_owned(), unit: position(unit, campaign)? };
            Ok(SettledGame { subject, judge, game })
        };
        rows.into_iter().map(settled).collect()
    }

    /// Reads all verdicts on a campaign's units, unit by unit; the latest verdict on a game comes last.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn campaign_verdicts(&self, campaign: &str) -> Result<Vec<UnitVerdict>, StoreError> {
        let _time = store_time("campaign_verdicts");
        let rows: Vec<RawCampaignVerdict> =
            on_reader!(self, |pool| sqlx::query_as(SELECT_VERDICTS).bind(campaign).fetch_all(pool).await)?;
        rows.into_iter().map(UnitVerdict::try_from).collect()
    }

    /// Reads the units with human judgements, in the order in which they are handed out.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn units_judged_by_people(&self, campaign: &str) -> Result<Vec<UnitJudgedByPeople>, StoreError> {
        let _time = store_time("units_judged_by_people");
        let rows: Vec<(i64, String)> =
            on_reader!(self, |pool| sqlx::query_as(SELECT_JUDGED_UNITS).bind(campaign).fetch_all(pool).await)?;
        let unit = |(unit, language)| Ok(UnitJudgedByPeople { unit: position(unit, campaign)?, language });
        rows.into_iter().map(unit).collect()
    }

    /// Reads the position of a unit's item, and its models ordered by name.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn campaign_unit(&self, campaign: &str, unit: u32) -> Result<(i64, Vec<String>), StoreError> {
        let _time = store_time("campaign_unit");
        let (item, models): (i64, String) = on_reader!(self, |pool| {
            sqlx::query_as(SELECT_UNIT).bind(campaign).bind(i64::from(unit)).fetch_one(pool).await
        })?;
        let names = serde_json::from_str(&models).map_err(|_| inconsistent("models", campaign, &models))?;
        Ok((item, names))
    }
}

fn position(number: i64, row: &str) -> Result<u32, StoreError> {
    u32::try_from(number).map_err(|_| inconsistent("unit", row, number))
}

fn inconsistent(column: &'static str, row: &str, value: impl ToString) -> StoreError {
    StoreError::Inconsistent { table: TABLE, column, row: row.to_owned(), value: value.to_string() }
}
