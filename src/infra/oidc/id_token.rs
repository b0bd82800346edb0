//! Validation of ID tokens (OpenID Connect Core 1.0, 3.1.3.7).

use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use serde_json::{Map, Value};

use super::id_token_signatures::{self, ALGORITHMS};
use super::key_set::KeySet;
use crate::domain::time::Timestamp;

/// Maximum clock difference between the provider and this machine, in seconds.
const SKEW_SECONDS: i64 = 60;
/// Maximum age of a token in seconds: it is issued right after the sign-in.
const MAX_AGE_SECONDS: i64 = 600;
/// Maximum size of a token in bytes.
const MAX_TOKEN_BYTES: usize = 64 << 10;
/// Maximum length of a subject in characters (OpenID Connect Core 1.0, 2).
const MAX_SUBJECT_CHARS: usize = 255;

/// Verified identity of a user at the provider. Never printed.
#[derive(Clone, PartialEq)]
pub struct Identity {
    /// Issuer of the token.
    pub issuer: String,
    /// Subject at the issuer; never reassigned to another user.
    pub subject: String,
    claims: Map<String, Value>,
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity").finish_non_exhaustive()
    }
}

impl Identity {
    /// Returns the e-mail address if the provider has verified it.
    #[must_use]
    pub fn verified_email(&self) -> Option<&str> {
        let is_verified = matches!(self.claims.get("email_verified"), Some(Value::Bool(true)));
        self.claims.get("email").and_then(Value::as_str).filter(|email| is_verified && !email.is_empty())
    }

    /// Returns the preferred user name.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.claims.get("preferred_username").and_then(Value::as_str)
    }

    /// Returns the texts of a claim; its name may be a path through objects: `realm_access.roles`.
    #[must_use]
    pub fn texts(&self, claim: &str) -> Vec<&str> {
        let nested = || {
            let (first, rest) = claim.split_once('.')?;
            rest.split('.').try_fold(self.claims.get(first)?, |value, name| value.get(name))
        };
        match self.claims.get(claim).or_else(nested) {
            Some(Value::String(text)) => vec![text],
            Some(Value::Array(values)) => values.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        }
    }
}

/// Error of an ID token. No variant contains text of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Not an ID token.
    #[error("the ID token cannot be read")]
    Unreadable,
    /// Unsigned, or signed by an unsafe algorithm.
    #[error("the ID token is signed by an algorithm that is not accepted")]
    Algorithm,
    /// Signed by a key that the provider does not publish.
    #[error("the ID token is signed by a key that the provider does not publish")]
    UnknownKey,
    /// The signature is wrong.
    #[error("the signature of the ID token is wrong")]
    Signature,
    /// From another provider.
    #[error("the ID token is from another issuer")]
    Issuer,
    /// For another client.
    #[error("the ID token is for another client")]
    Audience,
    /// For another sign-in.
    #[error("the ID token belongs to another sign-in")]
    Nonce,
    /// Expired, or issued in the future.
    #[error("the ID token has expired or is from the future: check the clocks of this machine and of the provider")]
    Time,
    /// Without a subject.
    #[error("the ID token has no usable subject")]
    Subject,
}

/// Expected claims of a token.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected<'e> {
    pub(super) issuer: &'e str,
    pub(super) client_id: &'e str,
    pub(super) nonce: &'e str,
    pub(super) now: Timestamp,
}

/// Verifies a token and returns its identity.
///
/// # Errors
/// [`TokenError`]; with [`TokenError::UnknownKey`] the keys may be out of date.
pub(super) fn verify(token: &str, keys: &KeySet, expected: Expected<'_>) -> Result<Identity, TokenError> {
    if token.len() > MAX_TOKEN_BYTES {
        return Err(TokenError::Unreadable);
    }
    let (algorithm, key_id) = algorithm_of(token)?;
    let key = keys.find(key_id.as_deref(), algorithm).ok_or(TokenError::UnknownKey)?;
    let claims = signed_claims(token, key, algorithm)?;
    check_claims(&claims, expected)?;
    let subject = claims.get("sub").and_then(Value::as_str).filter(|subject| is_subject(subject));
    let subject = subject.ok_or(TokenError::Subject)?.to_owned();
    Ok(Identity { issuer: expected.issuer.to_owned(), subject, claims })
}

