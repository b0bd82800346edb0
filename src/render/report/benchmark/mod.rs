//! Reports of a suite's results with tables and charts, for the page, the files and the JSON.
//!
//! [`suite_tables`] lays out a suite's tables in its paper's order; [`charts`] draws; [`findings`] analyses the judges;
//! [`suite_results`] holds the input of one suite's reports; [`i18n`](crate::i18n) holds the texts; [`markdown`], [`html`] and [`csv`]
//! write the report. Reports do not depend on the time of day or on chance, so the same judgements give the same bytes.

mod analysis_rows;
pub mod charts;
pub mod csv;
pub mod findings;
pub mod html;
mod item_findings;
pub mod markdown;
mod run_rows;
pub mod suite_results;
pub mod suite_tables;
mod table;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::benchmark::item::Item;
use crate::domain::benchmark::published::{self, SubjectKind};
use crate::domain::benchmark::runs::mixed_settings::MixedSettings;
use crate::domain::benchmark::runs::run_manifest::ReportedRun;
use crate::domain::benchmark::scores::panel_scores::{JudgementsByBaseline, ModelScores};
use crate::domain::benchmark::scores::score::{Coverage, Part, Scores};
use crate::domain::benchmark::{JudgeMode, Scale, Suite};
use crate::domain::judging::verdict::Verdict;
use crate::domain::language::Language;
use crate::i18n::reports::{ReportTexts, report_texts};
use findings::Findings;
pub use table::{Analysis, Datum, ReportCell, ReportColumn, ReportHead, ReportRow, ReportTable};

/// The scores of one model by one judge.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreEntry {
    /// The model.
    pub model: String,
    /// The judge, or a panel; empty where none is needed.
    pub judge: String,
    /// Ids of the judges: several for a panel.
    pub judges: Vec<String>,
    /// The baseline; empty if there was none.
    pub baseline: String,
    /// Whether the judge, or one of the panel, is also evaluated.
    pub judge_is_evaluated: bool,
    /// Time of the latest judgement, in milliseconds since 1970.
    pub judged_at: i64,
    /// The scores.
    pub scores: Scores,
    /// All single scores, for their distribution.
    pub ratings: Vec<f64>,
}

impl ScoreEntry {
    /// Computes scores and ratings by judge and model; a panel has the ratings of all of its judges.
    #[must_use]
    pub fn all(
        suite: &dyn Suite,
        items: &[Item],
        judgements: &JudgementsByBaseline,
        evaluated_models: &BTreeSet<String>,
    ) -> Vec<Self> {
        let ratings = ratings(judgements);
        let given = |judge: &str, scores: &ModelScores| {
            let key = (judge, scores.baseline.as_str(), scores.model.as_str());
            ratings.get(&key).cloned().unwrap_or_default()
        };
        let entry = |scores: ModelScores| {
            let ratings = scores.judges.iter().flat_map(|judge| given(judge, &scores)).collect();
            let ModelScores { model, judge, judges, baseline, judge_is_evaluated, judged_at, scores, .. } = scores;
            Self { model, judge, judges, baseline, judge_is_evaluated, judged_at, scores, ratings }
        };
        ModelScores::all(suite, items, judgements, evaluated_models).into_iter().map(entry).collect()
    }
}

/// All ratings by judge, baseline and model.
fn ratings(judgements: &JudgementsByBaseline) -> BTreeMap<(&str, &str, &str), Vec<f64>> {
    let mut ratings: BTreeMap<(&str, &str, &str), Vec<f64>> = BTreeMap::new();
    for (baseline, judgements) in judgements {
        for said in judgements {
            if let Some(Verdict::Rating(rating)) = &said.parsed {
                ratings.entry((&said.judge_model, baseline, &said.model)).or_default().push(rating.score);
            }
        }
    }
    ratings
}

/// Score from a publication.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedScore {
    /// The series that it belongs to.
    pub series: String,
    /// Source of the score.
    pub source: String,
    /// Key of the part of the suite ([`Part::key`]); empty for the whole.
    pub part: String,
    /// The model, as named by the series.
    pub model: String,
    /// The score.
    pub score: f64,
}

impl PublishedScore {
    /// Scores of models from the suite's papers.
    pub fn printed(suite: &str) -> impl Iterator<Item = Self> {
        let series = published::of_suite(suite).filter(|series| series.of == SubjectKind::Model);
        series.flat_map(|series| {
            let note = series.note.as_ref().map_or_else(String::new, |note| format!(". {note}"));
            series.points.iter().map(move |point| Self {
                series: series.title.clone(),
                source: format!("{}{note}", series.source),
                part: point.part.clone(),
                model: point.subject.clone(),
                score: point.value,
            })
        })
    }
}

