//! Log entries built from stored votes.

use std::collections::BTreeMap;

use super::commitment::{PrivateTurn, PrivateVoteData, SALT_BYTES};
use super::entry::{LogEntry, RuleApplied, VoteEntry, short_reason};
use super::entry_bundle::EntryTooLong;
use crate::battle::VisitorId;
use crate::battle::record::VoteRow;
use crate::integrity::pseudonym::voter_pseudonym;

/// Computes the commitment of a vote's entry with this salt.
#[must_use]
pub fn commitment_of(vote: &VoteRow, texts: &PrivateTexts<'_>, salt: &[u8; SALT_BYTES]) -> String {
    let voter = voter_pseudonym(vote.visitor.as_ref().map_or("", VisitorId::as_str));
    let (battle, turns) = (vote.battle.as_str(), texts.of_battle(vote.battle.as_str()));
    PrivateVoteData { vote: &vote.id, battle, voter: &voter, turns }.commit(salt)
}

/// Hashes in a vote's entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hashes {
    /// Commitment to the private parts.
    pub commitment: String,
    /// Hash of the promise, if there was one.
    pub promise: Option<String>,
}

/// Builds the entry of a vote, with `tag` as the voter's pseudonym; `rules` are those of several votes, in the order of votes.
///
/// # Errors
/// [`EntryTooLong`].
pub fn vote_entry(
    vote: &VoteRow,
    tag: &str,
    rules: &[(i64, String, String)],
    hashes: &Hashes,
) -> Result<String, EntryTooLong> {
    let entry = VoteEntry {
        seq: vote.seq,
        time: vote.created_at.0,
        model_a: vote.models[0].as_str().into(),
        model_b: vote.models[1].as_str().into(),
        winner: vote.outcome.winner().into(),
        turn: vote.turn,
        language: vote.language.as_str().into(),
        category: vote.category.as_deref().map(Into::into),
        intent: vote.intent.as_deref().map(Into::into),
        satisfaction: vote.satisfaction,
        pairing_policy: vote.pairing_policy.as_str().into(),
        pair_probability: vote.pair_probability,
        voter: tag.into(),
        excluded: applied_rules(rules, vote.seq),
        commitment: hashes.commitment.as_str().into(),
        promise: hashes.promise.as_deref().map(Into::into),
    };
    LogEntry::Vote(Box::new(entry)).to_json()
}

/// Returns the rules that excluded a vote when it was cast; `rules` are in the order of votes.
fn applied_rules(rules: &[(i64, String, String)], seq: i64) -> Vec<RuleApplied<'_>> {
    let first = rules.partition_point(|(vote, ..)| *vote < seq);
    let of_vote = rules[first..].iter().take_while(|(vote, ..)| *vote == seq);
    of_vote.map(|(_, rule, reason)| RuleApplied { rule: rule.into(), reason: short_reason(reason) }).collect()
}

/// Prompts and replies, by battle and turn.
#[derive(Debug, Clone, Default)]
pub struct PrivateTexts<'t>(BTreeMap<(&'t str, i64), PrivateTurn<'t>>);

impl<'t> PrivateTexts<'t> {
    /// Returns the texts of a turn, to be filled in.
    pub fn turn(&mut self, battle: &'t str, turn: i64) -> &mut PrivateTurn<'t> {
        self.0.entry((battle, turn)).or_default()
    }

    /// Whether a battle has any texts.
    #[must_use]
    pub fn has(&self, battle: &str) -> bool {
        self.0.range((battle, i64::MIN)..=(battle, i64::MAX)).next().is_some()
    }

    fn of_battle(&self, battle: &str) -> Vec<PrivateTurn<'t>> {
        self.0.range((battle, i64::MIN)..=(battle, i64::MAX)).map(|(_, turn)| turn.clone()).collect()
    }
}
