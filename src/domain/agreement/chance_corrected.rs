//! Agreement of votes and verdicts beyond chance.

use serde::Serialize;

use super::mean_kappa::{LabelPair, LabelPairCounts, PeopleAndJudge};
use super::vote_intervals::ChanceIntervals;
use crate::agreement::metrics::{KappaReport, MeanKappa, MetricValue};
use crate::stats::Undefined;
use crate::stats::agreement::alpha::{MeasurementLevel, krippendorff};
use crate::stats::agreement::choices::{Choice, VotesByQuestion, majority};
use crate::stats::agreement::kappa::{cohen, cohen_of_counts, fleiss, randolph};
use crate::stats::resample::BootstrapOptions;

/// Minimum number of items for the kappa of a judge and one person.
const MIN_ITEMS: usize = 10;

/// Agreement beyond chance. The labels are first, second and tie, of the two models in the order of their names.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChanceReport {
    /// Cohen's kappa of the judge and the majority of each question's votes.
    pub cohen_majority: KappaReport,
    /// Mean of Cohen's kappa of the judge with each person who shares enough questions with it.
    pub cohen_people: MeanKappa,
    /// Fleiss' kappa of people, on the questions with the most frequent number of votes.
    pub fleiss: KappaReport,
    /// Randolph's kappa on the same questions: all three labels are equally likely by chance.
    pub randolph: KappaReport,
    /// Krippendorff's alpha of people, on all questions with two or more votes.
    pub krippendorff: MetricValue,
    /// Krippendorff's alpha of people and the judge.
    pub krippendorff_with_judge: MetricValue,
}

/// Computes all metrics. If several judges judged a question, their majority is the judge's verdict.
pub(super) fn chance_report(
    people: &VotesByQuestion,
    judge: &VotesByQuestion,
    intervals: ChanceIntervals,
    bootstrap: BootstrapOptions,
) -> ChanceReport {
    let questions: Vec<Vec<Choice>> = people.questions().collect();
    let counts: Vec<Vec<u64>> = questions.iter().map(|votes| counts(votes)).collect();
    ChanceReport {
        cohen_majority: with_majority(people, judge).with(intervals.cohen_majority),
        cohen_people: with_each(people, judge, bootstrap),
        fleiss: KappaReport::new(fleiss(&counts), counts.len()).with(intervals.fleiss),
        randolph: KappaReport::new(randolph(&counts, LABELS.len()), counts.len()).with(intervals.randolph),
        krippendorff: alpha(questions).with(intervals.krippendorff),
        krippendorff_with_judge: with_judge(people, judge).with(intervals.krippendorff_with_judge),
    }
}

/// Computes alpha with the judge as one of the raters; undefined if it judged none of people's questions.
fn with_judge(people: &VotesByQuestion, judge: &VotesByQuestion) -> MetricValue {
    if people.paired_with(judge).next().is_none() {
        return Err(Undefined::Nothing).into();
    }
    alpha(
        people
            .cast()
            .map(|(key, cast)| cast.iter().map(|(_, choice)| *choice).chain(majority(&judge.of(key))).collect()),
    )
}

const LABELS: [Choice; 3] = [Choice::First, Choice::Second, Choice::Tie];

fn counts(votes: &[Choice]) -> Vec<u64> {
    LABELS.iter().map(|label| votes.iter().filter(|&vote| vote == label).count() as u64).collect()
}

fn alpha(questions: impl IntoIterator<Item = Vec<Choice>>) -> MetricValue {
    let value = |vote: &Choice| match vote {
        Choice::First => 0.0,
        Choice::Second => 1.0,
        Choice::Tie => 2.0,
    };
    let units: Vec<Vec<f64>> = questions.into_iter().map(|votes| votes.iter().map(value).collect()).collect();
    krippendorff(&units, MeasurementLevel::Nominal).into()
}

/// Computes Cohen's kappa of the two majorities; a question without a majority of people or judges is left out.
fn with_majority(people: &VotesByQuestion, judge: &VotesByQuestion) -> KappaReport {
    let both: Vec<(Vec<Choice>, Vec<Choice>)> = people.paired_with(judge).collect();
    let decided = both.iter().filter_map(|(votes, verdicts)| Some((majority(votes)?, majority(verdicts)?)));
    let (of_people, of_judge): (Vec<Choice>, Vec<Choice>) = decided.unzip();
    KappaReport::new(cohen(&of_people, &of_judge), both.len())
}

fn with_each(people: &VotesByQuestion, judge: &VotesByQuestion, bootstrap: BootstrapOptions) -> MeanKappa {
    let judged = people.cast().filter_map(|(key, cast)| Some((key.0, cast, majority(&judge.of(key))?)));
    let pairs = judged.flat_map(|(question, cast, verdict)| {
        cast.iter().map(move |&(person, choice)| LabelPair { question, person, labels: [choice, verdict].map(number) })
    });
    PeopleAndJudge::new(pairs).mean_kappa(MIN_ITEMS, kappa_of_pairs, bootstrap)
}

fn number(choice: Choice) -> usize {
    LABELS.iter().position(|label| *label == choice).unwrap_or_default()
}

fn kappa_of_pairs(pairs: &LabelPairCounts) -> Result<f64, Undefined> {
    cohen_of_counts(pairs.iter().map(|&(labels, times)| (labels, times as u64))).map(|found| found.kappa)
}

#[cfg(test)]
mod tests {
    use super::super::vote_intervals::VoteIntervals;
    use super::*;
    use crate::stats::agreement::choices::PairVote;

    fn votes(votes: &[(&'static str, &'static str, Choice)]) -> VotesByQuestion<'static> {
        let models = ["x", "y"];
        VotesByQuestion::gather(votes.iter().map(|&(question, voter, choice)| PairVote {
            question,
            voter,
            models,
            choice,
        }))
    }

    #[test]
    fn without_a_judge_there_is_no_agreement_with_one() {
        use Choice::{First, Second};
        let people = [("q", "ann", First), ("q", "bob", First), ("r", "ann", First), ("r", "bob", Second)];
        let none = BootstrapOptions { replicates: 0, seed: 0 };
        let chance_report = |people: &VotesByQuestion, judge: &VotesByQuestion| {
            super::chance_report(people, judge, VoteIntervals::new(people, judge, none).chance, none)
        };
        let alone = chance_report(&votes(&people), &votes(&[]));
        assert_eq!(alone.krippendorff_with_judge, Err(Undefined::Nothing).into());
        assert_eq!(alone.krippendorff.value, Some(0.0));
        let beside = chance_report(&votes(&people), &votes(&[("q", "judge", First)]));
        assert!(beside.krippendorff_with_judge.value.is_some(), "{beside:?}");
    }
}
