//! The correlations page: two series, all series, mixtures, and satisfaction by intent. [`papers`] has the papers' own studies.

mod matrix;
mod mixture;
mod pair;
pub mod papers;

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::{Page, Section, respond};
use crate::correlation_query::CorrelationQuery;
use crate::domain::correlation::catalog::{PairStudy, SeriesGroup, SeriesSource};
use crate::domain::correlation::report::MixtureReport;
use crate::domain::correlation::snapshot::{CorrelationSnapshot, UnusableSeries};
use crate::domain::correlation::{Series, SeriesName, VotePart};
use crate::domain::language::Language;
use crate::domain::rating::bootstrap_samples::Metric;
use crate::domain::rating::votes::slice::{SliceColumn, Turns};
use crate::domain::stats::correlation::Coefficient;
use crate::frame::query_string::escaped;
use crate::frame::time::ShownTime;
use crate::render::i18n::fill;
use crate::render::i18n::pages::CorrelationTexts;
use crate::render::i18n::reports::{series_spelled_out, series_title};
use matrix::MatrixView;
use mixture::MixtureView;
use pair::PairView;

/// Data of the correlations page.
pub struct View<'a> {
    /// Snapshot of all series.
    pub snapshot: &'a CorrelationSnapshot,
    /// Query of the address.
    pub wanted: &'a CorrelationQuery,
    /// Selected coefficient.
    pub coefficient: Coefficient,
    /// Series group of the matrix.
    pub group: SeriesGroup,
    /// Study of two series.
    pub pair: Option<Arc<PairStudy>>,
    /// Fitted mixture.
    pub mixture: Option<Arc<MixtureReport>>,
    /// Satisfaction against a suite, by intent.
    pub intents: Option<Arc<PairStudy>>,
}

#[derive(Template)]
#[template(path = "correlation.html")]
struct CorrelationPage<'a> {
    page: Page,
    words: &'static CorrelationTexts,
    view: &'a View<'a>,
    /// Time of computation.
    made_at: Option<ShownTime>,
    choices: Vec<SeriesChoices>,
    /// Reasons why series cannot be used, with the code of their language.
    unusable: Vec<(String, &'static str)>,
    pair: Option<PairView>,
    intents: Option<PairView>,
    /// Matrix, if requested.
    matrix: Option<MatrixView>,
    mixture: Option<MixtureView>,
}

/// Options for the series of one source.
struct SeriesChoices {
    label: &'static str,
    of_models: bool,
    series: Vec<SeriesChoice>,
}

struct SeriesChoice {
    name: String,
    label: String,
}

/// `GET /correlation`
#[must_use]
pub fn correlation(request: &HttpRequest, model_name: &dyn Fn(&str) -> String, view: &View<'_>) -> HttpResponse {
    let page = Page::new(request, Section::Correlation);
    let names = ShownNames { model_name, page: &page, view };
    let shown = CorrelationPage {
        words: names.words(),
        made_at: view.snapshot.made_at.map(|time| ShownTime::new(time.0)),
        choices: choices(&names),
        unusable: unusable(&names),
        pair: view.pair.as_ref().map(|study| PairView::new(study, "pair", &names)),
        intents: view.intents.as_ref().map(|study| PairView::new(study, "intents", &names)),
        matrix: view.wanted.shows_matrix().then(|| MatrixView::new(&names)),
        mixture: view.mixture.as_ref().map(|report| MixtureView::new(report, &names)),
        view,
        page: page.clone(),
    };
    respond(request, StatusCode::OK, &shown)
}

fn unusable(names: &ShownNames<'_>) -> Vec<(String, &'static str)> {
    let shown = |series: &UnusableSeries| match (names.words().why_unusable)(&series.reason) {
        Some(text) => (text, names.language().code()),
        None => (series.message.clone(), Language::English.code()),
    };
    names.view.snapshot.unusable.iter().map(shown).collect()
}

