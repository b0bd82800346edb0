//! Alignment of several series on their common models, in one order.

use std::collections::{BTreeMap, BTreeSet};

use crate::correlation::{Point, Series, SeriesError};
use crate::stats::correlation_matrix::DataColumn;

/// Several series restricted to their common models.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AlignedSeries {
    /// Model ids in alphabetical order.
    pub models: Vec<String>,
    /// Points of each series, in the order of the models.
    pub points: Vec<Vec<Point>>,
    /// Models left out because at least one series lacks them.
    pub unmatched: Vec<String>,
    /// Requested models that no series has.
    pub unknown: Vec<String>,
    /// For each series, the unmatched models that it has.
    pub only_in: Vec<Vec<String>>,
}

impl AlignedSeries {
    /// Returns the values of each series.
    #[must_use]
    pub fn values(&self) -> Vec<Vec<f64>> {
        self.points.iter().map(|points| points.iter().map(|point| point.value).collect()).collect()
    }

    /// Returns each series as a column with its samples, in the order of the models.
    #[must_use]
    pub fn columns(&self) -> Vec<DataColumn> {
        self.points.iter().map(|points| column(points.iter().map(Some))).collect()
    }
}

/// Builds a column from optional points; a missing point has no value.
pub fn column<'p>(points: impl Iterator<Item = Option<&'p Point>>) -> DataColumn {
    let points: Vec<Option<&Point>> = points.collect();
    let replicates = points.iter().flatten().map(|point| point.samples.len()).max().unwrap_or_default();
    let drawn = |replicate: usize, point: &Option<&Point>| {
        let point = (*point)?;
        // A fixed value is the same in each replicate.
        if point.samples.is_empty() { Some(point.value) } else { point.samples.get(replicate).copied().flatten() }
    };
    DataColumn {
        values: points.iter().map(|point| point.map(|point| point.value)).collect(),
        samples: (0..replicates).map(|at| points.iter().map(|point| drawn(at, point)).collect()).collect(),
    }
}

/// Aligns series on their common models, restricted to `wanted` unless it is empty.
///
/// # Errors
/// [`SeriesError::Subjects`] where their subjects differ.
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
