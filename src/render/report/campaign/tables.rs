//! Tables of a campaign's report.

use std::collections::BTreeSet;

use super::{DocumentColumn, DocumentPart, DocumentTable};
use crate::domain::battle_judging::agreement::Rate;
use crate::domain::campaign::plan::CampaignPlan;
use crate::domain::campaign::questions::{QuestionKind, Value};
use crate::domain::campaign::report::{
    AnnotatorFlag, AnnotatorSummary, AnswerCounts, CampaignReport, ItemInterval, JudgeAgreement, ModelPair,
    QuestionSummary, ScoredModel,
};
use crate::domain::campaign::rubric::CampaignRubric;
use crate::domain::language::Language;
use crate::domain::rating::intervals::sequential_testing::{NeighbourPair, NeighbourState};
use crate::domain::rating::leaderboards::leaderboard::RankedModel;
use crate::domain::rating::options::IntervalMethod;
use crate::i18n::campaign_report::CampaignReportTexts;
use crate::i18n::fill;

/// Table of the ratings of compared models.
pub(super) fn models(report: &CampaignReport, words: &CampaignReportTexts) -> DocumentPart {
    let columns = [
        number(words.rank),
        text(words.model),
        number(words.rating),
        number(words.interval),
        number(words.interval_by_item),
        number(words.judgements),
        number(words.won),
        number(words.lost),
        number(words.tied),
        number(words.both_bad),
    ];
    let (items, resamples) = (report.items.to_string(), report.resamples.to_string());
    let lead = fill(words.ratings_lead, &[("items", &items), ("resamples", &resamples)]);
    let by_item = |model: &RankedModel| report.item_intervals.iter().find(|found| found.model == model.model);
    let rows = report.models.iter().map(|model| model_cells(model, by_item(model)));
    part("ratings", [words.ratings, &lead], &columns, rows)
}

/// Formats a rating, or the limit of a model without one.
pub(super) fn rating_text(model: &RankedModel) -> String {
    match (model.rating, model.at_least, model.at_most) {
        (Some(rating), ..) => format!("{rating:.0}"),
        (_, Some(limit), _) => format!("≥ {limit:.0}"),
        (.., Some(limit)) => format!("≤ {limit:.0}"),
        _ => dash(),
    }
}

fn model_cells(model: &RankedModel, by_item: Option<&ItemInterval>) -> Vec<String> {
    let bound = |value: Option<f64>| value.map_or_else(dash, |value| format!("{value:.0}"));
    let between = |lower: Option<f64>, upper: Option<f64>| match lower.or(upper) {
        Some(_) => format!("{} … {}", bound(lower), bound(upper)),
        None => dash(),
    };
    let interval = between(model.lower, model.upper);
    let by_item = by_item.map_or_else(dash, |found| between(found.lower, found.upper));
    let [battles, wins, losses, ties, both_bad] =
        [model.battles, model.wins, model.losses, model.ties, model.both_bad].map(|count| count.to_string());
    vec![
        model.shown_rank(IntervalMethod::Auto).map_or_else(dash, |rank| rank.to_string()),
        model.model.clone(),
        rating_text(model),
        interval,
        by_item,
        battles,
        wins,
        losses,
        ties,
        both_bad,
    ]
}

/// Table of mean scores.
pub(super) fn scores(report: &CampaignReport, words: &CampaignReportTexts) -> DocumentPart {
    let columns =
        [text(words.model), number(words.score), number(words.interval), number(words.items), number(words.judgements)];
    let cells = |model: &ScoredModel| {
        vec![
            model.model.clone(),
            format!("{:.2}", model.score),
            interval(model.lower.zip(model.upper)),
            model.items.to_string(),
            model.judgements.to_string(),
        ]
    };
    part("scores", [words.scores, words.scores_lead], &columns, report.scores.iter().map(cells))
}

