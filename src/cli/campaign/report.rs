//! `langya campaign report`

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::find;
use crate::domain::campaign::ending::EndReason;
use crate::domain::campaign::report::{
    AnnotatorFlag, AnnotatorSummary, CampaignReport, JudgeAgreement, LeftOutAnnotator, QuestionSummary, ScoredModel,
};
use crate::domain::language::Language;
use crate::domain::plural::counted;
use crate::domain::rating::intervals::sequential_testing::{NeighbourPair, NeighbourState};
use crate::domain::rating::leaderboards::leaderboard::RankedModel;
use crate::domain::rating::options::{IntervalMethod, LeaderboardOptions};
use crate::domain::time::Timestamp;
use crate::error::{CommandError, CommandResult};
use crate::infra::config::Settings;
use crate::output::out_file::Overwrite;
use crate::output::report_files::{OutputLayout, files};
use crate::output::standard_output::{lines_of_csv, print};
use crate::output::table::table;
use crate::output::terminal_text::printable;
use crate::output::times::show_time;
use crate::render::report::campaign::{Audience, CampaignDocument, html, markdown};
use crate::services::campaign::administration::CampaignAdmin;
use crate::services::campaign::reports::campaign_report;
use crate::signals::unless_interrupted;

/// Flags of `langya campaign report`.
#[derive(Debug, Args)]
pub(super) struct ReportOptions {
    /// Id of the campaign
    id: String,
    /// Output format; CSV has one line per annotator [default: by the extension of --out, or else table]
    #[arg(long, value_enum)]
    format: Option<OutputLayout>,
    /// Write the report that the page shows to a file (.md, .csv, .json, .html), or all four to a folder
    #[arg(long, value_name = "FILE|DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    overwrite: Overwrite,
    /// The language of the report
    #[arg(long, default_value = "en", value_parser = PossibleValuesParser::new(Language::ALL.map(Language::code)))]
    language: String,
    /// Leave the judgements of this annotator out, in this and every later report; the report and the audit log show it
    #[arg(long, value_name = "ANNOTATOR", requires = "reason", conflicts_with = "readmit")]
    leave_out: Option<String>,
    /// Why they are left out; where the campaign's votes are rated, everybody can read it on the page of exclusions
    #[arg(long, value_name = "TEXT", requires = "leave_out")]
    reason: Option<String>,
    /// Count the judgements of a left-out annotator again
    #[arg(long, value_name = "ANNOTATOR")]
    readmit: Option<String>,
}

/// Applies the changes of the flags, and prints the report or writes it to files.
///
/// # Errors
/// An unknown campaign, judgements that cannot be fitted, an existing file, or a signal.
pub(super) async fn run(admin: &CampaignAdmin<'_>, settings: &Settings, options: &ReportOptions) -> CommandResult<()> {
    let stored = OnceCell::new();
    let written = write(admin, settings, options, &stored);
    // Without an output file, a signal ends it like any other command.
    let done = if options.out.is_some() { unless_interrupted(written).await } else { written.await };
    done.map_err(|error| with_stored_change(error, stored.get()))
}

/// Adds to the error of a report the change that was stored before it.
fn with_stored_change(error: CommandError, stored: Option<&String>) -> CommandError {
    match stored {
        Some(stored) => error.context(format!("only this was stored: {stored}")),
        None => error,
    }
}

