//! Sends each model a test question, and reports how to fix a failing one: `langya models check` and the admin.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use tokio::time::Instant;

use crate::infra::config::{ConfigError, Environment, ModelSettings, PracticeMode, Settings};
use crate::infra::llm::failure_advice::advice;
use crate::infra::llm::model_check_result::CheckedModel;
use crate::infra::llm::resilient_model::{PROBE_PROMPT, ResilientModel};
use crate::infra::llm::roster::{Roster, entries};
use crate::infra::llm::{ChatModel, Message, ReplyPart};

/// Maximum number of concurrent requests of `check`.
const MAX_CONCURRENT_REQUESTS: usize = 4;

/// Checks every model that has its key; models without one come last.
///
/// # Errors
/// Settings that cannot be used.
pub async fn check_all(settings: &Settings, env: &Environment) -> Result<Vec<CheckedModel>, ConfigError> {
    let has_key = |entry: &ModelSettings| entry.api_key_env.is_empty() || env.secret(&entry.api_key_env).is_some();
    let (ready, keyless): (Vec<_>, Vec<_>) = settings.models.iter().cloned().partition(has_key);
    let mut usable = Settings { models: ready, ..settings.clone() };
    if usable.models.is_empty() && !keyless.is_empty() && usable.providers.practice == PracticeMode::Auto {
        usable.providers.practice = PracticeMode::Never;
    }
    // The seed only spreads the waits between tries.
    let mut checked = check(&usable, &Roster::build(&usable, env, 0)?).await;
    checked.extend(keyless.iter().map(without_key));
    Ok(checked)
}

/// Checks each model of the roster, a few at a time; results in the roster's order.
pub async fn check(settings: &Settings, roster: &Roster) -> Vec<CheckedModel> {
    let entries: BTreeMap<String, ModelSettings> =
        entries(settings).into_iter().map(|entry| (entry.id.clone(), entry)).collect();
    let asked = roster.all().iter().map(|model| check_one(Arc::clone(model), entries.get(model.card.id.as_str())));
    stream::iter(asked).buffered(MAX_CONCURRENT_REQUESTS).collect().await
}

/// Returns the failed check of a model without its key variable, which keeps the arena from starting; the others are checked nonetheless.
fn without_key(entry: &ModelSettings) -> CheckedModel {
    let variable = &entry.api_key_env;
    CheckedModel {
        id: entry.id.clone(),
        ok: false,
        first_token_ms: None,
        chars_per_second: None,
        error: Some(format!("the key variable {variable} is not set")),
        advice: Some(format!(
            "export {variable} where the arena runs, or remove api_key_env: the arena does not start without it"
        )),
    }
}

/// Checks one model. `entry` is its entry in the settings.
pub async fn check_one(model: Arc<ResilientModel>, entry: Option<&ModelSettings>) -> CheckedModel {
    let question = Message::user(PROBE_PROMPT);
    let begun = Instant::now();
    let mut reply = model.reply(&[question]);
    let (mut first, mut characters, mut error) = (None, 0, None);
    while let Some(part) = reply.next().await {
        match part {
            Ok(ReplyPart::Text(text)) if first.is_none() => {
                first = Some((begun.elapsed(), Instant::now()));
                drop(text);
            }
            Ok(ReplyPart::Text(text)) => characters += text.chars().count(),
            Ok(ReplyPart::Reasoning(_) | ReplyPart::Usage(_) | ReplyPart::Numbers(_) | ReplyPart::TextEnded) => {}
            Err(reason) => error = Some(reason),
        }
    }
    CheckedModel {
        id: model.card.id.to_string(),
        ok: error.is_none(),
        first_token_ms: first.map(|(after, _)| saturating_u64(after.as_millis())),
        chars_per_second: first.and_then(|(_, since)| speed(characters, since.elapsed())),
        advice: error.as_ref().zip(entry).map(|(error, entry)| advice(error, entry)),
        error: error.map(|error| error.to_string()),
    }
}

/// Computes characters per second after the first chunk.
fn speed(characters: usize, time: Duration) -> Option<u64> {
    let microseconds = time.as_micros();
    if characters == 0 || microseconds == 0 {
        return None;
    }
    Some(saturating_u64(characters as u128 * 1_000_000 / microseconds))
}

fn saturating_u64(number: u128) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn practice_models_pass_the_check() {
        let settings = Settings::default();
        let checked = check(&settings, &Roster::build(&settings, &Environment::default(), 1).unwrap()).await;
        assert_eq!(checked.len(), 5);
        for model in checked {
            assert!(model.ok && model.first_token_ms >= Some(80) && model.chars_per_second.is_some(), "{model:?}");
        }
    }
}
