//! Slices: the votes of one language, category, intent, number of turns, prompt length, source or time span.

use std::collections::BTreeMap;

use super::prompt_label_names::split_names;
use super::vote_log::{ColumnSet, ExcludedVotes, InternedTexts, Labels, VoteLog};
use crate::language::is_same_language;

/// Prompts of at least this many tokens are long, as in LMArena's "longer query".
pub const LONG_PROMPT_TOKENS: u32 = 500;

/// Number of turns of a battle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Turns {
    /// One.
    First,
    /// More than one.
    Multi,
}

/// An unknown name of a number of turns.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected first or multi")]
pub struct UnknownTurns;

impl std::str::FromStr for Turns {
    type Err = UnknownTurns;

    fn from_str(text: &str) -> Result<Self, UnknownTurns> {
        match text {
            "first" => Ok(Self::First),
            "multi" => Ok(Self::Multi),
            _ => Err(UnknownTurns),
        }
    }
}

/// Source of votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VoteSource {
    /// Battles of the arena.
    Arena,
    /// Files of votes.
    Import,
    /// Campaigns, in which annotators judge stored answers.
    Campaign,
}

/// An unknown name of a source of votes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected arena, import or campaign")]
pub struct UnknownVoteSource;

impl VoteSource {
    /// All sources.
    pub const ALL: [Self; 3] = [Self::Arena, Self::Import, Self::Campaign];

    /// Returns the name that [`str::parse`] accepts.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Arena => "arena",
            Self::Import => "import",
            Self::Campaign => "campaign",
        }
    }

    /// Returns the source of a vote from its pairing policy: imports and campaigns each have a policy of the same name.
    #[must_use]
    pub fn of_policy(policy: &str) -> Self {
        match policy {
            "import" => Self::Import,
            "campaign" => Self::Campaign,
            _ => Self::Arena,
        }
    }
}

impl std::str::FromStr for VoteSource {
    type Err = UnknownVoteSource;

    fn from_str(text: &str) -> Result<Self, UnknownVoteSource> {
        Self::ALL.into_iter().find(|source| source.as_str() == text).ok_or(UnknownVoteSource)
    }
}

/// A column of labels, each of which is a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SliceColumn {
    /// Languages.
    Language,
    /// Categories.
    Category,
    /// Intents.
    Intent,
}

/// An unknown name of a column of labels.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected language, category or intent")]
pub struct UnknownSliceColumn;

impl SliceColumn {
    /// All columns.
    pub const ALL: [Self; 3] = [Self::Language, Self::Category, Self::Intent];

    /// Returns the name that [`str::parse`] accepts.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Language => "language",
            Self::Category => "category",
            Self::Intent => "intent",
        }
    }

    /// Returns the column of a log, if it was read.
    #[must_use]
    pub fn labels(self, log: &VoteLog) -> Option<&Labels> {
        match self {
            Self::Language => log.languages.as_ref(),
            Self::Category => log.categories.as_ref(),
            Self::Intent => log.intents.as_ref(),
        }
    }

    /// Adds the column to the columns to read.
    pub fn add_to(self, columns: &mut ColumnSet) {
        match self {
            Self::Language => columns.languages = true,
            Self::Category => columns.categories = true,
            Self::Intent => columns.intents = true,
        }
    }
}

impl std::str::FromStr for SliceColumn {
    type Err = UnknownSliceColumn;

    fn from_str(text: &str) -> Result<Self, UnknownSliceColumn> {
        Self::ALL.into_iter().find(|column| column.as_str() == text).ok_or(UnknownSliceColumn)
    }
}

/// Conditions that select votes; by default none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Slice {
    /// Language, in any spelling: `en` also selects votes that say "English".
    pub language: Option<String>,
    /// Category.
    pub category: Option<String>,
    /// Intent.
    pub intent: Option<String>,
    /// Number of turns.
    pub turns: Option<Turns>,
    /// Only prompts of at least [`LONG_PROMPT_TOKENS`] tokens.
    pub long_prompts: bool,
    /// Source of the votes.
    pub source: Option<VoteSource>,
    /// Earliest time, as Unix time in seconds.
    pub since: Option<f64>,
    /// Votes before this time, as Unix time in seconds.
    pub until: Option<f64>,
}

