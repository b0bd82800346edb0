//! `langya models add`, `set`, `remove`, `pause` and `resume`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::{TableRow, render};
use crate::Location;
use crate::databases;
use crate::domain::plural::counted;
use crate::domain::rating::value::prices::{PriceDate, PriceSource};
use crate::error::{BadInput, CommandResult};
use crate::infra::config::edit::change::{Change, ModelValues, PriceValues};
use crate::infra::config::{DEFAULT_FILE, Environment};
use crate::infra::llm::model_list::ListError;
use crate::infra::llm::model_list_merge::{AddedModel, Addition};
use crate::infra::rng::SharedRng;
use crate::infra::storage::{IfMissing, Store, StoreError};
use crate::infra::time::clock::{Clock, SystemClock};
use crate::output::output_format::OutputFormat;
use crate::output::standard_output::print;
use crate::output::table::{or_dash, value_or_dash};
use crate::services::admin::actor::Actor;
use crate::services::model_settings::{
    AddModelsResult, AddRequest, AuditTrail, EditGoal, ModelEditor, ModelEntryError, Warning,
};

/// `langya models add …`
#[derive(Debug, Clone, Args)]
pub struct AddModelOptions {
    /// Address of the server, such as <http://127.0.0.1:8000> or <https://openrouter.ai/api/v1>
    #[arg(long, value_name = "URL")]
    from: String,
    /// Name of the environment variable that holds the key; the key itself is never written
    #[arg(long, value_name = "NAME")]
    key_env: Option<String>,
    /// Only models whose name or id matches: * is any text, ? one character
    #[arg(long, value_name = "GLOB")]
    filter: Option<String>,
    /// Their pairing weight; 0 for models that take part in no battle, such as judges
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    weight: f64,
    /// Only show what would be added
    #[arg(long)]
    dry_run: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// `langya models remove ID`, `pause ID`
#[derive(Debug, Clone, Args)]
pub struct ModelArgument {
    /// The model's id
    pub(super) id: String,
}

/// `langya models resume ID`
#[derive(Debug, Clone, Args)]
pub struct ResumeOptions {
    /// The model's id
    pub(super) id: String,
    /// Its pairing weight from now on
    #[arg(long, default_value_t = 1.0)]
    pub(super) weight: f64,
}

/// `langya models set ID …`
#[derive(Debug, Clone, Args)]
pub struct SetOptions {
    /// The model's id
    pub(super) id: String,
    /// Its pairing weight; 0 pauses
    #[arg(long)]
    weight: Option<f64>,
    /// Longest reply in tokens
    #[arg(long, value_name = "TOKENS")]
    max_tokens: Option<u32>,
    /// Maximum number of benchmark requests at the same time
    #[arg(long, value_name = "N")]
    max_concurrent: Option<u32>,
    /// Price of a million tokens of input, in the currency of the settings
    #[arg(long, value_name = "PRICE", requires = "output_price", conflicts_with = "no_prices")]
    input_price: Option<f64>,
    /// Price of a million tokens of output
    #[arg(long, value_name = "PRICE", requires = "input_price", conflicts_with = "no_prices")]
    output_price: Option<f64>,
    /// Day on which the prices were looked up, such as 2026-11-24 [default: today]
    #[arg(long, value_name = "DAY", requires = "input_price")]
    price_date: Option<PriceDate>,
    /// Where the prices were found
    #[arg(long, value_name = "TEXT", requires = "input_price")]
    price_source: Option<PriceSource>,
    /// Remove the prices
    #[arg(long)]
    no_prices: bool,
    /// Reason for the public register of models; an empty text removes it
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

impl SetOptions {
    fn prices(&self) -> CommandResult<Option<PriceValues>> {
        if self.no_prices {
            return Ok(Some(PriceValues::Remove));
        }
        let Some((input, output)) = self.input_price.zip(self.output_price) else { return Ok(None) };
        let date = self.price_date.map_or_else(today, Ok)?;
        Ok(Some(PriceValues::Set { input, output, date, source: self.price_source.clone() }))
    }
}

/// Changes values of one entry.
///
/// # Errors
/// As [`change`], or no change given.
pub(super) async fn set(options: &SetOptions, location: &Location, env: &Environment) -> CommandResult<ExitCode> {
    let values = ModelValues {
        weight: options.weight,
        reason: options.reason.clone(),
        max_tokens: options.max_tokens,
        max_concurrent: options.max_concurrent,
        prices: options.prices()?,
        ..ModelValues::default()
    };
    change(&options.id, &Change::Values(values), location, env).await
}

/// Output row of `models add`.
#[derive(Debug, Clone, Serialize)]
struct AdditionRow {
    id: String,
    name: String,
    organization: String,
    model: String,
    context_length: Option<u64>,
    input_price: Option<f64>,
    output_price: Option<f64>,
    result: String,
}

impl TableRow for AdditionRow {
    const HEADS: &'static [&'static str] = &["id", "name", "model", "context", "price in", "price out", "result"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.id.clone(),
            or_dash(&self.name),
            self.model.clone(),
            value_or_dash(self.context_length),
            value_or_dash(self.input_price),
            value_or_dash(self.output_price),
            self.result.clone(),
        ]
    }
}

