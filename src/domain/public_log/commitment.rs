//! How an entry commits to what it does not show: SHA-256 over a random salt and the private parts. The salt lies in a table of its own.
//! With salt and parts, anyone can prove what was logged; once the salt is deleted the commitment says nothing, not even to somebody who
//! guesses the parts, and the tree stays as it is.

use serde::Serialize;

use super::hash::sha256_hex;

/// Bytes of a salt.
pub const SALT_BYTES: usize = 32;

/// What an entry does not show of a vote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PrivateParts<'p> {
    /// The vote's id, which only the voter got.
    pub vote: &'p str,
    /// The battle's id.
    pub battle: &'p str,
    /// The voter's name in exports.
    pub voter: &'p str,
    /// What was asked and answered.
    pub turns: Vec<PrivateTurn<'p>>,
}

/// The texts of a turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PrivateTurn<'p> {
    /// What the visitor asked.
    pub prompt: &'p str,
    /// The reply on side A.
    pub a: &'p str,
    /// The reply on side B.
    pub b: &'p str,
}

impl PrivateParts<'_> {
    /// The bytes behind the salt: a JSON object.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("texts")
    }

    /// The commitment in hexadecimal digits.
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
        let parts = PrivateParts { vote: "v", battle: "b", voter: "p", turns: turns.clone() };
        let json = r#"{"vote":"v","battle":"b","voter":"p","turns":[{"prompt":"Why?","a":"So.","b":""}]}"#;
        assert_eq!(parts.to_json(), json);
        let commitment = parts.commit(&[0; SALT_BYTES]);
        let others = [
            PrivateParts { vote: "w", ..parts.clone() },
            PrivateParts { battle: "", ..parts.clone() },
            PrivateParts { voter: "q", ..parts.clone() },
            PrivateParts { turns: Vec::new(), ..parts.clone() },
            PrivateParts { turns: vec![PrivateTurn { prompt: "Why?So.", a: "", b: "" }], ..parts.clone() },
        ];
        assert!(others.iter().all(|other| other.commit(&[0; SALT_BYTES]) != commitment));
        assert_ne!(parts.commit(&[1; SALT_BYTES]), commitment);
        assert_eq!(commitment, sha256_hex(&[&[0; 32], json.as_bytes()].concat()), "salt, then parts");
    }
}
