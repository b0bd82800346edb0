//! Agreement between annotators, with bootstrap intervals over items.

use std::collections::BTreeMap;

use serde::Serialize;

use super::judged::{CampaignFacts, JudgedUnit, by_name};
use crate::battle::Outcome;
use crate::campaign::judgement::Judgement;
use crate::campaign::plan::Task;
use crate::stats::Undefined;
use crate::stats::agreement::alpha::{Scale, krippendorff};
use crate::stats::agreement::kappa::fleiss;
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::resample::{BootstrapOptions, percentiles, replicates, resample_indices};

const REPLICATES: u32 = 200;

/// Agreement beyond chance: 1 is full agreement, 0 that of chance. `None` where the judgements determine none.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct AgreementSummary {
    /// Fleiss' kappa, over units with the most common number of judgements; of comparisons and scores.
    pub fleiss: Option<f64>,
    /// Bounds of [`fleiss`](Self::fleiss) over resampled units.
    pub fleiss_interval: Option<[f64; 2]>,
    /// Krippendorff's alpha: nominal for comparisons, interval for scores, ordinal for ranks.
    pub krippendorff: Option<f64>,
    /// Bounds of [`krippendorff`](Self::krippendorff) over resampled units.
    pub krippendorff_interval: Option<[f64; 2]>,
    /// Units that at least two annotators judged.
    pub units: u64,
}

impl AgreementSummary {
    pub(super) fn new(judged: &[&JudgedUnit], facts: &CampaignFacts) -> Self {
        let scale = match facts.task {
            Task::Pairwise => Scale::Nominal,
            Task::Score => Scale::Interval,
            Task::Rank => Scale::Ordinal,
        };
        let units: Vec<Vec<Vec<f64>>> =
            by_unit(judged).into_values().filter(|values| values.iter().any(|value| value.len() > 1)).collect();
        let alpha = |units: &[&Vec<Vec<f64>>]| {
            let values: Vec<Vec<f64>> = units.iter().flat_map(|unit| unit.iter().cloned()).collect();
            krippendorff(&values, scale)
        };
        let kappa = |units: &[&Vec<Vec<f64>>]| match facts.task {
            // A ranking is no label, and its places are not independent of each other.
            Task::Rank => Err(Undefined::Nothing),
            Task::Pairwise | Task::Score => fleiss(&label_counts(units)).map(|kappa| kappa.kappa),
        };
        let (fleiss, fleiss_interval) = with_interval(&units, facts.seed, kappa);
        let (krippendorff, krippendorff_interval) = with_interval(&units, facts.seed, alpha);
        Self { fleiss, fleiss_interval, krippendorff, krippendorff_interval, units: units.len() as u64 }
    }
}

/// What each unit was given: one list of values, or for a ranking one list of places for each model.
fn by_unit(judged: &[&JudgedUnit]) -> BTreeMap<u32, Vec<Vec<f64>>> {
    let mut units: BTreeMap<u32, Vec<Vec<f64>>> = BTreeMap::new();
    for unit in judged {
        let values = units.entry(unit.unit).or_default();
        match &unit.judgement {
            Judgement::Outcome(outcome) => push(values, 0, code(by_name(*outcome, &unit.shown))),
            Judgement::Score(score) => push(values, 0, f64::from(*score)),
            Judgement::Ranking(places) => {
                let mut names: Vec<&String> = unit.shown.iter().collect();
                names.sort();
                for (rank, place) in (1_u8..).zip(places) {
                    let at = names.iter().position(|name| **name == unit.shown[usize::from(*place)]).unwrap_or(0);
                    push(values, at, f64::from(rank));
                }
            }
        }
    }
    units
}

fn push(values: &mut Vec<Vec<f64>>, at: usize, value: f64) {
    if values.len() <= at {
        values.resize(at + 1, Vec::new());
    }
    values[at].push(value);
}

fn code(outcome: Outcome) -> f64 {
    match outcome {
        Outcome::AWins => 0.0,
        Outcome::BWins => 1.0,
        Outcome::Tie => 2.0,
        Outcome::BothBad => 3.0,
    }
}

/// How often each label was given to each unit.
fn label_counts(units: &[&Vec<Vec<f64>>]) -> Vec<Vec<u64>> {
    let count = |values: &Vec<f64>| {
        let mut counts = Vec::new();
        for value in values {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "codes and scores from 0 to 255"
            )]
            let at = *value as usize;
            if counts.len() <= at {
                counts.resize(at + 1, 0);
            }
            counts[at] += 1;
        }
        counts
    };
    units.iter().flat_map(|unit| unit.iter().map(count)).collect()
}

type Units = [Vec<Vec<f64>>];

fn with_interval(
    units: &Units,
    seed: u64,
    statistic: impl Fn(&[&Vec<Vec<f64>>]) -> Result<f64, Undefined> + Sync,
) -> (Option<f64>, Option<[f64; 2]>) {
    let observed = statistic(&units.iter().collect::<Vec<_>>()).ok();
    let resampled = replicates(BootstrapOptions { replicates: REPLICATES, seed }, |rng| {
        let drawn: Vec<&Vec<Vec<f64>>> = resample_indices(units.len(), rng).into_iter().map(|at| &units[at]).collect();
        statistic(&drawn)
    });
    let interval = percentiles(&resampled, ConfidenceLevel::default()).ok();
    let interval = observed.and(interval).map(|found| [found.interval.lower, found.interval.upper]);
    (observed, interval)
}
