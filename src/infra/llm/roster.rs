//! The models of the running arena, each with its timeouts, retries and breaker.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use secrecy::SecretString;

use super::http::key_redaction::KnownKeys;
use super::providers::anthropic::{self, AnthropicModel};
use super::providers::builtin::{PracticeKind, PracticeModel};
use super::providers::ollama::{self, OllamaModel};
use super::providers::openai::{self, OpenAiModel};
use super::resilient_model::{ReplyLimits, ResilientModel};
use super::{ChatModel, HttpClient, ModelCard, http_client_within};
use crate::allowed_addresses::AllowedAddresses;
use crate::config::{ConfigError, Environment, ModelSettings, PracticeMode, ProviderKind, Settings};
use crate::domain::battle::ModelId;
use crate::domain::settings_rule::{RefusedValue, TextRule};

/// Models of an arena, in the order of its settings.
#[derive(Clone, Default)]
pub struct Roster {
    models: Vec<Arc<ResilientModel>>,
    /// Settings that each model was built from; models of a test have none.
    recipes: HashMap<ModelId, ModelRecipe>,
    /// Whether the settings name no model and allow discovery, which has not run yet.
    awaits_discovery: bool,
    /// Keys of these and of former models.
    known_keys: KnownKeys,
}

#[derive(Clone)]
struct ModelRecipe {
    entry: ModelSettings,
    limits: ReplyLimits,
    allowed: AllowedAddresses,
}

impl Roster {
    /// Builds every configured model, and the practice models according to `providers.practice`. `seed` determines the jitter of waits and
    /// the wording of the practice models.
    ///
    /// # Errors
    /// [`ConfigError`] names the model and the key that is missing, unusable or used twice.
    pub fn build(settings: &Settings, env: &Environment, seed: u64) -> Result<Self, ConfigError> {
        Self::rebuild(settings, env, seed, &Self::default())
    }

    /// Builds like [`Roster::build`]; a model that is requested in the same way as in the former roster keeps its breaker and running
    /// replies.
    ///
    /// # Errors
    /// Same as [`Roster::build`].
    pub fn rebuild(settings: &Settings, env: &Environment, seed: u64, former: &Self) -> Result<Self, ConfigError> {
        let allowed = AllowedAddresses::new(&settings.providers.private_networks);
        let known_keys = former.known_keys.clone();
        let http = http_client_within(settings.providers.timeouts().connect, &allowed)?.with_known_keys(&known_keys);
        let limits = ReplyLimits::from(&settings.providers);
        let mut seen = HashSet::new();
        let awaits_discovery = Self::may_find(settings);
        let mut roster = Self { awaits_discovery, known_keys, ..Self::default() };
        for (entry, stream) in entries(settings).iter().zip(0u64..) {
            if !seen.insert(entry.id.clone()) {
                return Err(ConfigError::DuplicateModel(entry.id.clone()));
            }
            let id = ModelId::new(&entry.id);
            let recipe = ModelRecipe { entry: entry.clone(), limits, allowed: allowed.clone() };
            let kept =
                former.get(&id).filter(|_| former.recipes.get(&id).is_some_and(|old| old.is_requested_like(&recipe)));
            roster.recipes.insert(id, recipe);
            if let Some(kept) = kept {
                roster.models.push(Arc::new(kept.with(card(entry), entry.weight)));
                continue;
            }
            // Two streams per model: one for its wrapper, one for its text.
            let rng = |offset: u64| {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                rng.set_stream(2 * stream + offset);
                rng
            };
            let (card, model) = model(entry, env, &http, rng(1))?;
            roster.models.push(Arc::new(ResilientModel::new(card, entry.weight, model, limits, rng(0))));
        }
        Ok(roster)
    }

    /// Refuses fewer than two models, which make no battle. If models may still be discovered, the arena starts and waits for them.
    ///
    /// # Errors
    /// [`ConfigError::TooFewModels`].
    pub fn check_pairable(&self, settings: &Settings) -> Result<(), ConfigError> {
        let pairable = self.pairable();
        if pairable >= 2 || Self::may_find(settings) { Ok(()) } else { Err(ConfigError::TooFewModels(pairable)) }
    }

    /// Whether unconfigured models may still be discovered.
    #[must_use]
    pub fn may_find(settings: &Settings) -> bool {
        settings.providers.discover && settings.models.is_empty()
    }

    /// Creates a roster of these models, for tests and embedders.
    #[must_use]
    pub fn new(models: Vec<Arc<ResilientModel>>) -> Self {
        Self { models, ..Self::default() }
    }

    /// Returns the model with this id.
    #[must_use]
    pub fn get(&self, id: &ModelId) -> Option<Arc<ResilientModel>> {
        self.models.iter().find(|model| model.card.id == *id).cloned()
    }

