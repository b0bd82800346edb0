//! Texts of the pages.

use serde::Serialize;

use crate::domain::language::Language;
use crate::domain::rating::notes::RatingNote;
use crate::i18n::fill;

/// The texts of the pages in a language.
pub fn page_texts(language: Language) -> &'static PageTexts {
    match language {
        Language::English => &ENGLISH,
        Language::Chinese => &CHINESE,
    }
}

/// The texts of one language.
pub struct PageTexts {
    pub tagline: &'static str,
    pub skip: &'static str,
    pub script_failed: &'static str,
    pub navigation: &'static str,
    pub nav_battle: &'static str,
    pub nav_leaderboard: &'static str,
    pub nav_more: &'static str,
    pub nav_benchmarks: &'static str,
    pub nav_correlation: &'static str,
    pub nav_about: &'static str,
    pub theme_system: &'static str,
    pub theme_light: &'static str,
    pub theme_dark: &'static str,
    pub footer: &'static str,
    pub practice: &'static str,
    pub practice_explained: &'static str,
    /// Between a heading and what it is about.
    pub colon: &'static str,
    pub battle: BattleTexts,
    pub cards: CardTexts,
    pub vote_confirmation: VoteConfirmationTexts,
    pub modes: ModeTexts,
    pub images: ImageTexts,
    pub script: ScriptTexts,
    pub two_models: TwoModelTexts,
    pub leaderboard: LeaderboardTexts,
    pub leaderboard_controls: LeaderboardControlTexts,
    pub slices: SliceTexts,
    pub levels: LevelTexts,
    pub robustness: RobustnessTexts,
    pub rigging: RiggingTexts,
    pub benchmark: BenchmarkTexts,
    pub correlation: CorrelationTexts,
    pub judges: JudgesTexts,
    pub run_comparison: RunComparisonTexts,
    pub value: ValueTexts,
    pub register: RegisterTexts,
    pub model: ModelTexts,
    pub exclusions: ExclusionTexts,
    pub public_log: PublicLogTexts,
    pub about: AboutTexts,
    pub arena: ArenaTexts,
    pub embed: EmbedTexts,
    pub feed: FeedTexts,
    pub consent: ConsentTexts,
    pub sign_in: SignInTexts,
    pub admin: AdminTexts,
    pub campaign: CampaignTexts,
    pub history: HistoryTexts,
    pub docs: DocsTexts,
    pub own_leaderboard: OwnLeaderboardTexts,
    pub labels: LabelTexts,
    pub missing: MissingTexts,
    pub unavailable: UnavailableTexts,
    pub refused: RefusedTexts,
}

/// The battle page.
pub struct BattleTexts {
    pub title: &'static str,
    pub lead: &'static str,
    pub consent: &'static str,
    /// Shown if the browser has no storage for this site.
    pub not_stored: &'static str,
    /// Shown while the device is offline, and once it is online again.
    pub offline: &'static str,
    pub online: &'static str,
    pub examples_title: &'static str,
    pub conversation: &'static str,
    pub asking: &'static str,
    pub you: &'static str,
    pub unrated: &'static str,
    pub unrated_hint: &'static str,
    pub model_a: &'static str,
    pub model_b: &'static str,
    pub sides: &'static str,
    pub unread: &'static str,
    pub copy_a: &'static str,
    pub copy_b: &'static str,
    pub edit: &'static str,
    pub editing: &'static str,
    pub cancel_edit: &'static str,
    pub prompt: &'static str,
    pub prompt_placeholder: &'static str,
    pub prompt_hint: &'static str,
    pub send: &'static str,
    pub stop: &'static str,
    pub regenerate: &'static str,
    pub retry: &'static str,
    pub again: &'static str,
    pub new_battle: &'static str,
    pub see_leaderboard: &'static str,
    /// Link to the permanent page of the battle.
    pub battle_page: &'static str,
    pub question: &'static str,
    pub choose_a: &'static str,
    pub choose_b: &'static str,
    pub choose_tie: &'static str,
    pub choose_both_bad: &'static str,
    pub satisfaction: &'static str,
    /// Satisfaction question after a tie, two bad replies, or a single reply.
    pub satisfaction_both: &'static str,
    pub satisfaction_low: &'static str,
    pub satisfaction_high: &'static str,
    pub keys: &'static str,
    pub result: &'static str,
    pub your_choice: &'static str,
    pub rating: &'static str,
    pub rating_explained: &'static str,
    pub first_words: &'static str,
    pub whole_reply: &'static str,
    pub speed: &'static str,
    pub price: &'static str,
    pub reasoning: &'static str,
    pub scripts_needed: &'static str,
}

