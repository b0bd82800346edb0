//! Agreement between annotators, with bootstrap intervals over items.
//!
//! Both statistics are sums over units, and most units have the same few combinations of values: units are counted by combination, and a
//! replicate resamples items, each with its units, and computes with those counts.

use std::collections::BTreeMap;

use serde::Serialize;

use super::item_bootstrap::RESAMPLES;
use super::judged::{CampaignFacts, JudgedUnit, by_name, preference_by_name};
use crate::battle::Outcome;
use crate::campaign::judgement::UnitJudgement;
use crate::campaign::plan::Task;
use crate::stats::Undefined;
use crate::stats::agreement::alpha::{MeasurementLevel, krippendorff_of_groups};
use crate::stats::agreement::kappa::fleiss_of_groups;
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::item_patterns::ItemPatterns;
use crate::stats::real_len;
use crate::stats::resample::{BootstrapOptions, replicates, uncertainty};

/// Highest point of the longest preference scale.
const MAX_PREFERENCE: i8 = 3;

/// Chance-corrected agreement: 1 is full agreement, 0 is chance level. `None` where a statistic is undefined.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct AgreementSummary {
    /// Fleiss' kappa over units with the most common number of judgements, for comparisons and scores.
    pub fleiss: Option<f64>,
    /// Bounds of [`fleiss`](Self::fleiss) over resampled items; `None` if resampling does not show the uncertainty, as with full agreement.
    pub fleiss_interval: Option<[f64; 2]>,
    /// Krippendorff's alpha: nominal for comparisons, interval for scores, ordinal for ranks and preferences.
    pub krippendorff: Option<f64>,
    /// Bounds of [`krippendorff`](Self::krippendorff) over resampled items; `None` as for Fleiss' kappa.
    pub krippendorff_interval: Option<[f64; 2]>,
    /// Number of units that at least two annotators judged.
    pub units: u64,
}

impl AgreementSummary {
    pub(super) fn new(judged: &[&JudgedUnit], facts: &CampaignFacts) -> Self {
        let scale = match facts.task {
            Task::Pairwise if judged.iter().any(|unit| matches!(unit.judgement, UnitJudgement::Preference(_))) => {
                MeasurementLevel::Ordinal
            }
            Task::Pairwise => MeasurementLevel::Nominal,
            Task::Score => MeasurementLevel::Interval,
            Task::Rank => MeasurementLevel::Ordinal,
        };
        let patterns = LabelPatterns::new(by_unit(judged), facts.task, scale);
        let (kappa, alpha) = patterns.statistics(&patterns.of_items.counts());
        let options = BootstrapOptions { replicates: RESAMPLES, seed: facts.seed };
        let drawn = replicates(options, |rng| patterns.statistics(&patterns.of_items.draw(rng)));
        let (kappas, alphas): (Vec<_>, Vec<_>) = drawn.into_iter().unzip();
        let interval = |values: &[Result<f64, Undefined>]| {
            let found = uncertainty(values, ConfidenceLevel::default()).ok()?;
            Some([found.lower, found.upper])
        };
        Self {
            fleiss_interval: kappa.as_ref().ok().and_then(|_| interval(&kappas)),
            krippendorff_interval: alpha.as_ref().ok().and_then(|_| interval(&alphas)),
            fleiss: kappa.ok(),
            krippendorff: alpha.ok(),
            units: patterns.of_items.units() as u64,
        }
    }
}

/// Values given to a unit: one list in ascending order, or for a ranking one list of places per model.
type UnitLabels = Vec<Vec<u8>>;

/// Units that at least two annotators judged, by combination of values.
struct LabelPatterns {
    distinct: Vec<LabelPattern>,
    of_items: ItemPatterns,
    task: Task,
    scale: MeasurementLevel,
}

struct LabelPattern {
    values: Vec<Vec<f64>>,
    /// Number of times that each label was given, for each list of values.
    counts: Vec<Vec<u64>>,
}

