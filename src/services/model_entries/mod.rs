//! Adds, pauses, changes and removes the models of a settings file. The command and the admin page call the same functions; a
//! running arena takes the edited file up by itself. `editor` keeps every edit with its entries in the audit log, `adding` reads
//! the lists of providers, `changes` says what an entry may be changed to.

mod adding;
mod audit;
mod changes;
mod editor;
mod error;
mod key_home;

pub use adding::{AddRequest, AddedModel, Addition, Additions, MOST_WITHOUT_FILTER};
pub use changes::{Change, ModelValues, PriceValues};
pub use editor::{AuditTrail, EditGoal, ModelEditor};
pub use error::{ModelEntryError, Warning};
pub use key_home::belongs_to;
