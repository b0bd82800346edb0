//! Records models that failed on a prompt that another model answered: see `ResilientModel::failed_alone`.

use super::Turn;
use crate::domain::battle::{ModelId, Side};
use crate::infra::storage::ReplyEnding;

impl Turn<'_> {
    /// Records the models that failed while another one answered, except those that the visitor chose: a person with several sessions could
    /// choose a model in each, and make it unavailable to everyone.
    pub(super) fn note_one_sided_failures(&self) {
        if self.superseded || !self.sides.iter().any(|run| run.has_answered()) {
            return;
        }
        let visitor = self.battle.state().active.row.visitor.clone();
        let broke_off =
            Side::BOTH.into_iter().filter(|side| !self.mode.names(*side)).map(|side| &self.sides[side.index()]);
        let broke_off = broke_off.filter(|run| run.ending == ReplyEnding::Failed).map(|run| &run.model);
        let failed: Vec<&ModelId> = self.failed.iter().chain(broke_off).collect();
        for model in failed.into_iter().filter_map(|id| self.dependencies.models.of_battle(id)) {
            model.failed_alone(&visitor, &self.run);
        }
    }
}