/// Texts of `static/js/battle.js`, which fills in `{…}`.
#[derive(Clone, Serialize)]
pub struct ScriptTexts {
    pub waiting: &'static str,
    pub slow: &'static str,
    pub writing: &'static str,
    pub ended: &'static str,
    pub failed: &'static str,
    pub started: &'static str,
    pub both_ended: &'static str,
    pub wait_for_both: &'static str,
    pub vote_now: &'static str,
    pub unread: &'static str,
    pub confirmation_running: &'static str,
    pub confirmation_waiting: &'static str,
    pub undone: &'static str,
    pub sending_vote: &'static str,
    pub revealed: &'static str,
    pub chose_a: &'static str,
    pub chose_b: &'static str,
    pub chose_tie: &'static str,
    pub chose_both_bad: &'static str,
    pub crowd: &'static str,
    pub excluded: &'static str,
    pub excluded_identity_leak: &'static str,
    pub marked_identity_leak: &'static str,
    pub reconnecting: &'static str,
    pub reconnected: &'static str,
    pub may_end_early: &'static str,
    /// Shown if replies were stopped before there was anything to vote on.
    pub unanswered: &'static str,
    pub not_sent: &'static str,
    /// Shown for a vote of an earlier visit that has only now arrived; the second one if it is not rated.
    pub vote_counted: &'static str,
    pub vote_arrived: &'static str,
    /// Shown for a vote that is cast offline.
    pub vote_kept: &'static str,
    /// Shown if an earlier vote on the same battle counts.
    pub first_vote_counts: &'static str,
    /// Shown for a vote of an earlier visit; `{why}` is a sentence.
    pub vote_not_counted: &'static str,
    /// Reason for a battle of another visitor.
    pub vote_of_former: &'static str,
    pub follow_up: &'static str,
    pub chat_on: &'static str,
    pub chat_ended: &'static str,
    pub chat_lost: &'static str,
    pub send_edited: &'static str,
    pub shuffled: &'static str,
    pub copy: &'static str,
    pub copy_code: &'static str,
    pub copied: &'static str,
    pub copy_failed: &'static str,
    pub turn: &'static str,
    pub seconds: &'static str,
    pub characters_per_second: &'static str,
    pub error_prompt_empty: &'static str,
    /// Said before sending, with the approximate number of characters.
    pub prompt_too_long: &'static str,
    pub error_prompt_too_long: &'static str,
    pub error_prompt_invalid: &'static str,
    pub error_prompt_refused: &'static str,
    pub error_battle_went_on: &'static str,
    pub error_moderation_unavailable: &'static str,
    pub error_unknown_battle: &'static str,
    pub error_not_ready: &'static str,
    pub error_empty_reply: &'static str,
    pub error_battle_over: &'static str,
    /// Reason of `battle_over`.
    pub error_texts_deleted: &'static str,
    pub error_voided: &'static str,
    pub error_busy: &'static str,
    /// Too many turns are being answered; a limit over time says when it grants the next one.
    pub error_rate_limited: &'static str,
    pub again_later: &'static str,
    /// Shown instead of `again_later` when a daily limit is used up.
    pub again_after_a_day: &'static str,
    pub proving: &'static str,
    pub error_proof_required: &'static str,
    pub proof_not_loaded: &'static str,
    pub error_draining: &'static str,
    pub error_storage: &'static str,
    pub error_replies_unsaved: &'static str,
    pub error_too_many_turns: &'static str,
    pub error_no_models: &'static str,
}

