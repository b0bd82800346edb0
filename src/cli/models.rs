//! `langya models list`, `check`, `register` and `reason`.

mod register;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use futures_util::{StreamExt, stream};
use serde::Serialize;
use tokio::time::Instant;

use super::Location;
use super::output::{lines_of_csv, print};
use crate::cli::error::CommandResult;
use crate::cli::terminal_text::{printable, width};
use crate::domain::battle::ModelId;
use crate::domain::register::changes::ModelState;
use crate::infra::config::{Environment, ModelSettings, ProviderKind, Settings};
use crate::infra::llm::discover::{Places, with_discovered};
use crate::infra::llm::guard::GuardedModel;
use crate::infra::llm::roster::{Roster, card, entries};
use crate::infra::llm::{ChatError, ChatModel, Message, ReplyPart, Role};
use crate::infra::storage::{IfMissing, Store, StoreError};
pub use register::{ReasonOptions, RegisterOptions};

/// What every model is asked by `check`.
const QUESTION: &str = "In one short sentence: what is the capital of France?";

/// Models asked at the same time by `check`.
const AT_ONCE: usize = 4;

/// `langya models …`
#[derive(Debug, Args)]
pub struct Options {
    #[command(flatten)]
    location: Location,
    /// What to do.
    #[command(subcommand)]
    pub action: Action,
}

/// What `langya models` can do.
#[derive(Debug, Clone, Subcommand)]
pub enum Action {
    /// List the models that `serve` would use
    List {
        /// How to print them
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Ask each model one question; say how fast it is, or what to change where it fails
    Check {
        /// How to print the results
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Show every model that ever took part, with its days and shares in battles, its changes, and the pairing's history
    Register(RegisterOptions),
    /// State publicly why a model was added, paused, changed or retired
    Reason(ReasonOptions),
}

/// How results are printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Columns for reading
    #[default]
    Table,
    /// One JSON array
    Json,
    /// Comma-separated values with a header line
    Csv,
}

/// One line of `models list`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ListedModel {
    /// Key used in logs and exports.
    pub id: String,
    /// Name shown after the vote.
    pub name: String,
    /// Its maker.
    pub organization: String,
    /// The protocol of its server.
    pub provider: ProviderKind,
    /// Pairing weight.
    pub weight: f64,
    /// `active`, or `paused` with a weight of 0.
    pub state: &'static str,
    /// One of the built-in practice models.
    pub practice: bool,
    /// The breaker's phase in the running arena, where that is known.
    pub breaker: Option<String>,
}

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

/// Runs the subcommand and prints its results; the exit code is 1 where a model failed its check.
///
/// # Errors
/// Settings that cannot be used, or an output that cannot be written.
pub async fn run(options: &Options, env: &Environment) -> CommandResult<ExitCode> {
    let settings = options.location.settings(env)?;
    let (format, action) = match &options.action {
        Action::Register(options) => return register::print_register(options, &settings).await,
        Action::Reason(options) => return register::state(options, &settings).await,
        Action::List { format } => (*format, &options.action),
        Action::Check { format } => (*format, &options.action),
    };
    let settings = with_discovered(settings, env, &Places::default()).await;
    match action {
        Action::List { .. } => {
            print(&render(&list(&settings, &known_breakers(&settings).await?), format)?)?;
            Ok(ExitCode::SUCCESS)
        }
        _ => {
            // The seed only spreads the waits between tries.
            let checked = check(&settings, &Roster::build(&settings, env, 0)?).await;
            print(&render(&checked, format)?)?;
            Ok(if checked.iter().all(|model| model.ok) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
    }
}

/// What the serving process last kept of each model's breaker; nothing where none has served yet.
async fn known_breakers(settings: &Settings) -> CommandResult<BTreeMap<ModelId, String>> {
    match Store::open(&settings.storage, IfMissing::Fail).await {
        Ok(store) => {
            let models = store.registered_models().await?;
            Ok(models.into_iter().map(|model| (model.card.id, model.breaker.state)).collect())
        }
        Err(StoreError::Missing(_)) => Ok(BTreeMap::new()),
        Err(error) => Err(error.into()),
    }
}

/// The models of these settings, with the breakers' states where they are known.
#[must_use]
pub fn list(settings: &Settings, breakers: &BTreeMap<ModelId, String>) -> Vec<ListedModel> {
    let listed = |entry: &ModelSettings| {
        let card = card(entry);
        ListedModel {
            breaker: breakers.get(&card.id).cloned(),
            id: entry.id.clone(),
            name: card.name,
            organization: card.organization,
            provider: entry.provider,
            weight: entry.weight,
            state: ModelState::of_weight(entry.weight).as_str(),
            practice: card.practice,
        }
    };
    entries(settings).iter().map(listed).collect()
}

/// Asks each model of the roster one question, a few at the same time; results in the roster's order.
pub async fn check(settings: &Settings, roster: &Roster) -> Vec<CheckedModel> {
    let entries: BTreeMap<String, ModelSettings> =
        entries(settings).into_iter().map(|entry| (entry.id.clone(), entry)).collect();
    let asked = roster.all().iter().map(|model| check_one(Arc::clone(model), entries.get(model.card.id.as_str())));
    stream::iter(asked).buffered(AT_ONCE).collect().await
}

async fn check_one(model: Arc<GuardedModel>, entry: Option<&ModelSettings>) -> CheckedModel {
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
            format!("check base_url ({}) and that the server runs", without_password(address))
        }
        ChatError::Malformed(_) | ChatError::Empty => {
            "the server does not speak this protocol: check provider and base_url".into()
        }
        ChatError::Timeout { .. } => {
            "the server is too slow or still loading: try again, or raise the limits under [providers]".into()
        }
        ChatError::BreakerOpen => "the circuit breaker open after failures: try again later".into(),
    }
}

