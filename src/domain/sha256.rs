//! SHA-256 as text.

use sha2::{Digest, Sha256};

use crate::hex::hex;

/// The SHA-256 of bytes in hexadecimal, such as the version of a suite from its data file.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}
