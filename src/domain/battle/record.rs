//! Stored battles, turns, replies and votes.

use super::event_log::Exchange;
use super::mode::BattleMode;
use super::progress::{Progress, Stage};
use super::text_counts::TextCounts;
use super::vote_reasons::ReasonSet;
use super::{BattleId, ImageId, ModelId, Outcome, RunId, Side, VisitorId};
use crate::time::Timestamp;

/// A stored battle.
#[derive(Debug, Clone, PartialEq)]
pub struct BattleRow {
    /// Its id.
    pub id: BattleId,
    /// Pseudonym of the visitor.
    pub visitor: VisitorId,
    /// Mode: which models the visitor knows before the vote.
    pub mode: BattleMode,
    /// Stage and latest turn.
    pub progress: Progress,
    /// The models on sides A and B; twice the same where one answers alone.
    pub models: [ModelId; 2],
    /// Name of the pairing policy, or of the mode where the visitor chose.
    pub pairing_policy: String,
    /// Version of that policy.
    pub policy_version: u32,
    /// Probability of the pair.
    pub pair_probability: f64,
    /// Language of the first prompt.
    pub language: String,
    /// Category that the client sent.
    pub category: Option<String>,
    /// Intent that the client sent.
    pub intent: Option<String>,
    /// The run that answers, or answered, the latest turn; `None` in battles that are older than this column.
    pub answered_by: Option<RunId>,
}

impl BattleRow {
    /// Public id of the latest run of the latest turn.
    #[must_use]
    pub fn answer(&self) -> Option<String> {
        self.answered_by.as_ref().map(RunId::public)
    }
}

/// Stored turn of a battle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnRow {
    /// Number of the turn, from 1.
    pub turn: u32,
    /// The visitor's prompt.
    pub prompt: String,
}

/// Reason for the end of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyEnding {
    /// The model ended it.
    Complete,
    /// The visitor stopped it, or left.
    Stopped,
    /// It reached the maximum length.
    Cut,
    /// It broke off.
    Failed,
}

impl ReplyEnding {
    /// All endings.
    pub const ALL: [Self; 4] = [Self::Complete, Self::Stopped, Self::Cut, Self::Failed];

    /// The database's spelling.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Stopped => "stopped",
            Self::Cut => "cut",
            Self::Failed => "failed",
        }
    }
}

/// Reply to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewReply {
    /// Its side.
    pub side: Side,
    /// The author.
    pub model: ModelId,
    /// Text that the visitor saw.
    pub text: String,
    /// Reasoning text that the provider returned separately.
    pub reasoning: String,
    /// Reason for its end.
    pub ending: ReplyEnding,
    /// Time from the request to the first token; `None` without a token.
    pub first_token_ms: Option<u64>,
    /// Time from the request to the end.
    pub duration_ms: u64,
}

/// A stored reply with its turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyRow {
    /// Number of the turn, from 1.
    pub turn: u32,
    /// The reply.
    pub reply: NewReply,
}

/// Snapshot of a battle with its turns and replies.
#[derive(Debug, Clone, PartialEq)]
pub struct BattleRecord {
    /// Row of the battle.
    pub battle: BattleRow,
    /// Its turns in order.
    pub turns: Vec<TurnRow>,
    /// Its current replies, by turn and side.
    pub replies: Vec<ReplyRow>,
    /// Images of its first prompt.
    pub images: Vec<ImageId>,
}

impl BattleRecord {
    /// The reply of a side in a turn.
    #[must_use]
    pub fn reply(&self, turn: u32, side: Side) -> Option<&NewReply> {
        self.replies.iter().find(|row| row.turn == turn && row.reply.side == side).map(|row| &row.reply)
    }

    /// Text counts of a side over all turns.
    #[must_use]
    pub fn text_counts(&self, side: Side) -> TextCounts {
        let of_side = self.replies.iter().filter(|row| row.reply.side == side);
        of_side.fold(TextCounts::default(), |sum, row| sum.plus(TextCounts::count(&row.reply.text)))
    }

    /// The prompts with both sides' replies; empty text where there is none.
    #[must_use]
    pub fn exchanges(&self) -> Vec<Exchange> {
        let text = |turn, side| self.reply(turn, side).map(|reply| reply.text.clone()).unwrap_or_default();
        let exchange = |turn: &TurnRow| Exchange {
            prompt: turn.prompt.as_str().into(),
            replies: Side::BOTH.map(|side| text(turn.turn, side)),
        };
        self.turns.iter().map(exchange).collect()
    }
}

/// Battle in an export.
#[derive(Debug, Clone, PartialEq)]
pub struct BattleLine {
    /// Its id.
    pub id: BattleId,
    /// Pseudonym of the visitor; `None` in an imported battle that names none.
    pub visitor: Option<VisitorId>,
    /// Mode: which models the visitor knew before the vote.
    pub mode: BattleMode,
    /// Its stage.
    pub stage: Stage,
    /// Number of its turns.
    pub turn: u64,
    /// The models on sides A and B.
    pub models: [String; 2],
    /// Name of the pairing policy.
    pub pairing_policy: String,
    /// Probability of the pair.
    pub pair_probability: f64,
    /// Language of the first prompt.
    pub language: String,
    /// Category, where known.
    pub category: Option<String>,
    /// Intent, where known.
    pub intent: Option<String>,
    /// Start time.
    pub created_at: Timestamp,
}

/// A stored vote.
#[derive(Debug, Clone, PartialEq)]
pub struct VoteRow {
    /// Position in the log.
    pub seq: i64,
    /// Its id.
    pub id: String,
    /// Its battle.
    pub battle: BattleId,
    /// Pseudonym of the voter; `None` in an imported vote that names none.
    pub visitor: Option<VisitorId>,
    /// The models on sides A and B.
    pub models: [ModelId; 2],
    /// Outcome that the voter chose.
    pub outcome: Outcome,
    /// Whether both models were hidden before the vote; where not, it is never rated.
    pub anonymous: bool,
    /// Number of turns of the battle.
    pub turn: u64,
    /// Language of the first prompt.
    pub language: String,
    /// Category, where known.
    pub category: Option<String>,
    /// Intent, where known.
    pub intent: Option<String>,
    /// Satisfaction from 1 to 5, where given.
    pub satisfaction: Option<u64>,
    /// Reasons for sides A and B; empty where none were given.
    pub reasons: [ReasonSet; 2],
    /// Name of the pairing policy.
    pub pairing_policy: String,
    /// Probability of the pair.
    pub pair_probability: f64,
    /// First-token times of sides A and B.
    pub first_token_ms: [Option<u64>; 2],
    /// Durations of sides A and B.
    pub duration_ms: [u64; 2],
    /// Text counts of sides A and B.
    pub text_counts: [TextCounts; 2],
    /// The rule that excludes it; `None` for a rated vote.
    pub exclusion: Option<String>,
    /// Receipt of the voter.
    pub receipt: String,
    /// Time of the vote.
    pub created_at: Timestamp,
}
