//! Parses a model list into entries that the settings can hold.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use serde_json::Value;

use super::ListError;
use crate::config::ProviderKind;
use crate::domain::text_direction;

/// Maximum number of models in one list.
const MAX_MODELS: usize = 10_000;

/// Maximum length of a model's name in characters.
const MAX_NAME_CHARS: usize = 200;

/// Rounding factor of a price per million tokens: six decimals.
const PRICE_ROUNDING_FACTOR: f64 = 1e6;

/// A model as listed by its server.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedModel {
    /// Name at the provider.
    pub model: String,
    /// Id for logs and exports: lower-case letters, digits and `-._`.
    pub id: String,
    /// Display name; empty if the list has none.
    pub name: String,
    /// Organization that makes the model; empty if the list has none.
    pub organization: String,
    /// Maximum context length in tokens.
    pub context_length: Option<u64>,
    /// Maximum length of a reply in tokens.
    pub max_reply: Option<u64>,
    /// Price of a million input tokens, in US dollars.
    pub input_price: Option<f64>,
    /// Price of a million output tokens, in US dollars.
    pub output_price: Option<f64>,
    /// Creation time of the model in seconds since 1970; 0 if the list does not say.
    pub created: i64,
}

/// Parsed model list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelList {
    /// Chat models in the list's order, without duplicates and with distinct ids.
    pub models: Vec<ListedModel>,
    /// Number of skipped models: not for chat, or with an unusable name.
    pub others: usize,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ListBody {
    Data { data: Vec<Value> },
    Tags { models: Vec<Value> },
    Bare(Vec<Value>),
}

/// Fields of all known servers. Each is parsed separately, so that an invalid one affects only itself.
struct ListedFields<'v>(&'v Value);

impl ModelList {
    /// Parses OpenAI's or Ollama's format.
    ///
    /// # Errors
    /// [`ListError::NoList`] and [`ListError::TooMany`].
    pub fn parse(body: &[u8], provider: ProviderKind) -> Result<Self, ListError> {
        let entries = match (serde_json::from_slice(body).map_err(|_| ListError::NoList)?, provider) {
            (ListBody::Tags { models }, ProviderKind::Ollama) => models,
            (_, ProviderKind::Ollama) | (ListBody::Tags { .. }, _) => return Err(ListError::NoList),
            (ListBody::Data { data } | ListBody::Bare(data), _) => data,
        };
        if entries.len() > MAX_MODELS {
            return Err(ListError::TooMany(MAX_MODELS));
        }
        let mut models: Vec<ListedModel> = entries.iter().filter_map(|entry| ListedFields(entry).model()).collect();
        let mut seen = HashSet::new();
        models.retain(|listed| seen.insert(listed.model.clone()));
        let others = entries.len() - models.len();
        assign_distinct_ids(&mut models);
        Ok(Self { models, others })
    }
}

impl ListedFields<'_> {
    fn model(&self) -> Option<ListedModel> {
        let model = self.text("id").or_else(|| self.text("model")).or_else(|| self.text("name"))?;
        if !is_usable(model) || is_embedding(model) || !self.writes_text() {
            return None;
        }
        let shown = self.text("name").or_else(|| self.text("display_name")).filter(|name| *name != model);
        let (organization, name) = maker_and_name(&clean(shown.unwrap_or_default()), model);
        Some(ListedModel {
            model: model.to_owned(),
            id: String::new(),
            name,
            organization,
            context_length: ["context_length", "max_model_len", "max_context_length"]
                .iter()
                .find_map(|key| self.count(key)),
            max_reply: ListedFields(&self.0["top_provider"]).count("max_completion_tokens"),
            input_price: price(&self.0["pricing"]["prompt"]),
            output_price: price(&self.0["pricing"]["completion"]),
            created: self.0["created"].as_i64().unwrap_or_default(),
        })
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.0[key].as_str().filter(|text| !text.is_empty())
    }

    fn count(&self, key: &str) -> Option<u64> {
        self.0[key].as_u64().filter(|&tokens| tokens > 0)
    }

    /// Whether a model outputs text, according to OpenRouter: one that only generates images or speech is unfit for battles.
    fn writes_text(&self) -> bool {
        let kinds = self.0["architecture"]["output_modalities"].as_array();
        kinds.is_none_or(|kinds| kinds.iter().any(|kind| kind == "text"))
    }
}

