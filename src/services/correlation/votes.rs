//! Figures of the arena's leaderboard, of all votes or a part of them.

use std::collections::BTreeMap;

use super::{Point, SeriesError};
use crate::rating::bootstrap::BootstrapOptions;
use crate::rating::leaderboard::{LeaderboardOptions, RankedModel, rank_log};
use crate::rating::redraw::{Figure, redraw};
use crate::rating::vote_log::VoteLog;
use crate::stats::Interval;

/// A figure of every model that has one; a model whose rating is only a bound has none. Ratings have the interval of the
/// leaderboard, the others that of their draws.
///
/// # Errors
/// [`SeriesError::Fit`].
pub(super) fn figures(
    log: &VoteLog,
    figure: Figure,
    options: &LeaderboardOptions,
    bootstrap: BootstrapOptions,
) -> Result<BTreeMap<String, Point>, SeriesError> {
    let board = rank_log(log, options)?;
    let redrawn = redraw(log, figure, options, bootstrap)?;
    let bounded = board.models.iter().filter(|model| model.unbounded.is_none());
    let point = |model: &RankedModel| {
        let position = redrawn.models.iter().position(|name| *name == model.model);
        let draws = redrawn.replicates.iter().map(|values| values[position?]).collect();
        let drawn = Point::drawn(figure.of(model), draws, options.confidence);
        Point { interval: if figure == Figure::Rating { of_board(model) } else { drawn.interval }, ..drawn }
    };
    Ok(bounded.map(|model| (model.model.clone(), point(model))).collect())
}

fn of_board(model: &RankedModel) -> Option<Interval> {
    Some(Interval { lower: model.lower?, upper: model.upper? })
}
