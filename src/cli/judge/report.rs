//! `langya judge report`.

use std::process::ExitCode;

use clap::Args;

use super::tables;
use crate::Location;
use crate::databases;
use crate::domain::battle_judging::report::BattleJudgingReport;
use crate::domain::stats::confidence::ConfidenceLevel;
use crate::error::{BadInput, CommandResult};
use crate::infra::config::Environment;
use crate::infra::storage::IfMissing;
use crate::infra::tasks::Tasks;
use crate::output::output_format::OutputFormat;
use crate::output::standard_output::print;
use crate::services::battle_judging::reports::BattleJudgingReports;

/// Flags of `langya judge report`.
#[derive(Debug, Clone, Args)]
pub(super) struct JudgeReportOptions {
    #[command(flatten)]
    location: Location,
    /// Only these judges, by id and joined with commas
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    judge: Vec<String>,
    /// Confidence level of the intervals [default: from the settings]
    #[arg(long, value_name = "SHARE")]
    confidence: Option<f64>,
    /// Output format; csv prints the agreement, one row per part of the battles
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// Prints the report.
///
/// # Errors
/// A judge without verdicts, or a database failure.
pub(super) async fn run(options: &JudgeReportOptions, env: &Environment) -> CommandResult<ExitCode> {
    let settings = options.location.settings(env)?;
    let level = ConfidenceLevel::new(options.confidence.unwrap_or(settings.rating.confidence))?;
    let store = databases::open(&settings.storage, IfMissing::Fail).await?;
    let report = BattleJudgingReports::new(store, Tasks::default()).latest(level).await?;
    let report = of_judges(&report, &options.judge)?;
    let text = match options.format {
        OutputFormat::Json => serde_json::to_string_pretty(&report)? + "\n",
        OutputFormat::Csv => tables::csv(&report)?,
        OutputFormat::Table => tables::tables(&report),
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn of_judges(report: &BattleJudgingReport, wanted: &[String]) -> Result<BattleJudgingReport, BadInput> {
    let known: Vec<&str> = report.judges.iter().map(|judge| judge.judge.as_str()).collect();
    if let Some(unknown) = wanted.iter().find(|judge| !known.contains(&judge.as_str())) {
        let known = if known.is_empty() { "nobody".to_owned() } else { known.join(", ") };
        return Err(BadInput(format!("no battle was judged by {unknown:?}: there are verdicts of {known}")));
    }
    let holds = |judge: &String| wanted.is_empty() || wanted.contains(judge);
    let mut report = report.clone();
    report.judges.retain(|judge| holds(&judge.judge));
    report.between.retain(|pair| pair.judges.iter().all(holds));
    Ok(report)
}
