//! Moderates the replies of a battle in the background after its vote, if the settings enable it.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::prompt_rules::PromptRules;
use crate::domain::battle::Side;
use crate::domain::battle::record::BattleRecord;
use crate::domain::moderation::{ModeratedPart, ModerationResult};
use crate::infra::metrics;
use crate::infra::tasks::Tasks;

/// Maximum number of battles moderated concurrently; further ones are counted as not moderated.
const MAX_CONCURRENT_BATTLES: usize = 16;

/// Moderates the replies of battles.
pub struct ReplyModeration {
    rules: Arc<PromptRules>,
    tasks: Tasks,
    room: Arc<Semaphore>,
}

impl ReplyModeration {
    /// Creates the service, which uses the moderation endpoint of the prompt rules.
    #[must_use]
    pub fn new(rules: Arc<PromptRules>, tasks: Tasks) -> Self {
        Self { rules, tasks, room: Arc::new(Semaphore::new(MAX_CONCURRENT_BATTLES)) }
    }

    /// Starts to moderate the replies of a battle that has its vote.
    pub fn moderate_battle(&self, record: &BattleRecord) {
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
            moderate_battle(&rules, &record).await;
        });
    }
}

async fn moderate_battle(rules: &PromptRules, record: &BattleRecord) {
    let mut flags = Vec::new();
    for row in record.replies.iter().filter(|row| !row.reply.text.is_empty()) {
        let part = if row.reply.side == Side::A { ModeratedPart::ReplyA } else { ModeratedPart::ReplyB };
        match rules.ask(part, &row.reply.text).await {
            // The reply is visible already: a result that would refuse a prompt flags it.
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
