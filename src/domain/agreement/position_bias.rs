//! Votes by the side of each model: position bias of people or a judge.
//!
//! Agreement on models hides such a bias, because it turns every vote to the order of the models' names. Here a question with swapped sides
//! is a different question, and the labels are A, B and tie.

use std::collections::BTreeMap;

use serde::Serialize;
use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, Normal};

use super::agreement_input::Votes;
use super::chance_corrected::{ChanceReport, chance_report};
use super::metrics::MetricValue;
use super::vote_intervals::VoteIntervals;
use crate::stats::agreement::choices::{Choice, PairVote, VotesByQuestion};
use crate::stats::resample::BootstrapOptions;
use crate::stats::{Undefined, real};

/// Maximum number of steps of an exact test by voter; a longer one is approximated by the normal distribution.
const MAX_EXACT_STEPS: u64 = 200_000_000;

/// Wins by side in both files.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SideSharesReport {
    /// Wins in people's votes.
    pub people: SideShares,
    /// Wins in the judge's verdicts.
    pub judge: SideShares,
    /// Agreement beyond chance on the labels A, B and tie.
    pub chance: ChanceReport,
}

/// Share of wins of each side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SideShares {
    /// Number of votes for side A.
    pub a: u64,
    /// Number of votes for side B.
    pub b: u64,
    /// Number of votes for neither side.
    pub ties: u64,
    /// a / (a + b).
    pub share_a: MetricValue,
    /// Two-sided p-value of the test that A and B are equally likely. With several people, the votes of each are flipped together (sign
    /// flips); if each voted once, that is the exact binomial test. Otherwise it is the binomial test, which takes votes as independent and
    /// is too small if several are on one question. It shows position bias only if sides were assigned at random or every pair was shown in
    /// both orders.
    pub p: MetricValue,
    /// Number of voters whose votes `p` flips together; `None` if it takes votes as independent.
    pub voters: Option<usize>,
}

/// Computes the shares of both files, and the agreement on sides.
pub(super) fn by_side(votes: &Votes, verdicts: &Votes, bootstrap: BootstrapOptions) -> SideSharesReport {
    let (people, judge) = (VotesBySide::new(votes), VotesBySide::new(verdicts));
    let (people, judge) = (people.votes(), judge.votes());
    let intervals = VoteIntervals::new(&people, &judge, bootstrap);
    SideSharesReport {
        people: shares(&people, side_surpluses(&people)),
        // The judges are not a sample of other judges.
        judge: shares(&judge, None),
        chance: chance_report(&people, &judge, intervals.chance, bootstrap),
    }
}

/// Computes the shares over the last vote of each voter on each question and sides. The test is by voter if `leans` are given.
fn shares(votes: &VotesByQuestion<'_>, leans: Option<Vec<i64>>) -> SideShares {
    let choices: Vec<Choice> = votes.questions().flatten().collect();
    let count = |choice| choices.iter().map(|said| u64::from(*said == choice)).sum::<u64>();
    let (a, b) = (count(Choice::First), count(Choice::Second));
    let share_a = if a + b > 0 { Ok(real(a) / real(a + b)) } else { Err(Undefined::Nothing) };
    let p = leans.as_ref().map_or_else(|| binomial_test(a, b), |leans| Ok(sign_flip_test(leans)));
    let voters = leans.map(|leans| leans.len());
    SideShares { a, b, ties: count(Choice::Tie), share_a: share_a.into(), p: p.into(), voters }
}

/// Returns votes for A less votes for B of each voter who voted for a side; `None` unless there are several.
fn side_surpluses(votes: &VotesByQuestion<'_>) -> Option<Vec<i64>> {
    let mut leans: BTreeMap<&str, i64> = BTreeMap::new();
    for &(voter, choice) in votes.cast().flat_map(|(_, cast)| cast) {
        match choice {
            Choice::First => *leans.entry(voter).or_default() += 1,
            Choice::Second => *leans.entry(voter).or_default() -= 1,
            Choice::Tie => {}
        }
    }
    (leans.len() > 1).then(|| leans.into_values().collect())
}

