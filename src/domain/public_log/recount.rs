//! The leaderboard that follows from the log's entries, to be compared with the one that the arena publishes.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::entry::{LogEntry, VoteEntry};
use crate::battle::Outcome;
use crate::rating::FitError;
use crate::rating::leaderboard::Leaderboard;
use crate::rating::options::{IntervalMethod, LeaderboardOptions};
use crate::rating::ranking::{rank, rank_log};
use crate::rating::sequential_testing::SequentialOptions;
use crate::rating::vote_counts::VoteCounts;
use crate::rating::vote_log::{ColumnSet, InternedTexts, SelfPlay, VoteLog};
use crate::stats::confidence::ConfidenceLevel;

/// The settings by which the arena ranks, as it publishes them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RatingRules {
    /// Confidence level of the intervals.
    pub confidence: f64,
    /// How intervals are found.
    pub interval: IntervalMethod,
    /// Models with fewer rated votes are provisional.
    pub min_votes: u64,
    /// Neighbours are equal if they are known to differ by fewer points.
    pub equal_within: f64,
    /// Battles of each model at which the intervals between neighbours are narrowest.
    pub optimal_at_battles: u64,
}

impl RatingRules {
    /// The options of a fit.
    ///
    /// # Errors
    /// [`FitError`] for a confidence level outside 0 to 1.
    pub fn options(&self) -> Result<LeaderboardOptions, FitError> {
        Ok(LeaderboardOptions {
            confidence: ConfidenceLevel::new(self.confidence)?,
            interval: self.interval,
            min_votes: self.min_votes,
            sequential: Some(SequentialOptions {
                equal_within: self.equal_within,
                optimal_at_battles: self.optimal_at_battles,
            }),
            ..LeaderboardOptions::default()
        })
    }
}

/// Why the entries make no vote log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    /// An entry is not in the form of [`LogEntry`].
    #[error("entry {position} cannot be read: {reason}")]
    Malformed {
        /// Its position.
        position: u64,
        /// What is wrong.
        reason: String,
    },
    /// Votes are not in the order of their numbers, or one comes twice.
    #[error("entry {position}: vote {seq} comes after vote {last}")]
    OutOfOrder {
        /// Its position.
        position: u64,
        /// Number of the vote.
        seq: i64,
        /// Number of the vote before.
        last: i64,
    },
    /// An exclusion of a vote that the log does not have, or that the rule excludes already.
    #[error("entry {position}: vote {seq}, excluded by {rule}, is not in the log")]
    NothingToExclude {
        /// Its position.
        position: u64,
        /// Number of the vote.
        seq: i64,
        /// Name of the rule.
        rule: String,
    },
    /// A withdrawal of what is not in force.
    #[error("entry {position}: no exclusion of vote {seq} by {rule} is in force")]
    NothingToWithdraw {
        /// Its position.
        position: u64,
        /// Number of the vote.
        seq: i64,
        /// Name of the rule.
        rule: String,
    },
}

/// Why no leaderboard follows.
#[derive(Debug, thiserror::Error)]
pub enum RecountError {
    /// A vote of a model against itself.
    #[error(transparent)]
    SelfPlay(#[from] SelfPlay),
    /// The votes cannot be fitted with these options.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The published leaderboard has more votes than the log.
    #[error("the log has {0} votes so far and the leaderboard has more")]
    TooFew(usize),
}

/// The votes and exclusions of the entries read so far.
#[derive(Debug, Default)]
pub struct Recount {
    entries: u64,
    models: InternedTexts,
    voters: InternedTexts,
    votes: Vec<RecountedVote>,
    /// The rules in force by number of the vote.
    excluded: BTreeMap<i64, BTreeSet<String>>,
}

/// A vote by positions in the lists of names.
#[derive(Debug, Clone, Copy)]
struct RecountedVote {
    seq: i64,
    a: u32,
    b: u32,
    voter: u32,
    outcome: Outcome,
}

impl Recount {
    /// Number of votes.
    #[must_use]
    pub fn votes(&self) -> usize {
        self.votes.len()
    }

    /// Number of votes that are excluded now.
    #[must_use]
    pub fn excluded(&self) -> usize {
        self.excluded.len()
    }

    /// Reads the next entry.
    ///
    /// # Errors
    /// [`EntryError`].
    pub fn add(&mut self, entry: &[u8]) -> Result<(), EntryError> {
        let position = self.entries;
        self.entries += 1;
        let malformed = |reason: String| EntryError::Malformed { position, reason };
        match serde_json::from_slice(entry).map_err(|error| malformed(error.to_string()))? {
            LogEntry::Vote(vote) => self.add_vote(position, &vote),
            LogEntry::Exclusion(row) => self.exclude(position, row.seq, &row.rule),
            LogEntry::Withdrawal(row) => {
                let missing = EntryError::NothingToWithdraw { position, seq: row.seq, rule: row.rule.to_string() };
                let rules = self.excluded.get_mut(&row.seq).ok_or(missing.clone())?;
                if !rules.remove(row.rule.as_ref()) {
                    return Err(missing);
                }
                if rules.is_empty() {
                    self.excluded.remove(&row.seq);
                }
                Ok(())
            }
        }
    }

