//! Receipts of voters: the proof that a vote is in the log, or the promise that it will be.

use serde_json::Value;

use super::entry_bundle::decode_entries;
use super::hash::TreeHash;
use super::merkle_proof::TreeHead;
use super::promise::{BrokenPromise, PromiseError, VotePromise};
use super::signed_note::VerifierKey;
use super::tile::Tile;
use super::tlog_proof::{InclusionError, LoggedEntry};

/// Receipt of a vote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogReceipt {
    /// Name of the receipt's file.
    pub name: String,
    /// Content of the receipt.
    pub kept: ReceiptContent,
}

/// Content of a receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReceiptContent {
    /// Proof that the entry is in the log.
    Proof(LoggedEntry),
    /// Signed promise that the entry will be in the log.
    Promise(String),
}

/// Statement of a receipt that was verified without the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckedReceipt<'r> {
    /// The entry is in this tree.
    Logged(&'r LoggedEntry, TreeHead),
    /// The log promised this vote.
    Promised(VotePromise),
}

/// Promises for which no entry was found yet.
#[derive(Debug)]
pub struct OpenPromises<'r>(Vec<(&'r LogReceipt, VotePromise)>);

/// Error of a receipt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("receipt {name}: {reason}")]
pub struct LogReceiptError {
    /// Name of the receipt.
    pub name: String,
    /// Problem of the receipt.
    pub reason: LogReceiptProblem,
}

/// Problem of a receipt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LogReceiptProblem {
    /// The text is not a receipt.
    #[error("this is neither a proof in the form of c2sp.org/tlog-proof@v1 nor a promise of a vote")]
    Malformed,
    /// The entry or its position beside the proof differs from what the proof proves.
    #[error("its `entry` or `index` is not that of its proof, which proves the entry at position {index}: {entry}")]
    OtherThanProved {
        /// Position that is proved.
        index: u64,
        /// Entry that is proved.
        entry: String,
    },
    /// The inclusion proof is invalid.
    #[error(transparent)]
    Inclusion(#[from] InclusionError),
    /// The log has another entry at this position.
    #[error("the log has another entry at position {0}")]
    OtherEntry(u64),
    /// The promise is not signed by the log.
    #[error(transparent)]
    Promise(#[from] PromiseError),
    /// The entry of the vote differs from the promise.
    #[error(transparent)]
    Broken(#[from] BrokenPromise),
    /// No entry matches the promise.
    #[error(
        "the vote is not in the log; the arena promised it for {0} (UTC) at the latest: if that is past, it broke its promise, and \
         this file proves it"
    )]
    NotIncluded(String),
}

impl LogReceipt {
    /// Parses a receipt: a proof or a promise, or the JSON that contains it. `entry` and `index` of the JSON have to be those of the proof.
    ///
    /// # Errors
    /// [`LogReceiptProblem::Malformed`] and [`LogReceiptProblem::OtherThanProved`].
    pub fn read(name: &str, text: &str) -> Result<Self, LogReceiptError> {
        let json: Option<Value> = serde_json::from_str(text).ok();
        let held = |key: &str| json.as_ref().and_then(|json| json[key].as_str());
        let text = held("proof").or_else(|| held("promise")).unwrap_or(text);
        let kept = match VotePromise::is_promise_text(text) {
            true => Some(ReceiptContent::Promise(text.to_owned())),
            false => LoggedEntry::parse(text).map(ReceiptContent::Proof),
        };
        let error = |reason| LogReceiptError { name: name.to_owned(), reason };
        let kept = kept.ok_or_else(|| error(LogReceiptProblem::Malformed))?;
        if let (ReceiptContent::Proof(proved), Some(json)) = (&kept, &json) {
            let is_other = |key: &str, value: Value| json.get(key).is_some_and(|given| *given != value);
            let entry = String::from_utf8_lossy(&proved.entry).into_owned();
            if is_other("entry", entry.as_str().into()) || is_other("index", proved.index.into()) {
                return Err(error(LogReceiptProblem::OtherThanProved { index: proved.index, entry }));
            }
        }
        Ok(Self { name: name.to_owned(), kept })
    }

