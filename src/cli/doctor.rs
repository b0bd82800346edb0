//! `langya doctor`

use std::process::ExitCode;

use clap::Args;

use super::Location;
use super::models::{Format, TableRow, render};
use super::output::print;
use crate::cli::error::CommandResult;
use crate::infra::clock::{Clock, SystemClock};
use crate::infra::config::{ConfigError, Environment, Settings};
use crate::infra::llm::discover::{Places, with_discovered};
use crate::services::doctor::{Finding, Severity, examine};
use crate::services::model_check::{CheckedModel, check_all};

/// `langya doctor …`
#[derive(Debug, Clone, Args)]
pub struct DoctorOptions {
    #[command(flatten)]
    location: Location,
    /// Ask the models nothing, which costs nothing
    #[arg(long)]
    no_models: bool,
    /// How to print what was found
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Looks at everything that an arena needs, and prints a line for each; the exit code is 1 where something is wrong.
///
/// # Errors
/// An output that cannot be written.
pub async fn run(options: DoctorOptions, env: &Environment) -> CommandResult<ExitCode> {
    let findings = match options.location.settings(env) {
        Ok(settings) => findings(settings, options.no_models, env).await,
        Err(error) => vec![unusable(&error)],
    };
    print(&render(&findings, options.format)?)?;
    let is_wrong = findings.iter().any(|finding| finding.severity == Severity::Wrong);
    Ok(if is_wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

async fn findings(settings: Settings, no_models: bool, env: &Environment) -> Vec<Finding> {
    let mut findings = vec![Finding::ok("settings", "usable")];
    findings.extend(examine(&settings, SystemClock.now()).await);
    if !no_models {
        let settings = with_discovered(settings, env, &Places::default()).await;
        match check_all(&settings, env).await {
            Ok(checked) => findings.push(models(&checked, &settings)),
            Err(error) => findings.push(unusable(&error)),
        }
    }
    findings
}

fn unusable(error: &ConfigError) -> Finding {
    Finding::wrong("settings", error.to_string(), "mend the settings; the arena does not start with these")
}

/// One line for all models: a battle needs two that answer.
fn models(checked: &[CheckedModel], settings: &Settings) -> Finding {
    let failed: Vec<&CheckedModel> = checked.iter().filter(|model| !model.ok).collect();
    let answered = checked.len() - failed.len();
    let found = format!("{answered} of {} answer", checked.len());
    let says = |model: &&CheckedModel| {
        format!("{}: {}", model.id, model.advice.as_deref().unwrap_or("see `langya models check`"))
    };
    let advice = failed.iter().map(says).collect::<Vec<_>>().join("; ");
    match failed.is_empty() {
        _ if answered < 2 => Finding::wrong(
            "models",
            found,
            if advice.is_empty() { "add models with `langya models add --from URL`".into() } else { advice },
        ),
        false => Finding::wrong("models", found, advice),
        true if settings.models.is_empty() => Finding::warning(
            "models",
            format!("{found}, and all are practice models"),
            "add models with `langya models add --from URL`",
        ),
        true => Finding::ok("models", found),
    }
}

impl TableRow for Finding {
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
