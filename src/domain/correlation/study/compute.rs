//! Computes the results of a study from its series.

use std::collections::BTreeMap;

use super::file::MixturePlan;
use super::results::{Mixture, Results, StudiedCombination, StudiedPair, StudiedPoint, StudiedSeries, StudySources};
use super::{Study, StudyError};
use crate::correlation::report::{compare, mixture};
use crate::correlation::{Point, Series, SeriesError, SeriesName};
use crate::stats::distribution::{Summary, mean};

/// Pair of series to compare, with its number and the part of the votes.
struct ComparedPair {
    pair: usize,
    slice: Option<String>,
    names: [SeriesName; 2],
}

/// Series of a study by name.
pub struct SeriesIndex<'s>(BTreeMap<String, &'s Series>);

impl<'s> SeriesIndex<'s> {
    /// Indexes series by their names.
    #[must_use]
    pub fn new(series: &'s [Series]) -> Self {
        Self(series.iter().map(|series| (series.name.to_string(), series)).collect())
    }

    /// Returns a series that the study names.
    ///
    /// # Errors
    /// [`SeriesError::Unknown`] if it was not read.
    pub fn take(&self, name: &SeriesName) -> Result<&'s Series, SeriesError> {
        self.named(&name.to_string())
    }

    /// Returns the series of this name.
    ///
    /// # Errors
    /// [`SeriesError::Unknown`].
    pub fn named(&self, name: &str) -> Result<&'s Series, SeriesError> {
        self.0.get(name).copied().ok_or_else(|| SeriesError::Unknown(name.to_owned()))
    }
}

/// Compares and mixes the series that the study names. `series` are those of [`Study::names`]; `progress` receives the number of finished
/// and of all pairs and mixtures.
///
/// # Errors
/// [`StudyError::Series`] where series of a pair have different subjects.
pub fn compute(
    study: &Study,
    series: &[Series],
    data: StudySources,
    mut progress: impl FnMut(usize, usize),
) -> Result<Results, StudyError> {
    let index = SeriesIndex::new(series);
    let (compared, mut warnings) = study.compared(&index)?;
    let all = compared.len() + study.combinations.len();
    let mut pairs = Vec::with_capacity(compared.len());
    for ComparedPair { pair, slice, names: [x, y] } in compared {
        let report = compare(index.take(&x)?, index.take(&y)?, &study.file.models, study.options)?;
        pairs.push(StudiedPair { pair, slice, report });
        progress(pairs.len(), all);
    }
    let mut combinations = Vec::with_capacity(study.combinations.len());
    for (number, combination) in (1..).zip(&study.combinations) {
        combinations.push(study.mix(number, combination, &index)?);
        progress(pairs.len() + number, all);
    }
    warnings.extend(pairs.iter().flat_map(StudiedPair::warnings));
    warnings.extend(combinations.iter().flat_map(StudiedCombination::warnings));
    Ok(Results {
        program: format!("langya {}", env!("CARGO_PKG_VERSION")),
        title: study.file.title.clone(),
        confidence: study.options.level.share(),
        bootstrap: study.options.bootstrap.into(),
        models: study.file.models.clone(),
        data,
        series: series.iter().map(|series| summarize_series(series, &study.file.models)).collect(),
        pairs,
        combinations,
        warnings,
    })
}

impl Study {
    /// Lists the pairs of all votes, then those of each part of the votes, with warnings about named series that are not compared.
    fn compared(&self, index: &SeriesIndex<'_>) -> Result<(Vec<ComparedPair>, Vec<String>), StudyError> {
        let (whole, warnings) =
            if self.pairs.is_empty() { self.all_pairs_of_series(index)? } else { (self.pairs.clone(), vec![]) };
        let numbered = (1..).zip(&whole);
        let mut compared: Vec<ComparedPair> =
            numbered.clone().map(|(pair, names)| ComparedPair { pair, slice: None, names: names.clone() }).collect();
        for slice in &self.slices {
            let part = |name: &SeriesName| name.of_part(slice).unwrap_or_else(|| name.clone());
            let sliced = numbered.clone().filter(|(_, names)| names.iter().any(|name| name.of_part(slice).is_some()));
            compared.extend(sliced.map(|(pair, names)| ComparedPair {
                pair,
                slice: Some(slice.to_string()),
                names: names.each_ref().map(part),
            }));
        }
        Ok((compared, warnings))
    }

    /// Lists all pairs of series with the same subjects, with a warning for every other pair.
    fn all_pairs_of_series(&self, index: &SeriesIndex<'_>) -> Result<(Vec<[SeriesName; 2]>, Vec<String>), StudyError> {
        let (mut pairs, mut warnings) = (Vec::new(), Vec::new());
        for (at, x) in self.series.iter().enumerate() {
            for y in &self.series[at + 1..] {
                let [of_x, of_y] = [index.take(x)?.subjects, index.take(y)?.subjects];
                if of_x == of_y {
                    pairs.push([x.clone(), y.clone()]);
                } else {
                    let (of_x, of_y) = (of_x.as_str(), of_y.as_str());
                    warnings.push(format!("{x} is of {of_x} and {y} of {of_y}: they are not compared"));
                }
            }
        }
        Ok((pairs, warnings))
    }

    /// Fits a mixture. An undefined mixture is a result, not an error.
    fn mix(
        &self,
        number: usize,
        plan: &MixturePlan,
        index: &SeriesIndex<'_>,
    ) -> Result<StudiedCombination, StudyError> {
        let series = plan.of.iter().map(|name| index.take(name)).collect::<Result<Vec<_>, _>>()?;
        let target = index.take(&plan.target)?;
        let outcome = match mixture(&series, target, &self.file.models, plan.search, self.options) {
            Ok(found) => Mixture::Found(Box::new(found)),
            Err(SeriesError::Mixture(why)) => Mixture::Undefined(why.to_string()),
            Err(error) => return Err(error.into()),
        };
        Ok(StudiedCombination {
            combination: number,
            of: plan.of.iter().map(ToString::to_string).collect(),
            target: plan.target.to_string(),
            step: plan.step,
            outcome,
        })
    }
}

/// Summarises a series over the requested models, or over all of its models.
fn summarize_series(series: &Series, wanted: &[String]) -> StudiedSeries {
    let is_wanted = |subject: &String| wanted.is_empty() || wanted.contains(subject);
    let points: Vec<(&String, &Point)> = series.points.iter().filter(|(subject, _)| is_wanted(subject)).collect();
    let values: Vec<f64> = points.iter().map(|(_, point)| point.value).collect();
    let summary = Summary::new(&values).ok();
    let ratios = summary.filter(|_| series.name.has_zero_point());
    let point = |(subject, point): &(&String, &Point)| StudiedPoint {
        subject: (*subject).clone(),
        value: point.value,
        lower: point.interval.map(|interval| interval.lower),
        upper: point.interval.map(|interval| interval.upper),
    };
    StudiedSeries {
        series: series.name.to_string(),
        title: series.title.clone(),
        subjects: series.subjects,
        resampled: points.iter().any(|(_, point)| !point.samples.is_empty()),
        mean: mean(&values).ok(),
        std_dev: summary.map(|summary| summary.std_dev),
        coefficient_of_variation: ratios.and_then(|summary| summary.coefficient_of_variation().ok()),
        points: points.iter().map(point).collect(),
    }
}
