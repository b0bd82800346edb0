//! Public data of a model.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ModelId;

/// Public data of a model whose name may be shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelCard {
    /// Key used in logs and exports.
    pub id: ModelId,
    /// Name shown after the vote.
    pub name: String,
    /// Organization that makes it; may be empty.
    pub organization: String,
    /// Its licence; may be empty.
    pub license: String,
    /// Whether it is one of the built-in practice models; marked wherever the name is shown.
    pub practice: bool,
}

impl ModelCard {
    /// Creates the card of a model of which only the id is known.
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

/// Display name shared by several models, which makes them indistinguishable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the models {} have the same name {:?}: give each of them a name of its own", listed(.models), .name)]
pub struct SharedName {
    /// The name as spelt by the first model.
    pub name: String,
    /// The models.
    pub models: Vec<ModelId>,
}

impl SharedName {
    /// Comma-separated ids of the models.
    #[must_use]
    pub fn listed(&self) -> String {
        listed(&self.models)
    }
}

fn listed(models: &[ModelId]) -> String {
    models.iter().map(ModelId::as_str).collect::<Vec<_>>().join(", ")
}

/// Finds names shared by several models, ignoring case and surrounding space.
#[must_use]
pub fn shared_names<'c>(cards: impl IntoIterator<Item = &'c ModelCard>) -> Vec<SharedName> {
    let mut names: BTreeMap<String, SharedName> = BTreeMap::new();
    for card in cards {
        let first = || SharedName { name: card.name.clone(), models: Vec::new() };
        names.entry(card.name.trim().to_lowercase()).or_insert_with(first).models.push(card.id.clone());
    }
    names.into_values().filter(|shared| shared.models.len() > 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_alike_are_reported_with_their_models() {
        let card = |id: &str, name: &str| ModelCard { name: name.into(), ..ModelCard::of_id(&ModelId::new(id)) };
        let cards = [card("a", "Crane"), card("b", "Heron"), card("c", " crane"), card("d", "CRANE")];
        let shared = shared_names(&cards);
        assert_eq!(shared, [SharedName { name: "Crane".into(), models: ["a", "c", "d"].map(ModelId::new).into() }]);
        let said = shared[0].to_string();
        assert_eq!(said, "the models a, c, d have the same name \"Crane\": give each of them a name of its own");
        assert!(shared_names(&cards[..2]).is_empty());
    }
}
