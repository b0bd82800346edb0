//! Promise in a voter's receipt: the arena signs the vote and the time by which it will be in the log. The vote's entry commits to the
//! promise, so its holder can find the entry; if there is none in time, the signature proves the breach.
//!
//! The text is a signed note like a checkpoint, under the same key. The two cannot be confused: the first line of a checkpoint is the log's
//! name, and its second a number.

use serde::{Deserialize, Serialize};

use super::entry::LogEntry;
use super::hash::sha256_hex;
use super::signed_note::{NoteError, VerifierKey};

/// First line of a promise.
const VERSION: &str = "langya-vote-promise@v1";
/// Promise that a vote will be in the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VotePromise {
    /// Id of the vote.
    pub vote: String,
    /// Id of the battle.
    pub battle: String,
    /// The model on side A.
    pub model_a: String,
    /// The model on side B.
    pub model_b: String,
    /// `model_a`, `model_b`, `tie` or `both_bad`.
    pub winner: String,
    /// Time of the vote, in milliseconds since 1970.
    pub time: i64,
    /// Deadline for the entry in the log, in milliseconds since 1970.
    pub included_by: i64,
}

/// Error of a promise that is not valid for a log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PromiseError {
    /// The signature is not the log's.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// The signed text is not a promise of this log.
    #[error("the signed text is not a promise of the log {0}")]
    NotAPromise(String),
}

/// Error of an entry that differs from the promised vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the vote's entry differs from what the arena promised")]
pub struct BrokenPromise;

impl VotePromise {
    /// Formats the text to sign, under the name of the log.
    #[must_use]
    pub fn to_text(&self, log: &str) -> String {
        let json = serde_json::to_string(self).expect("texts and numbers");
        format!("{VERSION}\n{log}\n{json}\n")
    }

    /// Computes the promise's hash in the vote's entry: SHA-256 of the signed text.
    #[must_use]
    pub fn hash(&self, log: &str) -> String {
        sha256_hex(self.to_text(log).as_bytes())
    }

    /// Whether an entry is the promised one.
    ///
    /// # Errors
    /// [`BrokenPromise`] if it commits to this promise but states another vote.
    pub fn is_kept_by(&self, entry: &[u8], log: &str) -> Result<bool, BrokenPromise> {
        let hash = self.hash(log);
        if !std::str::from_utf8(entry).is_ok_and(|entry| entry.contains(&hash)) {
            return Ok(false);
        }
        match serde_json::from_slice(entry) {
            Ok(LogEntry::Vote(vote)) if vote.promise.as_deref() == Some(&hash) => {
                let said = (vote.time, &*vote.model_a, &*vote.model_b, &*vote.winner);
                let promised = (self.time, &*self.model_a, &*self.model_b, &*self.winner);
                if said == promised { Ok(true) } else { Err(BrokenPromise) }
            }
            _ => Ok(false),
        }
    }

    /// Whether a text begins like a promise.
    #[must_use]
    pub fn is_promise_text(text: &str) -> bool {
        text.strip_prefix(VERSION).is_some_and(|rest| rest.starts_with('\n'))
    }

