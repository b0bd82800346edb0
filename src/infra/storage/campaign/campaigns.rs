//! Campaigns: their items, units and annotators. Assignments and judgements are in `campaign_assignments`.

use sqlx::{Connection, QueryBuilder};
use sqlx_macros::FromRow;

use crate::domain::campaign::ending::{CampaignEnding, EndReason};
use crate::domain::campaign::items::CampaignItem;
use crate::domain::campaign::state::CampaignState;
use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::admin::audit::insert_audit;
use crate::storage::{NewAuditEntry, Store, StoreError, on_reader, on_writer, on_writer_once, unsigned};

/// Maximum number of rows in one statement.
const MAX_ROWS_PER_STATEMENT: usize = 500;

const INSERT_CAMPAIGN: &str = "INSERT INTO campaigns (id, plan, state, items, units, shared_units, created_at) \
     VALUES ($1, $2, 'draft', $3, $4, $5, $6) ON CONFLICT (id) DO NOTHING";
const SELECT_CAMPAIGNS: &str = "SELECT c.id, c.plan, c.state, c.items, c.units, c.shared_units, c.created_at, c.ended, \
     c.ended_at, \
     (SELECT COUNT(*) FROM campaign_annotators a WHERE a.campaign = c.id) AS annotators, \
     (SELECT CAST(COALESCE(SUM(a.judged), 0) AS BIGINT) FROM campaign_annotators a WHERE a.campaign = c.id) AS judgements \
     FROM campaigns c WHERE ($1 = '' OR c.id = $1) ORDER BY c.created_at, c.id";
const UPDATE_STATE: &str = "UPDATE campaigns SET state = $3 WHERE id = $1 AND state = $2";
/// Locks the campaign until the end of the transaction, so that two new annotators get different numbers.
pub(in crate::storage) const LOCK_CAMPAIGN: &str = "UPDATE campaigns SET id = id WHERE id = $1";
pub(in crate::storage) const SELECT_LAST_ANNOTATOR: &str =
    "SELECT COUNT(*) FROM campaign_annotators WHERE campaign = $1";
const INSERT_ANNOTATOR: &str = "INSERT INTO campaign_annotators (id, campaign, token_hash, quota, created_at, expires_at, \
     first_time, repeats, shared, judged, side_balance) VALUES ($1, $2, $3, $4, $5, $6, 0, 0, 0, 0, '{}')";
const INSERT_KEY_ANNOTATOR: &str = "INSERT INTO campaign_annotators (id, campaign, token_hash, created_at, first_time, \
     repeats, shared, judged, side_balance) VALUES ($1, $2, $3, $4, 0, 0, 0, 0, '{}') ON CONFLICT DO NOTHING";
const SELECT_ANNOTATOR: &str = "SELECT id, expires_at, revoked_at, left_out_at FROM campaign_annotators \
     WHERE campaign = $1 AND token_hash = $2";
const SELECT_ANNOTATORS: &str = "SELECT id, quota, created_at, expires_at, revoked_at, left_out_at, seen_at, judged, \
     participant FROM campaign_annotators WHERE campaign = $1 ORDER BY created_at, LENGTH(id), id";
const REVOKE_ANNOTATOR: &str =
    "UPDATE campaign_annotators SET revoked_at = $3 WHERE campaign = $1 AND id = $2 AND revoked_at IS NULL";
const REVOKE_SHARED_LINK: &str =
    "UPDATE campaign_links SET revoked_at = $3 WHERE campaign = $1 AND id = $2 AND revoked_at IS NULL";

/// Pseudonym, expiry time and revocation time of the link, and time of the annotator's exclusion.
type LinkRow = (String, Option<i64>, Option<i64>, Option<i64>);

/// Unit to insert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewUnit {
    /// Position of its item.
    pub item: usize,
    /// Models of the unit, as JSON.
    pub models: String,
    /// Whether every annotator judges it.
    pub shared: bool,
    /// Known outcome, the models ordered by name.
    pub gold: Option<&'static str>,
}

/// Campaign to insert.
#[derive(Debug, Clone, Copy)]
pub struct NewCampaign<'c> {
    /// Id of the campaign.
    pub id: &'c str,
    /// Campaign file, as JSON.
    pub plan: &'c str,
    /// Items of the campaign.
    pub items: &'c [CampaignItem],
    /// Units in the order in which they are handed out.
    pub units: &'c [NewUnit],
    /// Current time.
    pub created_at: Timestamp,
}

