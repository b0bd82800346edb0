//! API keys: made and revoked by people who run the arena, and held against what a program sends.
//!
//! A key has 128 random bits and is looked up by its hash, so neither the time of a lookup nor the database reveals anything of a key.

use std::sync::Arc;

use serde_json::json;
use sha2::{Digest, Sha256};

use super::actor::{Actor, audit_json};
use crate::domain::admin::action::AdminAction;
use crate::domain::admin::key_scope::{KEY_PREFIX, KeyScope, MOST_DAYS, parse_name};
use crate::domain::hex::hex;
use crate::domain::time::Timestamp;
use crate::infra::clock::Clock;
use crate::infra::limits::{RateLimited, RateLimits};
use crate::infra::rng::SharedRng;
use crate::infra::storage::{ApiKeyRow, NewApiKey, Store, StoreError, is_storable};

const DAY_MS: i64 = 86_400_000;

/// Why a key is not made or revoked.
#[derive(Debug, thiserror::Error)]
pub enum ApiKeyError {
    /// A name that cannot be.
    #[error("a key's name must have 1 to 60 characters and say what it is for, such as \"nightly analysis\"")]
    Name,
    /// A key that could do nothing.
    #[error("a key needs at least one scope: read, annotate or admin")]
    NoScope,
    /// Further ahead than anybody plans.
    #[error("a key must expire within {MOST_DAYS} days; 0 means never")]
    Days,
    /// There is no such key.
    #[error("no key in force has the id {0:?}: `langya keys list` shows them")]
    Unknown(String),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a program's key does not let it in.
#[derive(Debug, thiserror::Error)]
pub enum KeyRefused {
    /// None was sent.
    #[error("send an API key{} as \"Authorization: Bearer KEY\"", with_scope(*.0))]
    Missing(Option<KeyScope>),
    /// It is not in force.
    #[error("this API key is unknown, was revoked, or has expired")]
    Unknown,
    /// It may do other things.
    #[error("this API key does not have the scope {}", .0.as_str())]
    Scope(KeyScope),
    /// Too many wrong keys from one network.
    #[error("too many wrong API keys came from your network: try again in {} s", .0.seconds())]
    TooMany(#[from] RateLimited),
    /// The database failed.
    #[error("the API key could not be looked up: try again in a minute")]
    Store(#[from] StoreError),
}

/// What the key that is missing must have; any key will do where no scope is needed.
fn with_scope(scope: Option<KeyScope>) -> String {
    scope.map_or_else(String::new, |scope| format!(" with the scope {}", scope.as_str()))
}

/// A key to make.
#[derive(Debug, Clone, Copy)]
pub struct KeyRequest<'k> {
    /// What to call it.
    pub name: &'k str,
    /// What it lets programs do.
    pub scopes: &'k [KeyScope],
    /// Days until it expires; 0 means never.
    pub days: u32,
}

/// A new key. Its text is kept nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreatedKey {
    /// Id, by which it is listed and revoked.
    pub id: String,
    /// What a program sends.
    pub key: String,
    /// When it expires; `None` means never.
    pub expires_at: Option<Timestamp>,
}

/// Makes, lists and revokes keys.
pub struct ApiKeys {
    store: Store,
    rng: Arc<SharedRng>,
    clock: Arc<dyn Clock>,
}

impl ApiKeys {
    /// Puts it together.
    #[must_use]
    pub fn new(store: Store, rng: Arc<SharedRng>, clock: Arc<dyn Clock>) -> Self {
        Self { store, rng, clock }
    }

    /// Makes a key.
    ///
    /// # Errors
    /// [`ApiKeyError`].
    pub async fn create(&self, request: KeyRequest<'_>, actor: &Actor) -> Result<CreatedKey, ApiKeyError> {
        let KeyRequest { name, scopes, days } = request;
        let name = parse_name(name).filter(|name| is_storable(name)).ok_or(ApiKeyError::Name)?;
        if scopes.is_empty() {
            return Err(ApiKeyError::NoScope);
        }
        if days > MOST_DAYS {
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

    /// All keys, the latest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn list(&self) -> Result<Vec<ApiKeyRow>, StoreError> {
        self.store.api_keys().await
    }

    /// Revokes a key, from the next request on.
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

    /// The key that a program sent, if it is in force and has the scope; any scope where none is named. Wrong keys are counted by
    /// network, and a network that sent too many is refused without a lookup.
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

    /// A day that cannot be written is no reason to refuse somebody who reads.
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

/// What is kept of a key.
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