/// Whether a name is usable. No legitimate server uses control characters, outer blanks or bidirectional marks.
pub(in crate::llm) fn is_usable(model: &str) -> bool {
    model.chars().count() <= MAX_NAME_CHARS
        && !model.contains(char::is_control)
        && model.trim() == model
        && text_direction::in_name(model) == model
}

/// Whether a model is for embeddings or ranking instead of chat.
pub(in crate::llm) fn is_embedding(name: &str) -> bool {
    let name = name.to_lowercase();
    ["embed", "bge-", "rerank", "minilm"].iter().any(|word| name.contains(word))
}

/// Cleans a display name: one line, without control characters and bidirectional marks.
fn clean(name: &str) -> String {
    let plain: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_NAME_CHARS).collect();
    text_direction::in_name(plain.trim()).into_owned()
}

/// Splits OpenRouter's `Maker: Name`, or `maker/name` of most others.
fn maker_and_name(shown: &str, model: &str) -> (String, String) {
    if let Some((maker, name)) = shown.split_once(": ") {
        return (maker.trim().to_owned(), name.trim().to_owned());
    }
    let maker = match model.split_once('/') {
        Some((maker, rest)) if !rest.contains('/') => maker,
        _ => "",
    };
    (maker.to_owned(), shown.to_owned())
}

/// Converts OpenRouter's price of one token in dollars to that of a million; a negative one means that it varies.
fn price(per_token: &Value) -> Option<f64> {
    let per_token = per_token.as_str().and_then(|text| text.parse::<f64>().ok()).or_else(|| per_token.as_f64())?;
    let per_million = (per_token * 1e6 * PRICE_ROUNDING_FACTOR).round() / PRICE_ROUNDING_FACTOR;
    (per_token >= 0.0 && per_million.is_finite() && per_million < 1e6).then_some(per_million)
}

/// Sets ids to the last part of each name, to the whole name if two models share it, and adds a number if even that is shared.
fn assign_distinct_ids(models: &mut [ListedModel]) {
    let mut short: HashMap<String, usize> = HashMap::new();
    for listed in models.iter() {
        *short.entry(slug(last_part(&listed.model))).or_default() += 1;
    }
    let (mut given, mut numbers) = (HashSet::new(), HashMap::<String, usize>::new());
    for listed in models {
        let own = slug(last_part(&listed.model));
        let id = if short[&own] == 1 { own } else { slug(&listed.model) };
        listed.id.clone_from(&id);
        let number = numbers.entry(id.clone()).or_insert(1);
        // Another model may have the name with the number.
        while !given.insert(listed.id.clone()) {
            *number += 1;
            listed.id = format!("{id}-{number}");
        }
    }
}

/// Returns `Qwen-14B` of `Qwen/Qwen-14B`, and the stem of a file's path, as llama.cpp lists it.
fn last_part(model: &str) -> &str {
    let part = model.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(model);
    part.strip_suffix(".gguf").unwrap_or(part)
}