/// An address may carry a password before its host; it is left out.
fn without_password(address: &str) -> String {
    match address.split_once("://").map(|(scheme, rest)| (scheme, rest.split_once('@'))) {
        Some((scheme, Some((_, rest)))) => format!("{scheme}://{rest}"),
        _ => address.to_owned(),
    }
}

/// A row that can be printed as a line of a table.
pub trait TableRow: Serialize {
    /// The heads of the columns.
    const HEADS: &'static [&'static str];

    /// The cells, as many as heads.
    fn cells(&self) -> Vec<String>;
}

impl TableRow for ListedModel {
    const HEADS: &'static [&'static str] = &["id", "name", "organization", "provider", "weight", "state", "breaker"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.id.clone(),
            self.name.clone(),
            self.organization.clone(),
            format!("{:?}", self.provider).to_lowercase(),
            self.weight.to_string(),
            self.state.to_owned(),
            self.breaker.clone().unwrap_or_else(|| "-".to_owned()),
        ]
    }
}

impl TableRow for CheckedModel {
    const HEADS: &'static [&'static str] = &["id", "result", "first token", "speed", "what to change"];

    fn cells(&self) -> Vec<String> {
        let or_dash = |cell: Option<String>| cell.unwrap_or_else(|| "-".into());
        vec![
            self.id.clone(),
            self.error.clone().unwrap_or_else(|| "ok".into()),
            or_dash(self.first_token_ms.map(|ms| format!("{ms} ms"))),
            or_dash(self.chars_per_second.map(|speed| format!("{speed} chars/s"))),
            or_dash(self.advice.clone()),
        ]
    }
}

/// Rows in one of the formats, with a line end.
///
/// # Errors
/// Rows that cannot be written as JSON or CSV.
pub fn render<R: TableRow>(rows: &[R], format: Format) -> CommandResult<String> {
    match format {
        Format::Table => Ok(table(R::HEADS, rows.iter().map(TableRow::cells).collect())),
        Format::Json => Ok(format!("{}\n", serde_json::to_string_pretty(rows)?)),
        Format::Csv => lines_of_csv(rows),
    }
}

/// Columns for reading; a name that would steer the terminal does not.
pub(super) fn table(heads: &[&str], rows: Vec<Vec<String>>) -> String {
    let heads: Vec<String> = heads.iter().map(|head| head.to_uppercase()).collect();
    let rows = rows.into_iter().map(|row| row.iter().map(|cell| printable(cell)).collect());
    let lines: Vec<Vec<String>> = [heads].into_iter().chain(rows).collect();
    let columns = lines.first().map_or(0, Vec::len);
    let widths: Vec<usize> =
        (0..columns).map(|column| lines.iter().map(|line| width(&line[column])).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for line in &lines {
        let cells = line.iter().zip(&widths).map(|(cell, full)| format!("{cell}{}", " ".repeat(full - width(cell))));
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
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
        check_advice(&status(404), "\"m\"");
        check_advice(&status(429), "quota");
        check_advice(&status(503), "log");
        check_advice(&ChatError::Connection("refused".into()), "http://127.0.0.1:9/v1");
        check_advice(&ChatError::Empty, "provider");
    }

    #[test]
    fn a_table_keeps_its_columns_under_wide_characters() {
        let rows = vec![vec!["a".into(), "千问".into(), "x".into()], vec!["bcd".into(), "q".into(), "y".into()]];
        assert_eq!(table(&["id", "name", "z"], rows), "ID   NAME  Z\na    千问  x\nbcd  q     y\n");
    }

    #[test]
    fn every_format_has_every_model() {
        let settings = Settings::default();
        let rows = list(&settings, &BTreeMap::from([(ModelId::new("practice-echo"), "open".to_owned())]));
        assert_eq!((rows[0].breaker.as_deref(), rows[1].breaker.as_deref()), (Some("open"), None));
        for format in [Format::Table, Format::Json, Format::Csv] {
            let text = render(&rows, format).unwrap();
            assert!(rows.iter().all(|row| text.contains(&row.id)), "{text}");
        }
        assert!(
            render(&rows, Format::Csv)
                .unwrap()
                .starts_with("id,name,organization,provider,weight,state,practice,breaker\n")
        );
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
