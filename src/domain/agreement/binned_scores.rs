//! Scores as labels: agreement of people and a judge on binned scores (MT-Bench-101, section 4.4).

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::agreement::answers::Answers;
use crate::agreement::intervals::AgreementBootstrap;
use crate::agreement::mean_kappa::{LabelPair, LabelPairCounts, PeopleAndJudge};
use crate::agreement::metrics::{AgreementMetrics, IntervalReport, KappaReport, MeanKappa, MetricValue, ShareReport};
use crate::agreement::score_intervals::LabelIntervals;
use crate::stats::agreement::alpha::{MeasurementLevel, krippendorff};
use crate::stats::agreement::choices::{band, between, majority, within};
use crate::stats::agreement::kappa::{fleiss_of_labels, randolph_of_labels};
use crate::stats::resample::BootstrapOptions;
use crate::stats::{Share, Undefined, real_len};

/// Minimum number of items for the kappa of the judge and one person.
const MIN_ITEMS: usize = 1;

/// Binning of scores into labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bins {
    /// Bands of a ten-point scale: 1–3, 4–6, 7–9, 10.
    #[default]
    Bands,
    /// One label per distinct score.
    Exact,
}

impl Bins {
    /// Maps a score to its label.
    fn label(self, score: f64) -> u64 {
        match self {
            Self::Bands => u64::from(band(score)),
            // Negative zero equals zero.
            Self::Exact => (score + 0.0).to_bits(),
        }
    }
}

/// Label agreement, or the reason why it is undefined.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum LabelsSection {
    /// Metrics.
    Found(Box<LabelsReport>),
    /// No metrics.
    Undefined {
        /// Reason.
        undefined: String,
    },
}

/// Agreement of scores as labels.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LabelsReport {
    /// Binning of scores.
    pub bins: Bins,
    /// Agreement of two people on one answer.
    pub human_human: AgreementMetrics,
    /// Agreement of a person with the judge.
    pub judge_human: AgreementMetrics,
    /// Agreement of the judge with the majority label of people.
    pub judge_majority: MajorityReport,
    /// Fleiss' kappa of several sets of raters.
    pub fleiss: FleissReport,
    /// Randolph's kappa of people: every label that occurs is equally likely by chance.
    pub randolph: KappaReport,
    /// Krippendorff's alpha (interval) of people's scores.
    pub krippendorff: MetricValue,
    /// Krippendorff's alpha (interval) of people and the judge.
    pub krippendorff_with_judge: MetricValue,
    /// Krippendorff's alpha (ordinal) of people's scores.
    pub krippendorff_ordinal: MetricValue,
    /// Krippendorff's alpha (ordinal) of people and the judge.
    pub krippendorff_ordinal_with_judge: MetricValue,
    /// Krippendorff's alpha (nominal) of people's labels.
    pub krippendorff_nominal: MetricValue,
    /// Krippendorff's alpha (nominal) of people and the judge.
    pub krippendorff_nominal_with_judge: MetricValue,
    /// Bootstrap of the intervals; none where nothing was resampled.
    pub bootstrap: Option<AgreementBootstrap>,
}

/// Agreement of the judge with the majority of people.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MajorityReport {
    /// Share of answers on which they agree.
    #[serde(flatten)]
    pub share: ShareReport,
    /// Number of answers without a majority label.
    pub undecided: usize,
}

/// Fleiss' kappa as in MT-Bench-101, Table 9. Answers whose number of raters is not the most frequent one are left out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FleissReport {
    /// Kappa of people.
    pub people: KappaReport,
    /// Mean of the kappas of the judge with each person.
    pub judge_with_each: MeanKappa,
    /// Kappa of the judge and the majority label of people.
    pub judge_with_majority: KappaReport,
    /// Kappa of people and the judge as raters alike.
    pub people_and_judge: KappaReport,
}

/// Computes the label agreement; undefined for bands if a score is outside the scale from 1 to 10.
pub(super) fn by_label(people: &Answers, judge: &Answers, bins: Bins, bootstrap: BootstrapOptions) -> LabelsSection {
    let scores = people.0.values().chain(judge.0.values()).flat_map(BTreeMap::values);
    if let Some(outside) = scores.clone().find(|score| bins == Bins::Bands && !(1.0..=10.0).contains(*score)) {
        let undefined = format!("the score {outside} is not between 1 and 10, as the bands are: take exact bins");
        return LabelsSection::Undefined { undefined };
    }
    let labels = scores.map(|&score| bins.label(score)).collect::<BTreeSet<u64>>();
    let labelled = BinnedLabels { people, judge, bins, labels: labels.into_iter().collect() };
    LabelsSection::Found(Box::new(labelled.report(bootstrap)))
}

