//! API keys: created and revoked by admins, and verified on requests.
//!
//! A key has 128 random bits and is looked up by its hash, so neither lookup time nor the database reveals a key.

use std::sync::Arc;

use serde_json::json;
use sha2::{Digest, Sha256};

use super::actor::{Actor, audit_json};
use crate::domain::admin::action::AdminAction;
use crate::domain::admin::key_scope::{KEY_PREFIX, KeyScope, MAX_LIFETIME_DAYS, parse_name};
use crate::domain::hex::hex;
use crate::domain::time::Timestamp;
use crate::infra::limits::{RateLimited, RateLimits};
use crate::infra::rng::SharedRng;
use crate::infra::storage::{ApiKeyRow, NewApiKey, Store, StoreError, is_storable};
use crate::infra::time::clock::Clock;

const DAY_MS: i64 = 86_400_000;

/// Error of creating or revoking an API key.
#[derive(Debug, thiserror::Error)]
pub enum ApiKeyError {
    /// Invalid name.
    #[error("a key's name must have 1 to 60 characters and say what it is for, such as \"nightly analysis\"")]
    Name,
    /// The key has no scope.
    #[error("a key needs at least one scope: read, annotate or admin")]
    NoScope,
    /// The expiry is too many days ahead.
    #[error("a key must expire within {MAX_LIFETIME_DAYS} days; 0 means never")]
    Days,
    /// No key has this id.
    #[error("no key in force has the id {0:?}: `langya keys list` shows them")]
    Unknown(String),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Reason for rejecting an API key.
#[derive(Debug, thiserror::Error)]
pub enum KeyRefused {
    /// The request has no key.
    #[error("send an API key{} as \"Authorization: Bearer KEY\"", with_scope(*.0))]
    Missing(Option<KeyScope>),
    /// The key is unknown, expired or revoked.
    #[error("this API key is unknown, was revoked, or has expired")]
    Unknown,
    /// The key lacks the scope.
    #[error("this API key does not have the scope {}", .0.as_str())]
    Scope(KeyScope),
    /// Too many wrong keys from one network.
    #[error("too many wrong API keys came from your network: try again in {} s", .0.seconds())]
    TooMany(#[from] RateLimited),
    /// The database failed.
    #[error("the API key could not be looked up: try again in a minute")]
    Store(#[from] StoreError),
}

/// Describes the required scope for the error message; empty where any key will do.
fn with_scope(scope: Option<KeyScope>) -> String {
    scope.map_or_else(String::new, |scope| format!(" with the scope {}", scope.as_str()))
}

/// Parameters of a new API key.
#[derive(Debug, Clone, Copy)]
pub struct KeyRequest<'k> {
    /// Display name.
    pub name: &'k str,
    /// Granted scopes.
    pub scopes: &'k [KeyScope],
    /// Days until it expires; 0 means never.
    pub days: u32,
}

/// New API key. Its secret is not stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreatedKey {
    /// Id for listing and revoking the key.
    pub id: String,
    /// Secret that a program sends.
    pub key: String,
    /// Expiry time; `None` means never.
    pub expires_at: Option<Timestamp>,
}

/// Creates, lists, revokes and verifies API keys.
pub struct ApiKeys {
    store: Store,
    rng: Arc<SharedRng>,
    clock: Arc<dyn Clock>,
}

impl ApiKeys {
    /// Creates the service.
    #[must_use]
    pub fn new(store: Store, rng: Arc<SharedRng>, clock: Arc<dyn Clock>) -> Self {
        Self { store, rng, clock }
    }

