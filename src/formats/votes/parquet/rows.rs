//! Interprets the rows of a row group column by column.

use std::borrow::Cow;

use super::super::batch::{NAMED_MODE, NO_CHOICE, UNRATED, check_range};
use super::super::cell_value::{as_seconds, in_calendar, parse_seconds};
use super::super::column_names::Field;
use super::super::error::{RowError, shortened};
use super::super::winner::{is_short_word, one_of, parse_winner, parse_word};
use super::column_reader::{ParquetColumn, TimeUnit};
use super::group::RowGroup;
use crate::domain::battle::Outcome;
use crate::domain::rating::votes::vote_log::SelfPlay;
use crate::domain::rating::votes::vote_log::{Labels, VoteLog};
use crate::votes::parquet::texts::Texts;

/// The columns that make a vote.
pub(super) struct ParquetRows<'g> {
    group: &'g RowGroup<'g>,
    models: [ModelColumn<'g>; 2],
    winners: Winners<'g>,
    times: Option<Times<'g>>,
    exclusions: Exclusions<'g>,
    /// Columns whose numbers have bounds.
    bounded: Vec<(Field, Cow<'g, [f64]>)>,
}

/// Content of a row.
pub(super) enum RowContent<'r> {
    /// A vote on the models at these positions of the log.
    Vote { a: u32, b: u32, outcome: Outcome, seconds: Option<f64> },
    /// A vote that this rule excludes.
    Excluded { rule: &'r str, seconds: Option<f64> },
    /// No vote, for this reason.
    LeftOut(&'r str),
}

impl<'g> ParquetRows<'g> {
    /// Creates the reader; `None` without columns of models.
    pub(super) fn new(group: &'g RowGroup<'g>) -> Option<Self> {
        let bounded = [Field::PairProbability, Field::Satisfaction];
        Some(Self {
            group,
            models: [ModelColumn::new(group.texts(Field::ModelA)?), ModelColumn::new(group.texts(Field::ModelB)?)],
            winners: Winners::new(group),
            times: Times::new(group),
            exclusions: Exclusions::new(group),
            bounded: bounded.into_iter().filter_map(|field| Some((field, group.numbers(field)?))).collect(),
        })
    }

    /// Reads a row; the log gets the names of its models.
    pub(super) fn read(&mut self, row: usize, log: &mut VoteLog) -> Result<RowContent<'_>, RowError> {
        let exclusion = self.exclusions.rule(row)?;
        let [a, b] = &mut self.models;
        let a = a.position(row, log).ok_or_else(|| missing_model_error(self.group, Field::ModelA))?;
        let b = b.position(row, log).ok_or_else(|| missing_model_error(self.group, Field::ModelB))?;
        let names = || [a, b].map(|model| log.models.as_slice()[model as usize].as_str());
        if a == b && exclusion.is_none() {
            return Err(SelfPlay(names()[0].to_owned()).into());
        }
        if self.winners.is_undecided(row) {
            return Ok(RowContent::LeftOut(NO_CHOICE));
        }
        let outcome = self.winners.outcome(row, names)?;
        let seconds = self.times.as_ref().map(|times| times.at(row, self.group)).transpose()?;
        self.check_bounds(row)?;
        Ok(match exclusion {
            Some(rule) => RowContent::Excluded { rule, seconds },
            None => RowContent::Vote { a, b, outcome, seconds },
        })
    }

    /// Refuses a number outside of its column's range; a missing number is not finite.
    fn check_bounds(&self, row: usize) -> Result<(), RowError> {
        let mut numbers = self.bounded.iter().map(|(field, numbers)| (*field, numbers[row]));
        let outside = |(field, number): &(Field, f64)| number.is_finite() && check_range(*field, *number, "").is_err();
        numbers.find(outside).map_or(Ok(()), |(field, number)| check_range(field, number, &name_of(self.group, field)))
    }
}

fn missing_model_error(group: &RowGroup<'_>, field: Field) -> RowError {
    RowError::NoModel(name_of(group, field))
}

fn name_of(group: &RowGroup<'_>, field: Field) -> String {
    group.plan.header.one(field).map_or_else(String::new, |column| column.name.clone())
}

/// Column of model names, with the position of each in the log.
struct ModelColumn<'m> {
    texts: Cow<'m, Texts>,
    places: Vec<u32>,
}