/// Label by rater.
type ByRater<'a> = BTreeMap<&'a str, u64>;

struct BinnedLabels<'a> {
    people: &'a Answers<'a>,
    judge: &'a Answers<'a>,
    bins: Bins,
    labels: Vec<u64>,
}

impl<'a> BinnedLabels<'a> {
    fn report(&self, bootstrap: BootstrapOptions) -> LabelsReport {
        let people: Vec<ByRater> = self.people.0.values().map(|scores| self.labels_of(scores)).collect();
        let numbers: Vec<Vec<usize>> = people.iter().map(|labels| self.numbers(labels.values())).collect();
        let given = people.iter().flat_map(BTreeMap::values).collect::<BTreeSet<_>>().len();
        let both = self.both();
        let lists = |labels: &ByRater| labels.values().copied().collect::<Vec<u64>>();
        let of_both = |(people, judge): &(ByRater, ByRater)| (lists(people), lists(judge));
        let of_people: Vec<Vec<f64>> =
            self.people.0.values().map(|scores| scores.values().copied().collect()).collect();
        let of_all = self.scores_of_all();
        let alpha = |scores: &[Vec<f64>], scale| MetricValue::from(krippendorff(scores, scale));
        let with_judge = |scores: &[Vec<f64>], scale| match both.is_empty() {
            true => MetricValue::from(Err(Undefined::Nothing)),
            false => alpha(scores, scale),
        };
        let (labels_of_people, labels_of_all) = (self.places(&of_people), self.places(&of_all));
        let of_bins = self.intervals(given, bootstrap);
        let [[scores, scores_all], [ordered, ordered_all], [labels, labels_all]] = of_bins.krippendorff;
        LabelsReport {
            bins: self.bins,
            human_human: AgreementMetrics::from(within(people.iter().map(lists))).with(of_bins.human_human),
            judge_human: AgreementMetrics::from(between(both.iter().map(of_both))).with(of_bins.judge_human),
            judge_majority: judge_majority(&both, of_bins.judge_majority),
            fleiss: self.fleiss(&numbers, &both, bootstrap).with(of_bins.fleiss),
            randolph: KappaReport::new(randolph_of_labels(items(&numbers), given), numbers.len())
                .with(of_bins.randolph),
            krippendorff: alpha(&of_people, MeasurementLevel::Interval).with(scores),
            krippendorff_with_judge: with_judge(&of_all, MeasurementLevel::Interval).with(scores_all),
            krippendorff_ordinal: alpha(&of_people, MeasurementLevel::Ordinal).with(ordered),
            krippendorff_ordinal_with_judge: with_judge(&of_all, MeasurementLevel::Ordinal).with(ordered_all),
            krippendorff_nominal: alpha(&labels_of_people, MeasurementLevel::Nominal).with(labels),
            krippendorff_nominal_with_judge: with_judge(&labels_of_all, MeasurementLevel::Nominal).with(labels_all),
            bootstrap: of_bins.bootstrap,
        }
    }

    /// Computes the intervals. `given` is the number of people's labels.
    fn intervals(&self, given: usize, bootstrap: BootstrapOptions) -> LabelIntervals {
        let label = |score: f64| self.labels.binary_search(&self.bins.label(score)).unwrap_or_default();
        LabelIntervals::new(self.people, self.judge, label, given, bootstrap)
    }

    /// Maps scores to label indices.
    fn places(&self, scores: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let place = |score: &f64| self.labels.binary_search(&self.bins.label(*score)).map_or(f64::NAN, real_len);
        scores.iter().map(|scores| scores.iter().map(place).collect()).collect()
    }

    fn labels_of(&self, scores: &BTreeMap<&'a str, f64>) -> ByRater<'a> {
        scores.iter().map(|(rater, score)| (*rater, self.bins.label(*score))).collect()
    }

    /// Returns the labels of the answers that both people and the judge scored.
    fn both(&self) -> Vec<(ByRater<'a>, ByRater<'a>)> {
        let judged = |(key, people)| Some((self.labels_of(people), self.labels_of(self.judge.0.get(key)?)));
        self.people.0.iter().filter_map(judged).collect()
    }

    fn scores_of_all(&self) -> Vec<Vec<f64>> {
        let by_judge = |key| self.judge.0.get(key).into_iter().flat_map(BTreeMap::values);
        self.people.0.iter().map(|(key, people)| people.values().chain(by_judge(key)).copied().collect()).collect()
    }

    /// Maps labels to label indices.
    fn numbers<'l>(&self, given: impl Iterator<Item = &'l u64>) -> Vec<usize> {
        given.filter_map(|label| self.labels.binary_search(label).ok()).collect()
    }

