//! Signing in at a provider of OpenID Connect: the authorization code flow with PKCE (OpenID Connect Core 1.0, RFC 6749, 7636, 9207).
//!
//! Nothing that comes from the provider is believed before it is checked: its description has to be of the issuer of the settings, its
//! ID token signed by one of its keys, for this arena, for this very sign-in and in time. What it says beside that is not read.

mod client;
mod http;
mod id_token;
mod id_token_signatures;
mod key_set;
mod metadata;
mod sign_in_state;

pub use client::{CALLBACK, OidcClient, OidcError, ProviderCallback, check};
pub use id_token::{Identity, TokenError};
pub use sign_in_state::{FLOW_MINUTES, Flow, Purpose};
