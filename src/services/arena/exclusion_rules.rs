//! Applies the rules that exclude a vote from the ratings when it is cast.

use std::sync::Arc;

use parking_lot::Mutex;

use super::models::Models;
use crate::domain::battle::Side;
use crate::domain::integrity::exclusions::exclusion_rule::ExclusionRule;
use crate::domain::integrity::identity_leak::{IdentityNames, KnownModel, Leak, LeakSearch, TurnTexts, find_leaks};
use crate::infra::config::{CurrentSettings, LeakPolicy, Settings};
use crate::infra::llm::ModelCard;
use crate::infra::llm::roster::Roster;
use crate::infra::storage::{BattleRecord, VoteExclusion};

/// Size in bytes above which texts are searched on a blocking thread.
const MAX_INLINE_SEARCH_BYTES: usize = 16 * 1024;

/// Maximum number of texts in a reason.
const MAX_TEXTS_PER_REASON: usize = 3;

/// Applies the exclusion rules; one instance per arena.
pub struct ExclusionRules {
    models: Arc<Models>,
    settings: CurrentSettings,
    names: Mutex<Option<CachedNames>>,
}

/// Model names, with the settings and roster that they come from.
struct CachedNames {
    settings: Arc<Settings>,
    roster: Arc<Roster>,
    names: Arc<IdentityNames>,
}

/// Result of applying the rules to a vote.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct AppliedRules {
    /// Exclusions of the vote, at most one per rule.
    pub exclusions: Vec<VoteExclusion>,
    /// Matching rules that the operator has set to mark a vote without excluding it.
    pub marks: Vec<VoteExclusion>,
}

impl AppliedRules {
    fn of_leaks(policy: LeakPolicy, leaks: &[Leak]) -> Self {
        let mut applied = Self::default();
        if !leaks.is_empty() {
            let reasons: Vec<String> = leaks.iter().take(MAX_TEXTS_PER_REASON).map(Leak::to_string).collect();
            let found = VoteExclusion { rule: ExclusionRule::IdentityLeak, reason: reasons.join("; ") };
            let list = if policy == LeakPolicy::Exclude { &mut applied.exclusions } else { &mut applied.marks };
            list.push(found);
        }
        applied
    }
}

impl ExclusionRules {
    /// Creates the rules for these models.
    #[must_use]
    pub fn new(models: Arc<Models>, settings: CurrentSettings) -> Self {
        Self { models, settings, names: Mutex::default() }
    }

    /// Applies the rules to a vote on this state of a battle.
    pub async fn apply(&self, record: &BattleRecord) -> AppliedRules {
        let settings = self.settings.now();
        if let Some(reason) = record.battle.mode.unrated_because() {
            // Models are known in this mode, so names in the texts are no leak.
            let chosen = VoteExclusion { rule: ExclusionRule::NamedMode, reason: reason.to_owned() };
            return AppliedRules { exclusions: vec![chosen], ..AppliedRules::default() };
        }
        let policy = settings.integrity.leaks;
        if policy == LeakPolicy::Off {
            return AppliedRules::default();
        }
        // The heuristic is not needed where a language model reads the texts.
        let is_read = !settings.integrity.leak_judge.is_empty();
        let by = if is_read { LeakSearch::Rules } else { LeakSearch::RulesAndWeights };
        AppliedRules::of_leaks(policy, &search(self.names(settings), record, by).await)
    }

    /// Applies the rules to a vote on two stored answers to a prompt.
    pub async fn apply_to_answers(&self, models: [String; 2], prompt: String, answers: [String; 2]) -> AppliedRules {
        let settings = self.settings.now();
        let policy = settings.integrity.leaks;
        if policy == LeakPolicy::Off {
            return AppliedRules::default();
        }
        let names = self.names(settings);
        let leaks = search_on_blocking_thread(move || {
            let replies = answers.each_ref().map(String::as_str);
            let turn = TurnTexts { turn: 1, prompt: &prompt, replies, reasoning: ["", ""] };
            find_leaks(&names, models.each_ref().map(String::as_str), &[turn], LeakSearch::RulesAndWeights)
        });
        AppliedRules::of_leaks(policy, &leaks.await)
    }

    /// Returns the names of the current models; rebuilt when settings or models change.
    fn names(&self, settings: Arc<Settings>) -> Arc<IdentityNames> {
        let roster = self.models.current();
        let mut held = self.names.lock();
        if let Some(held) = held.as_ref()
            && Arc::ptr_eq(&held.settings, &settings)
            && Arc::ptr_eq(&held.roster, &roster)
        {
            return Arc::clone(&held.names);
        }
        let names = Arc::new(IdentityNames::new(&known_models(&settings, &roster)));
        *held = Some(CachedNames { settings, roster, names: Arc::clone(&names) });
        names
    }
}

fn known_models(settings: &Settings, roster: &Roster) -> Vec<KnownModel> {
    let known = |card: &ModelCard| {
        let id = card.id.to_string();
        let mut names = vec![card.name.clone()];
        names.extend(settings.aliases.get(&id).into_iter().flatten().cloned());
        let configured = settings.models.iter().find(|model| model.id == id);
        names.extend(configured.map(|model| model.name_at_provider().to_owned()));
        KnownModel { id, names, organization: card.organization.clone() }
    };
    roster.all().iter().map(|model| known(&model.card)).collect()
}

async fn search(names: Arc<IdentityNames>, record: &BattleRecord, by: LeakSearch) -> Vec<Leak> {
    let prompts = record.turns.iter().map(|turn| turn.prompt.len());
    let replies = record.replies.iter().map(|row| row.reply.text.len() + row.reply.reasoning.len());
    if prompts.chain(replies).sum::<usize>() <= MAX_INLINE_SEARCH_BYTES {
        return find(&names, record, by);
    }
    let record = record.clone();
    search_on_blocking_thread(move || find(&names, &record, by)).await
}

async fn search_on_blocking_thread(search: impl FnOnce() -> Vec<Leak> + Send + 'static) -> Vec<Leak> {
    tokio::task::spawn_blocking(search).await.unwrap_or_else(|error| {
        tracing::error!(error = %error, "the search for names in a battle failed: its vote is rated");
        Vec::new()
    })
}

fn find(names: &IdentityNames, record: &BattleRecord, by: LeakSearch) -> Vec<Leak> {
    let models = Side::BOTH.map(|side| record.battle.models[side.index()].as_str());
    find_leaks(names, models, &TurnTexts::of_battle(record), by)
}
