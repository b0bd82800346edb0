//! Days and periods in UTC, and which days may be counted.

use jiff::civil::{Date, Weekday};
use jiff::{ToSpan, Unit};
use schemars::JsonSchema;
use serde::Serialize;

use crate::battle::ModelId;
use crate::time::Timestamp;

const DAY_MS: i64 = 86_400_000;
/// How long after midnight a day may be counted: a battle's id has its time, and its row is committed a moment later.
const AFTER_MIDNIGHT_MS: i64 = 3_600_000;

/// Counted days, the latest ones, of which the register says how often each model failed.
pub const RECENT_DAYS: i64 = 30;

/// The battles of a model on a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BattleDay {
    /// The day in UTC.
    pub day: Date,
    /// The model.
    pub model: ModelId,
    /// Whether their votes were imported, so that this arena did not draw the pair.
    pub imported: bool,
    /// How many.
    pub battles: u64,
}

/// The day of a number of days since 1970; the nearest one that a calendar has.
#[must_use]
pub fn day_of_number(days: i64) -> Date {
    let clamped = days.clamp(-5_000_000, 5_000_000);
    let last = if clamped < 0 { Date::MIN } else { Date::MAX };
    Date::constant(1970, 1, 1).checked_add(clamped.days()).unwrap_or(last)
}

/// The number of days since 1970.
#[must_use]
pub fn number_of_day(day: Date) -> i64 {
    let since = Date::constant(1970, 1, 1).until((Unit::Day, day));
    since.map_or(0, |span| i64::from(span.get_days()))
}

/// The number of the day of a time.
#[must_use]
pub fn number_of(time: Timestamp) -> i64 {
    time.0.div_euclid(DAY_MS)
}

/// The first moment of a day, in milliseconds since 1970.
#[must_use]
pub fn start_of(day: i64) -> i64 {
    day.saturating_mul(DAY_MS)
}

/// The first day that may not be counted yet: today, or the day of the oldest battle that may still get a vote. Until then a
/// count would say who is in a battle that is not voted on.
#[must_use]
pub fn countable_until(now: Timestamp, oldest_open: Option<Timestamp>) -> i64 {
    let today = number_of(Timestamp(now.0.saturating_sub(AFTER_MIDNIGHT_MS)));
    oldest_open.map_or(today, |oldest| today.min(number_of(oldest)))
}

/// A length of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Period {
    /// A day.
    Day,
    /// Monday to Sunday.
    Week,
    /// A month.
    #[default]
    Month,
}

impl Period {
    /// How many periods are published at most: a quarter of days, a year of weeks, ten years of months.
    #[must_use]
    pub fn shown(self) -> usize {
        match self {
            Self::Day => 92,
            Self::Week => 53,
            Self::Month => 120,
        }
    }

    /// All of them, the shortest first.
    pub const ALL: [Self; 3] = [Self::Day, Self::Week, Self::Month];

    /// The name in addresses, flags and JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
        }
    }

    /// The period of this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|period| period.as_str() == name)
    }

    /// The first day of the period that holds this day.
    #[must_use]
    pub fn first_day(self, day: Date) -> Date {
        match self {
            Self::Day => day,
            Self::Week => {
                let back = i64::from(day.weekday().since(Weekday::Monday));
                day.checked_sub(back.days()).unwrap_or(day)
            }
            Self::Month => day.first_of_month(),
        }
    }

    /// A short name of the period that begins on this day: `2026-11-24`, or `2026-11` for a month.
    #[must_use]
    pub fn label(self, first_day: Date) -> String {
        match self {
            Self::Day | Self::Week => first_day.to_string(),
            Self::Month => first_day.strftime("%Y-%m").to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;

    #[test]
    fn days_and_their_numbers_belong_together() {
        for (number, text) in [(0, "1970-01-01"), (20_781, "2026-11-24"), (-1, "1969-12-31"), (19_782, "2024-02-29")] {
            assert_eq!(day_of_number(number).to_string(), text);
            assert_eq!(number_of_day(day_of_number(number)), number);
        }
        assert_eq!((day_of_number(i64::MAX), day_of_number(i64::MIN)), (Date::MAX, Date::MIN));
        assert_eq!((number_of(Timestamp(-1)), number_of(Timestamp(start_of(20_781)))), (-1, 20_781));
    }

    #[test]
    fn a_day_counts_when_it_is_past_and_none_of_its_battles_waits_for_a_vote() {
        let noon = |day: i64| Timestamp(start_of(day) + 12 * HOUR);
        assert_eq!(countable_until(noon(10), None), 10, "today is not counted");
        assert_eq!(countable_until(noon(10), Some(noon(10))), 10);
        assert_eq!(countable_until(noon(10), Some(noon(8))), 8, "two days wait for one battle");
        assert_eq!(countable_until(Timestamp(start_of(10) + HOUR - 1), None), 9, "nor yesterday right after midnight");
        assert_eq!(countable_until(Timestamp(start_of(10) + HOUR), None), 10);
    }

    #[test]
    fn periods_begin_on_mondays_and_firsts() {
        let day = day_of_number(20_781);
        let label = |period: Period| period.label(period.first_day(day));
        assert_eq!(Period::ALL.map(label), ["2026-11-24", "2026-11-23", "2026-11"]);
        let monday = day_of_number(20_780);
        assert_eq!(Period::Week.first_day(monday), monday);
        assert_eq!(Period::Week.first_day(day_of_number(20_779)).to_string(), "2026-11-16", "a Sunday ends its week");
        assert_eq!(Period::parse("week"), Some(Period::Week));
        assert_eq!(Period::parse("year"), None);
    }
}
