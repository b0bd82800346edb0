//! `langya simulate`: simulates votes from known strengths, to test power and coverage, or the effect of rigging (`rig`).

mod rig;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::output::out_file::{OutFile, Overwrite, finish_together};
use super::signals::unless_interrupted;
use crate::domain::plural::counted;
use crate::domain::rating::simulate::{PairingPolicy, Simulation, SimulationOptions, VoterActivity};
use crate::error::{BadInput, CommandResult};
use crate::formats::simulation::{SimulatedVotesFile, write_true_strengths};
use crate::formats::tables::Format;

/// Number of votes written between two checks for a signal.
const VOTES_PER_SIGNAL_CHECK: u32 = 10_000;

/// Options of `langya simulate`.
#[derive(Debug, Clone, Args)]
pub struct SimulateOptions {
    /// Number of models
    #[arg(long, value_name = "N")]
    models: u32,
    /// Number of votes
    #[arg(long, value_name = "N")]
    votes: u32,
    /// Seed: the same seed gives the same file, byte for byte
    #[arg(long, value_name = "S")]
    seed: u64,
    /// File to write: .csv, .jsonl or .parquet
    #[arg(long, value_name = "FILE", required_unless_present = "rig")]
    out: Option<PathBuf>,
    /// File for the true strengths; by default the name of the votes file ending in .truth.csv
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Standard deviation of the strengths, in log odds: 0 to 50
    #[arg(long, value_name = "D", default_value_t = 1.0)]
    spread: f64,
    /// Share of ties among the votes
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    ties: f64,
    /// Share of both-bad votes
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    both_bad: f64,
    /// Number of voters, at most 10 million
    #[arg(long, value_name = "N", default_value_t = 1000)]
    voters: u32,
    /// Distribution of votes over voters: all equally often, or the k-th in proportion to 1/k
    #[arg(long, value_name = "equal|zipf", default_value = "equal")]
    activity: VoterActivity,
    /// Share of a vote's random variation that is its voter's lasting taste: 0 for independent votes, below 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    voter_spread: f64,
    /// Effects of length, headings, lists and bold: change of the log odds per standard deviation
    #[arg(long, value_name = "L,H,L,B", value_parser = parse_effects, allow_hyphen_values = true)]
    style: Option<[f64; 4]>,
    /// Policy for choosing pairs of models
    #[arg(long, value_name = "uniform|zipf|close", default_value = "uniform")]
    pairing: PairingPolicy,
    #[command(flatten)]
    rig: rig::RigFlags,
}

/// Simulates votes and writes them with the true strengths. Both files are written atomically; a signal leaves neither.
///
/// # Errors
/// Invalid options, a file that cannot be written, or a signal.
pub async fn run(options: SimulateOptions) -> CommandResult<ExitCode> {
    let Some(file) = &options.out else { return rig::run(&options) };
    let format = format_of(file)?;
    let truth = options.truth.clone().unwrap_or_else(|| file.with_extension("truth.csv"));
    if truth == *file {
        return Err(BadInput(format!("--out and --truth are both {}: name two files", truth.display())).into());
    }
    let mut simulation = Simulation::new(options.simulation()).map_err(|error| BadInput(error.to_string()))?;
    unless_interrupted(write_files(&options, &mut simulation, format, [file, &truth])).await?;
    eprintln!("{} written; true strengths in {}", counted(options.votes, "vote", "votes"), truth.display());
    Ok(ExitCode::SUCCESS)
}

/// Writes the votes and the true strengths, and renames both files into place once complete. Cancel-safe: unfinished files are removed on
/// drop.
async fn write_files(
    options: &SimulateOptions,
    simulation: &mut Simulation,
    format: Format,
    [votes, truth]: [&Path; 2],
) -> CommandResult<()> {
    let votes_out = OutFile::create(votes, options.overwrite)?;
    let truth_out = OutFile::create(truth, options.overwrite)?;
    let bar = super::output::progress::bar("simulating votes");
    bar.set_length(options.votes.into());
    let policy = options.pairing.as_str();
    votes_out
        .fill_by(async |out| {
            let mut file = SimulatedVotesFile::begin(policy, format, out)?;
            let mut written = 0;
            while written < options.votes {
                let part = VOTES_PER_SIGNAL_CHECK.min(options.votes - written);
                file.write(simulation, part)?;
                written += part;
                bar.set_position(written.into());
                tokio::task::yield_now().await;
            }
            file.finish()
        })
        .await?;
    bar.finish_and_clear();
    truth_out.fill(|out| write_true_strengths(simulation.models(), out))?;
    finish_together([votes_out, truth_out])
}

impl SimulateOptions {
    fn simulation(&self) -> SimulationOptions {
        SimulationOptions {
            models: self.models,
            seed: self.seed,
            spread: self.spread,
            ties: self.ties,
            both_bad: self.both_bad,
            voters: self.voters,
            activity: self.activity,
            voter_spread: self.voter_spread,
            style: self.style.unwrap_or_default(),
            pairing: self.pairing,
        }
    }
}

fn parse_effects(text: &str) -> Result<[f64; 4], &'static str> {
    let numbers = text.split(',').map(|number| number.trim().parse().ok()).collect::<Option<Vec<f64>>>();
    numbers.and_then(|numbers| numbers.try_into().ok()).ok_or("write four numbers, for example 0.3,0,-0.1,0")
}

fn format_of(path: &Path) -> Result<Format, BadInput> {
    Format::of_extension(path).ok_or_else(|| {
        let path = path.display();
        BadInput(format!("cannot tell the format of {path}: end its name in .csv, .jsonl or .parquet"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effects_are_four_numbers() {
        assert_eq!(parse_effects("0.3, 0,-0.1,0"), Ok([0.3, 0.0, -0.1, 0.0]));
        for text in ["", "0.3", "1,2,3", "1,2,3,4,5", "a,b,c,d"] {
            assert_eq!(parse_effects(text), Err("write four numbers, for example 0.3,0,-0.1,0"), "{text:?}");
        }
    }
}
