//! Consents of visitors by version, and the text of each version.

use super::{Store, StoreError, on_reader, on_writer};
use crate::domain::battle::VisitorId;
use crate::domain::time::Timestamp;
use crate::metrics::store_time;

const INSERT_TEXT: &str =
    "INSERT INTO consent_texts (version, body, first_agreed_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
const INSERT_CONSENT: &str =
    "INSERT INTO consents (visitor, version, agreed_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
const SELECT_CONSENT: &str = "SELECT agreed_at FROM consents WHERE visitor = $1 AND version = $2";
const SELECT_CONSENTS: &str = "SELECT c.version, c.agreed_at, t.body FROM consents c \
     JOIN consent_texts t ON t.version = c.version WHERE c.visitor = $1 ORDER BY c.agreed_at, c.version";

/// A version of the consent text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConsentVersion<'v> {
    /// Name of the version.
    pub version: &'v str,
    /// Text in every language, as JSON.
    pub body: &'v str,
}

/// A visitor's consent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsentRow {
    /// Name of the version.
    pub version: String,
    /// Time of the consent.
    pub agreed_at: Timestamp,
    /// Text in every language, as JSON.
    pub body: String,
}

impl Store {
    /// Stores a visitor's consent, with the text. Earlier consents stay.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn put_consent(
        &self,
        visitor: &VisitorId,
        agreed: ConsentVersion<'_>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let _time = store_time("put_consent");
        on_writer!(self, |connection| {
            let text = sqlx::query(INSERT_TEXT).bind(agreed.version).bind(agreed.body).bind(now.0);
            text.execute(&mut *connection).await?;
            let consent = sqlx::query(INSERT_CONSENT).bind(visitor.as_str()).bind(agreed.version).bind(now.0);
            consent.execute(&mut *connection).await.map(drop)
        })
    }

    /// Whether a visitor consented to this version.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn has_consent(&self, visitor: &VisitorId, version: &str) -> Result<bool, StoreError> {
        let _time = store_time("has_consent");
        let agreed: Option<i64> = on_reader!(self, |pool| {
            sqlx::query_scalar(SELECT_CONSENT).bind(visitor.as_str()).bind(version).fetch_optional(pool).await
        })?;
        Ok(agreed.is_some())
    }

    /// Reads all consents of a visitor, the earliest first.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn consents_of(&self, visitor: &VisitorId) -> Result<Vec<ConsentRow>, StoreError> {
        let _time = store_time("consents_of");
        let rows: Vec<(String, i64, String)> =
            on_reader!(self, |pool| { sqlx::query_as(SELECT_CONSENTS).bind(visitor.as_str()).fetch_all(pool).await })?;
        let row = |(version, agreed_at, body)| ConsentRow { version, agreed_at: Timestamp(agreed_at), body };
        Ok(rows.into_iter().map(row).collect())
    }
}