impl<'m> ModelColumn<'m> {
    fn new(texts: Cow<'m, Texts>) -> Self {
        Self { places: vec![Labels::NONE; texts.names.len()], texts }
    }

    fn position(&mut self, row: usize, log: &mut VoteLog) -> Option<u32> {
        let text = self.texts.rows[row];
        let place = self.places.get_mut(text as usize)?;
        if *place == Labels::NONE {
            let name = &self.texts.names[text as usize];
            if name.is_empty() {
                return None;
            }
            *place = log.models.position(name);
        }
        Some(*place)
    }
}

/// The winner columns.
struct Winners<'w> {
    words: Option<(Cow<'w, Texts>, Vec<Option<Outcome>>)>,
    flags: [Option<Cow<'w, [f64]>>; 3],
    both_equal: Option<Cow<'w, [f64]>>,
}

impl<'w> Winners<'w> {
    /// Whether a ComparIA vote neither chooses a model nor calls both equal.
    fn is_undecided(&self, row: usize) -> bool {
        let says_equal = |flags: &Cow<'_, [f64]>| flags[row] > 0.0;
        let chooses = |(texts, _): &(Cow<'_, Texts>, _)| {
            texts.names.get(texts.rows[row] as usize).is_some_and(|text| !text.is_empty())
        };
        self.both_equal.as_ref().is_some_and(|flags| !says_equal(flags)) && !self.words.as_ref().is_some_and(chooses)
    }

    fn new(group: &'w RowGroup<'_>) -> Self {
        let flags = |field| group.flags(field);
        let words = group.texts(Field::Winner).map(|texts| {
            // A word that may be a model's name is interpreted in each row.
            let outcomes = texts.names.iter().map(|text| parse_word(text).filter(|_| !is_short_word(text))).collect();
            (texts, outcomes)
        });
        Self {
            words,
            flags: [Field::WinnerA, Field::WinnerB, Field::WinnerTie].map(flags),
            both_equal: flags(Field::BothEqual),
        }
    }

    fn outcome<'n>(&self, row: usize, names: impl FnOnce() -> [&'n str; 2]) -> Result<Outcome, RowError> {
        if self.both_equal.as_ref().is_some_and(|flags| flags[row] > 0.0) {
            return Ok(Outcome::Tie);
        }
        let Some((texts, outcomes)) = &self.words else {
            let set = |flags: &Option<Cow<'_, [f64]>>| flags.as_ref().is_some_and(|flags| flags[row] > 0.0);
            return one_of([set(&self.flags[0]), set(&self.flags[1]), set(&self.flags[2])]);
        };
        let word = texts.rows[row];
        match outcomes.get(word as usize) {
            Some(Some(outcome)) => Ok(*outcome),
            Some(None) => {
                let [a, b] = names();
                parse_winner(&texts.names[word as usize], a, b)
            }
            None => Err(RowError::Winner(String::new())),
        }
    }
}

