//! Asks the moderation service about the replies of a battle after its vote, where the settings say so. Nobody waits for it.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::prompt_rules::PromptRules;
use crate::domain::battle::Side;
use crate::domain::battle::record::BattleRecord;
use crate::domain::moderation::{ModeratedPart, ModerationResult};
use crate::infra::metrics;
use crate::infra::tasks::Tasks;

/// Battles whose replies are looked at at the same time; the replies of others are counted as not looked at.
const AT_ONCE: usize = 16;

/// Has the replies of battles looked at.
pub struct ReplyModeration {
    rules: Arc<PromptRules>,
    tasks: Tasks,
    room: Arc<Semaphore>,
}

impl ReplyModeration {
    /// Asks as the rules of prompts do.
    #[must_use]
    pub fn new(rules: Arc<PromptRules>, tasks: Tasks) -> Self {
        Self { rules, tasks, room: Arc::new(Semaphore::new(AT_ONCE)) }
    }

    /// Begins to look at the replies of a battle that has its vote.
    pub fn look_at(&self, record: &BattleRecord) {
        if self.rules.endpoint.is_none() || !self.rules.settings.now().moderation.replies {
            return;
        }
        let Ok(permit) = Arc::clone(&self.room).try_acquire_owned() else {
            metrics::moderated("reply", "skipped");
            return tracing::warn!("the moderation queue is full: the replies of one battle are not checked");
        };
        let (rules, record) = (Arc::clone(&self.rules), record.clone());
        self.tasks.spawn("moderate_replies", async move {
            let _permit = permit;
            look_at(&rules, &record).await;
        });
    }
}

async fn look_at(rules: &PromptRules, record: &BattleRecord) {
    let mut flags = Vec::new();
    for row in record.replies.iter().filter(|row| !row.reply.text.is_empty()) {
        let part = if row.reply.side == Side::A { ModeratedPart::ReplyA } else { ModeratedPart::ReplyB };
        match rules.ask(part, &row.reply.text).await {
            // A reply was shown already: what would refuse a prompt flags it.
            Some(ModerationResult::Flagged(categories) | ModerationResult::Refused(categories)) => {
                flags.push(rules.new_flag(&record.battle.id, row.turn, part, categories));
            }
            Some(ModerationResult::Allowed) | None => {}
        }
    }
    if !flags.is_empty() {
        rules.flag(flags).await;
    }
}