    fn add_vote(&mut self, position: u64, vote: &VoteEntry<'_>) -> Result<(), EntryError> {
        let outcome = Outcome::of_winner(&vote.winner)
            .ok_or_else(|| EntryError::Malformed { position, reason: format!("unknown winner {:?}", vote.winner) })?;
        if let Some(last) = self.votes.last().filter(|last| last.seq >= vote.seq) {
            return Err(EntryError::OutOfOrder { position, seq: vote.seq, last: last.seq });
        }
        let [a, b] = [&vote.model_a, &vote.model_b].map(|model| self.models.position(model));
        self.votes.push(RecountedVote { seq: vote.seq, a, b, voter: self.voters.position(&vote.voter), outcome });
        vote.excluded.iter().try_for_each(|applied| self.exclude(position, vote.seq, &applied.rule))
    }

    fn exclude(&mut self, position: u64, seq: i64, rule: &str) -> Result<(), EntryError> {
        let is_known = self.votes.binary_search_by_key(&seq, |vote| vote.seq).is_ok();
        if is_known && self.excluded.entry(seq).or_default().insert(rule.to_owned()) {
            Ok(())
        } else {
            Err(EntryError::NothingToExclude { position, seq, rule: rule.to_owned() })
        }
    }

    /// The leaderboard of the first `votes` votes, with the exclusions that are in force now.
    ///
    /// # Errors
    /// [`RecountError`].
    pub fn leaderboard(&self, votes: usize, options: &LeaderboardOptions) -> Result<Leaderboard, RecountError> {
        let votes = self.votes.get(..votes).ok_or(RecountError::TooFew(self.votes.len()))?;
        let log = self.vote_log(votes)?;
        if options.interval.reads_voters() {
            return Ok(rank_log(&log, options)?);
        }
        // As the arena does without voters: from counts.
        let (mut counts, names) = (VoteCounts::default(), log.models.as_slice());
        for ((&a, &b), &outcome) in log.a.iter().zip(&log.b).zip(&log.outcomes) {
            counts.record(&names[a as usize], &names[b as usize], outcome)?;
        }
        let mut leaderboard = rank(&counts.comparisons, &counts.elo, options)?;
        leaderboard.votes.exclude(&log.excluded);
        Ok(leaderboard)
    }

    fn vote_log(&self, votes: &[RecountedVote]) -> Result<VoteLog, SelfPlay> {
        let mut log = VoteLog::with_columns(ColumnSet { voters: true, ..ColumnSet::default() });
        let (models, voters) = (self.models.as_slice(), self.voters.as_slice());
        for vote in votes {
            // The rule that sorts first stands for all, as it does in the arena.
            if let Some(rule) = self.excluded.get(&vote.seq).and_then(BTreeSet::first) {
                log.exclude(rule);
                continue;
            }
            log.push(&models[vote.a as usize], &models[vote.b as usize], vote.outcome)?;
            let voter = voters[vote.voter as usize].as_str();
            if let Some(column) = &mut log.voters {
                column.push(Some(voter).filter(|voter| !voter.is_empty()));
            }
        }
        Ok(log)
    }
}

/// Where a published leaderboard differs from a recount, as JSON pointers; empty where every number and text is the same. Numbers are
/// compared bit by bit: JSON writes each of them so that it is read back as it was. What the published one has besides, such as its date,
/// is no part of the leaderboard.
#[must_use]
pub fn differences(published: &Value, recounted: &Leaderboard) -> Vec<String> {
    let recounted = serde_json::to_value(recounted).expect("a leaderboard is plain text and finite numbers");
    let mut found = Vec::new();
    for (key, value) in recounted.as_object().into_iter().flatten() {
        compare(published.get(key), Some(value), &format!("/{key}"), &mut found);
    }
    found
}

/// `None` is a field that is missing, which is not the same as one that is null: else a null field could have any name.
fn compare(published: Option<&Value>, recounted: Option<&Value>, at: &str, found: &mut Vec<String>) {
    match (published, recounted) {
        (Some(Value::Object(one)), Some(Value::Object(other))) => {
            let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
            for key in keys {
                compare(one.get(key), other.get(key), &format!("{at}/{key}"), found);
            }
        }
        (Some(Value::Array(one)), Some(Value::Array(other))) if one.len() == other.len() => {
            for (place, (one, other)) in one.iter().zip(other).enumerate() {
                compare(Some(one), Some(other), &format!("{at}/{place}"), found);
            }
        }
        (one, other) if one == other => {}
        (one, other) => {
            let [one, other] = [one, other].map(|value| value.map_or_else(|| "nothing".to_owned(), Value::to_string));
            found.push(format!("{at}: published {one}, recounted {other}"));
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
