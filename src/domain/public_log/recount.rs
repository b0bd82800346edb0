//! Recount: computes the leaderboard from the log's entries, to be compared with the published one.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::entry::{LogEntry, VoteEntry};
use crate::battle::Outcome;
use crate::rating::FitError;
use crate::rating::intervals::sequential_testing::SequentialOptions;
use crate::rating::leaderboards::leaderboard::Leaderboard;
use crate::rating::leaderboards::ranking::{rank, rank_log};
use crate::rating::options::{IntervalMethod, LeaderboardOptions};
use crate::rating::vote_counts::VoteCounts;
use crate::rating::votes::vote_log::{ColumnSet, InternedTexts, SelfPlay, VoteLog};
use crate::stats::confidence::ConfidenceLevel;

/// Published rating settings of the arena.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RatingRules {
    /// Confidence level of the intervals.
    pub confidence: f64,
    /// Method of the intervals.
    pub interval: IntervalMethod,
    /// Minimum number of rated votes; models with fewer are provisional.
    pub min_votes: u64,
    /// Rating difference in points below which neighbours count as equal.
    pub equal_within: f64,
    /// Battles per model at which the intervals between neighbours are narrowest.
    pub optimal_at_battles: u64,
}

impl RatingRules {
    /// Returns the options of the fit.
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

/// Error of entries that do not form a vote log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    /// An entry does not have the form of [`LogEntry`].
    #[error("entry {position} cannot be read: {reason}")]
    Malformed {
        /// Position of the entry.
        position: u64,
        /// Description of the problem.
        reason: String,
    },
    /// Votes are not in ascending order of their numbers, or a number is repeated.
    #[error("entry {position}: vote {seq} comes after vote {last}")]
    OutOfOrder {
        /// Position of the entry.
        position: u64,
        /// Number of the vote.
        seq: i64,
        /// Number of the previous vote.
        last: i64,
    },
    /// An exclusion refers to a vote that the log lacks, or that the rule excludes already.
    #[error("entry {position}: vote {seq}, excluded by {rule}, is not in the log")]
    NothingToExclude {
        /// Position of the entry.
        position: u64,
        /// Number of the vote.
        seq: i64,
        /// Name of the rule.
        rule: String,
    },
    /// A withdrawal refers to an exclusion that is not in force.
    #[error("entry {position}: no exclusion of vote {seq} by {rule} is in force")]
    NothingToWithdraw {
        /// Position of the entry.
        position: u64,
        /// Number of the vote.
        seq: i64,
        /// Name of the rule.
        rule: String,
    },
}

/// Error of a recount.
#[derive(Debug, thiserror::Error)]
pub enum RecountError {
    /// A vote has the same model on both sides.
    #[error(transparent)]
    SelfPlay(#[from] SelfPlay),
    /// The votes cannot be fitted with these options.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The published leaderboard has more votes than the log.
    #[error("the log has {0} votes so far and the leaderboard has more")]
    TooFew(usize),
}

/// Votes and exclusions of the entries read so far.
#[derive(Debug, Default)]
pub struct Recount {
    entries: u64,
    models: InternedTexts,
    voters: InternedTexts,
    votes: Vec<RecountedVote>,
    /// Excluding rules in force by number of the vote.
    excluded: BTreeMap<i64, BTreeSet<String>>,
}

/// Vote with its texts as positions in the lists of names.
#[derive(Debug, Clone, Copy)]
struct RecountedVote {
    seq: i64,
    a: u32,
    b: u32,
    voter: u32,
    outcome: Outcome,
}

impl Recount {
    /// Returns the number of votes.
    #[must_use]
    pub fn votes(&self) -> usize {
        self.votes.len()
    }

    /// Returns the number of excluded votes.
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

    /// Computes the leaderboard of the first `votes` votes, with the exclusions in force.
    ///
    /// # Errors
    /// [`RecountError`].
    pub fn leaderboard(&self, votes: usize, options: &LeaderboardOptions) -> Result<Leaderboard, RecountError> {
        let votes = self.votes.get(..votes).ok_or(RecountError::TooFew(self.votes.len()))?;
        let log = self.vote_log(votes)?;
        if options.interval.reads_voters() {
            return Ok(rank_log(&log, options)?);
        }
        // Without voters the arena fits counts, too.
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
            // The alphabetically first rule represents all of them, as in the arena.
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

/// Compares a published leaderboard with a recount; returns the JSON pointers of all differences. Numbers are compared bit by bit, since
/// JSON writes them so that they parse to the same value. Additional published fields, such as the date, are ignored.
#[must_use]
pub fn differences(published: &Value, recounted: &Leaderboard) -> Vec<String> {
    let recounted = serde_json::to_value(recounted).expect("a leaderboard is plain text and finite numbers");
    let mut found = Vec::new();
    for (key, value) in recounted.as_object().into_iter().flatten() {
        compare_fields(published.get(key), Some(value), &format!("/{key}"), &mut found);
    }
    found
}

/// Compares two fields; `None` is a missing field, as opposed to null: otherwise a null field could have any name.
fn compare_fields(published: Option<&Value>, recounted: Option<&Value>, at: &str, found: &mut Vec<String>) {
    match (published, recounted) {
        (Some(Value::Object(one)), Some(Value::Object(other))) => {
            let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
            for key in keys {
                compare_fields(one.get(key), other.get(key), &format!("{at}/{key}"), found);
            }
        }
        (Some(Value::Array(one)), Some(Value::Array(other))) if one.len() == other.len() => {
            for (place, (one, other)) in one.iter().zip(other).enumerate() {
                compare_fields(Some(one), Some(other), &format!("{at}/{place}"), found);
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