/// Input of a report.
#[derive(Clone, Copy)]
pub struct ReportInput<'m> {
    /// The suite, with the options of its judgements.
    pub suite: &'m dyn Suite,
    /// Options that differ from the suite's defaults.
    pub variant: &'m str,
    /// SHA-256 of the data file.
    pub version: &'m str,
    /// The file's name.
    pub source: &'m str,
    /// Number of its items.
    pub items: u64,
    /// Round of answers.
    pub sample: u32,
    /// The scores of every model by every judge; a panel comes after its judges.
    pub entries: &'m [ScoreEntry],
    /// Published scores of the suite.
    pub published: &'m [PublishedScore],
    /// Runs with this data file, options and round, the latest first.
    pub runs: &'m [ReportedRun],
    /// Findings about the judges.
    pub findings: &'m Findings,
    /// Judges without a verdict.
    pub silent_judges: &'m [String],
    /// Models and judges with scores from several settings.
    pub mixed_settings: &'m [MixedSettings],
    /// Model that the others are compared with on the same items; the best one by default.
    pub compare_with: Option<&'m str>,
}

/// Report of a suite's results by one judge.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// The suite's name.
    pub suite: String,
    /// Its title.
    pub title: String,
    /// SHA-256 of its data file.
    pub version: String,
    /// The file's name.
    pub source: String,
    /// Number of its items.
    pub items: u64,
    /// Options that differ from the suite's defaults; empty for the defaults.
    pub variant: String,
    /// Round of answers, from 1.
    pub sample: u32,
    /// Maximum score: 10 or 100.
    pub most: f64,
    /// The judge; empty if none is needed, or if there are no judgements yet.
    pub judge: String,
    /// Whether the suite has judgements of judges.
    #[serde(skip)]
    pub needs_judge: bool,
    /// Available judges.
    pub judges: Vec<String>,
    /// Those of them that are panels.
    #[serde(skip)]
    panels: Vec<String>,
    /// Whether the judge is also evaluated.
    pub judge_is_evaluated: bool,
    /// Time of the latest judgement, in milliseconds since 1970.
    pub judged_at: Option<i64>,
    /// Share of valid judgements.
    pub coverage: Coverage,
    /// Notes for the reader.
    pub notes: Vec<String>,
    /// The scores.
    pub tables: Vec<ReportTable>,
    /// Published scores, in the same layout.
    pub published: Vec<ReportTable>,
    /// Models that the others can be compared with on the same items.
    pub models: Vec<String>,
    /// Model that they are compared with; `None` for the best one by each judge.
    pub compared_with: Option<String>,
    /// Findings about the judges, and the runs.
    pub analyses: Vec<Analysis>,
    /// Latest runs of the judgements, with their provenance; imported judgements have none.
    pub runs: Vec<ReportedRun>,
    /// The charts.
    #[serde(skip)]
    pub charts: Vec<Chart>,
}

/// Chart of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chart {
    /// Accessible label of the frame around the chart.
    pub label: String,
    /// SVG of the chart.
    pub svg: String,
    /// Whether it is collapsed by default, as one of many.
    pub folded: bool,
}

impl Report {
    /// Builds the report of a judge; by default of the panel, or without one of the judge with the highest coverage.
    #[must_use]
    pub fn new(material: ReportInput<'_>, judge: Option<&str>, language: Language) -> Self {
        let words = report_texts(language);
        let judges = judges(material.entries);
        let panels = judges.iter().filter(|judge| is_panel(judge, material.entries)).cloned().collect();
        let judge = judge.map_or_else(|| default_judge(material.entries, &judges).unwrap_or_default(), str::to_owned);
        let entries = best_first(material.entries.iter().filter(|entry| entry.judge == judge).collect());
        let judge_is_evaluated = entries.iter().any(|entry| entry.judge_is_evaluated);
        let coverage = entries.iter().filter_map(|entry| Some(entry.scores.of(&Part::overall())?.coverage)).sum();
        let tables = suite_tables::tables(material.suite, &entries, language);
        let mut charts = charts::draw(material.suite, &entries, &tables, language);
        charts.extend(charts::grid(material.findings.grid(), language));
        let mut analyses = material.findings.analyses(material.compare_with, language);
        analyses.extend(run_rows::runs(material.runs, language));
        Self {
            suite: material.suite.name().to_owned(),
            title: material.suite.title().to_owned(),
            version: material.version.to_owned(),
            source: material.source.to_owned(),
            items: material.items,
            variant: material.variant.to_owned(),
            sample: material.sample,
            most: most(material.suite),
            notes: notes(&material, &judge, judge_is_evaluated, coverage, words),
            judged_at: entries.iter().map(|entry| entry.judged_at).max(),
            judge,
            needs_judge: material.suite.mode() != JudgeMode::MultipleChoice,
            judges,
            panels,
            judge_is_evaluated,
            coverage,
            published: suite_tables::published(material.suite, material.published, language),
            models: material.findings.models().into_iter().map(str::to_owned).collect(),
            compared_with: material.compare_with.map(str::to_owned),
            analyses,
            runs: material.runs.to_vec(),
            charts,
            tables,
        }
    }

