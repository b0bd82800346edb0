//! Rows of votes.

use crate::domain::battle::record::VoteRow;
use crate::domain::battle::text_counts::TextCounts;
use crate::domain::battle::vote_reasons::ReasonSet;
use crate::domain::battle::{BattleId, ModelId, Outcome, RunId, VisitorId};
use crate::domain::integrity::exclusion_rule::ExclusionRule;
use crate::domain::time::Timestamp;
use crate::storage::{StoreError, unsigned};
use sqlx_macros::FromRow;

/// What a visitor said of how satisfied they were.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SatisfiedVote {
    /// Number in the log.
    pub seq: i64,
    /// What the visitor wanted, where they said.
    pub intent: Option<String>,
    /// From 1 to 5.
    pub satisfaction: u8,
}

#[derive(FromRow)]
pub(super) struct RawVote {
    pub(super) seq: i64,
    pub(super) id: String,
    pub(super) battle_id: String,
    pub(super) visitor: String,
    pub(super) model_a: String,
    pub(super) model_b: String,
    pub(super) outcome: String,
    pub(super) anonymous: bool,
    pub(super) turn: i64,
    pub(super) language: String,
    pub(super) category: Option<String>,
    pub(super) intent: Option<String>,
    pub(super) satisfaction: Option<i64>,
    pub(super) reasons_a: Option<String>,
    pub(super) reasons_b: Option<String>,
    pub(super) pairing_policy: String,
    pub(super) pair_probability: f64,
    pub(super) first_token_ms_a: Option<i64>,
    pub(super) first_token_ms_b: Option<i64>,
    pub(super) duration_ms_a: i64,
    pub(super) duration_ms_b: i64,
    pub(super) text_counts: String,
    pub(super) exclusion: Option<String>,
    pub(super) receipt: String,
    pub(super) created_at: i64,
}

impl TryFrom<RawVote> for VoteRow {
    type Error = StoreError;

    fn try_from(raw: RawVote) -> Result<Self, StoreError> {
        let row = raw.id.clone();
        let natural = |value: i64, column| unsigned(value, "votes", column, &row);
        let optional = |value: Option<i64>, column| value.map(|value| natural(value, column)).transpose();
        let reasons = |text: Option<String>, column| {
            let text = text.unwrap_or_default();
            let inconsistent =
                |_| StoreError::Inconsistent { table: "votes", column, row: row.clone(), value: text.clone() };
            ReasonSet::parse(&text).map_err(inconsistent)
        };
        let text_counts = serde_json::from_str(&raw.text_counts).map_err(|_| StoreError::Inconsistent {
            table: "votes",
            column: "text_counts",
            row: row.clone(),
            value: raw.text_counts.clone(),
        })?;
        Ok(Self {
            outcome: parse_outcome(&raw.outcome, raw.seq)?,
            turn: natural(raw.turn, "turn")?,
            satisfaction: optional(raw.satisfaction, "satisfaction")?,
            reasons: [reasons(raw.reasons_a, "reasons_a")?, reasons(raw.reasons_b, "reasons_b")?],
            first_token_ms: [
                optional(raw.first_token_ms_a, "first_token_ms_a")?,
                optional(raw.first_token_ms_b, "first_token_ms_b")?,
            ],
            duration_ms: [natural(raw.duration_ms_a, "duration_ms_a")?, natural(raw.duration_ms_b, "duration_ms_b")?],
            text_counts,
            anonymous: raw.anonymous,
            seq: raw.seq,
            id: raw.id,
            battle: BattleId::new(raw.battle_id),
            visitor: (!raw.visitor.is_empty()).then(|| VisitorId::new(raw.visitor)),
            models: [ModelId::new(raw.model_a), ModelId::new(raw.model_b)],
            language: raw.language,
            category: raw.category,
            intent: raw.intent,
            pairing_policy: raw.pairing_policy,
            pair_probability: raw.pair_probability,
            exclusion: raw.exclusion,
            receipt: raw.receipt,
            created_at: Timestamp(raw.created_at),
        })
    }
}

pub(super) fn parse_outcome(text: &str, seq: i64) -> Result<Outcome, StoreError> {
    Outcome::parse(text).map_err(|_| StoreError::Inconsistent {
        table: "votes",
        column: "outcome",
        row: seq.to_string(),
        value: text.to_owned(),
    })
}

/// A vote to be kept.
#[derive(Debug, Clone)]
pub struct NewVoteRow {
    /// Its id.
    pub id: String,
    /// The battle it is cast on.
    pub battle: BattleId,
    /// The latest turn as the voter saw it.
    pub turn: u32,
    /// The run that answered that turn as the voter saw it.
    pub answered_by: Option<RunId>,
    /// What the person said.
    pub outcome: Outcome,
    /// The person's satisfaction, 1 to 5.
    pub satisfaction: Option<i64>,
    /// Why, for sides A and B.
    pub reasons: [ReasonSet; 2],
    /// First-token times of sides A and B in the last turn.
    pub first_token_ms: [Option<u64>; 2],
    /// Durations of sides A and B in the last turn.
    pub duration_ms: [u64; 2],
    /// Text counts of sides A and B over all turns.
    pub text_counts: [TextCounts; 2],
    /// What the voter gets, as JSON: every retry gets the same.
    pub receipt: String,
    /// When it was cast.
    pub created_at: Timestamp,
    /// Exclusions that are committed together with the vote; empty for a vote that is rated.
    pub exclusions: Vec<VoteExclusion>,
}

/// A rule that excludes a vote from the ratings at the moment when it is cast.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoteExclusion {
    /// The rule; each at most once for one vote.
    pub rule: ExclusionRule,
    /// Why the rule applies to this vote.
    pub reason: String,
}
