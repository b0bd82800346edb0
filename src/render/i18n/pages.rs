//! Texts of the pages.

use serde::Serialize;

use crate::domain::language::Language;
use crate::domain::rating::notes::RatingNote;
use crate::render::i18n::fill;

/// The texts of the pages in a language.
pub(crate) fn page_texts(language: Language) -> &'static PageTexts {
    match language {
        Language::English => &ENGLISH,
        Language::Chinese => &CHINESE,
    }
}

/// The texts of one language.
pub(crate) struct PageTexts {
    pub(crate) tagline: &'static str,
    pub(crate) skip: &'static str,
    pub(crate) navigation: &'static str,
    pub(crate) nav_battle: &'static str,
    pub(crate) nav_leaderboard: &'static str,
    pub(crate) nav_more: &'static str,
    pub(crate) nav_benchmarks: &'static str,
    pub(crate) nav_correlation: &'static str,
    pub(crate) nav_about: &'static str,
    pub(crate) theme_system: &'static str,
    pub(crate) theme_light: &'static str,
    pub(crate) theme_dark: &'static str,
    pub(crate) footer: &'static str,
    pub(crate) practice: &'static str,
    pub(crate) practice_explained: &'static str,
    pub(crate) battle: BattleTexts,
    pub(crate) script: ScriptTexts,
    pub(crate) leaderboard: LeaderboardTexts,
    pub(crate) levels: LevelTexts,
    pub(crate) robustness: RobustnessTexts,
    pub(crate) rigging: RiggingTexts,
    pub(crate) benchmark: BenchmarkTexts,
    pub(crate) correlation: CorrelationTexts,
    pub(crate) judges: JudgesTexts,
    pub(crate) value: ValueTexts,
    pub(crate) register: RegisterTexts,
    pub(crate) exclusions: ExclusionTexts,
    pub(crate) about: AboutTexts,
    pub(crate) sign_in: SignInTexts,
    pub(crate) missing: MissingTexts,
    pub(crate) unavailable: UnavailableTexts,
}

/// The battle page.
pub(crate) struct BattleTexts {
    pub(crate) title: &'static str,
    pub(crate) lead: &'static str,
    pub(crate) consent: &'static str,
    pub(crate) examples_title: &'static str,
    pub(crate) examples: &'static [&'static str],
    pub(crate) conversation: &'static str,
    pub(crate) you: &'static str,
    pub(crate) model_a: &'static str,
    pub(crate) model_b: &'static str,
    pub(crate) sides: &'static str,
    pub(crate) prompt: &'static str,
    pub(crate) prompt_placeholder: &'static str,
    pub(crate) prompt_hint: &'static str,
    pub(crate) send: &'static str,
    pub(crate) stop: &'static str,
    pub(crate) regenerate: &'static str,
    pub(crate) retry: &'static str,
    pub(crate) new_battle: &'static str,
    pub(crate) see_leaderboard: &'static str,
    pub(crate) question: &'static str,
    pub(crate) choose_a: &'static str,
    pub(crate) choose_b: &'static str,
    pub(crate) choose_tie: &'static str,
    pub(crate) choose_both_bad: &'static str,
    pub(crate) satisfaction: &'static str,
    pub(crate) satisfaction_low: &'static str,
    pub(crate) satisfaction_high: &'static str,
    pub(crate) keys: &'static str,
    pub(crate) result: &'static str,
    pub(crate) your_choice: &'static str,
    pub(crate) rating: &'static str,
    pub(crate) rating_explained: &'static str,
    pub(crate) first_words: &'static str,
    pub(crate) whole_reply: &'static str,
    pub(crate) speed: &'static str,
    pub(crate) reasoning: &'static str,
    pub(crate) scripts_needed: &'static str,
}

