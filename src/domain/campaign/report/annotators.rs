//! Work quality of annotators: agreement with others, self-consistency, gold accuracy, side bias and speed; and quality flags.
//!
//! Each flag is a one-sided or two-sided test with a family-wise error of 1 % over the annotators of a campaign (Bonferroni), so each test
//! flags an honest annotator in at most 1 % of campaigns.

use std::collections::BTreeMap;

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::copying::copiers;
use super::judged::{
    CampaignFacts, FAMILY_ERROR, JudgedUnit, JudgementLabel, LabelsByUnit, by_name, label, labels_by_unit,
};
use crate::battle::Outcome;
use crate::campaign::assignment::AssignmentKind;
use crate::stats::distribution::quantile;
use crate::stats::{binomial, fisher_exact, real, real_len};

/// Quality flag of an annotator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AnnotatorFlag {
    /// Chooses one side more often than chance allows, although every model is equally often on either side.
    SideBias,
    /// Agrees with others less than they agree on the same units, or has more errors on known outcomes than others.
    Careless,
    /// Agrees with another annotator more than two independent people do.
    Copying,
}

/// Summary of an annotator's work.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnnotatorSummary {
    /// Pseudonym of the annotator.
    pub annotator: String,
    /// Number of judgements, including repetitions.
    pub judgements: u64,
    /// Share of agreement with each other annotator of the same unit; `None` if no unit has another one.
    pub agreement_with_others: Option<f64>,
    /// Share of correct judgements on known outcomes; `None` without any.
    pub gold_accuracy: Option<f64>,
    /// Number of judgements on known outcomes.
    pub gold_judgements: u64,
    /// Share of repetitions with the same judgement; `None` without any.
    pub self_consistency: Option<f64>,
    /// Number of repetitions.
    pub repeats: u64,
    /// Share of side A among judgements for one side; `None` without any.
    pub side_a_share: Option<f64>,
    /// Median seconds per judgement.
    pub median_seconds: Option<f64>,
    /// Length of the longest run of equal judgements, such as A, A, A.
    pub longest_streak: u64,
    /// Quality flags.
    pub flags: Vec<AnnotatorFlag>,
}

/// Tallies of one annotator.
#[derive(Default)]
struct AnnotatorWork<'j> {
    judged: Vec<&'j JudgedUnit>,
    /// Number of judgements for side A and for side B.
    sides: [u64; 2],
    /// Number of correct judgements and of all judgements on known outcomes.
    gold: [u64; 2],
    /// Number of equal repetitions and of all repetitions.
    repeats: [u64; 2],
    /// For each unit: the share of others who agree with the annotator, and the share of agreeing pairs among the others.
    beside: Vec<(f64, Option<f64>)>,
}

/// Computes the summaries in the order of the pseudonyms.
pub(super) fn summaries(facts: &CampaignFacts, judged: &[JudgedUnit]) -> Vec<AnnotatorSummary> {
    let mut works: BTreeMap<&str, AnnotatorWork> = BTreeMap::new();
    for unit in judged {
        works.entry(&unit.annotator).or_default().judged.push(unit);
    }
    for work in works.values_mut() {
        work.count_sides();
        work.count_gold(facts);
        work.count_repeats();
    }
    let labels = labels_by_unit(judged);
    compare_with_others(&mut works, &labels);
    let copying = copiers(&labels);
    let totals = works.values().fold([0, 0], |sum, work| [sum[0] + work.gold[0], sum[1] + work.gold[1]]);
    let level = FAMILY_ERROR / real_len(works.len().max(1));
    let summary = |(annotator, work): (&&str, &AnnotatorWork)| {
        let flags = [
            (AnnotatorFlag::SideBias, work.has_side_bias(level)),
            (AnnotatorFlag::Careless, work.is_careless(totals, level / 2.0)),
            (AnnotatorFlag::Copying, copying.contains(*annotator)),
        ];
        work.summary(annotator, flags.into_iter().filter(|(_, is)| *is).map(|(flag, _)| flag).collect())
    };
    works.iter().map(summary).collect()
}

fn compare_with_others<'j>(works: &mut BTreeMap<&'j str, AnnotatorWork<'j>>, labels: &LabelsByUnit<'j>) {
    for given in labels.values().filter(|given| given.len() > 1) {
        let mut counts: BTreeMap<&JudgementLabel, f64> = BTreeMap::new();
        for (_, label) in given {
            *counts.entry(label).or_default() += 1.0;
        }
        let others = real_len(given.len() - 1);
        let pairs: f64 = counts.values().map(|count| count * (count - 1.0) / 2.0).sum();
        for (annotator, label) in given {
            let with = counts[label] - 1.0;
            let rest = (given.len() > 2).then(|| (pairs - with) / (others * (others - 1.0) / 2.0));
            works.entry(annotator).or_default().beside.push((with / others, rest));
        }
    }
}