/// A stored campaign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CampaignRow {
    /// Id of the campaign.
    pub id: String,
    /// Campaign file, as JSON.
    pub plan: String,
    /// State of the campaign.
    pub state: CampaignState,
    /// Number of items.
    pub items: i64,
    /// Number of units.
    pub units: i64,
    /// Number of units that every annotator judges.
    pub shared_units: i64,
    /// Creation time.
    pub created_at: Timestamp,
    /// Number of invited annotators.
    pub annotators: i64,
    /// Number of valid judgements.
    pub judgements: i64,
    /// Reason and time of an early end, before each unit had its judgements.
    pub ended: Option<CampaignEnding>,
}

/// Annotator to insert.
#[derive(Debug, Clone, Copy)]
pub struct NewAnnotator<'a> {
    /// Hash of the link's token.
    pub token_hash: &'a str,
    /// Maximum number of judgements.
    pub quota: Option<u32>,
    /// Expiry time of the link.
    pub expires_at: Option<Timestamp>,
}

/// Annotator identified by a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnnotatorRow {
    /// Pseudonym of the annotator.
    pub id: String,
    /// Expiry time of the link.
    pub expires_at: Option<Timestamp>,
    /// Revocation time of the link.
    pub revoked_at: Option<Timestamp>,
    /// Time of the exclusion, since which the judgements do not count.
    pub left_out_at: Option<Timestamp>,
}

/// Annotator as listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvitedAnnotator {
    /// Pseudonym of the annotator.
    pub id: String,
    /// Maximum number of judgements.
    pub quota: Option<u64>,
    /// Number of valid judgements.
    pub judged: u64,
    /// Creation time of the link.
    pub created_at: Timestamp,
    /// Expiry time of the link.
    pub expires_at: Option<Timestamp>,
    /// Revocation time of the link.
    pub revoked_at: Option<Timestamp>,
    /// Time of the exclusion, during which the link does not work.
    pub left_out_at: Option<Timestamp>,
    /// Time of the annotator's last visit.
    pub seen_at: Option<Timestamp>,
    /// Participant id on a recruitment platform.
    pub participant: Option<String>,
}

#[derive(FromRow)]
struct RawInvited {
    id: String,
    quota: Option<i64>,
    created_at: i64,
    expires_at: Option<i64>,
    revoked_at: Option<i64>,
    left_out_at: Option<i64>,
    seen_at: Option<i64>,
    judged: i64,
    participant: Option<String>,
}

impl TryFrom<RawInvited> for InvitedAnnotator {
    type Error = StoreError;

    fn try_from(raw: RawInvited) -> Result<Self, StoreError> {
        let number = |value, column| unsigned(value, "campaign_annotators", column, &raw.id);
        Ok(Self {
            quota: raw.quota.map(|quota| number(quota, "quota")).transpose()?,
            judged: number(raw.judged, "judged")?,
            created_at: Timestamp(raw.created_at),
            expires_at: raw.expires_at.map(Timestamp),
            revoked_at: raw.revoked_at.map(Timestamp),
            left_out_at: raw.left_out_at.map(Timestamp),
            seen_at: raw.seen_at.map(Timestamp),
            participant: raw.participant,
            id: raw.id,
        })
    }
}

#[derive(FromRow)]
struct RawCampaign {
    id: String,
    plan: String,
    state: String,
    items: i64,
    units: i64,
    shared_units: i64,
    created_at: i64,
    annotators: i64,
    judgements: i64,
    ended: Option<String>,
    ended_at: Option<i64>,
}

impl RawCampaign {
    fn row(self) -> Result<CampaignRow, StoreError> {
        let state = CampaignState::ALL.into_iter().find(|state| state.as_str() == self.state);
        let reason = |word: String| EndReason::ALL.into_iter().find(|reason| reason.as_str() == word);
        let ended = self.ended.and_then(reason).zip(self.ended_at).map(|(because, at)| CampaignEnding { because, at });
        Ok(CampaignRow {
            ended,
            state: state.ok_or(sqlx::Error::Decode("a campaign has an unknown state".into()))?,
            id: self.id,
            plan: self.plan,
            items: self.items,
            units: self.units,
            shared_units: self.shared_units,
            created_at: Timestamp(self.created_at),
            annotators: self.annotators,
            judgements: self.judgements,
        })
    }
}

