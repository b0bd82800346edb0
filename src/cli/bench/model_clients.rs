//! The models of a benchmark run with their limits, budget and stop signal.

use anyhow::Context as _;
use clap::Args;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tokio_util::sync::CancellationToken;

use crate::cli::error::{BadInput, CommandResult};
use crate::cli::signals::Signals;
use crate::domain::battle::ModelId;
use crate::domain::benchmark::run_manifest::RunManifest;
use crate::domain::judging::budget::{Budget, BudgetTracker};
use crate::infra::config::{Environment, ModelSettings, Settings};
use crate::infra::llm::advice::advice;
use crate::infra::llm::model_client::{ModelClient, RunLimits};
use crate::infra::llm::roster::{Roster, entries};
use crate::infra::rng::SharedRng;
use crate::services::benchmark::loading::Loaded;

/// What a run may spend.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct BudgetFlags {
    /// Money to spend at the most, in the currency of the models' prices
    #[arg(long, value_name = "MONEY", value_parser = parse_money)]
    budget: Option<f64>,
    /// Requests to send at the most
    #[arg(long, value_name = "N")]
    max_calls: Option<u64>,
}

/// An amount that can be kept: with one that is no number nothing would ever pass the budget.
fn parse_money(text: &str) -> Result<f64, String> {
    let money = text.parse().ok().filter(|money: &f64| money.is_finite() && *money >= 0.0);
    money.ok_or_else(|| "give an amount from 0, for example 2.5".to_owned())
}

/// Refuses who is named more than once, and would be asked and paid for each time.
pub(in crate::cli) fn named_once(role: &str, names: &[String]) -> Result<(), BadInput> {
    match names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)) {
        Some((_, name)) => Err(BadInput(format!("{role} {name} is named twice: name each one once"))),
        None => Ok(()),
    }
}

impl BudgetFlags {
    /// These limits, or else others.
    pub(in crate::cli) fn or(&self, budget: Option<f64>, max_calls: Option<u64>) -> Self {
        Self { budget: self.budget.or(budget), max_calls: self.max_calls.or(max_calls) }
    }

    /// Whether there is any limit.
    pub(in crate::cli) fn is_given(&self) -> bool {
        self.budget.is_some() || self.max_calls.is_some()
    }

    /// The limits of a run, which the first signal stops and a second one ends.
    pub(in crate::cli) fn limits(&self) -> CommandResult<RunLimits> {
        let budget = BudgetTracker::new(Budget { max_calls: self.max_calls, max_cost: self.budget });
        Ok(RunLimits { stop: stopped_by_signals()?, budget })
    }
}

fn stopped_by_signals() -> CommandResult<CancellationToken> {
    let stop = CancellationToken::new();
    let mut signals = Signals::listen().context("signals cannot be listened to")?;
    let stopped = stop.clone();
    actix_web::rt::spawn(async move {
        signals.next().await;
        eprintln!("stopping: what is under way is finished; a second signal drops it");
        stopped.cancel();
        signals.end_at_the_next().await;
    });
    Ok(stop)
}

/// The models of the settings, as a run asks them.
pub(in crate::cli) struct ModelClients {
    settings: Settings,
    roster: Roster,
    /// Randomness of the run.
    pub(in crate::cli) rng: SharedRng,
}

impl ModelClients {
    /// A run counts its own tries, and goes on asking where an arena would let a model rest.
    pub(in crate::cli) fn make(mut settings: Settings, env: &Environment) -> CommandResult<Self> {
        settings.providers.retries = 0;
        settings.providers.breaker_failures = 0;
        let rng = SharedRng::from_system();
        let roster = Roster::build(&settings, env, rng.seed())?;
        Ok(Self { settings, roster, rng })
    }

    /// All models of the settings.
    pub(in crate::cli) fn all(&self) -> Vec<ModelId> {
        self.roster.all().iter().map(|model| model.card.id.clone()).collect()
    }

    /// Models with their limits and prices.
    pub(in crate::cli) fn asked(&self, ids: &[ModelId], budget: &BudgetFlags) -> Result<Vec<ModelClient>, BadInput> {
        ids.iter().map(|id| self.one(id, budget)).collect()
    }

    /// A model with its limits and prices.
    pub(in crate::cli) fn one(&self, id: &ModelId, budget: &BudgetFlags) -> Result<ModelClient, BadInput> {
        let model = self.roster.get(id).ok_or_else(|| self.unknown(id))?;
        let rng = ChaCha8Rng::seed_from_u64(self.rng.seed());
        let asked = ModelClient::configured(id.clone(), model, &self.settings, rng);
        if budget.budget.is_some() && asked.prices.is_none() {
            return Err(BadInput(format!(
                "model {:?} has no prices, so --budget cannot be kept: set input_price and output_price under \
                 [[models]], or use --max-calls",
                id.as_str()
            )));
        }
        Ok(asked)
    }

    /// What a run over a suite is made of, by these models and judges.
    pub(in crate::cli) fn manifest<'i>(
        &self,
        Loaded { suite, data, .. }: &Loaded,
        ids: impl Iterator<Item = &'i String>,
        canaries: bool,
    ) -> RunManifest {
        let entries = entries(&self.settings);
        let settings = |id: &String| entries.iter().find(|entry| entry.id == *id).map(ModelSettings::participant);
        let participants = ids.filter_map(|id| Some((id.clone(), settings(id)?))).collect();
        RunManifest {
            program: concat!("langya ", env!("CARGO_PKG_VERSION")).to_owned(),
            canaries,
            ..RunManifest::new(suite.as_ref(), &data.items, participants)
        }
    }

    /// Says which models were given up, and what to change.
    pub(in crate::cli) fn tell_given_up<'m>(&self, models: impl IntoIterator<Item = &'m ModelClient>) {
        for model in models {
            let Some((failures, error)) = model.given_up() else { continue };
            let entry = entries(&self.settings).into_iter().find(|entry| entry.id == model.id.as_str());
            let advice = entry.map(|entry| format!("; {}", advice(&error, &entry))).unwrap_or_default();
            eprintln!("model {} was given up after {failures} failures in a row: {error}{advice}", model.id);
        }
    }

    pub(in crate::cli) fn unknown(&self, id: &ModelId) -> BadInput {
        let known: Vec<String> = self.all().iter().map(ToString::to_string).collect();
        BadInput(format!("there is no model {:?}: the settings have {}", id.as_str(), known.join(", ")))
    }
}
