//! A suite's results as tables and charts: one report for the page, the files and the JSON.
//!
//! [`suite_tables`] knows which columns a suite's tables have, in its paper's order; [`charts`] draws; [`findings`] look at the
//! judges; [`suite_results`] holds all that reports of one suite are made of; [`i18n`](crate::i18n) holds the texts; [`markdown`], [`html`] and [`csv`] write the report down.
//! Nothing here depends on the time of day or on chance, so the same judgements make the same bytes.

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
use crate::domain::benchmark::mixed_settings::MixedSettings;
use crate::domain::benchmark::panel_scores::{JudgementsByBaseline, ModelScores, judge_names};
use crate::domain::benchmark::published::{self, SubjectKind};
use crate::domain::benchmark::run_manifest::ReportedRun;
use crate::domain::benchmark::score::{Coverage, Part, Scores};
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
    /// The baseline; empty if there was none.
    pub baseline: String,
    /// Whether the judge, or one of the panel, is judged too.
    pub judge_is_evaluated: bool,
    /// The latest judgement, in milliseconds since 1970.
    pub judged_at: i64,
    /// The scores.
    pub scores: Scores,
    /// Every score that was given, as a distribution.
    pub ratings: Vec<f64>,
}

impl ScoreEntry {
    /// Scores and ratings by judge and model; a panel has the ratings of all of its judges.
    #[must_use]
    pub fn all(
        suite: &dyn Suite,
        items: &[Item],
        judgements: &JudgementsByBaseline,
        evaluated_models: &BTreeSet<String>,
    ) -> Vec<Self> {
        let ratings = ratings(judgements);
        let judges = judge_names(judgements.values().flatten());
        let given = |judge: &str, scores: &ModelScores| {
            let key = (judge, scores.baseline.as_str(), scores.model.as_str());
            ratings.get(&key).cloned().unwrap_or_default()
        };
        let entry = |scores: ModelScores| {
            let ratings = match judges.contains(scores.judge.as_str()) {
                true => given(&scores.judge, &scores),
                false => judges.iter().flat_map(|judge| given(judge, &scores)).collect(),
            };
            let ModelScores { model, judge, baseline, judge_is_evaluated, judged_at, scores, .. } = scores;
            Self { model, judge, baseline, judge_is_evaluated, judged_at, scores, ratings }
        };
        ModelScores::all(suite, items, judgements, evaluated_models).into_iter().map(entry).collect()
    }
}

/// Every rating that was given, by judge, baseline and model.
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

/// A score that somebody published.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedScore {
    /// The series that it belongs to.
    pub series: String,
    /// Where it can be read.
    pub source: String,
    /// The part of the suite, as [`Part::key`] writes it; empty for the whole.
    pub part: String,
    /// The model, under the series' own name.
    pub model: String,
    /// The score.
    pub score: f64,
}

impl PublishedScore {
    /// The papers' scores of models.
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

/// What a report is made of.
#[derive(Clone, Copy)]
pub struct ReportInput<'m> {
    /// The suite, with the options that it was judged with.
    pub suite: &'m dyn Suite,
    /// What differs from the plain suite.
    pub variant: &'m str,
    /// SHA-256 of the data file.
    pub version: &'m str,
    /// The file's name.
    pub source: &'m str,
    /// Its items.
    pub items: u64,
    /// Which round of answers.
    pub sample: u32,
    /// The scores of every model by every judge; a panel stands behind its judges.
    pub entries: &'m [ScoreEntry],
    /// What others published of the suite.
    pub published: &'m [PublishedScore],
    /// The runs over these data in this way and round, the latest first.
    pub runs: &'m [ReportedRun],
    /// What was found out about the judges.
    pub findings: &'m Findings,
    /// Judges that gave no verdict.
    pub silent_judges: &'m [String],
    /// Models and judges whose scores are of several settings.
    pub mixed_settings: &'m [MixedSettings],
    /// The model that the others are compared with on the same items; the best one where none is named.
    pub compare_with: Option<&'m str>,
}

/// Everything that is shown of a suite, by one judge.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// The suite's name.
    pub suite: String,
    /// Its name for people.
    pub title: String,
    /// SHA-256 of its data file.
    pub version: String,
    /// The file's name.
    pub source: String,
    /// Its items.
    pub items: u64,
    /// What differs from the plain suite; empty for the plain one.
    pub variant: String,
    /// Which round of answers, from 1.
    pub sample: u32,
    /// Most that can be reached: 10 or 100.
    pub most: f64,
    /// The judge; empty if none is needed, or if there are no judgements yet.
    pub judge: String,
    /// Whether the suite has judgements of judges.
    #[serde(skip)]
    pub needs_judge: bool,
    /// The judges to choose from.
    pub judges: Vec<String>,
    /// Whether the judge is judged too.
    pub judge_is_evaluated: bool,
    /// The latest judgement, in milliseconds since 1970.
    pub judged_at: Option<i64>,
    /// What of everything could be judged.
    pub coverage: Coverage,
    /// What a reader must know.
    pub notes: Vec<String>,
    /// The scores.
    pub tables: Vec<ReportTable>,
    /// What others published, in the same layout.
    pub published: Vec<ReportTable>,
    /// The models that the others can be compared with on the same items.
    pub models: Vec<String>,
    /// The one that they are compared with; null for the best one by each judge.
    pub compared_with: Option<String>,
    /// What was found out about the judges, and the runs.
    pub analyses: Vec<Analysis>,
    /// The latest runs that the judgements come from, with what each was made of; imported judgements come from none.
    pub runs: Vec<ReportedRun>,
    /// The charts.
    #[serde(skip)]
    pub charts: Vec<Chart>,
}

/// A chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chart {
    /// What the frame around it is called.
    pub label: String,
    /// The chart itself.
    pub svg: String,
    /// Whether it is one of many, which are shown when asked for.
    pub folded: bool,
}

impl Report {
    /// The report of a judge, or of the panel where none is named and there is one.
    #[must_use]
    pub fn new(material: ReportInput<'_>, judge: Option<&str>, language: Language) -> Self {
        let words = report_texts(language);
        let judges = judges(material.entries);
        let judge = judge.map_or_else(|| judges.last().cloned().unwrap_or_default(), str::to_owned);
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

    /// The columns of all tables whose short names are abbreviations, each once.
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

    /// The day of the latest judgement, in UTC.
    #[must_use]
    pub fn day(&self) -> Option<String> {
        let moment = jiff::Timestamp::from_millisecond(self.judged_at?).ok()?;
        Some(moment.strftime("%Y-%m-%d").to_string())
    }
}

/// Most that can be reached in a suite.
pub(super) fn most(suite: &dyn Suite) -> f64 {
    match suite.scale() {
        Scale::OneToTen => 10.0,
        Scale::Percent => 100.0,
    }
}

/// The judges in the order in which they come.
fn judges(entries: &[ScoreEntry]) -> Vec<String> {
    let mut judges: Vec<String> = Vec::new();
    for entry in entries {
        if !judges.contains(&entry.judge) {
            judges.push(entry.judge.clone());
        }
    }
    judges
}

fn overall(entry: &ScoreEntry) -> f64 {
    entry.scores.of(&Part::overall()).and_then(|score| score.value).unwrap_or(f64::NEG_INFINITY)
}

/// By the score of the whole, then by name.
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
        notes.push(words.judge_is_evaluated.replace("{judge}", judge));
    }
    let alone: Vec<String> = judges(material.entries).into_iter().filter(|known| known != judge).collect();
    if judge.contains('+') && judge.split('+').all(|one| alone.iter().any(|known| known == one)) {
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
