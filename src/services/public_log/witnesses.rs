//! Has witnesses cosign the latest checkpoint. The log does not wait for them: a checkpoint is published at once, and gets their signatures
//! as they answer.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::time::Instant;

use super::stored_tiles::hashes_of_ranges;
use super::{PublicLog, PublicLogError};
use crate::domain::public_log::cosignature::{WitnessKey, add_checkpoint_request};
use crate::domain::public_log::merkle_proof::consistency_ranges;
use crate::domain::public_log::signed_note::NoteError;
use crate::infra::config::WitnessSettings;
use crate::infra::llm::HttpClient;
use crate::infra::public_log::witness::{WitnessAnswer, WitnessError, add_checkpoint};
use crate::infra::storage::LogCheckpoint;

/// Back-off after a witness failed, so that one that hangs does not delay the others each time.
const FAILURE_COOL_DOWN: Duration = Duration::from_secs(60);

/// Error of cosigning a checkpoint.
#[derive(Debug, thiserror::Error)]
pub enum WitnessingError {
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] PublicLogError),
    /// The witness did not sign.
    #[error(transparent)]
    Witness(#[from] WitnessError),
    /// The signature does not match the checkpoint.
    #[error("its signature is not one of the checkpoint: {0}")]
    Note(#[from] NoteError),
    /// The witness has seen a longer log.
    #[error(
        "it has signed a tree of {known} entries, and the log has {size}: either the log was restored from a backup, or another arena uses its key"
    )]
    Longer {
        /// Tree size known to the witness.
        known: u64,
        /// Tree size of the log.
        size: u64,
    },
}

/// Result of a request to a witness.
#[derive(Debug)]
pub struct WitnessStatus {
    /// Key of the witness.
    pub witness: String,
    /// Name of the witness.
    pub name: String,
    /// Success, or the reason why it did not sign.
    pub result: Result<(), WitnessingError>,
}

/// State of the witnesses between checkpoints.
#[derive(Debug, Default)]
pub struct Witnesses {
    /// Tree size last signed by each witness, by key.
    signed: HashMap<String, u64>,
    /// Time of the last request to each failed witness, by key.
    failed: HashMap<String, Instant>,
}

impl Witnesses {
    /// Requests signatures of the latest checkpoint from witnesses that have not signed it, and adds them to it. Returns an empty list if
    /// all have, or there is no checkpoint.
    ///
    /// # Errors
    /// [`PublicLogError`] if the log cannot be read or its note not written.
    pub async fn cosign(
        &mut self,
        log: &PublicLog,
        client: &HttpClient,
        witnesses: &[WitnessSettings],
    ) -> Result<Vec<WitnessStatus>, PublicLogError> {
        let Some(latest) = log.latest().await? else { return Ok(Vec::new()) };
        let is_missing = |key: &WitnessKey| !matches!(key.cosigned_at(&latest.note), Ok(Some(_)));
        let may_answer = |key: &String| self.failed.get(key).is_none_or(|at| at.elapsed() >= FAILURE_COOL_DOWN);
        let open = witnesses.iter().filter(|witness| may_answer(&witness.key));
        let open = open.filter_map(|witness| Some((witness, WitnessKey::parse(&witness.key).ok()?)));
        let open: Vec<_> = open.filter(|(_, key)| is_missing(key)).collect();
        let mut answers: FuturesUnordered<_> = open
            .iter()
            .map(async |(witness, key)| {
                let known = self.signed.get(&witness.key).copied().unwrap_or(0).min(latest.head.size);
                (*witness, key, ask(log, client, &witness.url, key, &latest, known).await)
            })
            .collect();
        let (mut note, mut asked) = (latest.note.clone(), Vec::new());
        while let Some((witness, key, answer)) = answers.next().await {
            let result = match answer.and_then(|lines| Ok(key.add_to(&note, &lines)?)) {
                // There may be a newer checkpoint by now: it is cosigned the next time.
                Ok(more) => {
                    log.store.replace_log_note(&note, &more).await?;
                    note = more;
                    Ok(())
                }
                Err(error) => Err(error),
            };
            asked.push(WitnessStatus { witness: witness.key.clone(), name: key.name().to_owned(), result });
        }
        drop(answers);
        for WitnessStatus { witness, result, .. } in &asked {
            match result {
                Ok(()) => {
                    self.failed.remove(witness);
                    self.signed.insert(witness.clone(), latest.head.size);
                }
                Err(_) => {
                    self.failed.insert(witness.clone(), Instant::now());
                }
            }
        }
        Ok(asked)
    }
}

/// Requests a witness's signature lines for a checkpoint. A witness that last signed another size reports it, and the request is repeated
/// with that consistency proof.
async fn ask(
    log: &PublicLog,
    client: &HttpClient,
    url: &str,
    key: &WitnessKey,
    latest: &LogCheckpoint,
    known: u64,
) -> Result<String, WitnessingError> {
    let size = latest.head.size;
    let mut old = known;
    for _ in 0..2 {
        let proof = hashes_of_ranges(&log.store, &consistency_ranges(old, size), size).await?;
        match add_checkpoint(client, url, add_checkpoint_request(old, &proof, &latest.note)).await? {
            WitnessAnswer::Signed(lines) => return Ok(lines),
            WitnessAnswer::Knows(known) if known > size => return Err(WitnessingError::Longer { known, size }),
            WitnessAnswer::Knows(known) => old = known,
        }
    }
    tracing::debug!(witness = key.name(), "signed another checkpoint in between");
    Err(WitnessError::Status(reqwest::StatusCode::CONFLICT).into())
}