/// What `static/js/battle.js` says. `{…}` is filled in there.
#[derive(Serialize)]
pub(crate) struct ScriptTexts {
    pub(crate) waiting: &'static str,
    pub(crate) writing: &'static str,
    pub(crate) ended: &'static str,
    pub(crate) failed: &'static str,
    pub(crate) started: &'static str,
    pub(crate) both_ended: &'static str,
    pub(crate) wait_for_both: &'static str,
    pub(crate) vote_now: &'static str,
    pub(crate) sending_vote: &'static str,
    pub(crate) revealed: &'static str,
    pub(crate) chose_a: &'static str,
    pub(crate) chose_b: &'static str,
    pub(crate) chose_tie: &'static str,
    pub(crate) chose_both_bad: &'static str,
    pub(crate) excluded: &'static str,
    pub(crate) excluded_identity_leak: &'static str,
    pub(crate) marked_identity_leak: &'static str,
    pub(crate) reconnecting: &'static str,
    pub(crate) reconnected: &'static str,
    pub(crate) not_sent: &'static str,
    pub(crate) follow_up: &'static str,
    pub(crate) turn: &'static str,
    pub(crate) seconds: &'static str,
    pub(crate) characters_per_second: &'static str,
    pub(crate) error_prompt_empty: &'static str,
    pub(crate) error_prompt_too_long: &'static str,
    pub(crate) error_prompt_invalid: &'static str,
    pub(crate) error_unknown_battle: &'static str,
    pub(crate) error_not_ready: &'static str,
    pub(crate) error_empty_reply: &'static str,
    pub(crate) error_battle_over: &'static str,
    pub(crate) error_voided: &'static str,
    pub(crate) error_busy: &'static str,
    pub(crate) error_rate_limited: &'static str,
    pub(crate) again_later: &'static str,
    pub(crate) proving: &'static str,
    pub(crate) error_proof_required: &'static str,
    pub(crate) error_draining: &'static str,
    pub(crate) error_too_many_turns: &'static str,
    pub(crate) error_no_models: &'static str,
}

/// The leaderboard.
pub(crate) struct LeaderboardTexts {
    pub(crate) title: &'static str,
    pub(crate) lead: &'static str,
    pub(crate) as_of: &'static str,
    pub(crate) votes: &'static str,
    pub(crate) caption: &'static str,
    pub(crate) rank: &'static str,
    pub(crate) model: &'static str,
    pub(crate) rating: &'static str,
    pub(crate) rating_method: &'static str,
    pub(crate) interval: &'static str,
    pub(crate) elo: &'static str,
    pub(crate) battles: &'static str,
    pub(crate) win_tie_rate: &'static str,
    pub(crate) provisional: &'static str,
    pub(crate) provisional_explained: &'static str,
    pub(crate) unbounded: &'static str,
    pub(crate) unbounded_explained: &'static str,
    pub(crate) next_separated: &'static str,
    pub(crate) next_open: &'static str,
    pub(crate) next_equal: &'static str,
    pub(crate) lines_explained: &'static str,
    pub(crate) early_one: &'static str,
    pub(crate) early_more: &'static str,
    pub(crate) early_explained: &'static str,
    pub(crate) notes_folded: &'static str,
    pub(crate) empty: &'static str,
    pub(crate) empty_action: &'static str,
    pub(crate) empty_until: &'static str,
    pub(crate) empty_choice: &'static str,
    pub(crate) slices: &'static str,
    pub(crate) all: &'static str,
    pub(crate) language: &'static str,
    pub(crate) category: &'static str,
    pub(crate) intent: &'static str,
    pub(crate) turns: &'static str,
    pub(crate) turns_first: &'static str,
    pub(crate) turns_multi: &'static str,
    pub(crate) prompts: &'static str,
    pub(crate) prompts_long: &'static str,
    pub(crate) ties: &'static str,
    pub(crate) ties_drop: &'static str,
    pub(crate) style: &'static str,
    pub(crate) style_control: &'static str,
    pub(crate) pool_by: &'static str,
    pub(crate) pooled_explained: &'static str,
    pub(crate) pooled_difference: &'static str,
    pub(crate) style_explained: &'static str,
    pub(crate) until: &'static str,
    pub(crate) show: &'static str,
    pub(crate) whole: &'static str,
    pub(crate) charts: &'static str,
    pub(crate) back: &'static str,
    pub(crate) charts_models: &'static str,
    pub(crate) charts_all: &'static str,
    pub(crate) against: &'static str,
    pub(crate) against_opponent: &'static str,
    pub(crate) against_won: &'static str,
    pub(crate) against_votes: &'static str,
    pub(crate) against_predicted: &'static str,
    pub(crate) changed: &'static str,
    pub(crate) reading: &'static str,
    pub(crate) reading_points: &'static [&'static str],
    /// Words a note.
    pub(crate) note: fn(&RatingNote) -> String,
}

