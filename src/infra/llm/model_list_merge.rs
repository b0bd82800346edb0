//! Merges a server's model list into the settings.

use std::collections::{HashMap, HashSet};

use super::model_list::{ListedModel, ModelServer};
use super::roster::provider_model;
use crate::config::edit::NewModel;
use crate::config::{ModelSettings, Settings};
use crate::domain::rating::value::prices::{Currency, PriceDate, PriceSource};

/// Divisor of the context length for the requested reply length if a list has a shorter context: the prompt needs the other half.
const REPLY_CONTEXT_DIVISOR: u64 = 2;

/// Maximum number of models for which an error explains why they are not added.
pub const MAX_DUPLICATES_NAMED: usize = 3;

/// Result of merging one listed model.
#[derive(Debug, Clone, PartialEq)]
pub enum Addition {
    /// Added, or would be.
    Added,
    /// Already configured for this server, under this id.
    Configured(String),
    /// The id is used by another model.
    IdTaken,
}

/// A listed model with its result.
#[derive(Debug, Clone, PartialEq)]
pub struct AddedModel {
    /// Entry for the settings.
    pub entry: ModelSettings,
    /// Context length in tokens, if the list has it.
    pub context_length: Option<u64>,
    /// Result of the merge.
    pub addition: Addition,
}

/// Common properties of all models of one list.
pub struct ModelListDefaults<'o> {
    /// Server of the models.
    pub server: &'o ModelServer,
    /// Name of the variable that holds the key.
    pub key_env: Option<&'o str>,
    /// Currency of the settings.
    pub currency: &'o Currency,
    /// Pairing weight of the models.
    pub weight: f64,
    /// Date of the prices.
    pub today: PriceDate,
}

impl ModelListDefaults<'_> {
    /// Returns the entry of a listed model, and its context length in tokens if the list has it.
    #[must_use]
    pub fn entry(&self, listed: &ListedModel) -> (ModelSettings, Option<u64>) {
        let minimal = ModelSettings::minimal(&listed.id, self.server.provider);
        let prices = listed.input_price.zip(listed.output_price).filter(|_| self.takes_prices());
        let limits = [listed.max_reply, listed.context_length.map(|tokens| (tokens / REPLY_CONTEXT_DIVISOR).max(1))];
        let limit = limits.into_iter().flatten().filter_map(|tokens| u32::try_from(tokens).ok()).min();
        let entry = ModelSettings {
            name: listed.name.clone(),
            organization: listed.organization.clone(),
            base_url: self.server.base_url.clone(),
            model: listed.model.clone(),
            api_key_env: self.key_env.unwrap_or_default().to_owned(),
            weight: self.weight,
            max_tokens: limit.unwrap_or(minimal.max_tokens).min(minimal.max_tokens),
            input_price: prices.map(|(input, _)| input),
            output_price: prices.map(|(_, output)| output),
            price_date: prices.map(|_| self.today),
            price_source: prices.and_then(|_| self.server.base_url.parse::<PriceSource>().ok()),
            ..minimal
        };
        (entry, listed.context_length)
    }

    /// Whether the list's prices, in US dollars, are in the currency of the settings.
    #[must_use]
    pub fn takes_prices(&self) -> bool {
        self.currency.to_string() == "USD"
    }
}

/// Compares listed models with the settings.
#[must_use]
pub fn compared(offered: Vec<(ModelSettings, Option<u64>)>, settings: &Settings) -> Vec<AddedModel> {
    let same: HashMap<String, &str> =
        settings.models.iter().map(|entry| (provider_model(entry), entry.id.as_str())).collect();
    let ids: HashSet<&str> = settings.models.iter().map(|entry| entry.id.as_str()).collect();
    let compare = |(entry, context_length): (ModelSettings, Option<u64>)| {
        let addition = match same.get(&provider_model(&entry)) {
            Some(id) => Addition::Configured((*id).to_owned()),
            None if ids.contains(entry.id.as_str()) => Addition::IdTaken,
            None => Addition::Added,
        };
        AddedModel { entry, context_length, addition }
    };
    offered.into_iter().map(compare).collect()
}

/// Converts a model to the form that is written to the settings.
#[must_use]
pub fn new_model(model: &AddedModel) -> NewModel {
    NewModel { entry: model.entry.clone(), context_length: model.context_length }
}

/// Explains why none of these models can be added, in English.
#[must_use]
pub fn duplicates(models: &[AddedModel]) -> String {
    let why = |model: &AddedModel| match &model.addition {
        Addition::Configured(id) => format!("{:?} is configured already as {id:?}", model.entry.model),
        _ => format!(
            "the id {:?} is taken by another model (change the id of that entry to add this one)",
            model.entry.id
        ),
    };
    let told: Vec<String> = models.iter().take(MAX_DUPLICATES_NAMED).map(why).collect();
    let more = models.len().saturating_sub(told.len());
    if more > 0 { format!("{}; and {more} more", told.join("; ")) } else { told.join("; ") }
}
