//! Rate and concurrency limits of visitors, networks and the whole arena.

use serde::{Deserialize, Serialize};

use crate::config::ConfigError;
use crate::config::value_checks::require;
use crate::domain::settings_rule::NumberRule;

/// Limits per minute, hour and day; 0 means no limit. The file has a list of up to three numbers in this order; the empty list means no
/// limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<u32>", into = "Vec<u32>")]
pub struct WindowLimits {
    /// Limit per minute.
    pub minute: u32,
    /// Limit per hour.
    pub hour: u32,
    /// Limit per day.
    pub day: u32,
}

impl WindowLimits {
    /// No limit.
    pub const NONE: Self = Self::new(0, 0, 0);

    /// Creates limits per minute, hour and day.
    #[must_use]
    pub const fn new(minute: u32, hour: u32, day: u32) -> Self {
        Self { minute, hour, day }
    }

    /// Whether no limit is below that of a shorter window, which could then never be reached.
    fn is_ordered(self) -> bool {
        [self.minute, self.hour, self.day].into_iter().filter(|limit| *limit > 0).is_sorted()
    }
}

impl TryFrom<Vec<u32>> for WindowLimits {
    type Error = TooManyWindows;

    fn try_from(numbers: Vec<u32>) -> Result<Self, TooManyWindows> {
        let number = |window: usize| numbers.get(window).copied().unwrap_or(0);
        if numbers.len() > 3 { Err(TooManyWindows) } else { Ok(Self::new(number(0), number(1), number(2))) }
    }
}

/// A list of more than three numbers.
#[derive(Debug, thiserror::Error)]
#[error("expected up to three numbers: the limits per minute, per hour and per day")]
pub struct TooManyWindows;

impl From<WindowLimits> for Vec<u32> {
    fn from(limits: WindowLimits) -> Self {
        vec![limits.minute, limits.hour, limits.day]
    }
}

/// `[limits]`; 0 means no limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitSettings {
    /// Turns (battles, further questions, regenerations) of one visitor.
    pub turns: WindowLimits,
    /// Votes of one visitor.
    pub votes: WindowLimits,
    /// Turns of all visitors of one address.
    pub turns_per_address: WindowLimits,
    /// Votes of all visitors of one address.
    pub votes_per_address: WindowLimits,
    /// Turns of all visitors of the arena.
    pub turns_per_arena: WindowLimits,
    /// Votes of all visitors of the arena.
    pub votes_per_arena: WindowLimits,
    /// Images of one visitor.
    pub images: WindowLimits,
    /// Images of all visitors of one address.
    pub images_per_address: WindowLimits,
    /// Sign-in attempts from one address, and wrong API keys from one.
    pub sign_ins_per_address: WindowLimits,
    /// Admin sign-in attempts from one address.
    pub admin_sign_ins_per_address: WindowLimits,
    /// Sign-in attempts for one admin account; above it, each address has one attempt per hour left.
    pub admin_sign_ins_per_account: WindowLimits,
    /// Maximum concurrent battles of one visitor.
    pub concurrent_battles: u32,
    /// Maximum concurrent battles of all visitors of one address.
    pub concurrent_battles_per_address: u32,
    /// Share of a network's or the arena's turns above which a battle requires a proof of work; 1 means never.
    pub proof_above: f64,
}

impl Default for LimitSettings {
    /// DESIGN.md has the reasons ("Why these limits by default?").
    fn default() -> Self {
        Self {
            turns: WindowLimits::new(30, 480, 1_440),
            votes: WindowLimits::new(15, 240, 720),
            turns_per_address: WindowLimits::new(180, 3_600, 7_200),
            votes_per_address: WindowLimits::new(90, 1_800, 3_600),
            turns_per_arena: WindowLimits::new(48_000, 960_000, 4_000_000),
            votes_per_arena: WindowLimits::new(24_000, 480_000, 2_000_000),
            images: WindowLimits::new(10, 60, 200),
            images_per_address: WindowLimits::new(40, 200, 600),
            sign_ins_per_address: WindowLimits::new(30, 120, 400),
            admin_sign_ins_per_address: WindowLimits::new(10, 30, 100),
            admin_sign_ins_per_account: WindowLimits::new(10, 30, 100),
            concurrent_battles: 4,
            concurrent_battles_per_address: 40,
            proof_above: 0.5,
        }
    }
}

impl LimitSettings {
    /// # Errors
    /// [`ConfigError::OutOfRange`].
    pub(in crate::config) fn check(&self) -> Result<(), ConfigError> {
        for (key, limits) in [
            ("limits.turns", self.turns),
            ("limits.votes", self.votes),
            ("limits.turns_per_address", self.turns_per_address),
            ("limits.votes_per_address", self.votes_per_address),
            ("limits.turns_per_arena", self.turns_per_arena),
            ("limits.votes_per_arena", self.votes_per_arena),
            ("limits.images", self.images),
            ("limits.images_per_address", self.images_per_address),
            ("limits.sign_ins_per_address", self.sign_ins_per_address),
            ("limits.admin_sign_ins_per_address", self.admin_sign_ins_per_address),
            ("limits.admin_sign_ins_per_account", self.admin_sign_ins_per_account),
        ] {
            let value = format!("{:?}", Vec::<u32>::from(limits));
            require(limits.is_ordered(), key, value, NumberRule::OrderedLimits)?;
        }
        let above = self.proof_above;
        require((0.0..=1.0).contains(&above), "limits.proof_above", above, NumberRule::ShareOrNever)
    }
}