impl LeaderboardTexts {
    /// A text that names the confidence, a share, in hundredths.
    pub(crate) fn confident(&self, text: &str, confidence: f64) -> String {
        fill(text, &[("confidence", format!("{:.1}", 100.0 * confidence).trim_end_matches(".0"))])
    }

    /// That a leaderboard of so few votes is no ranking yet.
    pub(crate) fn too_early(&self, votes: u64) -> String {
        let text = if votes == 1 { self.early_one } else { self.early_more };
        fill(text, &[("votes", &votes.to_string())])
    }

    /// With how many votes it becomes one.
    pub(crate) fn early_until(&self, needed: u64, each: u64) -> String {
        fill(self.early_explained, &[("needed", &needed.to_string()), ("each", &each.to_string())])
    }

    /// All models.
    pub(crate) fn all_of(&self, models: usize) -> String {
        fill(self.charts_all, &[("n", &models.to_string())])
    }

    /// A note in this language.
    pub(crate) fn note(&self, note: &RatingNote) -> String {
        (self.note)(note)
    }
}

/// The rules.
pub(crate) struct AboutTexts {
    pub(crate) title: &'static str,
    pub(crate) lead: &'static str,
    pub(crate) sections: &'static [AboutSection],
    pub(crate) pacing: PacingTexts,
    /// Shown where a model judges battles.
    pub(crate) judges: &'static str,
    pub(crate) limits: LimitTexts,
}

/// What the rules say of limits; each sentence is shown where the arena has that limit.
pub(crate) struct LimitTexts {
    pub(crate) heading: &'static str,
    pub(crate) reason: &'static str,
    pub(crate) visitor: &'static str,
    pub(crate) network: &'static str,
    pub(crate) proof: &'static str,
    /// "15 in a minute", and the separator of several.
    pub(crate) windows: [&'static str; 3],
    pub(crate) comma: &'static str,
}

/// A part of the rules.
pub(crate) struct AboutSection {
    pub(crate) heading: &'static str,
    pub(crate) paragraphs: &'static [&'static str],
}

/// The page for an address that leads nowhere.
pub(crate) struct MissingTexts {
    pub(crate) title: &'static str,
    pub(crate) lead: &'static str,
    pub(crate) action: &'static str,
}

/// The page for a request that fails because the database does.
pub(crate) struct UnavailableTexts {
    pub(crate) title: &'static str,
    pub(crate) lead: &'static str,
    pub(crate) action: &'static str,
}

mod benchmark;
mod chinese;
mod correlation;
mod english;
mod exclusions;
mod judges;
mod levels;
mod notes;
mod pacing;
mod register;
mod rigging;
mod robustness;
mod sign_in;
mod value;

pub(crate) use benchmark::BenchmarkTexts;
pub(crate) use chinese::CHINESE;
pub(crate) use correlation::CorrelationTexts;
pub(crate) use english::ENGLISH;
pub(crate) use exclusions::ExclusionTexts;
pub(crate) use judges::JudgesTexts;
pub(crate) use levels::LevelTexts;
pub(crate) use pacing::{PacingInForce, PacingTexts};
pub(crate) use register::RegisterTexts;
pub(crate) use rigging::RiggingTexts;
pub(crate) use robustness::{Answer, RobustnessTexts};
pub(crate) use sign_in::SignInTexts;
pub(crate) use value::ValueTexts;
