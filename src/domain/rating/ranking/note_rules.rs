//! Which notes a leaderboard needs.

use super::super::bootstrap::BootstrapReport;
use super::super::leaderboard::{Leaderboard, RankedModel};
use super::super::notes::RatingNote;
use super::super::options::{IntervalMethod, LeaderboardOptions, Method};
use super::super::scoring::TieRule;
use super::super::tally::Tally;

/// One-way connections that the note lists; [`Leaderboard::bridges`] has all of them.
const BRIDGES_LISTED: usize = 5;

pub(super) fn notes(tally: &Tally, board: &Leaderboard, options: &LeaderboardOptions) -> Vec<RatingNote> {
    if board.models.is_empty() {
        return vec![RatingNote::NoVotes];
    }
    let mut notes = Vec::new();
    if !board.converged {
        notes.push(RatingNote::NotConverged);
    }
    notes.extend(missing_tie_parameter(tally, board, options));
    notes.extend(board.models.iter().filter_map(|model| unbounded(model, options.confidence.share())));
    if board.components > 1 {
        notes.push(RatingNote::Components { count: board.components });
        notes.extend(one_way_votes(board));
    }
    notes.extend(board.bootstrap.and_then(infinite_replicates));
    notes.extend(missing_intervals(board));
    notes
}

fn missing_tie_parameter(tally: &Tally, board: &Leaderboard, options: &LeaderboardOptions) -> Option<RatingNote> {
    let requested = options.method == Method::Bt && options.scoring.ties == TieRule::Davidson;
    let no_ties = tally.models.iter().all(|model| model.counts.ties + model.counts.both_bad == 0);
    (requested && board.davidson.is_none()).then_some(if no_ties {
        RatingNote::NoTies
    } else {
        RatingNote::UnboundedTieParameter
    })
}

/// The reason why models that are compared with others have no interval.
fn missing_intervals(board: &Leaderboard) -> Option<RatingNote> {
    let rated = |model: &&RankedModel| model.unbounded.is_none();
    let compared = |model: &RankedModel| {
        board.models.iter().filter(rated).any(|o| o.model != model.model && o.component == model.component)
    };
    let missing = |model: &RankedModel| model.standard_error.is_none() && compared(model);
    if !board.models.iter().filter(rated).any(missing) {
        return None;
    }
    match board.interval {
        IntervalMethod::Cluster => Some(RatingNote::NoVoterVariance),
        IntervalMethod::Sandwich => Some(RatingNote::NoVoteVariance),
        IntervalMethod::Bootstrap | IntervalMethod::None => None,
    }
}

fn infinite_replicates(report: BootstrapReport) -> Option<RatingNote> {
    let BootstrapReport { replicates, not_finite: infinite, .. } = report;
    (infinite > 0).then_some(RatingNote::InfiniteReplicates { infinite, replicates })
}

fn unbounded(model: &RankedModel, confidence: f64) -> Option<RatingNote> {
    let direction = model.unbounded?;
    Some(RatingNote::Unbounded { model: model.model.clone(), direction, confidence })
}

fn one_way_votes(board: &Leaderboard) -> Option<RatingNote> {
    let bridges: Vec<_> = board.bridges.iter().take(BRIDGES_LISTED).cloned().collect();
    let more = board.bridges.len() - bridges.len();
    (!bridges.is_empty()).then_some(RatingNote::OneWayVotes { bridges, more })
}
