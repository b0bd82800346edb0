//! Audit log entries of a settings edit: the difference between the models before and after it. Server addresses are left out, as they may
//! hold a password.

use serde_json::{Value, json};

use crate::config::ModelSettings;
use crate::domain::admin::action::AdminAction;

/// Audited action on a model, with its values before and after.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelAction {
    /// Type of the action.
    pub action: AdminAction,
    /// Id of the model.
    pub model: String,
    /// Value before the edit; null for a new model.
    pub former: Value,
    /// Value after the edit; null for a removed model.
    pub latter: Value,
}

/// Returns the actions that turn the models before into those after.
#[must_use]
pub fn model_actions(before: &[ModelSettings], after: &[ModelSettings]) -> Vec<ModelAction> {
    let find = |models: &[ModelSettings], id: &str| models.iter().position(|model| model.id == id);
    let removed = before.iter().filter(|model| find(after, &model.id).is_none()).map(|model| {
        let former = identity_json(model);
        ModelAction { action: AdminAction::RemoveModel, model: model.id.clone(), former, latter: Value::Null }
    });
    let kept = after.iter().flat_map(|model| match find(before, &model.id) {
        Some(at) => changed(&before[at], model),
        None => vec![ModelAction {
            action: AdminAction::AddModel,
            model: model.id.clone(),
            former: Value::Null,
            latter: identity_json(model),
        }],
    });
    removed.chain(kept).collect()
}

fn identity_json(model: &ModelSettings) -> Value {
    json!({ "provider": model.provider.as_str(), "model": model.name_at_provider(), "weight": model.weight })
}

/// Returns one action for each group of values that differs.
fn changed(before: &ModelSettings, after: &ModelSettings) -> Vec<ModelAction> {
    let weight = |model: &ModelSettings| json!({ "weight": model.weight, "reason": model.reason });
    let limits =
        |model: &ModelSettings| json!({ "max_tokens": model.max_tokens, "max_concurrent": model.max_concurrent });
    let prices = |model: &ModelSettings| json!({ "input": model.input_price, "output": model.output_price, "date": model.price_date, "source": model.price_source });
    let names = |model: &ModelSettings| json!({ "name": model.name, "organization": model.organization });
    let kinds = [
        (AdminAction::SetModelNames, names(before), names(after)),
        (weight_action(before.weight, after.weight), weight(before), weight(after)),
        (AdminAction::SetModelLimits, limits(before), limits(after)),
        (AdminAction::SetModelPrices, prices(before), prices(after)),
    ];
    let differing = kinds.into_iter().filter(|(_, former, latter)| former != latter);
    differing.map(|(action, former, latter)| ModelAction { action, model: after.id.clone(), former, latter }).collect()
}

fn weight_action(before: f64, after: f64) -> AdminAction {
    match (before > 0.0, after > 0.0) {
        (true, false) => AdminAction::PauseModel,
        (false, true) => AdminAction::ResumeModel,
        _ => AdminAction::SetModelWeight,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ProviderKind;

    fn model(id: &str) -> ModelSettings {
        ModelSettings {
            base_url: "http://user:secret@host/v1".into(),
            ..ModelSettings::minimal(id, ProviderKind::Openai)
        }
    }

    #[test]
    fn each_kind_of_change_is_an_action_and_no_address_is_kept() {
        let (kept, paused, gone, new) = (model("kept"), model("paused"), model("gone"), model("new"));
        let changed = ModelSettings { name: "Kept".into(), max_tokens: 7, input_price: Some(1.0), ..kept.clone() };
        let before = [kept.clone(), paused.clone(), gone];
        let after = [changed, ModelSettings { weight: 0.0, ..paused }, new];
        let actions = model_actions(&before, &after);
        let listed: Vec<(&str, &str)> =
            actions.iter().map(|listed| (listed.action.as_str(), listed.model.as_str())).collect();
        let expected = [
            ("remove_model", "gone"),
            ("set_model_names", "kept"),
            ("set_model_limits", "kept"),
            ("set_model_prices", "kept"),
            ("pause_model", "paused"),
            ("add_model", "new"),
        ];
        assert_eq!(listed, expected);
        assert!(!format!("{actions:?}").contains("secret"));
        assert!(model_actions(&before, &before).is_empty());
    }
}
