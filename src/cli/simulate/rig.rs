//! `langya simulate --rig`: gain and cost of rigging an arena, under each control.

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::SimulateOptions;
use crate::domain::battle::pairing::{PairingRules, Policy};
use crate::domain::integrity::rigging::rigging_simulation::{
    Control, ControlLimits, PLACE_GAINS, RIGGED_VOTES, RiggingError, RiggingOptions, RiggingResult, simulate_rigging,
};
use crate::error::{BadInput, CommandFailure, CommandResult};
use crate::infra::config::PairingSettings;
use crate::output::output_format::OutputFormat;
use crate::output::table::{TableRow, render};
use crate::output::{progress, standard_output};

/// Flags of a simulated attack.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Rigging")]
pub(super) struct RigFlags {
    /// Add an attacker who wants one model to rise, and print what it gains and costs under each control, instead of writing
    /// votes
    #[arg(long, conflicts_with = "out")]
    rig: bool,
    /// Probability that the attacker recognizes a model
    #[arg(long, value_name = "SHARE", default_value_t = 0.95, requires = "rig")]
    detector: f64,
    /// Number of target models, over which results are averaged
    #[arg(long, value_name = "N", default_value_t = 10, requires = "rig")]
    targets: usize,
    /// Maximum number of rigged votes in the search for a cost, 500 to a million
    #[arg(long, value_name = "N", default_value_t = 2_000, requires = "rig")]
    most_rigged: usize,
    /// Rigged votes per account
    #[arg(long, value_name = "N", default_value_t = 50, requires = "rig")]
    votes_per_account: usize,
    /// Shares of the attacker's votes that are honest, such as 0,0.5,0.8: each is simulated separately
    #[arg(long, value_name = "SHARES", value_delimiter = ',', default_value = "0", requires = "rig")]
    rigger_honest: Vec<f64>,
    /// Maximum number of rated votes per voter under this control
    #[arg(long, value_name = "N", default_value_t = ControlLimits::default().voter_cap, requires = "rig")]
    voter_cap: usize,
    /// Maximum number of rated votes per voter on one prompt under this control
    #[arg(long, value_name = "N", default_value_t = ControlLimits::default().prompt_cap, requires = "rig")]
    prompt_cap: usize,
    /// Minimum number of votes for a model to be ranked under this control
    #[arg(long, value_name = "N", default_value_t = ControlLimits::default().min_votes, requires = "rig")]
    min_votes: u64,
    /// Pairing policy of the arena
    #[arg(long, value_name = "uniform|weighted|elo|active", value_parser = parse_policy, requires = "rig")]
    policy: Option<Policy>,
    /// Output format
    #[arg(long, value_enum, default_value_t, requires = "rig")]
    format: OutputFormat,
}

fn parse_policy(text: &str) -> Result<Policy, &'static str> {
    let all = [Policy::Uniform, Policy::Weighted, Policy::Elo, Policy::Active];
    all.into_iter().find(|policy| policy.as_str() == text).ok_or("expected uniform, weighted, elo or active")
}

impl CommandFailure for RiggingError {
    fn is_input(&self) -> bool {
        !matches!(self, Self::Fit(_))
    }
}

/// Output row of one strategy under one control, with columns for each number of rigged votes and of places.
#[derive(Serialize)]
struct RigLine {
    honest_votes: u32,
    strategy: &'static str,
    /// Share of the attacker's votes that are honest.
    rigger_honest: f64,
    control: &'static str,
    /// Mean number of places gained after 10, 25, 50, 100, 250 and 500 rigged votes.
    places_up_10: f64,
    places_up_25: f64,
    places_up_50: f64,
    places_up_100: f64,
    places_up_250: f64,
    places_up_500: f64,
    /// Number of battles for 500 rigged votes, and how many of these are rated.
    battles_500: f64,
    rated_500: f64,
    /// Rigged votes and battles for gaining one, three and five places; empty if most targets do not rise so far.
    votes_for_1: Option<usize>,
    battles_for_1: Option<usize>,
    votes_for_3: Option<usize>,
    battles_for_3: Option<usize>,
    votes_for_5: Option<usize>,
    battles_for_5: Option<usize>,
    /// Share of the attacker's accounts with a vote excluded by the control, after 500 votes.
    riggers_hit_500: f64,
    honest_votes_lost: f64,
    honest_voters_hurt: f64,
}

