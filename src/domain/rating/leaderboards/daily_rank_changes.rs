//! Daily changes of ranks, between the last leaderboards of two days.

use std::collections::BTreeMap;

use super::leaderboard::Leaderboard;
use crate::time::Timestamp;

/// Ranks on the last leaderboard of a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaderboardDay {
    /// Time of its fit.
    pub as_of: Timestamp,
    /// Its rated votes.
    pub votes: u64,
    /// Models in leaderboard order, with their ranks, if any.
    pub ranks: Vec<(String, Option<u64>)>,
}

/// Changes from the day before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayChanges {
    /// Time of the later leaderboard.
    pub as_of: Timestamp,
    /// Its rated votes.
    pub votes: u64,
    /// In the order of the later leaderboard; models that left it come last.
    pub changes: Vec<RankChange>,
}

/// Change of a model's rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankChange {
    /// The model.
    pub model: String,
    /// Kind of the change.
    pub kind: RankChangeKind,
}

/// Kind of a rank change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankChangeKind {
    /// The model is on the leaderboard for the first time, or again; with its rank, if any.
    Joined(Option<u64>),
    /// The model has another rank.
    Moved {
        /// Former rank, if any.
        from: Option<u64>,
        /// Present rank, if any.
        to: Option<u64>,
    },
    /// The model is no longer on the leaderboard.
    Left,
}

impl LeaderboardDay {
    /// Extracts the ranks of a leaderboard.
    #[must_use]
    pub fn new(as_of: Timestamp, leaderboard: &Leaderboard) -> Self {
        let ranks = leaderboard.models.iter().map(|row| (row.model.clone(), row.shown_rank(leaderboard.interval)));
        Self { as_of, votes: leaderboard.votes.rated, ranks: ranks.collect() }
    }

    /// Computes the changes from an earlier day; `None` stands for the time before the first leaderboard.
    #[must_use]
    pub fn changes_since(&self, before: Option<&Self>) -> Vec<RankChange> {
        let mut former: BTreeMap<&str, Option<u64>> = BTreeMap::new();
        former.extend(before.iter().flat_map(|day| &day.ranks).map(|(model, rank)| (model.as_str(), *rank)));
        let mut changes = Vec::new();
        for (model, rank) in &self.ranks {
            let kind = match former.remove(model.as_str()) {
                None => RankChangeKind::Joined(*rank),
                Some(from) if from != *rank => RankChangeKind::Moved { from, to: *rank },
                Some(_) => continue,
            };
            changes.push(RankChange { model: model.clone(), kind });
        }
        changes.extend(former.into_keys().map(|model| RankChange { model: model.into(), kind: RankChangeKind::Left }));
        changes
    }
}

/// Computes the changes of each day of `days`, given latest first; days without changes are left out. The earliest has no day before it:
/// it is left out unless it `is_first` of all, in which case all its models have joined.
#[must_use]
pub fn day_changes(days: &[LeaderboardDay], is_first: bool) -> Vec<DayChanges> {
    let before = days.iter().skip(1).map(Some).chain(is_first.then_some(None));
    let compared = days.iter().zip(before).map(|(day, before)| DayChanges {
        as_of: day.as_of,
        votes: day.votes,
        changes: day.changes_since(before),
    });
    compared.filter(|day| !day.changes.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(as_of: i64, ranks: &[(&str, Option<u64>)]) -> LeaderboardDay {
        let ranks = ranks.iter().map(|(model, rank)| ((*model).to_owned(), *rank)).collect();
        LeaderboardDay { as_of: Timestamp(as_of), votes: 7, ranks }
    }

    #[test]
    fn a_day_says_who_came_who_went_and_who_moved() {
        let before = day(1, &[("a", Some(1)), ("b", Some(2)), ("c", None), ("gone", Some(4))]);
        let after = day(2, &[("b", Some(1)), ("a", Some(2)), ("c", None), ("new", Some(3))]);
        let change = |model: &str, kind| RankChange { model: model.into(), kind };
        let moved = |from, to| RankChangeKind::Moved { from: Some(from), to: Some(to) };
        assert_eq!(
            after.changes_since(Some(&before)),
            [
                change("b", moved(2, 1)),
                change("a", moved(1, 2)),
                change("new", RankChangeKind::Joined(Some(3))),
                change("gone", RankChangeKind::Left),
            ]
        );
        let ranked = day(3, &[("c", Some(1))]).changes_since(Some(&day(2, &[("c", None)])));
        assert_eq!(ranked, [change("c", RankChangeKind::Moved { from: None, to: Some(1) })]);
    }

    #[test]
    fn quiet_days_are_left_out_and_the_earliest_is_shown_only_where_it_is_the_first() {
        let days = [day(3, &[("a", Some(1))]), day(2, &[("a", Some(1))]), day(1, &[("a", Some(1))])];
        let days_of = |is_first| day_changes(&days, is_first).iter().map(|day| day.as_of.0).collect::<Vec<_>>();
        assert_eq!(days_of(false), Vec::<i64>::new());
        assert_eq!(days_of(true), [1]);
        assert!(day_changes(&[], true).is_empty());
    }
}
