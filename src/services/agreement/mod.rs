//! How far a judge agrees with people, of two files: votes and verdicts on pairs of models, or scores of answers.
//!
//! [`mod@file`] reads them and finds out which of the two they hold. [`pairs`] compares votes with verdicts (MT-Bench, appendix
//! D.3), [`scores`] scores with scores (AlignBench, section 3.3, and MT-Bench-101, section 4.4), [`bias`](mod@bias) says how a judge
//! leans. What does not exist is none in a report, with the reason beside it.

pub mod bias;
pub mod figures;
pub mod file;
pub mod pairs;
pub mod scores;

mod chance;
mod labels;
mod wins;

use std::path::{Path, PathBuf};

use serde::Serialize;

pub use bias::{BiasReport, bias};
pub use chance::ChanceReport;
pub use file::{AgreementFileError, ScoreSheet, Sheet, Votes};
pub use labels::{Bins, FleissReport, LabelsReport, LabelsSection, MajorityReport};
pub use pairs::{AgreementReport, compare};
pub use scores::ScoresReport;
pub use wins::{PairWins, PlannedTooFew, WinFigures};

/// How files are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AgreementOptions {
    /// The comparisons that were planned of every two models; as many as there are where it is none.
    pub planned: Option<u64>,
    /// What makes two scores the same.
    pub bins: Bins,
}

/// What two files say.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Report {
    /// Both hold votes on pairs of models.
    Votes(Box<AgreementReport>),
    /// Both hold scores.
    Scores(Box<ScoresReport>),
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum AgreementError {
    /// A file cannot be used.
    #[error(transparent)]
    File(#[from] AgreementFileError),
    /// One file holds votes, the other scores.
    #[error(
        "{} holds votes and {} scores: give two files with a column of winners, or two with a column of scores",
        votes.display(),
        scores.display()
    )]
    Mixed {
        /// The file of votes.
        votes: PathBuf,
        /// That of scores.
        scores: PathBuf,
    },
    /// More comparisons than were planned.
    #[error(transparent)]
    Planned(#[from] PlannedTooFew),
    /// A bias is asked for of votes.
    #[error("{} holds votes: the bias of a judge is that of its scores", .0.display())]
    BiasOfVotes(PathBuf),
}

/// Compares what people and a judge said in two files.
///
/// # Errors
/// [`AgreementError`].
pub fn compare_files(people: &Path, judge: &Path, options: AgreementOptions) -> Result<Report, AgreementError> {
    let mixed =
        |votes: &Path, scores: &Path| AgreementError::Mixed { votes: votes.to_owned(), scores: scores.to_owned() };
    match (Sheet::read(people)?, Sheet::read(judge)?) {
        (Sheet::Votes(votes), Sheet::Votes(verdicts)) => {
            Ok(Report::Votes(Box::new(compare(&votes, &verdicts, options.planned)?)))
        }
        (Sheet::Scores(people), Sheet::Scores(judge)) => {
            Ok(Report::Scores(Box::new(scores::compare(&people, &judge, options.bins))))
        }
        (Sheet::Votes(_), Sheet::Scores(_)) => Err(mixed(people, judge)),
        (Sheet::Scores(_), Sheet::Votes(_)) => Err(mixed(judge, people)),
    }
}

/// The rating bias of the judges of a file of scores, whose references are worth `anchor` points.
///
/// # Errors
/// [`AgreementError`].
pub fn bias_of_file(judge: &Path, anchor: f64) -> Result<BiasReport, AgreementError> {
    match Sheet::read(judge)? {
        Sheet::Scores(scores) => Ok(bias(&scores, anchor)),
        Sheet::Votes(_) => Err(AgreementError::BiasOfVotes(judge.to_owned())),
    }
}
