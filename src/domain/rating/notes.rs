//! What a reader of a leaderboard must know, in whole sentences.

use super::bootstrap::BootstrapReport;
use super::bradley_terry::Direction;
use super::leaderboard::{IntervalMethod, Leaderboard, LeaderboardOptions, Method, RankedModel};
use super::scoring::TieRule;
use super::tally::Tally;

/// Bridges named in the text; all of them are in the data.
const BRIDGES_NAMED: usize = 5;

/// Notes on a leaderboard.
pub(super) fn notes(tally: &Tally, board: &Leaderboard, options: &LeaderboardOptions) -> Vec<String> {
    if board.models.is_empty() {
        return vec!["no rated votes yet: the leaderboard fills with the first vote between two models".into()];
    }
    let mut notes = Vec::new();
    if !board.converged {
        notes.push("the fit did not converge: treat these ratings as approximate".into());
    }
    notes.extend(ties(tally, board, options));
    notes.extend(board.models.iter().filter_map(|model| unbounded(model, options.confidence.share())));
    if board.components > 1 {
        notes.push(format!(
            "the votes leave {} groups of models that cannot be compared: each is rated apart with mean 1000",
            board.components
        ));
        notes.extend(bridges(board));
    }
    notes.extend(board.bootstrap.and_then(not_finite));
    notes.extend(no_interval(board));
    notes
}

/// Why there is no ν though it was asked for.
fn ties(tally: &Tally, board: &Leaderboard, options: &LeaderboardOptions) -> Option<String> {
    let missing = options.method == Method::Bt && options.scoring.ties == TieRule::Davidson && board.davidson.is_none();
    let none = tally.models.iter().all(|model| model.counts.ties + model.counts.both_bad == 0);
    missing.then(|| {
        if none {
            "there is no tie, so Davidson's model is that of Bradley and Terry".into()
        } else {
            "these votes give Davidson's tie parameter no finite value, so a tie counts half a win to each side".into()
        }
    })
}

/// Why models that are compared with others have no interval.
fn no_interval(board: &Leaderboard) -> Option<String> {
    let rated = |model: &&RankedModel| model.unbounded.is_none();
    let compared = |model: &RankedModel| {
        board.models.iter().filter(rated).any(|o| o.model != model.model && o.component == model.component)
    };
    let missing = |model: &RankedModel| model.standard_error.is_none() && compared(model);
    if !board.models.iter().filter(rated).any(missing) {
        return None;
    }
    match board.interval {
        IntervalMethod::Cluster => Some(
            "all votes of a group of models are one voter's, or turned out as the fit has them, so nothing says how much \
             voters differ: they have no intervals"
                .into(),
        ),
        IntervalMethod::Sandwich => Some(
            "all votes of a group of models turned out exactly as the fit has them, such as a single tie, so nothing says \
             how much of it is luck: they have no intervals"
                .into(),
        ),
        IntervalMethod::Bootstrap | IntervalMethod::None => None,
    }
}

fn not_finite(report: BootstrapReport) -> Option<String> {
    (report.not_finite > 0).then(|| {
        format!(
            "in {} of {} bootstrap replicates some model had no finite rating, having lost all its wins or all its losses: \
             an interval that this reaches has an open end",
            report.not_finite, report.replicates
        )
    })
}

fn unbounded(model: &RankedModel, confidence: f64) -> Option<String> {
    let (did, side, bound) = match model.unbounded? {
        Direction::Above => ("won", "upper", "lower"),
        Direction::Below => ("lost", "lower", "upper"),
    };
    Some(format!(
        "{:?} {did} every vote against the models rated here, so its rating has no {side} limit: shown is its {bound} \
         limit by likelihood ratio at {confidence} confidence, and the others are rated as if it had not taken part",
        model.model
    ))
}

fn bridges(board: &Leaderboard) -> Option<String> {
    let named: Vec<String> = board
        .bridges
        .iter()
        .take(BRIDGES_NAMED)
        .map(|bridge| format!("{:?} over {:?} ({})", bridge.winner, bridge.loser, bridge.votes))
        .collect();
    let more = board.bridges.len().saturating_sub(BRIDGES_NAMED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!named.is_empty()).then(|| {
        format!("only one-way votes join these groups: {}{rest}; a vote the other way would", named.join(", "))
    })
}
