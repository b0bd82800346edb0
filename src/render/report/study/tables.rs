//! CSV tables of a study, with all digits. Names that a spreadsheet would evaluate as formulas are escaped.

use std::borrow::Cow;

use super::StudyReportError;
use crate::domain::correlation::report::{CoefficientReport, HeldOutCorrelations, SeriesReport};
use crate::domain::correlation::study::{Mixture, Results, StudiedCombination, StudiedPair};
use crate::domain::csv_injection::escape_formula;

/// Cell of a CSV table.
enum CsvCell<'c> {
    Text(Cow<'c, str>),
    Whole(usize),
    Real(Option<f64>),
}

impl<'c> CsvCell<'c> {
    fn text(text: impl Into<Cow<'c, str>>) -> Self {
        Self::Text(text.into())
    }

    fn written(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => escape_formula(text),
            Self::Whole(number) => number.to_string().into(),
            Self::Real(number) => number.map_or(Cow::Borrowed(""), |number| number.to_string().into()),
        }
    }
}

fn table<'c>(columns: &[&str], rows: impl IntoIterator<Item = Vec<CsvCell<'c>>>) -> Result<Vec<u8>, StudyReportError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(columns)?;
    for row in rows {
        writer.write_record(row.iter().map(|cell| cell.written().into_owned()))?;
    }
    Ok(writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?)
}

/// Table of every value of every series.
pub(super) fn points(results: &Results) -> Result<Vec<u8>, StudyReportError> {
    let columns = ["series", "title", "of", "subject", "value", "lower", "upper"];
    let rows = results.series.iter().flat_map(|series| {
        series.points.iter().map(|point| {
            vec![
                CsvCell::text(&series.series),
                CsvCell::text(&series.title),
                CsvCell::text(series.subjects.as_str()),
                CsvCell::text(&point.subject),
                CsvCell::Real(Some(point.value)),
                CsvCell::Real(point.lower),
                CsvCell::Real(point.upper),
            ]
        })
    });
    table(&columns, rows)
}

/// Table of every correlation of every pair.
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
        "exact_p",
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

fn correlation<'c>(pair: &'c StudiedPair, coefficient: &'c str, found: &'c CoefficientReport) -> Vec<CsvCell<'c>> {
    let resampled = found.resampled.as_ref();
    let reasons = [&found.undefined, &found.no_interval].into_iter().flatten();
    let reasons = reasons.chain(resampled.and_then(|resampled| resampled.undefined.as_ref()));
    vec![
        CsvCell::Whole(pair.pair),
        CsvCell::text(&pair.report.x.series),
        CsvCell::text(&pair.report.y.series),
        CsvCell::text(pair.slice.as_deref().unwrap_or_default()),
        CsvCell::text(coefficient),
        CsvCell::Whole(pair.report.n),
        CsvCell::Real(found.r),
        CsvCell::Real(found.p),
        CsvCell::text(found.p_method.map_or("", |method| method.as_str())),
        CsvCell::Real(found.exact_p),
        CsvCell::Real(found.lower),
        CsvCell::Real(found.upper),
        CsvCell::Real(resampled.and_then(|resampled| resampled.lower)),
        CsvCell::Real(resampled.and_then(|resampled| resampled.upper)),
        CsvCell::text(resampled.map_or(String::new(), |resampled| resampled.without.to_string())),
        CsvCell::text(reasons.cloned().collect::<Vec<_>>().join("; ")),
    ]
}

/// Table with a row for each series of each mixture, with its weight and the mixture's correlation.
pub(super) fn combinations(results: &Results) -> Result<Vec<u8>, StudyReportError> {
    let columns = [
        "combination",
        "series",
        "weight",
        "target",
        "step",
        "n",
        "pearson",
        "p_weights_as_given",
        "p_weights_refitted",
        "permutations",
        "pearson_leave_one_out",
        "p_leave_one_out",
        "undefined",
    ];
    table(&columns, results.combinations.iter().flat_map(mixture))
}

fn mixture(combination: &StudiedCombination) -> Vec<Vec<CsvCell<'_>>> {
    let (found, undefined) = match &combination.outcome {
        Mixture::Found(found) => (Some(found), String::new()),
        Mixture::Undefined(why) => (None, why.clone()),
    };
    let (left, no_left) = match found.map(|found| &found.leave_one_out) {
        Some(HeldOutCorrelations::Found(left)) => (Some(&left.pearson), None),
        Some(HeldOutCorrelations::Undefined { undefined }) => (None, Some(undefined.to_string())),
        None => (None, None),
    };
    let undefined = no_left.or_else(|| left?.undefined.clone()).unwrap_or(undefined);
    let row = |series: &'_ String| {
        vec![
            CsvCell::Whole(combination.combination),
            CsvCell::text(series.clone()),
            CsvCell::Real(found.map(|found| found.weights[series])),
            CsvCell::text(&combination.target),
            CsvCell::Real(Some(combination.step)),
            found.map_or(CsvCell::text(""), |found| CsvCell::Whole(found.n)),
            CsvCell::Real(found.and_then(|found| found.correlations.pearson.r)),
            CsvCell::Real(found.and_then(|found| found.correlations.pearson.p)),
            CsvCell::Real(found.map(|found| found.permutation_test.p)),
            found.map_or(CsvCell::text(""), |found| CsvCell::text(found.permutation_test.permutations.to_string())),
            CsvCell::Real(left.and_then(|left| left.r)),
            CsvCell::Real(left.and_then(|left| left.p)),
            CsvCell::text(undefined.clone()),
        ]
    };
    combination.of.iter().map(row).collect()
}

/// Table of the names missing from some series of a pair or a mixture. `only_in` is the series that has the name; empty if none has it,
/// as for an unknown requested model.
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
) -> Vec<Vec<CsvCell<'c>>> {
    let row = |subject: &'c String, only_in: &'c str| {
        let slice = CsvCell::text(slice.unwrap_or_default());
        vec![CsvCell::text(place.clone()), slice, CsvCell::text(subject), CsvCell::text(only_in)]
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

/// Table of the study's sources.
pub(super) fn sources(results: &Results) -> Result<Vec<u8>, StudyReportError> {
    let facts = results.data.facts();
    let rows = facts
        .iter()
        .map(|fact| vec![CsvCell::text(&fact.source), CsvCell::text(fact.what), CsvCell::text(&fact.value)]);
    table(&["source", "what", "value"], rows)
}