    /// Returns the settings of a model; `None` for one that was not built from settings.
    #[must_use]
    pub fn entry(&self, id: &ModelId) -> Option<&ModelSettings> {
        self.recipes.get(id).map(|recipe| &recipe.entry)
    }

    /// Whether a model accepts images, according to the settings.
    #[must_use]
    pub fn sees_images(&self, id: &ModelId) -> bool {
        self.entry(id).is_some_and(|entry| entry.images)
    }

    /// Whether models may still be discovered that replace these.
    #[must_use]
    pub fn awaits_discovery(&self) -> bool {
        self.awaits_discovery
    }

    /// Returns all models.
    #[must_use]
    pub fn all(&self) -> &[Arc<ResilientModel>] {
        &self.models
    }

    /// Whether all models are practice models, as on an arena without any configured one.
    #[must_use]
    pub fn only_practice(&self) -> bool {
        !self.models.is_empty() && self.models.iter().all(|model| model.card.practice)
    }

    /// Returns the number of models that can be paired: those with a weight above 0.
    #[must_use]
    pub fn pairable(&self) -> usize {
        self.models.iter().filter(|model| model.weight > 0.0).count()
    }

    /// Returns the models that may be paired now: a weight above 0, and a breaker that is not open.
    #[must_use]
    pub fn healthy(&self) -> Vec<Arc<ResilientModel>> {
        self.models.iter().filter(|model| model.weight > 0.0 && model.healthy()).cloned().collect()
    }
}

impl ModelRecipe {
    /// Whether two models are requested identically: they may differ only in their card, weight, prices, and benchmark settings.
    fn is_requested_like(&self, other: &Self) -> bool {
        let public = &other.entry;
        let entry = ModelSettings {
            name: public.name.clone(),
            organization: public.organization.clone(),
            license: public.license.clone(),
            reason: public.reason.clone(),
            weight: public.weight,
            images: public.images,
            max_concurrent: public.max_concurrent,
            input_price: public.input_price,
            output_price: public.output_price,
            batch_price: public.batch_price,
            price_date: public.price_date,
            price_source: public.price_source.clone(),
            ..self.entry.clone()
        };
        entry == other.entry && self.limits == other.limits && self.allowed == other.allowed
    }
}

/// Returns the entries of a roster: the configured models, then the practice models according to `providers.practice`.
#[must_use]
pub fn entries(settings: &Settings) -> Vec<ModelSettings> {
    let joins = match settings.providers.practice {
        PracticeMode::Always => true,
        PracticeMode::Auto => settings.models.is_empty(),
        PracticeMode::Never => false,
    };
    let mut entries = settings.models.clone();
    let is_named = |kind: &PracticeKind| {
        settings
            .models
            .iter()
            .any(|entry| entry.provider == ProviderKind::Builtin && entry.name_at_provider() == kind.id())
    };
    let practice = PracticeKind::ALL.iter().filter(|kind| joins && !is_named(kind));
    entries.extend(practice.map(|kind| ModelSettings::minimal(kind.id(), ProviderKind::Builtin)));
    entries
}

/// Returns the identity of an entry's provider model: host with port, and name there. Two entries with the same text use the same model,
/// regardless of sampling and system prompts. The text may be private.
#[must_use]
pub fn provider_model(entry: &ModelSettings) -> String {
    let default = match entry.provider {
        ProviderKind::Openai => openai::DEFAULT_BASE_URL,
        ProviderKind::Anthropic => anthropic::DEFAULT_BASE_URL,
        ProviderKind::Ollama => ollama::DEFAULT_BASE_URL,
        ProviderKind::Builtin => "",
    };
    let address =
        if entry.base_url.is_empty() || entry.provider == ProviderKind::Builtin { default } else { &entry.base_url };
    let url = reqwest::Url::parse(address).ok();
    let host = url.as_ref().and_then(|url| url.host_str()).unwrap_or_default();
    let port = url.as_ref().and_then(reqwest::Url::port_or_known_default).unwrap_or_default();
    let server = if entry.provider == ProviderKind::Builtin { "builtin".to_owned() } else { format!("{host}:{port}") };
    format!("{server}\n{}", entry.name_at_provider())
}

/// Returns the public model card of an entry. A practice model is labelled as such whatever its name.
#[must_use]
pub fn card(entry: &ModelSettings) -> ModelCard {
    let practice = PracticeKind::parse(entry.name_at_provider()).filter(|_| entry.provider == ProviderKind::Builtin);
    let id = ModelId::new(&entry.id);
    let Some(kind) = practice else {
        return ModelCard {
            id,
            name: entry.display_name().to_owned(),
            organization: entry.organization.clone(),
            license: entry.license.clone(),
            practice: false,
        };
    };
    let own = kind.card();
    let name = match entry.name.as_str() {
        "" => own.name,
        name if name.to_lowercase().contains("practice") => name.to_owned(),
        name => format!("{name} (practice model)"),
    };
    ModelCard { id, name, ..own }
}

