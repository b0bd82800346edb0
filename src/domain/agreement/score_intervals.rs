//! Intervals of the agreement of scores as labels, and of Krippendorff's alpha of the scores.

use std::collections::BTreeMap;

use super::answers::{AnswerKey, Answers};
use super::intervals::{
    AgreementBootstrap, Drawn, RaterValuePattern, RaterValuePatterns, RaterValues, alphas, labels_of_people, share,
};
use super::metrics::IntervalReport;
use crate::stats::agreement::alpha::MeasurementLevel;
use crate::stats::agreement::choices::{between, majority, within};
use crate::stats::agreement::kappa::{fleiss_of_labels, randolph_of_labels};
use crate::stats::resample::BootstrapOptions;
use crate::stats::{Share, Undefined};

/// Intervals of a report on labels.
pub(super) struct LabelIntervals {
    pub(super) human_human: IntervalReport,
    pub(super) judge_human: IntervalReport,
    pub(super) judge_majority: IntervalReport,
    /// Fleiss' kappa of people, of judge and majority, and of people and judge.
    pub(super) fleiss: [IntervalReport; 3],
    pub(super) randolph: IntervalReport,
    /// Krippendorff's alpha of people, and of people and judge: interval, ordinal, nominal.
    pub(super) krippendorff: [[IntervalReport; 2]; 3],
    /// Bootstrap of the intervals.
    pub(super) bootstrap: Option<AgreementBootstrap>,
}

impl LabelIntervals {
    /// Computes the intervals. `label` maps a score to its label index; `labels` is the number of distinct labels of people, fixed over
    /// resamples.
    pub(super) fn new<'a>(
        people: &Answers<'a>,
        judge: &Answers<'a>,
        label: impl Fn(f64) -> usize,
        labels: usize,
        bootstrap: BootstrapOptions,
    ) -> Self {
        let patterns = RaterValuePatterns::new(values_by_answer(people, judge), label);
        let [human_human, judge_human, judge_majority, by_people, by_two, by_all, randolph, a, b, c, d, e, f] =
            patterns.intervals(bootstrap, |drawn| statistics(drawn, labels));
        Self {
            human_human,
            judge_human,
            judge_majority,
            fleiss: [by_people, by_two, by_all],
            randolph,
            krippendorff: [[a, b], [c, d], [e, f]],
            bootstrap: patterns.bootstrap(bootstrap),
        }
    }
}

fn values_by_answer<'a>(people: &Answers<'a>, judge: &Answers<'a>) -> Vec<RaterValues<'a>> {
    let answer = |(key, scores): (&AnswerKey<'a>, &BTreeMap<&'a str, f64>)| {
        let said: Vec<f64> = scores.values().copied().collect();
        let judged: Vec<f64> = judge.0.get(key).into_iter().flat_map(|scores| scores.values().copied()).collect();
        RaterValues {
            question: key.0,
            voters: scores.keys().copied().collect(),
            all: [said.as_slice(), &judged].concat(),
            people: said,
            judge: judged,
        }
    };
    people.0.iter().map(answer).collect()
}

fn statistics(drawn: &Drawn<'_>, labels: usize) -> [Result<f64, Undefined>; 13] {
    let decided = |said: &RaterValuePattern| Some([majority(&said.people)?, majority(&said.judge)?]);
    let two: Vec<([usize; 2], usize)> =
        drawn.iter().filter_map(|&(said, times)| Some((decided(said)?, times))).collect();
    let judged = drawn.iter().filter(|(said, _)| !said.judge.is_empty());
    let all: Vec<(Vec<usize>, usize)> =
        judged.map(|&(said, times)| ([said.people.as_slice(), &said.judge].concat(), times)).collect();
    let same = |[one, other]: [usize; 2]| Share { of: u64::from(one == other), total: 1 };
    let [a, b] = alphas(drawn, MeasurementLevel::Interval, |said| &said.values);
    let [c, d] = alphas(drawn, MeasurementLevel::Ordinal, |said| &said.values);
    let [e, f] = alphas(drawn, MeasurementLevel::Nominal, |said| &said.labels);
    [
        share(drawn, |said| within([&said.people]).pooled),
        share(drawn, |said| between([(&said.people, &said.judge)]).pooled),
        share(drawn, |said| decided(said).map_or_else(Share::default, same)),
        fleiss_of_labels(labels_of_people(drawn)).map(|found| found.kappa),
        fleiss_of_labels(two.iter().map(|(labels, times)| (labels.as_slice(), *times))).map(|found| found.kappa),
        fleiss_of_labels(all.iter().map(|(labels, times)| (labels.as_slice(), *times))).map(|found| found.kappa),
        randolph_of_labels(labels_of_people(drawn), labels).map(|found| found.kappa),
        a,
        b,
        c,
        d,
        e,
        f,
    ]
}

#[cfg(test)]
mod tests {
    use super::super::agreement_input::{ScoreData, Scored};
    use super::super::binned_scores::{Bins, LabelsSection, by_label};
    use super::*;

    fn scored(question: u8, rater: &str, score: u8) -> Scored {
        let (question, model, rater) = (question.to_string(), "m".to_owned(), rater.to_owned());
        Scored { question, model, rater, score: f64::from(score) }
    }

    #[test]
    fn what_is_resampled_are_the_numbers_of_the_report() {
        // Two to four people and none to two judges on each of thirty questions, with scores of 1, 2 and 3.
        let of = |q: u8, v: u8| 1 + (q.wrapping_mul(q) / 3 + v) % 3;
        let people = (0..30).flat_map(|q| (0..2 + q % 3).map(move |v| scored(q, &format!("p{v}"), of(q, v))));
        let judges = (0..30).flat_map(|q| (0..q % 3).map(move |v| scored(q, &format!("j{v}"), of(q, v / 2))));
        let (people, judges) = (ScoreData(people.collect()), ScoreData(judges.collect()));
        let (people, judges) = (Answers::new(&people.0), Answers::new(&judges.0));
        let none = BootstrapOptions { replicates: 0, seed: 0 };
        let LabelsSection::Found(report) = by_label(&people, &judges, Bins::Exact, none) else { panic!("no labels") };
        let label = |score: f64| [2.0, 3.0].iter().filter(|bound| score >= **bound).count();
        let patterns = RaterValuePatterns::new(values_by_answer(&people, &judges), label);
        let expected = [
            report.human_human.rate,
            report.judge_human.rate,
            report.judge_majority.share.rate,
            report.fleiss.people.kappa,
            report.fleiss.judge_with_majority.kappa,
            report.fleiss.people_and_judge.kappa,
            report.randolph.kappa,
            report.krippendorff.value,
            report.krippendorff_with_judge.value,
            report.krippendorff_ordinal.value,
            report.krippendorff_ordinal_with_judge.value,
            report.krippendorff_nominal.value,
            report.krippendorff_nominal_with_judge.value,
        ];
        patterns.assert_observed(|drawn| statistics(drawn, 3), expected);
    }
}
