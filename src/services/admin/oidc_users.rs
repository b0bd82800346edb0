//! Users who sign in at the OIDC provider, added beforehand by an owner. Only hashes of email address and subject are stored.

use serde_json::json;
use sha2::{Digest, Sha256};

use super::actor::{Actor, audit_json};
use super::users::{AdminUsers, UserError};
use crate::domain::admin::account;
use crate::domain::admin::action::AdminAction;
use crate::domain::admin::oidc_account::RoleSource;
use crate::domain::admin::role::Role;
use crate::domain::hex::hex;
use crate::infra::storage::{AddedUser, IdentityHash, NewProviderUser};

/// Maximum number of characters of an address or subject.
const MAX_IDENTITY_CHARS: usize = 255;

/// Parameters of a new provider user.
#[derive(Clone, Copy)]
pub struct ProviderUser<'u> {
    /// User name.
    pub name: &'u str,
    /// Role.
    pub role: Role,
    /// Email address at the provider, used until the first sign-in.
    pub email: Option<&'u str>,
    /// Subject identifier at the provider.
    pub subject: Option<&'u str>,
}

impl AdminUsers {
    /// Adds a user who signs in at the provider with this issuer.
    ///
    /// # Errors
    /// [`UserError`].
    pub async fn add_at_provider(&self, user: ProviderUser<'_>, issuer: &str, actor: &Actor) -> Result<(), UserError> {
        if issuer.is_empty() {
            return Err(UserError::NoProvider);
        }
        let name = account::parse_name(user.name)?;
        let is_usable = |text: &&str| !text.is_empty() && text.chars().count() <= MAX_IDENTITY_CHARS;
        let known = |text: Option<&'_ str>| text.map(str::trim).filter(is_usable).map(str::to_owned);
        let hash = match (known(user.email), known(user.subject)) {
            (Some(email), None) if email.contains('@') => email_hash(issuer, &email),
            (None, Some(subject)) => subject_hash(issuer, &subject),
            _ => return Err(UserError::NoIdentity),
        };
        let mut entry = actor.entry(&self.rng, self.clock.as_ref(), AdminAction::AddUser, &name);
        entry.latter = audit_json(&json!({ "role": user.role, "provider": issuer }));
        let new = NewProviderUser {
            id: &self.rng.id(self.clock.as_ref()),
            name: &name,
            role: user.role,
            role_from: RoleSource::Owner,
            identity: if user.email.is_some() { IdentityHash::Email(&hash) } else { IdentityHash::Subject(&hash) },
            created_at: self.clock.now(),
        };
        match self.store.add_provider_admin(new, &entry).await? {
            AddedUser::Done => Ok(()),
            AddedUser::NameTaken => Err(UserError::NameTaken(name)),
            AddedUser::IdentityTaken => Err(UserError::IdentityTaken),
        }
    }
}

/// Computes the stored hash of a subject at a provider.
pub(super) fn subject_hash(issuer: &str, subject: &str) -> String {
    hex(&Sha256::digest(format!("langya admin subject {issuer}\n{subject}")))
}

/// Computes the stored hash of an email address, kept until the first sign-in. Case-insensitive.
pub(super) fn email_hash(issuer: &str, email: &str) -> String {
    hex(&Sha256::digest(format!("langya admin e-mail {issuer}\n{}", email.trim().to_lowercase())))
}
