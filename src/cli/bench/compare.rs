//! `langya bench compare`

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use crate::Location;
use crate::databases;
use crate::domain::benchmark::analysis::run_comparison::{ComparedRuns, ItemChange, ModelAcrossRuns, RunComparison};
use crate::domain::plural::counted;
use crate::domain::stats::paired::{PairedDifference, PairedTest};
use crate::error::CommandResult;
use crate::infra::config::Environment;
use crate::infra::storage::IfMissing;
use crate::output::output_format::OutputFormat;
use crate::output::standard_output::{lines_of_csv, print};
use crate::output::table::{TableRow, render, value_or_dash};
use crate::services::benchmark::run_comparison::compare;

/// Maximum number of items in a table.
const MAX_LISTED_ITEMS: usize = 20;

/// Flags of `langya bench compare`.
#[derive(Debug, Clone, Args)]
pub(super) struct CompareOptions {
    /// The earlier run, by its id or the end of it (`langya bench runs` lists them)
    #[arg(value_name = "RUN")]
    before: String,
    /// The later run
    #[arg(value_name = "RUN")]
    after: String,
    #[command(flatten)]
    location: Location,
    /// Output format: a table of what changed, the models and the items that changed most, or every item for programs
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// Prints the differences between two runs.
///
/// # Errors
/// An unknown run, or a database failure.
pub(super) async fn run(options: &CompareOptions, env: &Environment) -> CommandResult<ExitCode> {
    let settings = options.location.settings(env)?;
    let store = databases::open(&settings.storage, IfMissing::Fail).await?;
    let compared = compare(&store, [&options.before, &options.after]).await?;
    print(&match options.format {
        OutputFormat::Json => format!("{}\n", serde_json::to_string_pretty(&ComparisonDocument::new(&compared))?),
        OutputFormat::Csv => lines_of_csv(&compared.comparison.items)?,
        OutputFormat::Table => text(&compared.comparison)?,
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Comparison with the ids of its runs.
#[derive(Serialize)]
struct ComparisonDocument<'c> {
    suite: &'c str,
    before: &'c str,
    after: &'c str,
    #[serde(flatten)]
    comparison: &'c RunComparison,
}

impl<'c> ComparisonDocument<'c> {
    fn new(ComparedRuns { before, after, comparison }: &'c ComparedRuns) -> Self {
        Self { suite: &before.run.suite, before: &before.run.id, after: &after.run.id, comparison }
    }
}

fn text(comparison: &RunComparison) -> CommandResult<String> {
    let changes = comparison.changes.iter();
    let changes = changes
        .map(|change| format!("changed: {}: {} -> {}\n", change.what, shown(&change.before), shown(&change.after)));
    let mut text: String = changes.collect();
    if text.is_empty() {
        text.push_str("nothing that the manifests name has changed\n");
    }
    text += &render(&comparison.models.iter().map(ComparedModelLine::new).collect::<Vec<_>>(), OutputFormat::Table)?;
    let moved = comparison.items.iter().filter(|item| item.difference().is_some_and(|difference| difference != 0.0));
    let lines: Vec<ItemLine> = moved.take(MAX_LISTED_ITEMS).map(ItemLine::new).collect();
    if !lines.is_empty() {
        text += &render(&lines, OutputFormat::Table)?;
    }
    Ok(text)
}

fn shown(value: &str) -> &str {
    if value.is_empty() { "-" } else { value }
}

#[derive(Serialize)]
struct ComparedModelLine {
    model: String,
    items: u64,
    higher: u64,
    lower: u64,
    difference: String,
    p: String,
    same_answers: String,
    canaries: String,
}

impl ComparedModelLine {
    fn new(row: &ModelAcrossRuns) -> Self {
        let difference = |found: PairedDifference| {
            let interval = found.interval.map(|interval| format!("({:+.3} to {:+.3})", interval.lower, interval.upper));
            format!("{:+.3} {}", found.mean, interval.unwrap_or_else(|| "(all items alike: no interval)".to_owned()))
        };
        let p = |found: PairedDifference| match found.test {
            PairedTest::PairedT => format!("{:.4}", found.p),
            PairedTest::Signs => format!("{:.4} (test of signs)", found.p),
        };
        let canaries = row.canaries.as_ref().map(|found| {
            let p = value_or_dash(found.adjusted_p.map(|p| format!("{p:.4}")));
            let said = if found.drift { "DRIFT: the provider has changed it" } else { "no drift" };
            format!("{said} ({}, p {p})", counted(found.items, "item", "items"))
        });
        Self {
            model: row.model.clone(),
            items: row.items,
            higher: row.higher,
            lower: row.lower,
            difference: value_or_dash(row.difference.map(difference)),
            p: value_or_dash(row.difference.map(p)),
            same_answers: format!("{}/{}", row.same_answers, row.answered),
            canaries: canaries.unwrap_or_else(|| "other or unknown settings".to_owned()),
        }
    }
}

impl TableRow for ComparedModelLine {
    const HEADS: &'static [&'static str] =
        &["model", "items", "higher", "lower", "difference", "p", "same answers", "canaries"];

    fn cells(&self) -> Vec<String> {
        let Self { model, items, higher, lower, difference, p, same_answers, canaries } = self;
        let numbers = [items, higher, lower].map(u64::to_string);
        let texts = [difference, p, same_answers, canaries].map(String::clone);
        [model.clone()].into_iter().chain(numbers).chain(texts).collect()
    }
}

#[derive(Serialize)]
struct ItemLine {
    item: String,
    model: String,
    before: String,
    after: String,
    answer: &'static str,
}

impl ItemLine {
    fn new(item: &ItemChange) -> Self {
        let score = |score: Option<f64>| value_or_dash(score.map(|score| format!("{score:.2}")));
        Self {
            item: item.item.clone(),
            model: item.model.clone(),
            before: score(item.before),
            after: score(item.after),
            answer: match item.same_answer {
                Some(true) => "same",
                Some(false) => "different",
                None => "-",
            },
        }
    }
}

impl TableRow for ItemLine {
    const HEADS: &'static [&'static str] = &["item", "model", "before", "after", "answer"];

    fn cells(&self) -> Vec<String> {
        let texts = [&self.item, &self.model, &self.before, &self.after].map(String::clone);
        texts.into_iter().chain([self.answer.to_owned()]).collect()
    }
}
