//! Errors of reading a series.

use crate::battle_judging::reports::BattleJudgingError;
use crate::benchmark::error::BenchError;
use crate::campaign::reports::CampaignReportError;
use crate::domain::correlation::{AliasError, SeriesError};
use crate::domain::rating::FitError;
use crate::domain::rating::votes::slice::SliceError;
use crate::formats::model_table::ModelTableError;
use crate::infra::storage::StoreError;
use crate::infra::stored_votes::vote_log::ReadLogError;

/// Error of reading a series.
#[derive(Debug, thiserror::Error)]
pub enum ReadSeriesError {
    /// The series cannot be compared.
    #[error(transparent)]
    Series(#[from] SeriesError),
    /// The table cannot be read.
    #[error(transparent)]
    Table(#[from] ModelTableError),
    /// A column is requested without a table.
    #[error("the series {0:?} is a column of a table: name the file with --table, or write arena:rating")]
    NoTable(String),
    /// A series of the arena is requested without a database.
    #[error("the series {0:?} is read from a database, but no database is open")]
    NoStore(String),
    /// No published series has this name.
    #[error("unknown published series {id:?}: expected one of {known}")]
    Published {
        /// The requested name.
        id: String,
        /// Available names.
        known: String,
    },
    /// The suite has no judgements.
    #[error("no model has been judged on {suite}{by}: run `langya bench run {suite}` first")]
    NotJudged {
        /// Name of the suite.
        suite: String,
        /// Description of the requested judge.
        by: String,
    },
    /// No vote has a satisfaction rating.
    #[error("no rated vote says both how satisfied the visitor was and what the intent was")]
    NoSatisfaction,
    /// The alias table cannot be used.
    #[error(transparent)]
    Aliases(#[from] AliasError),
    /// The verdicts on battles cannot be read.
    #[error(transparent)]
    BattleJudging(#[from] BattleJudgingError),
    /// The judgements of a campaign cannot be read.
    #[error(transparent)]
    Campaign(#[from] CampaignReportError),
    /// The suite cannot be read.
    #[error(transparent)]
    Bench(#[from] BenchError),
    /// The votes could not be read.
    #[error(transparent)]
    Votes(#[from] ReadLogError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The rating options or the fit failed.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// No vote matches the slice.
    #[error(transparent)]
    Slice(#[from] SliceError),
    /// The computing thread panicked.
    #[error("the thread that computes a series ended early")]
    Thread(#[from] tokio::task::JoinError),
}

impl ReadSeriesError {
    /// Whether the user's input is invalid.
    #[must_use]
    pub fn is_input(&self) -> bool {
        match self {
            Self::Votes(_) | Self::Store(_) | Self::Fit(_) | Self::Thread(_) => false,
            Self::Series(error) => error.is_input(),
            Self::Bench(error) => error.is_missing(),
            Self::BattleJudging(error) => matches!(error, BattleJudgingError::NoVerdicts(..)),
            Self::Campaign(error) => {
                use CampaignReportError::{NoVerdicts, Unknown, UnknownQuestion};
                matches!(error, Unknown(_) | UnknownQuestion { .. } | NoVerdicts { .. })
            }
            _ => true,
        }
    }

    /// Whether the database is unavailable, which is logged already.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        match self {
            Self::Store(error) => error.is_outage(),
            Self::Votes(error) => error.is_outage(),
            Self::Bench(error) => error.is_outage(),
            Self::BattleJudging(error) => error.is_outage(),
            Self::Campaign(error) => error.is_outage(),
            _ => false,
        }
    }
}
