//! Why models were not added or changed, and what an edit leaves to do.

use crate::domain::battle::model_card::SharedName;
use crate::infra::config::ConfigError;
use crate::infra::config::edit::EditError;
use crate::infra::config::edit::change::InvalidChange;
use crate::infra::config::edit::settings_file::SettingsFileError;
use crate::infra::llm::model_list::ListError;
use crate::infra::llm::model_list_merge::{AddedModel, duplicates};
use crate::infra::storage::StoreError;

/// What an edit leaves to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Warning {
    /// The models need a key that is not here.
    #[error("the variable {0} is not set here: set it where the arena runs, which does not start without it")]
    KeyNotSet(String),
    /// Prices are in another currency.
    #[error("the list has prices in USD and the settings have {0}: no prices were written")]
    OtherCurrency(String),
    /// No battle can begin.
    #[error(
        "a battle needs two models and {0} can be drawn: a running arena keeps its old models until then, and `langya serve` does not start: add a model, or give one a weight above 0"
    )]
    TooFewModels(usize),
    /// People cannot tell models apart.
    #[error(transparent)]
    SharedName(#[from] SharedName),
}

/// Why models were not added or changed. The file is as it was.
#[derive(Debug, thiserror::Error)]
pub enum ModelEntryError {
    /// The name of the variable is none.
    #[error("--key-env takes the name of an environment variable such as OPENROUTER_API_KEY, and never the key itself")]
    NotAVariable,
    /// The list cannot be read.
    #[error(transparent)]
    List(#[from] ListError),
    /// There is no client for HTTP, or the settings that stand there are unusable.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The filter takes none.
    #[error("none of the {0} models listed there matches the filter: --dry-run without --filter shows their names")]
    NoMatch(usize),
    /// The server lists no model that chats.
    #[error("the server lists no chat model")]
    NoModels,
    /// Too many for one that may not mean it.
    #[error("the server lists {0} models: choose with --filter 'maker/*', or take all of them with --filter '*'")]
    TooMany(usize),
    /// There is nothing to add: these are there already, or their ids are taken.
    #[error("nothing was added: {}", duplicates(.0))]
    Duplicates(Vec<AddedModel>),
    /// The values have changed since the one who changes them saw them.
    #[error("the values of the model were changed meanwhile: look at them again, then repeat the change")]
    Outdated,
    /// The change is none.
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
