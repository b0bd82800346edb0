//! Signing keys of a provider (RFC 7517).

use jsonwebtoken::Algorithm;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, PublicKeyUse};
use serde::Deserialize;
use serde_json::Value;

use super::id_token_signatures::ALGORITHMS;

/// Maximum number of keys that are read.
const MAX_KEYS: usize = 100;

/// Keys for verifying signatures.
#[derive(Debug, Clone, Default)]
pub(super) struct KeySet(Vec<Jwk>);

#[derive(Deserialize)]
struct KeyDocument {
    keys: Vec<Value>,
}

impl KeySet {
    /// Parses a key set; keys of other types are left out. `None` if the document is invalid.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let document: KeyDocument = serde_json::from_slice(bytes).ok()?;
        let keys = document.keys.into_iter().take(MAX_KEYS).filter_map(|key| serde_json::from_value(key).ok());
        Some(Self(keys.filter(is_for_signatures).collect()))
    }

    /// Returns the key of a signature: the one with the token's key id, or the only one that fits.
    pub(super) fn find(&self, id: Option<&str>, algorithm: Algorithm) -> Option<&Jwk> {
        let suits = |key: &&Jwk| {
            (id.is_none() || key.common.key_id.as_deref() == id)
                && fits_algorithm(key, algorithm)
                && ALGORITHMS.contains(&algorithm)
        };
        let mut found = self.0.iter().filter(suits);
        let key = found.next()?;
        found.next().is_none().then_some(key)
    }
}

fn is_for_signatures(key: &Jwk) -> bool {
    key.common.public_key_use.as_ref().is_none_or(|is_for| *is_for == PublicKeyUse::Signature)
}

/// Whether a key is of the type that an algorithm needs, and not restricted to another one.
fn fits_algorithm(key: &Jwk, algorithm: Algorithm) -> bool {
    let of_kind = match (&key.algorithm, algorithm) {
        (AlgorithmParameters::RSA(_), algorithm) => matches!(
            algorithm,
            Algorithm::RS256
                | Algorithm::RS384
                | Algorithm::RS512
                | Algorithm::PS256
                | Algorithm::PS384
                | Algorithm::PS512
        ),
        (AlgorithmParameters::EllipticCurve(key), Algorithm::ES256) => key.curve == EllipticCurve::P256,
        (AlgorithmParameters::EllipticCurve(key), Algorithm::ES384) => key.curve == EllipticCurve::P384,
        (AlgorithmParameters::OctetKeyPair(key), Algorithm::EdDSA) => key.curve == EllipticCurve::Ed25519,
        _ => false,
    };
    let is_for_it = |named| Algorithm::try_from(named).is_ok_and(|named| named == algorithm);
    of_kind && key.common.key_algorithm.is_none_or(is_for_it)
}
