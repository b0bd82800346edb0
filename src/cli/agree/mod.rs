//! `langya agree`: agreement of a judge with people, and of people with each other.

mod print;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::output::progress;
use super::output::standard_output::print;
use crate::domain::agreement::{AgreementOptions, AgreementReport, BiasReport, Bins, CalibrationOptions};
use crate::domain::correlation::report::FEW_MODELS;
use crate::domain::plural::counted;
use crate::domain::stats::resample::BootstrapOptions;
use crate::error::{BadInput, CommandResult};
use crate::formats::agreement_files::{JudgeChoice, RatingFile, bias_of_file, compare_files};
use crate::formats::check_given_once;
use crate::output::output_format::OutputFormat;

/// Flags of `langya agree`. Both files hold votes on pairs of models (a question, two models, a winner, and who voted), or
/// both hold scores (a question, a model, a score, and who gave it).
#[derive(Debug, Clone, Args)]
pub struct AgreeOptions {
    /// People's votes (question, two models, winner, voter) or scores (question, model, score, rater): CSV, TSV, JSON
    /// lines, a JSON array or Parquet, optionally compressed with gzip or zstd; - for the standard input
    #[arg(long, value_name = "FILE", required_unless_present = "anchor")]
    votes: Option<PathBuf>,
    /// A judge's verdicts or scores on the same questions and models; - for the standard input; without them people are compared
    /// with each other only
    #[arg(long, value_name = "FILE")]
    verdicts: Option<PathBuf>,
    /// The judge whose verdicts are compared, where the file holds those of several
    #[arg(long, value_name = "NAME", requires = "verdicts", conflicts_with = "pool_judges")]
    judge: Option<String>,
    /// Compare the verdicts of several judges as those of one group
    #[arg(long, requires = "verdicts")]
    pool_judges: bool,
    /// Planned comparisons per pair of models, for the difference of win rates [default: as many as were made]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    planned: Option<u64>,
    /// When two scores count as the same
    #[arg(long, value_enum, default_value_t)]
    bins: BinsFlag,
    /// Report the rating bias of a judge that scored against references worth this many points (8 in URS)
    #[arg(long, value_name = "POINTS", requires = "verdicts")]
    anchor: Option<f64>,
    /// Cross-validation folds, split by question, for calibrating a judge's scores to people's
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..=1000))]
    folds: u32,
    /// Number of bootstrap replicates: questions are resampled for the intervals of agreement, kappa and alpha, or voters if no question has a
    /// second voter; 0 for no intervals
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(..=100_000))]
    bootstrap: u32,
    /// Seed for assigning questions to folds and for resampling
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// When two scores count as the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum BinsFlag {
    /// When both lie in one band of a scale of ten: 1–3, 4–6, 7–9 or 10
    #[default]
    Bands,
    /// When they are equal
    Exact,
}

/// Requested statistics.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct AgreeOutput {
    #[serde(flatten)]
    report: Option<AgreementReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rating_bias: Option<BiasReport>,
    #[serde(skip)]
    between: AgreementParties,
}

/// Parties of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AgreementParties {
    People,
    PeopleAndJudge,
}

/// Compares both files and prints their agreement.
///
/// # Errors
/// An invalid file or option.
pub fn run(options: AgreeOptions) -> CommandResult<ExitCode> {
    let comparing = progress::waiting("comparing");
    let found = options.read()?;
    comparing.finish_and_clear();
    if let Some(AgreementReport::Scores(scores)) = &found.report
        && found.between == AgreementParties::PeopleAndJudge
        && scores.system_level.models.len() < FEW_MODELS
    {
        let models = counted(scores.system_level.models.len(), "model has", "models have");
        eprintln!("warning: only {models} scores from both people and judge: a correlation over so few is unreliable");
    }
    match options.format {
        OutputFormat::Json => print(&format!("{}\n", serde_json::to_string_pretty(&found)?))?,
        OutputFormat::Table => print(&print::table(&found))?,
        OutputFormat::Csv => print(&print::csv(&found)?)?,
    }
    Ok(ExitCode::SUCCESS)
}

impl AgreeOptions {
    fn read(&self) -> CommandResult<AgreeOutput> {
        check_given_once([&self.votes, &self.verdicts].into_iter().flatten())?;
        let anchor = self.anchor.map(check_anchor).transpose()?;
        let bins = match self.bins {
            BinsFlag::Bands => Bins::Bands,
            BinsFlag::Exact => Bins::Exact,
        };
        let calibration = CalibrationOptions { folds: self.folds as usize, seed: self.seed };
        let bootstrap = BootstrapOptions { replicates: self.bootstrap, seed: self.seed };
        let options = AgreementOptions { planned: self.planned, bins, calibration, bootstrap };
        let choice = match &self.judge {
            Some(name) => JudgeChoice::Named(name.clone()),
            None if self.pool_judges => JudgeChoice::Pooled,
            None => JudgeChoice::Only,
        };
        let people = self.votes.as_deref().map(RatingFile::read).transpose()?;
        let verdicts = self.verdicts.as_deref().map(RatingFile::read).transpose()?;
        let between = if verdicts.is_some() { AgreementParties::PeopleAndJudge } else { AgreementParties::People };
        let rating_bias = anchor.zip(verdicts.as_ref()).map(|(anchor, verdicts)| bias_of_file(verdicts, anchor));
        let judge = verdicts.map(|verdicts| (verdicts, &choice));
        let compared = people.map(|people| compare_files(people, judge, options));
        Ok(AgreeOutput { report: compared.transpose()?, rating_bias: rating_bias.transpose()?, between })
    }
}

fn check_anchor(anchor: f64) -> Result<f64, BadInput> {
    if anchor.is_finite() {
        Ok(anchor)
    } else {
        Err(BadInput(format!("an anchor of {anchor} points is invalid: give a number")))
    }
}