/// Table of compared pairs of models.
pub(super) fn pairs(report: &CampaignReport, words: &CampaignReportTexts) -> DocumentPart {
    let columns = [
        text(words.model_a),
        text(words.model_b),
        number(words.judgements),
        number(words.a_better),
        number(words.b_better),
        number(words.tied),
        number(words.both_bad),
    ];
    let cells = |pair: &ModelPair| {
        let counts = [pair.judgements, pair.a_wins, pair.b_wins, pair.ties, pair.both_bad];
        let names = [pair.model_a.clone(), pair.model_b.clone()];
        names.into_iter().chain(counts.map(|count| count.to_string())).collect()
    };
    part("pairs", [words.pairs, words.pairs_lead], &columns, report.pairs.iter().map(cells))
}

/// Table of differences between neighbouring models, by confidence sequences.
pub(super) fn neighbours(report: &CampaignReport, words: &CampaignReportTexts) -> DocumentPart {
    let columns =
        [text(words.upper), text(words.lower), number(words.difference), number(words.interval), text(words.known)];
    let bound = |value: Option<f64>| value.map_or_else(dash, |value| format!("{value:.0}"));
    let cells = |pair: &NeighbourPair| {
        let known = match pair.state {
            NeighbourState::Separated => words.separated,
            NeighbourState::Open => words.open,
            NeighbourState::Equal => words.equal_models,
        };
        let between = format!("{} … {}", bound(pair.low), bound(pair.high));
        vec![pair.upper.clone(), pair.lower.clone(), bound(pair.difference), between, known.to_owned()]
    };
    part("neighbours", [words.neighbours, words.neighbours_lead], &columns, report.neighbours.iter().map(cells))
}

/// Table of the agreement of all annotators.
pub(super) fn agreement(report: &CampaignReport, words: &CampaignReportTexts) -> DocumentPart {
    let columns = [text(words.measure), number(words.value), number(words.interval), number(words.shared_units)];
    let agreement = &report.agreement;
    let cells = |name: &str, value: Option<f64>, bounds: Option<[f64; 2]>| {
        let value = value.map(|value| format!("{value:.2}"))?;
        let bounds = interval(bounds.map(|[lower, upper]| (lower, upper)));
        Some(vec![name.to_owned(), value, bounds, agreement.units.to_string()])
    };
    let rows = [
        cells(words.fleiss, agreement.fleiss, agreement.fleiss_interval),
        cells(words.krippendorff, agreement.krippendorff, agreement.krippendorff_interval),
    ];
    part("agreement", [words.agreement, words.agreement_lead], &columns, rows.into_iter().flatten())
}

/// Table of a rubric's dimensions: agreement on each, and the mean of each model. Without rows if there are none.
pub(super) fn dimensions(
    report: &CampaignReport,
    plan: &CampaignPlan,
    words: &CampaignReportTexts,
    language: Language,
) -> DocumentPart {
    let ids: Vec<String> = plan.rubric.map_or_else(Vec::new, CampaignRubric::ids);
    let scored = report.questions.iter().filter(|question| question.judgements > 0 && ids.contains(&question.question));
    let models: BTreeSet<&str> = scored.clone().flat_map(|question| &question.models).map(|one| &*one.model).collect();
    let heads = [text(words.dimension), number(words.judgements), number(words.alpha), number(words.shared_units)];
    let columns: Vec<DocumentColumn> = heads.into_iter().chain(models.iter().map(|model| number(model))).collect();
    let mean = |question: &QuestionSummary, model: &str| {
        let found = question.models.iter().find(|scored| scored.model == model);
        found.map_or_else(dash, |scored| match scored.lower.zip(scored.upper) {
            Some(bounds) => format!("{:.2} ({})", scored.score, interval(Some(bounds))),
            None => format!("{:.2}", scored.score),
        })
    };
    let cells = |question: &QuestionSummary| {
        let alpha = question.krippendorff.map_or_else(dash, |alpha| format!("{alpha:.2}"));
        let name = question.text_in(language).to_owned();
        let facts = [name, question.judgements.to_string(), alpha, question.units.to_string()];
        facts.into_iter().chain(models.iter().map(|model| mean(question, model))).collect()
    };
    part("dimensions", [words.dimensions, words.dimensions_lead], &columns, scored.map(cells))
}

