//! Settings of battles, integrity rules and pairing.

use serde::{Deserialize, Serialize};

use crate::config::ConfigError;
use crate::config::value_checks::require;
use crate::domain::battle::mode::BattleMode;
use crate::domain::settings_rule::{MAX_IMAGE_BYTES, MAX_PROMPT_BYTES, NumberRule, TextRule};

/// Release mode of replies to the visitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PacingMode {
    /// Both sides start together and are released from a buffer, at the speed of the slower side.
    Common,
    /// Like `Common`, with waits and speeds rounded up to published classes; some battles draw slower ones.
    Classes,
    /// Both replies are held until both are complete.
    Whole,
    /// Text is forwarded as it arrives; speeds are visible.
    Raw,
}

/// `[battle]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BattleSettings {
    /// Modes by the models that visitors may know before the vote: `anonymous`, `named`, `direct` and `one_hidden`; the first one always.
    pub modes: Vec<BattleMode>,
    /// `common`, `classes`, `whole` or `raw`.
    pub pacing: PacingMode,
    /// Maximum characters per second and side, unless pacing is raw.
    pub pace_chars_per_second: u32,
    /// Duration of the text buffered while models write, in milliseconds. Text that both sides have waits at most four times as long.
    pub reserve_ms: u64,
    /// Classes of the wait before the first text under `classes` and `whole`, in milliseconds; longer ones are multiples of the last.
    pub start_classes_ms: Vec<u64>,
    /// Classes of speed in characters per second and side under `classes`; slower ones are fractions of the last.
    pub tempo_classes: Vec<u32>,
    /// Share of the battles under `classes` that take the slowest class, whatever speed their models reach.
    pub slow_class_share: f64,
    /// Maximum number of turns in a battle.
    pub max_turns: u32,
    /// Maximum size of one prompt in bytes.
    pub max_prompt_bytes: usize,
    /// Maximum number of images with the first prompt of a battle; 0 accepts none. Offered while two or more models accept images.
    pub max_images: usize,
    /// Maximum size of one uploaded image in bytes.
    pub max_image_bytes: usize,
    /// Maximum size of one reply in bytes; longer ones are cut there.
    pub max_reply_bytes: usize,
    /// Maximum number of battles in memory.
    pub max_live_battles: usize,
    /// Milliseconds for which replies continue without a connected visitor.
    pub resume_grace_ms: u64,
    /// Minutes without a vote after which a battle counts as abandoned.
    pub abandon_after_minutes: u64,
}

impl Default for BattleSettings {
    fn default() -> Self {
        Self {
            modes: BattleMode::ALL.to_vec(),
            pacing: PacingMode::Common,
            pace_chars_per_second: 240,
            reserve_ms: 1_200,
            start_classes_ms: vec![3_000, 15_000],
            tempo_classes: vec![60, 25],
            slow_class_share: 0.75,
            max_turns: 10,
            max_prompt_bytes: 32_000,
            max_images: 4,
            max_image_bytes: 8 << 20,
            max_reply_bytes: 256 * 1024,
            max_live_battles: 5_000,
            resume_grace_ms: 1_200,
            abandon_after_minutes: 60,
        }
    }
}

/// Pairing policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PairingPolicySetting {
    /// All pairs with equal probability.
    Uniform,
    /// In proportion to the product of the two weights.
    Weighted,
    /// Pairs of similar ratings more often, with a uniform share.
    Elo,
    /// In proportion to the reduction of the interval by one more vote.
    Active,
}

/// Policy for votes on battles that reveal a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LeakPolicy {
    /// The vote is stored and excluded from the ratings; the visitor sees a note.
    Exclude,
    /// It is rated; the visitor sees a note, and the receipt says so.
    Mark,
    /// Texts are not searched.
    Off,
}

/// Policy for the votes of flagged voters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FlaggedVoterPolicy {
    /// They are listed for the operator and rated.
    List,
    /// They are excluded from the ratings until an operator withdraws that.
    Exclude,
}

