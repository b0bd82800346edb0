//! Charts of a suite's scores.

use super::suite_tables::column;
use super::{Chart, ReportTable, ScoreEntry, most};
use crate::chart::{self, ChartSeries, Frame, Setting, Topic, matrix, radar, scores_by_turn, violin};
use crate::domain::benchmark::analysis::self_preference_matrix::SelfPreferenceMatrix;
use crate::domain::benchmark::scores::score::{Part, PartKind};
use crate::domain::benchmark::{JudgeMode, Suite};
use crate::domain::judging::verdict::SCORE_RANGE;
use crate::domain::language::Language;
use crate::i18n::findings::finding_texts;
use crate::i18n::reports::{ReportTexts, named, report_texts};

/// Maximum number of models in a chart with one row each.
const MAX_CHART_ROWS: usize = 40;

/// Draws the charts that the scores allow, for entries in their order, with the categories that have a column in the tables.
pub(super) fn draw(
    suite: &dyn Suite,
    entries: &[&ScoreEntry],
    tables: &[ReportTable],
    language: Language,
) -> Vec<Chart> {
    if entries.is_empty() {
        return Vec::new();
    }
    let drawing = Drawing { suite, entries, language, words: report_texts(language) };
    let mut categories = drawing.parts(PartKind::Category);
    let has_column = |part: &Part| {
        let columns = tables.iter().flat_map(|table| &table.columns);
        columns.map(|column| &column.part).any(|column| *column == part.key())
    };
    categories.retain(has_column);
    let mut charts: Vec<String> = Vec::new();
    charts.extend(drawing.radar(&categories));
    charts.extend(drawing.matrix(&categories));
    charts.extend(drawing.violin());
    let open = charts.into_iter().map(Chart::open);
    let folded = drawing.curves(&categories).into_iter().map(Chart::folded);
    open.chain(folded).collect()
}

/// Draws the cross-validation: a row for each evaluator, a column for each generator of references. `None` if empty.
pub(super) fn grid(grid: &SelfPreferenceMatrix, language: Language) -> Option<Chart> {
    let (evaluators, generators) = (grid.evaluators(), grid.generators());
    let series = |evaluator: &&str| ChartSeries {
        name: (*evaluator).to_owned(),
        values: generators.iter().map(|generator| grid.mean(evaluator, generator).ok()).collect(),
    };
    let rows: Vec<ChartSeries> = evaluators.iter().map(series).collect();
    let columns: Vec<String> = generators.iter().map(|generator| (*generator).to_owned()).collect();
    let topic = Topic { key: "cross-validation", title: finding_texts(language).grid.title };
    let frame = Frame { language, setting: Setting::Page };
    (!rows.is_empty()).then(|| Chart::open(matrix::draw(topic, &columns, &rows, frame)))
}

impl Chart {
    fn open(svg: String) -> Self {
        Self { label: chart::title(&svg).to_owned(), svg, folded: false }
    }

    fn folded(svg: String) -> Self {
        Self { folded: true, ..Self::open(svg) }
    }
}

struct Drawing<'d> {
    suite: &'d dyn Suite,
    entries: &'d [&'d ScoreEntry],
    language: Language,
    words: &'static ReportTexts,
}

impl Drawing<'_> {
    fn frame(&self) -> Frame {
        Frame { language: self.language, setting: Setting::Page }
    }

    /// The parts of a kind, in the order of the scores.
    fn parts(&self, kind: PartKind) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        for score in self.entries.iter().flat_map(|entry| &entry.scores.0) {
            if score.part.kind == kind && score.part.within.is_none() && !parts.contains(&score.part) {
                parts.push(score.part.clone());
            }
        }
        parts
    }

    fn series(&self, parts: &[Part]) -> Vec<ChartSeries> {
        let value = |entry: &ScoreEntry, part: &Part| entry.scores.of(part).and_then(|score| score.value);
        let one = |entry: &&ScoreEntry| ChartSeries {
            name: self.name(entry),
            values: parts.iter().map(|part| value(entry, part)).collect(),
        };
        self.entries.iter().take(MAX_CHART_ROWS).map(one).collect()
    }

    fn name(&self, entry: &ScoreEntry) -> String {
        let against = || self.words.against_baseline(&entry.baseline);
        let several = self.entries.iter().filter(|other| other.model == entry.model).count() > 1;
        if several { format!("{} ({})", entry.model, against()) } else { entry.model.clone() }
    }

    fn names(&self, parts: &[Part]) -> Vec<String> {
        parts.iter().map(|part| column(self.suite, part, self.language).label).collect()
    }

    fn radar(&self, categories: &[Part]) -> Option<String> {
        let topic = Topic { key: "radar", title: self.words.radar };
        let most = most(self.suite);
        (categories.len() >= 3)
            .then(|| radar::draw(topic, &self.names(categories), &self.series(categories), most, self.frame()))
    }

    fn matrix(&self, categories: &[Part]) -> Option<String> {
        let topic = Topic { key: "matrix", title: self.words.matrix };
        (categories.len() >= 2)
            .then(|| matrix::draw(topic, &self.names(categories), &self.series(categories), self.frame()))
    }

    fn violin(&self) -> Option<String> {
        let sample =
            |entry: &&ScoreEntry| violin::ViolinSample { name: self.name(entry), scores: entry.ratings.clone() };
        let samples: Vec<_> = self.entries.iter().take(MAX_CHART_ROWS).map(sample).collect();
        let topic = Topic { key: "violin", title: self.words.distribution };
        let any = samples.iter().any(|sample| !sample.scores.is_empty());
        any.then(|| violin::draw(topic, &samples, &SCORE_RANGE, self.frame()))
    }

    /// Draws a chart for each category of dialogues that are scored by turn.
    fn curves(&self, categories: &[Part]) -> Vec<String> {
        if self.suite.mode() != JudgeMode::PointwiseTurn {
            return Vec::new();
        }
        categories.iter().filter_map(|category| self.curve(category)).collect()
    }

    fn curve(&self, category: &Part) -> Option<String> {
        let within = |part: &Part| part.kind == PartKind::Turn && part.within.as_deref() == Some(&category.name);
        let scores = self.entries.iter().flat_map(|entry| &entry.scores.0);
        let mut turns: Vec<u32> =
            scores.filter(|score| within(&score.part)).filter_map(|score| score.part.name.parse().ok()).collect();
        turns.sort_unstable();
        turns.dedup();
        let (first, last) = (*turns.first()?, *turns.last()?);
        let turn = |number: u32| Part::new(PartKind::Turn, number.to_string()).within(&category.name);
        let parts: Vec<Part> = (first..=last).map(turn).collect();
        let title = self.suite.category_title(&category.name);
        let key = format!("curve-{}", self.parts(PartKind::Category).iter().position(|part| part == category)?);
        let topic = Topic { key: &key, title: named(title, self.language) };
        (first < last).then(|| scores_by_turn::draw(topic, first, &self.series(&parts), self.frame()))
    }
}
