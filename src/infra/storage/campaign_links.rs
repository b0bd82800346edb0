//! Links that many annotators share: each takes one of its places, and gets a link of their own.

use sqlx::Connection;
use sqlx_macros::FromRow;

use super::admin_audit::insert_audit;
use super::campaigns::{LOCK_CAMPAIGN, SELECT_LAST_ANNOTATOR};
use super::{NewAuditEntry, Store, StoreError, on_reader, on_writer, on_writer_once};
use crate::domain::time::Timestamp;
use crate::metrics::store_time;

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

/// A shared link to store.
#[derive(Debug, Clone, Copy)]
pub struct NewSharedLink<'l> {
    /// Hash of its token.
    pub token_hash: &'l str,
    /// Annotators who can join by it.
    pub places: u32,
    /// Judgements of each at most.
    pub quota: Option<u32>,
    /// When it and the links of those who joined expire.
    pub expires_at: Option<Timestamp>,
}

/// A shared link.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct SharedLinkRow {
    /// Its name.
    pub id: String,
    /// Annotators who can join by it.
    pub places: i64,
    /// Annotators who have.
    pub taken: i64,
    /// Judgements of each at most.
    pub quota: Option<i64>,
    /// When it was made, in milliseconds since 1970.
    pub created_at: i64,
    /// When it expires.
    pub expires_at: Option<i64>,
    /// When it was revoked.
    pub revoked_at: Option<i64>,
}

/// Somebody who joins by a shared link.
#[derive(Debug, Clone, Copy)]
pub struct JoiningAnnotator<'j> {
    /// Hash of the token of the link that is their own.
    pub token_hash: &'j str,
    /// As a recruitment platform knows them.
    pub participant: Option<&'j str>,
    /// Now.
    pub now: Timestamp,
}

impl Store {
    /// Stores a shared link, and returns its name: the campaign's id, `link`, and a number.
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

    /// The shared link of a campaign whose token has this hash.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn shared_link(&self, campaign: &str, token_hash: &str) -> Result<Option<SharedLinkRow>, StoreError> {
        let _time = store_time("shared_link");
        on_reader!(self, |pool| {
            sqlx::query_as(SELECT_LINK).bind(campaign).bind(token_hash).fetch_optional(pool).await
        })
    }

    /// All shared links of a campaign, in the order in which they were made.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn shared_links(&self, campaign: &str) -> Result<Vec<SharedLinkRow>, StoreError> {
        let _time = store_time("shared_links");
        on_reader!(self, |pool| sqlx::query_as(SELECT_LINKS).bind(campaign).fetch_all(pool).await)
    }

    /// Takes a place of a shared link and creates its annotator; an annotator who has one already keeps it. Returns the pseudonym, or
    /// `None` where no place is left.
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
