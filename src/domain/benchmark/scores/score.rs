//! Aggregation of judgements into scores, shared by the suites.
//!
//! A failed judgement is left out of every mean and lowers the coverage; it is never a score. A group of categories has no value if one of
//! its categories has none: a mean over the rest would be a different quantity.

use hashbrown::HashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::item::Item;
use super::item_resampling::ItemDraws;
use super::judgement::{Game, Judgement, Status};
use crate::judging::verdict::{Rating, Verdict};
use crate::stats::distribution::{self, Summary};
use crate::stats::real;

/// Minimum share of readable judgements; a score below it is flagged.
pub const MIN_READABLE_SHARE: f64 = 0.95;

/// Kind of a suite's part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartKind {
    /// Whole suite.
    Overall,
    /// Several categories: an ability, a tier, a block.
    Group,
    /// One category.
    Category,
    /// One dimension of quality.
    Dimension,
    /// One turn of a dialogue.
    Turn,
    /// One language.
    Language,
    /// The same data aggregated by another rule.
    Rule,
}

/// Part of a suite.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Part {
    /// Kind of the part.
    pub kind: PartKind,
    /// Name of the part; empty for the whole suite.
    pub name: String,
    /// Category or group that contains the part, unless it is part of the whole suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
}

impl Part {
    /// Returns the whole suite.
    #[must_use]
    pub fn overall() -> Self {
        Self::new(PartKind::Overall, "")
    }

    /// Creates a part of the whole suite.
    pub fn new(kind: PartKind, name: impl Into<String>) -> Self {
        Self { kind, name: name.into(), within: None }
    }

    /// Restricts the part to a category or group.
    #[must_use]
    pub fn within(self, whole: impl Into<String>) -> Self {
        Self { within: Some(whole.into()), ..self }
    }

    /// Returns the key of the part, as in `bench:mtbench101:CM/turn:2`.
    #[must_use]
    pub fn key(&self) -> String {
        let own = match self.kind {
            PartKind::Overall => "overall".to_owned(),
            PartKind::Group | PartKind::Category | PartKind::Rule => self.name.clone(),
            PartKind::Dimension => format!("dimension:{}", self.name),
            PartKind::Turn => format!("turn:{}", self.name),
            PartKind::Language => format!("language:{}", self.name),
        };
        match &self.within {
            None => own,
            Some(whole) => format!("{whole}/{own}"),
        }
    }
}

/// Coverage: number of complete units of a score.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    /// Number of units with all required judgements.
    pub ok: u64,
    /// Total number of units.
    pub total: u64,
}

impl Coverage {
    /// Returns the share of complete units; 1 without units.
    #[must_use]
    pub fn share(self) -> f64 {
        if self.total == 0 { 1.0 } else { real(self.ok) / real(self.total) }
    }

    /// Whether the coverage is too low, so that the score is flagged.
    #[must_use]
    pub fn is_low(self) -> bool {
        self.share() < MIN_READABLE_SHARE
    }
}

impl std::ops::Add for Coverage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { ok: self.ok + other.ok, total: self.total + other.total }
    }
}

impl std::iter::Sum for Coverage {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), std::ops::Add::add)
    }
}

/// Score of one model by one judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Part of the suite.
    pub part: Part,
    /// Value in the suite's unit; `None` if nothing could be judged.
    pub value: Option<f64>,
    /// Sample standard deviation of the averaged values, for at least two units.
    #[serde(rename = "deviation")]
    pub std_dev: Option<f64>,
    /// Coverage of the score.
    pub coverage: Coverage,
    /// Values of the replicates if the items are resampled; else empty.
    #[serde(skip)]
    pub samples: Vec<Option<f64>>,
}

/// Scores of one model by one judge, in display order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Scores(pub Vec<Score>);

impl Scores {
    /// Returns the score of a part.
    #[must_use]
    pub fn of(&self, part: &Part) -> Option<&Score> {
        self.0.iter().find(|score| score.part == *part)
    }

    /// Returns the score of a part by its key.
    #[must_use]
    pub fn by_key(&self, key: &str) -> Option<&Score> {
        self.0.iter().find(|score| score.part.key() == key)
    }
}

/// Value with its weight in a mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightedValue {
    /// Value to be averaged.
    pub value: f64,
    /// Weight of the value.
    pub times: u16,
}

/// Running mean with its coverage.
#[derive(Debug, Clone, Default)]
pub struct Mean {
    values: Vec<f64>,
    coverage: Coverage,
    /// Sums of the drawn values, by replicate.
    sums: Vec<f64>,
    /// Numbers of the drawn values, by replicate. Separate from the sums, so that both additions are vectorised.
    numbers: Vec<u32>,
}

impl Mean {
    /// Adds a unit, with its value if it has one.
    pub fn add(&mut self, value: Option<f64>) {
        self.coverage = self.coverage + Coverage { ok: u64::from(value.is_some()), total: 1 };
        self.values.extend(value);
    }

