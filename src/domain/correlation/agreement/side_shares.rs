//! Votes by the side on which each model stood: whether people or a judge lean to one of them.
//!
//! Agreement of models hides such a lean, because it turns every vote to the order of the models' names. Here a question
//! whose models stood on other sides is another question, and the labels are A, B and tie.

use serde::Serialize;
use statrs::distribution::{Binomial, DiscreteCDF};

use super::chance::{ChanceReport, by_chance};
use super::metrics::MetricValue;
use super::score_sheet::Votes;
use super::vote_intervals::VoteIntervals;
use crate::stats::agreement::choices::{Choice, PairVote, VotesByQuestion};
use crate::stats::resample::BootstrapOptions;
use crate::stats::{Undefined, real};

/// Both files by side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SideSharesReport {
    /// People's votes.
    pub people: SideShares,
    /// The judge's verdicts.
    pub judge: SideShares,
    /// Agreement beyond chance on the labels A, B and tie.
    pub chance: ChanceReport,
}

/// How often each side won.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SideShares {
    /// Votes for side A.
    pub a: u64,
    /// Votes for side B.
    pub b: u64,
    /// Votes for neither.
    pub ties: u64,
    /// a / (a + b).
    pub share_a: MetricValue,
    /// Exact two-sided binomial test of equal chances for A and B, which takes votes as independent: where several votes are one voter's,
    /// or on one question, it is too small. It shows position bias only where sides were assigned at random or every pair was shown in both
    /// orders.
    pub p: MetricValue,
}

/// The shares of both files, and agreement with sides kept.
pub(super) fn by_side(votes: &Votes, verdicts: &Votes, bootstrap: BootstrapOptions) -> SideSharesReport {
    let (people, judge) = (Sided::new(votes), Sided::new(verdicts));
    let (people, judge) = (people.votes(), judge.votes());
    let intervals = VoteIntervals::new(&people, &judge, bootstrap);
    SideSharesReport {
        people: shares(&people),
        judge: shares(&judge),
        chance: by_chance(&people, &judge, intervals.chance, bootstrap),
    }
}

/// Of each voter, the vote that counts of each question and sides.
fn shares(votes: &VotesByQuestion<'_>) -> SideShares {
    let choices: Vec<Choice> = votes.questions().flatten().collect();
    let count = |choice| choices.iter().map(|said| u64::from(*said == choice)).sum::<u64>();
    let (a, b) = (count(Choice::First), count(Choice::Second));
    let share_a = if a + b > 0 { Ok(real(a) / real(a + b)) } else { Err(Undefined::Nothing) };
    SideShares { a, b, ties: count(Choice::Tie), share_a: share_a.into(), p: binomial_test(a, b).into() }
}

/// Twice the smaller tail of a fair coin, at most 1.
fn binomial_test(a: u64, b: u64) -> Result<f64, Undefined> {
    let fair = Binomial::new(0.5, a + b).ok().filter(|_| a + b > 0).ok_or(Undefined::Nothing)?;
    Ok((2.0 * fair.cdf(a.min(b))).min(1.0))
}

/// Votes whose questions name the models in the order of the sides.
struct Sided<'v> {
    votes: &'v Votes,
    questions: Vec<String>,
}

impl<'v> Sided<'v> {
    fn new(votes: &'v Votes) -> Self {
        // Behind the question's turn, so that its first part is still the question.
        let key = |vote: &super::Vote| format!("{}\u{1f}{}\u{1f}{}", vote.question, vote.models[0], vote.models[1]);
        Self { votes, questions: votes.0.iter().map(key).collect() }
    }

    fn votes(&self) -> VotesByQuestion<'_> {
        VotesByQuestion::gather(self.votes.0.iter().zip(&self.questions).map(|(vote, question)| PairVote {
            question,
            voter: &vote.voter,
            // In name order, so that no vote is turned.
            models: ["A", "B"],
            choice: vote.choice(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Vote;
    use super::*;
    use crate::battle::Outcome;

    const NONE: BootstrapOptions = BootstrapOptions { replicates: 0, seed: 0 };

    fn vote(question: &str, voter: &str, models: [&str; 2], outcome: Outcome) -> Vote {
        Vote { question: question.into(), voter: voter.into(), models: models.map(str::to_owned), outcome }
    }

    #[test]
    fn the_test_is_that_of_a_fair_coin() {
        // 2 · (1 + 10 + 45) / 1024.
        assert!((binomial_test(8, 2).unwrap() - 0.109_375).abs() < 1e-12);
        assert!((binomial_test(5, 5).unwrap() - 1.0).abs() < 1e-12);
        assert!(binomial_test(23_176, 3_691).unwrap() < 1e-300);
        assert_eq!(binomial_test(0, 0), Err(Undefined::Nothing));
    }

    #[test]
    fn a_judge_that_always_says_a_agrees_on_models_and_not_on_sides() {
        // People prefer x on either side; the judge says A, and sees x there half of the time.
        let questions: Vec<(String, [&str; 2])> =
            (0..40).map(|n| (n.to_string(), if n % 2 == 0 { ["x", "y"] } else { ["y", "x"] })).collect();
        let for_x = |models: &[&str; 2]| if models[0] == "x" { Outcome::AWins } else { Outcome::BWins };
        let people = questions.iter().map(|(question, models)| vote(question, "ann", *models, for_x(models)));
        let judge = questions.iter().map(|(question, models)| vote(question, "judge", *models, Outcome::AWins));
        let (people, judge) = (Votes(people.collect()), Votes(judge.collect()));
        let found = by_side(&people, &judge, NONE);
        assert_eq!((found.people.a, found.people.b, found.judge.a, found.judge.b), (20, 20, 40, 0));
        assert!(found.people.p.value.unwrap() > 0.99 && found.judge.p.value.unwrap() < 1e-9);
        assert_eq!(found.judge.share_a.value, Some(1.0));
        // By side the judge's verdicts do not vary: no agreement beyond chance.
        assert!(found.chance.krippendorff_with_judge.value.unwrap() < 0.0, "{:?}", found.chance);
    }

    #[test]
    fn a_vote_that_replaces_another_counts_once() {
        let votes = |times: usize| {
            let once: Vec<Vote> = (0..5).map(|n| vote(&n.to_string(), "ann", ["x", "y"], Outcome::AWins)).collect();
            Votes(once.iter().cycle().take(5 * times).cloned().collect())
        };
        let (once, twice) = (by_side(&votes(1), &votes(1), NONE), by_side(&votes(2), &votes(1), NONE));
        assert_eq!((twice.people.a, &twice.people), (5, &once.people));
    }
}