/// Sections of answers, one for each question.
pub(super) fn questions(report: &CampaignReport, words: &CampaignReportTexts, language: Language) -> Vec<DocumentPart> {
    let part = |(at, question)| question_part(at, question, words, language);
    report.questions.iter().enumerate().map(part).collect()
}

/// Section with a row for each model, or one for the item, and the counts of each value.
fn question_part(
    at: usize,
    question: &QuestionSummary,
    words: &CampaignReportTexts,
    language: Language,
) -> DocumentPart {
    let mean_of = |model: &Option<String>| match model {
        None => question.mean,
        Some(model) => question.models.iter().find(|scored| scored.model == *model).map(|scored| scored.score),
    };
    let row = |counts: &AnswerCounts| {
        let subject = counts.model.clone().unwrap_or_else(|| words.whole_item.to_owned());
        let mean = mean_of(&counts.model).map_or_else(dash, |mean| format!("{mean:.2}"));
        let given = counts.counts.iter().map(u64::to_string);
        [subject, counts.judgements.to_string(), mean].into_iter().chain(given).collect()
    };
    let values = question.values.iter().map(|value| match value {
        Value::Point(point) => point.to_string(),
        Value::Text(option) => option.clone(),
    });
    let heads = [text(words.about), number(words.answers), number(words.mean)];
    let columns: Vec<DocumentColumn> = heads.into_iter().chain(values.map(|label| number(&label))).collect();
    let alpha = question.krippendorff.map_or_else(dash, |alpha| format!("{alpha:.2}"));
    let (judgements, units) = (question.judgements.to_string(), question.units.to_string());
    let lead = if question.kind == QuestionKind::Text { words.text_lead } else { words.question_lead };
    let lead = fill(lead, &[("judgements", &judgements), ("alpha", &alpha), ("units", &units)]);
    let title = format!("{} ({})", question.text_in(language), question.question);
    part(&format!("question-{at}"), [&title, &lead], &columns, question.counts.iter().map(row))
}

/// Table of annotators' statistics.
pub(super) fn annotators(report: &CampaignReport, words: &CampaignReportTexts) -> DocumentPart {
    let columns = [
        text(words.annotator),
        number(words.judgements),
        number(words.with_others),
        number(words.gold),
        number(words.with_themselves),
        number(words.side_a),
        number(words.seconds),
        number(words.streak),
        text(words.flags),
    ];
    let rows = report.annotators.iter().map(|summary| annotator_cells(summary, words));
    part("annotators", [words.annotators, words.annotators_lead], &columns, rows)
}

fn annotator_cells(summary: &AnnotatorSummary, words: &CampaignReportTexts) -> Vec<String> {
    let share = |share: Option<f64>| share.map_or_else(dash, percent);
    let of = |part: Option<f64>, all: u64| part.map_or_else(dash, |part| format!("{} / {all}", percent(part)));
    let flags: Vec<&str> = summary.flags.iter().map(|flag| flag_name(*flag, words)).collect();
    vec![
        summary.annotator.clone(),
        summary.judgements.to_string(),
        share(summary.agreement_with_others),
        of(summary.gold_accuracy, summary.gold_judgements),
        of(summary.self_consistency, summary.repeats),
        share(summary.side_a_share),
        summary.median_seconds.map_or_else(dash, |seconds| format!("{seconds:.0}")),
        summary.longest_streak.to_string(),
        if flags.is_empty() { dash() } else { flags.join(", ") },
    ]
}

