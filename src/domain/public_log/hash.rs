//! SHA-256 hashes of the tree, with separate domains for leaves and nodes (RFC 6962, section 2.1).

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{Context, SHA256, digest};

use crate::hex::hex;

/// Length of a hash in bytes.
pub const HASH_BYTES: usize = 32;

/// Hash of an entry or a subtree.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TreeHash(pub [u8; HASH_BYTES]);

impl fmt::Debug for TreeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_base64())
    }
}

impl TreeHash {
    /// Computes the hash of an entry.
    #[must_use]
    pub fn leaf(entry: &[u8]) -> Self {
        Self::sha256(&[&[0], entry])
    }

    /// Computes the hash of a node from its two subtrees.
    #[must_use]
    pub fn node(left: Self, right: Self) -> Self {
        Self::sha256(&[&[1], &left.0, &right.0])
    }

    /// Returns the hash of the empty tree.
    #[must_use]
    pub fn empty_root() -> Self {
        Self::sha256(&[])
    }

    /// Computes SHA-256 of the concatenated parts.
    #[must_use]
    pub(super) fn sha256(parts: &[&[u8]]) -> Self {
        let mut context = Context::new(&SHA256);
        parts.iter().for_each(|part| context.update(part));
        Self::from_digest(context.finish().as_ref())
    }

    fn from_digest(bytes: &[u8]) -> Self {
        Self(bytes.try_into().expect("SHA-256 has 32 bytes"))
    }

    /// Encodes the hash as standard base64, as in checkpoints and proofs.
    #[must_use]
    pub fn to_base64(self) -> String {
        STANDARD.encode(self.0)
    }

    /// Parses [`TreeHash::to_base64`]; `None` for any other text.
    #[must_use]
    pub fn from_base64(text: &str) -> Option<Self> {
        STANDARD.decode(text).ok()?.try_into().ok().map(Self)
    }
}

/// Computes SHA-256 in lower-case hexadecimal.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(digest(&SHA256, bytes).as_ref())
}