/// The time column.
enum Times<'t> {
    /// Numbers, with the unit of whole ones.
    Numbers(&'t [f64], Option<TimeUnit>),
    /// Texts, with the seconds of each.
    Texts(&'t Texts, Vec<Option<f64>>),
}

impl<'t> Times<'t> {
    fn new(group: &'t RowGroup<'_>) -> Option<Self> {
        let field = if group.of(Field::Time).is_some() { Field::Time } else { Field::Millis };
        // The column's name gives the unit if its type does not.
        let unit = match (group.unit(field), field) {
            (Some(TimeUnit::Unknown) | None, Field::Millis) => Some(TimeUnit::PartsOfASecond(1e3)),
            (unit, _) => unit,
        };
        Some(match group.of(field)? {
            ParquetColumn::Numbers(numbers) => Self::Numbers(numbers, unit),
            ParquetColumn::Texts(texts) => Self::Texts(texts, texts.names.iter().map(parse_seconds).collect()),
        })
    }

    fn at(&self, row: usize, group: &RowGroup<'_>) -> Result<f64, RowError> {
        let refused = |text: &str| RowError::Time { column: Self::column(group), text: shortened(text) };
        match self {
            Self::Numbers(numbers, unit) => {
                let number = numbers[row];
                let seconds = match unit {
                    Some(TimeUnit::Unknown) => return Err(RowError::TimeUnit { column: Self::column(group) }),
                    Some(unit) => unit.seconds(number).and_then(in_calendar),
                    None => as_seconds(number),
                };
                // NaN is a missing number.
                let text = || if number.is_nan() { String::new() } else { number.to_string() };
                seconds.ok_or_else(|| refused(&text()))
            }
            Self::Texts(texts, seconds) => {
                let at = texts.rows[row] as usize;
                let seconds = seconds.get(at).copied().flatten();
                seconds.ok_or_else(|| refused(texts.names.get(at).unwrap_or("")))
            }
        }
    }

    /// Name of the time column.
    fn column(group: &RowGroup<'_>) -> String {
        let column = group.plan.header.one(Field::Time).or_else(|| group.plan.header.one(Field::Millis));
        column.map_or_else(String::new, |column| column.name.clone())
    }
}

/// The columns that exclude votes from the rating.
struct Exclusions<'e> {
    rated: Option<FlagColumn<'e>>,
    rules: Option<Cow<'e, Texts>>,
    anonymous: Option<FlagColumn<'e>>,
}

impl<'e> Exclusions<'e> {
    fn new(group: &'e RowGroup<'_>) -> Self {
        Self {
            rated: FlagColumn::new(group, Field::Rated),
            rules: group.texts(Field::Exclusion),
            anonymous: FlagColumn::new(group, Field::Anonymous),
        }
    }

    fn rule(&self, row: usize) -> Result<Option<&str>, RowError> {
        let answer = |column: &Option<FlagColumn<'_>>| column.as_ref().map_or(Ok(None), |column| column.answer(row));
        let rated = answer(&self.rated)?;
        if rated != Some(true) {
            // A rule alone excludes, too.
            let rule = self.rules.as_ref().and_then(|rules| rules.names.get(rules.rows[row] as usize));
            let rule = rule.filter(|rule| !rule.is_empty()).or_else(|| (rated == Some(false)).then_some(UNRATED));
            if rule.is_some() {
                return Ok(rule);
            }
        }
        Ok((answer(&self.anonymous)? == Some(false)).then_some(NAMED_MODE))
    }
}

/// Column of flags.
struct FlagColumn<'c> {
    flags: Cow<'c, [f64]>,
    /// The texts of the column, if it has texts.
    words: Option<&'c Texts>,
    name: String,
}

impl<'c> FlagColumn<'c> {
    fn new(group: &'c RowGroup<'_>, field: Field) -> Option<Self> {
        let words = match group.of(field)? {
            ParquetColumn::Texts(words) => Some(words),
            ParquetColumn::Numbers(_) => None,
        };
        Some(Self { flags: group.flags(field)?, words, name: name_of(group, field) })
    }

    /// Flag of a row; `None` if empty.
    fn answer(&self, row: usize) -> Result<Option<bool>, RowError> {
        let flag = self.flags[row];
        let word = self.words.filter(|_| flag.is_nan()).and_then(|words| words.text(row));
        match word.filter(|word| !word.is_empty()) {
            Some(word) => Err(RowError::Flag { column: self.name.clone(), text: shortened(word) }),
            None => Ok((!flag.is_nan()).then_some(flag != 0.0)),
        }
    }
}
