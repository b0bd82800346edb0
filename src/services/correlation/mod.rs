//! Reads the series of a correlation study from the arena's votes, benchmarks and published tables, and keeps those of the
//! live page in memory.

mod error;
mod published;
mod reader;
mod satisfaction;
pub mod snapshot;
mod suite_series;
mod table;

use std::collections::BTreeMap;

pub use error::ReadSeriesError;
pub use reader::{SeriesReader, Sources, Suites};
pub use table::Table;

use crate::domain::correlation::{Point, Subjects};

/// What a source gives.
#[derive(Debug, Clone, PartialEq)]
struct Found {
    title: String,
    subjects: Subjects,
    points: BTreeMap<String, Point>,
    notes: Vec<String>,
}
