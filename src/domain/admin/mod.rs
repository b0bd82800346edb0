//! Who may do what in the admin, and the rules of accounts: roles, names and passphrases, second factors, and what the audit log
//! calls each action.

pub mod account;
pub mod action;
pub mod deletion_request;
pub mod key_scope;
pub mod model_stats;
pub mod oidc_account;
pub mod role;
pub mod second_factor;
pub mod totp;

/// Most characters of a reason that somebody gives for an exclusion, a deletion request or its answer, or for leaving an annotator out.
pub const LONGEST_REASON: usize = 500;
