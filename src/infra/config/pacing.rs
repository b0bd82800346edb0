//! Converts the release settings of `[battle]` to the types of the pacing core.

use std::time::Duration;

use super::ConfigError;
use super::sections::{BattleSettings, PacingMode};
use super::value_checks::require;
use crate::domain::battle::pacing::{ClassDraw, DurationClasses, MIN_STEP_INTERVAL, Pace};
use crate::domain::settings_rule::{MAX_CHARS_PER_SECOND, MAX_WAIT_MS, NumberRule};

impl BattleSettings {
    /// Returns the characters per step.
    #[must_use]
    pub fn quantum(&self) -> usize {
        let per_tick = u128::from(self.pace_chars_per_second) * MIN_STEP_INTERVAL.as_millis() / 1000;
        usize::try_from(per_tick).unwrap_or(usize::MAX).max(1)
    }

    /// Returns the pacing of a battle with this class draw.
    #[must_use]
    pub fn pace(&self, draw: ClassDraw) -> Pace {
        let reserve = Duration::from_millis(self.reserve_ms);
        let starts = || DurationClasses::new(self.start_classes_ms.iter().map(|ms| Duration::from_millis(*ms)));
        match self.pacing {
            PacingMode::Common => Pace::Common { reserve },
            PacingMode::Raw => Pace::Raw,
            PacingMode::Whole => Pace::Whole { starts: starts(), reserve },
            PacingMode::Classes => {
                let quantum = u32::try_from(self.quantum()).unwrap_or(u32::MAX);
                let interval = |speed: &u32| Duration::from_secs_f64(f64::from(quantum) / f64::from(*speed));
                let intervals = DurationClasses::new(self.tempo_classes.iter().map(interval));
                Pace::Classes { reserve, starts: starts(), intervals, slow_share: self.slow_class_share, draw }
            }
        }
    }

    pub(super) fn check_pacing(&self) -> Result<(), ConfigError> {
        let Self { pace_chars_per_second: pace, reserve_ms, slow_class_share: share, .. } = self;
        let rule = NumberRule::Between(10, MAX_CHARS_PER_SECOND);
        require((10..=MAX_CHARS_PER_SECOND).contains(pace), "battle.pace_chars_per_second", pace, rule)?;
        require(*reserve_ms <= 10_000, "battle.reserve_ms", reserve_ms, NumberRule::Between(0, 10_000))?;
        require((0.0..=1.0).contains(share), "battle.slow_class_share", share, NumberRule::Between(0, 1))?;
        let starts = &self.start_classes_ms;
        require(
            is_ascending(starts) && starts.iter().all(|ms| (1..=MAX_WAIT_MS).contains(ms)),
            "battle.start_classes_ms",
            format!("{starts:?}"),
            NumberRule::RisingWaits,
        )?;
        let tempos = &self.tempo_classes;
        let falling: Vec<u32> = tempos.iter().rev().copied().collect();
        require(
            is_ascending(&falling) && tempos.iter().all(|speed| (1..=MAX_CHARS_PER_SECOND).contains(speed)),
            "battle.tempo_classes",
            format!("{tempos:?}"),
            NumberRule::FallingSpeeds,
        )
    }
}

fn is_ascending<T: PartialOrd>(values: &[T]) -> bool {
    !values.is_empty() && values.is_sorted_by(|one, next| one < next)
}
