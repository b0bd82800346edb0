//! Effect of exclusions on a leaderboard, rule by rule.

use std::sync::Arc;

use super::exclusions_in_force::ExclusionsInForce;
use super::leaderboard_change::LeaderboardChange;
use super::ratable_votes::RatableVotes;
use crate::rating::FitError;
use crate::rating::leaderboards::ranking::rank_log;
use crate::rating::options::LeaderboardOptions;

/// Effect of rating the votes that each rule excludes.
#[derive(Debug, Default)]
pub struct ExclusionReport {
    /// Effects by rule, in alphabetical order.
    pub rules: Vec<RuleEffect>,
}

/// Effect of one rule's exclusions.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleEffect {
    /// Name of the rule.
    pub rule: String,
    /// Number of votes that would be rated without the rule.
    pub votes: u64,
    /// Number of models whose rank would change.
    pub ranks_changed: usize,
    /// Largest change of a rating, in points; `None` if no model has a rating on both leaderboards.
    pub largest_change: Option<f64>,
}

impl ExclusionReport {
    /// Refits the leaderboard once without each rule in force.
    ///
    /// # Errors
    /// [`FitError`].
    pub fn new(
        cast: &RatableVotes,
        in_force: &ExclusionsInForce,
        options: &LeaderboardOptions,
    ) -> Result<Self, FitError> {
        let leaderboard = rank_log(&cast.rated(in_force), options)?;
        let effect = |rule: &Arc<str>| {
            let without = rank_log(&cast.rated(&in_force.clone().without_rule(rule)), options)?;
            let change = LeaderboardChange::between(&leaderboard, &without);
            Ok(RuleEffect {
                rule: rule.to_string(),
                votes: change.votes_after - change.votes_before,
                ranks_changed: change.ranks_changed,
                largest_change: change.largest_change,
            })
        };
        let rules = in_force.rules().iter().map(effect).collect::<Result<_, FitError>>()?;
        Ok(Self { rules })
    }

    /// Returns the effect of a rule, if it was computed.
    #[must_use]
    pub fn effect_of(&self, rule: &str) -> Option<&RuleEffect> {
        self.rules.iter().find(|effect| effect.rule == rule)
    }
}