/// Returns twice the probability, at most 1, that leans of these sizes, each with a random sign, give one side no more than the lesser side
/// was observed to have.
fn sign_flip_test(leans: &[i64]) -> f64 {
    let sizes: Vec<u64> = leans.iter().map(|lean| lean.unsigned_abs()).filter(|size| *size > 0).collect();
    let (all, found) = (sizes.iter().sum::<u64>(), leans.iter().sum::<i64>().unsigned_abs());
    let less = (all - found) / 2;
    if sizes.iter().all(|size| *size == 1) {
        return binomial_test(all - less, less).unwrap_or(1.0);
    }
    let exact = usize::try_from(less).ok().filter(|_| less.saturating_mul(sizes.len() as u64) <= MAX_EXACT_STEPS);
    let Some(less) = exact else {
        let variance: f64 = sizes.iter().map(|size| real(*size) * real(*size)).sum();
        return 2.0 * Normal::standard().sf(real(found) / variance.sqrt());
    };
    // Probability of each sum on one side, up to that of the lesser side.
    let mut sums = vec![0.0; less + 1];
    sums[0] = 1.0;
    for size in sizes.into_iter().map(|size| usize::try_from(size).unwrap_or(usize::MAX)) {
        for sum in (0..=less).rev() {
            let with = sum.checked_sub(size).map_or(0.0, |rest| sums[rest]);
            sums[sum] = f64::midpoint(sums[sum], with);
        }
    }
    (2.0 * sums.iter().sum::<f64>()).min(1.0)
}

/// Returns twice the smaller tail of a fair coin, at most 1.
fn binomial_test(a: u64, b: u64) -> Result<f64, Undefined> {
    let fair = Binomial::new(0.5, a + b).ok().filter(|_| a + b > 0).ok_or(Undefined::Nothing)?;
    Ok((2.0 * fair.cdf(a.min(b))).min(1.0))
}

/// Votes with question keys that name the models in the order of the sides.
struct VotesBySide<'v> {
    votes: &'v Votes,
    questions: Vec<String>,
}

impl<'v> VotesBySide<'v> {
    fn new(votes: &'v Votes) -> Self {
        // The models follow the turn, so that the first part of the key is still the question.
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
    fn votes_of_one_voter_count_together_in_the_test() {
        // 3, 2 and 1 to A: of eight ways to flip them, one has nothing on B and one nothing on A.
        assert!((sign_flip_test(&[3, 2, 1]) - 0.25).abs() < 1e-12);
        // 3 to A and 2 to B: half of the sums on one side, 0 and 2, are at most 2.
        assert!((sign_flip_test(&[3, -2]) - 1.0).abs() < 1e-12);
        assert!((sign_flip_test(&[1; 10]) - binomial_test(10, 0).unwrap()).abs() < 1e-12, "each voted once");
        assert!((sign_flip_test(&[0, 0]) - 1.0).abs() < 1e-12);
        let many: Vec<i64> =
            (0..30_000).map(|voter| if voter % 50 < 26 { 1 + voter % 3 } else { -1 - voter % 3 }).collect();
        let exact: Vec<i64> = many[..3_000].to_vec();
        let approximate = |leans: &[i64]| {
            let sum = real(leans.iter().sum::<i64>().unsigned_abs());
            let variance: f64 = leans.iter().map(|lean| real(lean.unsigned_abs()).powi(2)).sum();
            2.0 * Normal::standard().sf(sum / variance.sqrt())
        };
        assert!((sign_flip_test(&exact) / approximate(&exact) - 1.0).abs() < 0.05);
        assert!((sign_flip_test(&many) / approximate(&many) - 1.0).abs() < 1e-12, "too many steps");
    }

    #[test]
    fn people_who_vote_often_are_taken_together_and_a_judge_is_not() {
        let cast = |voters: usize| {
            let one = |n: usize| vote(&n.to_string(), &format!("voter {}", n % voters), ["x", "y"], Outcome::AWins);
            Votes((0..20).map(one).collect())
        };
        let found = by_side(&cast(4), &cast(4), NONE);
        assert_eq!((found.people.voters, found.judge.voters), (Some(4), None));
        assert!((found.people.p.value.unwrap() - 0.125).abs() < 1e-12 && found.judge.p.value.unwrap() < 1e-5);
        let found = by_side(&cast(1), &cast(1), NONE);
        assert_eq!(
            (found.people.voters, found.people.p.value),
            (None, found.judge.p.value),
            "one voter, or unknown ones"
        );
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
