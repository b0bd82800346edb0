//! What a judge compares.

use crate::battle::BattleId;

/// Two conversations or answers between which a judge chooses.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum JudgedSubject {
    /// The sides of a battle, in the first game as the visitor saw them.
    Battle(BattleId),
    /// The two answers of a campaign's unit, in the first game in the order of the models' names.
    Unit {
        /// The campaign.
        campaign: String,
        /// Position of the unit.
        unit: u32,
    },
}
