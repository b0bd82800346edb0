//! Pseudonyms of voters outside the database.

use sha2::{Digest, Sha256};

use crate::hex::hex;

/// Returns a voter's pseudonym in exports, lists and commands: the same for all votes of one session, and not reversible. Empty for an
/// imported vote without a voter: a shared pseudonym would make all of these one person's.
#[must_use]
pub fn voter_pseudonym(visitor: &str) -> String {
    if visitor.is_empty() {
        return String::new();
    }
    let digest = Sha256::digest(format!("langya judge {visitor}"));
    hex(&digest[..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_voter_has_one_pseudonym_that_is_not_the_session() {
        assert_eq!(voter_pseudonym("session-of-ann"), voter_pseudonym("session-of-ann"));
        assert_ne!(voter_pseudonym("session-of-ann"), voter_pseudonym("session-of-bob"));
        assert_eq!(voter_pseudonym(""), "", "votes without a voter are not one person's");
        // The database contains the plain hash of a session; a pseudonym must not be found there.
        let plain: String = Sha256::digest("session-of-ann").iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(!plain.starts_with(&voter_pseudonym("session-of-ann")));
    }
}
