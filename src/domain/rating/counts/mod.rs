//! Vote counts for the fits: [`comparison`] counts votes one at a time, [`pair_counts`] counts those of a pair by outcome, and [`tally`]
//! is the input of every fit.

pub mod comparison;
pub mod pair_counts;
pub mod pair_votes;
pub mod slice_vote_counts;
pub mod tally;
pub mod weighting;

pub(super) mod count_by_pair;
pub(super) mod votes_by_voter;