impl RigLine {
    fn new(honest_votes: u32, result: &RiggingResult) -> Self {
        let up = |index: usize| result.effects[index].places;
        let cost = |index: usize| (result.costs[index].votes, result.costs[index].battles);
        let [(votes_for_1, battles_for_1), (votes_for_3, battles_for_3), (votes_for_5, battles_for_5)] =
            [0, 1, 2].map(cost);
        let last = &result.effects[RIGGED_VOTES.len() - 1];
        Self {
            honest_votes,
            strategy: result.strategy.as_str(),
            rigger_honest: result.honest_share,
            control: result.control.as_str(),
            places_up_10: up(0),
            places_up_25: up(1),
            places_up_50: up(2),
            places_up_100: up(3),
            places_up_250: up(4),
            places_up_500: up(5),
            battles_500: last.battles,
            rated_500: last.rated,
            votes_for_1,
            battles_for_1,
            votes_for_3,
            battles_for_3,
            votes_for_5,
            battles_for_5,
            riggers_hit_500: last.accounts_hit,
            honest_votes_lost: result.honest_votes_lost,
            honest_voters_hurt: result.honest_voters_hurt,
        }
    }
}

impl TableRow for RigLine {
    const HEADS: &'static [&'static str] = &[
        "honest",
        "strategy",
        "honest part",
        "control",
        "10",
        "25",
        "50",
        "100",
        "250",
        "500",
        "battles",
        "rated",
        "+1",
        "+3",
        "+5",
        "riggers hit",
        "votes lost",
        "voters hurt",
    ];

    fn cells(&self) -> Vec<String> {
        let up = [
            self.places_up_10,
            self.places_up_25,
            self.places_up_50,
            self.places_up_100,
            self.places_up_250,
            self.places_up_500,
        ];
        let cost = |votes: Option<usize>, battles: Option<usize>| match (votes, battles) {
            (Some(votes), Some(battles)) => format!("{votes} ({battles})"),
            _ => "-".to_owned(),
        };
        let mut cells = vec![self.honest_votes.to_string(), self.strategy.to_owned()];
        cells.extend([format!("{:.0} %", 100.0 * self.rigger_honest), self.control.to_owned()]);
        cells.extend(up.map(|places| format!("{places:.2}")));
        cells.extend([format!("{:.0}", self.battles_500), format!("{:.0}", self.rated_500)]);
        cells.push(cost(self.votes_for_1, self.battles_for_1));
        cells.push(cost(self.votes_for_3, self.battles_for_3));
        cells.push(cost(self.votes_for_5, self.battles_for_5));
        cells.extend(
            [self.riggers_hit_500, self.honest_votes_lost, self.honest_voters_hurt]
                .map(|share| format!("{:.1} %", 100.0 * share)),
        );
        cells
    }
}

/// Simulates attacks and prints one line for each strategy and control.
///
/// # Errors
/// Invalid options.
pub(super) fn run(options: &SimulateOptions) -> CommandResult<ExitCode> {
    let flags = &options.rig;
    let pairing =
        PairingRules { policy: flags.policy.unwrap_or(Policy::Uniform), ..PairingSettings::default().rules() };
    let rigging = RiggingOptions {
        simulation: options.simulation(),
        honest_votes: usize::try_from(options.votes).map_err(|error| BadInput(error.to_string()))?,
        pairing,
        detector_accuracy: flags.detector,
        targets: flags.targets,
        most_rigged: flags.most_rigged,
        votes_per_account: flags.votes_per_account,
        honest_shares: flags.rigger_honest.clone(),
        limits: ControlLimits { voter_cap: flags.voter_cap, prompt_cap: flags.prompt_cap, min_votes: flags.min_votes },
    };
    let bar = progress::bar("simulating attacks (per mille)");
    let results = simulate_rigging(&rigging, &Control::ALL, |share| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share is from 0 to 1")]
        progress::show(&bar, (1000.0 * share) as u64, 1000_u64);
    })?;
    bar.finish_and_clear();
    let lines: Vec<RigLine> = results.iter().map(|result| RigLine::new(options.votes, result)).collect();
    standard_output::print(&render(&lines, flags.format)?)?;
    eprintln!(
        "note: seed {}; mean places up for {RIGGED_VOTES:?} rigged votes; median votes (battles) for {PLACE_GAINS:?} places, - if most \
         targets do not rise so far with {} votes",
        options.seed, flags.most_rigged
    );
    Ok(ExitCode::SUCCESS)
}