/// Runs the statements of a new campaign in an open transaction of either database.
macro_rules! insert_all {
    ($tx:expr, $new:expr, $progress:expr) => {{
        let shared = $new.units.iter().filter(|unit| unit.shared).count();
        let query = sqlx::query(INSERT_CAMPAIGN).bind($new.id).bind($new.plan).bind(number($new.items.len()));
        let query = query.bind(number($new.units.len())).bind(number(shared)).bind($new.created_at.0);
        if query.execute(&mut *$tx).await?.rows_affected() == 0 {
            return Ok(false);
        }
        for (page, items) in $new.items.chunks(MAX_ROWS_PER_STATEMENT).enumerate() {
            let rows: Vec<_> = (page * MAX_ROWS_PER_STATEMENT..).zip(items).collect();
            let mut query = QueryBuilder::new(
                "INSERT INTO campaign_items (campaign, item, name, prompt, reference, category, language) ",
            );
            query.push_values(&rows, |mut row, (at, item)| {
                row.push_bind($new.id).push_bind(number(*at)).push_bind(&item.id).push_bind(&item.prompt);
                row.push_bind(&item.reference).push_bind(&item.category).push_bind(&item.language);
            });
            query.build().execute(&mut *$tx).await?;
            let answers: Vec<_> =
                rows.iter().flat_map(|(at, item)| item.answers.iter().map(move |answer| (*at, answer))).collect();
            for answers in answers.chunks(MAX_ROWS_PER_STATEMENT) {
                let mut query = QueryBuilder::new("INSERT INTO campaign_answers (campaign, item, model, answer) ");
                query.push_values(answers, |mut row, (at, (model, answer))| {
                    row.push_bind($new.id).push_bind(number(*at)).push_bind(*model).push_bind(*answer);
                });
                query.build().execute(&mut *$tx).await?;
            }
            $progress((page * MAX_ROWS_PER_STATEMENT + items.len()) as u64);
        }
        for (page, units) in $new.units.chunks(MAX_ROWS_PER_STATEMENT).enumerate() {
            let rows: Vec<_> = (page * MAX_ROWS_PER_STATEMENT..).zip(units).collect();
            let mut query =
                QueryBuilder::new("INSERT INTO campaign_units (campaign, unit, item, models, shared, gold, given) ");
            query.push_values(&rows, |mut row, (at, unit)| {
                row.push_bind($new.id).push_bind(number(*at)).push_bind(number(unit.item)).push_bind(&unit.models);
                row.push_bind(unit.shared).push_bind(unit.gold).push("0");
            });
            query.build().execute(&mut *$tx).await?;
        }
        true
    }};
}

