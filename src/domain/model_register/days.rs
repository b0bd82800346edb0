//! Calendar days and periods in UTC, and the rule for counting finished days.

use jiff::civil::{Date, Weekday};
use jiff::{ToSpan, Unit};
use schemars::JsonSchema;
use serde::Serialize;

use crate::battle::ModelId;
use crate::time::Timestamp;

const DAY_MS: i64 = 86_400_000;
/// Delay after midnight before a day is counted: a battle's id has its time, and its row is committed a moment later.
const DAY_END_DELAY_MS: i64 = 3_600_000;

/// Number of latest counted days for which the register shows failures.
pub const RECENT_DAYS: i64 = 30;

/// Battles of a model on a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BattleDay {
    /// Day in UTC.
    pub day: Date,
    /// Id of the model.
    pub model: ModelId,
    /// Whether the votes were imported, so that this arena did not draw the pair.
    pub imported: bool,
    /// Number of battles.
    pub battles: u64,
}

/// Converts a number of days since 1970 into a date, clamped to the calendar's range.
#[must_use]
pub fn day_of_number(days: i64) -> Date {
    let clamped = days.clamp(-5_000_000, 5_000_000);
    let last = if clamped < 0 { Date::MIN } else { Date::MAX };
    Date::constant(1970, 1, 1).checked_add(clamped.days()).unwrap_or(last)
}

/// Returns the number of days since 1970.
#[must_use]
pub fn number_of_day(day: Date) -> i64 {
    let since = Date::constant(1970, 1, 1).until((Unit::Day, day));
    since.map_or(0, |span| i64::from(span.get_days()))
}

/// Returns the day number of a time.
#[must_use]
pub fn number_of(time: Timestamp) -> i64 {
    time.0.div_euclid(DAY_MS)
}

/// Returns the first moment of a day, in milliseconds since 1970.
#[must_use]
pub fn start_of(day: i64) -> i64 {
    day.saturating_mul(DAY_MS)
}

/// Returns the first day that must not be counted yet: today, or the day of the oldest battle that can still get a vote. An earlier count
/// would reveal the models of a battle before its vote.
#[must_use]
pub fn first_uncountable_day(now: Timestamp, oldest_open: Option<Timestamp>) -> i64 {
    let today = number_of(Timestamp(now.0.saturating_sub(DAY_END_DELAY_MS)));
    oldest_open.map_or(today, |oldest| today.min(number_of(oldest)))
}

/// Calendar period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Period {
    /// Calendar day.
    Day,
    /// Week from Monday to Sunday.
    Week,
    /// Calendar month.
    #[default]
    Month,
}

impl Period {
    /// Returns the maximum number of published periods: a quarter of days, a year of weeks, ten years of months.
    #[must_use]
    pub fn shown(self) -> usize {
        match self {
            Self::Day => 92,
            Self::Week => 53,
            Self::Month => 120,
        }
    }

    /// All periods, the shortest first.
    pub const ALL: [Self; 3] = [Self::Day, Self::Week, Self::Month];

    /// Returns the name in URLs, flags and JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
        }
    }

    /// Parses the name of a period.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|period| period.as_str() == name)
    }

    /// Returns the first day of the period that contains this day.
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

    /// Returns the label of the period that begins on this day: `2026-11-24`, or `2026-11` for a month.
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
        assert_eq!(first_uncountable_day(noon(10), None), 10, "today is not counted");
        assert_eq!(first_uncountable_day(noon(10), Some(noon(10))), 10);
        assert_eq!(first_uncountable_day(noon(10), Some(noon(8))), 8, "two days wait for one battle");
        assert_eq!(
            first_uncountable_day(Timestamp(start_of(10) + HOUR - 1), None),
            9,
            "nor yesterday right after midnight"
        );
        assert_eq!(first_uncountable_day(Timestamp(start_of(10) + HOUR), None), 10);
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