impl AnnotatorWork<'_> {
    fn count_sides(&mut self) {
        for unit in &self.judged {
            match unit.judgement.outcome() {
                Some(Outcome::AWins) => self.sides[0] += 1,
                Some(Outcome::BWins) => self.sides[1] += 1,
                _ => {}
            }
        }
    }

    fn count_gold(&mut self, facts: &CampaignFacts) {
        for unit in self.judged.iter().filter(|unit| unit.kind != AssignmentKind::Repeat) {
            if let (Some(known), Some(said)) = (facts.gold.get(&unit.unit), unit.judgement.outcome()) {
                self.gold[1] += 1;
                self.gold[0] += u64::from(by_name(said, &unit.shown) == *known);
            }
        }
    }

    fn count_repeats(&mut self) {
        let firsts = self.judged.iter().filter(|unit| unit.kind != AssignmentKind::Repeat);
        let firsts: BTreeMap<u32, JudgementLabel> = firsts.map(|unit| (unit.unit, label(unit))).collect();
        for unit in self.judged.iter().filter(|unit| unit.kind == AssignmentKind::Repeat) {
            if let Some(first) = firsts.get(&unit.unit) {
                self.repeats[1] += 1;
                self.repeats[0] += u64::from(*first == label(unit));
            }
        }
    }

    /// Tests for side bias by an exact two-sided binomial test of a fair coin: assignments put every model equally often on either side.
    fn has_side_bias(&self, level: f64) -> bool {
        let [a, b] = self.sides;
        2.0 * binomial::at_least(a.max(b), a + b, 0.5) < level
    }

    /// Tests for carelessness by a paired t-test over units: the annotator agrees with the others less than they do among themselves; or by
    /// Fisher's exact test of known outcomes against those of the others, whose own share is an estimate too.
    fn is_careless(&self, totals: [u64; 2], level: f64) -> bool {
        let differences: Vec<f64> = self.beside.iter().filter_map(|(own, rest)| rest.map(|rest| own - rest)).collect();
        let others = [totals[0] - self.gold[0], totals[1] - self.gold[1]];
        lower_tail_t(&differences) < level || fisher_exact::lower_tail(self.gold, others) < level
    }

    fn summary(&self, annotator: &str, flags: Vec<AnnotatorFlag>) -> AnnotatorSummary {
        let share = |[part, all]: [u64; 2]| (all > 0).then(|| real(part) / real(all));
        let mut seconds: Vec<f64> =
            self.judged.iter().map(|unit| unit.seconds).filter(|seconds| seconds.is_finite()).collect();
        seconds.sort_by(f64::total_cmp);
        let beside = self.beside.iter().map(|(own, _)| own).sum::<f64>() / real_len(self.beside.len().max(1));
        AnnotatorSummary {
            annotator: annotator.to_owned(),
            judgements: self.judged.len() as u64,
            agreement_with_others: (!self.beside.is_empty()).then_some(beside),
            gold_accuracy: share(self.gold),
            gold_judgements: self.gold[1],
            self_consistency: share(self.repeats),
            repeats: self.repeats[1],
            side_a_share: share([self.sides[0], self.sides[0] + self.sides[1]]),
            median_seconds: (!seconds.is_empty()).then(|| quantile(&seconds, 0.5)),
            longest_streak: longest_streak(&self.judged),
            flags,
        }
    }
}

/// Computes the one-sided p-value that the mean is below 0, by Student's t; 1 for fewer than five values. Values without variation are
/// treated as if one of them were 0.
fn lower_tail_t(values: &[f64]) -> f64 {
    if values.len() < 5 {
        return 1.0;
    }
    let n = real_len(values.len());
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let variance = (squares / (n - 1.0)).max(mean.powi(2) / n);
    if variance == 0.0 {
        return 1.0;
    }
    let t = mean / (variance / n).sqrt();
    StudentsT::new(0.0, 1.0, n - 1.0).map_or(1.0, |distribution| distribution.cdf(t))
}

fn longest_streak(judged: &[&JudgedUnit]) -> u64 {
    judged.chunk_by(|one, other| one.judgement == other.judgement).map(|run| run.len() as u64).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slip_on_known_answers_is_no_carelessness_where_others_made_none() {
        let careless = |own: [u64; 2], others: [u64; 2]| {
            AnnotatorWork { gold: own, ..AnnotatorWork::default() }
                .is_careless([own[0] + others[0], own[1] + others[1]], FAMILY_ERROR / 4.0)
        };
        assert!(!careless([9, 10], [10, 10]));
        assert!(!careless([19, 20], [1, 1]));
        assert!(careless([40, 80], [75, 80]));
        assert!(!careless([0, 10], [0, 0]), "nobody else was asked");
    }
}
