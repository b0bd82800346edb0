//! `langya votes flagged`: voters whose votes differ from the crowd's more than chance and honest tastes explain.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde::Serialize;
use tokio::task::spawn_blocking;

use crate::Location;
use crate::databases;
use crate::domain::integrity::anomalous_voters::detection::{
    DEFAULT_ALPHA, MIN_VOTES, VoterReport, VoterResult, VoterTest, test_voters,
};
use crate::domain::plural::counted;
use crate::domain::rating::FitError;
use crate::domain::rating::votes::vote_log::{ColumnSet, VoteLog};
use crate::error::{BadInput, CommandResult};
use crate::formats::{check_given_once, votes};
use crate::infra::config::Environment;
use crate::infra::storage::IfMissing;
use crate::output::output_format::OutputFormat;
use crate::output::table::{TableRow, or_dash, render, value_or_dash};
use crate::output::{progress, standard_output};
use crate::services::exclusions::flagged_voters::{hide_voters, read_voters};
use crate::vote_files::{ReadFlags, note_unread_columns};

/// Flags of `langya votes flagged`.
#[derive(Debug, Clone, Args)]
pub(super) struct FlaggedOptions {
    #[command(flatten)]
    location: Location,
    /// Files of votes; - for the standard input; without files, the rated votes of the database
    #[arg(long, value_name = "FILE", num_args = 1..)]
    votes: Vec<PathBuf>,
    #[command(flatten)]
    reading: ReadFlags,
    /// Test of the voters
    #[arg(long, value_enum, default_value_t)]
    test: TestFlag,
    /// Largest expected share of honest voters among those listed (Benjamini and Hochberg); nobody is listed if 0.1 would list more
    /// than a quarter of all voters
    #[arg(long, value_name = "A", default_value_t = DEFAULT_ALPHA)]
    alpha: f64,
    /// Seed of simulated voters and checkpoints
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// The tests by name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum TestFlag {
    /// Votes for or against one model, beyond the ratings and honest tastes
    #[default]
    Score,
    /// Votes that are unlikely as a whole (Huang et al. 2025)
    Likelihood,
    /// Votes for or against one model, by Fisher's combination (Chiang et al. 2024)
    Fisher,
    /// All three
    All,
}

impl TestFlag {
    fn tests(self) -> Vec<VoterTest> {
        match self {
            Self::Score => vec![VoterTest::Score],
            Self::Likelihood => vec![VoterTest::Likelihood],
            Self::Fisher => vec![VoterTest::Fisher],
            Self::All => VoterTest::ALL.to_vec(),
        }
    }
}

/// Output row of a flagged voter.
#[derive(Serialize)]
struct FlaggedLine<'v> {
    voter: &'v str,
    votes: u64,
    test: &'static str,
    /// `for` or `against` the model; empty if the test considers no single model.
    votes_are: &'static str,
    model: &'v str,
    votes_on_model: Option<u64>,
    wins: Option<u64>,
    expected_wins: Option<f64>,
    statistic: f64,
    p: f64,
    q: f64,
}

impl<'v> FlaggedLine<'v> {
    fn new(result: &'v VoterResult) -> Self {
        let model = result.model.as_ref();
        Self {
            voter: &result.voter,
            votes: result.votes,
            test: result.test.as_str(),
            votes_are: model.map_or("", |model| if model.favours { "for" } else { "against" }),
            model: model.map_or("", |model| &model.model),
            votes_on_model: model.map(|model| model.votes),
            wins: model.and_then(|model| model.wins),
            expected_wins: model.and_then(|model| model.expected),
            statistic: result.statistic,
            p: result.p,
            q: result.q,
        }
    }
}

impl TableRow for FlaggedLine<'_> {
    const HEADS: &'static [&'static str] =
        &["voter", "votes", "test", "votes are", "model", "on it", "wins", "expected", "statistic", "p", "q"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.voter.to_owned(),
            self.votes.to_string(),
            self.test.to_owned(),
            or_dash(self.votes_are),
            or_dash(self.model),
            value_or_dash(self.votes_on_model),
            value_or_dash(self.wins),
            value_or_dash(self.expected_wins.map(|expected| format!("{expected:.1}"))),
            format!("{:.2}", self.statistic),
            format!("{:.2e}", self.p),
            format!("{:.2e}", self.q),
        ]
    }
}

