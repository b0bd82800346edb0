//! Agreement of a judge with people: votes and verdicts on pairs of models, or scores of answers.
//!
//! [`pairs`] compares votes with verdicts (MT-Bench, appendix D.3), [`scores`] scores with scores (AlignBench, section 3.3, and
//! MT-Bench-101, section 4.4), [`reference_bias`] measures the bias of a judge. An undefined value is none in a report, with the reason
//! beside it.

mod agreement_input;
mod binned_scores;
mod chance_corrected;
pub mod metrics;
mod pair_win_rates;
pub mod pairs;
mod position_bias;
pub mod reference_bias;
pub mod scores;

mod answers;
mod calibration;
mod intervals;
mod mean_kappa;
mod score_intervals;
mod vote_intervals;

use serde::Serialize;

use crate::stats::resample::BootstrapOptions;

pub use agreement_input::{ScoreData, Scored, Vote, Votes, question_key};
pub use binned_scores::{Bins, FleissReport, LabelsReport, LabelsSection, MajorityReport};
pub use calibration::{CalibrationMetrics, CalibrationOptions, CalibrationReport, CurvePoint};
pub use chance_corrected::ChanceReport;
pub use intervals::{AgreementBootstrap, ResampledUnit};
pub use pair_win_rates::{PairWins, PlannedTooFew, WinMetrics};
pub use pairs::{VotesReport, compare};
pub use position_bias::{SideShares, SideSharesReport};
pub use reference_bias::{BiasReport, bias};
pub use scores::ScoresReport;

/// Options of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AgreementOptions {
    /// Planned number of comparisons per pair of models; `None` for the number of actual ones.
    pub planned: Option<u64>,
    /// Binning of scores into labels.
    pub bins: Bins,
    /// Calibration of a judge's scores on people's.
    pub calibration: CalibrationOptions,
    /// Bootstrap of the intervals.
    pub bootstrap: BootstrapOptions,
}

/// Agreement of two files.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum AgreementReport {
    /// Both files have votes on pairs of models.
    Votes(Box<VotesReport>),
    /// Both files have scores.
    Scores(Box<ScoresReport>),
}
