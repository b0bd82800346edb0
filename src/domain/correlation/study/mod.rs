//! A study: comparisons and mixtures of series that one file names.
//!
//! [`Study::parse`] understands the file, [`compute`](fn@compute) compares; `render::report::study` writes the results down.

mod compute;
mod error;
mod file;
mod results;

pub use compute::{SeriesIndex, compute};
pub use error::StudyError;
pub use file::{CombinationLine, MixturePlan, PairLine, Study, StudyFile};
pub use results::{Fact, Mixture, Results, StudiedCombination, StudiedPair, StudiedPoint, StudiedSeries, StudySources};
