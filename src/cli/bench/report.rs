//! `langya bench report`: prints a suite's scores, or writes the report that the page shows.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::RunSelectorFlags;
use crate::Location;
use crate::databases;
use crate::domain::benchmark::runs::mixed_settings::MixedSettings;
use crate::domain::benchmark::runs::run_selector::RunSelector;
use crate::domain::benchmark::scores::judgement::Status;
use crate::domain::benchmark::scores::panel_scores::{JudgementFilter, ModelScores};
use crate::domain::benchmark::scores::score::{PartKind, Score};
use crate::domain::benchmark::suite_options::split_references;
use crate::domain::benchmark::{Suite, SuiteOptions};
use crate::domain::csv_injection::escape_formula;
use crate::domain::language::Language;
use crate::domain::plural::counted;
use crate::error::CommandResult;
use crate::formats::scores::ScoreRow;
use crate::infra::config::Environment;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{AnswerRound, BenchJudgementRow, IfMissing, JudgedGroup, Store, StoreError};
use crate::output::out_file::Overwrite;
use crate::output::report_files::{OutputLayout, files};
use crate::output::standard_output::{lines_of_csv, print};
use crate::output::table::table;
use crate::output::terminal_text::printable;
use crate::render::i18n::reports::named;
use crate::render::report::benchmark::suite_results::ReportChoice;
use crate::render::report::benchmark::{Report, csv, html, markdown};
use crate::services::benchmark::RunContext;
use crate::services::benchmark::error::BenchError;
use crate::services::benchmark::loading::load;
use crate::services::benchmark::reparse_replies::{imported_otherwise, reparse};
use crate::services::benchmark::run_manifests::mixed_settings;
use crate::services::benchmark::scores::scores;
use crate::services::benchmark::suite_results_cache::{measure, report_sources};
use crate::signals::unless_interrupted;

/// Flags of `langya bench report`.
#[derive(Debug, Clone, Args)]
pub(super) struct BenchReportOptions {
    #[command(flatten)]
    location: Location,
    /// The suite, such as mtbench101
    #[arg(value_name = "SUITE")]
    name: String,
    #[command(flatten)]
    way: RunSelectorFlags,
    /// Models to show: comma-separated ids [default: all]
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    models: Vec<String>,
    /// Judges to show: comma-separated ids [default: all]
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    judge: Vec<String>,
    /// Show judgements that used this model's answers as references
    #[arg(long, value_name = "ID")]
    references: Option<String>,
    /// Compare models on the same items with this one instead of the best; in the report, not in the table or CSV of scores
    #[arg(long, value_name = "ID")]
    compare_with: Option<String>,
    /// Output format [default: by the extension of --out, or else table]
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
}

impl BenchReportOptions {
    fn language(&self) -> Language {
        Language::parse(&self.language).unwrap_or_default()
    }

    fn filter(&self) -> JudgementFilter {
        JudgementFilter { models: self.models.clone(), judges: self.judge.clone() }
    }

    fn suite_options(&self) -> CommandResult<SuiteOptions> {
        Ok(SuiteOptions { references: self.references.clone(), ..self.way.options()? })
    }
}

fn format_report(form: OutputLayout, report: &Report, language: Language) -> CommandResult<String> {
    Ok(match form {
        OutputLayout::Csv => csv::write(report, escape_formula)?,
        OutputLayout::Json => format!("{}\n", serde_json::to_string_pretty(report)?),
        OutputLayout::Html => html::file(report, language)?,
        OutputLayout::Markdown | OutputLayout::Table => markdown::write(report, language),
    })
}

/// Prints the scores, or writes the report.
pub(super) async fn run(options: BenchReportOptions, env: &Environment) -> CommandResult<ExitCode> {
    let writes = options.out.is_some();
    let report = print_or_write(options, env);
    // Without an output file, a signal ends it like any other command.
    if writes { unless_interrupted(report).await } else { report.await }
}

