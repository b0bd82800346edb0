//! Agreement metrics as they are serialized in results.

use serde::Serialize;

use crate::stats::agreement::choices::Agreement;
use crate::stats::agreement::kappa::Kappa;
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::resample::uncertainty;
use crate::stats::{Interval, Share, Undefined};

/// Minimum number of people to resample; the variation of fewer says too little about other people.
pub(super) const MIN_PEOPLE_TO_RESAMPLE: usize = 5;

/// Bootstrap interval of a metric, or why it has none. Both are none where nothing was resampled or the metric is undefined.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct IntervalReport {
    /// Percentiles of the resamples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// Why there is no interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_interval: Option<String>,
}

impl IntervalReport {
    /// Builds the percentile interval of a metric of `units` units from its replicates; empty if there are no replicates. A single unit has
    /// no spread.
    pub(super) fn new(units: usize, found: Result<f64, Undefined>, values: &[Result<f64, Undefined>]) -> Self {
        if found.is_err() || values.is_empty() {
            return Self::default();
        }
        let interval = match units {
            0 | 1 => Err(Undefined::TooFew { found: units, needed: 2 }),
            _ => uncertainty(values, ConfidenceLevel::default()),
        };
        Self { interval: interval.ok(), no_interval: interval.err().map(|why| why.to_string()) }
    }
}

/// Metrics of one kind of agreement.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgreementMetrics {
    /// Number of agreeing pairs of votes.
    pub agree: u64,
    /// Number of pairs of votes.
    pub total: u64,
    /// Rate of agreement, pooled over all pairs of votes.
    pub rate: Option<f64>,
    /// Mean of the questions' rates of agreement.
    pub mean_over_questions: Option<f64>,
    /// Number of questions with a pair of votes.
    pub questions: usize,
    /// Reason why the rate is undefined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undefined: Option<String>,
    /// Interval over resampled questions or voters.
    #[serde(flatten)]
    pub uncertainty: IntervalReport,
}

impl From<Agreement> for AgreementMetrics {
    fn from(found: Agreement) -> Self {
        let ShareReport { agree, total, rate, undefined, uncertainty } = found.pooled.into();
        let mean_over_questions = found.mean.ok();
        Self { agree, total, rate, mean_over_questions, questions: found.questions, undefined, uncertainty }
    }
}

/// Share of agreeing units.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShareReport {
    /// Number that agree.
    pub agree: u64,
    /// Total number.
    pub total: u64,
    /// Share that agrees.
    pub rate: Option<f64>,
    /// Reason why the share is undefined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undefined: Option<String>,
    /// Interval over resampled questions or voters.
    #[serde(flatten)]
    pub uncertainty: IntervalReport,
}

impl From<Share> for ShareReport {
    fn from(share: Share) -> Self {
        let MetricValue { value: rate, undefined, uncertainty } = share.rate().into();
        Self { agree: share.of, total: share.total, rate, undefined, uncertainty }
    }
}

/// Value of a metric, or the reason why it is undefined.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricValue {
    /// The number.
    pub value: Option<f64>,
    /// Reason why the metric is undefined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undefined: Option<String>,
    /// Interval over resampled questions or voters.
    #[serde(flatten)]
    pub uncertainty: IntervalReport,
}

impl From<Result<f64, Undefined>> for MetricValue {
    fn from(found: Result<f64, Undefined>) -> Self {
        let (value, undefined) = (found.ok(), found.err().map(|why| why.to_string()));
        Self { value, undefined, uncertainty: IntervalReport::default() }
    }
}

/// Agreement beyond chance.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KappaReport {
    /// Kappa: 1 for full agreement, 0 for agreement by chance.
    pub kappa: Option<f64>,
    /// Observed share of agreeing pairs of ratings.
    pub observed: Option<f64>,
    /// Share of agreeing pairs expected by chance.
    pub expected: Option<f64>,
    /// Number of raters per item.
    pub raters: Option<u64>,
    /// Number of rated items.
    pub items: usize,
    /// Number of items left out, since they have a different number of raters or no majority label.
    pub excluded: usize,
    /// Reason why kappa is undefined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undefined: Option<String>,
    /// Interval over resampled questions or voters.
    #[serde(flatten)]
    pub uncertainty: IntervalReport,
}

impl KappaReport {
    /// Builds the report; `items` counts all items, including the ones left out.
    pub(super) fn new(found: Result<Kappa, Undefined>, items: usize) -> Self {
        match found {
            Ok(found) => Self {
                kappa: Some(found.kappa),
                observed: Some(found.observed),
                expected: Some(found.expected),
                raters: Some(found.raters),
                items: found.items,
                excluded: items - found.items,
                undefined: None,
                uncertainty: IntervalReport::default(),
            },
            Err(why) => Self {
                kappa: None,
                observed: None,
                expected: None,
                raters: None,
                items: 0,
                excluded: items,
                undefined: Some(why.to_string()),
                uncertainty: IntervalReport::default(),
            },
        }
    }
}

/// Mean of the kappas of a judge with each person.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeanKappa {
    /// Mean kappa.
    pub kappa: Option<f64>,
    /// Number of people in the mean.
    pub people: usize,
    /// Number of people left out: they share fewer than `fewest` items with the judge, or their kappa is undefined.
    pub excluded: usize,
    /// Minimum number of shared items.
    pub fewest: usize,
    /// Reason why the mean is undefined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undefined: Option<String>,
    /// Interval over resampled questions and people; over questions alone with too few people to resample.
    #[serde(flatten)]
    pub uncertainty: IntervalReport,
}

impl MeanKappa {
    /// Whether the interval is over people too, not over questions alone.
    #[must_use]
    pub const fn resamples_people(&self) -> bool {
        self.people >= MIN_PEOPLE_TO_RESAMPLE
    }
}

/// Implements `with` for metrics that have an interval.
macro_rules! with_interval {
    ($($report:ty),+) => {
        $(impl $report {
            /// Sets the interval.
            pub(super) fn with(self, uncertainty: IntervalReport) -> Self {
                Self { uncertainty, ..self }
            }
        })+
    };
}

with_interval!(AgreementMetrics, ShareReport, MetricValue, KappaReport);
