//! Asks models one question each, and says what one that fails needs: `langya models check` and the admin.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use serde::Serialize;
use tokio::time::Instant;

use crate::infra::config::{ConfigError, Environment, ModelSettings, PracticeMode, ProviderKind, Settings};
use crate::infra::llm::guard::GuardedModel;
use crate::infra::llm::roster::{Roster, entries};
use crate::infra::llm::{ChatError, ChatModel, Message, ReplyPart, Role};

/// What every model is asked by `check`.
const QUESTION: &str = "In one short sentence: what is the capital of France?";

/// Models asked at the same time by `check`.
const AT_ONCE: usize = 4;

/// One line of `models check`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckedModel {
    /// Key used in logs and exports.
    pub id: String,
    /// Whether it answered.
    pub ok: bool,
    /// From the request to the first text, in milliseconds.
    pub first_token_ms: Option<u64>,
    /// Characters a second from the first text on; `None` for an answer that came in one piece.
    pub chars_per_second: Option<u64>,
    /// What went wrong.
    pub error: Option<String>,
    /// What to change.
    pub advice: Option<String>,
}

/// Asks every model that can be asked; those whose key is not set come last.
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

/// Asks each model of the roster one question, a few at the same time; results in the roster's order.
pub async fn check(settings: &Settings, roster: &Roster) -> Vec<CheckedModel> {
    let entries: BTreeMap<String, ModelSettings> =
        entries(settings).into_iter().map(|entry| (entry.id.clone(), entry)).collect();
    let asked = roster.all().iter().map(|model| check_one(Arc::clone(model), entries.get(model.card.id.as_str())));
    stream::iter(asked).buffered(AT_ONCE).collect().await
}

/// A model whose key variable is not set, which keeps the arena from starting; the others are asked all the same.
fn without_key(entry: &ModelSettings) -> CheckedModel {
    let variable = &entry.api_key_env;
    CheckedModel {
        id: entry.id.clone(),
        ok: false,
        first_token_ms: None,
        chars_per_second: None,
        error: Some(format!("the key variable {variable} is not set")),
        advice: Some(format!(
            "export {variable} where the arena runs, or take api_key_env out: the arena does not start without it"
        )),
    }
}

/// Asks one model. `entry` is what the settings say of it.
pub async fn check_one(model: Arc<GuardedModel>, entry: Option<&ModelSettings>) -> CheckedModel {
    let question = Message { role: Role::User, content: QUESTION.into() };
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
            Ok(ReplyPart::Reasoning(_) | ReplyPart::Usage(_)) => {}
            Err(reason) => error = Some(reason),
        }
    }
    CheckedModel {
        id: model.card.id.to_string(),
        ok: error.is_none(),
        first_token_ms: first.map(|(after, _)| whole(after.as_millis())),
        chars_per_second: first.and_then(|(_, since)| speed(characters, since.elapsed())),
        advice: error.as_ref().zip(entry).map(|(error, entry)| advice(error, entry)),
        error: error.map(|error| error.to_string()),
    }
}

/// Characters after the first piece over the time after it.
fn speed(characters: usize, time: Duration) -> Option<u64> {
    let microseconds = time.as_micros();
    if characters == 0 || microseconds == 0 {
        return None;
    }
    Some(whole(characters as u128 * 1_000_000 / microseconds))
}

fn whole(number: u128) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// What to change after a failure, with the keys of the settings.
#[must_use]
pub fn advice(error: &ChatError, entry: &ModelSettings) -> String {
    let variable = match entry.api_key_env.as_str() {
        "" => "set api_key_env to the name of the variable with the key".to_owned(),
        name => format!("check the key in the variable {name}"),
    };
    let address = if entry.base_url.is_empty() { "the provider's own address" } else { &entry.base_url };
    match error {
        ChatError::Status { status: 401 | 403, .. } => format!("the key was refused: {variable}"),
        ChatError::Status { status: 402, .. } => {
            "the provider wants to be paid: top up the account, or choose another model".into()
        }
        ChatError::Status { status: 404, .. } if entry.provider == ProviderKind::Ollama => {
            format!("Ollama does not have \"{0}\": run `ollama pull {0}`, or check model", entry.name_at_provider())
        }
        ChatError::Status { status: 404, .. } => format!(
            "nothing is known under \"{}\" at {}: check model, and that base_url ends as the provider says (often /v1)",
            entry.name_at_provider(),
            without_password(address)
        ),
        ChatError::Status { status: 400 | 413 | 422, .. } => {
            "the request was refused: check model, temperature, max_tokens and extra_body".into()
        }
        ChatError::Status { status: 429, .. } => {
            "the provider's limit or quota is used up: wait, lower weight, or check the account".into()
        }
        ChatError::Status { status: 300..=399, .. } => "the address has moved: set base_url to the new one".into(),
        ChatError::Status { .. } | ChatError::Reported => "the server failed: see its own log, then try again".into(),
        ChatError::Unreached(_) | ChatError::Connection(_) => {
            let address = without_password(address);
            format!(
                "check base_url ({address}: scheme, host and port), and that the server runs and can be reached from here"
            )
        }
        ChatError::Malformed(_) | ChatError::Empty => {
            "the server does not speak this protocol: check provider and base_url".into()
        }
        ChatError::Timeout { .. } => {
            "the server is too slow or still loading: try again, or raise the limits under [providers]".into()
        }
        ChatError::BreakerOpen => "the circuit breaker is open after failures: try again later".into(),
    }
}

/// An address may carry a password before its host; it is left out.
fn without_password(address: &str) -> String {
    match address.split_once("://").map(|(scheme, rest)| (scheme, rest.split_once('@'))) {
        Some((scheme, Some((_, rest)))) => format!("{scheme}://{rest}"),
        _ => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> ModelSettings {
        ModelSettings {
            api_key_env: "MY_KEY".into(),
            base_url: "http://user:secret@127.0.0.1:9/v1".into(),
            ..ModelSettings::minimal("m", ProviderKind::Openai)
        }
    }

    #[track_caller]
    fn check_advice(error: &ChatError, expected: &str) {
        let advice = advice(error, &entry());
        assert!(advice.contains(expected) && !advice.contains("secret"), "{advice}");
    }

    #[test]
    fn advice_names_what_to_change() {
        let status = |status| ChatError::Status { status, retry_after: None };
        check_advice(&status(401), "MY_KEY");
        check_advice(&status(402), "account");
        check_advice(&status(404), "\"m\"");
        check_advice(&status(429), "quota");
        check_advice(&status(503), "log");
        check_advice(&ChatError::Connection("refused".into()), "http://127.0.0.1:9/v1");
        check_advice(&ChatError::Empty, "provider");
    }

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
