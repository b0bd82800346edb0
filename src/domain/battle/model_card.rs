//! What is public about a model.

use serde::{Deserialize, Serialize};

use super::ModelId;

/// What is public about a model once its name may be shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelCard {
    /// Key used in logs and exports.
    pub id: ModelId,
    /// Name shown after the vote.
    pub name: String,
    /// Its maker; may be empty.
    pub organization: String,
    /// Its licence; may be empty.
    pub license: String,
    /// One of the built-in practice models; said wherever the name is shown.
    pub practice: bool,
}

impl ModelCard {
    /// That of a model of which only the id is known.
    #[must_use]
    pub fn of_id(id: &ModelId) -> Self {
        Self {
            id: id.clone(),
            name: id.to_string(),
            organization: String::new(),
            license: String::new(),
            practice: false,
        }
    }
}
