//! Agreement of a judge with people: votes and verdicts on pairs of models, or scores of answers.
//!
//! [`pairs`] compares votes with verdicts (MT-Bench, appendix
//! D.3), [`scores`] scores with scores (AlignBench, section 3.3, and MT-Bench-101, section 4.4), [`reference_bias`] says how a judge
//! leans. What does not exist is none in a report, with the reason beside it.

pub mod metrics;
pub mod pairs;
pub mod reference_bias;
pub mod scores;

mod answers;
mod calibration;
mod chance;
mod intervals;
mod labels;
mod mean_kappa;
mod score_intervals;
mod score_sheet;
mod side_shares;
mod vote_intervals;
mod wins;

use serde::Serialize;

use crate::stats::resample::BootstrapOptions;

pub use calibration::{CalibrationMetrics, CalibrationOptions, CalibrationReport, CurvePoint};
pub use chance::ChanceReport;
pub use intervals::{AgreementBootstrap, ResampledUnit};
pub use labels::{Bins, FleissReport, LabelsReport, LabelsSection, MajorityReport};
pub use pairs::{VotesReport, compare};
pub use reference_bias::{BiasReport, bias};
pub use score_sheet::{ScoreSheet, Scored, Vote, Votes, question_key};
pub use scores::ScoresReport;
pub use side_shares::{SideShares, SideSharesReport};
pub use wins::{PairWins, PlannedTooFew, WinMetrics};

/// How files are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AgreementOptions {
    /// The comparisons that were planned of every two models; as many as there are where it is none.
    pub planned: Option<u64>,
    /// What makes two scores the same.
    pub bins: Bins,
    /// How a judge's scores are calibrated on people's.
    pub calibration: CalibrationOptions,
    /// How intervals are resampled.
    pub bootstrap: BootstrapOptions,
}

/// What two files say.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum AgreementReport {
    /// Both hold votes on pairs of models.
    Votes(Box<VotesReport>),
    /// Both hold scores.
    Scores(Box<ScoresReport>),
}
