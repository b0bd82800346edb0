//! `langya models`: lists and checks models, and edits the settings file.

pub(super) mod check;
mod edit;
mod pairing;
mod register;

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde::Serialize;

use super::Location;
use super::output::standard_output::print;
use crate::databases;
use crate::domain::battle::ModelId;
use crate::domain::model_register::changes::ModelState;
use crate::error::CommandResult;
use crate::infra::config::edit::change::Change;
use crate::infra::config::{Environment, ModelSettings, ProviderKind, Settings};
use crate::infra::llm::model_discovery::{DiscoveryTargets, with_discovered};
use crate::infra::llm::roster::{card, entries};
use crate::infra::storage::{IfMissing, StoreError};
use crate::infra::time::clock::{Clock as _, SystemClock};
use crate::output::output_format::OutputFormat;
use crate::output::table::{TableRow, render, value_or_dash};
use crate::services::admin::model_health::ModelHealth;
use crate::services::model_settings::Warning;
pub use edit::{AddModelOptions, ModelArgument, ResumeOptions, SetOptions};
pub use pairing::PairingOptions;
pub use register::{ReasonOptions, RegisterOptions};

/// `langya models …`
#[derive(Debug, Args)]
pub struct Options {
    #[command(flatten)]
    location: Location,
    /// Subcommand.
    #[command(subcommand)]
    pub action: ModelsCommand,
}

/// Subcommands of `langya models`.
#[derive(Debug, Clone, Subcommand)]
pub enum ModelsCommand {
    /// List the models that `serve` would use
    List {
        /// Output format
        #[arg(long, value_enum, default_value_t)]
        format: OutputFormat,
    },
    /// Ask each model one question; print its speed, or what to change if it fails
    Check {
        /// Output format
        #[arg(long, value_enum, default_value_t)]
        format: OutputFormat,
    },
    /// Add models that a server lists to the settings file
    Add(AddModelOptions),
    /// Change the weight, limits, prices or reason of a model in the settings file
    Set(SetOptions),
    /// Remove a model from the settings file
    Remove(ModelArgument),
    /// Pause a model, so that no new battle draws it
    Pause(ModelArgument),
    /// Resume a paused model, so that battles draw it again
    Resume(ResumeOptions),
    /// Show what another pairing policy or other weights would change; nothing is changed
    Pairing(PairingOptions),
    /// Show every model that ever took part, with its days and shares in battles, its changes, and the pairing's history
    Register(RegisterOptions),
    /// State publicly why a model was added, paused, changed or retired
    Reason(ReasonOptions),
}

/// Output row of `models list`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PrintedModel {
    /// Key used in logs and exports.
    pub id: String,
    /// Name shown after the vote.
    pub name: String,
    /// Organisation that makes the model.
    pub organization: String,
    /// Protocol of the model server.
    pub provider: ProviderKind,
    /// Pairing weight.
    pub weight: f64,
    /// `active`, or `paused` with a weight of 0.
    pub state: &'static str,
    /// Whether the environment variable of its key is set; `None` for a model without one.
    pub key_set: Option<bool>,
    /// Whether it is a built-in practice model.
    pub practice: bool,
    /// Circuit breaker state in the running arena, if known.
    pub breaker: Option<String>,
    /// Number of its finished battles in the last 24 hours.
    pub battles: Option<u64>,
    /// Share of these in all finished battles.
    pub share: Option<f64>,
    /// Share of failed replies.
    pub error_rate: Option<f64>,
    /// Median time to the first token in milliseconds.
    pub first_token_ms: Option<u64>,
    /// Latest error in the last 24 hours.
    pub last_error: Option<String>,
    /// Price of a million tokens of input.
    pub input_price: Option<f64>,
    /// Price of a million tokens of output.
    pub output_price: Option<f64>,
}

/// Data of the models from the database.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DatabaseModels {
    /// Circuit breaker state of each model, as last stored by the serving process.
    pub breakers: BTreeMap<ModelId, String>,
    /// Health of the models.
    pub health: ModelHealth,
}

/// Runs the subcommand and prints its results; the exit code is 1 if a model failed its check.
///
/// # Errors
/// Invalid settings, or an output that cannot be written.
pub async fn run(options: &Options, env: &Environment) -> CommandResult<ExitCode> {
    let location = &options.location;
    match &options.action {
        ModelsCommand::List { format } => print_list(&discovered(location, env).await?, env, *format).await,
        ModelsCommand::Check { format } => check::print_check(&discovered(location, env).await?, env, *format).await,
        ModelsCommand::Add(options) => edit::add(options, location, env).await,
        ModelsCommand::Set(options) => edit::set(options, location, env).await,
        ModelsCommand::Remove(model) => edit::change(&model.id, &Change::Remove, location, env).await,
        ModelsCommand::Pause(model) => edit::change(&model.id, &Change::Weight(0.0), location, env).await,
        ModelsCommand::Resume(options) => {
            edit::change(&options.id, &Change::Weight(options.weight), location, env).await
        }
        ModelsCommand::Pairing(options) => pairing::print_preview(options, &discovered(location, env).await?).await,
        ModelsCommand::Register(options) => register::print_register(options, &location.settings(env)?).await,
        ModelsCommand::Reason(options) => register::state(options, &location.settings(env)?).await,
    }
}

