//! Converts the models of a roster to entries of the model register.

use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;

use crate::domain::hex::hex;
use crate::domain::model_register::changes::{ConfiguredModel, ModelSnapshot, ModelState};
use crate::llm::roster::{Roster, provider_model};

/// Returns the models of a roster. The key hides each model's location at its provider: see [`ModelSnapshot`].
#[must_use]
pub fn registered_models(roster: &Roster, key: &SecretString) -> Vec<ConfiguredModel> {
    let models = roster.all().iter().map(|model| {
        let entry = roster.entry(&model.card.id);
        ConfiguredModel {
            model: model.card.id.clone(),
            snapshot: ModelSnapshot {
                state: ModelState::of_weight(model.weight),
                weight: model.weight,
                name: model.card.name.clone(),
                organization: model.card.organization.clone(),
                license: model.card.license.clone(),
                practice: model.card.practice,
                provider_model: entry.map(|entry| digest(&provider_model(entry), key)),
            },
            reason: entry.map(|entry| entry.reason.clone()).unwrap_or_default(),
        }
    });
    models.collect()
}

/// Computes a keyed digest, equal for equal texts. Without the key the text cannot be guessed from it.
fn digest(text: &str, key: &SecretString) -> String {
    let key = key.expose_secret().as_bytes();
    let keyed = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    hex(&keyed.chain_update("langya provider model ").chain_update(text).finalize().into_bytes()[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_depends_on_text_and_key() {
        let keys = ["one", "other"].map(SecretString::from);
        let one = digest("api.example.org model", &keys[0]);
        assert_eq!((one.len(), &one), (32, &digest("api.example.org model", &keys[0])));
        assert_ne!(one, digest("api.example.org model", &keys[1]));
        assert_ne!(one, digest("api.example.org another", &keys[0]));
    }
}
