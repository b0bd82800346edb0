//! How battles run, and which of their votes are rated.

use serde::{Deserialize, Serialize};

use crate::config::ConfigError;
use crate::config::value_checks::require;
use crate::domain::battle::mode::BattleMode;
use crate::domain::settings_rule::{MAX_IMAGE_BYTES, MAX_PROMPT_BYTES, NumberRule, TextRule};

/// How replies are released to the visitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PacingMode {
    /// Both sides start together and are released from a reserve, at the tempo that the slower side keeps.
    Common,
    /// The same, with waits and tempos rounded up to published classes, of which some battles draw slower ones.
    Classes,
    /// Both replies are held until both have ended.
    Whole,
    /// Text is passed on as it arrives; speeds show.
    Raw,
}

/// `[battle]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BattleSettings {
    /// Which models visitors may know before the vote: `anonymous`, `named`, `direct` and `one_hidden`; the first one always.
    pub modes: Vec<BattleMode>,
    /// `common`, `classes`, `whole` or `raw`.
    pub pacing: PacingMode,
    /// Characters a second and side at most, unless pacing is raw.
    pub pace_chars_per_second: u32,
    /// Time that the text lasts which is held back while models write, in milliseconds. Text that both sides have waits for
    /// four times as long at most.
    pub reserve_ms: u64,
    /// Waits before the first text under `classes` and `whole`, in milliseconds; longer ones are multiples of the last.
    pub start_classes_ms: Vec<u64>,
    /// Characters a second and side under `classes`; slower tempos are fractions of the last.
    pub tempo_classes: Vec<u32>,
    /// Share of the battles under `classes` that take the last class, whatever their models could keep.
    pub slow_class_share: f64,
    /// Turns of one battle at most.
    pub max_turns: u32,
    /// Bytes of one prompt at most.
    pub max_prompt_bytes: usize,
    /// Images beside the first question of a battle at most; 0 takes none. They are offered while two models or more see images.
    pub max_images: usize,
    /// Bytes of one image as it is sent, at most.
    pub max_image_bytes: usize,
    /// Bytes of one reply at most; a longer one is ended there.
    pub max_reply_bytes: usize,
    /// Battles in memory at most.
    pub max_live_battles: usize,
    /// How long replies go on without a visitor, in milliseconds.
    pub resume_grace_ms: u64,
    /// A battle without a vote counts as abandoned after this many minutes.
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

/// How two models are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PairingPolicySetting {
    /// Every pair alike.
    Uniform,
    /// In proportion to the product of the two weights.
    Weighted,
    /// Near ratings meet more often, with a uniform share.
    Elo,
    /// In proportion to how much one more vote would shrink the interval.
    Active,
}

/// What happens to a vote on a battle that gives a model away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LeakPolicy {
    /// It is kept and excluded from the ratings; the visitor sees a note.
    Exclude,
    /// It is rated; the visitor sees a note, and the receipt says so.
    Mark,
    /// Texts are not searched.
    Off,
}

/// What happens to the votes of voters whom the tests flag.
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
    /// Id of a model that reads the battles of rated votes for leaks that the rules miss; empty for none.
    pub leak_judge: String,
    /// Requests to it in a day (UTC) at most; 0 means no limit.
    pub leak_judge_calls_per_day: u64,
    /// `list` or `exclude`: votes of voters who vote unlike all others, as the tests see it.
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
    /// Under `elo`: the rating difference at which a pair is e times rarer.
    pub elo_width: f64,
    /// A model is new until it has this many rated votes.
    pub new_model_votes: u64,
    /// A new model's weight is multiplied by this.
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
    /// Refuses numbers that no pairing can have.
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
