//! Rules of the admin: roles, account names and passphrases, second factors, and audit log actions.

pub mod account;
pub mod action;
pub mod deletion_request;
pub mod key_scope;
pub mod model_stats;
pub mod oidc_account;
pub mod role;
pub mod second_factor;
pub mod totp;

/// Maximum length in characters of a reason for an exclusion, a deletion request or its answer, or the exclusion of an annotator.
pub const MAX_REASON_CHARS: usize = 500;
