//! Cluster bootstrap intervals of agreement: all opinions on one question are resampled together.
//!
//! Opinions of people and a judge on one question are not independent, whichever models and turns they are about, so a replicate draws
//! questions, each with all of its votes or scores, as campaign reports do: the interval covers other questions and the same people. Where
//! no question has a second voter, as in the battles of an arena, the votes of one voter are not independent either; then voters are drawn,
//! each with all of their questions.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::agreement_input::item_of;
use super::metrics::IntervalReport;
use crate::stats::agreement::alpha::{MeasurementLevel, krippendorff_of_groups};
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::item_patterns::ItemPatterns;
use crate::stats::resample::{BootstrapOptions, replicates};
use crate::stats::{Share, Undefined, real_len};

/// Unit that the bootstrap resamples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResampledUnit {
    /// A question with all of its votes or scores.
    Question,
    /// A voter with all of their questions, where no question has a second voter.
    Voter,
}

/// Bootstrap that produced the intervals.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgreementBootstrap {
    /// Description of the method.
    pub method: &'static str,
    /// Resampled unit.
    pub unit: ResampledUnit,
    /// Number of units.
    pub units: usize,
    /// Number of people.
    pub people: usize,
    /// Number of replicates.
    pub replicates: u32,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Confidence level of the intervals.
    pub confidence: f64,
}

/// Opinions on one question about two models, or on one answer.
pub(super) struct RaterValues<'a> {
    /// Question key with its turn.
    pub(super) question: &'a str,
    /// Voters.
    pub(super) voters: Vec<&'a str>,
    /// Values that people gave.
    pub(super) people: Vec<f64>,
    /// Values that the judge gave; empty where it did not judge.
    pub(super) judge: Vec<f64>,
    /// Values of people and the judge, as one set of raters.
    pub(super) all: Vec<f64>,
}

/// Opinions without rater and question; equal ones are stored once.
pub(super) struct RaterValuePattern {
    /// Labels that people gave.
    pub(super) people: Vec<usize>,
    /// Labels that the judge gave.
    pub(super) judge: Vec<usize>,
    /// Values of people, and values of people and the judge.
    pub(super) values: [Vec<f64>; 2],
    /// The same values as labels.
    pub(super) labels: [Vec<f64>; 2],
}

/// Patterns with the number of times each was drawn.
pub(super) type Drawn<'d> = [(&'d RaterValuePattern, usize)];

/// Resampling units with the patterns of their opinions.
pub(super) struct RaterValuePatterns {
    distinct: Vec<RaterValuePattern>,
    of_units: ItemPatterns,
    unit: ResampledUnit,
    /// Number of people.
    people: usize,
}

impl RaterValuePatterns {
    /// Groups opinions by unit and pattern. `label` maps a value to its label.
    pub(super) fn new(opinions: Vec<RaterValues<'_>>, label: impl Fn(f64) -> usize) -> Self {
        let unit = ResampledUnit::of(&opinions);
        let number_of_people = opinions.iter().flat_map(|said| said.voters.iter()).collect::<BTreeSet<_>>().len();
        let mut places: BTreeMap<[Vec<u64>; 3], usize> = BTreeMap::new();
        let mut distinct: Vec<RaterValuePattern> = Vec::new();
        let mut units: Vec<(&str, usize)> = Vec::with_capacity(opinions.len());
        for RaterValues { question, voters, people, judge, all } in opinions {
            let [people, judge, all] = [people, judge, all].map(in_order);
            let key = [&people, &judge, &all].map(|values| values.iter().map(|value| value.to_bits()).collect());
            let place = *places.entry(key).or_insert_with(|| {
                distinct.push(RaterValuePattern::new([people, judge, all], &label));
                distinct.len() - 1
            });
            let voter = voters.first().copied().unwrap_or_default();
            units.push((if unit == ResampledUnit::Voter { voter } else { item_of(question) }, place));
        }
        units.sort_unstable();
        let of_units = ItemPatterns::new(units.into_iter(), distinct.len());
        Self { distinct, of_units, unit, people: number_of_people }
    }

    /// Computes the intervals of several statistics from the same resamples.
    pub(super) fn intervals<const N: usize>(
        &self,
        bootstrap: BootstrapOptions,
        statistics: impl Fn(&Drawn<'_>) -> [Result<f64, Undefined>; N] + Sync,
    ) -> [IntervalReport; N] {
        let found = self.compute(self.of_units.counts(), &statistics);
        // If all statistics are undefined, there is nothing to resample.
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

    /// Computes the statistics with each pattern counted the drawn number of times.
    fn compute<const N: usize>(
        &self,
        counts: Vec<usize>,
        statistics: impl Fn(&Drawn<'_>) -> [Result<f64, Undefined>; N],
    ) -> [Result<f64, Undefined>; N] {
        let drawn = self.distinct.iter().zip(counts).filter(|(_, times)| *times > 0);
        statistics(&drawn.collect::<Vec<_>>())
    }

    /// Describes the bootstrap; `None` if nothing was resampled.
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
    fn of(opinions: &[RaterValues<'_>]) -> Self {
        let said = opinions.iter().flat_map(|said| said.voters.iter().map(|voter| (item_of(said.question), *voter)));
        let said: BTreeSet<(&str, &str)> = said.collect();
        let questions: BTreeSet<&str> = said.iter().map(|(question, _)| *question).collect();
        let voters: BTreeSet<&str> = said.iter().map(|(_, voter)| *voter).collect();
        if said.len() == questions.len() && voters.len() > 1 { Self::Voter } else { Self::Question }
    }
}

impl RaterValuePattern {
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

/// Sorts values, since the order of opinions does not matter, and turns negative zero into zero.
fn in_order(values: Vec<f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().map(|value| value + 0.0).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// Computes a share over all drawn patterns.
pub(super) fn share(drawn: &Drawn<'_>, of: impl Fn(&RaterValuePattern) -> Share) -> Result<f64, Undefined> {
    let sum = drawn.iter().fold(Share::default(), |sum, &(pattern, times)| {
        let (share, times) = (of(pattern), times as u64);
        Share { of: sum.of + times * share.of, total: sum.total + times * share.total }
    });
    sum.rate()
}

/// Returns the labels of people with their counts, as the kappa functions take them.
pub(super) fn labels_of_people<'d>(drawn: &'d Drawn<'_>) -> impl Iterator<Item = (&'d [usize], usize)> {
    drawn.iter().map(|&(said, times)| (said.people.as_slice(), times))
}

/// Computes Krippendorff's alpha of people, and with the judge as one of them; the latter is undefined if the judge has no opinion.
pub(super) fn alphas(
    drawn: &Drawn<'_>,
    scale: MeasurementLevel,
    values: impl Fn(&RaterValuePattern) -> &[Vec<f64>; 2],
) -> [Result<f64, Undefined>; 2] {
    let alpha = |with_judge: usize| {
        let groups = drawn.iter().map(|&(pattern, times)| (values(pattern)[with_judge].as_slice(), real_len(times)));
        krippendorff_of_groups(&groups.collect::<Vec<_>>(), scale)
    };
    let judged = drawn.iter().any(|(pattern, _)| !pattern.judge.is_empty());
    [alpha(0), if judged { alpha(1) } else { Err(Undefined::Nothing) }]
}

#[cfg(test)]
impl RaterValuePatterns {
    /// Asserts that the statistics of the observed sample have these values.
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