    /// Adds a unit that failed, but counts with a value, as in some official programs.
    pub fn add_failed(&mut self, value: f64) {
        self.add(None);
        self.values.push(value);
    }

    /// Adds a unit that counts as several values.
    fn add_votes(&mut self, votes: Option<[WeightedValue; 2]>) {
        self.coverage = self.coverage + Coverage { ok: u64::from(votes.is_some()), total: 1 };
        for vote in votes.into_iter().flatten() {
            self.values.extend(std::iter::repeat_n(vote.value, vote.times.into()));
        }
    }

    /// Adds a unit, also to the replicates that draw it.
    fn add_unit(&mut self, ItemUnit { value, counts }: ItemUnit<'_>) {
        self.add(value);
        if let Some(value) = value {
            self.draw(value, counts);
        }
    }

    /// Adds a value to the replicates that draw its item.
    fn draw(&mut self, value: f64, counts: &[u16]) {
        self.sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += f64::from(*count) * value);
        self.numbers.iter_mut().zip(counts).for_each(|(number, count)| *number += u32::from(*count));
    }

    /// Returns the mean; `None` without values.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        mean(&self.values)
    }

    /// Returns the coverage.
    #[must_use]
    pub fn coverage(&self) -> Coverage {
        self.coverage
    }

    /// Returns the score of a part; `None` without units.
    #[must_use]
    pub fn score(&self, part: Part) -> Option<Score> {
        let std_dev = Summary::new(&self.values).ok().map(|summary| summary.std_dev);
        let sample = |(sum, number): (&f64, &u32)| (*number > 0).then(|| sum / f64::from(*number));
        let samples = self.sums.iter().zip(&self.numbers).map(sample).collect();
        let score = || Score { part, value: self.value(), std_dev, coverage: self.coverage(), samples };
        (self.coverage.total > 0).then(score)
    }
}

impl Extend<Option<f64>> for Mean {
    fn extend<I: IntoIterator<Item = Option<f64>>>(&mut self, values: I) {
        values.into_iter().for_each(|value| self.add(value));
    }
}

impl FromIterator<Option<f64>> for Mean {
    fn from_iter<I: IntoIterator<Item = Option<f64>>>(values: I) -> Self {
        let mut all = Self::default();
        all.extend(values);
        all
    }
}

/// Computes the arithmetic mean; `None` without values.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    distribution::mean(values).ok()
}

/// Rounds to two decimals, as [`format!`] does.
#[must_use]
pub fn to_two_decimals(value: f64) -> f64 {
    format!("{value:.2}").parse().unwrap_or(value)
}

/// Computes the unweighted mean of the scores of several parts; `None` if one has no value, or without any.
#[must_use]
pub fn macro_mean<'s>(part: Part, scores: impl IntoIterator<Item = &'s Score>) -> Option<Score> {
    let scores: Vec<&Score> = scores.into_iter().collect();
    let coverage = scores.iter().map(|score| score.coverage).sum();
    let score = || Score { part, value: mean_of_all(&scores), std_dev: None, coverage, samples: mean_samples(&scores) };
    (!scores.is_empty()).then(score)
}

/// Computes the mean of several scores; `None` if one has no value.
fn mean_of_all(scores: &[&Score]) -> Option<f64> {
    mean(&scores.iter().map(|score| score.value).collect::<Option<Vec<f64>>>()?)
}

/// Computes the mean in each replicate.
pub(super) fn mean_samples(scores: &[&Score]) -> Vec<Option<f64>> {
    let replicates = scores.iter().map(|score| score.samples.len()).min().unwrap_or(0);
    let sample = |at: usize| mean(&scores.iter().map(|score| score.samples[at]).collect::<Option<Vec<f64>>>()?);
    (0..replicates).map(sample).collect()
}

/// Value of an item with its number of draws in each replicate: looked up once, and used in the means of several parts.
#[derive(Debug, Clone, Copy)]
pub(in crate::benchmark) struct ItemUnit<'v> {
    value: Option<f64>,
    counts: &'v [u16],
}

impl ItemUnit<'_> {
    /// Replaces the item's value.
    pub(in crate::benchmark) fn worth(self, value: Option<f64>) -> Self {
        Self { value, ..self }
    }
}

/// Judgements of one model by one judge, by item, turn and game. The last of several counts.
pub struct Verdicts<'j> {
    verdicts: HashMap<(&'j str, u32, Game), &'j Judgement>,
    draws: Option<&'j ItemDraws>,
}

impl<'j> Verdicts<'j> {
    /// Indexes judgements.
    pub fn new(judgements: impl IntoIterator<Item = &'j Judgement>) -> Self {
        let keyed = judgements
            .into_iter()
            .map(|judgement| ((judgement.item_id.as_str(), judgement.turn, judgement.game), judgement));
        Self { verdicts: keyed.collect(), draws: None }
    }

    /// Adds resampled items for the means.
    #[must_use]
    pub fn resampled(self, draws: &'j ItemDraws) -> Self {
        Self { draws: Some(draws), ..self }
    }

