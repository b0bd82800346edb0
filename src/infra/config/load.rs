//! Loads the settings: `langya.toml`, overridden by the environment.

use std::path::Path;

use super::environment::Environment;
use super::{ConfigError, DEFAULT_FILE, Settings};

impl Settings {
    /// Reads `path` (or `langya.toml` if it exists and no path is given) and applies the environment's overrides.
    ///
    /// # Errors
    /// [`ConfigError`] names the key and the remedy.
    pub fn load(path: Option<&Path>, env: &Environment) -> Result<Self, ConfigError> {
        let (origin, text) = match path {
            Some(path) => (path.display().to_string(), read(path)?),
            None if Path::new(DEFAULT_FILE).exists() => (DEFAULT_FILE.into(), read(Path::new(DEFAULT_FILE))?),
            None => ("the environment".into(), String::new()),
        };
        Self::parse(&text, &origin, env)
    }

    /// Reads settings from TOML text; `origin` names it in messages.
    ///
    /// # Errors
    /// Same as [`Settings::load`].
    pub fn parse(text: &str, origin: &str, env: &Environment) -> Result<Self, ConfigError> {
        let invalid = |reason: String| ConfigError::Invalid { origin: origin.to_owned(), reason };
        // Once without the environment, for messages that name the line; the environment may still complete it.
        toml::from_str::<Settings>(text).map_err(|error| invalid(with_advice(in_one_line_without_values(&error))))?;
        let mut table: toml::Table = text.parse().map_err(|error| invalid(in_one_line(&error)))?;
        if let Some((name, meant)) = env.others().find_map(|name| Some((name, suggested_variable(name)?))) {
            let reason = format!("is not read: write {meant}, with two underscores");
            return Err(ConfigError::Invalid { origin: format!("LANGYA_{name}"), reason });
        }
        for (name, value) in env.overrides() {
            apply_variable(&mut table, name, value)
                .map_err(|reason| ConfigError::Invalid { origin: format!("LANGYA__{name}"), reason })?;
        }
        let settings: Settings =
            table.try_into().map_err(|error: toml::de::Error| in_environment(&in_one_line(&error), env))?;
        let mut settings = settings.checked()?;
        settings.oidc = settings.oidc.with_secret(env);
        Ok(settings)
    }
}

/// Condenses a TOML error to one line that quotes only the key of the text: a value may be secret.
fn in_one_line(error: &toml::de::Error) -> String {
    let message = error.to_string();
    let mut said = Vec::new();
    for line in message.lines() {
        match line.split_once('|') {
            Some((number, text)) if number.trim().chars().all(|c| c.is_ascii_digit()) => {
                let key = text.split_once('=').map(|(key, _)| key.trim());
                // A line that continues a value may contain the sign.
                if let Some(key) = key.filter(|key| key.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c)))
                {
                    said.push(format!("at \"{key}\""));
                }
            }
            _ => said.push(line.trim().to_owned()),
        }
    }
    let line = said.join(": ");
    PLAIN_WORDS.iter().fold(line, |line, (rust, plain)| line.replace(rust, plain))
}

/// Adds the advice to a refusal if there is one, and then leaves out the list of all keys.
fn with_advice(line: String) -> String {
    match advice(&line) {
        Some(advice) => format!("{}: {advice}", line.split(", expected one of").next().unwrap_or_default()),
        None => line,
    }
}

/// Returns advice for a key in the wrong section, or for a table that should be a list.
fn advice(line: &str) -> Option<String> {
    // With a key, it is a value and not a header.
    if line.contains("invalid type: map, expected a list") && !line.contains(": at \"") {
        return Some("a header of a list has two brackets, such as [[models]]".into());
    }
    let (_, rest) = line.split_once("unknown field `")?;
    match rest.split('`').next()? {
        "model" => Some("each model is an entry [[models]]".into()),
        "webhook" => Some("each webhook is an entry [[webhooks]]".into()),
        "api_key" => Some("write api_key_env, the name of the environment variable that holds the key".into()),
        key => sections_of(key).map(|sections| format!("this key belongs under {sections}")),
    }
}

/// Keys of a `[[models]]` entry; a serialised entry lacks unset keys.
pub(super) const MODEL_KEYS: [&str; 21] = [
    "id",
    "name",
    "organization",
    "license",
    "provider",
    "base_url",
    "model",
    "api_key_env",
    "images",
    "weight",
    "reason",
    "temperature",
    "max_tokens",
    "max_concurrent",
    "input_price",
    "output_price",
    "batch_price",
    "price_date",
    "price_source",
    "system_prompt",
    "extra_body",
];

/// Returns the sections that have this key, as headers.
fn sections_of(key: &str) -> Option<String> {
    let of_models = MODEL_KEYS.contains(&key).then(|| "[[models]]".to_owned());
    let sections = defaults().into_iter().filter(|(_, keys)| keys.get(key).is_some());
    let all: Vec<String> = of_models.into_iter().chain(sections.map(|(section, _)| format!("[{section}]"))).collect();
    (!all.is_empty()).then(|| all.join(" or "))
}

