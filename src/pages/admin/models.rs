//! Models in the admin: state, statistics and settings.

use std::time::Duration;

use askama::Template;

use super::AdminFrame;
use crate::Page;
use crate::domain::admin::model_stats::ModelStats;
use crate::domain::admin::role::Role;
use crate::frame::time::time_text;
use crate::infra::config::ModelSettings;
use crate::infra::llm::model_check_result::CheckedModel;
use crate::infra::storage::FailureCount;
use crate::render::i18n::pages::ModelAdminTexts;

/// Serving state of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServingState {
    Drawn,
    /// Circuit breaker is open for this remaining time.
    BreakerOpen(Duration),
    /// Circuit breaker is half-open: one trial request may pass.
    OnTrial,
    Paused,
    Retired,
}

impl ServingState {
    fn text(self, words: &ModelAdminTexts) -> String {
        match self {
            Self::Drawn => words.serving.to_owned(),
            Self::BreakerOpen(remaining) => words.breaker_open.replace("{n}", &remaining.as_secs().max(1).to_string()),
            Self::OnTrial => words.on_trial.to_owned(),
            Self::Paused => words.paused.to_owned(),
            Self::Retired => words.retired.to_owned(),
        }
    }

    /// Whether the state needs an operator's attention.
    fn is_failing(self) -> bool {
        matches!(self, Self::BreakerOpen(_) | Self::OnTrial)
    }
}

/// Row of a model with its statistics.
#[derive(Debug, Clone)]
pub struct ModelLine {
    pub id: String,
    pub name: String,
    pub serving: ServingState,
    pub weight: f64,
    pub stats: ModelStats,
    /// Share of the battles of the last 24 hours.
    pub share: Option<f64>,
    /// Probability that the next battle includes the model, if all models are healthy.
    pub drawn: Option<f64>,
    /// Input and output price per million tokens.
    pub price: Option<(f64, f64)>,
    /// Whether the settings file contains the model.
    pub is_configured: bool,
    /// Pairing weight after resuming.
    pub resumed_weight: f64,
}

impl ModelLine {
    pub(crate) fn is_paused(&self) -> bool {
        self.serving == ServingState::Paused
    }

    fn share(&self) -> String {
        percent(self.share)
    }

    fn drawn(&self) -> String {
        percent(self.drawn)
    }

    fn error_rate(&self) -> String {
        percent(self.stats.error_rate())
    }

    fn first_token(&self) -> String {
        let time = |ms: u64| match ms {
            0..1_000 => format!("{ms}\u{a0}ms"),
            _ => format!("{}.{}\u{a0}s", ms / 1_000, ms % 1_000 / 100),
        };
        self.stats.first_token_ms.map_or_else(dash, time)
    }

    fn price(&self) -> String {
        self.price.map_or_else(dash, |(input, output)| format!("{input} / {output}"))
    }

    fn resume_label(&self, words: &ModelAdminTexts) -> String {
        words.resume_model.replace("{name}", &self.name).replace("{weight}", &self.resumed_weight.to_string())
    }
}

fn dash() -> String {
    "–".to_owned()
}

/// Formats a share as a percentage with one decimal.
pub(super) fn percent(share: Option<f64>) -> String {
    share.map_or_else(dash, |share| format!("{:.1} %", 100.0 * share))
}

/// State of the settings file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileState {
    /// Whether a settings file exists.
    pub exists: bool,
    /// Reason why the file cannot be written.
    pub read_only: Option<String>,
    /// Reason why the current file is not in force.
    pub problem: Option<String>,
}

impl FileState {
    fn is_writable(&self) -> bool {
        self.exists && self.read_only.is_none()
    }
}

/// Template of the list of models.
#[derive(Template)]
#[template(path = "admin/models.html")]
pub struct AdminModelsPage {
    pub page: Page,
    pub frame: AdminFrame,
    pub lines: Vec<ModelLine>,
    pub currency: String,
    pub file: FileState,
}

impl AdminModelsPage {
    fn may_change(&self) -> bool {
        self.frame.role.covers(Role::Operator) && self.file.is_writable()
    }

    fn is_operator(&self) -> bool {
        self.frame.role.covers(Role::Operator)
    }
}

/// Template of one model.
#[derive(Template)]
#[template(path = "admin/model.html")]
pub struct AdminModelPage {
    pub page: Page,
    pub frame: AdminFrame,
    pub line: ModelLine,
    /// Settings of the model.
    pub entry: Option<ModelSettings>,
    /// Version of the shown settings, to detect concurrent edits.
    pub version: String,
    pub failures: Vec<FailureCount>,
    /// Result of a test request.
    pub checked: Option<CheckedModel>,
    pub currency: String,
    pub file: FileState,
    /// Current day, default date of prices.
    pub today: String,
}

impl AdminModelPage {
    fn may_change(&self) -> bool {
        self.file.is_writable() && self.line.is_configured
    }

    #[expect(clippy::unused_self, reason = "the template calls it on the page")]
    fn time(&self, milliseconds: &i64) -> String {
        time_text(*milliseconds)
    }

    #[expect(clippy::unused_self, reason = "the template calls it on the page")]
    fn price_text(&self, price: &Option<f64>) -> String {
        price.map_or_else(String::new, |price| price.to_string())
    }

    fn price_date(&self, entry: &ModelSettings) -> String {
        entry.price_date.map_or_else(|| self.today.clone(), String::from)
    }

    #[expect(clippy::unused_self, reason = "the template calls it on the page")]
    fn price_source(&self, entry: &ModelSettings) -> String {
        entry.price_source.clone().map_or_else(String::new, String::from)
    }

    fn prices_title(&self) -> String {
        self.page.t().admin.models.prices.replace("{currency}", &self.currency)
    }

    fn test_text(&self, checked: &CheckedModel) -> String {
        let words = &self.page.t().admin.models;
        let whole = |number: Option<u64>| number.map_or_else(dash, |number| number.to_string());
        match &checked.error {
            Some(error) => words.test_failed.replace("{error}", error),
            None => words
                .test_good
                .replace("{first}", &whole(checked.first_token_ms))
                .replace("{speed}", &whole(checked.chars_per_second)),
        }
    }
}
