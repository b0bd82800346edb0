//! SHA-256 hashes of the tree: a leaf and a node never hash the same bytes (RFC 6962, section 2.1).

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{Context, SHA256, digest};

use crate::hex::hex;

/// Length of a hash in bytes.
pub const HASH_BYTES: usize = 32;

/// The hash of an entry or of a subtree.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TreeHash(pub [u8; HASH_BYTES]);

impl fmt::Debug for TreeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_base64())
    }
}

impl TreeHash {
    /// The hash of an entry.
    #[must_use]
    pub fn leaf(entry: &[u8]) -> Self {
        Self::sha256(&[&[0], entry])
    }

    /// The hash of two subtrees side by side.
    #[must_use]
    pub fn node(left: Self, right: Self) -> Self {
        Self::sha256(&[&[1], &left.0, &right.0])
    }

    /// The hash of the tree without entries.
    #[must_use]
    pub fn of_nothing() -> Self {
        Self::sha256(&[])
    }

    /// SHA-256 of these parts in a row.
    #[must_use]
    pub(super) fn sha256(parts: &[&[u8]]) -> Self {
        let mut context = Context::new(&SHA256);
        parts.iter().for_each(|part| context.update(part));
        Self::from_digest(context.finish().as_ref())
    }

    fn from_digest(bytes: &[u8]) -> Self {
        Self(bytes.try_into().expect("SHA-256 has 32 bytes"))
    }

    /// Standard base64, as checkpoints and proofs have it.
    #[must_use]
    pub fn to_base64(self) -> String {
        STANDARD.encode(self.0)
    }

    /// Reads [`TreeHash::to_base64`]; `None` for anything else.
    #[must_use]
    pub fn from_base64(text: &str) -> Option<Self> {
        STANDARD.decode(text).ok()?.try_into().ok().map(Self)
    }
}

/// SHA-256 as lower-case hexadecimal digits.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(digest(&SHA256, bytes).as_ref())
}
