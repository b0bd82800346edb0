//! Controls against rigging, each evaluated alone.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::arena::{SimulatedArena, leaderboard_of, places_of};
use super::attack::Attack;
use super::{RiggingError, RiggingOptions};
use crate::integrity::anomalous_voters::detection::{DEFAULT_ALPHA, VoterTest, test_voters};
use crate::rating::counts::comparison::ComparisonSet;
use crate::rating::counts::weighting::Reweight;
use crate::rating::options::LeaderboardOptions;
use crate::rating::votes::vote_log::{Labels, VoteLog};
use crate::stats::real_len;

/// Control against rigging.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Control {
    /// No control.
    None,
    /// Rates the first votes of each voter, up to a cap.
    VoterCap,
    /// Rates the first votes of each voter on one prompt, up to a cap. The attacker recognizes models by one prompt; honest voters repeat
    /// none.
    PromptCap,
    /// Excludes voters whom the score test flags.
    FlaggedExcluded,
    /// Ranks only models with enough votes.
    MinVotes,
    /// Weights votes by 1/max(votes of the pair, 50).
    Weights,
}

impl Control {
    /// All controls; the first is none.
    pub const ALL: [Self; 6] =
        [Self::None, Self::VoterCap, Self::PromptCap, Self::FlaggedExcluded, Self::MinVotes, Self::Weights];

    /// Returns the name of the control.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::VoterCap => "voter-cap",
            Self::PromptCap => "prompt-cap",
            Self::FlaggedExcluded => "flagged-excluded",
            Self::MinVotes => "min-votes",
            Self::Weights => "weights",
        }
    }
}

/// Limits of the controls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ControlLimits {
    /// Maximum number of rated votes per voter.
    pub voter_cap: usize,
    /// Maximum number of rated votes per voter on one prompt.
    pub prompt_cap: usize,
    /// Minimum number of votes of a ranked model.
    pub min_votes: u64,
}

impl Default for ControlLimits {
    fn default() -> Self {
        Self { voter_cap: 20, prompt_cap: 5, min_votes: 30 }
    }
}

/// Arena under one control.
pub(super) struct ArenaUnderControl<'a> {
    options: &'a RiggingOptions,
    arena: &'a SimulatedArena,
    control: Control,
    leaderboard_options: LeaderboardOptions,
    /// Rated honest votes.
    honest: ComparisonSet,
    places: Vec<Option<u64>>,
    votes_lost: f64,
    voters_hurt: f64,
}

/// Place of the target after rigged votes.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlaceAfter {
    pub(super) place: u64,
    /// Number of rated rigged votes.
    pub(super) rated: usize,
    /// Share of the attacker's accounts that lose at least one vote.
    pub(super) accounts_hit: f64,
}

impl<'a> ArenaUnderControl<'a> {
    pub(super) fn new(
        options: &'a RiggingOptions,
        arena: &'a SimulatedArena,
        control: Control,
    ) -> Result<Self, RiggingError> {
        let leaderboard_options = LeaderboardOptions {
            min_votes: if control == Control::MinVotes { options.limits.min_votes } else { 0 },
            reweight: if control == Control::Weights { Reweight::PairCount } else { Reweight::None },
            ..LeaderboardOptions::default()
        };
        let kept = rated_rows(&arena.log, control, options)?;
        let honest = rated_comparisons(&arena.log, &kept);
        let places = places_of(&leaderboard_of(&honest, &arena.log, &leaderboard_options)?, &arena.names);
        let lost = kept.iter().filter(|kept| !**kept).count();
        let voters = arena.log.voters.as_ref();
        let hurt: HashSet<u32> = voters
            .iter()
            .flat_map(|voters| voters.rows.iter().zip(&kept))
            .filter(|(_, kept)| !**kept)
            .map(|(v, _)| *v)
            .collect();
        let all = voters.map_or(1, |voters| voters.names.as_slice().len().max(1));
        let (votes_lost, voters_hurt) = (real_len(lost) / real_len(kept.len()), real_len(hurt.len()) / real_len(all));
        Ok(Self { options, arena, control, leaderboard_options, honest, places, votes_lost, voters_hurt })
    }

    pub(super) fn control(&self) -> Control {
        self.control
    }

    pub(super) fn honest_votes_lost(&self) -> f64 {
        self.votes_lost
    }

