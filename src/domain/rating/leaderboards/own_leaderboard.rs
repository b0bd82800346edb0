//! Leaderboard of one voter's own votes, and their agreement with the votes of others.

use std::collections::BTreeMap;

use super::super::counts::pair_counts::PairCounts;
use crate::battle::{ModelId, Outcome};

/// Rated vote of the voter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnVote {
    /// The models on sides A and B.
    pub models: [ModelId; 2],
    /// Outcome of the vote.
    pub outcome: Outcome,
}

/// Results of one voter's own votes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OwnLeaderboard {
    /// Number of votes.
    pub votes: u64,
    /// The models, by their share of points and then by battles.
    pub models: Vec<OwnRow>,
    /// Agreement with other voters; `None` where no pair has enough votes of others.
    pub crowd: Option<CrowdShare>,
}

/// Results of a model in the voter's own votes.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnRow {
    /// The model.
    pub model: ModelId,
    /// Number of battles of the model.
    pub battles: u64,
    /// Votes for the model.
    pub wins: u64,
    /// Ties and "both bad".
    pub even: u64,
    /// Votes for the opponent.
    pub losses: u64,
}

impl OwnRow {
    /// Computes the points per battle: 1 for a win and one half for a tie or "both bad".
    #[must_use]
    pub fn share(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "nobody casts 2^53 votes")]
        let (points, battles) = ((2 * self.wins + self.even) as f64 / 2.0, self.battles as f64);
        points / battles
    }
}

/// Agreement of other voters with the voter's own votes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CrowdShare {
    /// Mean over the voter's votes of the share of others' votes on the pair with the same outcome.
    pub share: f64,
    /// Votes of the voter on pairs with at least [`super::super::counts::pair_counts::MIN_VOTES_TO_COMPARE`] votes of others.
    pub votes: u64,
}

/// Counts a voter's votes and compares them with those of others. `all(x, y)` returns all votes on two models with x first,
/// including the voter's own.
#[must_use]
pub fn own_leaderboard(votes: &[OwnVote], all: impl Fn(&ModelId, &ModelId) -> PairCounts) -> OwnLeaderboard {
    let mut rows: BTreeMap<&ModelId, OwnRow> = BTreeMap::new();
    let mut own: BTreeMap<[&ModelId; 2], PairCounts> = BTreeMap::new();
    for OwnVote { models: [a, b], outcome } in votes {
        for (model, outcome) in [(a, *outcome), (b, outcome.swapped())] {
            let row = rows.entry(model).or_insert_with(|| OwnRow::new(model.clone()));
            row.battles += 1;
            match outcome {
                Outcome::AWins => row.wins += 1,
                Outcome::BWins => row.losses += 1,
                Outcome::Tie | Outcome::BothBad => row.even += 1,
            }
        }
        own.entry(in_order(a, b)).or_default().add(*outcome, a <= b);
    }
    let mut models: Vec<OwnRow> = rows.into_values().collect();
    models.sort_by(|one, other| other.share().total_cmp(&one.share()).then(other.battles.cmp(&one.battles)));
    let shares = votes.iter().filter_map(|vote| share_of_others(vote, &own, &all));
    let shares: Vec<f64> = shares.collect();
    #[expect(clippy::cast_precision_loss, reason = "nobody casts 2^53 votes")]
    let crowd = (!shares.is_empty())
        .then(|| CrowdShare { share: shares.iter().sum::<f64>() / shares.len() as f64, votes: shares.len() as u64 });
    OwnLeaderboard { votes: votes.len() as u64, models, crowd }
}

/// Computes the share of others' votes on the pair with the same outcome; `None` where there are too few.
fn share_of_others(
    vote: &OwnVote,
    own: &BTreeMap<[&ModelId; 2], PairCounts>,
    all: &impl Fn(&ModelId, &ModelId) -> PairCounts,
) -> Option<f64> {
    let [a, b] = &vote.models;
    let [first, second] = in_order(a, b);
    let others = all(first, second).without(own[&[first, second]]);
    let others = if a <= b { others } else { others.swapped() };
    let agreement = others.agreement(vote.outcome)?;
    #[expect(clippy::cast_precision_loss, reason = "no arena has 2^53 votes")]
    Some(agreement.same as f64 / agreement.votes as f64)
}

fn in_order<'m>(a: &'m ModelId, b: &'m ModelId) -> [&'m ModelId; 2] {
    if a <= b { [a, b] } else { [b, a] }
}

impl OwnRow {
    fn new(model: ModelId) -> Self {
        Self { model, battles: 0, wins: 0, even: 0, losses: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vote(a: &str, b: &str, outcome: Outcome) -> OwnVote {
        OwnVote { models: [a, b].map(ModelId::new), outcome }
    }

    #[test]
    fn models_are_ordered_by_what_the_person_said_of_them() {
        let votes = [
            vote("one", "two", Outcome::AWins),
            vote("two", "one", Outcome::BWins),
            vote("three", "two", Outcome::Tie),
            vote("one", "three", Outcome::BothBad),
        ];
        let leaderboard = own_leaderboard(&votes, |_, _| PairCounts::default());
        let rows: Vec<_> =
            leaderboard.models.iter().map(|row| (row.model.as_str(), row.wins, row.even, row.losses)).collect();
        assert_eq!(rows, [("one", 2, 1, 0), ("three", 0, 2, 0), ("two", 0, 1, 2)]);
        assert_eq!((leaderboard.votes, leaderboard.crowd), (4, None), "nobody else has voted");
    }

    #[test]
    fn a_vote_is_compared_with_those_of_others_alone_whatever_its_sides() {
        // Twelve votes on the pair, two of them the voter's own: six of the others prefer "one".
        let all = PairCounts { first_wins: 8, second_wins: 2, ties: 1, both_bad: 1 };
        let same = [vote("one", "two", Outcome::AWins), vote("two", "one", Outcome::BWins)];
        let leaderboard = own_leaderboard(&same, |_, _| all);
        assert_eq!(leaderboard.crowd, Some(CrowdShare { share: 0.6, votes: 2 }));
        let leaderboard = own_leaderboard(&[vote("two", "one", Outcome::AWins)], |_, _| all);
        assert_eq!(leaderboard.crowd, Some(CrowdShare { share: 1.0 / 11.0, votes: 1 }));
        let few = PairCounts { first_wins: 10, ..PairCounts::default() };
        assert_eq!(own_leaderboard(&same[..1], |_, _| few).crowd, None, "nine others are too few");
    }
}