impl Store {
    /// Inserts a campaign with all its items, or nothing. `progress` receives the number of items so far. Returns whether the id was free.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn insert_campaign(
        &self,
        new: NewCampaign<'_>,
        audit: &NewAuditEntry,
        progress: impl Fn(u64) + Sync,
    ) -> Result<bool, StoreError> {
        let _time = store_time("insert_campaign");
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            let is_new = insert_all!(tx, new, progress);
            insert_audit!(&mut *tx, audit)?;
            tx.commit().await.map(|()| is_new)
        })
    }

    /// Reads all campaigns, oldest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn campaigns(&self) -> Result<Vec<CampaignRow>, StoreError> {
        let _time = store_time("campaigns");
        let rows: Vec<RawCampaign> =
            on_reader!(self, |pool| sqlx::query_as(SELECT_CAMPAIGNS).bind("").fetch_all(pool).await)?;
        rows.into_iter().map(RawCampaign::row).collect()
    }

    /// Reads the campaign with this id.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn campaign(&self, id: &str) -> Result<Option<CampaignRow>, StoreError> {
        let _time = store_time("campaign");
        let row: Option<RawCampaign> =
            on_reader!(self, |pool| sqlx::query_as(SELECT_CAMPAIGNS).bind(id).fetch_optional(pool).await)?;
        row.filter(|_| !id.is_empty()).map(RawCampaign::row).transpose()
    }

    /// Changes a campaign from one state to another. Returns whether there was one with this id in the first state.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn set_campaign_state(
        &self,
        id: &str,
        (from, to): (CampaignState, CampaignState),
        audit: &NewAuditEntry,
    ) -> Result<bool, StoreError> {
        let _time = store_time("set_campaign_state");
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            let query = sqlx::query(UPDATE_STATE).bind(id).bind(from.as_str()).bind(to.as_str());
            let is_done = query.execute(&mut *tx).await?.rows_affected() > 0;
            if is_done {
                insert_audit!(&mut *tx, audit)?;
            }
            tx.commit().await.map(|()| is_done)
        })
    }

    /// Inserts annotators of a campaign, all or none, and returns their pseudonyms: the campaign's id and a number.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn insert_annotators(
        &self,
        campaign: &str,
        annotators: &[NewAnnotator<'_>],
        now: Timestamp,
        audit: &NewAuditEntry,
    ) -> Result<Vec<String>, StoreError> {
        let _time = store_time("insert_annotators");
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            sqlx::query(LOCK_CAMPAIGN).bind(campaign).execute(&mut *tx).await?;
            let known: i64 = sqlx::query_scalar(SELECT_LAST_ANNOTATOR).bind(campaign).fetch_one(&mut *tx).await?;
            let mut ids = Vec::new();
            for (number, annotator) in (known + 1..).zip(annotators) {
                let id = format!("{campaign}-{number}");
                let query = sqlx::query(INSERT_ANNOTATOR).bind(&id).bind(campaign).bind(annotator.token_hash);
                let query = query.bind(annotator.quota.map(i64::from)).bind(now.0);
                query.bind(annotator.expires_at.map(|at| at.0)).execute(&mut *tx).await?;
                ids.push(id);
            }
            insert_audit!(&mut *tx, audit)?;
            tx.commit().await.map(|()| ids)
        })
    }

    /// Inserts the annotator of a campaign that an API key represents, if missing.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn insert_key_annotator(
        &self,
        campaign: &str,
        id: &str,
        token_hash: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let _time = store_time("insert_key_annotator");
        on_writer!(self, |connection| {
            let query = sqlx::query(INSERT_KEY_ANNOTATOR).bind(id).bind(campaign).bind(token_hash).bind(now.0);
            query.execute(connection).await.map(drop)
        })
    }

    /// Reads the annotator of a campaign with this token hash.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn annotator(&self, campaign: &str, token_hash: &str) -> Result<Option<AnnotatorRow>, StoreError> {
        let _time = store_time("annotator");
        let row: Option<LinkRow> = on_reader!(self, |pool| {
            sqlx::query_as(SELECT_ANNOTATOR).bind(campaign).bind(token_hash).fetch_optional(pool).await
        })?;
        Ok(row.map(|(id, expires_at, revoked_at, left_out_at)| AnnotatorRow {
            id,
            expires_at: expires_at.map(Timestamp),
            revoked_at: revoked_at.map(Timestamp),
            left_out_at: left_out_at.map(Timestamp),
        }))
    }

    /// Revokes an annotator's link; the judgements stay. Returns whether it was valid.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn revoke_annotator(
        &self,
        campaign: &str,
        id: &str,
        now: Timestamp,
        audit: &NewAuditEntry,
    ) -> Result<bool, StoreError> {
        let _time = store_time("revoke_annotator");
        self.revoke(REVOKE_ANNOTATOR, campaign, id, now, audit).await
    }

    /// Revokes a shared link; annotators who joined with it can continue. Returns whether it was valid.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn revoke_shared_link(
        &self,
        campaign: &str,
        id: &str,
        now: Timestamp,
        audit: &NewAuditEntry,
    ) -> Result<bool, StoreError> {
        let _time = store_time("revoke_shared_link");
        self.revoke(REVOKE_SHARED_LINK, campaign, id, now, audit).await
    }

    async fn revoke(
        &self,
        update: &'static str,
        campaign: &str,
        id: &str,
        now: Timestamp,
        audit: &NewAuditEntry,
    ) -> Result<bool, StoreError> {
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            let query = sqlx::query(update).bind(campaign).bind(id).bind(now.0);
            let was_in_force = query.execute(&mut *tx).await?.rows_affected() > 0;
            if was_in_force {
                insert_audit!(&mut *tx, audit)?;
            }
            tx.commit().await.map(|()| was_in_force)
        })
    }

    /// Reads all invited annotators of a campaign, in the order of their invitations.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn annotators(&self, campaign: &str) -> Result<Vec<InvitedAnnotator>, StoreError> {
        let _time = store_time("annotators");
        let rows: Vec<RawInvited> =
            on_reader!(self, |pool| sqlx::query_as(SELECT_ANNOTATORS).bind(campaign).fetch_all(pool).await)?;
        rows.into_iter().map(InvitedAnnotator::try_from).collect()
    }
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