    /// Returns the labels of each person beside the judge's. If several judges scored an answer, their majority label is the judge's.
    fn each_beside_judge(&self) -> PeopleAndJudge {
        let judged = self.people.0.iter().filter_map(|(key, scores)| {
            let verdict = majority_label(&self.labels_of(self.judge.0.get(key)?))?;
            Some((key.0, scores, verdict))
        });
        let number = |label: u64| self.labels.binary_search(&label).unwrap_or_default();
        let pairs = judged.flat_map(|(question, scores, verdict)| {
            scores.iter().map(move |(&person, &score)| {
                let labels = [self.bins.label(score), verdict].map(number);
                LabelPair { question, person, labels }
            })
        });
        PeopleAndJudge::new(pairs)
    }

    fn fleiss(&self, people: &[Vec<usize>], both: &[(ByRater, ByRater)], bootstrap: BootstrapOptions) -> FleissReport {
        let fleiss = |numbers: &[Vec<usize>]| fleiss_of_labels(items(numbers));
        let two = |[one, other]: [u64; 2]| self.numbers([one, other].iter());
        let decided: Vec<Vec<usize>> = decided(both).into_iter().map(two).collect();
        let all: Vec<Vec<usize>> =
            both.iter().map(|(people, judge)| self.numbers(people.values().chain(judge.values()))).collect();
        FleissReport {
            people: KappaReport::new(fleiss(people), people.len()),
            judge_with_each: self.each_beside_judge().mean_kappa(MIN_ITEMS, kappa_of_pairs, bootstrap),
            judge_with_majority: KappaReport::new(fleiss(&decided), both.len()),
            people_and_judge: KappaReport::new(fleiss(&all), all.len()),
        }
    }
}

impl FleissReport {
    /// Adds the intervals of people, of judge and majority, and of people and judge.
    fn with(self, [people, two, all]: [IntervalReport; 3]) -> Self {
        Self {
            people: self.people.with(people),
            judge_with_majority: self.judge_with_majority.with(two),
            people_and_judge: self.people_and_judge.with(all),
            judge_with_each: self.judge_with_each,
        }
    }
}

/// Returns the items as the kappa functions take them, each with the indices of its labels.
fn items(numbers: &[Vec<usize>]) -> impl Iterator<Item = (&[usize], usize)> {
    numbers.iter().map(|labels| (labels.as_slice(), 1))
}

fn kappa_of_pairs(pairs: &LabelPairCounts) -> Result<f64, Undefined> {
    fleiss_of_labels(pairs.iter().map(|(labels, times)| (labels.as_slice(), *times))).map(|found| found.kappa)
}

/// Returns the majority label of people and the judge's, for the answers that have one of each.
fn decided(both: &[(ByRater, ByRater)]) -> Vec<[u64; 2]> {
    both.iter().filter_map(|(people, judge)| Some([majority_label(people)?, majority_label(judge)?])).collect()
}

fn majority_label(labels: &ByRater) -> Option<u64> {
    majority(&labels.values().copied().collect::<Vec<u64>>())
}

fn judge_majority(both: &[(ByRater, ByRater)], uncertainty: IntervalReport) -> MajorityReport {
    let decided = decided(both);
    let mut share = Share::default();
    decided.iter().for_each(|[people, judge]| share.count(people == judge));
    MajorityReport { share: ShareReport::from(share).with(uncertainty), undecided: both.len() - decided.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_judge_there_is_no_agreement_with_one() {
        let scores = |scores: &[(&'static str, f64)]| scores.iter().copied().collect::<BTreeMap<_, _>>();
        let answers = |of: BTreeMap<&'static str, f64>| Answers([(("q", "m"), of)].into_iter().collect());
        let people = answers(scores(&[("ann", 2.0), ("bob", 8.0)]));
        let report = |judge: &Answers<'static>| match by_label(&people, judge, Bins::Bands, BootstrapOptions::default())
        {
            LabelsSection::Found(report) => report,
            LabelsSection::Undefined { undefined } => panic!("{undefined}"),
        };
        let alone = report(&Answers(BTreeMap::new()));
        assert!(alone.krippendorff.value.is_some() && alone.krippendorff_nominal.value.is_some());
        for value in [
            &alone.krippendorff_with_judge,
            &alone.krippendorff_ordinal_with_judge,
            &alone.krippendorff_nominal_with_judge,
        ] {
            assert_eq!(*value, Err(Undefined::Nothing).into());
        }
        let beside = report(&answers(scores(&[("judge", 5.0)])));
        assert!(beside.krippendorff_with_judge.value.is_some());
    }
}