/// Applies the changes, and prints or writes the report. Cancel-safe: unfinished files are removed on drop. `stored` gets a description of
/// the stored change.
async fn write(
    admin: &CampaignAdmin<'_>,
    settings: &Settings,
    options: &ReportOptions,
    stored: &OnceCell<String>,
) -> CommandResult<()> {
    let campaign = find(admin.store, &options.id).await?;
    let wanted = |out: &Path| files(out, &options.id, options.format, options.overwrite);
    let files = options.out.as_deref().map(wanted).transpose()?;
    if let Some(annotator) = &options.leave_out {
        admin.leave_out(&campaign.id, annotator, options.reason.as_deref().unwrap_or_default()).await?;
        print_change(stored, format!("the judgements of {} are left out from now on", printable(annotator)));
    }
    if let Some(annotator) = &options.readmit {
        admin.readmit(&campaign.id, annotator).await?;
        print_change(stored, format!("the judgements of {} count again from now on", printable(annotator)));
    }
    let rating = LeaderboardOptions { min_votes: settings.rating.min_votes, ..LeaderboardOptions::default() };
    let report = campaign_report(admin.store, &campaign, &rating).await?;
    let language = Language::parse(&options.language).unwrap_or_default();
    let document =
        CampaignDocument::new(&report, &serde_json::from_str(&campaign.plan)?, Audience::Operators, language);
    let written = |form| format_document(form, &report, &document, language);
    match files {
        None => print(&written(options.format.unwrap_or(OutputLayout::Table))?),
        Some(files) => files.write(written),
    }
}

fn print_change(stored: &OnceCell<String>, change: String) {
    eprintln!("{change}");
    // The two flags are mutually exclusive, so this is the only change.
    let _ = stored.set(change);
}

fn format_document(
    form: OutputLayout,
    report: &CampaignReport,
    document: &CampaignDocument,
    language: Language,
) -> CommandResult<String> {
    Ok(match form {
        OutputLayout::Json => serde_json::to_string_pretty(report)? + "\n",
        OutputLayout::Csv => lines_of_csv(&report.annotators.iter().map(AnnotatorLine::new).collect::<Vec<_>>())?,
        OutputLayout::Table => text(report),
        OutputLayout::Markdown => markdown::write(document, language),
        OutputLayout::Html => html::file(document, language)?,
    })
}

#[derive(serde::Serialize)]
struct AnnotatorLine {
    annotator: String,
    judgements: u64,
    agreement_with_others: Option<f64>,
    gold_accuracy: Option<f64>,
    gold_judgements: u64,
    self_consistency: Option<f64>,
    repeats: u64,
    side_a_share: Option<f64>,
    median_seconds: Option<f64>,
    longest_streak: u64,
    flags: String,
}

impl AnnotatorLine {
    fn new(summary: &AnnotatorSummary) -> Self {
        Self {
            annotator: summary.annotator.clone(),
            judgements: summary.judgements,
            agreement_with_others: summary.agreement_with_others,
            gold_accuracy: summary.gold_accuracy,
            gold_judgements: summary.gold_judgements,
            self_consistency: summary.self_consistency,
            repeats: summary.repeats,
            side_a_share: summary.side_a_share,
            median_seconds: summary.median_seconds,
            longest_streak: summary.longest_streak,
            flags: summary.flags.iter().map(|flag| flag_name(*flag)).collect::<Vec<_>>().join(" "),
        }
    }
}

fn flag_name(flag: AnnotatorFlag) -> &'static str {
    match flag {
        AnnotatorFlag::SideBias => "side_bias",
        AnnotatorFlag::Careless => "careless",
        AnnotatorFlag::Copying => "copying",
    }
}

const MODEL_HEADS: [&str; 10] =
    ["rank", "rating", "95 % interval", "over items", "judgements", "won", "lost", "tied", "both bad", "model"];
const NEIGHBOUR_HEADS: [&str; 4] = ["neighbours", "difference", "95 % at any time", "known"];
const SCORE_HEADS: [&str; 5] = ["score", "95 % interval", "items", "judgements", "model"];
const QUESTION_HEADS: [&str; 6] = ["question", "mean", "95 % interval", "judgements", "alpha", "model"];
const JUDGE_HEADS: [&str; 8] =
    ["judge", "judgements", "agrees", "95 % interval", "kappa", "95 % interval", "people agree", "both orders"];
const ANNOTATOR_HEADS: [&str; 9] =
    ["annotator", "judgements", "with others", "gold", "self", "side A", "seconds", "streak", "flags"];