/// Prints the flagged voters, the most suspicious first. Excludes no votes.
///
/// # Errors
/// Invalid files or options, votes without voters, or an unavailable database.
pub(super) async fn run(options: &FlaggedOptions, env: &Environment) -> CommandResult<ExitCode> {
    if !(0.0..=1.0).contains(&options.alpha) {
        return Err(BadInput(format!("--alpha is {}: give a share from 0 to 1", options.alpha)).into());
    }
    let (log, stored) = if options.votes.is_empty() {
        (read_database(options, env).await?, true)
    } else {
        check_given_once(&options.votes)?;
        let columns = ColumnSet { voters: true, ..ColumnSet::default() };
        (votes::read_log(&options.votes, columns, &options.reading.options())?, false)
    };
    note_unread_columns(&log.unread_columns);
    let (tests, seed) = (options.test.tests(), options.seed);
    // On a blocking thread, so that a signal does not wait minutes for it.
    let testing =
        spawn_blocking(move || tests.into_iter().map(|test| (test, test_voters(&log, test, seed))).collect::<Vec<_>>());
    let mut reports = Vec::new();
    for (test, tested) in testing.await? {
        let mut report = match tested {
            // There are no votes yet, or all were imported without voters.
            Err(FitError::NoVoters) if stored => VoterReport { test, voters: 0, results: Vec::new(), taste: None },
            tested => tested?,
        };
        if stored {
            hide_voters(&mut report);
        }
        reports.push(report);
    }
    let lines: Vec<FlaggedLine<'_>> =
        reports.iter().flat_map(|report| report.flagged(options.alpha)).map(FlaggedLine::new).collect();
    standard_output::print(&render(&lines, options.format)?)?;
    reports.iter().for_each(|report| eprintln!("{}", summary(report, options.alpha)));
    Ok(ExitCode::SUCCESS)
}

async fn read_database(options: &FlaggedOptions, env: &Environment) -> CommandResult<VoteLog> {
    let store = databases::open(&options.location.settings(env)?.storage, IfMissing::Fail).await?;
    let bar = progress::bar("reading votes");
    let log = read_voters(&store, |done, all| progress::show(&bar, done, all)).await?;
    bar.finish_and_clear();
    // Closed before minutes of computing: a killed command leaves the log of an open database beside it.
    store.close().await;
    Ok(log)
}

fn summary(report: &VoterReport, alpha: f64) -> String {
    let (flagged, tested) = (report.flagged(alpha).count(), report.results.len());
    let withheld = report.withheld().map_or_else(String::new, |found| {
        format!("; {found} look suspicious, which is more than a quarter of all voters, so the test singles out nobody")
    });
    format!(
        "note: {}: {flagged} of {} flagged{withheld}; not tested, for fewer than {MIN_VOTES} votes for a side: {}",
        report.test.as_str(),
        counted(tested, "voter", "voters"),
        report.voters.saturating_sub(u64::try_from(tested).unwrap_or(u64::MAX)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_note_says_where_too_many_voters_seem_suspicious_to_be_flagged() {
        let result = |index: u32| VoterResult {
            voter: index.to_string(),
            votes: 100,
            test: VoterTest::Score,
            model: None,
            statistic: 5.0,
            p: 1e-6,
            q: 0.01,
        };
        let report = |voters: u64| VoterReport {
            test: VoterTest::Score,
            voters,
            results: (0..6).map(result).collect(),
            taste: None,
        };
        let note = summary(&report(20), DEFAULT_ALPHA);
        assert!(note.contains(": 0 of 6 voters flagged; 6 look suspicious, which is more than a quarter"), "{note}");
        let note = summary(&report(100), DEFAULT_ALPHA);
        assert!(note.contains(": 6 of 6 voters flagged; not tested"), "{note}");
    }
}
