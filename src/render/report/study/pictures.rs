//! Pictures of a study, in the order of the report.

use super::StudyReportError;
use crate::chart::correlations::CorrelationCell;
use crate::chart::violin::ViolinSample;
use crate::domain::correlation::Series;
use crate::domain::correlation::study::SeriesIndex;
use crate::domain::correlation::study::Study;
use crate::domain::correlation::study::{Mixture, Results, StudiedPair};
use crate::domain::stats::correlation::Coefficient;
use crate::report::correlation as figures;

/// Maximum number of pairs with a scatter or a violin plot.
const MAX_PLOTTED_PAIRS: usize = 40;
/// Maximum number of series in one matrix.
const MAX_MATRIX_SERIES: usize = 60;

/// Picture of a study.
pub(super) struct Picture {
    /// The file's name.
    pub(super) name: String,
    /// Title of the picture.
    pub(super) title: String,
    pub(super) svg: String,
}

/// Draws all pictures.
pub(super) fn draw(study: &Study, series: &[Series], results: &Results) -> Result<Vec<Picture>, StudyReportError> {
    let index = SeriesIndex::new(series);
    let mut pictures = matrices(results);
    pictures.extend(violins(study, &index, results)?);
    pictures.extend(results.pairs.iter().take(MAX_PLOTTED_PAIRS).map(|pair| scatter(study, pair)));
    pictures.extend(mixtures(study, &index, results)?);
    Ok(pictures)
}

/// Note on omitted pictures.
pub(super) fn left_out(results: &Results) -> Option<String> {
    not_drawn(results.pairs.len(), series_names(&whole_pairs(results)).len())
}

fn not_drawn(pairs: usize, series: usize) -> Option<String> {
    let pairs =
        (pairs > MAX_PLOTTED_PAIRS).then(|| format!("The first {MAX_PLOTTED_PAIRS} of {pairs} pairs are drawn."));
    let series = (series > MAX_MATRIX_SERIES)
        .then(|| format!("The matrices show the first {MAX_MATRIX_SERIES} of {series} series."));
    let missing: Vec<String> = pairs.into_iter().chain(series).collect();
    (!missing.is_empty()).then(|| missing.join(" ") + " All of them are in data/correlations.csv.")
}

/// The pairs over all models, not over a slice of them.
fn whole_pairs(results: &Results) -> Vec<&StudiedPair> {
    results.pairs.iter().filter(|pair| pair.slice.is_none()).collect()
}

/// The series of pairs, in order of first occurrence.
fn series_names(pairs: &[&StudiedPair]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in pairs.iter().flat_map(|pair| [&pair.report.x.series, &pair.report.y.series]) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

fn scatter(study: &Study, pair: &StudiedPair) -> Picture {
    let part = pair.slice.as_ref().and_then(|slice| study.slices.iter().position(|known| known.to_string() == *slice));
    let name = match part {
        None => format!("pair-{:02}.svg", pair.pair),
        Some(part) => format!("pair-{:02}-slice-{}.svg", pair.pair, part + 1),
    };
    let slice = pair.slice.as_ref().map_or(String::new(), |slice| format!(", {slice}"));
    Picture { name, title: capital(&pair.name()) + &slice, svg: figures::of_pair(&pair.report) }
}

fn capital(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or(String::new(), |first| first.to_uppercase().chain(rest).collect())
}

/// Draws a matrix for each coefficient, for more than two series.
fn matrices(results: &Results) -> Vec<Picture> {
    let whole = whole_pairs(results);
    let mut names = series_names(&whole);
    names.truncate(MAX_MATRIX_SERIES);
    if names.len() < 3 {
        return Vec::new();
    }
    Coefficient::ALL.map(|coefficient| matrix(&whole, &names, coefficient)).into()
}

fn matrix(pairs: &[&StudiedPair], names: &[String], coefficient: Coefficient) -> Picture {
    let mut cells: Vec<Vec<Option<CorrelationCell>>> = vec![vec![None; names.len()]; names.len()];
    for pair in pairs {
        let place = |name: &String| names.iter().position(|known| known == name);
        let (Some(x), Some(y)) = (place(&pair.report.x.series), place(&pair.report.y.series)) else { continue };
        let cell = figures::cell(pair.report.n, &pair.report.correlations, coefficient);
        cells[x][y] = Some(cell.clone());
        cells[y][x] = Some(cell);
    }
    let coefficient_name = capital(coefficient.as_str());
    Picture {
        name: format!("matrix-{}.svg", coefficient.as_str()),
        title: format!("{coefficient_name} correlations of every two series"),
        svg: figures::of_cells(names, &cells, coefficient),
    }
}

/// Draws a picture for each coefficient, with a violin for each resampled pair.
fn violins(study: &Study, index: &SeriesIndex<'_>, results: &Results) -> Result<Vec<Picture>, StudyReportError> {
    let mut samples: [Vec<ViolinSample>; 3] = Default::default();
    let resampled = results.pairs.iter().filter(|pair| pair.report.bootstrap.is_some());
    for pair in resampled.take(MAX_PLOTTED_PAIRS) {
        let [x, y] = [&pair.report.x.series, &pair.report.y.series].map(|name| index.named(name));
        let found = figures::replicates(x?, y?, &study.file.models)?;
        for (samples, scores) in samples.iter_mut().zip(found) {
            let slice = pair.slice.as_ref().map_or(String::new(), |slice| format!(", {slice}"));
            samples.push(ViolinSample { name: format!("pair {}{slice}", pair.pair), scores });
        }
    }
    let drawn = Coefficient::ALL.into_iter().zip(samples).filter_map(|(coefficient, samples)| {
        let title = format!("{} correlations, resampled", capital(coefficient.as_str()));
        let svg = figures::of_replicates(&title, &samples)?;
        Some(Picture { name: format!("resampled-{}.svg", coefficient.as_str()), title, svg })
    });
    Ok(drawn.collect())
}

fn mixtures(study: &Study, index: &SeriesIndex<'_>, results: &Results) -> Result<Vec<Picture>, StudyReportError> {
    let mut pictures = Vec::new();
    for (combination, plan) in results.combinations.iter().zip(&study.combinations) {
        let Mixture::Found(report) = &combination.outcome else { continue };
        let series = plan.of.iter().map(|name| index.take(name)).collect::<Result<Vec<_>, _>>()?;
        let svg = figures::of_mixture(&series, index.take(&plan.target)?, &study.file.models, report)?;
        let name = format!("mixture-{:02}.svg", combination.combination);
        pictures.push(Picture { name, title: capital(&combination.name()), svg });
    }
    Ok(pictures)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_much_to_draw_is_named() {
        assert_eq!(not_drawn(MAX_PLOTTED_PAIRS, MAX_MATRIX_SERIES), None);
        let missing = not_drawn(MAX_PLOTTED_PAIRS, 61).unwrap();
        assert_eq!(missing, "The matrices show the first 60 of 61 series. All of them are in data/correlations.csv.");
        assert!(not_drawn(41, 2).unwrap().starts_with("The first 40 of 41 pairs are drawn. All"));
        assert!(not_drawn(41, 61).unwrap().contains("pairs are drawn. The matrices show"));
    }
}
