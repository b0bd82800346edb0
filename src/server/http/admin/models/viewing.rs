//! Data of the model pages.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::settings_refusals::{refused_file, settings_problem};
use crate::domain::battle::ModelId;
use crate::domain::rating::value::prices::PriceDate;
use crate::http::admin::signed_in_request::SignedInRequest;
use crate::infra::config::edit::settings_file::SettingsFile;
use crate::infra::config::{ModelSettings, Settings};
use crate::infra::llm::breaker::BreakerPhase;
use crate::infra::llm::resilient_model::ResilientModel;
use crate::infra::llm::roster::Roster;
use crate::infra::storage::StoreError;
use crate::infra::time::clock::Clock as _;
use crate::pages::admin::models::{FileState, ModelLine, ServingState};
use crate::services::admin::model_health::ModelHealth;
use crate::state::AppState;

/// Models of the arena with their state and statistics.
pub(super) struct ModelViews {
    pub(super) health: ModelHealth,
    settings: Arc<Settings>,
    roster: Arc<Roster>,
    /// Probability that a battle includes the model.
    drawn: HashMap<ModelId, f64>,
}

impl ModelViews {
    pub(super) async fn read(app: &AppState) -> Result<Self, StoreError> {
        let mut drawn = HashMap::new();
        for pair in app.matchmaker.published().pairs {
            for model in pair.models {
                *drawn.entry(model).or_default() += pair.probability;
            }
        }
        let health = ModelHealth::read(&app.store, app.clock.now()).await?;
        Ok(Self { health, settings: app.settings.now(), roster: app.models.current(), drawn })
    }

    /// Returns the models of the settings in their order, then the retired ones.
    pub(super) fn lines(&self) -> Vec<ModelLine> {
        let mut lines: Vec<ModelLine> = self.roster.all().iter().map(|model| self.line_of(model)).collect();
        lines.extend(self.health.retired().filter(|change| self.roster.get(&change.model).is_none()).map(|change| {
            ModelLine {
                serving: ServingState::Retired,
                weight: 0.0,
                is_configured: false,
                price: None,
                ..self.line_with_stats(&change.model, &change.snapshot.name)
            }
        }));
        lines
    }

    /// Returns the row of an active or paused model.
    pub(super) fn line(&self, id: &ModelId) -> Option<ModelLine> {
        self.roster.get(id).map(|model| self.line_of(&model))
    }

    /// Returns the model's settings in force.
    pub(super) fn entry(&self, id: &ModelId) -> Option<ModelSettings> {
        self.roster.entry(id).cloned()
    }

    /// Returns the currency of prices.
    pub(super) fn currency(&self) -> String {
        self.settings.prices.currency.to_string()
    }

    fn line_of(&self, model: &ResilientModel) -> ModelLine {
        let entry = self.roster.entry(&model.card.id);
        ModelLine {
            serving: serving(model),
            weight: model.weight,
            price: entry.and_then(|entry| entry.input_price.zip(entry.output_price)),
            is_configured: self.settings.models.iter().any(|entry| entry.id == model.card.id.as_str()),
            ..self.line_with_stats(&model.card.id, &model.card.name)
        }
    }

    fn line_with_stats(&self, id: &ModelId, name: &str) -> ModelLine {
        let stats = self.health.stats.models.get(id.as_str()).copied().unwrap_or_default();
        ModelLine {
            id: id.to_string(),
            name: name.to_owned(),
            serving: ServingState::Drawn,
            weight: 0.0,
            stats,
            share: stats.share(self.health.stats.battles),
            drawn: self.drawn.get(id).copied(),
            price: None,
            is_configured: false,
            resumed_weight: self.health.last_weight(id),
        }
    }
}

fn serving(model: &ResilientModel) -> ServingState {
    match (model.weight > 0.0, model.breaker_remaining(), model.state().phase) {
        (false, ..) => ServingState::Paused,
        (true, Some(remaining), _) => ServingState::BreakerOpen(remaining),
        (true, None, BreakerPhase::Closed) => ServingState::Drawn,
        (true, None, BreakerPhase::Open | BreakerPhase::HalfOpen) => ServingState::OnTrial,
    }
}

/// Returns the state of the settings file.
pub(super) async fn file_state(call: &SignedInRequest) -> FileState {
    let Some(followed) = &call.app.settings_file else { return FileState::default() };
    let words = &call.page().t().admin.models;
    let file = SettingsFile::new(&followed.path);
    let read_only = match tokio::task::spawn_blocking(move || file.check_writable()).await {
        Ok(writable) => writable.err().map(|error| refused_file(&error, words.refusals)),
        Err(_) => Some(words.not_edited.to_owned()),
    };
    FileState { exists: true, read_only, problem: settings_file_problem(call) }
}

/// Returns why the current settings file is not in force; `None` if it is, or if there is none.
pub(in crate::http::admin) fn settings_file_problem(call: &SignedInRequest) -> Option<String> {
    let problem = call.app.settings_file.as_ref()?.problem()?;
    Some(settings_problem(&problem, &call.page().t().admin.models))
}

/// Returns a model's entry in the settings file, which an edit changes even if the file is not in force. `None` if the file cannot be read
/// or lacks the model.
pub(super) async fn file_entry(app: &AppState, id: &ModelId) -> Option<ModelSettings> {
    let followed = app.settings_file.as_ref()?;
    let (path, env, id) = (followed.path.clone(), followed.env.clone(), id.clone());
    let read = move || {
        let text = std::fs::read_to_string(&path).ok()?;
        let settings = Settings::parse(&text, &path.display().to_string(), &env).ok()?;
        settings.models.into_iter().find(|entry| entry.id == id.as_str())
    };
    tokio::task::spawn_blocking(read).await.ok().flatten()
}

/// Returns the current day, the default date of prices.
pub(super) fn today(app: &AppState) -> PriceDate {
    let now = Timestamp::from_millisecond(app.clock.now().0).unwrap_or_default();
    let day = now.to_zoned(TimeZone::UTC).date().to_string();
    day.parse().expect("a date is written as a date of a price is")
}