fn slug(name: &str) -> String {
    let mut id = String::with_capacity(name.len());
    for c in name.to_lowercase().chars() {
        match c {
            '.' | '_' => id.push(c),
            c if c.is_alphanumeric() => id.push(c),
            _ if id.ends_with('-') => {}
            _ => id.push('-'),
        }
    }
    let id = id.trim_matches(['-', '.']);
    if id.is_empty() { "model".to_owned() } else { id.to_owned() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn openai(list: &Value) -> ModelList {
        ModelList::parse(list.to_string().as_bytes(), ProviderKind::Openai).unwrap()
    }

    #[test]
    fn openrouter_gives_names_makers_prices_and_lengths() {
        let list = openai(&json!({"data": [
            {"id": "maker/large-2:free", "name": "Maker: Large 2 (free)", "context_length": 131_072, "created": 7,
             "architecture": {"output_modalities": ["text", "image"]}, "pricing": {"prompt": "0.0000006", "completion": "0.0000024"},
             "top_provider": {"max_completion_tokens": 1024}},
            {"id": "maker/painter", "name": "Maker: Painter", "architecture": {"output_modalities": ["image"]}},
            {"id": "router/auto", "name": "Auto", "pricing": {"prompt": "-1", "completion": "x"}},
        ]}));
        let large = ListedModel {
            model: "maker/large-2:free".into(),
            id: "large-2-free".into(),
            name: "Large 2 (free)".into(),
            organization: "Maker".into(),
            context_length: Some(131_072),
            max_reply: Some(1024),
            input_price: Some(0.6),
            output_price: Some(2.4),
            created: 7,
        };
        assert_eq!((&list.models[0], list.others), (&large, 1));
        let auto = &list.models[1];
        assert_eq!((auto.name.as_str(), auto.organization.as_str(), auto.input_price), ("Auto", "router", None));
    }

    #[test]
    fn other_servers_are_read_in_their_forms() {
        let vllm = openai(
            &json!({"object": "list", "data": [{"id": "Qwen/Qwen-14B-Chat", "owned_by": "vllm", "max_model_len": 4096}]}),
        );
        let qwen = &vllm.models[0];
        assert_eq!(
            (qwen.id.as_str(), qwen.organization.as_str(), qwen.context_length),
            ("qwen-14b-chat", "Qwen", Some(4096))
        );
        assert_eq!(openai(&json!([{"id": "/models/x.Q4.gguf"}])).models[0].id, "x.q4");
        let tags = json!({"models": [{"name": "qwen2.5:7b", "model": "qwen2.5:7b", "size": 1}, {"name": "nomic-embed-text:latest"}]});
        let ollama = ModelList::parse(tags.to_string().as_bytes(), ProviderKind::Ollama).unwrap();
        assert_eq!((ollama.models[0].id.as_str(), ollama.models.len(), ollama.others), ("qwen2.5-7b", 1, 1));
    }

    #[test]
    fn two_models_of_one_name_get_ids_of_their_own() {
        let list = openai(
            &json!({"data": [{"id": "a/m"}, {"id": "b/m"}, {"id": "b m"}, {"id": "a/m"}, {"id": "千问/千问"}, {"id": "*"}]}),
        );
        let ids: Vec<&str> = list.models.iter().map(|listed| listed.id.as_str()).collect();
        assert_eq!(ids, ["a-m", "b-m", "b-m-2", "千问", "model"]);
        let list = openai(&json!({"data": [{"id": "q q"}, {"id": "q-q"}, {"id": "q-q-2"}]}));
        let ids: Vec<&str> = list.models.iter().map(|listed| listed.id.as_str()).collect();
        assert_eq!(ids, ["q-q", "q-q-2", "q-q-2-2"]);
    }

    #[test]
    fn names_that_nothing_can_hold_are_left_out_and_counted() {
        let names = ["a\nb", "\u{1b}[2J", "gpt\u{202e}live", " x", &"n".repeat(201), "", "say \"hi\"\\"];
        let list = openai(&json!({"data": names.map(|id| json!({"id": id, "name": "A\r\nB: C\u{7}"}))}));
        assert_eq!((list.models.len(), list.others), (1, 6));
        let kept = &list.models[0];
        assert_eq!((kept.id.as_str(), kept.organization.as_str(), kept.name.as_str()), ("say-hi", "A  B", "C"));
    }

    #[test]
    fn what_is_no_list_is_reported_and_not_quoted() {
        for body in ["<html>sk-canary</html>", "", "{}", "null", "{\"data\": 3}", "{\"error\": \"sk-canary\"}", "[[[["]
        {
            let error = ModelList::parse(body.as_bytes(), ProviderKind::Openai).unwrap_err();
            assert_eq!(error, ListError::NoList, "{body}");
        }
        let odd = openai(&json!({"data": [3, null, [], {"id": 7}, {"id": "m", "pricing": [], "context_length": "x"}]}));
        assert_eq!((odd.models.len(), odd.others), (1, 4));
        let many = json!({"data": vec![json!({"id": "m"}); MAX_MODELS + 1]}).to_string();
        assert_eq!(ModelList::parse(many.as_bytes(), ProviderKind::Openai), Err(ListError::TooMany(MAX_MODELS)));
    }
}
