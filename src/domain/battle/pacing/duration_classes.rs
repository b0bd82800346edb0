//! Published classes of waiting times and tempos: timing reveals at most the class of a battle.

use std::time::Duration;

/// Shortest interval between two steps.
pub const MIN_STEP_INTERVAL: Duration = Duration::from_millis(50);

/// Random numbers from the unit interval for the two class draws. A battle keeps them in all its turns; otherwise regenerating would
/// reveal the fastest class that its models can sustain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClassDraw {
    /// Draw of the wait before the first text.
    pub start: f64,
    /// Draw of the tempo.
    pub tempo: f64,
}

/// Duration classes. A battle uses the shortest sustainable one, unless a longer one was drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DurationClasses(Vec<Duration>);

impl DurationClasses {
    /// Creates classes from durations in any order; without any, every duration is its own class.
    #[must_use]
    pub fn new(durations: impl IntoIterator<Item = Duration>) -> Self {
        let mut durations: Vec<Duration> = durations.into_iter().filter(|duration| !duration.is_zero()).collect();
        durations.sort_unstable();
        durations.dedup();
        Self(durations)
    }

    /// Selects the class for `draw`: the longest with probability `longest_share`, the others with equal probability.
    #[must_use]
    pub fn drawn(&self, draw: f64, longest_share: f64) -> Duration {
        let Some((longest, others)) = self.0.split_last() else { return Duration::ZERO };
        if draw < longest_share {
            return *longest;
        }
        let rest = (draw - longest_share) / (1.0 - longest_share).max(f64::MIN_POSITIVE);
        let mut below = others.iter().zip(1_u32..);
        let count = f64::from(u32::try_from(others.len()).unwrap_or(u32::MAX));
        below.find(|(_, number)| rest * count < f64::from(*number)).map_or(*longest, |(class, _)| *class)
    }

    /// The shortest class that is no shorter than `needed`. Beyond the longest one, its multiples.
    #[must_use]
    pub fn holding(&self, needed: Duration) -> Duration {
        let Some(longest) = self.0.last() else { return needed };
        let found = self.0.iter().find(|class| **class >= needed).copied();
        found.unwrap_or_else(|| {
            let times = needed.as_nanos().div_ceil(longest.as_nanos());
            *longest * u32::try_from(times).unwrap_or(u32::MAX)
        })
    }
}