    /// Computes the mean of the items' values.
    pub fn mean<'i>(&self, items: impl IntoIterator<Item = &'i Item>, value: impl Fn(&'i Item) -> Option<f64>) -> Mean {
        self.mean_of(items.into_iter().map(|item| self.unit(item, value(item))))
    }

    /// Computes the mean of units.
    pub(in crate::benchmark) fn mean_of<'v>(&self, units: impl IntoIterator<Item = ItemUnit<'v>>) -> Mean {
        let mut mean = self.no_mean();
        units.into_iter().for_each(|unit| mean.add_unit(unit));
        mean
    }

    /// Creates the unit of an item with its value.
    pub(in crate::benchmark) fn unit(&self, item: &Item, value: Option<f64>) -> ItemUnit<'j> {
        ItemUnit { value, counts: self.draws.map_or(&[], |draws| draws.of(&item.id)) }
    }

    /// Creates an empty mean.
    pub(in crate::benchmark) fn no_mean(&self) -> Mean {
        let replicates = self.draws.map_or(0, ItemDraws::replicates);
        Mean { sums: vec![0.0; replicates], numbers: vec![0; replicates], ..Mean::default() }
    }

    /// Adds a unit of an item to a mean, with its value if it has one.
    pub(in crate::benchmark) fn add(&self, mean: &mut Mean, item: &Item, value: Option<f64>) {
        mean.add_unit(self.unit(item, value));
    }

    /// Adds a unit of an item that failed, but counts with a value.
    pub(in crate::benchmark) fn add_failed(&self, mean: &mut Mean, item: &Item, value: f64) {
        mean.add_failed(value);
        self.draw(mean, item, Some(value));
    }

    /// Adds a unit of an item that counts as several values.
    pub(in crate::benchmark) fn add_votes(&self, mean: &mut Mean, item: &Item, votes: Option<[WeightedValue; 2]>) {
        mean.add_votes(votes);
        for vote in votes.into_iter().flatten() {
            (0..vote.times).for_each(|_| self.draw(mean, item, Some(vote.value)));
        }
    }

    fn draw(&self, mean: &mut Mean, item: &Item, value: Option<f64>) {
        if let (Some(draws), Some(value)) = (self.draws, value) {
            mean.draw(value, draws.of(&item.id));
        }
    }

    /// Returns the verdict of a turn in a game, if readable.
    #[must_use]
    pub fn get(&self, item: &str, turn: u32, game: Game) -> Option<&'j Verdict> {
        let judgement = self.verdicts.get(&(item, turn, game))?;
        judgement.parsed.as_ref().filter(|_| judgement.status == Status::Ok)
    }

    /// Returns the status of a turn's judgement, if there is one.
    #[must_use]
    pub fn status(&self, item: &str, turn: u32, game: Game) -> Option<Status> {
        self.verdicts.get(&(item, turn, game)).map(|judgement| judgement.status)
    }

    /// Returns the rating of a turn.
    #[must_use]
    pub fn rating(&self, item: &str, turn: u32) -> Option<&'j Rating> {
        match self.get(item, turn, Game::First)? {
            Verdict::Rating(rating) => Some(rating),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_without_a_value_is_missing_and_not_zero() {
        let mean: Mean = [Some(8.0), None, Some(6.0)].into_iter().collect();
        assert_eq!(mean.value(), Some(7.0));
        assert_eq!(mean.coverage(), Coverage { ok: 2, total: 3 });
        assert!(mean.coverage().is_low());
        assert_eq!(mean.score(Part::overall()).unwrap().std_dev, Some(2f64.sqrt()));
    }

    #[test]
    fn nothing_has_no_mean() {
        assert_eq!(Mean::default().score(Part::overall()), None);
        let none: Mean = [None].into_iter().collect();
        assert_eq!(none.score(Part::overall()).unwrap().value, None);
    }

    #[test]
    fn a_group_without_one_of_its_categories_has_no_value() {
        let whole: Mean = [Some(8.0)].into_iter().collect();
        let none: Mean = [None].into_iter().collect();
        let part = |name: &str| Part::new(PartKind::Category, name);
        let scores = [whole.score(part("a")).unwrap(), none.score(part("b")).unwrap()];
        let group = macro_mean(part("ab"), &scores).unwrap();
        assert_eq!((group.value, group.coverage), (None, Coverage { ok: 1, total: 2 }));
        assert_eq!(macro_mean(part("a"), &scores[..1]).unwrap().value, Some(8.0));
    }

    #[test]
    fn coverage_of_95_percent_is_enough() {
        assert!(!Coverage { ok: 95, total: 100 }.is_low());
        assert!(Coverage { ok: 94, total: 100 }.is_low());
        assert!(!Coverage::default().is_low());
    }

    #[test]
    fn parts_are_asked_for_by_key() {
        assert_eq!(Part::overall().key(), "overall");
        assert_eq!(Part::new(PartKind::Turn, "2").within("CM").key(), "CM/turn:2");
        assert_eq!(Part::new(PartKind::Language, "en").key(), "language:en");
    }
}