/// Prints the scores or writes the report files. Cancel-safe: unfinished files are removed on drop.
async fn print_or_write(options: BenchReportOptions, env: &Environment) -> CommandResult<ExitCode> {
    let settings = options.location.settings(env)?;
    let store = databases::open(&settings.storage, IfMissing::Fail).await?;
    let wanted = |out: &Path| files(out, &options.name, options.format, options.overwrite);
    let files = options.out.as_deref().map(wanted).transpose()?;
    let language = options.language();
    match (files, options.format) {
        (Some(files), _) => {
            let report = report(&options, &store).await?;
            files.write(|form| format_report(form, &report, language))?;
        }
        (None, Some(form @ (OutputLayout::Markdown | OutputLayout::Html))) => {
            print(&format_report(form, &report(&options, &store).await?, language)?)?
        }
        (None, form) => print_scores(options, &store, form.unwrap_or(OutputLayout::Table)).await?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Creates the report of the page: by the given judge, or by the panel of the given judges.
async fn report(options: &BenchReportOptions, store: &Store) -> CommandResult<Report> {
    let (name, flags) = (&options.name, &options.way);
    let loaded = load(store, name, flags.data.as_deref(), &options.suite_options()?).await?;
    let filter = options.filter();
    let reparsed = reparsed_or_none(options, loaded.bench(store, &SharedRng::seeded(0), flags.sample)).await?;
    let variant = loaded.suite.variant().to_owned();
    let way = RunSelector { data: loaded.row.version, variant, sample: flags.sample };
    let measured = measure(store, name, &way, &filter, reparsed).await?;
    let choice = ReportChoice { judge: None, compare_with: options.compare_with.clone() };
    let beside = report_sources(store, &measured.set(), &way.variant).await?;
    let language = options.language();
    // On a blocking thread, so that signals are handled meanwhile.
    let made = tokio::task::spawn_blocking(move || measured.report(&choice, &beside, language)).await?;
    Ok(made.map_err(BenchError::from)?)
}

/// Reparses stored replies if the parsing options differ, and prints a note about it.
async fn reparsed_or_none(
    options: &BenchReportOptions,
    bench: RunContext<'_>,
) -> Result<Vec<BenchJudgementRow>, StoreError> {
    if options.way.compat.is_empty() {
        return Ok(Vec::new());
    }
    let rows = reparse(bench, &options.filter()).await?;
    if !rows.is_empty() {
        eprintln!(
            "note: parsed again as --compat requires, without asking a judge: {}",
            counted(rows.len(), "earlier reply", "earlier replies")
        );
    }
    let imported = imported_otherwise(bench, &options.filter()).await?;
    if imported > 0 {
        eprintln!(
            "note: {imported} imported verdicts were read without these switches, which apply only while a file is imported: import it \
             again with --compat {}",
            options.way.compat.join(",")
        );
    }
    Ok(rows)
}

/// Prints every score, as a table or as rows for programs.
async fn print_scores(options: BenchReportOptions, store: &Store, form: OutputLayout) -> CommandResult<()> {
    let (way, language) = (&options.way, options.language());
    let loaded = load(store, &options.name, way.data.as_deref(), &options.suite_options()?).await?;
    // Nothing is written, so random ids are unused.
    let rng = SharedRng::seeded(0);
    let bench = loaded.bench(store, &rng, way.sample);
    let filter = options.filter();
    let scores = scores(bench, &filter, reparsed_or_none(&options, bench).await?).await?;
    if scores.is_empty() {
        print_other_selections(bench).await?;
    }
    let missing = without_scores(&filter, &scores);
    if !missing.is_empty() {
        let missing = missing.join(", ");
        eprintln!("note: no scores of {missing}: without --models, the report shows every model that was judged");
    }
    let rows = || {
        scores
            .iter()
            .flat_map(|scores| ScoreRow::all(bench.suite, bench.data, bench.sample, scores))
            .collect::<Vec<_>>()
    };
    print(&match form {
        OutputLayout::Json => format!("{}\n", serde_json::to_string_pretty(&rows())?),
        OutputLayout::Csv => lines_of_csv(&rows())?,
        _ => {
            text(bench.suite, &scores, language)
                + &omitted_judges_note(bench, &filter).await?
                + &mixed(bench, &filter).await?
        }
    })
}

/// Names the variants and rounds with judgements, with the flags that show them.
async fn print_other_selections(bench: RunContext<'_>) -> CommandResult<()> {
    let AnswerRound { suite, version, sample } = bench.set();
    let groups = bench.store.judged(&suite, &version).await?;
    let ways: BTreeSet<(&str, u32)> = groups.iter().map(|group| (group.variant.as_str(), group.sample)).collect();
    for (variant, round) in ways.into_iter().filter(|way| *way != (bench.suite.variant(), sample)) {
        let flags = printable(&run_selector_flags(variant, round));
        eprintln!("note: there are judgements of another variant: `langya bench report {suite}{flags}` shows them");
    }
    Ok(())
}

/// Returns the flags that select a variant and a round, each with a space before it. A prompt file is known by its hash only.
fn run_selector_flags(variant: &str, round: u32) -> String {
    let selector = RunSelector { variant: variant.to_owned(), ..RunSelector::default() };
    let SuiteOptions { ablation, compat, references, .. } = selector.options();
    let prompt = split_references(variant).0.split(", ").find_map(|part| part.strip_prefix("prompt "));
    let mut flags: Vec<String> = ablation.iter().map(|name| format!(" --ablation {name}")).collect();
    flags.extend(prompt.map(|sha256| format!(" --prompt FILE_WITH_SHA256_{sha256}")));
    flags.extend(compat.iter().map(|switch| format!(" --compat {switch}")));
    flags.extend(references.iter().map(|model| format!(" --references {model}")));
    flags.extend((round != 1).then(|| format!(" --round {round}")));
    flags.concat()
}

/// Returns requested models without scores; a baseline of comparisons has none of its own.
fn without_scores<'f>(filter: &'f JudgementFilter, scores: &[ModelScores]) -> Vec<&'f str> {
    let is_shown = |model: &str| scores.iter().any(|scores| scores.model == model || scores.baseline == model);
    filter.models.iter().map(String::as_str).filter(|model| !is_shown(model)).collect()
}

