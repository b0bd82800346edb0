//! `langya doctor`

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use serde::Serialize;

use super::Location;
use super::output::standard_output::print;
use super::output::table::{TableRow, render};
use crate::databases;
use crate::domain::doctor::{Finding, ModelAnswers, Severity};
use crate::domain::language::Language;
use crate::error::CommandResult;
use crate::infra::config::{Environment, OnFailure, Settings};
use crate::infra::llm::model_check_result::CheckedModel;
use crate::infra::llm::model_discovery::{DiscoveryTargets, with_discovered};
use crate::infra::moderation::ModerationEndpoint;
use crate::infra::storage::IfMissing;
use crate::infra::time::clock::{Clock, SystemClock};
use crate::infra::{oidc, redis};
use crate::output::output_format::OutputFormat;
use crate::render::i18n::doctor::{FindingWords, finding_words};
use crate::services::doctor::examine;
use crate::services::model_check::check_all;
use crate::services::start_check::check_start;

/// `langya doctor …`
#[derive(Debug, Clone, Args)]
pub struct DoctorOptions {
    #[command(flatten)]
    location: Location,
    /// Do not send a question to the models, which may cost money
    #[arg(long)]
    no_models: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// Checks everything that an arena needs, and prints a line for each finding; the exit code is 1 if there is a problem.
///
/// # Errors
/// An output that cannot be written.
pub async fn run(options: DoctorOptions, env: &Environment) -> CommandResult<ExitCode> {
    let findings = match options.location.settings(env) {
        Ok(settings) => findings(settings, options.no_models, env).await,
        Err(error) => vec![Finding::SettingsUnusable(error.to_string())],
    };
    let rows: Vec<FindingRow> = findings.iter().map(FindingRow::new).collect();
    print(&render(&rows, options.format)?)?;
    let is_wrong = rows.iter().any(|row| row.severity == Severity::Wrong);
    Ok(if is_wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

async fn findings(settings: Settings, no_models: bool, env: &Environment) -> Vec<Finding> {
    let refused = check_start(&settings, env).err().map(|error| Finding::SettingsUnusable(error.to_string()));
    let opened = databases::open(&settings.storage, IfMissing::Fail).await;
    let mut findings = examine(&settings, opened, SystemClock.now()).await;
    findings.extend(redis_finding(&settings).await);
    findings.extend(provider(&settings).await);
    if !no_models {
        findings.extend(moderation(&settings, env).await);
        let settings = with_discovered(settings, env, &DiscoveryTargets::default()).await;
        findings.push(match check_all(&settings, env).await {
            Ok(checked) => Finding::ModelsAnswer(model_check_summary(checked, &settings)),
            Err(error) => Finding::SettingsUnusable(error.to_string()),
        });
    }
    let is_unusable = |finding: &Finding| matches!(finding, Finding::SettingsUnusable(_));
    match refused {
        Some(refused) => {
            // The check of the service itself reports the same finding.
            findings.retain(|finding| *finding != refused);
            findings.insert(0, refused);
        }
        None if findings.iter().any(is_unusable) => {}
        None => findings.insert(0, Finding::SettingsUsable),
    }
    findings
}

/// Checks the connection to Redis, if the settings have one.
async fn redis_finding(settings: &Settings) -> Option<Finding> {
    if settings.redis.url.is_empty() {
        return None;
    }
    Some(redis::check(&settings.redis).await.map_or_else(Finding::RedisUnusable, |()| Finding::RedisAnswers))
}

/// Checks the moderation service with a harmless text.
async fn moderation(settings: &Settings, env: &Environment) -> Option<Finding> {
    let endpoint = match ModerationEndpoint::open(settings, env) {
        Ok(endpoint) => endpoint?,
        Err(error) => return Some(Finding::SettingsUnusable(error.to_string())),
    };
    let within = Duration::from_millis(settings.moderation.timeout_ms);
    let host = endpoint.host().to_owned();
    Some(match endpoint.ask("Hello", within, SystemClock.now()).await {
        Ok(_) => Finding::ModerationAnswers(host),
        Err(error) => {
            let refuses = settings.moderation.on_failure == OnFailure::Refuse;
            Finding::ModerationSilent { host, reason: error.to_string(), refuses }
        }
    })
}

/// Checks sign-in at the OIDC provider, if there is one.
async fn provider(settings: &Settings) -> Option<Finding> {
    let oidc = &settings.oidc;
    if !oidc.is_set() {
        return None;
    }
    if let Err(error) = oidc.check_secret() {
        return Some(Finding::SettingsUnusable(error.to_string()));
    }
    Some(match oidc::check(oidc, &settings.providers.private_networks).await {
        Ok(()) => Finding::ProviderAnswers(oidc.shown_name()),
        Err(error) => Finding::ProviderUnusable(error.to_string()),
    })
}

/// Combines the checks of all models into one finding: a battle needs two that answer.
fn model_check_summary(checked: Vec<CheckedModel>, settings: &Settings) -> ModelAnswers {
    let asked = checked.len();
    let failed = checked.into_iter().filter(|model| !model.ok).map(|model| (model.id, model.advice)).collect();
    ModelAnswers { asked, failed, are_practice: settings.models.is_empty() }
}

/// A line of the output.
#[derive(Debug, Serialize)]
struct FindingRow {
    check: &'static str,
    severity: Severity,
    found: String,
    advice: String,
}

impl FindingRow {
    fn new(finding: &Finding) -> Self {
        let FindingWords { found, advice, .. } = finding_words(finding, Language::English);
        Self { check: finding.check().as_str(), severity: finding.severity(), found, advice }
    }
}

impl TableRow for FindingRow {
    const HEADS: &'static [&'static str] = &["check", "result", "found", "what to do"];

    fn cells(&self) -> Vec<String> {
        let result = match self.severity {
            Severity::Ok => "ok",
            Severity::Warning => "warning",
            Severity::Wrong => "WRONG",
        };
        let advice = if self.advice.is_empty() { "-" } else { &self.advice };
        vec![self.check.to_owned(), result.to_owned(), self.found.clone(), advice.to_owned()]
    }
}
