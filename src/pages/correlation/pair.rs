//! Two series: scatter plot, three coefficients, compared and omitted subjects, and method.

use super::{ShownNames, named};
use crate::domain::correlation::Subjects;
use crate::domain::correlation::catalog::PairStudy;
use crate::domain::correlation::history::HistoryPoint;
use crate::domain::correlation::report::{PairPoint, PairReport, SeriesReport};
use crate::domain::rating::intervals::bootstrap::ResamplingUnit;
use crate::domain::stats::Interval;
use crate::domain::stats::correlation::{Coefficient, Correlation, PMethod};
use crate::leaderboards::charts::ChartView;
use crate::render::chart::correlations::MIN_SUBJECTS;
use crate::render::chart::scatter::Dot;
use crate::render::chart::{Frame, Setting, Topic, correlation_history, scatter};
use crate::render::i18n::pages::CorrelationTexts;

/// Pair of series for display.
pub(super) struct PairView {
    /// Names of the series in the query.
    pub(super) x: String,
    pub(super) y: String,
    /// Display names of the series.
    pub(super) titles: [String; 2],
    pub(super) address: String,
    pub(super) of_models: bool,
    pub(super) scatter: ChartView,
    pub(super) rows: Vec<CoefficientRow>,
    pub(super) points: Vec<[String; 3]>,
    pub(super) warning: Option<String>,
    /// Notice that votes are resampled independently.
    pub(super) independent_votes: Option<&'static str>,
    /// Whether votes or items are resampled.
    pub(super) is_resampled: bool,
    pub(super) separability: Option<String>,
    /// Series with the subjects that only they have.
    pub(super) only_in: Vec<(String, Vec<String>)>,
    pub(super) history: Option<ChartView>,
}

/// Coefficient as text.
pub(super) struct CoefficientRow {
    pub(super) name: &'static str,
    pub(super) chosen: bool,
    pub(super) r: String,
    pub(super) p: String,
    pub(super) fisher: String,
    pub(super) resampled: String,
}

impl PairView {
    /// Formats a study; `key` distinguishes its charts from others of the page.
    pub(super) fn new(study: &PairStudy, key: &str, names: &ShownNames<'_>) -> Self {
        let report = &study.report;
        let both = [&report.x, &report.y];
        let titles = both.map(|series| names.of_name(&series.series));
        let heading = both.map(|series| names.short_of_name(&series.series)).join(" × ");
        let series = names.view.snapshot.catalog.find(&report.x.series);
        let of_models = series.is_none_or(|series| series.subjects == Subjects::Models);
        let frame = Frame { language: names.language(), setting: Setting::Page };
        let called = |subject: &str| if of_models { names.model(subject) } else { subject.to_owned() };
        Self {
            scatter: scatter_chart(
                Topic { key: &format!("{key}-scatter"), title: &heading },
                &titles,
                report,
                &called,
                frame,
            ),
            rows: rows(study, names),
            points: report.points.iter().map(|point| tooltip_lines(point, &called)).collect(),
            independent_votes: both
                .iter()
                .any(|series| series.resampled == Some(ResamplingUnit::Votes))
                .then_some(names.words().independent_votes),
            is_resampled: study.cell.resampled.is_some(),
            warning: (report.n < MIN_SUBJECTS).then(|| names.words().few.replace("{n}", &report.n.to_string())),
            separability: separability(report, names.words()),
            only_in: only_in(&report.x, &titles[0], &called)
                .into_iter()
                .chain(only_in(&report.y, &titles[1], &called))
                .collect(),
            history: history(&study.history, names, frame),
            address: names.pair_address(&report.x.series, &report.y.series),
            x: report.x.series.clone(),
            y: report.y.series.clone(),
            of_models,
            titles,
        }
    }
}

fn scatter_chart(
    topic: Topic<'_>,
    titles: &[String; 2],
    report: &PairReport,
    called: &dyn Fn(&str) -> String,
    frame: Frame,
) -> ChartView {
    let interval = |lower: Option<f64>, upper: Option<f64>| Some(Interval { lower: lower?, upper: upper? });
    let dot = |point: &PairPoint| Dot {
        name: called(&point.model),
        at: [point.x, point.y],
        intervals: [interval(point.x_lower, point.x_upper), interval(point.y_lower, point.y_upper)],
    };
    let dots: Vec<Dot> = report.points.iter().map(dot).collect();
    ChartView::new(scatter::draw(topic, [&titles[0], &titles[1]], &dots, frame))
}

