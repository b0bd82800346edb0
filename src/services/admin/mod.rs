//! The admin: who may run the arena, their sessions, and the audit log of what they do. Everything that a page does, a command does too,
//! by the same functions.

pub mod actor;
pub mod api_keys;
pub mod leak_and_label_reviews;
pub mod model_health;
pub mod oidc_sign_in;
pub mod oidc_users;
pub mod second_factor;
pub mod sessions;
pub mod users;