/// Adds the models that a server lists, and prints the result for each.
///
/// # Errors
/// An unreadable list, no models to add, or a file that cannot be edited.
pub(super) async fn add(options: &AddModelOptions, location: &Location, env: &Environment) -> CommandResult<ExitCode> {
    let request = AddRequest {
        from: options.from.clone(),
        key_env: options.key_env.clone(),
        filter: options.filter.clone(),
        only: None,
        weight: options.weight,
        dry_run: options.dry_run,
    };
    let audit = match options.dry_run {
        true => CommandAudit::new(None, env),
        false => CommandAudit::open(location, env).await?,
    };
    let added = audit.editor(location, env).add(&request, today()?).await;
    let unset_key = options.key_env.as_deref().filter(|variable| env.secret(variable).is_none());
    let additions = match (added, unset_key) {
        (Err(ModelEntryError::List(ListError::Refused(status))), Some(variable)) => {
            let refused = format!(
                "the server answered with status {status}: it requires a key, and the variable {variable} is not set here: export it \
                 with the key, then try again"
            );
            return Err(BadInput(refused).into());
        }
        (added, _) => added?,
    };
    let rows: Vec<AdditionRow> = additions.models.iter().map(|model| row(model, options.dry_run)).collect();
    print(&render(&rows, options.format)?)?;
    print_additions(&additions, options.dry_run, location);
    Ok(ExitCode::SUCCESS)
}

/// Changes one entry.
///
/// # Errors
/// An unknown model, or a file that cannot be edited.
pub(super) async fn change(
    id: &str,
    change: &Change,
    location: &Location,
    env: &Environment,
) -> CommandResult<ExitCode> {
    let audit = CommandAudit::open(location, env).await?;
    let warnings = audit.editor(location, env).change(id, change, None).await?;
    let done = match change {
        Change::Remove => "removed".to_owned(),
        Change::Weight(0.0) => "paused: no new battle draws it".to_owned(),
        Change::Weight(weight) => format!("drawn with weight {weight}"),
        Change::Values(_) => "changed".to_owned(),
    };
    print(&format!("{id}: {done}\n"))?;
    warn(&warnings);
    Ok(ExitCode::SUCCESS)
}

/// Audit log for commands: that of the database, if an arena has ever created one.
struct CommandAudit {
    store: Option<Store>,
    rng: SharedRng,
    user: String,
}

impl CommandAudit {
    async fn open(location: &Location, env: &Environment) -> CommandResult<Self> {
        let store = match location.settings(env) {
            Ok(settings) => match databases::open(&settings.storage, IfMissing::Fail).await {
                Ok(store) => Some(store),
                Err(StoreError::Missing(_)) => None,
                Err(error) => return Err(error.into()),
            },
            // The edit may fix the settings; until then the database is unknown.
            Err(_) => None,
        };
        Ok(Self::new(store, env))
    }

    fn new(store: Option<Store>, env: &Environment) -> Self {
        let user = env.user().unwrap_or("operator").chars().take(100).collect();
        Self { store, rng: SharedRng::from_system(), user }
    }

    fn editor<'e>(&'e self, location: &Location, env: &'e Environment) -> ModelEditor<'e> {
        let audit = self.store.as_ref().map(|store| AuditTrail {
            store,
            rng: &self.rng,
            clock: &SystemClock,
            actor: Actor::of_command(self.user.clone()),
        });
        ModelEditor { file: file(location), env, goal: EditGoal::Readable, audit }
    }
}

/// Returns today's date, for prices looked up now.
fn today() -> CommandResult<PriceDate> {
    let now = Timestamp::from_millisecond(SystemClock.now().0).context("the clock shows no date")?;
    Ok(now.to_zoned(TimeZone::UTC).date().to_string().parse::<PriceDate>().context("the clock shows no date")?)
}

fn file(location: &Location) -> PathBuf {
    location.config.clone().unwrap_or_else(|| DEFAULT_FILE.into())
}

fn row(model: &AddedModel, dry_run: bool) -> AdditionRow {
    let entry = &model.entry;
    AdditionRow {
        id: entry.id.clone(),
        name: entry.name.clone(),
        organization: entry.organization.clone(),
        model: entry.model.clone(),
        context_length: model.context_length,
        input_price: entry.input_price,
        output_price: entry.output_price,
        result: match &model.addition {
            Addition::Added if dry_run => "would be added".to_owned(),
            Addition::Added => "added".to_owned(),
            Addition::Configured(id) => format!("configured already as {id}"),
            Addition::IdTaken => "not added: another model has this id".to_owned(),
        },
    }
}

fn print_additions(additions: &AddModelsResult, dry_run: bool, location: &Location) {
    let added = additions.models.iter().filter(|model| model.addition == Addition::Added).count();
    let added = counted(added, "model", "models");
    let (path, rest) = (file(location), additions.others);
    if rest > 0 {
        let one = "listed model was left out: it is not a chat model, or has an unusable name";
        let more = "listed models were left out: they are not chat models, or have unusable names";
        eprintln!("{}", counted(rest, one, more));
    }
    match dry_run {
        true => eprintln!("{added} to be added to {}; nothing was written", path.display()),
        false => eprintln!(
            "{added} added to {}; a running arena loads the change by itself: test the models with `langya models check`",
            path.display()
        ),
    }
    warn(&additions.warnings);
}

fn warn(warnings: &[Warning]) {
    for warning in warnings {
        eprintln!("warning: {warning}");
    }
}