/// Describes the judges omitted from the table.
async fn omitted_judges_note(bench: RunContext<'_>, filter: &JudgementFilter) -> CommandResult<String> {
    let AnswerRound { suite, version, sample } = bench.set();
    let groups = bench.store.judged(&suite, &version).await?;
    let shown = |group: &&JudgedGroup| {
        group.sample == sample
            && group.variant == bench.suite.variant()
            && (filter.judges.is_empty() || filter.judges.contains(&group.judge))
    };
    let (spoke, all): (Vec<&JudgedGroup>, Vec<&JudgedGroup>) =
        groups.iter().filter(shown).partition(|group| group.status == Status::Ok);
    let spoke: BTreeSet<&str> = spoke.into_iter().map(|group| group.judge.as_str()).collect();
    let mut silent: Vec<&str> = all.into_iter().map(|group| group.judge.as_str()).collect();
    silent.retain(|judge| !spoke.is_empty() && !spoke.contains(judge));
    silent.sort_unstable();
    silent.dedup();
    Ok(match silent.is_empty() {
        true => String::new(),
        false => format!("left out, because none of their replies contains a verdict: {}\n", silent.join(", ")),
    })
}

/// Describes models and judges of the table that were queried with several settings.
async fn mixed(bench: RunContext<'_>, filter: &JudgementFilter) -> CommandResult<String> {
    let is_shown = |id: &String| match (filter.models.as_slice(), filter.judges.as_slice()) {
        ([], _) | (_, []) => true,
        (models, judges) => models.contains(id) || judges.contains(id),
    };
    let mixed = mixed_settings(bench.store, &bench.set()).await?;
    let shown = mixed.iter().filter(|mixed| is_shown(&mixed.participant));
    let line = |mixed: &MixedSettings| {
        let mixed = printable(&mixed.to_string());
        format!("asked with several settings, so the scores mix replies of different models: {mixed}\n")
    };
    Ok(shown.map(line).collect())
}