    /// Parses the promise of a note that this log signed.
    ///
    /// # Errors
    /// [`PromiseError`].
    pub fn verify(note: &str, key: &VerifierKey) -> Result<Self, PromiseError> {
        let text = key.verify(note)?;
        let promise = text.strip_prefix(&format!("{VERSION}\n{}\n", key.name())).and_then(|rest| {
            let json = rest.strip_suffix('\n').filter(|json| !json.contains('\n'))?;
            serde_json::from_str::<Self>(json).ok()
        });
        // Only the canonical form, since the entry has the hash of the text.
        let promise = promise.filter(|promise| promise.to_text(key.name()) == text);
        promise.ok_or_else(|| PromiseError::NotAPromise(key.name().to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use ring::signature::{Ed25519KeyPair, KeyPair};

    use super::*;
    use crate::public_log::checkpoint::Checkpoint;
    use crate::public_log::hash::TreeHash;
    use crate::public_log::merkle_proof::TreeHead;

    fn promise() -> VotePromise {
        VotePromise {
            vote: "v1".into(),
            battle: "b1".into(),
            model_a: "one".into(),
            model_b: "二\n".into(),
            winner: "tie".into(),
            time: 1_700_000_000_000,
            included_by: 1_700_000_060_000,
        }
    }

    fn signed(text: &str) -> (String, VerifierKey) {
        let pair = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
        let key = VerifierKey::new("arena.example/log", pair.public_key().as_ref().try_into().unwrap()).unwrap();
        (key.signed(text, pair.sign(text.as_bytes()).as_ref()), key)
    }

    #[test]
    fn a_promise_has_this_form_and_no_other() {
        let (note, key) = signed(&promise().to_text("arena.example/log"));
        let text = "langya-vote-promise@v1\narena.example/log\n{\"vote\":\"v1\",\"battle\":\"b1\",\"model_a\":\"one\",\
             \"model_b\":\"二\\n\",\"winner\":\"tie\",\"time\":1700000000000,\"included_by\":1700000060000}\n\n— arena.example/log ";
        assert!(note.starts_with(text) && VotePromise::is_promise_text(&note), "{note}");
        assert_eq!(VotePromise::verify(&note, &key), Ok(promise()));
        for (at, c) in note.char_indices() {
            let changed = format!("{}{}{}", &note[..at], if c == 'x' { 'y' } else { 'x' }, &note[at + c.len_utf8()..]);
            assert!(VotePromise::verify(&changed, &key).is_err(), "character {at}");
        }
        for text in [
            promise().to_text("another.example/log"),
            promise().to_text("arena.example/log").replace(",\"battle\"", ", \"battle\""),
            promise().to_text("arena.example/log") + "more\n",
            "arena.example/log\n1\nAAAA\n".into(),
        ] {
            let (note, key) = signed(&text);
            assert_eq!(
                VotePromise::verify(&note, &key),
                Err(PromiseError::NotAPromise("arena.example/log".into())),
                "{text}"
            );
        }
    }

    #[test]
    fn no_promise_is_a_checkpoint_and_no_checkpoint_a_promise() {
        assert_eq!(Checkpoint::parse(&promise().to_text("arena.example/log")), None);
        let head = TreeHead { size: 1, root: TreeHash::leaf(b"x") };
        let (note, key) = signed(&Checkpoint { origin: "langya-vote-promise@v1".into(), head }.to_text());
        assert!(VotePromise::verify(&note, &key).is_err());
    }

    #[test]
    fn an_entry_keeps_the_promise_that_it_names_and_no_other() {
        let log = "arena.example/log";
        let entry = |winner: &str, hash: &str, category: &str| {
            format!(
                "{{\"vote\":{{\"seq\":1,\"time\":1700000000000,\"model_a\":\"one\",\"model_b\":\"二\\n\",\
                 \"winner\":\"{winner}\",\"turn\":1,\"language\":\"en\",\"category\":\"{category}\",\
                 \"pairing_policy\":\"elo\",\"pair_probability\":0.1,\"voter\":\"00\",\"commitment\":\"ab\",\
                 \"promise\":\"{hash}\"}}}}"
            )
        };
        let hash = promise().hash(log);
        let kept = |entry: String| promise().is_kept_by(entry.as_bytes(), log);
        assert_eq!(kept(entry("tie", &hash, "")), Ok(true));
        assert_eq!(kept(entry("model_a", &hash, "")), Err(BrokenPromise));
        assert_eq!(kept(entry("tie", "00", "")), Ok(false));
        assert_eq!(kept(entry("tie", "00", &hash)), Ok(false), "a field that visitors fill");
        assert_eq!(promise().is_kept_by(b"\xff", log), Ok(false));
    }

    #[test]
    fn a_hash_is_of_one_promise_of_one_log() {
        let hash = promise().hash("arena.example/log");
        assert_eq!(hash.len(), 64);
        assert_ne!(hash, promise().hash("other.example/log"));
        assert_ne!(hash, VotePromise { included_by: 0, ..promise() }.hash("arena.example/log"));
    }
}
