//! Ratings: from comparisons to a ranked leaderboard with honest intervals.
//!
//! Pure. [`comparison`] holds the votes as indexed pairs, [`elo`] and [`bradley_terry`] fit them, [`interval`] says
//! how sure the fit is, [`leaderboard`] ranks.
