//! Correlation of score series of the same models, and agreement of judges with people.
//!
//! A [`SeriesName`] identifies a series. [`Aliases`] resolve different names of one model, [`align`](fn@align) restricts series to their
//! common models, and [`report`] correlates two of them, or a mixture and its target, with the uncertainty of both sides: battles and
//! judged items are resampled. [`agreement`](super::agreement) compares judges with people, [`study`] is a set of comparisons in one
//! file, [`snapshot`] all series of an arena at one moment.

mod aliases;
pub mod aligned_series;
pub mod catalog;
mod error;
pub mod history;
pub mod metrics;
mod provenance;
pub mod published_series;
pub mod report;
pub mod satisfaction;
mod series;
pub mod series_name;
pub mod snapshot;
pub mod study;
pub mod suite_cache;
pub mod suite_score_table;
mod suite_series;

pub use aliases::{AliasError, Aliases};
pub use aligned_series::{AlignedSeries, align};
pub use error::SeriesError;
pub use provenance::{Provenance, SuiteUsed, VotesUsed};
pub use series::{Point, Series, SeriesValues, Subjects, bootstrap_for};
pub use series_name::{SeriesName, VotePart};
pub use suite_series::SuiteSeries;
