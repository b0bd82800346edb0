//! Reads the series of a correlation study from the arena's votes, benchmarks and published tables, and caches those of the live page in
//! memory.

mod error;
mod published;
mod reader;
mod satisfaction;
pub mod snapshot;
mod suite_series;

pub use error::ReadSeriesError;
pub use reader::{SeriesReader, Sources};