/// Reads the settings and adds discovered models, as `serve` does.
async fn discovered(location: &Location, env: &Environment) -> CommandResult<Settings> {
    Ok(with_discovered(location.settings(env)?, env, &DiscoveryTargets::default()).await)
}

async fn print_list(settings: &Settings, env: &Environment, format: OutputFormat) -> CommandResult<ExitCode> {
    print(&render(&list(settings, env, &known_models(settings).await?), format)?)?;
    let unset: BTreeSet<&str> =
        settings.models.iter().filter(|entry| lacks_key(entry, env)).map(|entry| entry.api_key_env.as_str()).collect();
    for variable in unset {
        eprintln!("warning: {}", Warning::KeyNotSet(variable.to_owned()));
    }
    Ok(ExitCode::SUCCESS)
}

fn lacks_key(entry: &ModelSettings, env: &Environment) -> bool {
    !entry.api_key_env.is_empty() && env.secret(&entry.api_key_env).is_none()
}

/// Reads the models' data from the database; empty before the first start of an arena.
async fn known_models(settings: &Settings) -> CommandResult<DatabaseModels> {
    match databases::open(&settings.storage, IfMissing::Fail).await {
        Ok(store) => {
            let models = store.registered_models().await?;
            let breakers = models.into_iter().map(|model| (model.card.id, model.breaker.state)).collect();
            Ok(DatabaseModels { breakers, health: ModelHealth::read(&store, SystemClock.now()).await? })
        }
        Err(StoreError::Missing(_)) => Ok(DatabaseModels::default()),
        Err(error) => Err(error.into()),
    }
}

/// Lists the models of these settings, with their data from the database.
#[must_use]
pub fn list(settings: &Settings, env: &Environment, known: &DatabaseModels) -> Vec<PrintedModel> {
    let listed = |entry: &ModelSettings| {
        let (card, recent) = (card(entry), &known.health.stats);
        let stats = recent.models.get(card.id.as_str()).copied();
        PrintedModel {
            breaker: known.breakers.get(&card.id).cloned(),
            battles: stats.map(|stats| stats.battles),
            share: stats.and_then(|stats| stats.share(recent.battles)),
            error_rate: stats.and_then(|stats| stats.error_rate()),
            first_token_ms: stats.and_then(|stats| stats.first_token_ms),
            last_error: known.health.failures_of(&card.id).next().map(|failure| failure.reason.clone()),
            input_price: entry.input_price,
            output_price: entry.output_price,
            id: entry.id.clone(),
            name: card.name,
            organization: card.organization,
            provider: entry.provider,
            weight: entry.weight,
            state: ModelState::of_weight(entry.weight).as_str(),
            key_set: (!entry.api_key_env.is_empty()).then(|| !lacks_key(entry, env)),
            practice: card.practice,
        }
    };
    entries(settings).iter().map(listed).collect()
}

impl TableRow for PrintedModel {
    const HEADS: &'static [&'static str] = &[
        "id",
        "name",
        "organization",
        "provider",
        "weight",
        "state",
        "key set",
        "breaker",
        "battles",
        "share",
        "errors",
        "first token",
        "price in",
        "price out",
        "last error",
    ];

    fn cells(&self) -> Vec<String> {
        let percent = |share: Option<f64>| value_or_dash(share.map(|share| format!("{:.1}%", 100.0 * share)));
        vec![
            self.id.clone(),
            self.name.clone(),
            self.organization.clone(),
            self.provider.as_str().to_owned(),
            self.weight.to_string(),
            self.state.to_owned(),
            value_or_dash(self.key_set.map(|is_set| if is_set { "yes" } else { "no" })),
            value_or_dash(self.breaker.as_ref()),
            value_or_dash(self.battles),
            percent(self.share),
            percent(self.error_rate),
            value_or_dash(self.first_token_ms.map(|ms| format!("{ms} ms"))),
            value_or_dash(self.input_price),
            value_or_dash(self.output_price),
            value_or_dash(self.last_error.as_ref()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_has_every_model() {
        let settings = Settings::default();
        let breakers = BTreeMap::from([(ModelId::new("practice-echo"), "open".to_owned())]);
        let rows = list(&settings, &Environment::default(), &DatabaseModels { breakers, ..DatabaseModels::default() });
        assert_eq!((rows[0].breaker.as_deref(), rows[1].breaker.as_deref()), (Some("open"), None));
        for format in [OutputFormat::Table, OutputFormat::Json, OutputFormat::Csv] {
            let text = render(&rows, format).unwrap();
            assert!(rows.iter().all(|row| text.contains(&row.id)), "{text}");
        }
        let csv = render(&rows, OutputFormat::Csv).unwrap();
        let head = "id,name,organization,provider,weight,state,key_set,practice,breaker,battles,share,error_rate,";
        assert!(csv.starts_with(head), "{csv}");
    }
}
