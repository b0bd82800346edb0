//! Charts of a campaign's report, each with the table of its numbers.

use super::{DocumentChart, DocumentPart};
use crate::chart::heatmap::{self, HeatValues, HeatmapData};
use crate::chart::violin::{self, ViolinSample};
use crate::chart::{self, ChartSeries, Frame, Setting, Topic, forest, matrix};
use crate::domain::campaign::report::CampaignReport;
use crate::domain::language::Language;
use crate::domain::rating::options::IntervalMethod;
use crate::domain::stats::confidence::ConfidenceLevel;
use crate::i18n::campaign_report::campaign_report_texts;

/// Maximum number of models in a chart with a cell for each pair.
const MAX_GRID_MODELS: usize = 60;

/// Adds the chart of ratings with their intervals.
pub(super) fn with_ratings(
    part: DocumentPart,
    report: &CampaignReport,
    level: ConfidenceLevel,
    language: Language,
) -> DocumentPart {
    let draw = || forest::draw(&report.models, IntervalMethod::Auto, level.share(), frame(language));
    with(part, (!report.models.is_empty()).then(draw))
}

/// Adds the distributions of the mean scores of items.
pub(super) fn with_scores(
    part: DocumentPart,
    report: &CampaignReport,
    scale: [u8; 2],
    language: Language,
) -> DocumentPart {
    let sample = |model: &crate::domain::campaign::report::ScoredModel| ViolinSample {
        name: model.model.clone(),
        scores: model.item_means.clone(),
    };
    let topic = Topic { key: "campaign-scores", title: campaign_report_texts(language).distribution };
    let [lowest, highest] = scale.map(f64::from);
    let samples: Vec<ViolinSample> = report.scores.iter().map(sample).collect();
    let draw = || violin::draw(topic, &samples, &(lowest..=highest), frame(language));
    with(part, (!samples.is_empty()).then(draw))
}

/// Adds the heat map of pairwise win rates, in the order of the ratings.
pub(super) fn with_wins(part: DocumentPart, report: &CampaignReport, language: Language) -> DocumentPart {
    let names: Vec<String> = report.models.iter().take(MAX_GRID_MODELS).map(|model| model.model.clone()).collect();
    let place = |model: &str| names.iter().position(|name| name == model);
    let mut shares = vec![vec![None; names.len()]; names.len()];
    for pair in &report.pairs {
        if let (Some(one), Some(other)) = (place(&pair.model_a), place(&pair.model_b)) {
            shares[one][other] = Some(pair.share_a());
            shares[other][one] = Some(1.0 - pair.share_a());
        }
    }
    let draw = || heatmap::draw(HeatValues::Wins, HeatmapData { names: &names, values: &shares }, frame(language));
    with(part, (names.len() > 2).then(draw))
}

/// Adds the matrix of pairwise kappas of annotators.
pub(super) fn with_kappas(part: DocumentPart, report: &CampaignReport, language: Language) -> DocumentPart {
    let names: Vec<String> = report.annotators.iter().map(|summary| summary.annotator.clone()).collect();
    let kappa = |one: &String, other: &String| {
        let pairs = &mut report.annotator_pairs.iter();
        pairs.find(|pair| [&pair.one, &pair.other] == [one.min(other), one.max(other)])?.kappa
    };
    let row =
        |one: &String| ChartSeries { name: one.clone(), values: names.iter().map(|other| kappa(one, other)).collect() };
    let rows: Vec<ChartSeries> = names.iter().map(row).collect();
    let topic = Topic { key: "campaign-kappas", title: campaign_report_texts(language).annotator_pairs };
    let any = rows.iter().flat_map(|row| &row.values).any(Option::is_some);
    with(part, (any && names.len() > 2).then(|| matrix::draw(topic, &names, &rows, frame(language))))
}

fn with(mut part: DocumentPart, svg: Option<String>) -> DocumentPart {
    let chart = |svg: String| DocumentChart { label: chart::title(&svg).to_owned(), svg };
    part.charts.extend(svg.map(chart));
    part
}

fn frame(language: Language) -> Frame {
    Frame { language, setting: Setting::Page }
}
