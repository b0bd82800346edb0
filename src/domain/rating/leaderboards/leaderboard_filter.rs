//! Filter of a leaderboard: selection of its votes, and rating options.

use std::str::FromStr;

use super::super::options::LeaderboardOptions;
use super::super::votes::scoring::{BothBadRule, TieRule};
use super::super::votes::slice::{Slice, SliceColumn, Turns, VoteSource};
use crate::time::Timestamp;

/// Selection of votes and rating options; by default all votes, as in the published leaderboard.
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
    /// Only prompts of at least [`crate::rating::votes::slice::LONG_PROMPT_TOKENS`] tokens.
    pub long_prompts: bool,
    /// Source of the votes.
    pub source: Option<VoteSource>,
    /// Whether to drop ties and both-bad votes.
    pub without_ties: bool,
    /// Whether to rate with style control.
    pub style: bool,
    /// Whether to adjust for the side on which a model was shown.
    pub side: bool,
    /// Whether to estimate the share of prompts for which each model is good enough.
    pub level: bool,
    /// Column in whose slices the models are also rated.
    pub pool_by: Option<SliceColumn>,
    /// Votes cast before this time.
    pub until: Option<Timestamp>,
    /// Treatment of excluded and repeated votes.
    pub votes: CountedVotes,
}

/// Treatment of excluded and repeated votes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum CountedVotes {
    /// Votes that no rule excludes.
    #[default]
    Rated,
    /// All votes, including those that rules exclude.
    WithExcluded,
    /// First rated vote of each voter on each cluster of prompts.
    UniquePrompts,
}

/// Unknown name of [`CountedVotes`].
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
    /// Returns the slice of the votes, without its time span.
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

    /// Applies the filter to rating options.
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

    /// Whether the filter depends on labels of prompts.
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
