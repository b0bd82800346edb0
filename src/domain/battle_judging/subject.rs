//! Subject of a judgement.

use crate::battle::BattleId;

/// Pair of conversations or answers that a judge compares.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum JudgedSubject {
    /// The sides of a battle, in the first game in the order that the visitor saw.
    Battle(BattleId),
    /// The two answers of a campaign's unit, in the first game in the order of the models' names.
    Unit {
        /// Id of the campaign.
        campaign: String,
        /// Position of the unit.
        unit: u32,
    },
}
