//! Adds, pauses, changes and removes the models of a settings file. The command and the admin page call the same functions; a
//! running arena takes the edited file up by itself. `editor` keeps every edit with its entries in the audit log, `adding`
//! reads the lists of providers; what an edit makes of the text is `infra::config::edit`.

mod adding;
mod editor;
mod error;

pub use adding::{AddRequest, Additions, MOST_WITHOUT_FILTER};
pub use editor::{AuditTrail, EditGoal, ModelEditor, values_version};
pub use error::{ModelEntryError, Warning};
