//! `langya campaign export`

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::find;
use crate::domain::battle::Outcome;
use crate::domain::campaign::assignment::AssignmentKind;
use crate::domain::campaign::judgement::UnitJudgement;
use crate::domain::plural::counted;
use crate::error::CommandResult;
use crate::infra::storage::{CampaignJudgementRow, Store};
use crate::output::out_file::{OutFile, Overwrite};
use crate::output::standard_output::lines_of_csv;
use crate::signals::unless_interrupted;

/// Flags of `langya campaign export`.
#[derive(Debug, Args)]
pub(super) struct ExportCampaignOptions {
    /// Id of the campaign
    id: String,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// One JSON object per line, or CSV
    #[arg(long, value_enum, default_value_t)]
    format: ExportFormat,
    #[command(flatten)]
    overwrite: Overwrite,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
    #[default]
    Jsonl,
    Csv,
}

/// Row of a judgement, in the input format of `langya fit` and `langya agree`.
#[derive(Serialize)]
struct JudgementLine {
    judgement: String,
    item: String,
    annotator: String,
    /// Annotator, under the column name of the voter in vote logs.
    judge: String,
    kind: String,
    /// First model, in the order shown.
    model_a: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    model_b: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    winner: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<i64>,
    /// Preference, negative if the first model is better.
    #[serde(skip_serializing_if = "Option::is_none")]
    preference: Option<i64>,
    /// Models, the best first.
    #[serde(skip_serializing_if = "Option::is_none")]
    ranking: Option<String>,
    /// Answers to the questions as JSON; per-answer questions are keyed by the letter of the answer, in the order shown.
    #[serde(skip_serializing_if = "String::is_empty")]
    answers: String,
    /// `left_out` if the annotator is excluded: such a vote is not rated.
    exclusion: Option<&'static str>,
    /// Whether it counts for ratings: not if the annotator is excluded, and not a second time.
    rated: bool,
    /// Milliseconds since 1970.
    shown_at: i64,
    judged_at: i64,
}

impl JudgementLine {
    fn new(row: CampaignJudgementRow, left_out: &BTreeSet<String>) -> CommandResult<Self> {
        let shown: Vec<String> = serde_json::from_str(&row.shown)?;
        let said: UnitJudgement = serde_json::from_str(&row.judgement)?;
        let winner = said.outcome().map(|outcome| match outcome {
            Outcome::AWins => "model_a".to_owned(),
            Outcome::BWins => "model_b".to_owned(),
            other => other.as_str().to_owned(),
        });
        let [score, preference] = match said {
            UnitJudgement::Score(score) => [Some(i64::from(score)), None],
            UnitJudgement::Preference(preference) => [None, Some(i64::from(preference))],
            UnitJudgement::Outcome(_) | UnitJudgement::Ranking(_) => [None, None],
        };
        let place = |place: &u8| shown.get(usize::from(*place)).cloned();
        let ranking = match &said {
            UnitJudgement::Ranking(places) => Some(places.iter().filter_map(place).collect::<Vec<_>>().join(" > ")),
            _ => None,
        };
        let is_left_out = left_out.contains(&row.annotator);
        Ok(Self {
            winner,
            score,
            preference,
            ranking,
            answers: row.answers,
            exclusion: is_left_out.then_some("left_out"),
            rated: !is_left_out && row.kind != AssignmentKind::Repeat.as_str(),
            judgement: row.id,
            item: row.item,
            judge: row.annotator.clone(),
            annotator: row.annotator,
            kind: row.kind,
            model_b: shown.get(1).cloned(),
            model_a: shown.into_iter().next().unwrap_or_default(),
            shown_at: row.given_at,
            judged_at: row.judged_at,
        })
    }
}

/// Writes all judgements that were not undone.
///
/// # Errors
/// An unknown campaign, a file that cannot be written, or a signal.
pub(super) async fn run(store: &Store, options: ExportCampaignOptions) -> CommandResult<()> {
    unless_interrupted(write(store, options)).await
}

/// Writes the file. Cancel-safe: it is removed on drop unless complete.
async fn write(store: &Store, options: ExportCampaignOptions) -> CommandResult<()> {
    let campaign = find(store, &options.id).await?;
    let file = OutFile::create(&options.out, options.overwrite)?;
    let rows = store.campaign_judgements(&campaign.id).await?;
    let exclusions = store.annotator_exclusions(&campaign.id).await?;
    let in_force = exclusions.into_iter().filter(|exclusion| exclusion.withdrawn_at.is_none());
    let left_out = in_force.map(|exclusion| exclusion.annotator).collect();
    let line = |row| JudgementLine::new(row, &left_out);
    let lines = rows.into_iter().map(line).collect::<CommandResult<Vec<_>>>()?;
    let count = lines.len();
    let text = match options.format {
        ExportFormat::Csv => lines_of_csv(&lines)?,
        ExportFormat::Jsonl => {
            let texts = lines.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
            texts.iter().map(|line| format!("{line}\n")).collect()
        }
    };
    file.write(|out| out.write_all(text.as_bytes()))?;
    eprintln!("{} written to {}", counted(count, "judgement", "judgements"), options.out.display());
    Ok(())
}