fn rows(study: &PairStudy, names: &ShownNames<'_>) -> Vec<CoefficientRow> {
    let (words, exact) = (names.words(), study.report.correlations.named());
    let row = |(place, coefficient): (usize, Coefficient)| {
        let found = study.cell.found[place];
        let none = |why| format!("{} ({})", words.none, (words.why_none)(why));
        let fisher = found.and_then(|found| found.interval(names.view.snapshot.catalog.options.level));
        CoefficientRow {
            name: named(words, coefficient),
            chosen: coefficient == names.view.coefficient,
            r: found.map_or_else(none, |found| format!("{:.4}", found.r).replace('-', "−")),
            p: found.map_or_else(|_| "–".to_owned(), |found| p_value(&found, exact[place].1.exact_p, words)),
            fisher: fisher.map_or_else(none, format_interval),
            resampled: match study.cell.resampled {
                None => words.fixed.to_owned(),
                Some(resampled) => resampled[place].map_or_else(none, |found| format_interval(found.interval)),
            },
        }
    };
    Coefficient::ALL.into_iter().enumerate().map(row).collect()
}

/// Formats the p value with its method.
fn p_value(found: &Correlation, exact_p: Option<f64>, words: &CorrelationTexts) -> String {
    let method = match found.p_method {
        PMethod::T => words.p_methods[0],
        PMethod::Exact => words.p_methods[1],
        PMethod::Normal => words.p_methods[2],
    };
    let shown = |p: f64, how: &str| if p < 1e-4 { format!("< 0.0001 ({how})") } else { format!("{p:.4} ({how})") };
    let p = shown(found.p, method);
    exact_p.map_or_else(|| p.clone(), |exact| format!("{p} · {}", shown(exact, words.p_methods[1])))
}

fn format_interval(interval: Interval) -> String {
    format!("{:.4} … {:.4}", interval.lower, interval.upper).replace('-', "−")
}

/// Returns the tooltip of a point: subject and both values.
fn tooltip_lines(point: &PairPoint, called: &dyn Fn(&str) -> String) -> [String; 3] {
    let text = |value: f64, lower: Option<f64>, upper: Option<f64>| match (lower, upper) {
        (Some(lower), Some(upper)) => {
            format!("{} ({} … {})", format_value(value), format_value(lower), format_value(upper))
        }
        _ => format_value(value),
    };
    let x = text(point.x, point.x_lower, point.x_upper);
    [called(&point.model), x, text(point.y, point.y_lower, point.y_upper)]
}

fn format_value(value: f64) -> String {
    if value.abs() >= 100.0 { format!("{value:.1}") } else { format!("{value:.3}") }
}

fn separability(report: &PairReport, words: &CorrelationTexts) -> Option<String> {
    let found = report.leaderboards.as_ref()?;
    let share = |share: crate::domain::stats::Share| format!("{}/{}", share.of, share.total);
    let number = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"));
    let text =
        words.separability.replace("{x}", &share(found.separability_x)).replace("{y}", &share(found.separability_y));
    let text = text.replace("{agreement}", &number(found.agreement_with_confidence));
    Some(text.replace("{brier}", &number(found.brier)))
}

fn only_in(series: &SeriesReport, title: &str, called: &dyn Fn(&str) -> String) -> Option<(String, Vec<String>)> {
    let names: Vec<String> = series.only_here.iter().map(|name| called(name)).collect();
    (!names.is_empty()).then(|| (title.to_owned(), names))
}

fn history(moments: &[HistoryPoint], names: &ShownNames<'_>, frame: Frame) -> Option<ChartView> {
    let words = names.words();
    let moment = |moment: &HistoryPoint| {
        let time = jiff::SignedDuration::try_from_secs_f64(moment.seconds).unwrap_or_default().as_millis();
        correlation_history::CorrelationPoint {
            time: i64::try_from(time).unwrap_or(i64::MAX),
            n: moment.n,
            r: moment.r.map_err(|why| (words.why_none)(why)),
        }
    };
    let moments: Vec<correlation_history::CorrelationPoint> = moments.iter().map(moment).collect();
    let title = format!("{}{}{}", words.history, names.page.t().colon, named(words, names.view.coefficient));
    let topic = Topic { key: "history", title: &title };
    // A single point has no history: the scatter above shows it.
    (moments.len() > 1).then(|| ChartView::new(correlation_history::draw(topic, &moments, frame)))
}