/// Error of an invalid slice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SliceError {
    /// The log lacks a column.
    #[error("the votes have no {0}: select the slice from a file or database that records it")]
    Missing(&'static str),
    /// No vote has the label.
    #[error("no rated vote has the {column} {value:?}: the votes have {known}")]
    Unknown {
        /// Column of the value.
        column: &'static str,
        /// Requested value.
        value: String,
        /// Values of the column.
        known: String,
    },
}

/// Maximum number of known values in an error message.
const MAX_LISTED_VALUES: usize = 12;

impl Slice {
    /// Adds the columns that the slice reads.
    pub fn add_columns(&self, columns: &mut ColumnSet) {
        columns.languages |= self.language.is_some();
        columns.categories |= self.category.is_some();
        columns.intents |= self.intent.is_some();
        columns.turns |= self.turns.is_some();
        columns.prompt_tokens |= self.long_prompts;
        columns.pairing_policies |= self.source.is_some();
        columns.seconds |= self.since.is_some() || self.until.is_some();
        columns.excluded_votes |= *self != Self::default();
    }

    /// Selects the votes of the slice, in log order, and counts its excluded votes. Models keep their positions.
    ///
    /// # Errors
    /// [`SliceError`] if the log lacks a column, or no vote has a requested language, category or intent.
    pub fn take(&self, mut log: VoteLog) -> Result<VoteLog, SliceError> {
        let keep = self.selection(&log, log.len())?;
        if keep.contains(&false) {
            log.retain(&keep);
        }
        if let Some(excluded) = log.excluded_votes.take() {
            self.subtract_excluded_outside(&excluded, &mut log.excluded);
        }
        Ok(log)
    }

    /// Copies the models, outcomes and voters of the votes of the slice, without any other column: a small copy of a shared log.
    /// Models and voters keep their positions, and voters without a vote of the slice stay known, as in [`Self::take`].
    ///
    /// # Errors
    /// Those of [`Self::take`].
    pub fn pick(&self, log: &VoteLog) -> Result<VoteLog, SliceError> {
        let keep = self.selection(log, log.len())?;
        let voters = log.voters.as_ref().map(|voters| voters.picked(&keep));
        let mut picked = VoteLog { voters, ..log.outcomes_picked(&keep) };
        if let Some(excluded) = &log.excluded_votes {
            self.subtract_excluded_outside(excluded, &mut picked.excluded);
        }
        Ok(picked)
    }

    /// Subtracts the excluded votes outside of the slice from the counts by rule. Exclusions that a source only counts, such as
    /// malformed rows, stay: their slice is unknown.
    fn subtract_excluded_outside(&self, excluded: &ExcludedVotes, counts: &mut BTreeMap<String, u64>) {
        let (rules, names) = (&excluded.rules.rows, excluded.rules.names.as_slice());
        // If no excluded vote has a requested value, none belongs to the slice.
        let keep = self.selection(&excluded.columns, rules.len()).unwrap_or_else(|_| vec![false; rules.len()]);
        for (&rule, _) in rules.iter().zip(keep).filter(|(_, keep)| !keep) {
            if let Some(name) = names.get(rule as usize)
                && let Some(votes) = counts.get_mut(name)
            {
                *votes = votes.saturating_sub(1);
            }
        }
        counts.retain(|_, votes| *votes > 0);
    }

    /// Returns for each vote whether it belongs to the slice.
    fn selection(&self, log: &VoteLog, votes: usize) -> Result<Vec<bool>, SliceError> {
        let mut keep = vec![true; votes];
        let is_same = |one: &str, other: &str| one == other;
        by_label(&mut keep, "language", log.languages.as_ref(), self.language.as_ref(), is_same_language)?;
        by_label(&mut keep, "category", log.categories.as_ref(), self.category.as_ref(), is_same)?;
        by_label(&mut keep, "intent", log.intents.as_ref(), self.intent.as_ref(), is_same)?;
        if let Some(turns) = self.turns {
            let wanted = |count: u32| (count > 1) == (turns == Turns::Multi);
            by_value(&mut keep, "numbers of turns", log.turns.as_deref(), wanted)?;
        }
        if self.long_prompts {
            let long = |tokens: u32| tokens >= LONG_PROMPT_TOKENS;
            by_value(&mut keep, "lengths of prompts", log.prompt_tokens.as_deref(), long)?;
        }
        if let Some(source) = self.source {
            by_source(&mut keep, log.pairing_policies.as_ref(), source)?;
        }
        if let Some(since) = self.since {
            by_value(&mut keep, "times", log.seconds.as_deref(), |seconds| seconds >= since)?;
        }
        if let Some(until) = self.until {
            by_value(&mut keep, "times", log.seconds.as_deref(), |seconds| seconds < until)?;
        }
        Ok(keep)
    }