    /// Whether a judge of the report is a panel of several.
    #[must_use]
    pub fn is_panel(&self, judge: &str) -> bool {
        self.panels.iter().any(|panel| panel == judge)
    }

    /// Columns of all tables with abbreviated names, each once.
    #[must_use]
    pub fn abbreviations(&self) -> Vec<&ReportColumn> {
        let mut found: Vec<&ReportColumn> = Vec::new();
        let columns = self.tables.iter().chain(&self.published).flat_map(|table| &table.columns);
        for column in columns.filter(|column| column.is_abbreviated()) {
            if !found.iter().any(|known| known.label == column.label) {
                found.push(column);
            }
        }
        found
    }

    /// UTC date of the latest judgement.
    #[must_use]
    pub fn day(&self) -> Option<String> {
        let moment = jiff::Timestamp::from_millisecond(self.judged_at?).ok()?;
        Some(moment.strftime("%Y-%m-%d").to_string())
    }
}

/// Maximum score of a suite.
pub(super) fn most(suite: &dyn Suite) -> f64 {
    match suite.scale() {
        Scale::OneToTen => 10.0,
        Scale::Percent => 100.0,
    }
}

/// Distinct judges in order of appearance.
fn judges(entries: &[ScoreEntry]) -> Vec<String> {
    let mut judges: Vec<String> = Vec::new();
    for entry in entries {
        if !judges.contains(&entry.judge) {
            judges.push(entry.judge.clone());
        }
    }
    judges
}

/// Whether a judge is a panel of several. The names do not tell: that of a single judge may contain `+`.
fn is_panel(judge: &str, entries: &[ScoreEntry]) -> bool {
    entries.iter().any(|entry| entry.judge == judge && entry.judges.len() > 1)
}

/// The judge whose scores are shown unless another is asked for: a panel, or else the judge with the highest coverage, the latest on a
/// tie. So a judge that was tried on a few items does not replace the scores of all.
fn default_judge(entries: &[ScoreEntry], judges: &[String]) -> Option<String> {
    let rank = |judge: &&String| {
        let own: Vec<&ScoreEntry> = entries.iter().filter(|entry| entry.judge == **judge).collect();
        let overall = own.iter().filter_map(|entry| entry.scores.of(&Part::overall()));
        let covered: u64 = overall.map(|score| score.coverage.ok).sum();
        (is_panel(judge, entries), covered, own.iter().map(|entry| entry.judged_at).max())
    };
    judges.iter().max_by_key(rank).cloned()
}

/// Names those of a judge or panel that are evaluated too.
fn evaluated_judges(judge: &str, entries: &[ScoreEntry]) -> String {
    let judges = entries.iter().find(|entry| entry.judge == judge).map(|entry| entry.judges.as_slice());
    let is_evaluated = |one: &&String| entries.iter().any(|entry| entry.model == **one || entry.baseline == **one);
    let evaluated: Vec<&str> = judges.unwrap_or_default().iter().filter(is_evaluated).map(String::as_str).collect();
    // A model that is not shown here may be evaluated as well.
    if evaluated.is_empty() { judge.to_owned() } else { evaluated.join("+") }
}

fn overall(entry: &ScoreEntry) -> f64 {
    entry.scores.of(&Part::overall()).and_then(|score| score.value).unwrap_or(f64::NEG_INFINITY)
}

/// Sorts by overall score, then by name.
fn best_first(mut entries: Vec<&ScoreEntry>) -> Vec<&ScoreEntry> {
    let name = |entry: &ScoreEntry| (entry.model.clone(), entry.baseline.clone());
    entries.sort_by(|one, other| overall(other).total_cmp(&overall(one)).then_with(|| name(one).cmp(&name(other))));
    entries
}

fn notes(
    material: &ReportInput<'_>,
    judge: &str,
    judge_is_evaluated: bool,
    coverage: Coverage,
    words: &ReportTexts,
) -> Vec<String> {
    let mut notes = Vec::new();
    if judge_is_evaluated {
        notes.push(words.judge_is_evaluated.replace("{judge}", &evaluated_judges(judge, material.entries)));
    }
    if is_panel(judge, material.entries) {
        notes.push(words.panel.replace("{judge}", judge));
    }
    if !material.silent_judges.is_empty() {
        notes.push(words.silent_judges.replace("{judges}", &material.silent_judges.join(", ")));
    }
    for mixed in material.mixed_settings {
        let settings = mixed.settings.join("; ");
        let named = words.mixed_settings.replace("{id}", &mixed.participant);
        notes.push(named.replace("{n}", &mixed.settings.len().to_string()).replace("{settings}", &settings));
    }
    if coverage.is_low() {
        notes.push(words.low_coverage.replace("{share}", &format!("{:.1}", 100.0 * coverage.share())));
    }
    notes
}

#[cfg(test)]
mod tests;
