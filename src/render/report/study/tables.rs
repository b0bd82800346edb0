//! The tables of a study as CSV, with all digits. A name that a spreadsheet would work out is defused.

use std::borrow::Cow;

use super::StudyReportError;
use crate::domain::correlation::report::{CoefficientReport, LeftOut, SeriesReport};
use crate::domain::correlation::study::{Mixture, Results, StudiedCombination, StudiedPair};
use crate::domain::spreadsheet::defused;

/// A cell.
enum Cell<'c> {
    Text(Cow<'c, str>),
    Whole(usize),
    Real(Option<f64>),
}

impl<'c> Cell<'c> {
    fn text(text: impl Into<Cow<'c, str>>) -> Self {
        Self::Text(text.into())
    }

    fn written(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => defused(text),
            Self::Whole(number) => number.to_string().into(),
            Self::Real(number) => number.map_or(Cow::Borrowed(""), |number| number.to_string().into()),
        }
    }
}

fn table<'c>(columns: &[&str], rows: impl IntoIterator<Item = Vec<Cell<'c>>>) -> Result<Vec<u8>, StudyReportError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(columns)?;
    for row in rows {
        writer.write_record(row.iter().map(|cell| cell.written().into_owned()))?;
    }
    Ok(writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?)
}

/// Every number of every series.
pub(super) fn points(results: &Results) -> Result<Vec<u8>, StudyReportError> {
    let columns = ["series", "title", "of", "subject", "value", "lower", "upper"];
    let rows = results.series.iter().flat_map(|series| {
        series.points.iter().map(|point| {
            vec![
                Cell::text(&series.series),
                Cell::text(&series.title),
                Cell::text(series.subjects.as_str()),
                Cell::text(&point.subject),
                Cell::Real(Some(point.value)),
                Cell::Real(point.lower),
                Cell::Real(point.upper),
            ]
        })
    });
    table(&columns, rows)
}

/// Every correlation of every pair.
pub(super) fn correlations(results: &Results) -> Result<Vec<u8>, StudyReportError> {
    let columns = [
        "pair",
        "x",
        "y",
        "slice",
        "coefficient",
        "n",
        "r",
        "p",
        "p_method",
        "fisher_lower",
        "fisher_upper",
        "resampled_lower",
        "resampled_upper",
        "replicates_without",
        "undefined",
    ];
    let rows = results.pairs.iter().flat_map(|pair| {
        pair.report.correlations.named().map(|(coefficient, found)| correlation(pair, coefficient, found))
    });
    table(&columns, rows)
}

fn correlation<'c>(pair: &'c StudiedPair, coefficient: &'c str, found: &'c CoefficientReport) -> Vec<Cell<'c>> {
    let resampled = found.resampled.as_ref();
    let reasons = [&found.undefined, &found.no_interval].into_iter().flatten();
    let reasons = reasons.chain(resampled.and_then(|resampled| resampled.undefined.as_ref()));
    vec![
        Cell::Whole(pair.pair),
        Cell::text(&pair.report.x.series),
        Cell::text(&pair.report.y.series),
        Cell::text(pair.slice.as_deref().unwrap_or_default()),
        Cell::text(coefficient),
        Cell::Whole(pair.report.n),
        Cell::Real(found.r),
        Cell::Real(found.p),
        Cell::text(found.p_method.map_or("", |method| method.as_str())),
        Cell::Real(found.lower),
        Cell::Real(found.upper),
        Cell::Real(resampled.and_then(|resampled| resampled.lower)),
        Cell::Real(resampled.and_then(|resampled| resampled.upper)),
        Cell::text(resampled.map_or(String::new(), |resampled| resampled.without.to_string())),
        Cell::text(reasons.cloned().collect::<Vec<_>>().join("; ")),
    ]
}

