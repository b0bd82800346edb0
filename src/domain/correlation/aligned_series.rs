//! Aligned series: several series over the models that all of them have, in one order.

use std::collections::{BTreeMap, BTreeSet};

use crate::correlation::{Point, Series, SeriesError};
use crate::stats::correlation_matrix::DataColumn;

/// Several series over the models that all of them have.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AlignedSeries {
    /// The models, by name.
    pub models: Vec<String>,
    /// One list a series, in the order of the models.
    pub points: Vec<Vec<Point>>,
    /// Models that were left out, since some series lacks them.
    pub unmatched: Vec<String>,
    /// Requested models that no series has.
    pub unknown: Vec<String>,
    /// For each series, those of the unmatched that it has.
    pub only_in: Vec<Vec<String>>,
}

impl AlignedSeries {
    /// The numbers of each series.
    #[must_use]
    pub fn values(&self) -> Vec<Vec<f64>> {
        self.points.iter().map(|points| points.iter().map(|point| point.value).collect()).collect()
    }

    /// Each series with its samples, in the order of the models.
    #[must_use]
    pub fn columns(&self) -> Vec<DataColumn> {
        self.points.iter().map(|points| column(points.iter().map(Some))).collect()
    }
}

/// The numbers of a series at positions; none where it has none.
pub fn column<'p>(points: impl Iterator<Item = Option<&'p Point>>) -> DataColumn {
    let points: Vec<Option<&Point>> = points.collect();
    let replicates = points.iter().flatten().map(|point| point.samples.len()).max().unwrap_or_default();
    let drawn = |replicate: usize, point: &Option<&Point>| {
        let point = (*point)?;
        // What is held fixed is the same in each replicate.
        if point.samples.is_empty() { Some(point.value) } else { point.samples.get(replicate).copied().flatten() }
    };
    DataColumn {
        values: points.iter().map(|point| point.map(|point| point.value)).collect(),
        samples: (0..replicates).map(|at| points.iter().map(|point| drawn(at, point)).collect()).collect(),
    }
}

/// Puts series side by side; of `wanted` models only, where any are named.
///
/// # Errors
/// [`SeriesError::Subjects`] where one is of models and another of something else.
pub fn align(series: &[&Series], wanted: &[String]) -> Result<AlignedSeries, SeriesError> {
    let of_other = |other: &&&Series| series.first().is_some_and(|first| first.subjects != other.subjects);
    if let Some(other) = series.iter().find(of_other) {
        return Err(SeriesError::Subjects {
            one: series[0].name.to_string(),
            one_of: series[0].subjects.as_str(),
            other: other.name.to_string(),
            other_of: other.subjects.as_str(),
        });
    }
    let all: BTreeSet<&String> = match wanted {
        [] => series.iter().flat_map(|series| series.points.keys()).collect(),
        wanted => wanted.iter().collect(),
    };
    let (models, unmatched): (Vec<&String>, Vec<&String>) =
        all.into_iter().partition(|model| series.iter().all(|series| series.points.contains_key(*model)));
    let of = |points: &BTreeMap<String, Point>| models.iter().map(|model| points[*model].clone()).collect();
    let only = |series: &&Series| {
        unmatched.iter().filter(|model| series.points.contains_key(**model)).map(|model| (*model).clone()).collect()
    };
    let unknown = |model: &&&String| series.iter().all(|series| !series.points.contains_key(**model));
    Ok(AlignedSeries {
        unknown: unmatched.iter().filter(unknown).map(|model| (*model).clone()).collect(),
        points: series.iter().map(|series| of(&series.points)).collect(),
        only_in: series.iter().map(only).collect(),
        models: models.into_iter().cloned().collect(),
        unmatched: unmatched.into_iter().cloned().collect(),
    })
}
