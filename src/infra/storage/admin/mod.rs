//! Tables of the admin: accounts, sessions, API keys, the audit log and what admins decide.

pub(super) mod api_keys;
pub(super) mod audit;
pub(super) mod deletion_requests;
pub(super) mod identities;
pub(super) mod model_register;
pub(super) mod overview;
pub(super) mod reviews;
pub(super) mod sessions;
pub(super) mod users;
pub(super) mod webhooks;
