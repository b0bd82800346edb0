//! Commitments of entries to private data: SHA-256 over a random salt and the private parts. Salts are stored in a separate table. Salt and
//! parts together prove what was logged; once the salt is deleted the commitment reveals nothing, even to someone who guesses the parts,
//! and the tree is unchanged.

use serde::Serialize;

use super::hash::sha256_hex;

/// Length of a salt, in bytes.
pub const SALT_BYTES: usize = 32;

/// Private parts of a vote, which its entry commits to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PrivateVoteData<'p> {
    /// Id of the vote, which only the voter knows.
    pub vote: &'p str,
    /// Id of the battle.
    pub battle: &'p str,
    /// Voter's pseudonym in exports.
    pub voter: &'p str,
    /// Texts of the battle.
    pub turns: Vec<PrivateTurn<'p>>,
}

/// Texts of a turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PrivateTurn<'p> {
    /// Prompt of the visitor.
    pub prompt: &'p str,
    /// The reply on side A.
    pub a: &'p str,
    /// The reply on side B.
    pub b: &'p str,
}

impl PrivateVoteData<'_> {
    /// Returns the hashed bytes after the salt: a JSON object.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("texts")
    }

    /// Computes the commitment, in hexadecimal.
    #[must_use]
    pub fn commit(&self, salt: &[u8; SALT_BYTES]) -> String {
        sha256_hex(&[salt, self.to_json().as_bytes()].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commitment_changes_with_the_salt_and_with_every_part() {
        let turns = vec![PrivateTurn { prompt: "Why?", a: "So.", b: "" }];
        let parts = PrivateVoteData { vote: "v", battle: "b", voter: "p", turns: turns.clone() };
        let json = r#"{"vote":"v","battle":"b","voter":"p","turns":[{"prompt":"Why?","a":"So.","b":""}]}"#;
        assert_eq!(parts.to_json(), json);
        let commitment = parts.commit(&[0; SALT_BYTES]);
        let others = [
            PrivateVoteData { vote: "w", ..parts.clone() },
            PrivateVoteData { battle: "", ..parts.clone() },
            PrivateVoteData { voter: "q", ..parts.clone() },
            PrivateVoteData { turns: Vec::new(), ..parts.clone() },
            PrivateVoteData { turns: vec![PrivateTurn { prompt: "Why?So.", a: "", b: "" }], ..parts.clone() },
        ];
        assert!(others.iter().all(|other| other.commit(&[0; SALT_BYTES]) != commitment));
        assert_ne!(parts.commit(&[1; SALT_BYTES]), commitment);
        assert_eq!(commitment, sha256_hex(&[&[0; 32], json.as_bytes()].concat()), "salt, then parts");
    }
}