fn choices(names: &ShownNames<'_>) -> Vec<SeriesChoices> {
    const SOURCES: [SeriesSource; 5] = [
        SeriesSource::Votes,
        SeriesSource::Benchmark,
        SeriesSource::Imported,
        SeriesSource::Published,
        SeriesSource::Intents,
    ];
    let of = |(source, label): (SeriesSource, &'static str)| {
        let own =
            names.view.snapshot.catalog.series().iter().filter(|series| SeriesSource::from_series(series) == source);
        let choice = |series: &Series| SeriesChoice { name: series.name.to_string(), label: names.of(series) };
        SeriesChoices { label, of_models: source != SeriesSource::Intents, series: own.map(choice).collect() }
    };
    let all = SOURCES.into_iter().zip(names.words().sources).map(of);
    all.filter(|choices| !choices.series.is_empty()).collect()
}

/// Display names of series and models.
struct ShownNames<'a> {
    model_name: &'a dyn Fn(&str) -> String,
    page: &'a Page,
    view: &'a View<'a>,
}

impl ShownNames<'_> {
    fn words(&self) -> &'static CorrelationTexts {
        &self.page.t().correlation
    }

    fn language(&self) -> Language {
        self.page.language
    }

    /// Returns the display name of a series; tasks of MT-Bench-101 are spelled out.
    fn of(&self, series: &Series) -> String {
        let short = self.short(series);
        if matches!(series.name, SeriesName::Published(_) | SeriesName::Bench { .. }) {
            series_spelled_out(&short, self.language())
        } else {
            short
        }
    }

    /// Returns the short name of a series; tasks of MT-Bench-101 are their two letters.
    fn short(&self, series: &Series) -> String {
        let words = self.words();
        match &series.name {
            SeriesName::Satisfaction => words.satisfaction.to_owned(),
            SeriesName::Arena { metric, part } => {
                let metric = match metric {
                    Metric::Rating => words.rating,
                    Metric::Elo => words.elo,
                    Metric::WinTieRate => words.win_tie_rate,
                };
                std::iter::once(metric.to_owned()).chain(self.part(part)).collect::<Vec<_>>().join(" · ")
            }
            SeriesName::Verdicts(judge) => format!("{} · {judge}", words.verdict_rating),
            SeriesName::Published(_) | SeriesName::Bench { .. } => series_title(&series.title, self.language()),
            SeriesName::Column(_) | SeriesName::Campaign { .. } => series.title.clone(),
        }
    }

    /// Describes the slice of the votes.
    fn part(&self, part: &VotePart) -> Vec<String> {
        let (slice, words, colon) = (&part.0, &self.page.t().leaderboard, self.page.t().colon);
        let turns = slice.turns.map(|turns| match turns {
            Turns::First => format!("{}{colon}{}", words.turns, words.turns_first),
            Turns::Multi => format!("{}{colon}{}", words.turns, words.turns_multi),
        });
        let long = slice.long_prompts.then(|| format!("{}{colon}{}", words.prompts, words.prompts_long));
        let named = SliceColumn::ALL.into_iter().zip([&slice.language, &slice.category, &slice.intent]);
        let named =
            named.filter_map(|(column, value)| Some(self.page.t().slices.of(column, value.as_deref()?).to_owned()));
        named.chain(turns).chain(long).collect()
    }

    /// Returns the display name of the series with this name.
    fn of_name(&self, name: &str) -> String {
        self.view.snapshot.catalog.find(name).map_or_else(|| name.to_owned(), |series| self.of(series))
    }

    /// Returns the short name of the series with this name.
    fn short_of_name(&self, name: &str) -> String {
        self.view.snapshot.catalog.find(name).map_or_else(|| name.to_owned(), |series| self.short(series))
    }

    /// Returns the display name of a model; other subjects keep their names.
    fn model(&self, model: &str) -> String {
        (self.model_name)(model)
    }

    /// Returns the address of a pair of series, keeping the other parameters.
    fn pair_address(&self, x: &str, y: &str) -> String {
        let (coefficient, group) = (self.view.coefficient.as_str(), self.view.group.as_str());
        format!("/correlation?x={}&y={}&coefficient={coefficient}&group={group}#pair", escaped(x), escaped(y))
    }
}

