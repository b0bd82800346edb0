//! Maximum reply length of requests to a model.

use serde_json::Value;

use crate::config::ModelSettings;

/// Source of the maximum reply length.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReplyLimit {
    /// The request alone.
    #[default]
    OfRequest,
    /// The request, or else the model's `max_tokens`.
    Usual(u32),
    /// The model's `extra_body`, which no request overrides; `None` if it sends no limit.
    Fixed(Option<u32>),
}

impl ReplyLimit {
    /// Returns the limit of a configured model.
    #[must_use]
    pub fn new(settings: &ModelSettings) -> Self {
        let options = settings.extra_body.get("options").and_then(|options| options.get("num_predict"));
        let mut keys = ["max_tokens", "max_completion_tokens"].into_iter();
        match keys.find_map(|key| settings.extra_body.get(key)).or(options) {
            // Some servers use -1 for no limit.
            Some(fixed) => Self::Fixed(Value::as_u64(fixed).and_then(|tokens| tokens.try_into().ok())),
            None => Self::Usual(settings.max_tokens),
        }
    }

    /// Returns the maximum reply length in tokens for a request with this limit; `None` if no limit is sent.
    #[must_use]
    pub fn of(self, request: Option<u32>) -> Option<u32> {
        match self {
            Self::OfRequest => request,
            Self::Usual(tokens) => Some(request.unwrap_or(tokens)),
            Self::Fixed(tokens) => tokens,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config::ProviderKind;

    #[test]
    fn a_request_says_its_limit_unless_the_extra_body_does() {
        let limit = |extra: &[(&str, Value)]| {
            let extra_body = extra.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
            let minimal = ModelSettings::minimal("m", ProviderKind::Openai);
            let limit = ReplyLimit::new(&ModelSettings { max_tokens: 2_048, extra_body, ..minimal });
            [limit.of(None), limit.of(Some(16))]
        };
        assert_eq!(limit(&[]), [Some(2_048), Some(16)]);
        assert_eq!(limit(&[("max_completion_tokens", json!(900))]), [Some(900); 2]);
        assert_eq!(limit(&[("options", json!({"num_predict": 70}))]), [Some(70); 2]);
        assert_eq!(limit(&[("max_tokens", json!(null))]), [None; 2]);
        assert_eq!(limit(&[("options", json!({"num_predict": -1}))]), [None; 2]);
        assert_eq!([ReplyLimit::default().of(None), ReplyLimit::default().of(Some(16))], [None, Some(16)]);
    }
}
