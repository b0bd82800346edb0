//! Dates in a question: the weekday of a date, the days between two, the date some days later.

use jiff::ToSpan;
use jiff::civil::{Date, Weekday};

use super::words::language_of;
use crate::domain::language::Language;

/// Answers a question about dates with a Markdown sentence; `None` if the text contains no date.
pub(super) fn answer(text: &str) -> Option<String> {
    let dates = find(text);
    let language = language_of(text);
    match dates.as_slice() {
        [] => None,
        [date] => match days_to_add(text) {
            Some(days) => Some(later(*date, days, language)?),
            None => Some(weekday_sentence(*date, language)),
        },
        [first, second, ..] => {
            let days = (*second - *first).get_days().abs();
            Some(if language == Language::Chinese {
                format!("从 {first} 到 {second} 相差 **{days} 天**。")
            } else {
                format!("From {first} to {second} there are **{days} days**.")
            })
        }
    }
}

fn later(date: Date, days: i32, language: Language) -> Option<String> {
    let then = date.checked_add(days.days()).ok()?;
    Some(if language == Language::Chinese {
        format!("{date} 之后 {days} 天是 **{then}**，{}。", weekday_in_chinese(then.weekday()))
    } else {
        format!("{days} days from {date} is **{then}**, a {:?}.", then.weekday())
    })
}

fn weekday_sentence(date: Date, language: Language) -> String {
    let day = date.day_of_year();
    if language == Language::Chinese {
        format!("{date} 是**{}**，是当年的第 {day} 天。", weekday_in_chinese(date.weekday()))
    } else {
        format!("{date} is a **{:?}**, day {day} of its year.", date.weekday())
    }
}

fn weekday_in_chinese(weekday: Weekday) -> &'static str {
    match weekday {
        Weekday::Monday => "星期一",
        Weekday::Tuesday => "星期二",
        Weekday::Wednesday => "星期三",
        Weekday::Thursday => "星期四",
        Weekday::Friday => "星期五",
        Weekday::Saturday => "星期六",
        Weekday::Sunday => "星期日",
    }
}

/// Finds dates written as `2024-05-01`, `2024/5/1` or `2024年5月1日`.
fn find(text: &str) -> Vec<Date> {
    let numbers: Vec<(i64, &str)> = numbers(text);
    let mut dates = Vec::new();
    let mut rest = numbers.as_slice();
    while let [(year, after_year), (month, after_month), (day, _), ..] = rest {
        let joined = matches!((*after_year, *after_month), ("-", "-") | ("/", "/") | ("年", "月"));
        match joined.then(|| date(*year, *month, *day)).flatten() {
            Some(date) => {
                dates.push(date);
                rest = &rest[3..];
            }
            None => rest = &rest[1..],
        }
    }
    dates
}

fn date(year: i64, month: i64, day: i64) -> Option<Date> {
    let year = i16::try_from(year).ok().filter(|year| (1000..=9999).contains(year))?;
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

/// Returns the whole numbers, each with the character that follows it.
fn numbers(text: &str) -> Vec<(i64, &str)> {
    let mut numbers = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let digits = &rest[start..];
        let length = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let next = digits[length..].chars().next().map_or(0, char::len_utf8);
        numbers.extend(digits[..length].parse().ok().map(|number| (number, &digits[length..length + next])));
        rest = &digits[length..];
    }
    numbers
}

/// Returns the number before “days after”, “days from”, “天后”.
fn days_to_add(text: &str) -> Option<i32> {
    let lower = text.to_lowercase();
    let end =
        [" days after", " days from", " days later", "天后", "天之后"].iter().find_map(|words| lower.find(words))?;
    let before = lower[..end].trim_end();
    let start = before
        .rfind(|c: char| !c.is_ascii_digit())
        .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
    before[start..].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(answer(text).unwrap_or_default(), expected, "{text}");
    }

    #[test]
    fn weekdays_differences_and_later_dates_are_known() {
        check("What day of the week is 2024-02-29?", "2024-02-29 is a **Thursday**, day 60 of its year.");
        check("2024年5月1日是星期几？", "2024-05-01 是**星期三**，是当年的第 122 天。");
        check("How many days from 2024-01-01 to 2024-03-01?", "From 2024-01-01 to 2024-03-01 there are **60 days**.");
        check("What is 100 days after 2024/01/01?", "100 days from 2024-01-01 is **2024-04-10**, a Wednesday.");
        check("2024年1月1日的30天后是哪天", "2024-01-01 之后 30 天是 **2024-01-31**，星期三。");
    }

    #[test]
    fn what_is_no_date_is_left_alone() {
        for text in ["", "2024-13-01", "1-2-3", "2024-02-30", "99999999999999999999-1-1", "2024 5 1", "12/5"] {
            check(text, "");
        }
    }
}