    /// Verifies a receipt without the log.
    ///
    /// # Errors
    /// [`LogReceiptProblem::Inclusion`] or [`LogReceiptProblem::Promise`].
    pub fn verify(&self, key: &VerifierKey) -> Result<CheckedReceipt<'_>, LogReceiptError> {
        match &self.kept {
            ReceiptContent::Proof(logged) => {
                let checkpoint = logged.verify(key).map_err(|error| self.wrong(error.into()))?;
                Ok(CheckedReceipt::Logged(logged, checkpoint.head))
            }
            ReceiptContent::Promise(note) => {
                let promise = VotePromise::verify(note, key).map_err(|error| self.wrong(error.into()))?;
                Ok(CheckedReceipt::Promised(promise))
            }
        }
    }

    /// Checks a proof against the hashes of a tile of level 0, if its entry is below that tile.
    ///
    /// # Errors
    /// [`LogReceiptError`].
    pub fn check_in(&self, tile: Tile, hashes: &[u8], key: &VerifierKey) -> Result<(), LogReceiptError> {
        let ReceiptContent::Proof(logged) = &self.kept else { return Ok(()) };
        if !(tile.start()..tile.end()).contains(&logged.index) {
            return Ok(());
        }
        self.verify(key)?;
        let leaf = TreeHash::leaf(&logged.entry);
        let at = usize::try_from(logged.index - tile.start()).unwrap_or(usize::MAX);
        if hashes.chunks(leaf.0.len()).nth(at) == Some(&leaf.0[..]) { Ok(()) } else { Err(self.other_entry(logged)) }
    }

    /// Checks that the position of a proof's entry is within a log of `size` entries.
    ///
    /// # Errors
    /// [`LogReceiptProblem::OtherEntry`].
    pub fn check_size(&self, size: u64) -> Result<(), LogReceiptError> {
        match &self.kept {
            ReceiptContent::Proof(logged) if logged.index >= size => Err(self.other_entry(logged)),
            _ => Ok(()),
        }
    }

    fn other_entry(&self, logged: &LoggedEntry) -> LogReceiptError {
        self.wrong(LogReceiptProblem::OtherEntry(logged.index))
    }

    fn wrong(&self, reason: LogReceiptProblem) -> LogReceiptError {
        LogReceiptError { name: self.name.clone(), reason }
    }
}

impl<'r> OpenPromises<'r> {
    /// Collects the promises among receipts, and verifies that the log signed them.
    ///
    /// # Errors
    /// [`LogReceiptProblem::Promise`].
    pub fn new(receipts: &'r [LogReceipt], key: &VerifierKey) -> Result<Self, LogReceiptError> {
        let mut open = Vec::new();
        for receipt in receipts.iter().filter(|receipt| matches!(receipt.kept, ReceiptContent::Promise(_))) {
            if let CheckedReceipt::Promised(promise) = receipt.verify(key)? {
                open.push((receipt, promise));
            }
        }
        Ok(Self(open))
    }

    /// Removes the promises that are kept by a bundle of entries; `log` is the log's name.
    ///
    /// # Errors
    /// [`LogReceiptProblem::Broken`].
    pub fn keep(&mut self, bundle: &[u8], log: &str) -> Result<(), LogReceiptError> {
        if self.0.is_empty() {
            return Ok(());
        }
        let entries = decode_entries(bundle).unwrap_or_default();
        for (receipt, promise) in std::mem::take(&mut self.0) {
            let mut is_kept = false;
            for &entry in &entries {
                is_kept |= promise.is_kept_by(entry, log).map_err(|error| receipt.wrong(error.into()))?;
            }
            if !is_kept {
                self.0.push((receipt, promise));
            }
        }
        Ok(())
    }

    /// Checks that every promise was kept.
    ///
    /// # Errors
    /// [`LogReceiptProblem::NotIncluded`].
    pub fn check_none_left(&self) -> Result<(), LogReceiptError> {
        let Some((receipt, promise)) = self.0.first() else { return Ok(()) };
        let time = jiff::Timestamp::from_millisecond(promise.included_by)
            .map_or_else(|_| "ever".into(), |time| time.to_string());
        Err(receipt.wrong(LogReceiptProblem::NotIncluded(time)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_stands_beside_a_proof_is_what_it_proves() {
        let entry =
            LoggedEntry { entry: b"a vote".to_vec(), index: 7, hashes: Vec::new(), checkpoint: "log\n".to_owned() };
        let proof = entry.to_text();
        let read = |receipt: Value| LogReceipt::read("mine", &receipt.to_string()).map_err(|error| error.reason);
        assert!(LogReceipt::read("mine", &proof).is_ok());
        assert!(read(json!({ "proof": proof, "entry": "a vote", "index": 7 })).is_ok());
        assert!(read(json!({ "proof": proof })).is_ok());
        for changed in
            [json!({ "entry": "another" }), json!({ "index": 8 }), json!({ "index": "7" }), json!({ "entry": null })]
        {
            let mut receipt = json!({ "proof": proof, "entry": "a vote", "index": 7 });
            receipt.as_object_mut().unwrap().extend(changed.as_object().unwrap().clone());
            let refused = read(receipt).unwrap_err();
            assert_eq!(
                refused,
                LogReceiptProblem::OtherThanProved { index: 7, entry: "a vote".to_owned() },
                "{changed}"
            );
        }
    }
}