fn text(report: &CampaignReport) -> String {
    let done = if report.complete { "complete" } else { "not complete" };
    let mut text = format!(
        "campaign {}: {}, {} of them repetitions; {} of {} done, {done}\n\n",
        report.campaign,
        counted(report.judgements, "judgement", "judgements"),
        report.repeats,
        report.units_done,
        counted(report.units, "unit", "units")
    );
    if let Some(ended) = report.ended {
        let because = match ended.because {
            EndReason::Separated => "the neighbours on the leaderboard are told apart or known to be equal",
            EndReason::MaxJudgements => "it has as many judgements as its file allows",
        };
        text += &format!("ended {}: {because}\n\n", show_time(Timestamp(ended.at)));
    }
    let agreement = &report.agreement;
    text += &format!(
        "agreement over {} that at least two annotators judged: Fleiss' kappa {}, Krippendorff's alpha {}\n\n",
        counted(agreement.units, "unit", "units"),
        with_interval(agreement.fleiss, agreement.fleiss_interval),
        with_interval(agreement.krippendorff, agreement.krippendorff_interval)
    );
    text += &table_or_empty(&MODEL_HEADS, report.models.iter().map(|model| model_cells(model, report)).collect());
    if !report.models.is_empty() {
        text += &ratings_legend(report);
    }
    text += &table_or_empty(&NEIGHBOUR_HEADS, report.neighbours.iter().map(neighbour_cells).collect());
    text += &table_or_empty(&SCORE_HEADS, report.scores.iter().map(|model| score_cells(model).to_vec()).collect());
    text += &table_or_empty(&QUESTION_HEADS, report.questions.iter().flat_map(question_rows).collect());
    text += &table_or_empty(&JUDGE_HEADS, report.judges.iter().map(judge_cells).collect());
    text += &table(&ANNOTATOR_HEADS, report.annotators.iter().map(annotator_cells).collect());
    for left in &report.left_out {
        let LeftOutAnnotator { annotator, reason, by, judgements, .. } = left;
        let judgements = counted(judgements, "judgement", "judgements");
        text += &format!("\nleft out: {annotator} with {judgements}, by {by}: {reason}\n");
    }
    text
}

/// Describes the intervals of the ratings, with notes for the reader.
fn ratings_legend(report: &CampaignReport) -> String {
    let interval = match report.annotators.len() {
        0 | 1 => "from judgements of one annotator, taken as independent".to_owned(),
        annotators => format!("from the differences between {annotators} annotators, called voters in notes"),
    };
    let (samples, items) =
        (counted(report.resamples, "bootstrap sample", "bootstrap samples"), counted(report.items, "item", "items"));
    let mut text = format!(
        "ratings: points, where 400 more are odds of 10 to 1; 95 % interval: {interval}; \
         over items: from {samples} of {items}\n"
    );
    for note in &report.notes {
        text += &format!("note: {}\n", printable(&note.to_string()));
    }
    text + "\n"
}

/// Formats a table with an empty line after it; empty without rows.
fn table_or_empty(heads: &[&str], rows: Vec<Vec<String>>) -> String {
    if rows.is_empty() { String::new() } else { table(heads, rows) + "\n" }
}

fn score_cells(model: &ScoredModel) -> [String; 5] {
    let bounds = model.lower.zip(model.upper);
    let interval = bounds.map_or_else(dash, |(lower, upper)| format!("{lower:.2} to {upper:.2}"));
    [
        format!("{:.2}", model.score),
        interval,
        model.items.to_string(),
        model.judgements.to_string(),
        model.model.clone(),
    ]
}

/// Returns a row for each model with a mean on a scale; choices and texts are only in the other formats.
fn question_rows(question: &QuestionSummary) -> Vec<Vec<String>> {
    let row = |model: &ScoredModel| {
        let [mean, interval, _, judgements, model] = score_cells(model);
        let alpha = question.krippendorff.map_or_else(dash, |alpha| format!("{alpha:.2}"));
        vec![question.question.clone(), mean, interval, judgements, alpha, model]
    };
    question.models.iter().map(row).collect()
}