fn model(
    entry: &ModelSettings,
    env: &Environment,
    http: &HttpClient,
    rng: ChaCha8Rng,
) -> Result<(ModelCard, Arc<dyn ChatModel>), ConfigError> {
    let key = key(entry, env)?;
    let model: Arc<dyn ChatModel> = match entry.provider {
        ProviderKind::Openai => Arc::new(OpenAiModel::new(entry, key.as_ref(), http)?),
        ProviderKind::Anthropic => Arc::new(AnthropicModel::new(entry, key.as_ref(), http)?),
        ProviderKind::Ollama => Arc::new(OllamaModel::new(entry, key.as_ref(), http)?),
        ProviderKind::Builtin => {
            let kind = practice_kind(entry)?;
            Arc::new(PracticeModel::new(kind, kind.pace(), rng))
        }
    };
    Ok((card(entry), model))
}

fn key(entry: &ModelSettings, env: &Environment) -> Result<Option<SecretString>, ConfigError> {
    if entry.api_key_env.is_empty() {
        return Ok(None);
    }
    let missing = || ConfigError::MissingKey { model: entry.id.clone(), variable: entry.api_key_env.clone() };
    env.secret(&entry.api_key_env).map(Some).ok_or_else(missing)
}

fn practice_kind(entry: &ModelSettings) -> Result<PracticeKind, ConfigError> {
    PracticeKind::parse(entry.name_at_provider()).ok_or_else(|| {
        let value = RefusedValue::OfModel { value: entry.name_at_provider().to_owned(), model: entry.id.clone() };
        ConfigError::out_of_range("models.model", value, TextRule::PracticeModel)
    })
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;

    use super::*;
    use crate::domain::settings_rule::PRACTICE_MODELS;

    fn roster(text: &str, env: &Environment) -> Result<Roster, ConfigError> {
        let settings = Settings::parse(text, "test", &Environment::default()).unwrap();
        Roster::build(&settings, env, 1)
    }

    fn ids(text: &str) -> Vec<String> {
        let roster = roster(text, &Environment::default()).unwrap();
        roster.all().iter().map(|model| model.card.id.to_string()).collect()
    }

    const MODEL: &str = "[[models]]\nid = \"m\"\nprovider = \"ollama\"\n";

    #[test]
    fn practice_models_join_as_the_settings_say() {
        assert_eq!(ids("").len(), 5);
        assert_eq!(ids(MODEL), ["m"]);
        assert_eq!(ids(&format!("[providers]\npractice = \"always\"\n{MODEL}")).len(), 6);
        assert!(ids("[providers]\npractice = \"never\"\n").is_empty());
        let named = "[providers]\npractice = \"always\"\n[[models]]\nid = \"practice-echo\"\nprovider = \"builtin\"\n";
        assert_eq!(ids(named).len(), 5);
    }

    #[test]
    fn a_practice_model_is_called_one_whatever_its_name() {
        let text = "[[models]]\nid = \"e\"\nname = \"GPT-9\"\nprovider = \"builtin\"\nmodel = \"practice-echo\"\n";
        let card = roster(text, &Environment::default()).unwrap().all()[0].card.clone();
        assert_eq!((card.name.as_str(), card.practice), ("GPT-9 (practice model)", true));
    }

    #[test]
    fn a_missing_key_is_reported_by_the_name_of_its_variable() {
        let text = "[[models]]\nid = \"m\"\nprovider = \"openai\"\napi_key_env = \"MY_KEY\"\n";
        let error = roster(text, &Environment::default()).err().unwrap();
        assert!(matches!(error, ConfigError::MissingKey { variable, .. } if variable == "MY_KEY"));
        assert!(roster(text, &Environment::of([("MY_KEY", "sk-1")])).is_ok());
    }

    #[test]
    fn an_unknown_practice_model_is_refused_with_the_names_of_all() {
        let text = "[[models]]\nid = \"x\"\nprovider = \"builtin\"\n";
        let refused = roster(text, &Environment::default()).err().unwrap().to_string();
        for kind in PracticeKind::ALL {
            assert!(refused.contains(kind.id()), "{refused}");
        }
        assert_eq!(PracticeKind::ALL.map(PracticeKind::id), PRACTICE_MODELS, "as every language names them");
    }

    #[test]
    fn paused_models_are_known_and_not_paired() {
        let roster = roster(&format!("{MODEL}weight = 0.0\n"), &Environment::default()).unwrap();
        assert!(roster.get(&ModelId::new("m")).is_some() && roster.get(&ModelId::new("n")).is_none());
        assert!(roster.healthy().is_empty());
    }

    #[tokio::test]
    async fn a_model_that_is_asked_as_before_keeps_its_breaker() {
        let env = Environment::default();
        let build = |text: &str, former: &Roster| {
            let settings = Settings::parse(text, "langya.toml", &env).unwrap();
            Roster::rebuild(&settings, &env, 1, former).unwrap()
        };
        let limits = "[providers]\nbreaker_failures = 1\nretries = 0\npractice = \"never\"\n";
        let entry = "[[models]]\nid = \"m\"\nprovider = \"openai\"\nbase_url = \"http://127.0.0.1:1\"\n";
        let first = build(&format!("{limits}{entry}"), &Roster::default());
        let m = ModelId::new("m");
        first.get(&m).unwrap().reply(&[]).next().await.unwrap().unwrap_err();
        assert!(!first.get(&m).unwrap().healthy());
        let renamed = build(&format!("{limits}{entry}name = \"New\"\nweight = 3.0\n"), &first).get(&m).unwrap();
        assert_eq!((renamed.card.name.as_str(), renamed.weight, renamed.healthy()), ("New", 3.0, false));
        let moved = build(&format!("{limits}{entry}max_tokens = 7\n"), &first).get(&m).unwrap();
        assert!(moved.healthy(), "another request is another model");
        let reached = "private_networks = [\"127.0.0.0/8\"]\n";
        let elsewhere = build(&format!("{limits}{reached}{entry}"), &first).get(&m).unwrap();
        assert!(elsewhere.healthy(), "another set of addresses is another client");
    }

    #[test]
    fn replies_of_models_that_stay_are_held_against_the_keys_of_later_ones() {
        let model =
            |id: &str| format!("[[models]]\nid = \"{id}\"\nprovider = \"ollama\"\napi_key_env = \"KEY_{id}\"\n");
        let env = Environment::of([("KEY_m", "sk-0123456789abcdef"), ("KEY_n", "sk-fedcba9876543210")]);
        let first = roster(&model("m"), &env).unwrap();
        let settings = Settings::parse(&(model("m") + &model("n")), "test", &Environment::default()).unwrap();
        Roster::rebuild(&settings, &env, 1, &first).unwrap();
        assert_eq!(first.known_keys.len(), 2);
    }

    #[test]
    fn a_model_on_a_private_network_that_is_not_named_is_refused_by_the_setting() {
        let refused = |providers: &str, base: &str| {
            let entry = format!("[[models]]\nid = \"m\"\nprovider = \"openai\"\nbase_url = \"http://{base}/v1\"\n");
            roster(&format!("[providers]\n{providers}\n{entry}"), &Environment::default()).err().map(|e| e.to_string())
        };
        assert_eq!(refused("", "10.1.2.3"), None);
        let only = "private_networks = [\"10.1.0.0/16\"]";
        assert_eq!(refused(only, "10.1.2.3"), None);
        for base in ["10.2.2.3", "127.0.0.1", "[::1]", "0.0.0.0", "[64:ff9b::a02:203]"] {
            let said = refused(only, base).unwrap();
            assert!(said.contains("providers.private_networks") && said.contains("\"m\""), "{base}: {said}");
        }
    }

    #[test]
    fn entries_of_one_provider_model_are_recognised() {
        let entry = |base_url: &str, model: &str| ModelSettings {
            base_url: base_url.into(),
            model: model.into(),
            ..ModelSettings::minimal("m", ProviderKind::Openai)
        };
        let same = |one: &ModelSettings, other: &ModelSettings| provider_model(one) == provider_model(other);
        let first = entry("https://API.example.org/v1", "crane");
        assert!(same(&first, &entry("https://api.example.org:443/v1/", "crane")), "written in another way");
        let secret =
            ModelSettings { system_prompt: "Be brief.".into(), ..entry("https://k:v@api.example.org", "crane") };
        assert!(same(&first, &secret), "with another prompt and key");
        assert!(!provider_model(&secret).contains('v'), "no password: {}", provider_model(&secret));
        assert!(!same(&first, &entry("https://api.example.org/v1", "heron")));
        assert!(!same(&first, &entry("https://api.example.org:8443/v1", "crane")), "a port is a server of its own");
        assert!(same(&entry("", "crane"), &entry("https://api.openai.com/v1", "crane")), "a provider's own address");
    }

    #[test]
    fn two_entries_with_one_id_are_refused() {
        let entry = ModelSettings::minimal("m", ProviderKind::Ollama);
        let settings = Settings { models: vec![entry.clone(), entry], ..Settings::default() };
        let error = Roster::build(&settings, &Environment::default(), 1).err();
        assert!(matches!(error, Some(ConfigError::DuplicateModel(id)) if id == "m"));
    }
}
