//! Agreement metrics as they stand in results.

use serde::Serialize;

use crate::stats::agreement::choices::Agreement;
use crate::stats::agreement::kappa::Kappa;
use crate::stats::{Share, Undefined};

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
}

impl From<Agreement> for AgreementMetrics {
    fn from(found: Agreement) -> Self {
        let ShareReport { agree, total, rate, undefined } = found.pooled.into();
        Self { agree, total, rate, mean_over_questions: found.mean.ok(), questions: found.questions, undefined }
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
}

impl From<Share> for ShareReport {
    fn from(share: Share) -> Self {
        let number = MetricValue::from(share.rate());
        Self { agree: share.of, total: share.total, rate: number.value, undefined: number.undefined }
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
}

impl From<Result<f64, Undefined>> for MetricValue {
    fn from(found: Result<f64, Undefined>) -> Self {
        Self { value: found.ok(), undefined: found.err().map(|why| why.to_string()) }
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
            },
            Err(why) => Self {
                kappa: None,
                observed: None,
                expected: None,
                raters: None,
                items: 0,
                excluded: items,
                undefined: Some(why.to_string()),
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
}

impl MeanKappa {
    /// Over the people with a kappa.
    pub(super) fn over(kappas: &[Result<f64, Undefined>], fewest: usize) -> Self {
        let found: Vec<f64> = kappas.iter().copied().filter_map(Result::ok).collect();
        let mean = MetricValue::from(crate::stats::distribution::mean(&found));
        let (kappa, undefined) = (mean.value, mean.undefined);
        Self { kappa, people: found.len(), excluded: kappas.len() - found.len(), fewest, undefined }
    }
}
