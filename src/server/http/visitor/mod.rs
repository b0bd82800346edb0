//! Pages and forms of a visitor: sign-in, consent, history, images.

pub(super) mod consent;
pub(super) mod history;
pub(super) mod oidc;
pub(super) mod sign_in;