/// Returns the display name of a coefficient.
fn named(words: &CorrelationTexts, coefficient: Coefficient) -> &'static str {
    words.coefficients[coefficient as usize]
}

impl CorrelationPage<'_> {
    fn at_level(&self, text: &str) -> String {
        let percent = (1_000.0 * self.view.snapshot.catalog.options.level.share()).round() / 10.0;
        text.replace("{level}", &percent.to_string())
    }

    fn drawn(&self) -> String {
        fill(self.words.drawn, &[("n", &self.view.snapshot.catalog.options.bootstrap.replicates.to_string())])
    }

    /// Returns the label of a mixture component's list.
    fn numbered(&self, number: u8) -> String {
        format!("{} {number}", self.words.mixed)
    }

    fn has_own(&self) -> bool {
        self.view.snapshot.catalog.group_len(SeriesGroup::Own) > 0
    }

    /// Returns the parameters of the other forms, as hidden fields of this form.
    fn hidden_inputs(&self, form: &str) -> Vec<(&'static str, &str)> {
        let own: &[&str] = match form {
            "pair" => &["x", "y", "coefficient"],
            "matrix" => &["group", "coefficient"],
            _ => &["a", "b", "c", "d", "target", "step"],
        };
        self.given().filter(|(name, _)| !own.contains(name)).collect()
    }

    /// Returns the parameters of the address.
    fn given(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let CorrelationQuery { x, y, coefficient, group, a, b, c, d, target, step } = self.view.wanted;
        let all = [
            ("x", x),
            ("y", y),
            ("coefficient", coefficient),
            ("group", group),
            ("a", a),
            ("b", b),
            ("c", c),
            ("d", d),
            ("target", target),
            ("step", step),
        ];
        all.into_iter().map(|(name, value)| (name, value.as_str())).filter(|(_, value)| !value.is_empty())
    }

    /// Returns the address of the same page with the mixture form.
    fn mixture_address(&self) -> String {
        let given: String = self.given().map(|(name, value)| format!("{name}={}&", escaped(value))).collect();
        format!("/correlation?{given}step=0#mixture")
    }

    /// Returns the series selected in a list.
    fn chosen(&self, field: &str) -> &str {
        let wanted = self.view.wanted;
        let of_pair = |side: fn(&PairView) -> &String| self.pair.as_ref().map_or("", |pair| side(pair));
        match field {
            "x" => of_pair(|pair| &pair.x),
            "y" => of_pair(|pair| &pair.y),
            "a" => &wanted.a,
            "b" => &wanted.b,
            "c" => &wanted.c,
            "d" => &wanted.d,
            _ => &wanted.target,
        }
    }

    fn coefficients(&self) -> Vec<(&'static str, &'static str, bool)> {
        let of = |coefficient: Coefficient| {
            (coefficient.as_str(), named(self.words, coefficient), coefficient == self.view.coefficient)
        };
        Coefficient::ALL.into_iter().map(of).collect()
    }

    fn groups(&self) -> Vec<(&'static str, &'static str, bool)> {
        let groups = [SeriesGroup::Own, SeriesGroup::Published, SeriesGroup::All].into_iter().zip(self.words.groups);
        groups.map(|(group, label)| (group.as_str(), label, group == self.view.group)).collect()
    }

    fn steps(&self) -> Vec<(&'static str, &'static str, bool)> {
        let step = |value: &'static str| {
            let chosen = self.view.wanted.step == value || (value == "0" && self.view.wanted.step.is_empty());
            (value, if value == "0" { self.words.exact } else { value }, chosen)
        };
        ["0", "0.1", "0.05", "0.01", "0.005", "0.001"].into_iter().map(step).collect()
    }
}