/// The leaderboard.
pub struct LeaderboardTexts {
    pub title: &'static str,
    pub lead: &'static str,
    pub as_of: &'static str,
    /// The noun without a number.
    votes: &'static str,
    pub caption: &'static str,
    pub rank: &'static str,
    pub model: &'static str,
    pub rating: &'static str,
    pub rating_method: &'static str,
    pub interval: &'static str,
    pub elo: &'static str,
    pub battles: &'static str,
    pub win_tie_rate: &'static str,
    pub provisional: &'static str,
    pub provisional_explained: &'static str,
    pub group: &'static str,
    pub group_explained: &'static str,
    pub unbounded: &'static str,
    pub unbounded_explained: &'static str,
    pub next_separated: &'static str,
    pub next_open: &'static str,
    pub next_equal: &'static str,
    pub lines_explained: &'static str,
    pub early_one: &'static str,
    pub early_more: &'static str,
    pub early_explained: &'static str,
    pub notes_folded: &'static str,
    pub empty: &'static str,
    pub empty_action: &'static str,
    pub empty_until: &'static str,
    pub empty_choice: &'static str,
    pub slices: &'static str,
    pub all: &'static str,
    pub language: &'static str,
    pub category: &'static str,
    pub intent: &'static str,
    pub turns: &'static str,
    pub turns_first: &'static str,
    pub turns_multi: &'static str,
    pub source: &'static str,
    pub source_arena: &'static str,
    pub source_import: &'static str,
    pub source_campaign: &'static str,
    pub prompts: &'static str,
    pub prompts_long: &'static str,
    pub ties: &'static str,
    pub ties_drop: &'static str,
    pub style: &'static str,
    pub style_control: &'static str,
    pub pool_by: &'static str,
    pub pooled_explained: &'static str,
    pub pooled_difference: &'static str,
    pub style_explained: &'static str,
    pub until: &'static str,
    pub show: &'static str,
    pub whole: &'static str,
    pub charts: &'static str,
    pub back: &'static str,
    pub charts_models: &'static str,
    /// Shown where a chart is wider than the screen.
    pub charts_swipe: &'static str,
    pub charts_all: &'static str,
    pub against: &'static str,
    pub against_opponent: &'static str,
    pub against_won: &'static str,
    pub against_votes: &'static str,
    pub against_predicted: &'static str,
    pub changed: &'static str,
    pub reading: &'static str,
    pub reading_points: &'static [&'static str],
    /// Renders a note.
    pub note: fn(&RatingNote) -> String,
}

impl LeaderboardTexts {
    /// Fills in the confidence, a share, in percent.
    pub fn confident(&self, text: &str, confidence: f64) -> String {
        fill(text, &[("confidence", format!("{:.1}", 100.0 * confidence).trim_end_matches(".0"))])
    }

    /// Noun for this number of rated votes, without the number.
    pub fn rated_votes(&self, votes: u64) -> String {
        fill(self.votes, &[("n", &votes.to_string())])
    }

    /// Name of a group of models connected by votes.
    pub fn group(&self, number: usize) -> String {
        fill(self.group, &[("n", &number.to_string())])
    }

    /// Notice that a leaderboard with few votes is no ranking yet.
    pub fn too_early(&self, votes: u64) -> String {
        let text = if votes == 1 { self.early_one } else { self.early_more };
        fill(text, &[("votes", &votes.to_string())])
    }

    /// Explanation of the number of votes needed for a ranking.
    pub fn early_until(&self, needed: u64, each: u64) -> String {
        fill(self.early_explained, &[("needed", &needed.to_string()), ("each", &each.to_string())])
    }

    /// Label of charts with all models.
    pub fn all_of(&self, models: usize) -> String {
        fill(self.charts_all, &[("n", &models.to_string())])
    }

    /// Renders a note in this language.
    pub fn note(&self, note: &RatingNote) -> String {
        (self.note)(note)
    }
}