/// Returns the algorithm and key id in a token's header.
fn algorithm_of(token: &str) -> Result<(Algorithm, Option<String>), TokenError> {
    // "none" does not parse as an algorithm.
    let header = decode_header(token).map_err(|_| TokenError::Algorithm)?;
    let is_other = header.typ.as_deref().is_some_and(|kind| !kind.eq_ignore_ascii_case("JWT"));
    if is_other || header.crit.is_some() || header.enc.is_some() || header.zip.is_some() {
        return Err(TokenError::Unreadable);
    }
    if ALGORITHMS.contains(&header.alg) { Ok((header.alg, header.kid)) } else { Err(TokenError::Algorithm) }
}

/// Returns the claims of a token if this key has signed it. The claims are checked elsewhere, with our clock.
fn signed_claims(token: &str, key: &Jwk, algorithm: Algorithm) -> Result<Map<String, Value>, TokenError> {
    id_token_signatures::install();
    let key = DecodingKey::from_jwk(key).map_err(|_| TokenError::UnknownKey)?;
    let mut only_signature = Validation::new(algorithm);
    only_signature.required_spec_claims.clear();
    only_signature.validate_exp = false;
    only_signature.validate_aud = false;
    let decoded = decode::<Map<String, Value>>(token, &key, &only_signature);
    Ok(decoded.map_err(|_| TokenError::Signature)?.claims)
}

fn check_claims(claims: &Map<String, Value>, expected: Expected<'_>) -> Result<(), TokenError> {
    let text = |name: &str| claims.get(name).and_then(Value::as_str);
    if text("iss") != Some(expected.issuer) {
        return Err(TokenError::Issuer);
    }
    let audiences: Vec<&str> = match claims.get("aud") {
        Some(Value::String(audience)) => vec![audience],
        Some(Value::Array(audiences)) => audiences.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    // A token for several audiences must name this client as its authorized party.
    let is_party = match text("azp") {
        Some(party) => party == expected.client_id,
        None => audiences.len() == 1 && !claims.contains_key("azp"),
    };
    if !is_party || !audiences.contains(&expected.client_id) {
        return Err(TokenError::Audience);
    }
    if text("nonce") != Some(expected.nonce) {
        return Err(TokenError::Nonce);
    }
    if is_in_time(claims, expected.now.0 / 1_000) { Ok(()) } else { Err(TokenError::Time) }
}

fn is_in_time(claims: &Map<String, Value>, now: i64) -> bool {
    let seconds = |name: &str| match claims.get(name) {
        None => Some(None),
        // Fractions are allowed (RFC 7519, 2).
        Some(value) => value.as_i64().or_else(|| value.as_f64().and_then(whole)).map(Some),
    };
    let (Some(Some(expires)), Some(Some(issued)), Some(begins)) = (seconds("exp"), seconds("iat"), seconds("nbf"))
    else {
        return false;
    };
    let latest = now.saturating_add(SKEW_SECONDS);
    expires.saturating_add(SKEW_SECONDS) > now
        && issued <= latest
        && issued.saturating_add(MAX_AGE_SECONDS) >= now
        && begins.is_none_or(|begins| begins <= latest)
}

#[expect(clippy::cast_possible_truncation, reason = "it lies within ten thousand years")]
fn whole(seconds: f64) -> Option<i64> {
    (0.0..=253_402_300_799.0).contains(&seconds).then_some(seconds as i64)
}

fn is_subject(subject: &str) -> bool {
    !subject.is_empty() && subject.len() <= MAX_SUBJECT_CHARS && !subject.contains(char::is_control)
}

#[cfg(test)]
mod tests;