    /// Describes the conditions in English; empty if the slice selects every vote.
    #[must_use]
    pub fn describe(&self) -> Vec<String> {
        let mut parts = Vec::new();
        for (column, value) in [("language", &self.language), ("category", &self.category), ("intent", &self.intent)] {
            parts.extend(value.as_ref().map(|value| format!("{column} {value:?}")));
        }
        parts.extend(self.turns.map(|turns| match turns {
            Turns::First => "a single turn".to_owned(),
            Turns::Multi => "more than one turn".to_owned(),
        }));
        if self.long_prompts {
            parts.push(format!("prompts of {LONG_PROMPT_TOKENS} tokens or more"));
        }
        parts.extend(self.source.map(|source| format!("the source {:?}", source.as_str())));
        if self.since.is_some() || self.until.is_some() {
            parts.push("a time in the requested span".to_owned());
        }
        parts
    }
}

fn by_label(
    keep: &mut [bool],
    column: &'static str,
    labels: Option<&Labels>,
    value: Option<&String>,
    is_same: impl Fn(&str, &str) -> bool,
) -> Result<(), SliceError> {
    let Some(value) = value else { return Ok(()) };
    let labels = labels.ok_or(SliceError::Missing(column))?;
    let names = labels.names.as_slice();
    let has_value =
        |label: &String| is_same(label, value) || split_names(label).iter().any(|name| is_same(name, value));
    let requested: Vec<bool> = names.iter().map(has_value).collect();
    if !requested.contains(&true) {
        let mut known = InternedTexts::default();
        for name in names.iter().flat_map(|label| split_names(label)) {
            known.position(&name);
        }
        return Err(SliceError::Unknown { column, value: value.clone(), known: first_names(known.as_slice()) });
    }
    keep.iter_mut().zip(&labels.rows).for_each(|(keep, &row)| *keep &= requested.get(row as usize) == Some(&true));
    Ok(())
}

fn by_source(keep: &mut [bool], policies: Option<&Labels>, source: VoteSource) -> Result<(), SliceError> {
    let policies = policies.ok_or(SliceError::Missing("pairing policies, which say where votes come from"))?;
    let sources: Vec<VoteSource> =
        policies.names.as_slice().iter().map(|policy| VoteSource::of_policy(policy)).collect();
    keep.iter_mut().zip(&policies.rows).for_each(|(keep, &row)| *keep &= sources.get(row as usize) == Some(&source));
    Ok(())
}

fn by_value<T: Copy>(
    keep: &mut [bool],
    column: &'static str,
    values: Option<&[T]>,
    wanted: impl Fn(T) -> bool,
) -> Result<(), SliceError> {
    let values = values.ok_or(SliceError::Missing(column))?;
    keep.iter_mut().zip(values).for_each(|(keep, &value)| *keep &= wanted(value));
    Ok(())
}

