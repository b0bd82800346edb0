//! Study: comparisons and mixtures of series that one file defines.
//!
//! [`Study::parse`] parses the file, [`compute`](fn@compute) compares; `render::report::study` writes the results.

mod compute;
mod error;
mod file;
mod results;

pub use compute::{SeriesIndex, compute};
pub use error::StudyError;
pub use file::{CombinationLine, MixturePlan, PairLine, Study, StudyFile};
pub use results::{Fact, Mixture, Results, StudiedCombination, StudiedPair, StudiedPoint, StudiedSeries, StudySources};
