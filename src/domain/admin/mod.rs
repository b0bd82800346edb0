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
