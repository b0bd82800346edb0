//! Intervals of agreement: everything that was said of one question is resampled together.
//!
//! What people and a judge say of one question is not independent, whichever models and turns it is about, so a replicate draws questions, each
//! with all of its votes or scores, as reports of campaigns do: it says how far the number moves with other questions and the same
//! people. Where no question has a second voter, as in the battles of an arena, the votes of one voter are not independent either; then voters
//! are drawn, each with all of their questions.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::metrics::IntervalReport;
use super::score_sheet::item_of;
use crate::stats::agreement::alpha::{MeasurementLevel, krippendorff_of_groups};
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::item_patterns::PatternsOfItems;
use crate::stats::resample::{BootstrapOptions, replicates};
use crate::stats::{Share, Undefined, real_len};

/// What is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResampledUnit {
    /// A question with all of its votes or scores.
    Question,
    /// A voter with all of their questions, where no question has a second voter.
    Voter,
}

/// How the intervals were found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgreementBootstrap {
    /// What was done.
    pub method: &'static str,
    /// What was drawn.
    pub unit: ResampledUnit,
    /// How many of them there are.
    pub units: usize,
    /// How many people there are.
    pub people: usize,
    /// How often they were drawn.
    pub replicates: u32,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Confidence level of the intervals.
    pub confidence: f64,
}

/// What was said of one question about two models, or of one answer.
pub(super) struct Opinions<'a> {
    /// The question with its turn.
    pub(super) question: &'a str,
    /// The people.
    pub(super) voters: Vec<&'a str>,
    /// What they said.
    pub(super) people: Vec<f64>,
    /// What the judge said; nothing where it was not asked.
    pub(super) judge: Vec<f64>,
    /// Both, as one of several raters.
    pub(super) all: Vec<f64>,
}

/// Opinions that are the same but for who gave them and on what.
pub(super) struct OpinionPattern {
    /// Labels that people gave.
    pub(super) people: Vec<usize>,
    /// Labels that the judge gave.
    pub(super) judge: Vec<usize>,
    /// What people said, and what people and the judge said.
    pub(super) values: [Vec<f64>; 2],
    /// The same as labels.
    pub(super) labels: [Vec<f64>; 2],
}

/// Patterns with how often each was drawn.
pub(super) type Drawn<'d> = [(&'d OpinionPattern, usize)];

/// Questions or voters, with the patterns of what was said.
pub(super) struct OpinionPatterns {
    distinct: Vec<OpinionPattern>,
    of_units: PatternsOfItems,
    unit: ResampledUnit,
    /// Number of people.
    people: usize,
}

impl OpinionPatterns {
    /// `label` says which label a value is.
    pub(super) fn new(opinions: Vec<Opinions<'_>>, label: impl Fn(f64) -> usize) -> Self {
        let unit = ResampledUnit::of(&opinions);
        let number_of_people = opinions.iter().flat_map(|said| said.voters.iter()).collect::<BTreeSet<_>>().len();
        let mut places: BTreeMap<[Vec<u64>; 3], usize> = BTreeMap::new();
        let mut distinct: Vec<OpinionPattern> = Vec::new();
        let mut units: Vec<(&str, usize)> = Vec::with_capacity(opinions.len());
        for Opinions { question, voters, people, judge, all } in opinions {
            let [people, judge, all] = [people, judge, all].map(in_order);
            let key = [&people, &judge, &all].map(|values| values.iter().map(|value| value.to_bits()).collect());
            let place = *places.entry(key).or_insert_with(|| {
                distinct.push(OpinionPattern::new([people, judge, all], &label));
                distinct.len() - 1
            });
            let voter = voters.first().copied().unwrap_or_default();
            units.push((if unit == ResampledUnit::Voter { voter } else { item_of(question) }, place));
        }
        units.sort_unstable();
        let of_units = PatternsOfItems::new(units.into_iter(), distinct.len());
        Self { distinct, of_units, unit, people: number_of_people }
    }

