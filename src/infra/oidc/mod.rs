//! Sign-in with OpenID Connect: the authorization code flow with PKCE (OpenID Connect Core 1.0, RFC 6749, 7636, 9207).
//!
//! Everything from the provider is verified before use: its metadata must be of the configured issuer, its ID token signed by one of its
//! keys, for this arena, for this sign-in and in time. Other fields are ignored.

mod client;
mod http;
mod id_token;
mod id_token_signatures;
mod key_set;
mod metadata;
mod sign_in_state;

pub use client::{CALLBACK_PATH, OidcClient, OidcError, ProviderCallback, check};
pub use id_token::{Identity, TokenError};
pub use sign_in_state::{FLOW_MINUTES, Purpose, SignInFlow};
