//! `langya models register` and `langya models reason`: the register of models in the database.

use std::collections::BTreeSet;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::databases;
use crate::domain::model_register::days::Period;
use crate::domain::model_register::report::{OrganizationEntries, PairingPeriod, Register, RegisterEntry};
use crate::domain::rating::leaderboards::leaderboard_json;
use crate::domain::time::Timestamp;
use crate::error::{CommandFailure, CommandResult};
use crate::infra::config::Settings;
use crate::infra::storage::{IfMissing, Store};
use crate::infra::time::clock::{Clock, SystemClock};
use crate::output::output_format::OutputFormat;
use crate::output::standard_output::print;
use crate::output::table::{TableRow, or_dash, render, table, value_or_dash};
use crate::output::times::show_time;
use crate::services::model_register::read;
use crate::services::model_register::recording::{ReasonError, state_reason};

/// Flags of `models register`.
#[derive(Debug, Clone, Args)]
pub struct RegisterOptions {
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
    /// Length of the periods over which JSON reports shares
    #[arg(long, value_enum, default_value_t)]
    period: PeriodName,
}

/// A length of time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum PeriodName {
    Day,
    Week,
    #[default]
    Month,
}

/// Arguments of `models reason`.
#[derive(Debug, Clone, Args)]
pub struct ReasonOptions {
    /// The model's id
    id: String,
    /// The reason, in one line; it is public and cannot be withdrawn
    reason: String,
}

impl CommandFailure for ReasonError {
    fn is_input(&self) -> bool {
        match self {
            Self::UnknownModel(_) => true,
            Self::Concurrent(_) => false,
            Self::Store(error) => CommandFailure::is_input(error),
        }
    }
}

/// Prints the register.
///
/// # Errors
/// A database failure.
pub(super) async fn print_register(options: &RegisterOptions, settings: &Settings) -> CommandResult<ExitCode> {
    let store = databases::open(&settings.storage, IfMissing::Fail).await?;
    let period = match options.period {
        PeriodName::Day => Period::Day,
        PeriodName::Week => Period::Week,
        PeriodName::Month => Period::Month,
    };
    let register = Register::new(&read(&store).await?, &on_leaderboard(&store).await?, period, usize::MAX);
    let text = match options.format {
        OutputFormat::Json => format!("{}\n", serde_json::to_string_pretty(&register)?),
        OutputFormat::Csv => render(&lines(&register), OutputFormat::Csv)?,
        OutputFormat::Table => tables(&register)?,
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Records a reason.
///
/// # Errors
/// [`ReasonError`], or a database failure.
pub(super) async fn state(options: &ReasonOptions, settings: &Settings) -> CommandResult<ExitCode> {
    let store = databases::open(&settings.storage, IfMissing::Fail).await?;
    state_reason(&store, &options.id, &options.reason, SystemClock.now()).await?;
    print(&format!("the reason for {:?} is recorded in the register of models\n", options.id))?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the model ids of the latest leaderboard.
async fn on_leaderboard(store: &Store) -> CommandResult<BTreeSet<String>> {
    let Some(stored) = store.latest_leaderboard().await? else { return Ok(BTreeSet::new()) };
    let leaderboard = leaderboard_json::from_json(&stored.body)?;
    Ok(leaderboard.models.into_iter().map(|row| row.model).collect())
}

fn tables(register: &Register) -> CommandResult<String> {
    let heads = ["maker", "entries", "in battles", "provider models", "on leaderboard", "active"];
    let makers = table(&heads, register.organizations.iter().map(organization_cells).collect());
    let heads = ["from", "until", "policy", "version", "uniform share", "elo width", "new until", "boost"];
    let pairing = table(&heads, register.pairing.iter().map(pairing_cells).collect());
    let models = render(&lines(register), OutputFormat::Table)?;
    let through = register.counted_through.as_deref().unwrap_or("no day yet");
    Ok(format!("{models}\n{makers}\n{pairing}\nbattles counted through: {through}\n"))
}

fn organization_cells(one: &OrganizationEntries) -> Vec<String> {
    let counts = [one.entries, one.in_battles, one.provider_models, one.on_leaderboard, one.active];
    [or_dash(&one.organization)].into_iter().chain(counts.map(|count| count.to_string())).collect()
}

fn pairing_cells(period: &PairingPeriod) -> Vec<String> {
    vec![
        show_time(Timestamp(period.from)),
        value_or_dash(period.until.map(|until| show_time(Timestamp(until)))),
        period.policy.clone(),
        period.policy_version.to_string(),
        period.uniform_share.to_string(),
        period.elo_width.to_string(),
        period.new_model_votes.to_string(),
        period.new_model_boost.to_string(),
    ]
}

/// Output row of a model.
#[derive(Serialize)]
struct RegisterLine {
    id: String,
    name: String,
    organization: String,
    license: String,
    practice: bool,
    state: &'static str,
    weight: Option<f64>,
    on_leaderboard: bool,
    first_day: Option<String>,
    last_day: Option<String>,
    battles: u64,
    share: Option<f64>,
    imported_battles: u64,
    same_provider_model_as: String,
    changes: usize,
    changed_at: Option<String>,
    reason: String,
}

fn lines(register: &Register) -> Vec<RegisterLine> {
    register.models.iter().map(line).collect()
}

fn line(entry: &RegisterEntry) -> RegisterLine {
    let same: Vec<&str> = entry.same_provider_model_as.iter().map(|same| same.id.as_str()).collect();
    let last = entry.changes.last();
    RegisterLine {
        id: entry.id.clone(),
        name: entry.name.clone(),
        organization: entry.organization.clone(),
        license: entry.license.clone(),
        practice: entry.practice,
        state: entry.state.as_str(),
        weight: entry.weight,
        on_leaderboard: entry.on_leaderboard,
        first_day: entry.first_day.clone(),
        last_day: entry.last_day.clone(),
        battles: entry.battles,
        share: entry.share,
        imported_battles: entry.imported_battles,
        same_provider_model_as: same.join(" "),
        changes: entry.changes.len(),
        changed_at: last.map(|change| show_time(Timestamp(change.changed_at))),
        reason: last.map(|change| change.reason.clone()).unwrap_or_default(),
    }
}

impl TableRow for RegisterLine {
    const HEADS: &'static [&'static str] = &[
        "id",
        "maker",
        "state",
        "weight",
        "board",
        "first day",
        "last day",
        "battles",
        "share",
        "imported",
        "same as",
        "reason",
    ];

    fn cells(&self) -> Vec<String> {
        vec![
            self.id.clone(),
            or_dash(&self.organization),
            self.state.to_owned(),
            value_or_dash(self.weight),
            if self.on_leaderboard { "yes" } else { "no" }.to_owned(),
            value_or_dash(self.first_day.as_ref()),
            value_or_dash(self.last_day.as_ref()),
            self.battles.to_string(),
            value_or_dash(self.share.map(|share| format!("{:.1} %", share * 100.0))),
            self.imported_battles.to_string(),
            or_dash(&self.same_provider_model_as),
            or_dash(&self.reason),
        ]
    }
}