/// The rules.
pub struct AboutTexts {
    pub title: &'static str,
    pub lead: &'static str,
    pub sections: &'static [AboutSection],
    pub pacing: PacingTexts,
    /// Shown where a model judges battles.
    pub judges: &'static str,
    pub limits: LimitTexts,
}

/// Texts of the rules about limits; each sentence is shown if the arena has that limit.
pub struct LimitTexts {
    pub heading: &'static str,
    pub reason: &'static str,
    pub visitor: &'static str,
    pub network: &'static str,
    pub proof: &'static str,
    /// "15 in a minute", and the separator of several.
    pub windows: [&'static str; 3],
    pub comma: &'static str,
}

/// A part of the rules.
pub struct AboutSection {
    pub heading: &'static str,
    pub paragraphs: &'static [&'static str],
}

/// The page for an unknown address.
pub struct MissingTexts {
    pub title: &'static str,
    pub lead: &'static str,
    pub action: &'static str,
}

/// The page for a request that fails because the database is unavailable.
pub struct UnavailableTexts {
    pub title: &'static str,
    pub lead: &'static str,
    pub action: &'static str,
}

mod about_settings;
mod admin;
mod benchmark;
mod campaign;
mod chinese;
mod consent;
mod correlation;
mod docs;
mod embed;
mod english;
mod exclusion_reasons;
mod exclusions;
mod feed;
mod history;
mod images;
mod judges;
mod labels;
mod leaderboard_controls;
mod levels;
mod model;
mod model_register;
mod modes;
mod notes;
mod own_leaderboard;
mod pacing;
mod prompt_cards;
mod public_log;
mod refused;
mod rigging;
mod robustness;
mod run_comparison;
mod sign_in;
mod slice_names;
mod two_models;
mod value;
mod vote_confirmation;

pub use about_settings::{ArenaTexts, PairingInForce, StorageInForce};
pub use admin::{
    AccountTexts, AdminSignInTexts, AdminTexts, AuditTexts, BenchPlanTexts, BenchRunTexts, CampaignAdminTexts,
    FailureWords, ModelAddTexts, ModelAdminTexts, OverviewTexts, PairingAdminTexts, PlanErrorTexts, PlanRefusalTexts,
    ReviewTexts, SettingsRefusalTexts, UserTexts, VoteAdminTexts, WelcomeTexts, failure_words,
};
pub use benchmark::BenchmarkTexts;
pub use campaign::{CampaignScriptTexts, CampaignTexts};
pub use chinese::CHINESE;
pub use consent::{ConsentFacts, ConsentText, ConsentTexts, ModelVerdicts};
pub use correlation::CorrelationTexts;
pub use docs::DocsTexts;
pub use embed::EmbedTexts;
pub use english::ENGLISH;
pub use exclusions::ExclusionTexts;
pub use feed::FeedTexts;
pub use history::HistoryTexts;
pub use images::{ImageScriptTexts, ImageTexts};
pub use judges::JudgesTexts;
pub use labels::LabelTexts;
pub use leaderboard_controls::LeaderboardControlTexts;
pub use levels::LevelTexts;
pub use model::ModelTexts;
pub use model_register::RegisterTexts;
pub use modes::{ModeText, ModeTexts};
pub use own_leaderboard::OwnLeaderboardTexts;
pub use pacing::{PacingInForce, PacingTexts};
pub use prompt_cards::CardTexts;
pub use public_log::PublicLogTexts;
pub use refused::{ForeignHostTexts, InvalidField, MissingObject, RefusedText, RefusedTexts};
pub use rigging::RiggingTexts;
pub use robustness::{RobustnessAnswer, RobustnessTexts};
pub use run_comparison::RunComparisonTexts;
pub use sign_in::SignInTexts;
pub use slice_names::SliceTexts;
pub use two_models::{OfferTexts, TwoModelTexts};
pub use value::ValueTexts;
pub use vote_confirmation::VoteConfirmationTexts;
