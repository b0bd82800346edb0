//! What `langya fit` can be asked.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::FitCommandError;
use crate::cli::slice_flags::SliceFlags;
use crate::cli::vote_files::ReadFlags;
use crate::domain::rating::bootstrap::BootstrapOptions;
use crate::domain::rating::interval::ConfidenceLevel;
use crate::domain::rating::leaderboard::{Anchor, IntervalMethod, LeaderboardOptions, Method};
use crate::domain::rating::scoring::{BothBadRule, Scoring, TieRule};
use crate::domain::rating::vote_log::ColumnSet;
use crate::domain::rating::weighting::Reweight;

/// What `langya fit` can be asked.
#[derive(Debug, Clone, Args)]
pub struct FitOptions {
    /// Files of votes: Parquet, CSV, TSV, JSON or JSON lines, packed by gzip or zstd or not; without them the database is read
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub votes: Vec<PathBuf>,
    /// How those files are read.
    #[command(flatten)]
    pub reading: ReadFlags,
    /// Rate by Bradley–Terry (bt) or by Elo in log order (elo)
    #[arg(long, value_name = "bt|elo", default_value = "bt")]
    pub method: Method,
    /// How intervals are found: by the sandwich formula, the same with the votes of one voter taken together (cluster), by
    /// resampling (bootstrap), or not at all
    #[arg(long, value_name = "sandwich|cluster|bootstrap|none", default_value = "sandwich")]
    pub interval: IntervalMethod,
    /// Replicates of the bootstrap
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub bootstrap: u32,
    /// Seed of the bootstrap's random numbers: the same seed gives the same intervals
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// Confidence level of the intervals
    #[arg(long, value_name = "SHARE", default_value_t = 0.95)]
    pub confidence: f64,
    /// What a tie counts: half a win to each side, nothing, or an outcome of its own whose frequency is fitted (davidson)
    #[arg(long, value_name = "half|drop|davidson", default_value = "half")]
    pub ties: TieRule,
    /// What a vote for "both bad" counts: the same as a tie that is counted, or nothing
    #[arg(long, value_name = "half|drop", default_value = "half")]
    pub both_bad: BothBadRule,
    /// Only votes for one side: the same as --ties drop --both-bad drop
    #[arg(long, conflicts_with_all = ["ties", "both_bad"])]
    pub without_ties: bool,
    /// Weigh each vote by 1 / votes of its pair (at least 50), or by 1 / the probability of its pair
    #[arg(long, value_name = "none|pair-count|pair-probability", default_value = "none")]
    pub reweight: Reweight,
    #[command(flatten)]
    pub(super) slice: SliceFlags,
    /// Hold one model at a given rating, instead of the mean at 1000
    #[arg(long, value_name = "MODEL=RATING")]
    pub anchor: Option<String>,
    /// Models with fewer votes are marked as provisional
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub min_votes: u64,
    /// With JSON: also the matrices of wins, votes and predicted wins of every pair
    #[arg(long)]
    pub matrices: bool,
    /// Rate with the looks of the replies held equal: length, headings, lists and bold, whose effects are shown
    #[arg(long)]
    pub style: bool,
    /// Also tell how firm the order is: possible places, and which votes, voters or further votes would change it
    #[arg(long)]
    pub robustness: bool,
    /// Also draw charts, as SVG files in this folder
    #[arg(long, value_name = "DIR")]
    pub charts: Option<PathBuf>,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    pub format: OutputFormat,
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// Aligned columns for people.
    Table,
    /// One JSON object.
    Json,
    /// One line a model.
    Csv,
}

impl FitOptions {
    /// The options as the leaderboard takes them.
    ///
    /// # Errors
    /// [`FitCommandError`] for a confidence level or an anchor that cannot be one.
    pub fn leaderboard_options(&self) -> Result<LeaderboardOptions, FitCommandError> {
        Ok(LeaderboardOptions {
            method: self.method,
            interval: self.interval,
            confidence: ConfidenceLevel::new(self.confidence)?,
            bootstrap: BootstrapOptions { replicates: self.bootstrap, seed: self.seed },
            reweight: self.reweight,
            scoring: self.scoring(),
            min_votes: self.min_votes,
            anchor: self.anchor.as_deref().map(parse_anchor).transpose()?,
            matrices: self.matrices,
            style: self.style,
            ..LeaderboardOptions::default()
        })
    }

    /// The columns that the fit reads beside models and outcome. Charts show a history, which needs times.
    pub(super) fn wanted(&self) -> ColumnSet {
        let mut wanted = ColumnSet {
            voters: self.interval == IntervalMethod::Cluster || self.robustness,
            style: self.style,
            pair_probabilities: self.reweight == Reweight::PairProbability,
            seconds: self.charts.is_some(),
            ..ColumnSet::default()
        };
        self.slice.slice().want(&mut wanted);
        wanted
    }

    fn scoring(&self) -> Scoring {
        if self.without_ties {
            return Scoring { ties: TieRule::Drop, both_bad: BothBadRule::Drop };
        }
        Scoring { ties: self.ties, both_bad: self.both_bad }
    }
}

/// The name may hold an equals sign; the rating cannot.
fn parse_anchor(text: &str) -> Result<Anchor, FitCommandError> {
    let refused = || FitCommandError::Anchor(text.to_owned());
    let (model, rating) = text.rsplit_once('=').filter(|(model, _)| !model.is_empty()).ok_or_else(refused)?;
    Ok(Anchor { model: model.to_owned(), rating: rating.trim().parse().map_err(|_| refused())? })
}