/// `[integrity]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct IntegritySettings {
    /// `exclude`, `mark` or `off`: votes on battles in which a reply or the visitor names a model or its maker.
    pub leaks: LeakPolicy,
    /// Id of a model that checks the battles of rated votes for leaks that the rules miss; empty for none.
    pub leak_judge: String,
    /// Maximum requests to the leak judge per day (UTC); 0 means no limit.
    pub leak_judge_calls_per_day: u64,
    /// `list` or `exclude`: votes of voters whom the anomaly tests flag.
    pub flagged_voters: FlaggedVoterPolicy,
}

impl Default for IntegritySettings {
    fn default() -> Self {
        Self {
            leaks: LeakPolicy::Exclude,
            leak_judge: String::new(),
            leak_judge_calls_per_day: 2_000,
            flagged_voters: FlaggedVoterPolicy::List,
        }
    }
}

/// `[pairing]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PairingSettings {
    /// `uniform`, `weighted`, `elo` or `active`.
    pub policy: PairingPolicySetting,
    /// Share of battles drawn uniformly under `elo` and `active`, so that all pairs occur.
    pub uniform_share: f64,
    /// Under `elo`: rating difference at which a pair is e times rarer.
    pub elo_width: f64,
    /// Number of rated votes below which a model is new.
    pub new_model_votes: u64,
    /// Weight multiplier of new models.
    pub new_model_boost: f64,
}

impl Default for PairingSettings {
    fn default() -> Self {
        Self {
            policy: PairingPolicySetting::Weighted,
            uniform_share: 0.2,
            elo_width: 100.0,
            new_model_votes: 50,
            new_model_boost: 2.0,
        }
    }
}

impl BattleSettings {
    /// # Errors
    /// [`ConfigError::OutOfRange`].
    pub(in crate::config) fn check(&self) -> Result<(), ConfigError> {
        self.check_pacing()?;
        let modes = self.modes.iter().map(|mode| mode.as_str()).collect::<Vec<_>>().join(", ");
        let anonymous = self.modes.contains(&BattleMode::Anonymous);
        require(anonymous, "battle.modes", modes, TextRule::AnonymousAmongModes)?;
        let one_or_more = NumberRule::AtLeast(1);
        require(self.max_turns >= 1, "battle.max_turns", self.max_turns, one_or_more)?;
        require(
            (1..=MAX_PROMPT_BYTES).contains(&self.max_prompt_bytes),
            "battle.max_prompt_bytes",
            self.max_prompt_bytes,
            NumberRule::PromptBytes,
        )?;
        require(self.max_images <= 10, "battle.max_images", self.max_images, NumberRule::Between(0, 10))?;
        require(
            (1..=MAX_IMAGE_BYTES).contains(&self.max_image_bytes),
            "battle.max_image_bytes",
            self.max_image_bytes,
            NumberRule::ImageBytes,
        )?;
        require(self.max_reply_bytes >= 1, "battle.max_reply_bytes", self.max_reply_bytes, one_or_more)?;
        require(self.max_live_battles >= 1, "battle.max_live_battles", self.max_live_battles, one_or_more)?;
        Ok(())
    }
}

impl PairingSettings {
    /// Checks the ranges of the numbers.
    ///
    /// # Errors
    /// [`ConfigError::OutOfRange`].
    pub fn check(&self) -> Result<(), ConfigError> {
        let share = self.uniform_share;
        require((0.0..=1.0).contains(&share), "pairing.uniform_share", share, NumberRule::Between(0, 1))?;
        require(self.elo_width > 0.0, "pairing.elo_width", self.elo_width, NumberRule::AboveZero)?;
        let boost = self.new_model_boost;
        require(boost.is_finite() && boost >= 1.0, "pairing.new_model_boost", boost, NumberRule::AtLeast(1))?;
        Ok(())
    }
}

impl IntegritySettings {
    /// # Errors
    /// [`ConfigError::OutOfRange`].
    pub(in crate::config) fn check(&self) -> Result<(), ConfigError> {
        let has_use = self.leak_judge.is_empty() || self.leaks == LeakPolicy::Exclude;
        require(has_use, "integrity.leak_judge", &self.leak_judge, TextRule::LeakJudge)
    }
}
