//! Models chosen by the visitor, as shown before the vote.

use serde::Serialize;

use crate::domain::battle::Side;
use crate::domain::battle::mode::BattleMode;
use crate::domain::battle::model_card::ModelCard;
use crate::domain::battle::progress::Refusal;
use crate::domain::battle::record::BattleRow;

/// Mode of a battle and the models that the visitor chose. Hidden models are left out.
#[derive(Debug, Clone, Serialize)]
pub struct ChosenModels {
    mode: BattleMode,
    models: ModelsBySide,
}

#[derive(Debug, Clone, Serialize)]
struct ModelsBySide {
    #[serde(skip_serializing_if = "Option::is_none")]
    a: Option<ModelCard>,
    #[serde(skip_serializing_if = "Option::is_none")]
    b: Option<ModelCard>,
}

impl ChosenModels {
    /// Returns the chosen models of a battle; `None` if both are hidden.
    pub(super) fn new(row: &BattleRow, card: impl Fn(Side) -> ModelCard) -> Option<Self> {
        let mode = row.mode;
        let shown = |side: Side| (mode.sides().contains(&side) && mode.names(side)).then(|| card(side));
        (mode != BattleMode::Anonymous)
            .then(|| Self { mode, models: ModelsBySide { a: shown(Side::A), b: shown(Side::B) } })
    }

    /// Returns the message for a failed reply. If a model is hidden, it does not reveal which one failed.
    pub(super) fn failure(&self) -> Refusal {
        if self.mode.reveals_all_models() { Refusal::ChosenModelFailed } else { Refusal::Voided }
    }
}
