//! Actor of an admin action: user, channel and address, as recorded in the audit log.

use serde::Serialize;

use crate::domain::admin::action::AdminAction;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{ActedVia, NewAuditEntry};
use crate::infra::time::clock::Clock;

/// Actor of an admin action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// User name, or operating system user of a command.
    pub name: String,
    /// Channel: page or command.
    pub via: ActedVia,
    /// Address of the browser; empty for a command.
    pub address: String,
}

impl Actor {
    /// Returns the actor of a command, with this user name.
    #[must_use]
    pub fn of_command(name: String) -> Self {
        Self { name, via: ActedVia::Command, address: String::new() }
    }

    /// Creates an audit log entry for an action on `subject`.
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

/// Serialises a state before or after an action for the audit log.
#[must_use]
pub fn audit_json(value: &impl Serialize) -> Option<String> {
    // Only maps with non-string keys fail to serialise, and none is stored here.
    serde_json::to_string(value).ok()
}
