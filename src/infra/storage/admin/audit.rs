//! Audit log of the admin: actor, action, time, origin, and the values before and after. Append-only.

use sqlx::Connection;
use sqlx_macros::FromRow;

use crate::domain::admin::action::AdminAction;
use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::{Store, StoreError, on_reader, on_writer_once};

pub(in crate::storage) const INSERT_AUDIT: &str = "INSERT INTO admin_audit (id, acted_at, actor, action, subject, former, latter, via, address) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
const SELECT_AUDIT: &str = "SELECT id, acted_at, actor, action, subject, former, latter, via, address FROM admin_audit \
     WHERE id < $1 AND ($2 = '' OR actor = $2) AND ($3 = '' OR action = $3) ORDER BY id DESC LIMIT $4";

/// Channel of an audited action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActedVia {
    /// Admin page.
    Page,
    /// Command on the machine.
    Command,
}

impl ActedVia {
    /// Returns the name in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Command => "command",
        }
    }
}

/// Audit entry to insert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAuditEntry {
    /// Id of the entry; sorts by time.
    pub id: String,
    /// Time of the action.
    pub acted_at: Timestamp,
    /// Name of the user, or of the operating system's user who ran the command.
    pub actor: String,
    /// The action.
    pub action: AdminAction,
    /// Subject of the action, such as a user, a model or a decision.
    pub subject: String,
    /// Value before the action, as JSON; no secrets.
    pub former: Option<String>,
    /// Value after the action, as JSON; no secrets.
    pub latter: Option<String>,
    /// Channel of the action.
    pub via: ActedVia,
    /// Address of the browser; empty for a command.
    pub address: String,
}

/// Stored audit entry.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct AuditRow {
    /// Id of the entry.
    pub id: String,
    /// Time of the action in milliseconds since 1970.
    pub acted_at: i64,
    /// Name of the actor.
    pub actor: String,
    /// Name of the action.
    pub action: String,
    /// Subject of the action.
    pub subject: String,
    /// Value before the action.
    pub former: Option<String>,
    /// Value after the action.
    pub latter: Option<String>,
    /// `page` or `command`.
    pub via: String,
    /// Address of the browser.
    pub address: String,
}

/// Filter of audit entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Only those of this actor.
    pub actor: Option<String>,
    /// Only those of this action, by name.
    pub action: Option<String>,
    /// Only those before the entry with this id.
    pub before: Option<String>,
}

/// Inserts an entry on a connection or in a transaction, so that it is committed together with the audited change.
macro_rules! insert_audit {
    ($connection:expr, $entry:expr) => {{
        let entry: &$crate::storage::NewAuditEntry = $entry;
        let query = sqlx::query($crate::storage::admin::audit::INSERT_AUDIT).bind(&entry.id).bind(entry.acted_at.0);
        let query = query.bind(&entry.actor).bind(entry.action.as_str()).bind(&entry.subject).bind(&entry.former);
        let query = query.bind(&entry.latter).bind(entry.via.as_str()).bind(&entry.address);
        query.execute($connection).await.map(drop)
    }};
}

pub(in crate::storage) use insert_audit;

impl Store {
    /// Inserts an entry.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn add_audit_entry(&self, entry: &NewAuditEntry) -> Result<(), StoreError> {
        let _time = store_time("add_audit_entry");
        on_writer_once!(self, |connection| insert_audit!(connection, entry))
    }

    /// Inserts entries, all or none.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn add_audit_entries(&self, entries: &[NewAuditEntry]) -> Result<(), StoreError> {
        let _time = store_time("add_audit_entries");
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            for entry in entries {
                insert_audit!(&mut *tx, entry)?;
            }
            tx.commit().await
        })
    }

    /// Reads the latest entries that match a filter, the latest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn audit_entries(&self, filter: &AuditFilter, limit: u32) -> Result<Vec<AuditRow>, StoreError> {
        let _time = store_time("audit_entries");
        // Ids are hexadecimal digits and dashes: all sort before this.
        let before = filter.before.as_deref().unwrap_or("g");
        let (actor, action) = (filter.actor.as_deref().unwrap_or(""), filter.action.as_deref().unwrap_or(""));
        on_reader!(self, |pool| {
            let query = sqlx::query_as(SELECT_AUDIT).bind(before).bind(actor).bind(action).bind(i64::from(limit));
            query.fetch_all(pool).await
        })
    }
}
