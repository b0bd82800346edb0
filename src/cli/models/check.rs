//! `langya models check`: sends each model a test question, and prints the remedy for failures.

use std::process::ExitCode;

use super::{TableRow, render};
use crate::error::CommandResult;
use crate::infra::config::{Environment, Settings};
use crate::infra::llm::model_check_result::CheckedModel;
use crate::output::output_format::OutputFormat;
use crate::output::standard_output::print;
use crate::output::table::value_or_dash;
use crate::services::model_check::check_all;

/// Prints a row for each model; the exit code is 1 if one failed.
///
/// # Errors
/// Invalid settings, or an output that cannot be written.
pub(super) async fn print_check(
    settings: &Settings,
    env: &Environment,
    format: OutputFormat,
) -> CommandResult<ExitCode> {
    let checked = check_all(settings, env).await?;
    print(&render(&checked, format)?)?;
    Ok(if checked.iter().all(|model| model.ok) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl TableRow for CheckedModel {
    const HEADS: &'static [&'static str] = &["id", "result", "first token", "speed", "what to change"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.id.clone(),
            self.error.clone().unwrap_or_else(|| "ok".into()),
            value_or_dash(self.first_token_ms.map(|ms| format!("{ms} ms"))),
            value_or_dash(self.chars_per_second.map(|speed| format!("{speed} chars/s"))),
            value_or_dash(self.advice.as_ref()),
        ]
    }
}
