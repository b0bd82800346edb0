//! Advice on failures of models, with the keys of the settings.

use super::ChatError;
use super::batch::BatchEnd;
use crate::config::{ModelSettings, ProviderKind};

/// Returns advice on a failure of the model with this entry.
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
            "the provider requires payment: top up the account, or choose another model".into()
        }
        ChatError::Status { status: 404, .. } if entry.provider == ProviderKind::Ollama => {
            format!("Ollama does not have \"{0}\": run `ollama pull {0}`, or check model", entry.name_at_provider())
        }
        ChatError::Status { status: 404 | 405, .. } => format!(
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
        ChatError::Status { status: ..=299, .. } => {
            "a reply needs status 200: check provider and base_url, and any proxy on the way".into()
        }
        ChatError::Status { .. } | ChatError::Reported => "the server failed: see its own log, then try again".into(),
        ChatError::Unreached(_) | ChatError::Connection(_) => {
            let address = without_password(address);
            format!(
                "check base_url ({address}: scheme, host and port), and that the server runs and can be reached from here"
            )
        }
        ChatError::Malformed(_) => {
            "the server does not speak this protocol, or does not stream: check provider and base_url".into()
        }
        ChatError::Empty => {
            "the model wrote no text: raise max_tokens (reasoning uses them up first), and check extra_body".into()
        }
        ChatError::Timeout { .. } => {
            "the server is too slow or still loading: try again, or raise the limits under [providers]".into()
        }
        ChatError::Unanswered(BatchEnd::Failed(_)) => {
            "the provider's own page of batches says more; leave --batch (in a plan, `batch`) out to ask one by one"
                .into()
        }
        ChatError::Unanswered(_) => "run the same command again to go on".into(),
        ChatError::BreakerOpen => "the circuit breaker is open after failures: try again later".into(),
    }
}

/// Removes a password before the host of an address.
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
        check_advice(&ChatError::Empty, "max_tokens");
        check_advice(&ChatError::Malformed("its body is a web page".into()), "provider");
        check_advice(&status(405), "base_url");
        check_advice(&status(206), "status 200");
    }
}
