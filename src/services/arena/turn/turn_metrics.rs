//! What the metrics get of a turn.

use crate::domain::battle::mode::BattleMode;
use crate::domain::battle::progress::Stage;
use crate::domain::battle::speed::chars_per_second;
use crate::infra::metrics;
use crate::infra::storage::{NewReply, ReplyEnding};

/// Counts a turn that is kept; the speed of a reply that was cut off would be the visitor's. Speeds are those of hidden models alone:
/// with battles on models of their own choice visitors could bring the few that wait to be published to their number.
pub(super) fn count(stage: Stage, mode: BattleMode, replies: &[NewReply]) {
    match stage {
        Stage::Ready => metrics::turn_ready(),
        _ => metrics::battle_voided(),
    }
    let complete = |reply: &&NewReply| mode == BattleMode::Anonymous && reply.ending == ReplyEnding::Complete;
    for reply in replies.iter().filter(complete) {
        if let Some(speed) = chars_per_second(&reply.text, reply.first_token_ms, reply.duration_ms) {
            metrics::reply_speed(&reply.model, speed);
        }
    }
}
