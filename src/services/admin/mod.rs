//! The admin: user accounts, their sessions, and the audit log of their actions. Every action of a page has a command that calls the same
//! functions.

pub mod actor;
pub mod api_keys;
pub mod leak_and_label_reviews;
pub mod model_health;
pub mod oidc_sign_in;
pub mod oidc_users;
pub mod second_factor;
pub mod sessions;
pub mod users;
