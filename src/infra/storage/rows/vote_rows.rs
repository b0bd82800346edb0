//! Rows of votes to insert, and of stored ones.

use crate::domain::battle::record::VoteRow;
use crate::domain::battle::text_counts::TextCounts;
use crate::domain::battle::vote_reasons::ReasonSet;
use crate::domain::battle::{BattleId, ModelId, Outcome, RunId, VisitorId};
use crate::domain::integrity::exclusions::exclusion_rule::ExclusionRule;
use crate::domain::time::Timestamp;
use crate::storage::{StoreError, unsigned};
use sqlx_macros::FromRow;

/// Satisfaction given with a vote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SatisfiedVote {
    /// Number in the log.
    pub seq: i64,
    /// Intent given by the visitor, if any.
    pub intent: Option<String>,
    /// Satisfaction from 1 to 5.
    pub satisfaction: u8,
}

#[derive(FromRow)]
pub(in crate::storage) struct RawVote {
    pub(in crate::storage) seq: i64,
    pub(in crate::storage) id: String,
    pub(in crate::storage) battle_id: String,
    pub(in crate::storage) visitor: String,
    pub(in crate::storage) model_a: String,
    pub(in crate::storage) model_b: String,
    pub(in crate::storage) outcome: String,
    pub(in crate::storage) anonymous: bool,
    pub(in crate::storage) turn: i64,
    pub(in crate::storage) language: String,
    pub(in crate::storage) category: Option<String>,
    pub(in crate::storage) intent: Option<String>,
    pub(in crate::storage) satisfaction: Option<i64>,
    pub(in crate::storage) reasons_a: Option<String>,
    pub(in crate::storage) reasons_b: Option<String>,
    pub(in crate::storage) pairing_policy: String,
    pub(in crate::storage) pair_probability: f64,
    pub(in crate::storage) first_token_ms_a: Option<i64>,
    pub(in crate::storage) first_token_ms_b: Option<i64>,
    pub(in crate::storage) duration_ms_a: i64,
    pub(in crate::storage) duration_ms_b: i64,
    pub(in crate::storage) text_counts: String,
    pub(in crate::storage) exclusion: Option<String>,
    pub(in crate::storage) receipt: String,
    pub(in crate::storage) created_at: i64,
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

pub(in crate::storage) fn parse_outcome(text: &str, seq: i64) -> Result<Outcome, StoreError> {
    Outcome::parse(text).map_err(|_| StoreError::Inconsistent {
        table: "votes",
        column: "outcome",
        row: seq.to_string(),
        value: text.to_owned(),
    })
}

/// Vote to insert.
#[derive(Debug, Clone)]
pub struct NewVoteRow {
    /// Id of the vote.
    pub id: String,
    /// Battle of the vote.
    pub battle: BattleId,
    /// Latest turn that the voter saw.
    pub turn: u32,
    /// Run that answered that turn when the voter saw it.
    pub answered_by: Option<RunId>,
    /// Outcome chosen by the person.
    pub outcome: Outcome,
    /// The person's satisfaction, 1 to 5.
    pub satisfaction: Option<i64>,
    /// Reasons for sides A and B.
    pub reasons: [ReasonSet; 2],
    /// First-token times of sides A and B in the last turn.
    pub first_token_ms: [Option<u64>; 2],
    /// Durations of sides A and B in the last turn.
    pub duration_ms: [u64; 2],
    /// Text counts of sides A and B over all turns.
    pub text_counts: [TextCounts; 2],
    /// Receipt for the voter, as JSON: every retry gets the same.
    pub receipt: String,
    /// Time of the vote.
    pub created_at: Timestamp,
    /// Exclusions committed with the vote; empty for a rated vote.
    pub exclusions: Vec<VoteExclusion>,
}

/// Exclusion of a vote from the ratings when it is cast.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoteExclusion {
    /// The rule; each at most once per vote.
    pub rule: ExclusionRule,
    /// Reason why the rule applies to this vote.
    pub reason: String,
}
