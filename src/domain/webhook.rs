//! Webhooks: message contents, signatures and retries.
//!
//! Messages contain only public data: sequence numbers of votes and ranks of the leaderboard, and nothing of a battle before its vote.

use std::collections::BTreeMap;
use std::time::Duration;

use ring::hmac;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::hex::hex;

/// Minimum length of a secret, in bytes.
pub const MIN_SECRET_BYTES: usize = 16;
/// Maximum number of attempts per message: with [`wait_after`] the last one is more than a day after the first.
pub const MAX_ATTEMPTS: u32 = 14;
const INITIAL_RETRY_DELAY: Duration = Duration::from_secs(30);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(6 * 3_600);

/// Event that a webhook is notified of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum WebhookEvent {
    /// Votes were cast.
    #[serde(rename = "votes.recorded")]
    VotesRecorded,
    /// A model has another rank.
    #[serde(rename = "leaderboard.changed")]
    LeaderboardChanged,
}

/// Delivery state of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryState {
    /// Waiting for its first or next attempt.
    Waiting,
    /// Accepted by the receiver.
    Delivered,
    /// Given up after [`MAX_ATTEMPTS`] attempts.
    Dead,
}

/// Error of an unknown event or state name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown event or state of a webhook")]
pub struct UnknownWebhookName;

impl WebhookEvent {
    /// All events.
    pub const ALL: [Self; 2] = [Self::VotesRecorded, Self::LeaderboardChanged];

    /// Returns the name in messages and in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::VotesRecorded => "votes.recorded",
            Self::LeaderboardChanged => "leaderboard.changed",
        }
    }
}

impl DeliveryState {
    /// All states.
    pub const ALL: [Self; 3] = [Self::Waiting, Self::Delivered, Self::Dead];

    /// Returns the name in the database and in lists.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Delivered => "delivered",
            Self::Dead => "dead",
        }
    }
}

impl std::str::FromStr for WebhookEvent {
    type Err = UnknownWebhookName;

    fn from_str(text: &str) -> Result<Self, UnknownWebhookName> {
        Self::ALL.into_iter().find(|event| event.as_str() == text).ok_or(UnknownWebhookName)
    }
}

impl std::str::FromStr for DeliveryState {
    type Err = UnknownWebhookName;

    fn from_str(text: &str) -> Result<Self, UnknownWebhookName> {
        Self::ALL.into_iter().find(|state| state.as_str() == text).ok_or(UnknownWebhookName)
    }
}

/// Message to a webhook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "WebhookMessageOf{T}")]
pub struct WebhookMessage<T> {
    /// Id of the message, the same in each attempt.
    pub id: String,
    /// Event that the message reports.
    pub event: WebhookEvent,
    /// Creation time, in milliseconds since 1970.
    pub created_at: i64,
    /// Details of the event.
    pub data: T,
}

/// Range of recorded votes, `after < seq <= upto`, as `/api/v1/votes?after=` returns them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RecordedVotes {
    /// Number of the last vote of the previous message.
    pub after: i64,
    /// Number of the last vote.
    pub upto: i64,
}

/// Rank changes on the leaderboard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangedLeaderboard {
    /// Time of the fit, in milliseconds since 1970.
    pub as_of: i64,
    /// Number of the latest vote in it.
    pub last_vote_seq: i64,
    /// Models whose rank differs from the previous message.
    pub changes: Vec<RankChangeMessage>,
}

/// Changed rank of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RankChangeMessage {
    /// Id of the model.
    pub model: String,
    /// New rank; `null` if the model has left the leaderboard.
    pub rank: Option<u64>,
    /// Previous rank; `null` if the model was not on the leaderboard.
    pub former_rank: Option<u64>,
}

/// Returns the models whose rank differs, sorted by id.
#[must_use]
pub fn rank_changes(former: &BTreeMap<String, u64>, latter: &BTreeMap<String, u64>) -> Vec<RankChangeMessage> {
    let left = former.keys().filter(|model| !latter.contains_key(*model));
    let change = |model: &String| {
        let (rank, former_rank) = (latter.get(model).copied(), former.get(model).copied());
        (rank != former_rank).then(|| RankChangeMessage { model: model.clone(), rank, former_rank })
    };
    latter.keys().chain(left).filter_map(change).collect()
}

/// Computes the header `langya-signature`: the time in seconds since 1970, and the HMAC-SHA256 in hexadecimal of the time, a dot and the
/// body. A receiver recomputes and compares it, and refuses messages older than a few minutes.
#[must_use]
pub fn signature(secret: &[u8], seconds: i64, body: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
    let tag = hmac::sign(&key, format!("{seconds}.{body}").as_bytes());
    format!("t={seconds},v1={}", hex(tag.as_ref()))
}

/// Returns the wait after this many failures, from 1; `None` once all attempts are used.
#[must_use]
pub fn wait_after(failures: u32) -> Option<Duration> {
    let doubled = INITIAL_RETRY_DELAY.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1)));
    (failures < MAX_ATTEMPTS).then(|| doubled.min(MAX_RETRY_DELAY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_the_hmac_of_time_and_body() {
        // printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac 0123456789abcdef
        let expected = "t=1700000000,v1=9eb18f493f8ec135d9eb2dad817c369bb4e9cbfa818657897a7437c1cd8c3a23";
        assert_eq!(signature(b"0123456789abcdef", 1_700_000_000, "{\"a\":1}"), expected);
        assert_ne!(signature(b"0123456789abcdef", 1_700_000_001, "{\"a\":1}"), expected);
    }

    #[test]
    fn a_message_is_tried_for_more_than_a_day_and_then_given_up() {
        let waits: Vec<Duration> = (1..).map_while(wait_after).collect();
        assert_eq!(waits.len(), 13);
        assert_eq!((waits[0].as_secs(), waits[1].as_secs(), waits[12].as_secs()), (30, 60, 21_600));
        let whole: u64 = waits.iter().map(Duration::as_secs).sum();
        assert!((86_400..200_000).contains(&whole), "{whole} s");
        assert_eq!(wait_after(u32::MAX), None);
    }

    #[test]
    fn changes_are_the_models_with_another_rank_with_those_that_came_and_left() {
        let ranks = |ranks: &[(&str, u64)]| ranks.iter().map(|(model, rank)| ((*model).to_owned(), *rank)).collect();
        let found = rank_changes(&ranks(&[("a", 1), ("b", 2), ("c", 3)]), &ranks(&[("a", 1), ("b", 1), ("d", 3)]));
        let change = |model: &str, rank, former_rank| RankChangeMessage { model: model.to_owned(), rank, former_rank };
        assert_eq!(found, [change("b", Some(1), Some(2)), change("d", Some(3), None), change("c", None, Some(3))]);
    }
}