fn first_names(names: &[String]) -> String {
    let mut named: Vec<String> = names.iter().take(MAX_LISTED_VALUES).map(|name| format!("{name:?}")).collect();
    match names.len() {
        0 => return "none at all".to_owned(),
        all if all > MAX_LISTED_VALUES => named.push(format!("{} more", all - MAX_LISTED_VALUES)),
        _ => {}
    }
    named.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::battle::Outcome;

    #[test]
    fn picked_votes_are_those_that_would_be_taken() {
        let columns = ColumnSet { voters: true, languages: true, turns: true, ..ColumnSet::default() };
        let mut log = VoteLog::with_columns(columns);
        for number in 0..12_u32 {
            log.voters.as_mut().unwrap().push(Some(&format!("voter {}", number % 7)));
            log.push(["a", "b", "c"][number as usize % 3], "d", Outcome::ALL[number as usize % 4]).unwrap();
            log.languages.as_mut().unwrap().push(Some(["en", "zh"][number as usize % 2]));
            log.turns.as_mut().unwrap().push(1 + number % 5);
        }
        let slice = Slice { language: Some("zh".into()), turns: Some(Turns::Multi), ..Slice::default() };
        let (picked, taken) = (slice.pick(&log).unwrap(), slice.take(log.clone()).unwrap());
        assert_eq!((&picked.models, &picked.a, &picked.b), (&taken.models, &taken.a, &taken.b));
        assert_eq!((&picked.outcomes, &picked.voters), (&taken.outcomes, &taken.voters));
        assert!(picked.len() == 5 && picked.turns.is_none(), "{picked:?}");
        let nobody = Slice { language: Some("xx".into()), ..Slice::default() };
        assert!(nobody.pick(&log).is_err());
    }

    #[test]
    fn a_language_is_selected_however_its_votes_spell_it() {
        let mut log = VoteLog::with_columns(ColumnSet { languages: true, ..ColumnSet::default() });
        for language in ["English", "en", "zh-cn", "en-GB", "Chinese"] {
            log.push("a", "b", Outcome::AWins).unwrap();
            log.languages.as_mut().unwrap().push(Some(language));
        }
        for (language, votes) in [("en", 3), ("English", 3), ("zh", 2), ("Chinese", 2), ("zh-cn", 2)] {
            let slice = Slice { language: Some(language.into()), ..Slice::default() };
            assert_eq!(slice.pick(&log).map(|log| log.len()), Ok(votes), "{language}");
        }
    }

    #[test]
    fn a_slice_counts_its_own_excluded_votes() {
        let english = Slice { language: Some("en".into()), ..Slice::default() };
        let mut columns = ColumnSet::default();
        english.add_columns(&mut columns);
        let mut log = VoteLog::with_columns(columns);
        for language in ["en", "zh", "de"] {
            log.push("a", "b", Outcome::AWins).unwrap();
            log.languages.as_mut().unwrap().push(Some(language));
        }
        for (rule, language) in [("admin", "en"), ("admin", "zh"), ("identity_leak", "zh")] {
            log.exclude_vote(rule);
            log.excluded_votes.as_mut().unwrap().columns.languages.as_mut().unwrap().push(Some(language));
        }
        // A malformed row has no language.
        log.exclude("malformed");
        let of = |language: &str| Slice { language: Some(language.into()), ..Slice::default() };
        for (language, rules) in [
            ("en", &[("admin", 1), ("malformed", 1)][..]),
            ("zh", &[("admin", 1), ("identity_leak", 1), ("malformed", 1)][..]),
            ("de", &[("malformed", 1)][..]),
        ] {
            let expected: BTreeMap<String, u64> = rules.iter().map(|&(rule, votes)| (rule.to_owned(), votes)).collect();
            assert_eq!(of(language).pick(&log).unwrap().excluded, expected, "{language}");
            assert_eq!(of(language).take(log.clone()).unwrap().excluded, expected, "{language}");
        }
        assert_eq!(Slice::default().take(log.clone()).unwrap().excluded, log.excluded);
    }

    #[test]
    fn the_policy_that_chose_a_pair_says_where_its_vote_comes_from() {
        let mut log = VoteLog::with_columns(ColumnSet { pairing_policies: true, ..ColumnSet::default() });
        for policy in ["uniform", "campaign", "adaptive", "campaign"] {
            log.push("a", "b", Outcome::AWins).unwrap();
            log.pairing_policies.as_mut().unwrap().push(Some(policy));
        }
        let of = |source| Slice { source: Some(source), ..Slice::default() };
        let kept = |source| of(source).take(log.clone()).map(|log| log.len());
        assert_eq!((kept(VoteSource::Arena), kept(VoteSource::Campaign)), (Ok(2), Ok(2)));
        assert_eq!(kept(VoteSource::Import), Ok(0), "a source without votes is an empty slice");
        let plain = VoteLog { pairing_policies: None, ..log.clone() };
        let error = of(VoteSource::Arena).take(plain).unwrap_err().to_string();
        assert!(error.contains("have no pairing policies"), "{error}");
    }
}
