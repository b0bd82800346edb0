//! SHA-256 in hexadecimal.

use sha2::{Digest, Sha256};

use crate::hex::hex;

/// Computes the SHA-256 of bytes in hexadecimal, such as a suite's version from its data file.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}
