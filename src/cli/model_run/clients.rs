//! Budget flags and model clients of commands.

use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use tokio_util::sync::CancellationToken;

use crate::domain::judging::budget::Budget;
use crate::error::CommandResult;
use crate::infra::config::{Environment, Settings};
use crate::infra::llm::model_client::{ModelClient, RunLimits};
use crate::infra::llm::roster::Roster;
use crate::infra::rng::SharedRng;
use crate::services::benchmark::model_clients::ModelClients;
use crate::signals::Signals;

/// Limits of a run.
#[derive(Debug, Clone, Args)]
pub(crate) struct BudgetFlags {
    /// Maximum amount to spend, in the currency of the models' prices
    #[arg(long, value_name = "MONEY", value_parser = parse_money)]
    budget: Option<f64>,
    /// Maximum number of requests to send
    #[arg(long, value_name = "N")]
    max_calls: Option<u64>,
}

/// Parses a finite amount: NaN would never be exceeded.
fn parse_money(text: &str) -> Result<f64, String> {
    let money = text.parse().ok().filter(|money: &f64| money.is_finite() && *money >= 0.0);
    money.ok_or_else(|| "give an amount from 0, for example 2.5".to_owned())
}

impl BudgetFlags {
    /// Returns these limits, with defaults for missing ones.
    pub(crate) fn or(&self, budget: Option<f64>, max_calls: Option<u64>) -> Self {
        Self { budget: self.budget.or(budget), max_calls: self.max_calls.or(max_calls) }
    }

    /// Whether any limit is given.
    pub(crate) fn is_given(&self) -> bool {
        self.budget.is_some() || self.max_calls.is_some()
    }

    /// Returns the budget.
    pub(crate) fn amounts(&self) -> Budget {
        Budget { max_calls: self.max_calls, max_cost: self.budget }
    }

    /// Returns the limits of a run; the first signal stops the run and a second one ends the process.
    pub(crate) fn limits(&self) -> CommandResult<RunLimits> {
        self.limits_with_message("stopping: requests under way are finished; a second signal drops them")
    }

    /// Returns the limits of a run with its own message at the first signal.
    pub(crate) fn limits_with_message(&self, stopping: &'static str) -> CommandResult<RunLimits> {
        Ok(RunLimits::new(stopped_by_signals(stopping)?, self.amounts()))
    }
}

fn stopped_by_signals(stopping: &'static str) -> CommandResult<CancellationToken> {
    let stop = CancellationToken::new();
    let mut signals = Signals::listen().context("signals cannot be listened to")?;
    let stopped = stop.clone();
    actix_web::rt::spawn(async move {
        signals.next().await;
        eprintln!("{stopping}");
        stopped.cancel();
        signals.exit_at_next_signal().await;
    });
    Ok(stop)
}

/// Creates clients of the configured models, with the system's random generator.
pub(crate) fn model_clients(settings: Settings, env: &Environment) -> CommandResult<ModelClients> {
    let rng = SharedRng::from_system();
    let roster = Roster::build(&settings, env, rng.seed())?;
    Ok(ModelClients::new(Arc::new(settings), Arc::new(roster), Arc::new(rng)))
}

/// Prints the models that were given up, and the remedy.
pub(crate) fn print_given_up<'m>(clients: &ModelClients, models: impl IntoIterator<Item = &'m ModelClient>) {
    for said in clients.given_up(models) {
        eprintln!("{said}");
    }
}