    /// Creates a key.
    ///
    /// # Errors
    /// [`ApiKeyError`].
    pub async fn create(&self, request: KeyRequest<'_>, actor: &Actor) -> Result<CreatedKey, ApiKeyError> {
        let KeyRequest { name, scopes, days } = request;
        let name = parse_name(name).filter(|name| is_storable(name)).ok_or(ApiKeyError::Name)?;
        if scopes.is_empty() {
            return Err(ApiKeyError::NoScope);
        }
        if days > MAX_LIFETIME_DAYS {
            return Err(ApiKeyError::Days);
        }
        let (id, key, created_at) = (self.rng.id(&*self.clock), self.new_text(), self.clock.now());
        let expires_at = (days > 0).then(|| Timestamp(created_at.0 + i64::from(days) * DAY_MS));
        let mut entry = actor.entry(&self.rng, &*self.clock, AdminAction::CreateKey, name);
        entry.latter = audit_json(&json!({ "id": id, "scopes": scopes, "days": days }));
        let key_hash = key_hash(&key);
        let new =
            NewApiKey { id: &id, name, key_hash: &key_hash, scopes, created_by: &actor.name, created_at, expires_at };
        self.store.insert_api_key(new, &entry).await?;
        Ok(CreatedKey { id, key, expires_at })
    }

    /// Lists all keys, the latest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn list(&self) -> Result<Vec<ApiKeyRow>, StoreError> {
        self.store.api_keys().await
    }

    /// Revokes a key, effective from the next request.
    ///
    /// # Errors
    /// [`ApiKeyError`].
    pub async fn revoke(&self, id: &str, actor: &Actor) -> Result<(), ApiKeyError> {
        let unknown = || ApiKeyError::Unknown(id.to_owned());
        let row = self.list().await?.into_iter().find(|row| row.id == id).ok_or_else(unknown)?;
        let mut entry = actor.entry(&self.rng, &*self.clock, AdminAction::RevokeKey, &row.name);
        entry.former = audit_json(&json!({ "id": row.id, "scopes": row.scopes }));
        let was_in_force = self.store.revoke_api_key(id, self.clock.now(), &entry).await?;
        if was_in_force { Ok(()) } else { Err(unknown()) }
    }

    /// Returns the key that a program sent, if it is valid and has the scope (any scope if `None`). Wrong keys are counted by network, and
    /// a network that sent too many is refused without a lookup.
    ///
    /// # Errors
    /// [`KeyRefused`].
    pub async fn admit(
        &self,
        sent: &str,
        scope: Option<KeyScope>,
        network: &str,
        limits: &RateLimits,
    ) -> Result<ApiKeyRow, KeyRefused> {
        limits.check_wrong_keys(network)?;
        let now = self.clock.now();
        let Some(row) = self.store.api_key(&key_hash(sent), now).await? else {
            limits.take_wrong_key(network).await?;
            return Err(KeyRefused::Unknown);
        };
        if let Some(scope) = scope.filter(|scope| !row.scopes.contains(scope)) {
            return Err(KeyRefused::Scope(scope));
        }
        self.note_use(&row, Timestamp(now.0 - now.0.rem_euclid(DAY_MS))).await;
        Ok(row)
    }

    /// Stores the day of the last use. A failure is only logged, since it should not reject a reader.
    async fn note_use(&self, row: &ApiKeyRow, day: Timestamp) {
        if row.used_day.is_none_or(|used| used < day)
            && let Err(error) = self.store.note_api_key_use(&row.id, day).await
        {
            tracing::warn!(key.id = row.id, error = ?error, "the last-used day of an API key could not be stored");
        }
    }

    fn new_text(&self) -> String {
        format!("{KEY_PREFIX}{}", self.rng.token())
    }
}

/// Computes the hash under which a key is stored.
fn key_hash(key: &str) -> String {
    hex(&Sha256::digest(format!("langya api key {key}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_key_is_asked_for_with_the_scope_that_it_needs() {
        let said = |scope| KeyRefused::Missing(scope).to_string();
        assert_eq!(said(None), "send an API key as \"Authorization: Bearer KEY\"");
        assert_eq!(
            said(Some(KeyScope::Admin)),
            "send an API key with the scope admin as \"Authorization: Bearer KEY\""
        );
    }
}
