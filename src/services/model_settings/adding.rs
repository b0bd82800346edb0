//! Adds models from a server's model list.

use std::time::Duration;

use secrecy::SecretString;

use super::editor::{ModelEditor, check_goal};
use super::error::{ModelEntryError, Warning};
use crate::domain::rating::value::prices::PriceDate;
use crate::domain::wildcard::Wildcard;
use crate::infra::allowed_addresses::AllowedAddresses;
use crate::infra::config::edit::change::Change;
use crate::infra::config::edit::settings_file::SettingsFile;
use crate::infra::config::edit::{self, NewModel};
use crate::infra::config::{Environment, Settings, is_variable_name};
use crate::infra::llm::http_client_within;
use crate::infra::llm::model_list::{ListedModel, ProviderList, read_provider_list};
use crate::infra::llm::model_list_merge::{AddedModel, Addition, ModelListDefaults, compared, new_model};

/// Maximum number of models added without a filter, so that hundreds of paid models are not added by accident.
pub const MAX_WITHOUT_FILTER: usize = 100;

/// Timeout of one response of a server's model list.
const LIST_TIMEOUT: Duration = Duration::from_secs(15);

/// Request to add models.
#[derive(Debug, Clone)]
pub struct AddRequest {
    /// URL of the server, or of its model list.
    pub from: String,
    /// Name of the environment variable with the key, never the key itself.
    pub key_env: Option<String>,
    /// Pattern of model names or ids; all models if `None`.
    pub filter: Option<String>,
    /// Selection among them, by names at the provider; all if `None`.
    pub only: Option<Vec<String>>,
    /// Pairing weight of each of them; 0 for models that take part in no battle.
    pub weight: f64,
    /// Whether to only report what would be added.
    pub dry_run: bool,
}

/// Result of adding models.
#[derive(Debug, Clone, PartialEq)]
pub struct AddModelsResult {
    /// Listed models that match the filter.
    pub models: Vec<AddedModel>,
    /// Number of listed models that are unusable: they are no chat models, or have invalid names.
    pub others: usize,
    /// Warnings for the operator.
    pub warnings: Vec<Warning>,
}

/// Reads the private networks in which the settings allow model servers.
async fn allowed_addresses(editor: &ModelEditor<'_>) -> Result<AllowedAddresses, ModelEntryError> {
    let (file, env) = (editor.file.clone(), editor.env.clone());
    let read = move || {
        SettingsFile::new(&file).edit(&env, |text| {
            let settings = Settings::parse(text, &file.display().to_string(), &env)?;
            Ok((None, AllowedAddresses::new(&settings.providers.private_networks)))
        })
    };
    tokio::task::spawn_blocking(read).await?
}

impl ModelEditor<'_> {
    /// Adds the models that a server lists, in one edit. `today` is the date of their prices.
    ///
    /// # Errors
    /// [`ModelEntryError`]
    pub async fn add(&self, request: &AddRequest, today: PriceDate) -> Result<AddModelsResult, ModelEntryError> {
        add_models(self, request, today).await
    }
}

async fn add_models(
    editor: &ModelEditor<'_>,
    request: &AddRequest,
    today: PriceDate,
) -> Result<AddModelsResult, ModelEntryError> {
    let key = key(request, editor.env)?;
    Change::Weight(request.weight).check()?;
    let http = http_client_within(LIST_TIMEOUT, &allowed_addresses(editor).await?)?;
    let key = key.as_ref().map(|(variable, key)| (variable.as_str(), key));
    let provided = read_provider_list(&request.from, key, LIST_TIMEOUT, &http).await?;
    let chosen = chosen(&provided, request)?;
    let (request, env, goal, others) = (request.clone(), editor.env.clone(), editor.goal, provided.list.others);
    let edit = move |text: &str, settings: &Settings| {
        let offered = ModelListDefaults {
            server: &provided.server,
            key_env: request.key_env.as_deref(),
            currency: &settings.prices.currency,
            weight: request.weight,
            today,
        };
        let models = compared(chosen.iter().map(|listed| offered.entry(listed)).collect(), settings);
        let new: Vec<NewModel> =
            models.iter().filter(|model| model.addition == Addition::Added).map(new_model).collect();
        if new.is_empty() && !request.dry_run {
            return Err(ModelEntryError::Duplicates(models));
        }
        let mut warnings = warnings(&offered, &chosen, &env);
        let edited = edit::with_models(text, &new)?;
        warnings.extend(check_goal(&edited, &env, goal)?);
        Ok(((!request.dry_run).then_some(edited), AddModelsResult { models, others, warnings }))
    };
    editor.edit(edit).await
}

/// Returns the variable's name with its value, if it is set.
fn key(request: &AddRequest, env: &Environment) -> Result<Option<(String, SecretString)>, ModelEntryError> {
    let Some(variable) = &request.key_env else { return Ok(None) };
    if !is_variable_name(variable) {
        return Err(ModelEntryError::NotAVariable);
    }
    Ok(env.secret(variable).map(|key| (variable.clone(), key)))
}

fn chosen(provided: &ProviderList, request: &AddRequest) -> Result<Vec<ListedModel>, ModelEntryError> {
    let listed = &provided.list.models;
    let pattern = request.filter.as_deref().map(Wildcard::new);
    let matches = |model: &&ListedModel| {
        pattern
            .as_ref()
            .is_none_or(|pattern| [&model.model, &model.id, &model.name].iter().any(|name| pattern.matches(name)))
            && request.only.as_ref().is_none_or(|only| only.contains(&model.model))
    };
    let chosen: Vec<ListedModel> = listed.iter().filter(matches).cloned().collect();
    match chosen.len() {
        _ if listed.is_empty() => Err(ModelEntryError::NoModels),
        0 => Err(ModelEntryError::NoMatch(listed.len())),
        many if many > MAX_WITHOUT_FILTER && pattern.is_none() && request.only.is_none() && !request.dry_run => {
            Err(ModelEntryError::TooMany(many))
        }
        _ => Ok(chosen),
    }
}

/// Returns the warnings about an offer.
fn warnings(offer: &ModelListDefaults<'_>, chosen: &[ListedModel], env: &Environment) -> Vec<Warning> {
    let key = offer.key_env.filter(|variable| env.secret(variable).is_none());
    let has_prices = chosen.iter().any(|listed| listed.input_price.is_some());
    let currency = (has_prices && !offer.takes_prices()).then(|| offer.currency.to_string());
    key.map(|variable| Warning::KeyNotSet(variable.to_owned()))
        .into_iter()
        .chain(currency.map(Warning::OtherCurrency))
        .collect()
}
