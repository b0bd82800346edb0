//! Who acts, how and from where: what the audit log says of every action.

use serde::Serialize;

use crate::domain::admin::action::AdminAction;
use crate::infra::clock::Clock;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{ActedVia, NewAuditEntry};

/// Who acts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// Name of the user, or of who runs the command.
    pub name: String,
    /// How.
    pub via: ActedVia,
    /// Address of the browser; empty for a command.
    pub address: String,
}

impl Actor {
    /// Who runs a command on the machine.
    #[must_use]
    pub fn of_command(name: String) -> Self {
        Self { name, via: ActedVia::Command, address: String::new() }
    }

    /// An entry of the audit log for an action on `subject`.
    #[must_use]
    pub fn entry(&self, rng: &SharedRng, clock: &dyn Clock, action: AdminAction, subject: &str) -> NewAuditEntry {
        NewAuditEntry {
            id: rng.id(clock),
            acted_at: clock.now(),
            actor: self.name.clone(),
            action,
            subject: subject.to_owned(),
            former: None,
            latter: None,
            via: self.via,
            address: self.address.clone(),
        }
    }
}

/// What was before or is after, as the audit log keeps it.
#[must_use]
pub fn audit_json(value: &impl Serialize) -> Option<String> {
    // Only maps with keys that are no text cannot be written, and none is kept here.
    serde_json::to_string(value).ok()
}