/// Builds the error for a value from the environment, with the name of its variable if known.
fn in_environment(reason: &str, env: &Environment) -> ConfigError {
    let (said, place) = reason.rsplit_once(": in `").unwrap_or((reason, ""));
    let field = said.split_once("unknown field `").and_then(|(_, rest)| rest.split('`').next());
    let path: Vec<&str> = place.trim_end_matches('`').split('.').filter(|part| !part.is_empty()).chain(field).collect();
    let wanted = path.join("__").to_uppercase();
    let is_wanted = |name: &str| {
        let name = name.to_uppercase();
        name.strip_prefix(&wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with("__"))
    };
    match env.overrides().find(|(name, _)| !wanted.is_empty() && is_wanted(name)) {
        Some((name, _)) => {
            ConfigError::Invalid { origin: format!("LANGYA__{name}"), reason: with_advice(said.to_owned()) }
        }
        None => ConfigError::Invalid { origin: "the environment (LANGYA__…)".into(), reason: reason.to_owned() },
    }
}

/// TOML type names and their plain equivalents.
const PLAIN_WORDS: [(&str, &str); 9] = [
    ("expected a sequence", "expected a list such as [1, 2] or [\"a\", \"b\"]"),
    ("expected a boolean", "expected true or false"),
    ("expected u8", "expected a whole number from 0 to 255"),
    ("expected u16", "expected a whole number from 0 to 65535"),
    ("expected u32", "expected a whole number from 0 to 4294967295"),
    ("expected u64", "expected a whole number from 0"),
    ("expected usize", "expected a whole number from 0"),
    ("expected i64", "expected a whole number"),
    ("expected f64", "expected a number"),
];

/// Condenses an error like [`in_one_line`] and drops the value that the parser quotes where it expected another type.
fn in_one_line_without_values(error: &toml::de::Error) -> String {
    let line = in_one_line(error);
    match (line.find(": string \""), line.rfind("\", expected ")) {
        (Some(start), Some(end)) if start < end => format!("{}: string{}", &line[..start], &line[end + 1..]),
        _ => line,
    }
}

/// Maximum size of a settings file in bytes: room for tens of thousands of models.
const MAX_FILE_BYTES: u64 = 16 << 20;

fn read(path: &Path) -> Result<String, ConfigError> {
    let unreadable = |source| ConfigError::Unreadable { path: path.to_owned(), source };
    if std::fs::metadata(path).map_err(unreadable)?.len() > MAX_FILE_BYTES {
        return Err(unreadable(std::io::Error::other("it is longer than 16 MB: give the path of a langya.toml")));
    }
    let bytes = crate::formats::read_file(path).map_err(unreadable)?;
    String::from_utf8(bytes).map_err(|_| unreadable(std::io::Error::other("it is not UTF-8")))
}

/// Returns every key with its default.
fn defaults() -> toml::Table {
    toml::Table::try_from(Settings::default()).unwrap_or_default()
}

/// Returns the variable of the setting that `SECTION_KEY` spells with one underscore.
fn suggested_variable(name: &str) -> Option<String> {
    let lower = name.to_lowercase();
    defaults().into_iter().find_map(|(section, keys)| {
        let key = lower.strip_prefix(&section)?.strip_prefix('_')?;
        keys.get(key)?;
        Some(format!("LANGYA__{}__{}", section.to_uppercase(), key.to_uppercase()))
    })
}

/// Returns the unread variables that look like settings, each with a suggested replacement. Other variables that begin with `LANGYA_` may
/// be foreign: Kubernetes sets `LANGYA_PORT` for a service of that name.
#[must_use]
pub fn ignored_variables(env: &Environment) -> Vec<(String, String)> {
    env.others().filter_map(|name| Some((format!("LANGYA_{name}"), suggested_name(name)?))).collect()
}

fn suggested_name(name: &str) -> Option<String> {
    let key = name.to_lowercase();
    match key.as_str() {
        "config" => return Some("the flag --config".into()),
        "redis" => return Some("LANGYA__REDIS__URL".into()),
        _ => {}
    }
    let sections = defaults().into_iter().filter(|(_, keys)| keys.get(&key).is_some());
    let variables: Vec<String> =
        sections.map(|(section, _)| format!("LANGYA__{}__{}", section.to_uppercase(), key.to_uppercase())).collect();
    (!variables.is_empty()).then(|| variables.join(" or "))
}

/// Sets `SECTION__KEY=value` in the table: verbatim if the key holds text, otherwise parsed as a TOML number, boolean or list.
fn apply_variable(table: &mut toml::Table, name: &str, value: &str) -> Result<(), String> {
    let lower = name.to_lowercase();
    let Some((section, key)) = lower.split_once("__") else {
        return Err("names no key: write LANGYA__SECTION__KEY".into());
    };
    let is_list = || format!("`{section}` is a list: set it in langya.toml");
    let default = defaults().remove(section);
    if default.as_ref().is_some_and(toml::Value::is_array) {
        return Err(is_list());
    }
    let is_text = default.as_ref().and_then(|section| section.get(key)).is_some_and(toml::Value::is_str);
    let parsed = value.parse::<toml::Value>().ok().filter(|value| !is_text && !value.is_table());
    let section_table = table.entry(section).or_insert_with(|| toml::Value::Table(toml::Table::new()));
    let Some(section_table) = section_table.as_table_mut() else {
        return Err(is_list());
    };
    section_table.insert(key.to_owned(), parsed.unwrap_or_else(|| toml::Value::String(value.to_owned())));
    Ok(())
}
