//! Errors and warnings of edits to models.

use crate::domain::battle::model_card::SharedName;
use crate::infra::config::ConfigError;
use crate::infra::config::edit::EditError;
use crate::infra::config::edit::change::InvalidChange;
use crate::infra::config::edit::settings_file::SettingsFileError;
use crate::infra::llm::model_list::ListError;
use crate::infra::llm::model_list_merge::{AddedModel, duplicates};
use crate::infra::storage::StoreError;

/// Warning after an edit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Warning {
    /// The models need a key whose variable is not set.
    #[error("the variable {0} is not set here: set it where the arena runs, which does not start without it")]
    KeyNotSet(String),
    /// The prices are in another currency.
    #[error("the list has prices in USD and the settings have {0}: no prices were written")]
    OtherCurrency(String),
    /// Too few models for a battle.
    #[error(
        "a battle needs two models and {0} can take part: a running arena keeps its old models until then, and `langya serve` does not start: add a model, or give one a weight above 0"
    )]
    TooFewModels(usize),
    /// Models share a display name.
    #[error(transparent)]
    SharedName(#[from] SharedName),
}

/// Error of adding or changing models. The file is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum ModelEntryError {
    /// Invalid name of an environment variable.
    #[error("--key-env takes the name of an environment variable such as OPENROUTER_API_KEY, and never the key itself")]
    NotAVariable,
    /// The list cannot be read.
    #[error(transparent)]
    List(#[from] ListError),
    /// The HTTP client cannot be created, or the current settings are invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// No listed model matches the filter.
    #[error("none of the {0} models listed there matches the filter: --dry-run without --filter shows their names")]
    NoMatch(usize),
    /// The server lists no chat model.
    #[error("the server lists no chat model")]
    NoModels,
    /// Too many models without a filter.
    #[error("the server lists {0} models: choose with --filter 'maker/*', or take all of them with --filter '*'")]
    TooMany(usize),
    /// No model to add: these exist already, or their ids are taken.
    #[error("nothing was added: {}", duplicates(.0))]
    Duplicates(Vec<AddedModel>),
    /// The values were changed since the form was shown.
    #[error("the values of the model were changed meanwhile: look at them again, then repeat the change")]
    Outdated,
    /// Invalid change.
    #[error(transparent)]
    Change(#[from] InvalidChange),
    /// The text cannot be edited.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// The file cannot be edited.
    #[error(transparent)]
    File(#[from] SettingsFileError),
    /// The audit log cannot be written.
    #[error("the audit log cannot be written: {0}")]
    Audit(#[from] StoreError),
    /// The thread that edits the file panicked.
    #[error("the file could not be edited")]
    Thread(#[from] tokio::task::JoinError),
}