fn flag_name(flag: AnnotatorFlag, words: &CampaignReportTexts) -> &'static str {
    match flag {
        AnnotatorFlag::SideBias => words.side_bias,
        AnnotatorFlag::Careless => words.careless,
        AnnotatorFlag::Copying => words.copying,
    }
}

/// Table of the agreement of judge models with people.
pub(super) fn judges(report: &CampaignReport, words: &CampaignReportTexts) -> DocumentPart {
    let columns = [
        text(words.judge),
        number(words.judgements),
        number(words.with_people),
        number(words.interval),
        number(words.kappa),
        number(words.interval),
        number(words.among_people),
        number(words.both_orders),
        number(words.first_position),
    ];
    let cells = |judge: &JudgeAgreement| {
        let share =
            |share: Option<f64>, total: u64| share.map_or_else(dash, |share| format!("{} / {total}", percent(share)));
        let rate = |rate: &Rate| share(rate.share.value, rate.total);
        vec![
            judge.judge.clone(),
            judge.judgements.to_string(),
            judge.agreement.map_or_else(dash, percent),
            judge
                .agreement_interval
                .map_or_else(dash, |[lower, upper]| format!("{} … {}", percent(lower), percent(upper))),
            judge.kappa.map_or_else(dash, |kappa| format!("{kappa:.2}")),
            interval(judge.kappa_interval.map(|[lower, upper]| (lower, upper))),
            share(judge.people_agreement, judge.people_pairs),
            rate(&judge.consistent),
            rate(&judge.first_position),
        ]
    };
    part("judges", [words.judges, words.judges_lead], &columns, report.judges.iter().map(cells))
}

/// Table of pairwise agreement of annotators.
pub(super) fn annotator_pairs(report: &CampaignReport, words: &CampaignReportTexts) -> DocumentPart {
    let columns = [
        text(words.annotator),
        text(words.annotator),
        number(words.shared_units),
        number(words.equal),
        number(words.kappa),
        number(words.interval),
    ];
    let rows = report.annotator_pairs.iter().map(|pair| {
        let kappa = pair.kappa.map_or_else(dash, |kappa| format!("{kappa:.2}"));
        let bounds = interval(pair.kappa_interval.map(|[lower, upper]| (lower, upper)));
        vec![pair.one.clone(), pair.other.clone(), pair.units.to_string(), pair.equal.to_string(), kappa, bounds]
    });
    part("annotator-pairs", [words.annotator_pairs, words.annotator_pairs_lead], &columns, rows)
}

/// Table of excluded annotators.
pub(super) fn left_out(report: &CampaignReport, words: &CampaignReportTexts) -> DocumentPart {
    let columns = [text(words.annotator), number(words.judgements), text(words.by), text(words.reason)];
    let rows = report
        .left_out
        .iter()
        .map(|left| vec![left.annotator.clone(), left.judgements.to_string(), left.by.clone(), left.reason.clone()]);
    part("left-out", [words.left_out, words.left_out_lead], &columns, rows)
}

fn part(
    key: &str,
    [title, lead]: [&str; 2],
    columns: &[DocumentColumn],
    rows: impl Iterator<Item = Vec<String>>,
) -> DocumentPart {
    let table = DocumentTable { columns: columns.to_vec(), rows: rows.collect() };
    DocumentPart { key: key.to_owned(), title: title.to_owned(), lead: lead.to_owned(), table, charts: Vec::new() }
}

fn text(label: &str) -> DocumentColumn {
    DocumentColumn { label: label.to_owned(), is_number: false }
}

fn number(label: &str) -> DocumentColumn {
    DocumentColumn { label: label.to_owned(), is_number: true }
}

fn interval(bounds: Option<(f64, f64)>) -> String {
    bounds.map_or_else(dash, |(lower, upper)| format!("{lower:.2} … {upper:.2}"))
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

fn dash() -> String {
    "–".to_owned()
}
