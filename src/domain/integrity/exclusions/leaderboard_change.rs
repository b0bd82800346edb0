//! Difference between two leaderboards under different exclusions.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::rating::leaderboards::leaderboard::{Leaderboard, RankRange, RankedModel};
use crate::rating::options::IntervalMethod;

/// Comparison of two leaderboards of the same votes under different exclusions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct LeaderboardChange {
    /// Number of rated votes on the first leaderboard.
    pub votes_before: u64,
    /// Number of rated votes on the second leaderboard.
    pub votes_after: u64,
    /// Number of models whose rank differs.
    pub ranks_changed: usize,
    /// Largest difference of a rating, in points; `None` where no model has a rating on both.
    pub largest_change: Option<f64>,
    /// All models of either leaderboard, in the order of the second.
    pub models: Vec<ChangedModel>,
}

/// Model on two leaderboards.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ChangedModel {
    /// Model id.
    pub model: String,
    /// Place on the first leaderboard; `None` without rated votes there.
    pub before: Option<LeaderboardPlace>,
    /// Place on the second leaderboard; `None` without rated votes there.
    pub after: Option<LeaderboardPlace>,
}

/// Place of a model on a leaderboard.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct LeaderboardPlace {
    /// Rank.
    pub rank: u64,
    /// The best rank that the votes allow.
    pub best_rank: Option<u64>,
    /// The worst rank that the votes allow.
    pub worst_rank: Option<u64>,
    /// Rating; `None` for an unbounded model.
    pub rating: Option<f64>,
    /// Number of rated votes.
    pub battles: u64,
    /// Rank range for display; `None` where the votes determine none.
    #[serde(skip)]
    pub shown_ranks: Option<RankRange>,
}

impl LeaderboardPlace {
    /// Builds the place from a row of a leaderboard whose intervals have this method.
    fn new(row: &RankedModel, interval: IntervalMethod) -> Self {
        let RankedModel { rank, best_rank, worst_rank, rating, battles, .. } = *row;
        Self { rank, best_rank, worst_rank, rating, battles, shown_ranks: row.rank_range(interval) }
    }
}

impl ChangedModel {
    /// Returns whether the rank or its range differs, or the model has a rank or appears on one leaderboard only.
    #[must_use]
    pub fn changes_rank(&self) -> bool {
        let ranks =
            |place: Option<LeaderboardPlace>| place.map(|place| place.shown_ranks.map(|shown| (place.rank, shown)));
        ranks(self.before) != ranks(self.after)
    }

    /// Returns the difference of the ratings, in points.
    #[must_use]
    pub fn difference(&self) -> Option<f64> {
        Some(self.after?.rating? - self.before?.rating?)
    }
}

impl LeaderboardChange {
    /// Compares two leaderboards.
    #[must_use]
    pub fn between(before: &Leaderboard, after: &Leaderboard) -> Self {
        let place_before = |row: &RankedModel| LeaderboardPlace::new(row, before.interval);
        let place_after = |row: &RankedModel| LeaderboardPlace::new(row, after.interval);
        let mut former: BTreeMap<&str, LeaderboardPlace> =
            before.models.iter().map(|row| (row.model.as_str(), place_before(row))).collect();
        let mut models: Vec<ChangedModel> = Vec::with_capacity(after.models.len());
        for row in &after.models {
            let before = former.remove(row.model.as_str());
            models.push(ChangedModel { model: row.model.clone(), before, after: Some(place_after(row)) });
        }
        let gone = before.models.iter().filter(|row| former.contains_key(row.model.as_str()));
        models.extend(gone.map(|row| ChangedModel {
            model: row.model.clone(),
            before: Some(place_before(row)),
            after: None,
        }));
        Self {
            votes_before: before.votes.rated,
            votes_after: after.votes.rated,
            ranks_changed: models.iter().filter(|change| change.changes_rank()).count(),
            largest_change: models
                .iter()
                .filter_map(ChangedModel::difference)
                .max_by(|x, y| x.abs().total_cmp(&y.abs())),
            models,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::battle::Outcome::{self, AWins, BWins};
    use crate::rating::leaderboards::ranking::rank_log;
    use crate::rating::options::LeaderboardOptions;
    use crate::rating::votes::vote_log::VoteLog;

    fn leaderboard(votes: &[(&str, &str, Outcome, u32)]) -> Leaderboard {
        let mut log = VoteLog::default();
        for &(a, b, outcome, times) in votes {
            (0..times).for_each(|_| log.push(a, b, outcome).unwrap());
        }
        rank_log(&log, &LeaderboardOptions { interval: IntervalMethod::None, ..LeaderboardOptions::default() }).unwrap()
    }

    #[test]
    fn models_that_move_appear_or_disappear_are_reported() {
        let before = leaderboard(&[
            ("x", "y", AWins, 60),
            ("x", "y", BWins, 40),
            ("y", "gone", AWins, 1),
            ("y", "gone", BWins, 1),
        ]);
        let after = leaderboard(&[
            ("x", "y", AWins, 40),
            ("x", "y", BWins, 60),
            ("y", "new", AWins, 1),
            ("y", "new", BWins, 1),
        ]);
        let change = LeaderboardChange::between(&before, &after);
        let moved: Vec<&str> =
            change.models.iter().filter(|change| change.changes_rank()).map(|change| change.model.as_str()).collect();
        assert_eq!((change.votes_before, change.votes_after, change.ranks_changed), (102, 102, moved.len()));
        assert!(moved.contains(&"gone") && moved.contains(&"new"), "{moved:?}");
        let x = change.models.iter().find(|change| change.model == "x").unwrap();
        // 60 of 100 is 70.4 points ahead, 40 of 100 as many behind; a mean of 1000 takes a third of that.
        assert!(x.difference().unwrap() < -80.0, "{x:?}");
        assert_eq!(change.models.last().map(|change| change.model.as_str()), Some("gone"));
        assert_eq!(LeaderboardChange::between(&before, &before).ranks_changed, 0);
    }

    #[test]
    fn a_model_that_has_no_rank_before_and_after_changes_none() {
        let place = |worst: u64, is_shown: bool| LeaderboardPlace {
            rank: 1,
            best_rank: Some(1),
            worst_rank: Some(worst),
            rating: None,
            battles: 1,
            shown_ranks: is_shown.then_some(RankRange { best: 1, worst }),
        };
        for (before, after, changes) in [
            (place(3, false), place(2, false), false),
            (place(3, false), place(3, true), true),
            (place(3, true), place(2, true), true),
            (place(3, true), place(3, true), false),
        ] {
            let change = ChangedModel { model: "m".to_owned(), before: Some(before), after: Some(after) };
            assert_eq!(change.changes_rank(), changes, "{change:?}");
        }
    }
}