/// Formats one line per model and judge: total, groups and categories; all parts are in the other formats.
fn text(suite: &dyn Suite, scores: &[ModelScores], language: Language) -> String {
    let Some(first) = scores.first() else { return "no judgements yet\n".to_owned() };
    let parts: Vec<&Score> = first.scores.0.iter().filter(|score| is_shown(score)).collect();
    let head = |score: &&Score| match score.part.kind {
        PartKind::Category => named(suite.category_title(&score.part.name), language).to_owned(),
        _ => score.part.key(),
    };
    let keys: Vec<String> = parts.iter().map(head).collect();
    let heads: Vec<&str> = ["model", "judge", "judged"].into_iter().chain(keys.iter().map(String::as_str)).collect();
    let line = |scores: &ModelScores| {
        let judge = if scores.judge.is_empty() { "-" } else { &scores.judge };
        let mark = if scores.judge_is_evaluated { " (evaluated too)" } else { "" };
        let coverage = scores.scores.0.first().map(|score| score.coverage).unwrap_or_default();
        let cells = parts.iter().map(|part| scores.scores.of(&part.part).map_or_else(|| "-".to_owned(), cell));
        [scores.model.clone(), format!("{judge}{mark}"), format!("{}/{}", coverage.ok, coverage.total)]
            .into_iter()
            .chain(cells)
            .collect::<Vec<String>>()
    };
    let baselines: BTreeSet<&str> = scores.iter().map(|scores| scores.baseline.as_str()).collect();
    let compared = baselines.into_iter().filter(|baseline| !baseline.is_empty()).map(|baseline| {
        let empty = std::iter::repeat_n("-".to_owned(), parts.len() + 1);
        [baseline.to_owned(), "(baseline)".to_owned()].into_iter().chain(empty).collect()
    });
    let mut text = table(&heads, scores.iter().map(line).chain(compared).collect());
    let mut shown = scores.iter().flat_map(|scores| parts.iter().filter_map(|part| scores.scores.of(&part.part)));
    if shown.any(is_starred) {
        text.push_str("* less than 95 % of it could be judged\n");
    }
    text
}

fn is_shown(score: &Score) -> bool {
    matches!(score.part.kind, PartKind::Overall | PartKind::Group | PartKind::Category) && score.part.within.is_none()
}

/// Whether a score is starred as incomplete: some judgements are missing.
fn is_starred(score: &Score) -> bool {
    score.value.is_some() && score.coverage.is_low()
}

fn cell(score: &Score) -> String {
    let flag = if is_starred(score) { "*" } else { "" };
    score.value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}{flag}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::domain::benchmark::scores::score::{Coverage, Part, Scores};
    use crate::domain::benchmark::suite;

    fn scores(overall: u64, turn: u64) -> ModelScores {
        let score = |part, ok| {
            let coverage = Coverage { ok, total: 100 };
            Score { part, value: Some(7.0), std_dev: None, coverage, samples: Vec::new() }
        };
        ModelScores {
            model: "m".to_owned(),
            judge: "j".to_owned(),
            judges: vec!["j".to_owned()],
            baseline: String::new(),
            judge_is_evaluated: false,
            statuses: BTreeMap::new(),
            judged_at: 0,
            scores: Scores(vec![score(Part::overall(), overall), score(Part::new(PartKind::Turn, "1"), turn)]),
        }
    }

    #[test]
    fn a_model_that_was_asked_for_and_has_no_scores_is_named() {
        let filter = |models: &[&str]| JudgementFilter {
            models: models.iter().map(|model| (*model).to_owned()).collect(),
            judges: Vec::new(),
        };
        let scores = [ModelScores { baseline: "base".to_owned(), ..scores(90, 100) }];
        assert_eq!(without_scores(&filter(&["m", "mistral", "base"]), &scores), ["mistral"]);
        assert!(without_scores(&filter(&[]), &scores).is_empty());
    }

    #[test]
    fn a_variant_is_shown_by_its_flags() {
        assert_eq!(run_selector_flags("", 2), " --round 2");
        let compared = run_selector_flags("rules, prompt 0123456789ab, urs.chinese_prompt, references=a, b", 1);
        let prompt = " --ablation rules --prompt FILE_WITH_SHA256_0123456789ab";
        assert_eq!(compared, format!("{prompt} --compat urs.chinese_prompt --references a, b"));
    }

    #[test]
    fn a_star_is_explained_where_one_is_shown() {
        let suite = suite("mtbench101", &SuiteOptions::default()).unwrap();
        let text = |scores: ModelScores| text(suite.as_ref(), &[scores], Language::English);
        let starred = text(scores(90, 100));
        assert!(
            starred.contains("7.00*") && starred.ends_with("* less than 95 % of it could be judged\n"),
            "{starred}"
        );
        let plain = text(scores(100, 90));
        assert!(plain.contains("7.00") && !plain.contains('*'), "{plain}");
    }
}
