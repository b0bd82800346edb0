//! Verifies a log from outside, as `langya verify` does: from public data and the trust anchors of the previous verification.

use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use serde::Deserialize;
use serde_json::Value;

use crate::domain::public_log::audit::{Audit, AuditError};
use crate::domain::public_log::leaderboard_check::{LeaderboardCheckError, check_leaderboard};
use crate::domain::public_log::log_receipt::{LogReceipt, LogReceiptError, OpenPromises};
use crate::domain::public_log::recount::{RatingRules, Recount};
use crate::domain::public_log::signed_note::{InvalidKey, NoteError, VerifierKey};
use crate::domain::public_log::tile::{Tile, TileKind};
use crate::domain::public_log::trust_anchors::{SignedTree, TrustAnchors, TrustError, Verified};
use crate::infra::public_log::reader::{PublicLogSource, SourceError};

/// Maximum number of tiles fetched concurrently.
const MAX_CONCURRENT_FETCHES: usize = 8;
/// Maximum number of reads of log and leaderboard if votes arrive in between, and the wait before each.
const MAX_READ_ATTEMPTS: usize = 10;
const READ_RETRY_DELAY: Duration = Duration::from_secs(2);

/// Error of verifying a log.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// A part of it cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A key or a checkpoint is not trusted.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// No key is given or known, and this error prevents reading it from the arena.
    #[error("{0}; the key of the log is read there: check the address, or give the key with --key")]
    NoKey(#[source] Box<VerifyError>),
    /// The log is inconsistent.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// A receipt is invalid, or of a tree that the log does not continue.
    #[error(transparent)]
    Receipt(#[from] LogReceiptError),
    /// The published leaderboard does not agree with the log.
    #[error(transparent)]
    Leaderboard(#[from] LeaderboardCheckError),
    /// JSON of the arena cannot be parsed.
    #[error("{0} cannot be read as JSON: {1}")]
    Json(&'static str, serde_json::Error),
}

impl VerifyError {
    /// Whether a later read may pass this check: witnesses sign a checkpoint shortly after the log does, and votes may arrive between the
    /// reads of the leaderboard and of the log.
    fn may_be_outdated(&self) -> bool {
        match self {
            Self::Trust(error) => matches!(error, TrustError::Unwitnessed(_)),
            Self::Leaderboard(error) => error.may_be_outdated(),
            _ => false,
        }
    }
}

/// Leaderboard to compare the log with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaderboardSource {
    /// The leaderboard that the arena publishes.
    Published,
    /// None: only the log is checked.
    Skipped,
}

/// The arena's description of its log.
#[derive(Debug, Deserialize)]
struct Description {
    key: String,
    rating: RatingRules,
}

/// Downloaded log.
struct ReadLog {
    checkpoint: String,
    tree: SignedTree,
    recount: Recount,
}

/// Verifies a log: signature, tree, entries, receipts, and the leaderboard. `progress` gets the number of entries read and in total.
///
/// # Errors
/// [`VerifyError`] for the first failed check.
pub async fn verify(
    source: &PublicLogSource,
    known: &TrustAnchors,
    receipts: &[LogReceipt],
    leaderboard: LeaderboardSource,
    progress: impl Fn(u64, u64),
) -> Result<Verified, VerifyError> {
    let description = describe(source).await;
    let named = description.as_ref().ok().map(|description| description.key.as_str());
    let Some(key) = known.trusted_key(named)? else {
        let reason = description.err().unwrap_or_else(|| TrustError::from(InvalidKey).into());
        return Err(VerifyError::NoKey(Box::new(reason)));
    };
    let known_head = known.known_head(&key);
    let rules = description.ok().map(|description| description.rating);
    let mut attempts = 0;
    let (read, leaderboard_votes) = loop {
        attempts += 1;
        match read_and_compare(source, (known, &key), receipts, (leaderboard, rules), &progress).await {
            Err(error) if error.may_be_outdated() && attempts < MAX_READ_ATTEMPTS && is_live(source) => {
                tokio::time::sleep(READ_RETRY_DELAY).await;
            }
            read => break read?,
        }
    };
    Ok(Verified {
        key,
        checkpoint: read.checkpoint,
        head: read.tree.head,
        known: known_head,
        votes: read.recount.votes(),
        excluded: read.recount.excluded(),
        leaderboard_votes,
        receipts: receipts.len(),
        witnesses: read.tree.witnesses,
    })
}

/// Reads the log and compares it with the published leaderboard; the second value is the number of votes of the leaderboard, if it was
/// compared. Without `rules` they are read from the arena's description.
async fn read_and_compare(
    source: &PublicLogSource,
    trust: (&TrustAnchors, &VerifierKey),
    receipts: &[LogReceipt],
    (leaderboard, rules): (LeaderboardSource, Option<RatingRules>),
    progress: &impl Fn(u64, u64),
) -> Result<(ReadLog, Option<u64>), VerifyError> {
    if leaderboard == LeaderboardSource::Skipped {
        return Ok((read_log(source, trust, receipts, progress).await?, None));
    }
    // The leaderboard is read first: the log follows it.
    let published = source.read_document("api/v1/leaderboard", "leaderboard.json").await?;
    let published = read_json("the leaderboard", published)?;
    let read = read_log(source, trust, receipts, progress).await?;
    let rules = match rules {
        Some(rules) => rules,
        None => describe(source).await?.rating,
    };
    let votes = check_leaderboard(&read.recount, &published, &rules)?;
    Ok((read, Some(votes)))
}

/// Whether a second read can return a newer state.
fn is_live(source: &PublicLogSource) -> bool {
    matches!(source, PublicLogSource::Http { .. })
}

async fn describe(source: &PublicLogSource) -> Result<Description, VerifyError> {
    let found = source.read_document("api/v1/log", "log.json").await?;
    serde_json::from_slice(&found).map_err(|error| VerifyError::Json("what the arena says of its log", error))
}

fn read_json(what: &'static str, bytes: Vec<u8>) -> Result<Value, VerifyError> {
    serde_json::from_slice(&bytes).map_err(|error| VerifyError::Json(what, error))
}

async fn read_log(
    source: &PublicLogSource,
    (anchors, key): (&TrustAnchors, &VerifierKey),
    receipts: &[LogReceipt],
    progress: &impl Fn(u64, u64),
) -> Result<ReadLog, VerifyError> {
    let note = String::from_utf8(source.part("checkpoint").await?);
    let note = note.map_err(|_| TrustError::from(NoteError::Malformed))?;
    let tree = anchors.signed_tree(&note, key)?;
    let head = tree.head;
    let mut audit = Audit::new(head, anchors.known_head(key))?;
    let mut promises = OpenPromises::new(receipts, key)?;
    let bundles = Tile::all(head.size).take_while(|tile| tile.level() == 0);
    let mut bundles = stream::iter(bundles)
        .map(async |tile| {
            let entries = source.part(&TileKind::Entries(tile).to_string()).await?;
            Ok::<_, SourceError>((tile, entries, source.part(&TileKind::Hashes(tile).to_string()).await?))
        })
        .buffered(MAX_CONCURRENT_FETCHES);
    while let Some((tile, entries, hashes)) = bundles.try_next().await? {
        audit.add(tile, &entries, &hashes)?;
        receipts.iter().try_for_each(|receipt| receipt.check_in(tile, &hashes, key))?;
        promises.keep(&entries, key.name())?;
        progress(tile.end(), head.size);
    }
    drop(bundles);
    for tile in Tile::all(head.size).skip_while(|tile| tile.level() == 0) {
        audit.check(tile, &source.part(&TileKind::Hashes(tile).to_string()).await?)?;
    }
    receipts.iter().try_for_each(|receipt| receipt.check_size(head.size))?;
    promises.check_none_left()?;
    Ok(ReadLog { checkpoint: note, tree, recount: audit.finish()? })
}
