//! Intervals of the agreement of votes and verdicts.

use super::intervals::{AgreementBootstrap, Drawn, RaterValuePatterns, RaterValues, alphas, labels_of_people, share};
use super::metrics::IntervalReport;
use crate::stats::agreement::alpha::MeasurementLevel;
use crate::stats::agreement::choices::{Choice, PairKey, VoterChoice, VotesByQuestion, between, majority, within};
use crate::stats::agreement::kappa::{cohen_of_counts, fleiss_of_labels, randolph_of_labels};
use crate::stats::resample::BootstrapOptions;
use crate::stats::{Undefined, real_len};

/// Number of labels: first, second and tie.
const LABEL_COUNT: usize = 3;
const TIE_INDEX: usize = 2;

/// Intervals of a report on votes.
pub(super) struct VoteIntervals {
    /// Agreement of two people, with and without ties.
    pub(super) human_human: [IntervalReport; 2],
    /// Agreement of a person with the judge, with and without ties.
    pub(super) judge_human: [IntervalReport; 2],
    /// Agreement beyond chance.
    pub(super) chance: ChanceIntervals,
    /// Bootstrap of the intervals.
    pub(super) bootstrap: Option<AgreementBootstrap>,
}

/// Intervals of the chance-corrected metrics that resample questions.
pub(super) struct ChanceIntervals {
    pub(super) cohen_majority: IntervalReport,
    pub(super) fleiss: IntervalReport,
    pub(super) randolph: IntervalReport,
    pub(super) krippendorff: IntervalReport,
    pub(super) krippendorff_with_judge: IntervalReport,
}

impl VoteIntervals {
    pub(super) fn new(people: &VotesByQuestion<'_>, judge: &VotesByQuestion<'_>, bootstrap: BootstrapOptions) -> Self {
        let patterns = RaterValuePatterns::new(values_by_pair(people, judge), label);
        let [human, human_decided, judged, judged_decided, cohen_majority, fleiss, randolph, alpha, alpha_with_judge] =
            patterns.intervals(bootstrap, statistics);
        Self {
            human_human: [human, human_decided],
            judge_human: [judged, judged_decided],
            chance: ChanceIntervals {
                cohen_majority,
                fleiss,
                randolph,
                krippendorff: alpha,
                krippendorff_with_judge: alpha_with_judge,
            },
            bootstrap: patterns.bootstrap(bootstrap),
        }
    }
}

/// Converts choices to labels. If several judges judged a question, they count as one rater with the majority choice.
fn values_by_pair<'a>(people: &VotesByQuestion<'a>, judge: &VotesByQuestion<'a>) -> Vec<RaterValues<'a>> {
    let value = |choice: Choice| match choice {
        Choice::First => 0.0,
        Choice::Second => 1.0,
        Choice::Tie => 2.0,
    };
    let of = |(key, cast): (PairKey<'a>, &[VoterChoice<'a>])| {
        let (question, ..) = key;
        let verdicts = judge.of(key);
        let said: Vec<f64> = cast.iter().map(|(_, choice)| value(*choice)).collect();
        RaterValues {
            question,
            voters: cast.iter().map(|(voter, _)| *voter).collect(),
            all: said.iter().copied().chain(majority(&verdicts).map(value)).collect(),
            people: said,
            judge: verdicts.into_iter().map(value).collect(),
        }
    };
    people.cast().map(of).collect()
}

/// Maps the value of a choice to its label.
fn label(value: f64) -> usize {
    (0..LABEL_COUNT).find(|label| real_len(*label) >= value).unwrap_or(TIE_INDEX)
}

fn statistics(drawn: &Drawn<'_>) -> [Result<f64, Undefined>; 9] {
    let decided = |labels: &[usize]| labels.iter().copied().filter(|label| *label != TIE_INDEX).collect::<Vec<usize>>();
    let majorities = drawn
        .iter()
        .filter_map(|&(said, times)| Some(([majority(&said.people)?, majority(&said.judge)?], times as u64)));
    let majorities: Vec<([usize; 2], u64)> = majorities.collect();
    let [alpha, alpha_with_judge] = alphas(drawn, MeasurementLevel::Nominal, |said| &said.values);
    [
        share(drawn, |said| within([&said.people]).pooled),
        share(drawn, |said| within([decided(&said.people)]).pooled),
        share(drawn, |said| between([(&said.people, &said.judge)]).pooled),
        share(drawn, |said| between([(decided(&said.people), decided(&said.judge))]).pooled),
        cohen_of_counts(majorities.iter().copied()).map(|found| found.kappa),
        fleiss_of_labels(labels_of_people(drawn)).map(|found| found.kappa),
        randolph_of_labels(labels_of_people(drawn), LABEL_COUNT).map(|found| found.kappa),
        alpha,
        alpha_with_judge,
    ]
}

#[cfg(test)]
mod tests {
    use super::super::agreement_input::{Vote, Votes};
    use super::super::pairs::compare;
    use super::*;
    use crate::battle::Outcome;

    fn vote(question: usize, voter: &str, label: usize) -> Vote {
        let outcome = [Outcome::AWins, Outcome::BWins, Outcome::Tie][label % LABEL_COUNT];
        let models = ["x", "y"].map(str::to_owned);
        Vote { question: question.to_string(), voter: voter.to_owned(), models, outcome }
    }

    #[test]
    fn what_is_resampled_are_the_numbers_of_the_report() {
        // Two to four people and none to two judges on each of thirty questions.
        let people = (0..30).flat_map(|q| (0..2 + q % 3).map(move |v| vote(q, &format!("p{v}"), q * (v + 2) / 3 + v)));
        let judges = (0..30).flat_map(|q| (0..q % 3).map(move |v| vote(q, &format!("j{v}"), q / 2 + v / 2)));
        let (people, judges) = (Votes(people.collect()), Votes(judges.collect()));
        let report = compare(&people, &judges, None, BootstrapOptions { replicates: 0, seed: 0 }).unwrap();
        let chance = &report.chance;
        let expected = [
            report.human_human.with_ties.rate,
            report.human_human.without_ties.rate,
            report.judge_human.with_ties.rate,
            report.judge_human.without_ties.rate,
            chance.cohen_majority.kappa,
            chance.fleiss.kappa,
            chance.randolph.kappa,
            chance.krippendorff.value,
            chance.krippendorff_with_judge.value,
        ];
        RaterValuePatterns::new(values_by_pair(&people.by_question(), &judges.by_question()), label)
            .assert_observed(statistics, expected);
    }
}