    pub(super) fn honest_voters_hurt(&self) -> f64 {
        self.voters_hurt
    }

    /// Returns the place of a model after the honest votes; the last if it has none.
    pub(super) fn place_before(&self, model: usize) -> u64 {
        self.place_in(&self.places, model)
    }

    fn place_in(&self, places: &[Option<u64>], model: usize) -> u64 {
        places[model].unwrap_or_else(|| u64::try_from(self.arena.names.len()).unwrap_or(u64::MAX))
    }

    /// Returns the place of the target after the first rigged votes.
    pub(super) fn place(&self, attack: &Attack, rigged: usize) -> Result<PlaceAfter, RiggingError> {
        let (votes, kept) = match self.control {
            Control::FlaggedExcluded => self.without_flagged(attack, rigged)?,
            _ => self.with(attack, rigged)?,
        };
        let places = places_of(&leaderboard_of(&votes, &self.arena.log, &self.leaderboard_options)?, &self.arena.names);
        let accounts = kept.chunks(self.options.votes_per_account);
        let hit = accounts.clone().filter(|votes| votes.contains(&false)).count();
        Ok(PlaceAfter {
            place: self.place_in(&places, attack.target()),
            rated: kept.iter().filter(|kept| **kept).count(),
            accounts_hit: real_len(hit) / real_len(accounts.len().max(1)),
        })
    }

    /// Returns the rated votes, limited by the control's cap per account if it has one, and which of the attacker's votes are rated.
    fn with(&self, attack: &Attack, rigged: usize) -> Result<(ComparisonSet, Vec<bool>), RiggingError> {
        let most = match self.control {
            Control::VoterCap => self.options.limits.voter_cap,
            Control::PromptCap => self.options.limits.prompt_cap,
            _ => usize::MAX,
        };
        let mut votes = self.honest.clone();
        let kept: Vec<bool> = (0..rigged).map(|index| index % self.options.votes_per_account < most).collect();
        for (vote, _) in attack.votes(rigged).iter().zip(&kept).filter(|(_, kept)| **kept) {
            let [a, b] = vote.models.map(|model| &self.arena.names[model]);
            votes.record(a, b, vote.outcome)?;
        }
        Ok((votes, kept))
    }

    fn without_flagged(&self, attack: &Attack, rigged: usize) -> Result<(ComparisonSet, Vec<bool>), RiggingError> {
        let mut log = self.arena.log.clone();
        for (index, vote) in attack.votes(rigged).iter().enumerate() {
            let [a, b] = vote.models.map(|model| &self.arena.names[model]);
            log.push(a, b, vote.outcome)?;
            let account = index / self.options.votes_per_account;
            log.voters.iter_mut().for_each(|voters| voters.push(Some(&format!("rigger-{account}"))));
        }
        let kept = rated_rows(&log, Control::FlaggedExcluded, self.options)?;
        Ok((rated_comparisons(&log, &kept), kept[self.arena.log.len()..].to_vec()))
    }
}

fn rated_comparisons(log: &VoteLog, kept: &[bool]) -> ComparisonSet {
    let mut log = log.clone();
    log.retain(kept);
    ComparisonSet::from_log(&log)
}

/// Returns for each vote whether it is rated.
fn rated_rows(log: &VoteLog, control: Control, options: &RiggingOptions) -> Result<Vec<bool>, RiggingError> {
    let all = vec![true; log.len()];
    let Some(voters) = &log.voters else { return Ok(all) };
    match control {
        Control::VoterCap => {
            let mut cast = HashMap::new();
            Ok(voters
                .rows
                .iter()
                .map(|&voter| {
                    let votes: &mut usize = cast.entry(voter).or_default();
                    *votes += 1;
                    *votes <= options.limits.voter_cap
                })
                .collect())
        }
        Control::FlaggedExcluded => {
            let report = test_voters(log, VoterTest::Score, options.simulation.seed)?;
            let flagged: HashSet<u32> =
                report.flagged(DEFAULT_ALPHA).filter_map(|result| voters.names.find(&result.voter)).collect();
            Ok(voters.rows.iter().map(|voter| *voter == Labels::NONE || !flagged.contains(voter)).collect())
        }
        Control::None | Control::PromptCap | Control::MinVotes | Control::Weights => Ok(all),
    }
}