impl LabelPatterns {
    fn new(units: BTreeMap<(u32, u32), UnitLabels>, task: Task, scale: MeasurementLevel) -> Self {
        let mut places: BTreeMap<UnitLabels, usize> = BTreeMap::new();
        let mut distinct = Vec::new();
        let several = units.into_iter().filter(|(_, given)| given.iter().any(|values| values.len() > 1));
        let place = |((item, _), mut given): ((u32, u32), UnitLabels)| {
            given.iter_mut().for_each(|values| values.sort_unstable());
            given.sort_unstable();
            let pattern = *places.entry(given).or_insert_with_key(|given| {
                distinct.push(LabelPattern::new(given));
                distinct.len() - 1
            });
            (item, pattern)
        };
        let units: Vec<(u32, usize)> = several.map(place).collect();
        let of_items = ItemPatterns::new(units.into_iter(), distinct.len());
        Self { distinct, of_items, task, scale }
    }

    /// Computes Fleiss' kappa and Krippendorff's alpha for this many units of each pattern.
    fn statistics(&self, counts: &[usize]) -> (Result<f64, Undefined>, Result<f64, Undefined>) {
        let patterns = || self.distinct.iter().zip(counts).filter(|(_, units)| **units > 0);
        let values: Vec<(&[f64], f64)> = patterns()
            .flat_map(|(pattern, units)| pattern.values.iter().map(move |values| (values.as_slice(), real_len(*units))))
            .collect();
        let alpha = krippendorff_of_groups(&values, self.scale);
        if self.task == Task::Rank {
            // Fleiss' kappa is undefined for rankings: they are no labels, and their places are not independent.
            return (Err(Undefined::Nothing), alpha);
        }
        let labels: Vec<(&[u64], usize)> = patterns()
            .flat_map(|(pattern, units)| pattern.counts.iter().map(move |counts| (counts.as_slice(), *units)))
            .collect();
        (fleiss_of_groups(&labels).map(|kappa| kappa.kappa), alpha)
    }
}

impl LabelPattern {
    fn new(given: &UnitLabels) -> Self {
        let values = given.iter().map(|values| values.iter().copied().map(f64::from).collect()).collect();
        Self { values, counts: given.iter().map(|values| label_counts(values)).collect() }
    }
}

/// Collects the values given to each unit, item by item.
fn by_unit(judged: &[&JudgedUnit]) -> BTreeMap<(u32, u32), UnitLabels> {
    let mut units: BTreeMap<(u32, u32), UnitLabels> = BTreeMap::new();
    for unit in judged {
        let values = units.entry((unit.item, unit.unit)).or_default();
        match &unit.judgement {
            UnitJudgement::Outcome(outcome) => push(values, 0, outcome_code(by_name(*outcome, &unit.shown))),
            UnitJudgement::Preference(preference) => {
                push(values, 0, preference_code(preference_by_name(*preference, &unit.shown)));
            }
            UnitJudgement::Score(score) => push(values, 0, *score),
            UnitJudgement::Ranking(places) => {
                let mut names: Vec<&String> = unit.shown.iter().collect();
                names.sort();
                for (rank, place) in (1_u8..).zip(places) {
                    let at = names.iter().position(|name| **name == unit.shown[usize::from(*place)]).unwrap_or(0);
                    push(values, at, rank);
                }
            }
        }
    }
    units
}

fn push(values: &mut UnitLabels, at: usize, value: u8) {
    if values.len() <= at {
        values.resize(at + 1, Vec::new());
    }
    values[at].push(value);
}

/// Converts a preference into its position on the scale, from 0.
fn preference_code(preference: i8) -> u8 {
    preference.saturating_add(MAX_PREFERENCE).unsigned_abs()
}

fn outcome_code(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::AWins => 0,
        Outcome::BWins => 1,
        Outcome::Tie => 2,
        Outcome::BothBad => 3,
    }
}

/// Counts each label.
fn label_counts(values: &[u8]) -> Vec<u64> {
    let labels = values.iter().max().map_or(0, |most| usize::from(*most) + 1);
    let mut counts = vec![0; labels];
    values.iter().for_each(|value| counts[usize::from(*value)] += 1);
    counts
}
