//! Leaderboard of one fit, with the Elo changes of a next vote.

use std::collections::BTreeMap;

use super::super::MEAN_RATING;
use super::super::counts::comparison::ComparisonSet;
use super::super::options::LeaderboardOptions;
use super::super::strengths::elo::{self, EloTable};
use super::leaderboard::Leaderboard;
use super::ranking::rank;
use crate::battle::{ModelId, Outcome};
use crate::time::Timestamp;

/// Leaderboard of one fit.
#[derive(Debug, Clone)]
pub struct LeaderboardSnapshot {
    /// Number of the fit. It orders leaderboards with the same votes, since the clocks of several machines may disagree.
    pub fit: i64,
    /// Time of the fit; `None` before the first fit.
    pub fitted_at: Option<Timestamp>,
    /// Sequence number of the latest vote in it.
    pub last_vote_seq: i64,
    /// The leaderboard.
    pub leaderboard: Leaderboard,
}

impl Default for LeaderboardSnapshot {
    fn default() -> Self {
        let nothing = rank(&ComparisonSet::new(), &EloTable::default(), &LeaderboardOptions::default());
        Self {
            fit: 0,
            fitted_at: None,
            last_vote_seq: 0,
            leaderboard: nothing.expect("no votes give an empty leaderboard"),
        }
    }
}

impl LeaderboardSnapshot {
    /// Returns the Elo rating of a model; the initial rating without votes.
    #[must_use]
    pub fn elo(&self, model: &ModelId) -> f64 {
        let row = self.leaderboard.models.iter().find(|row| row.model == model.as_str());
        row.map_or(MEAN_RATING, |row| row.elo)
    }

    /// Computes the change of side A's Elo rating by one vote; side B's changes by the opposite amount.
    #[must_use]
    pub fn elo_change(&self, models: &[ModelId; 2], outcome: Outcome) -> f64 {
        elo::change(self.elo(&models[0]), self.elo(&models[1]), outcome)
    }

    /// Returns the sequence number of the latest vote that slices and the public feed of votes may show: that of this leaderboard, so that
    /// they change together. Before the first fit, which waits for no group of votes, there is no bound.
    #[must_use]
    pub fn last_public_seq(&self) -> i64 {
        self.fitted_at.map_or(i64::MAX, |_| self.last_vote_seq)
    }

    /// Returns the rank of each model, by its id.
    #[must_use]
    pub fn ranks(&self) -> BTreeMap<String, u64> {
        self.leaderboard.models.iter().map(|model| (model.model.clone(), model.rank)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn before_the_first_vote_every_model_has_the_rating_of_the_start() {
        let (empty, models) = (LeaderboardSnapshot::default(), [ModelId::new("a"), ModelId::new("b")]);
        assert!((empty.elo(&models[0]) - MEAN_RATING).abs() < 1e-9);
        assert!(empty.ranks().is_empty() && empty.fitted_at.is_none());
        let [won, lost] = [Outcome::AWins, Outcome::BWins].map(|outcome| empty.elo_change(&models, outcome));
        assert!(won > 0.0 && (won + lost).abs() < 1e-9, "{won} {lost}");
    }

    #[test]
    fn a_leaderboard_without_votes_bounds_what_is_shown_and_none_bounds_nothing() {
        let empty = LeaderboardSnapshot { fitted_at: Some(Timestamp(1)), ..LeaderboardSnapshot::default() };
        assert_eq!((empty.last_public_seq(), LeaderboardSnapshot::default().last_public_seq()), (0, i64::MAX));
    }
}