    /// The intervals of several statistics, each of the same resamples.
    pub(super) fn intervals<const N: usize>(
        &self,
        bootstrap: BootstrapOptions,
        statistics: impl Fn(&Drawn<'_>) -> [Result<f64, Undefined>; N] + Sync,
    ) -> [IntervalReport; N] {
        let found = self.compute(self.of_units.counts(), &statistics);
        // Where nothing is defined, there is nothing to draw.
        let replicates = if found.iter().any(Result::is_ok) {
            replicates(bootstrap, |rng| self.compute(self.of_units.draw(rng), &statistics))
        } else {
            Vec::new()
        };
        std::array::from_fn(|at| {
            let values: Vec<Result<f64, Undefined>> = replicates.iter().map(|all| all[at]).collect();
            IntervalReport::new(self.of_units.items(), found[at], &values)
        })
    }

    /// Statistics of so many units of each pattern.
    fn compute<const N: usize>(
        &self,
        counts: Vec<usize>,
        statistics: impl Fn(&Drawn<'_>) -> [Result<f64, Undefined>; N],
    ) -> [Result<f64, Undefined>; N] {
        let drawn = self.distinct.iter().zip(counts).filter(|(_, times)| *times > 0);
        statistics(&drawn.collect::<Vec<_>>())
    }

    /// How the intervals were found; none where nothing was drawn.
    pub(super) fn bootstrap(&self, bootstrap: BootstrapOptions) -> Option<AgreementBootstrap> {
        let report = AgreementBootstrap {
            method: "percentiles of resamples, each unit with everything that was said of it; \
                means over people: of resampled questions and, from five people on, of resampled people",
            unit: self.unit,
            units: self.of_units.items(),
            people: self.people,
            replicates: bootstrap.replicates,
            seed: bootstrap.seed,
            confidence: ConfidenceLevel::default().share(),
        };
        (bootstrap.replicates > 0 && report.units > 0).then_some(report)
    }
}

impl ResampledUnit {
    fn of(opinions: &[Opinions<'_>]) -> Self {
        let said = opinions.iter().flat_map(|said| said.voters.iter().map(|voter| (item_of(said.question), *voter)));
        let said: BTreeSet<(&str, &str)> = said.collect();
        let questions: BTreeSet<&str> = said.iter().map(|(question, _)| *question).collect();
        let voters: BTreeSet<&str> = said.iter().map(|(_, voter)| *voter).collect();
        if said.len() == questions.len() && voters.len() > 1 { Self::Voter } else { Self::Question }
    }
}

impl OpinionPattern {
    fn new([people, judge, all]: [Vec<f64>; 3], label: &impl Fn(f64) -> usize) -> Self {
        let labels = |values: &[f64]| values.iter().map(|value| label(*value)).collect::<Vec<usize>>();
        let as_values = |values: &[f64]| labels(values).into_iter().map(real_len).collect::<Vec<f64>>();
        Self {
            people: labels(&people),
            judge: labels(&judge),
            labels: [as_values(&people), as_values(&all)],
            values: [people, all],
        }
    }
}

/// The order in which opinions were given does not matter, and zero is equal to its negative.
fn in_order(values: Vec<f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().map(|value| value + 0.0).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// A share over all that was drawn.
pub(super) fn share(drawn: &Drawn<'_>, of: impl Fn(&OpinionPattern) -> Share) -> Result<f64, Undefined> {
    let sum = drawn.iter().fold(Share::default(), |sum, &(pattern, times)| {
        let (share, times) = (of(pattern), times as u64);
        Share { of: sum.of + times * share.of, total: sum.total + times * share.total }
    });
    sum.rate()
}

/// The labels that people gave, as the kappas take them.
pub(super) fn labels_of_people<'d>(drawn: &'d Drawn<'_>) -> impl Iterator<Item = (&'d [usize], usize)> {
    drawn.iter().map(|&(said, times)| (said.people.as_slice(), times))
}

/// Krippendorff's alpha of people, and with the judge as one of them, which is undefined where it judged nothing.
pub(super) fn alphas(
    drawn: &Drawn<'_>,
    scale: MeasurementLevel,
    values: impl Fn(&OpinionPattern) -> &[Vec<f64>; 2],
) -> [Result<f64, Undefined>; 2] {
    let alpha = |with_judge: usize| {
        let groups = drawn.iter().map(|&(pattern, times)| (values(pattern)[with_judge].as_slice(), real_len(times)));
        krippendorff_of_groups(&groups.collect::<Vec<_>>(), scale)
    };
    let judged = drawn.iter().any(|(pattern, _)| !pattern.judge.is_empty());
    [alpha(0), if judged { alpha(1) } else { Err(Undefined::Nothing) }]
}

#[cfg(test)]
impl OpinionPatterns {
    /// Panics unless the statistics of what was observed are these.
    pub(super) fn assert_observed<const N: usize>(
        &self,
        statistics: impl Fn(&Drawn<'_>) -> [Result<f64, Undefined>; N],
        expected: [Option<f64>; N],
    ) {
        let found = self.compute(self.of_units.counts(), statistics);
        for (at, (found, expected)) in found.into_iter().zip(expected).enumerate() {
            let (found, expected) = (found.unwrap(), expected.unwrap());
            assert!((found - expected).abs() < 1e-12, "{at}: {found} {expected}");
        }
    }
}
