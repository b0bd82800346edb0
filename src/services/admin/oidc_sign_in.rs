//! Sign-in with an account at the OIDC provider. The account alone grants nothing: an owner has added the person, or a claim grants a role.
//! The second factor is the provider's.

use serde_json::json;

use super::actor::{Actor, audit_json};
use super::oidc_users::{email_hash, subject_hash};
use super::sessions::{AdminSessions, AdminSignInError, RequestOrigin};
use crate::domain::admin::action::AdminAction;
use crate::domain::admin::oidc_account::{self, RoleSource};
use crate::domain::admin::role::Role;
use crate::infra::limits::LimitedAction;
use crate::infra::metrics;
use crate::infra::oidc::Identity;
use crate::infra::storage::{ActedVia, AddedUser, AdminUserRow, IdentityHash, NewProviderUser};

impl AdminSessions {
    /// Signs in an identity that has an account or a role here, and returns the token of a new session.
    ///
    /// # Errors
    /// [`AdminSignInError`].
    pub async fn sign_in_at_provider(
        &self,
        identity: &Identity,
        from: &RequestOrigin,
    ) -> Result<String, AdminSignInError> {
        let signed_in = self.try_sign_in_at_provider(identity, from).await;
        signed_in.inspect_err(|error| metrics::refused(LimitedAction::AdminSignIn.as_str(), error.as_str()))
    }

    async fn try_sign_in_at_provider(
        &self,
        identity: &Identity,
        from: &RequestOrigin,
    ) -> Result<String, AdminSignInError> {
        let settings = self.settings.now();
        let values = identity.texts(&settings.oidc.role_claim);
        let claimed = oidc_account::role_of_values(&values, &settings.oidc.roles);
        let subject = subject_hash(&identity.issuer, &identity.subject);
        let email = identity.verified_email().map(|email| email_hash(&identity.issuer, email));
        let user = match self.store.admin_of_identity(&subject, email.as_deref()).await? {
            Some(user) => user,
            None => self.join_by_claim(claimed.ok_or(AdminSignInError::NoRole)?, identity, &subject, from).await?,
        };
        let account = user.provider.filter(|_| user.disabled_at.is_none()).ok_or(AdminSignInError::NoRole)?;
        // If two identities have the email address of an invited user, the first to sign in is bound to the account.
        if !account.has_signed_in && !self.store.bind_admin_identity(&user.id, &subject).await? {
            return Err(AdminSignInError::NoRole);
        }
        let user = match account.role_from {
            RoleSource::Owner => user,
            RoleSource::Claim => self.with_role(user, claimed, from).await?,
        };
        Ok(self.begin(&user, &from.address).await?)
    }

    /// Creates the account of an identity whose claim grants a role.
    async fn join_by_claim(
        &self,
        role: Role,
        identity: &Identity,
        subject: &str,
        from: &RequestOrigin,
    ) -> Result<AdminUserRow, AdminSignInError> {
        for name in oidc_account::names(identity.name(), subject) {
            let mut entry = actor(&name, from).entry(&self.rng, self.clock.as_ref(), AdminAction::Join, &name);
            entry.latter = audit_json(&json!({ "role": role, "provider": identity.issuer }));
            let new = NewProviderUser {
                id: &self.rng.id(self.clock.as_ref()),
                name: &name,
                role,
                role_from: RoleSource::Claim,
                identity: IdentityHash::Subject(subject),
                created_at: self.clock.now(),
            };
            if self.store.add_provider_admin(new, &entry).await? != AddedUser::NameTaken {
                break;
            }
        }
        // Created here, or by a concurrent sign-in of the same person.
        self.store.admin_of_identity(subject, None).await?.ok_or(AdminSignInError::NoRole)
    }

    /// Updates the user's role to the one that the claim grants now.
    async fn with_role(
        &self,
        user: AdminUserRow,
        claimed: Option<Role>,
        from: &RequestOrigin,
    ) -> Result<AdminUserRow, AdminSignInError> {
        let role = claimed.ok_or(AdminSignInError::NoRole)?;
        if role != user.role {
            let mut entry =
                actor(&user.name, from).entry(&self.rng, self.clock.as_ref(), AdminAction::ChangeRole, &user.name);
            entry.former = audit_json(&json!({ "role": user.role }));
            entry.latter = audit_json(&json!({ "role": role, "by": "claim" }));
            self.store.set_claimed_role(&user.id, role, &entry).await?;
        }
        Ok(AdminUserRow { role, ..user })
    }
}

fn actor(name: &str, from: &RequestOrigin) -> Actor {
    Actor { name: name.to_owned(), via: ActedVia::Page, address: from.address.clone() }
}
