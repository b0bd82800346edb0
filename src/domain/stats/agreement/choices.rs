//! Agreement of two kinds of judge that choose between two answers or give labels (MT-Bench, appendix D.3).
//!
//! The agreement of two kinds is the probability that two random individuals, one of each kind, give the same answer to
//! a random question; of one kind with itself, that two different individuals do. There are two estimates: pooled over
//! all pairs of votes, as in FastChat's `compute_agreement.py`, and the mean over questions of each question's share,
//! as the definition says.

use std::collections::BTreeMap;

use crate::stats::distribution::mean;
use crate::stats::{Share, Undefined};

/// The choice between two answers. All kinds of tie are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Choice {
    /// The first answer is better.
    First,
    /// The second answer is better.
    Second,
    /// Neither is better.
    Tie,
}

impl Choice {
    /// The choice with the two answers swapped.
    #[must_use]
    pub fn swapped(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
            Self::Tie => Self::Tie,
        }
    }
}

/// Both estimates of an agreement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Agreement {
    /// Share over all pairs of votes.
    pub pooled: Share,
    /// Mean share over the questions that have a pair of votes.
    pub mean: Result<f64, Undefined>,
    /// Number of questions that have a pair of votes.
    pub questions: usize,
}

/// The agreement of two kinds: `questions` has the votes of the first and of the second kind for each question.
pub fn between<L: PartialEq>(questions: impl IntoIterator<Item = (impl AsRef<[L]>, impl AsRef<[L]>)>) -> Agreement {
    pool_shares(questions.into_iter().map(|(one, other)| {
        let mut share = Share::default();
        for vote in one.as_ref() {
            other.as_ref().iter().for_each(|against| share.count(vote == against));
        }
        share
    }))
}

/// The agreement of one kind with itself: all pairs of votes of a question by different individuals.
pub fn within<L: PartialEq>(questions: impl IntoIterator<Item = impl AsRef<[L]>>) -> Agreement {
    pool_shares(questions.into_iter().map(|votes| {
        let mut share = Share::default();
        for (later, vote) in votes.as_ref().iter().enumerate() {
            votes.as_ref()[..later].iter().for_each(|earlier| share.count(vote == earlier));
        }
        share
    }))
}

fn pool_shares(questions: impl Iterator<Item = Share>) -> Agreement {
    let mut pooled = Share::default();
    let mut rates = Vec::new();
    for share in questions {
        pooled.of += share.of;
        pooled.total += share.total;
        rates.extend(share.rate());
    }
    Agreement { pooled, mean: mean(&rates), questions: rates.len() }
}

/// The votes that are not ties, for agreement "without ties".
#[must_use]
pub fn decided(votes: &[Choice]) -> Vec<Choice> {
    votes.iter().copied().filter(|&vote| vote != Choice::Tie).collect()
}

/// The label that strictly more individuals gave than any other.
#[must_use]
pub fn majority<L: Ord + Copy>(labels: &[L]) -> Option<L> {
    let mut counts: BTreeMap<L, usize> = BTreeMap::new();
    labels.iter().for_each(|&label| *counts.entry(label).or_default() += 1);
    let most = counts.values().copied().max()?;
    let mut leading = counts.iter().filter(|(_, count)| **count == most).map(|(label, _)| *label);
    leading.next().filter(|_| leading.next().is_none())
}

/// Score bands of MT-Bench-101's rubric: 1–3, 4–6, 7–9 and 10. A score between two bands belongs to the lower one.
#[must_use]
pub fn band(score: f64) -> u8 {
    match score {
        _ if score < 4.0 => 0,
        _ if score < 7.0 => 1,
        _ if score < 10.0 => 2,
        _ => 3,
    }
}

/// Votes on pairs of models by question. The key is the question with its two models in name order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VotesByQuestion<'a> {
    questions: BTreeMap<PairKey<'a>, Vec<VoterChoice<'a>>>,
}

/// A question and its two models in name order.
pub type PairKey<'a> = (&'a str, &'a str, &'a str);
/// A voter and the vote.
pub type VoterChoice<'a> = (&'a str, Choice);

/// One vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairVote<'a> {
    /// Identifies the question, including the turn.
    pub question: &'a str,
    /// The voter.
    pub voter: &'a str,
    /// The two models, in the order of `choice`.
    pub models: [&'a str; 2],
    /// The vote.
    pub choice: Choice,
}

impl<'a> VotesByQuestion<'a> {
    /// Groups votes by question and swaps votes on the models in the other order. Of several votes of one voter on one
    /// question, the last counts, so that no voter is compared with themselves.
    pub fn gather(votes: impl IntoIterator<Item = PairVote<'a>>) -> Self {
        let mut gathered = Self::default();
        for PairVote { question, voter, models: [one, other], choice } in votes {
            let (key, choice) = if one <= other {
                ((question, one, other), choice)
            } else {
                ((question, other, one), choice.swapped())
            };
            let cast = gathered.questions.entry(key).or_default();
            cast.retain(|(earlier, _)| *earlier != voter);
            cast.push((voter, choice));
        }
        gathered
    }

    /// The votes of each question, in question order.
    pub fn questions(&self) -> impl Iterator<Item = Vec<Choice>> {
        self.questions.values().map(|cast| choices(cast))
    }

    /// The questions in order, with voters and votes.
    pub fn cast(&self) -> impl Iterator<Item = (PairKey<'a>, &[VoterChoice<'a>])> {
        self.questions.iter().map(|(key, cast)| (*key, cast.as_slice()))
    }

    /// The votes of one question.
    #[must_use]
    pub fn of(&self, key: PairKey<'a>) -> Vec<Choice> {
        self.questions.get(&key).map_or_else(Vec::new, |cast| choices(cast))
    }

    /// Pairs the votes on each question that both sets have.
    pub fn paired_with(&self, other: &Self) -> impl Iterator<Item = (Vec<Choice>, Vec<Choice>)> {
        self.questions.iter().filter_map(|(key, cast)| Some((choices(cast), choices(other.questions.get(key)?))))
    }

    /// Number of questions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.questions.len()
    }

    /// Whether there is no question.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.questions.is_empty()
    }
}

fn choices(cast: &[VoterChoice]) -> Vec<Choice> {
    cast.iter().map(|(_, choice)| *choice).collect()
}

#[cfg(test)]
mod tests {
    use super::Choice::{First, Second, Tie};
    use super::*;

    #[test]
    fn votes_on_swapped_models_are_swapped_and_a_second_thought_counts_alone() {
        let vote = |voter, models, choice| PairVote { question: "q", voter, models, choice };
        let votes = VotesByQuestion::gather([
            vote("ann", ["x", "y"], First),
            vote("ben", ["y", "x"], First),
            vote("ann", ["y", "x"], Tie),
            vote("eve", ["x", "y"], Second),
        ]);
        assert_eq!(votes.questions().collect::<Vec<_>>(), [[Second, Tie, Second]]);
        assert_eq!(within(votes.questions()).pooled, Share { of: 1, total: 3 });
    }

    #[test]
    fn a_majority_is_more_than_any_other_and_bands_are_those_of_the_rubric() {
        assert_eq!(majority(&[3, 1, 3, 2]), Some(3));
        assert_eq!(majority(&[3, 1, 3, 1]), None);
        assert_eq!(majority::<u8>(&[]), None);
        let scores = [1.0, 3.0, 3.5, 4.0, 6.0, 7.0, 9.0, 9.9, 10.0];
        assert_eq!(scores.map(band), [0, 0, 0, 1, 1, 2, 2, 2, 3]);
    }
}
