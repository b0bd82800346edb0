//! What a reader of a leaderboard must know, in whole sentences.

use super::bradley_terry::{Direction, Fit};
use super::comparison::Tally;
use super::leaderboard::{LeaderboardOptions, RankedModel};

/// Bridges named in the text; all of them are in the data.
const BRIDGES_NAMED: usize = 5;

/// Notes on the ranked models of a fit.
pub(super) fn notes(tally: &Tally, fit: &Fit, models: &[RankedModel], options: &LeaderboardOptions) -> Vec<String> {
    if models.is_empty() {
        return vec!["no rated votes yet: the leaderboard fills with the first vote between two models".into()];
    }
    let mut notes = Vec::new();
    if !fit.converged {
        notes.push("the fit did not converge: treat these ratings as approximate".into());
    }
    notes.extend(models.iter().filter_map(|model| unbounded(model, options.confidence.share())));
    if fit.components > 1 {
        notes.push(format!(
            "the votes leave {} groups of models that cannot be compared: each is rated apart with mean 1000",
            fit.components
        ));
        notes.extend(bridges(tally, fit));
    }
    notes
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

fn bridges(tally: &Tally, fit: &Fit) -> Option<String> {
    let name = |model: usize| &tally.models[model].name;
    let named: Vec<String> = fit
        .bridges
        .iter()
        .take(BRIDGES_NAMED)
        .map(|bridge| format!("{:?} over {:?} ({})", name(bridge.winner), name(bridge.loser), bridge.votes))
        .collect();
    let more = fit.bridges.len().saturating_sub(BRIDGES_NAMED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!named.is_empty()).then(|| {
        format!("only one-way votes join these groups: {}{rest}; a vote the other way would", named.join(", "))
    })
}
