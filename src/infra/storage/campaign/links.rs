//! Shared links of a campaign: each annotator takes one of the places, and gets a personal link.

use sqlx::Connection;
use sqlx_macros::FromRow;

use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::admin::audit::insert_audit;
use crate::storage::campaign::campaigns::{LOCK_CAMPAIGN, SELECT_LAST_ANNOTATOR};
use crate::storage::{NewAuditEntry, Store, StoreError, on_reader, on_writer, on_writer_once};

const COUNT_LINKS: &str = "SELECT COUNT(*) FROM campaign_links WHERE campaign = $1";
const INSERT_LINK: &str = "INSERT INTO campaign_links (id, campaign, token_hash, places, taken, quota, created_at, expires_at) \
     VALUES ($1, $2, $3, $4, 0, $5, $6, $7)";
const SELECT_LINK: &str = "SELECT id, places, taken, quota, created_at, expires_at, revoked_at FROM campaign_links \
     WHERE campaign = $1 AND token_hash = $2";
const SELECT_LINKS: &str = "SELECT id, places, taken, quota, created_at, expires_at, revoked_at FROM campaign_links \
     WHERE campaign = $1 ORDER BY created_at, LENGTH(id), id";
const SELECT_ANNOTATOR: &str = "SELECT id FROM campaign_annotators WHERE campaign = $1 AND token_hash = $2";
/// Locks the link until the end of the transaction, so that no place is taken twice.
const TAKE_PLACE: &str = "UPDATE campaign_links SET taken = taken + 1 WHERE campaign = $1 AND id = $2 AND taken < places \
     AND revoked_at IS NULL";
const INSERT_ANNOTATOR: &str = "INSERT INTO campaign_annotators (id, campaign, token_hash, quota, created_at, expires_at, \
     participant, first_time, repeats, shared, judged, side_balance) VALUES ($1, $2, $3, $4, $5, $6, $7, 0, 0, 0, 0, '{}')";

/// Shared link to insert.
#[derive(Debug, Clone, Copy)]
pub struct NewSharedLink<'l> {
    /// Hash of the token.
    pub token_hash: &'l str,
    /// Number of annotators who can join with it.
    pub places: u32,
    /// Maximum number of judgements of each annotator.
    pub quota: Option<u32>,
    /// Expiry time of the link and of the personal links.
    pub expires_at: Option<Timestamp>,
}

/// A shared link.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct SharedLinkRow {
    /// Id of the link.
    pub id: String,
    /// Number of annotators who can join with it.
    pub places: i64,
    /// Number of annotators who have joined.
    pub taken: i64,
    /// Maximum number of judgements of each annotator.
    pub quota: Option<i64>,
    /// Creation time in milliseconds since 1970.
    pub created_at: i64,
    /// Expiry time.
    pub expires_at: Option<i64>,
    /// Revocation time.
    pub revoked_at: Option<i64>,
}

/// An annotator who joins with a shared link.
#[derive(Debug, Clone, Copy)]
pub struct JoiningAnnotator<'j> {
    /// Hash of the token of the personal link.
    pub token_hash: &'j str,
    /// Participant id on a recruitment platform.
    pub participant: Option<&'j str>,
    /// Current time.
    pub now: Timestamp,
}

impl Store {
    /// Inserts a shared link, and returns its id: the campaign's id, `link`, and a number.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn insert_shared_link(
        &self,
        campaign: &str,
        link: NewSharedLink<'_>,
        now: Timestamp,
        audit: &NewAuditEntry,
    ) -> Result<String, StoreError> {
        let _time = store_time("insert_shared_link");
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            sqlx::query(LOCK_CAMPAIGN).bind(campaign).execute(&mut *tx).await?;
            let known: i64 = sqlx::query_scalar(COUNT_LINKS).bind(campaign).fetch_one(&mut *tx).await?;
            let id = format!("{campaign}-link-{}", known + 1);
            let query = sqlx::query(INSERT_LINK).bind(&id).bind(campaign).bind(link.token_hash);
            let query = query.bind(i64::from(link.places)).bind(link.quota.map(i64::from)).bind(now.0);
            query.bind(link.expires_at.map(|at| at.0)).execute(&mut *tx).await?;
            insert_audit!(&mut *tx, audit)?;
            tx.commit().await.map(|()| id)
        })
    }

    /// Reads the shared link of a campaign with this token hash.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn shared_link(&self, campaign: &str, token_hash: &str) -> Result<Option<SharedLinkRow>, StoreError> {
        let _time = store_time("shared_link");
        on_reader!(self, |pool| {
            sqlx::query_as(SELECT_LINK).bind(campaign).bind(token_hash).fetch_optional(pool).await
        })
    }

    /// Reads all shared links of a campaign in the order of creation.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn shared_links(&self, campaign: &str) -> Result<Vec<SharedLinkRow>, StoreError> {
        let _time = store_time("shared_links");
        on_reader!(self, |pool| sqlx::query_as(SELECT_LINKS).bind(campaign).fetch_all(pool).await)
    }

    /// Takes a place of a shared link and creates its annotator; an annotator who has one already keeps it. Returns the pseudonym, or
    /// `None` if no place is left.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn join_campaign(
        &self,
        campaign: &str,
        link: &SharedLinkRow,
        joining: JoiningAnnotator<'_>,
    ) -> Result<Option<String>, StoreError> {
        let _time = store_time("join_campaign");
        on_writer!(self, |connection| {
            let mut tx = connection.begin().await?;
            let query = sqlx::query(TAKE_PLACE).bind(campaign).bind(&link.id);
            let has_place = query.execute(&mut *tx).await?.rows_affected() > 0;
            let query = sqlx::query_scalar(SELECT_ANNOTATOR).bind(campaign).bind(joining.token_hash);
            let known: Option<String> = query.fetch_optional(&mut *tx).await?;
            if known.is_some() || !has_place {
                // The place is not taken.
                tx.rollback().await?;
                return Ok(known);
            }
            sqlx::query(LOCK_CAMPAIGN).bind(campaign).execute(&mut *tx).await?;
            let number: i64 = sqlx::query_scalar(SELECT_LAST_ANNOTATOR).bind(campaign).fetch_one(&mut *tx).await?;
            let id = format!("{campaign}-{}", number + 1);
            let query = sqlx::query(INSERT_ANNOTATOR).bind(&id).bind(campaign).bind(joining.token_hash);
            let query = query.bind(link.quota).bind(joining.now.0).bind(link.expires_at).bind(joining.participant);
            query.execute(&mut *tx).await?;
            tx.commit().await.map(|()| Some(id))
        })
    }
}
