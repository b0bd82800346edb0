//! Adds models that a server lists.

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
use crate::infra::llm::model_list_merge::{AddedModel, Addition, Offer, compared, new_model};

/// Models that are added without a filter at most: hundreds of paid models are no accident then.
pub const MOST_WITHOUT_FILTER: usize = 100;

/// Longest wait for one answer of a server that lists its models.
const LIST_WAIT: Duration = Duration::from_secs(15);

/// What is added.
#[derive(Debug, Clone)]
pub struct AddRequest {
    /// Address of the server, or of its list.
    pub from: String,
    /// Name of the variable with the key, never the key.
    pub key_env: Option<String>,
    /// Which models, by a pattern for their names or ids; all where it is left out.
    pub filter: Option<String>,
    /// Of those only these, by their names at the provider; all where it is left out.
    pub only: Option<Vec<String>>,
    /// Pairing weight of each of them; 0 for models that take part in no battle.
    pub weight: f64,
    /// Only say what would be added.
    pub dry_run: bool,
}

/// What an addition came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Additions {
    /// Every listed model that the filter takes.
    pub models: Vec<AddedModel>,
    /// Listed models that no battle can have: they do not chat, or their names cannot be held.
    pub others: usize,
    /// What the operator has to know or to do.
    pub warnings: Vec<Warning>,
}

/// The addresses at which the settings file has models asked.
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
    /// Adds the models that a server lists, all in one step. `today` is the day of their prices.
    ///
    /// # Errors
    /// [`ModelEntryError`]
    pub async fn add(&self, request: &AddRequest, today: PriceDate) -> Result<Additions, ModelEntryError> {
        add_models(self, request, today).await
    }
}

async fn add_models(
    editor: &ModelEditor<'_>,
    request: &AddRequest,
    today: PriceDate,
) -> Result<Additions, ModelEntryError> {
    let key = key(request, editor.env)?;
    Change::Weight(request.weight).check()?;
    let http = http_client_within(LIST_WAIT, &allowed_addresses(editor).await?)?;
    let key = key.as_ref().map(|(variable, key)| (variable.as_str(), key));
    let provided = read_provider_list(&request.from, key, LIST_WAIT, &http).await?;
    let chosen = chosen(&provided, request)?;
    let (request, env, goal, others) = (request.clone(), editor.env.clone(), editor.goal, provided.list.others);
    let edit = move |text: &str, settings: &Settings| {
        let offered = Offer {
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
        Ok(((!request.dry_run).then_some(edited), Additions { models, others, warnings }))
    };
    editor.edit(edit).await
}

/// The variable's name with its value, where the variable is set.
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
        many if many > MOST_WITHOUT_FILTER && pattern.is_none() && request.only.is_none() && !request.dry_run => {
            Err(ModelEntryError::TooMany(many))
        }
        _ => Ok(chosen),
    }
}

/// What the operator has to know of an offer.
fn warnings(offer: &Offer<'_>, chosen: &[ListedModel], env: &Environment) -> Vec<Warning> {
    let key = offer.key_env.filter(|variable| env.secret(variable).is_none());
    let has_prices = chosen.iter().any(|listed| listed.input_price.is_some());
    let currency = (has_prices && !offer.takes_prices()).then(|| offer.currency.to_string());
    key.map(|variable| Warning::KeyNotSet(variable.to_owned()))
        .into_iter()
        .chain(currency.map(Warning::OtherCurrency))
        .collect()
}
