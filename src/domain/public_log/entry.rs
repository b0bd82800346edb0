//! Log entries: one JSON object each, with the kind as its only key. They contain the data of public vote exports, but no address, account
//! or text; [`super::commitment`] commits to these.
//!
//! An entry is serialised once and hashed in that form, so it never has to be reproduced byte by byte.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::entry_bundle::{EntryTooLong, MAX_ENTRY_BYTES};

/// Maximum length of a reason, in characters.
const MAX_REASON_CHARS: usize = 1_000;

/// Log entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogEntry<'e> {
    /// A vote was cast.
    #[serde(borrow)]
    Vote(Box<VoteEntry<'e>>),
    /// A vote was excluded from the ratings after it was cast.
    #[serde(borrow)]
    Exclusion(ExclusionEntry<'e>),
    /// An exclusion was withdrawn.
    #[serde(borrow)]
    Withdrawal(WithdrawalEntry<'e>),
}

/// Entry of a vote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VoteEntry<'e> {
    /// Sequence number of the vote in the arena; increases, with gaps.
    pub seq: i64,
    /// Time of the vote, in milliseconds since 1970.
    pub time: i64,
    /// The model on side A.
    #[serde(borrow)]
    pub model_a: Cow<'e, str>,
    /// The model on side B.
    #[serde(borrow)]
    pub model_b: Cow<'e, str>,
    /// `model_a`, `model_b`, `tie` or `both_bad`.
    #[serde(borrow)]
    pub winner: Cow<'e, str>,
    /// Number of turns of the battle.
    pub turn: u64,
    /// Language of the first prompt.
    #[serde(borrow)]
    pub language: Cow<'e, str>,
    /// Category, if the visitor chose one.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub category: Option<Cow<'e, str>>,
    /// Intent, if the visitor chose one.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<Cow<'e, str>>,
    /// Satisfaction from 1 to 5, if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub satisfaction: Option<u64>,
    /// Name of the pairing policy.
    #[serde(borrow)]
    pub pairing_policy: Cow<'e, str>,
    /// Probability of the pair under the policy.
    pub pair_probability: f64,
    /// Random pseudonym shared by all votes of one voter; empty for an imported vote without a voter.
    #[serde(borrow)]
    pub voter: Cow<'e, str>,
    /// Rules that excluded the vote when it was cast.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub excluded: Vec<RuleApplied<'e>>,
    /// Commitment to the private parts: see [`super::commitment`].
    #[serde(borrow)]
    pub commitment: Cow<'e, str>,
    /// Hash of the promise to the voter, if there was one: see [`super::promise`].
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub promise: Option<Cow<'e, str>>,
}

/// Rule that excludes a vote, with its reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleApplied<'e> {
    /// Name of the rule.
    #[serde(borrow)]
    pub rule: Cow<'e, str>,
    /// Reason why the rule applies.
    #[serde(borrow)]
    pub reason: Cow<'e, str>,
}

/// Entry of an exclusion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExclusionEntry<'e> {
    /// Number of the vote.
    pub seq: i64,
    /// Time of the exclusion.
    pub time: i64,
    /// Name of the rule.
    #[serde(borrow)]
    pub rule: Cow<'e, str>,
    /// Reason why the rule applies.
    #[serde(borrow)]
    pub reason: Cow<'e, str>,
}

/// Entry of a withdrawn exclusion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WithdrawalEntry<'e> {
    /// Number of the vote.
    pub seq: i64,
    /// Time of the withdrawal.
    pub time: i64,
    /// Name of the rule.
    #[serde(borrow)]
    pub rule: Cow<'e, str>,
}

impl LogEntry<'_> {
    /// Serialises the entry as hashed and published.
    ///
    /// # Errors
    /// [`EntryTooLong`].
    pub fn to_json(&self) -> Result<String, EntryTooLong> {
        let json = serde_json::to_string(self).expect("an entry is plain text and finite numbers");
        if json.len() > MAX_ENTRY_BYTES { Err(EntryTooLong(json.len())) } else { Ok(json) }
    }
}

/// Truncates a reason, so that it never makes an entry too long.
#[must_use]
pub fn short_reason(reason: &str) -> Cow<'_, str> {
    match reason.char_indices().nth(MAX_REASON_CHARS) {
        None => reason.into(),
        Some((end, _)) => format!("{}…", &reason[..end]).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_has_this_form() {
        let entry = LogEntry::Vote(Box::new(VoteEntry {
            seq: 7,
            time: 1_700_000_000_123,
            model_a: "one".into(),
            model_b: "二 \"b\"".into(),
            winner: "both_bad".into(),
            turn: 2,
            language: "zh".into(),
            category: None,
            intent: Some("factual_qa".into()),
            satisfaction: Some(4),
            pairing_policy: "elo".into(),
            pair_probability: 0.1,
            voter: "00ff".into(),
            excluded: vec![RuleApplied { rule: "identity_leak".into(), reason: "names itself".into() }],
            commitment: "ab".into(),
            promise: Some("cd".into()),
        }));
        let json = entry.to_json().unwrap();
        assert_eq!(
            json,
            r#"{"vote":{"seq":7,"time":1700000000123,"model_a":"one","model_b":"二 \"b\"","winner":"both_bad","turn":2,"#.to_owned()
                + r#""language":"zh","intent":"factual_qa","satisfaction":4,"pairing_policy":"elo","pair_probability":0.1,"#
                + r#""voter":"00ff","excluded":[{"rule":"identity_leak","reason":"names itself"}],"commitment":"ab","promise":"cd"}}"#
        );
        assert_eq!(serde_json::from_str::<LogEntry<'_>>(&json).unwrap(), entry);
        let withdrawal = LogEntry::Withdrawal(WithdrawalEntry { seq: 7, time: 8, rule: "admin".into() });
        assert_eq!(withdrawal.to_json().unwrap(), r#"{"withdrawal":{"seq":7,"time":8,"rule":"admin"}}"#);
    }

    #[test]
    fn a_reason_of_any_length_fits() {
        let long = "琅".repeat(30_000);
        let exclusion = ExclusionEntry { seq: 1, time: 2, rule: "admin".into(), reason: short_reason(&long) };
        assert!(LogEntry::Exclusion(exclusion.clone()).to_json().unwrap().len() < 4_000);
        let whole = LogEntry::Exclusion(ExclusionEntry { reason: long.as_str().into(), ..exclusion });
        assert!(matches!(whole.to_json(), Err(EntryTooLong(90_000..))));
        assert_eq!(short_reason("short"), "short");
    }
}
