//! History of a correlation with the arena's rating: past ratings, each from the votes up to that moment, against the current values of the
//! other series. Computed from the log; nothing is stored.

use crate::correlation::{Series, SeriesName, VotePart};
use crate::rating::bootstrap_samples::Metric;
use crate::rating::leaderboards::history::Moment;
use crate::rating::votes::slice::Slice;
use crate::stats::Undefined;
use crate::stats::correlation::Coefficient;

/// Correlation at a past moment.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryPoint {
    /// Time in seconds since 1970.
    pub seconds: f64,
    /// Number of models that had a rating and are in the other series.
    pub n: usize,
    /// Correlation coefficient, or why it is undefined.
    pub r: Result<f64, Undefined>,
}

/// Computes the history of two series, one of which is the rating by all votes; empty otherwise.
#[must_use]
pub fn correlation_history(history: &[Moment], x: &Series, y: &Series, coefficient: Coefficient) -> Vec<HistoryPoint> {
    let other = match [is_rating(x), is_rating(y)] {
        [true, false] => y,
        [false, true] => x,
        _ => return Vec::new(),
    };
    history.iter().map(|moment| at(moment, other, coefficient)).collect()
}

fn at(moment: &Moment, other: &Series, coefficient: Coefficient) -> HistoryPoint {
    let both = moment.ratings.iter().filter_map(|(model, rating)| Some((*rating, other.points.get(model)?.value)));
    let (ratings, values): (Vec<f64>, Vec<f64>) = both.unzip();
    let r = coefficient.correlate(&ratings, &values).map(|found| found.r);
    HistoryPoint { seconds: moment.seconds, n: ratings.len(), r }
}

fn is_rating(series: &Series) -> bool {
    let whole = VotePart(Slice::default());
    matches!(&series.name, SeriesName::Arena { metric: Metric::Rating, part } if *part == whole)
}
