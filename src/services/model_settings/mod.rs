//! Adds, pauses, changes and removes the models of a settings file. The command and the admin page call the same functions; a running arena
//! reloads the edited file by itself. `editor` writes every edit with its audit log entries, `adding` reads providers' model lists;
//! `infra::config::edit` edits the text.

mod adding;
mod editor;
mod error;

pub use adding::{AddModelsResult, AddRequest, MAX_WITHOUT_FILTER};
pub use editor::{AuditTrail, EditGoal, ModelEditor, values_version};
pub use error::{ModelEntryError, Warning};
