//! Agreement metrics as they stand in results.

use serde::Serialize;

use crate::stats::agreement::choices::Agreement;
use crate::stats::agreement::kappa::Kappa;
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::resample::uncertainty;
use crate::stats::{Interval, Share, Undefined};

/// Fewer people than this are not resampled: their variation says too little of other people.
pub(super) const MIN_PEOPLE_TO_RESAMPLE: usize = 5;

/// The interval of a number over resamples, or why it has none. Both are none where nothing was resampled or there is no number.
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
    /// Of a number of so many units, by its replicates; there are none where nothing was resampled. One unit alone has no spread.
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

/// The metrics of one agreement.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgreementMetrics {
    /// Pairs of votes that agree.
    pub agree: u64,
    /// Pairs of votes.
    pub total: u64,
    /// Their share, pooled over all pairs of votes.
    pub rate: Option<f64>,
    /// The mean over the questions of each one's share.
    pub mean_over_questions: Option<f64>,
    /// Questions with a pair of votes.
    pub questions: usize,
    /// Why there is no rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undefined: Option<String>,
    /// The interval over resampled questions or voters.
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

/// Number that agree, of a total.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShareReport {
    /// Those that agree.
    pub agree: u64,
    /// All.
    pub total: u64,
    /// The share.
    pub rate: Option<f64>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undefined: Option<String>,
    /// The interval over resampled questions or voters.
    #[serde(flatten)]
    pub uncertainty: IntervalReport,
}

impl From<Share> for ShareReport {
    fn from(share: Share) -> Self {
        let MetricValue { value: rate, undefined, uncertainty } = share.rate().into();
        Self { agree: share.of, total: share.total, rate, undefined, uncertainty }
    }
}

/// A number, or why there is none.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricValue {
    /// The number.
    pub value: Option<f64>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undefined: Option<String>,
    /// The interval over resampled questions or voters.
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
    /// 1 for full agreement, 0 for what chance brings.
    pub kappa: Option<f64>,
    /// The share of pairs of ratings that agree.
    pub observed: Option<f64>,
    /// The share that chance would bring.
    pub expected: Option<f64>,
    /// Raters of each item.
    pub raters: Option<u64>,
    /// Number of items behind it.
    pub items: usize,
    /// Items left out, since they have another number of raters, or no label that most of them gave.
    pub excluded: usize,
    /// Why there is no kappa.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undefined: Option<String>,
    /// The interval over resampled questions or voters.
    #[serde(flatten)]
    pub uncertainty: IntervalReport,
}

impl KappaReport {
    /// Of so many items in all.
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

/// The mean of the kappas of a judge with each person.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeanKappa {
    /// The mean.
    pub kappa: Option<f64>,
    /// People that it is over.
    pub people: usize,
    /// People left out: fewer than `fewest` items are the judge's too, or no kappa exists.
    pub excluded: usize,
    /// How many items it takes.
    pub fewest: usize,
    /// Why there is no mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undefined: Option<String>,
    /// The interval over resampled questions and people; over questions alone where people are too few to be drawn.
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

/// Numbers that take an interval.
macro_rules! with_interval {
    ($($report:ty),+) => {
        $(impl $report {
            /// The same with its interval.
            pub(super) fn with(self, uncertainty: IntervalReport) -> Self {
                Self { uncertainty, ..self }
            }
        })+
    };
}

with_interval!(AgreementMetrics, ShareReport, MetricValue, KappaReport);