/// A row for each series of each mixture, with its weight and how the mixture does.
pub(super) fn combinations(results: &Results) -> Result<Vec<u8>, StudyReportError> {
    let columns = [
        "combination",
        "series",
        "weight",
        "target",
        "step",
        "n",
        "pearson",
        "p",
        "pearson_leave_one_out",
        "p_leave_one_out",
        "undefined",
    ];
    table(&columns, results.combinations.iter().flat_map(mixture))
}

fn mixture(combination: &StudiedCombination) -> Vec<Vec<Cell<'_>>> {
    let (found, undefined) = match &combination.outcome {
        Mixture::Found(found) => (Some(found), String::new()),
        Mixture::Undefined(why) => (None, why.clone()),
    };
    let (left, no_left) = match found.map(|found| &found.leave_one_out) {
        Some(LeftOut::Found(left)) => (Some(&left.pearson), None),
        Some(LeftOut::Undefined { undefined }) => (None, Some(undefined.clone())),
        None => (None, None),
    };
    let undefined = no_left.or_else(|| left?.undefined.clone()).unwrap_or(undefined);
    let row = |series: &'_ String| {
        vec![
            Cell::Whole(combination.combination),
            Cell::text(series.clone()),
            Cell::Real(found.map(|found| found.weights[series])),
            Cell::text(&combination.target),
            Cell::Real(Some(combination.step)),
            found.map_or(Cell::text(""), |found| Cell::Whole(found.n)),
            Cell::Real(found.and_then(|found| found.correlations.pearson.r)),
            Cell::Real(found.and_then(|found| found.correlations.pearson.p)),
            Cell::Real(left.and_then(|left| left.r)),
            Cell::Real(left.and_then(|left| left.p)),
            Cell::text(undefined.clone()),
        ]
    };
    combination.of.iter().map(row).collect()
}

/// Every name that some series of a pair or a mixture lacks. `only_in` is the series that has it; it is empty where none does,
/// as with a model that was asked for and is nowhere.
pub(super) fn unmatched(results: &Results) -> Result<Vec<u8>, StudyReportError> {
    let of_pairs = results.pairs.iter().flat_map(|pair| {
        rows_of(
            format!("pair {}", pair.pair),
            pair.slice.as_deref(),
            &[&pair.report.x, &pair.report.y],
            &pair.report.unmatched,
        )
    });
    let of_mixtures = results.combinations.iter().flat_map(|combination| match &combination.outcome {
        Mixture::Found(found) => {
            let series: Vec<&SeriesReport> = found.series.iter().chain([&found.target]).collect();
            rows_of(format!("mixture {}", combination.combination), None, &series, &found.unmatched)
        }
        Mixture::Undefined(_) => Vec::new(),
    });
    table(&["in", "slice", "subject", "only_in"], of_pairs.chain(of_mixtures))
}

fn rows_of<'c>(
    place: String,
    slice: Option<&'c str>,
    series: &[&'c SeriesReport],
    unmatched: &'c [String],
) -> Vec<Vec<Cell<'c>>> {
    let row = |subject: &'c String, only_in: &'c str| {
        let slice = Cell::text(slice.unwrap_or_default());
        vec![Cell::text(place.clone()), slice, Cell::text(subject), Cell::text(only_in)]
    };
    let rows = |subject: &'c String| {
        let has: Vec<&SeriesReport> =
            series.iter().copied().filter(|series| series.only_here.contains(subject)).collect();
        match has.as_slice() {
            [] => vec![row(subject, "")],
            has => has.iter().map(|series| row(subject, &series.series)).collect(),
        }
    };
    unmatched.iter().flat_map(rows).collect()
}

/// What the study is made from.
pub(super) fn sources(results: &Results) -> Result<Vec<u8>, StudyReportError> {
    let facts = results.data.facts();
    let rows = facts.iter().map(|fact| vec![Cell::text(&fact.source), Cell::text(fact.what), Cell::text(&fact.value)]);
    table(&["source", "what", "value"], rows)
}