fn model_cells(model: &RankedModel, report: &CampaignReport) -> Vec<String> {
    let by_item = report.item_intervals.iter().find(|found| found.model == model.model);
    let bound = |value: Option<f64>| value.map_or_else(dash, |value| format!("{value:.0}"));
    let rating = match (model.rating, model.at_least, model.at_most) {
        (Some(rating), ..) => format!("{rating:.0}"),
        (_, Some(limit), _) => format!("≥ {limit:.0}"),
        (.., Some(limit)) => format!("≤ {limit:.0}"),
        _ => dash(),
    };
    vec![
        model.shown_rank(IntervalMethod::Auto).map_or_else(dash, |rank| rank.to_string()),
        rating,
        format!("{} to {}", bound(model.lower), bound(model.upper)),
        by_item.map_or_else(dash, |found| format!("{} to {}", bound(found.lower), bound(found.upper))),
        model.battles.to_string(),
        model.wins.to_string(),
        model.losses.to_string(),
        model.ties.to_string(),
        model.both_bad.to_string(),
        model.model.clone(),
    ]
}

fn neighbour_cells(pair: &NeighbourPair) -> Vec<String> {
    let number = |value: Option<f64>| value.map_or_else(dash, |value| format!("{value:.0}"));
    let known = match pair.state {
        NeighbourState::Separated => "separated",
        NeighbourState::Open => "open",
        NeighbourState::Equal => "equal",
    };
    vec![
        format!("{} > {}", pair.upper, pair.lower),
        number(pair.difference),
        format!("{} to {}", number(pair.low), number(pair.high)),
        known.to_owned(),
    ]
}

fn judge_cells(judge: &JudgeAgreement) -> Vec<String> {
    let number = |value: Option<f64>| value.map_or_else(dash, |value| format!("{value:.2}"));
    let bounds =
        |found: Option<[f64; 2]>| found.map_or_else(dash, |[lower, upper]| format!("{lower:.2} to {upper:.2}"));
    let of = |share: Option<f64>, total: u64| format!("{} of {total}", number(share));
    vec![
        judge.judge.clone(),
        judge.judgements.to_string(),
        number(judge.agreement),
        bounds(judge.agreement_interval),
        number(judge.kappa),
        bounds(judge.kappa_interval),
        of(judge.people_agreement, judge.people_pairs),
        of(judge.consistent.share.value, judge.consistent.total),
    ]
}

fn annotator_cells(summary: &AnnotatorSummary) -> Vec<String> {
    let share = |share: Option<f64>, of: Option<u64>| match (share, of) {
        (Some(share), Some(of)) => format!("{:.0} % of {of}", 100.0 * share),
        (Some(share), None) => format!("{:.0} %", 100.0 * share),
        (None, _) => dash(),
    };
    let line = AnnotatorLine::new(summary);
    vec![
        summary.annotator.clone(),
        summary.judgements.to_string(),
        share(summary.agreement_with_others, None),
        share(summary.gold_accuracy, Some(summary.gold_judgements)),
        share(summary.self_consistency, Some(summary.repeats)),
        share(summary.side_a_share, None),
        summary.median_seconds.map_or_else(dash, |seconds| format!("{seconds:.0}")),
        summary.longest_streak.to_string(),
        if line.flags.is_empty() { dash() } else { line.flags },
    ]
}

fn with_interval(value: Option<f64>, interval: Option<[f64; 2]>) -> String {
    match (value, interval) {
        (Some(value), Some([lower, upper])) => format!("{value:.2} ({lower:.2} to {upper:.2})"),
        (Some(value), None) => format!("{value:.2} (no interval: resampling cannot show how uncertain it is)"),
        (None, _) => dash(),
    }
}

fn dash() -> String {
    "–".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Interrupted;

    #[test]
    fn an_interrupted_report_says_what_it_has_stored() {
        let stored = "the judgements of pilot-1 are left out from now on".to_owned();
        let error = with_stored_change(Interrupted::NO_FILE.into(), Some(&stored));
        assert!(error.is_interrupt(), "it ends at once all the same");
        let said = "only this was stored: the judgements of pilot-1 are left out from now on: interrupted: no file was written";
        assert_eq!(error.message(), said);
        assert_eq!(with_stored_change(Interrupted::NO_FILE.into(), None).message(), "interrupted: no file was written");
    }
}
