//! Metrics of a turn.

use crate::domain::battle::mode::BattleMode;
use crate::domain::battle::progress::Stage;
use crate::domain::battle::speed::chars_per_second;
use crate::infra::metrics;
use crate::infra::storage::{NewReply, ReplyEnding};

/// Counts a stored turn. The speed of a stopped reply would be the visitor's, so it is not counted. Only speeds of hidden models count:
/// otherwise visitors could, by battles on models of their own choice, fill up the minimum group size for publishing speeds.
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
