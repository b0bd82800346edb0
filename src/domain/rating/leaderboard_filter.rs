//! Which votes a leaderboard rates, and how.

use std::str::FromStr;

use super::options::LeaderboardOptions;
use super::scoring::{BothBadRule, TieRule};
use super::slice::{Slice, SliceColumn, Turns, VoteSource};
use crate::time::Timestamp;

/// Which votes to rate, and how; by default all votes, as in the published leaderboard.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct LeaderboardFilter {
    /// Language.
    pub language: Option<String>,
    /// Category.
    pub category: Option<String>,
    /// Intent.
    pub intent: Option<String>,
    /// Number of turns.
    pub turns: Option<Turns>,
    /// Only prompts of at least [`crate::rating::slice::LONG_PROMPT_TOKENS`] tokens.
    pub long_prompts: bool,
    /// Where the votes come from.
    pub source: Option<VoteSource>,
    /// Without ties and both-bad votes.
    pub without_ties: bool,
    /// With style control.
    pub style: bool,
    /// With the sides held equal.
    pub side: bool,
    /// With how often each model is good enough.
    pub level: bool,
    /// Also in each slice of this column.
    pub pool_by: Option<SliceColumn>,
    /// Votes cast before this time.
    pub until: Option<Timestamp>,
    /// Which of these votes count.
    pub votes: CountedVotes,
}

/// Which votes count on a leaderboard.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum CountedVotes {
    /// Those that no rule excludes.
    #[default]
    Rated,
    /// All, also those that rules exclude.
    WithExcluded,
    /// Of the rated votes, the first one of each voter on each cluster of prompts.
    UniquePrompts,
}

/// A spelling that names no such votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("with_excluded, unique_prompts or nothing")]
pub struct UnknownCountedVotes;

impl FromStr for CountedVotes {
    type Err = UnknownCountedVotes;

    fn from_str(text: &str) -> Result<Self, UnknownCountedVotes> {
        match text {
            "with_excluded" => Ok(Self::WithExcluded),
            "unique_prompts" => Ok(Self::UniquePrompts),
            _ => Err(UnknownCountedVotes),
        }
    }
}

impl LeaderboardFilter {
    /// The slice of the votes, apart from their times.
    #[must_use]
    pub fn slice(&self) -> Slice {
        Slice {
            language: self.language.clone(),
            category: self.category.clone(),
            intent: self.intent.clone(),
            turns: self.turns,
            long_prompts: self.long_prompts,
            source: self.source,
            ..Slice::default()
        }
    }

    /// These options with what the filter changes of them.
    #[must_use]
    pub fn options(&self, mut options: LeaderboardOptions) -> LeaderboardOptions {
        if self.without_ties {
            options.scoring.ties = TieRule::Drop;
            options.scoring.both_bad = BothBadRule::Drop;
        }
        options.style = self.style;
        options.side = self.side;
        options.good_enough = self.level;
        options.pool_by = self.pool_by;
        options
    }

    /// Whether it depends on what prompts are about.
    #[must_use]
    pub fn uses_labels(&self) -> bool {
        let pools_labels = matches!(self.pool_by, Some(SliceColumn::Category | SliceColumn::Intent));
        self.category.is_some() || self.intent.is_some() || pools_labels
    }

    /// Whether the filter selects the published leaderboard.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}
