//! Converts rows of all formats to votes: validates them and appends them to columns.

use std::borrow::Cow;

use serde_json::Value;

use super::cell_value::{Cell, FileRow, in_calendar};
use super::column_names::{COMPARIA_MODEL_A, ColumnMapping, Field, Header, TIMINGS};
use super::error::{RowError, shortened};
use super::json_fields::GivenColumns;
use super::winner::{one_of, parse_winner};
use crate::domain::battle::Outcome;
use crate::domain::rating::votes::vote_log::SelfPlay;
use crate::domain::rating::votes::vote_log::{ColumnSet, ReplyTiming, VoteLog};

/// Exclusion rule of votes whose voter saw the names of the models.
pub(super) const NAMED_MODE: &str = "named_mode";
/// Exclusion rule of votes that a log marks as unrated without a reason.
pub(super) const UNRATED: &str = "unrated";

/// Exclusion rule of votes that neither choose a model nor call both equal, as in ComparIA's logs.
pub(super) const NO_CHOICE: &str = "no_choice";

/// Votes of a part of a file.
#[derive(Debug)]
pub(super) struct VoteBatch {
    pub(super) log: VoteLog,
    /// Wanted columns with at least one value in the file.
    pub(super) seen: ColumnSet,
    /// Number of lines or rows of the part.
    pub(super) rows: u64,
    /// The current line or row, where each row names its own columns.
    pub(super) current_row: u64,
    /// Columns given by flags, where each row names its own columns.
    pub(super) given: GivenColumns,
    /// Whether a vote has a time.
    pub(super) timed: bool,
    /// The line or row of the first vote without a time.
    pub(super) first_untimed: Option<u64>,
}

/// Values of a row besides models and outcome.
#[derive(Debug, Default)]
pub(super) struct Details<'r> {
    pub(super) seconds: Option<f64>,
    pub(super) voter: Option<Cow<'r, str>>,
    pub(super) language: Option<Cow<'r, str>>,
    pub(super) category: Option<Cow<'r, str>>,
    pub(super) intent: Option<Cow<'r, str>>,
    pub(super) pairing_policy: Option<Cow<'r, str>>,
    pub(super) battle_id: Option<Cow<'r, str>>,
    pub(super) turn: Option<u32>,
    pub(super) prompt_tokens: Option<u32>,
    pub(super) satisfaction: Option<u32>,
    /// Reasons for sides A and B.
    pub(super) reasons: [Option<Cow<'r, str>>; 2],
    pub(super) pair_probability: Option<f64>,
    /// Reply times of both sides.
    pub(super) timings: Option<[ReplyTiming; 2]>,
    /// Counts by feature and side.
    pub(super) style: [Option<[u32; 2]>; 4],
}

impl VoteBatch {
    /// Creates an empty batch. Times are kept for sorting, even if not wanted.
    pub(super) fn new(wanted: ColumnSet, timed: bool) -> Self {
        let columns = ColumnSet { seconds: wanted.seconds || timed, ..wanted };
        let log = VoteLog::with_columns(columns);
        let (seen, given) = (ColumnSet::default(), GivenColumns::default());
        Self { log, seen, rows: 0, current_row: 0, given, timed: false, first_untimed: None }
    }

    /// Appends the next part of the file.
    pub(super) fn append(&mut self, other: &Self) {
        self.log.append(&other.log);
        self.seen = column_union(self.seen, other.seen);
        self.timed |= other.timed;
        self.first_untimed = self.first_untimed.or(other.first_untimed.map(|row| self.rows + row));
        self.rows += other.rows;
        self.given.append(&other.given);
    }

    /// Returns the votes with the wanted columns that the files have.
    pub(super) fn into_log(self, wanted: ColumnSet) -> VoteLog {
        let Self { mut log, seen, .. } = self;
        if log.is_empty() {
            // Without votes, all wanted columns are returned.
            log.seconds = log.seconds.filter(|_| wanted.seconds);
            return log;
        }
        log.voters = log.voters.filter(|_| seen.voters);
        log.languages = log.languages.filter(|_| seen.languages);
        log.categories = log.categories.filter(|_| seen.categories);
        log.intents = log.intents.filter(|_| seen.intents);
        log.turns = log.turns.filter(|_| seen.turns);
        log.prompt_tokens = log.prompt_tokens.filter(|_| seen.prompt_tokens);
        log.satisfactions = log.satisfactions.filter(|_| seen.satisfactions);
        log.reasons = log.reasons.filter(|_| seen.reasons);
        log.seconds = log.seconds.filter(|_| wanted.seconds && seen.seconds);
        log.style = log.style.filter(|_| seen.style);
        log.pair_probabilities = log.pair_probabilities.filter(|_| seen.pair_probabilities);
        log.timings = log.timings.filter(|_| seen.timings);
        log.pairing_policies = log.pairing_policies.filter(|_| seen.pairing_policies);
        log.battle_ids = log.battle_ids.filter(|_| seen.battle_ids);
        log
    }

    /// Counts an excluded vote under its rule.
    pub(super) fn exclude(&mut self, rule: &str) {
        if let Some(votes) = self.log.excluded.get_mut(rule) {
            *votes += 1;
        } else {
            self.log.excluded.insert(rule.to_owned(), 1);
        }
    }

    /// Adds one row completely, or not at all.
    pub(super) fn add(&mut self, record: &impl FileRow, header: &Header) -> Result<(), RowError> {
        for column in header.multiples.iter().filter(|column| !record.cell(column.at).is_empty()) {
            self.record_unread_column(&column.name);
        }
        let row = RowReader { record, header };
        let (a, b) = (row.model(Field::ModelA)?, row.model(Field::ModelB)?);
        let exclusion = row.exclusion()?;
        if a == b && exclusion.is_none() {
            return Err(SelfPlay(a.into_owned()).into());
        }
        if row.is_undecided() {
            self.exclude(NO_CHOICE);
            return Ok(());
        }
        let outcome = row.outcome(&a, &b)?;
        let details = self.details(&row)?;
        match exclusion {
            Some(rule) => self.exclude_vote(&rule, &details),
            None => self.push(&a, &b, outcome, &details)?,
        }
        Ok(())
    }

    /// Records a non-empty column that is not read.
    pub(super) fn record_unread_column(&mut self, column: &str) {
        if !self.log.unread_columns.contains(column) {
            self.log.unread_columns.insert(column.to_owned());
        }
    }

    /// Counts a vote excluded by a rule, and keeps its labels for slices where wanted.
    fn exclude_vote(&mut self, rule: &str, details: &Details<'_>) {
        self.note_time(details);
        self.log.exclude_vote(rule);
        if let Some(excluded) = &mut self.log.excluded_votes {
            add_details(&mut excluded.columns, &mut ColumnSet::default(), details);
        }
    }

    /// Adds a vote to every column.
    pub(super) fn push(&mut self, a: &str, b: &str, outcome: Outcome, details: &Details<'_>) -> Result<(), SelfPlay> {
        self.log.push(a, b, outcome)?;
        self.note_time(details);
        add_details(&mut self.log, &mut self.seen, details);
        Ok(())
    }

    fn note_time(&mut self, details: &Details<'_>) {
        self.timed |= details.seconds.is_some();
        if details.seconds.is_none() && self.first_untimed.is_none() {
            self.first_untimed = Some(self.current_row);
        }
    }

    /// Excludes the votes without a time, and counts them under this reason.
    pub(super) fn exclude_untimed(&mut self, reason: &str) {
        let Some(seconds) = &self.log.seconds else { return };
        let keep: Vec<bool> = seconds.iter().map(|time| time.is_finite()).collect();
        let left_out = keep.iter().filter(|keep| !**keep).count();
        if left_out > 0 {
            self.log.retain(&keep);
            self.log.forget_unused_names();
            *self.log.excluded.entry(reason.to_owned()).or_default() += left_out as u64;
        }
    }

    fn details<'r>(&self, row: &RowReader<'r, impl FileRow>) -> Result<Details<'r>, RowError> {
        let log = &self.log;
        let text = |wanted: bool, field| if wanted { row.first(field).and_then(|(cell, _)| cell.text()) } else { None };
        let label = |wanted: bool, field| wanted.then(|| row.first(field)?.0.label()).flatten();
        let number = |wanted: bool, field| if wanted { row.number(field) } else { Ok(None) };
        let bounded = |wanted: bool, field| if wanted { row.bounded(field) } else { Ok(None) };
        let metadata = (log.style.is_some() || log.prompt_tokens.is_some() || log.turns.is_some())
            .then(|| row.first(Field::Metadata).and_then(|(cell, _)| cell.nested()))
            .flatten();
        let nested = |wanted: bool, name: &str| {
            let value = metadata.as_ref().filter(|_| wanted).and_then(|metadata| metadata.get(name));
            value.map_or(Ok(None), |value| json_count(value, name))
        };
        let prompts = log.prompt_tokens.is_some();
        let prompt_tokens = number(prompts, Field::PromptTokens)?.map(count);
        let turn = number(log.turns.is_some(), Field::Turn)?.map(count);
        let categories = log.categories.is_some();
        Ok(Details {
            seconds: row.seconds()?,
            voter: text(log.voters.is_some(), Field::Voter),
            language: label(log.languages.is_some(), Field::Language),
            category: label(categories, Field::Category).or_else(|| categories.then(|| row.tags()).flatten()),
            intent: label(log.intents.is_some(), Field::Intent),
            pairing_policy: text(log.pairing_policies.is_some(), Field::PairingPolicy),
            battle_id: text(log.battle_ids.is_some(), Field::BattleId),
            turn: turn.map_or_else(|| nested(log.turns.is_some(), "turns"), |turn| Ok(Some(turn)))?,
            satisfaction: bounded(log.satisfactions.is_some(), Field::Satisfaction)?.map(count),
            reasons: [Field::ReasonsA, Field::ReasonsB].map(|field| text(log.reasons.is_some(), field)),
            prompt_tokens: prompt_tokens
                .map_or_else(|| nested(prompts, "sum_user_tokens"), |tokens| Ok(Some(tokens)))?,
            pair_probability: bounded(log.pair_probabilities.is_some(), Field::PairProbability)?,
            timings: if log.timings.is_some() { row.timings()? } else { None },
            style: if log.style.is_some() { row.style(metadata.as_deref())? } else { [None; 4] },
        })
    }
}

/// Adds a row's values besides models and outcome to the columns present.
fn add_details(log: &mut VoteLog, seen: &mut ColumnSet, details: &Details<'_>) {
    for (labels, seen, text) in [
        (&mut log.voters, &mut seen.voters, &details.voter),
        (&mut log.languages, &mut seen.languages, &details.language),
        (&mut log.categories, &mut seen.categories, &details.category),
        (&mut log.intents, &mut seen.intents, &details.intent),
        (&mut log.pairing_policies, &mut seen.pairing_policies, &details.pairing_policy),
        (&mut log.battle_ids, &mut seen.battle_ids, &details.battle_id),
    ] {
        if let Some(labels) = labels {
            labels.push(text.as_deref());
            *seen |= text.is_some();
        }
    }
    for (labels, text) in log.reasons.iter_mut().flatten().zip(&details.reasons) {
        labels.push(text.as_deref());
        seen.reasons |= text.is_some();
    }
    keep(&mut log.seconds, details.seconds, f64::NAN, &mut seen.seconds);
    keep(&mut log.turns, details.turn, 1, &mut seen.turns);
    keep(&mut log.prompt_tokens, details.prompt_tokens, 0, &mut seen.prompt_tokens);
    keep(&mut log.satisfactions, details.satisfaction, 0, &mut seen.satisfactions);
    keep(&mut log.pair_probabilities, details.pair_probability, f64::NAN, &mut seen.pair_probabilities);
    keep(&mut log.timings, details.timings, <[ReplyTiming; 2]>::default(), &mut seen.timings);
    if let Some(columns) = &mut log.style {
        columns.push(details.style);
        seen.style |= details.style.iter().any(Option::is_some);
    }
}

fn keep<T>(column: &mut Option<Vec<T>>, value: Option<T>, missing: T, seen: &mut bool) {
    if let Some(column) = column {
        *seen |= value.is_some();
        column.push(value.unwrap_or(missing));
    }
}

fn column_union(x: ColumnSet, y: ColumnSet) -> ColumnSet {
    ColumnSet {
        voters: x.voters || y.voters,
        languages: x.languages || y.languages,
        categories: x.categories || y.categories,
        intents: x.intents || y.intents,
        turns: x.turns || y.turns,
        prompt_tokens: x.prompt_tokens || y.prompt_tokens,
        satisfactions: x.satisfactions || y.satisfactions,
        reasons: x.reasons || y.reasons,
        seconds: x.seconds || y.seconds,
        style: x.style || y.style,
        pair_probabilities: x.pair_probabilities || y.pair_probabilities,
        timings: x.timings || y.timings,
        pairing_policies: x.pairing_policies || y.pairing_policies,
        battle_ids: x.battle_ids || y.battle_ids,
        excluded_votes: x.excluded_votes || y.excluded_votes,
    }
}

/// A row with its columns' names.
struct RowReader<'r, R> {
    record: &'r R,
    header: &'r Header,
}

impl<'r, R: FileRow> RowReader<'r, R> {
    /// First non-empty cell of a field, in the order of its known names.
    fn first(&self, field: Field) -> Option<(Cell<'r>, &'r ColumnMapping)> {
        let cells = self.header.all(field).iter().map(|column| (self.record.cell(column.at), column));
        cells.into_iter().find(|(cell, _)| !cell.is_empty())
    }

    fn model(&self, field: Field) -> Result<Cow<'r, str>, RowError> {
        let column = || self.header.one(field).map_or_else(String::new, |column| column.name.clone());
        self.first(field).and_then(|(cell, _)| cell.text()).ok_or_else(|| RowError::NoModel(column()))
    }

    fn flag(&self, field: Field) -> Option<bool> {
        self.first(field).and_then(|(cell, _)| cell.flag())
    }

    fn number(&self, field: Field) -> Result<Option<f64>, RowError> {
        self.first(field).map_or(Ok(None), |(cell, column)| cell.number(&column.name))
    }

    /// Number of a field, checked against its range.
    fn bounded(&self, field: Field) -> Result<Option<f64>, RowError> {
        let Some((cell, column)) = self.first(field) else { return Ok(None) };
        let Some(number) = cell.number(&column.name)? else { return Ok(None) };
        check_range(field, number, &column.name)?;
        Ok(Some(number))
    }

    /// Whether a ComparIA vote neither chooses a model nor calls both equal: either column may be empty there.
    fn is_undecided(&self) -> bool {
        let from_comparia = || self.first(Field::ModelA).is_some_and(|(_, column)| column.name == COMPARIA_MODEL_A);
        self.first(Field::Winner).is_none()
            && match self.flag(Field::BothEqual) {
                Some(equal) => !equal,
                None => from_comparia(),
            }
    }

    fn outcome(&self, a: &str, b: &str) -> Result<Outcome, RowError> {
        if self.flag(Field::BothEqual) == Some(true) {
            return Ok(Outcome::Tie);
        }
        if let Some((cell, _)) = self.first(Field::Winner) {
            return parse_winner(&cell.text().unwrap_or_default(), a, b);
        }
        let flags = [Field::WinnerA, Field::WinnerB, Field::WinnerTie].map(|field| self.flag(field));
        match flags {
            [None, None, None] => Err(RowError::Winner(String::new())),
            flags => one_of(flags.map(|flag| flag == Some(true))),
        }
    }

    /// Time of the vote, required in every row of a file with times.
    fn seconds(&self) -> Result<Option<f64>, RowError> {
        if let Some((cell, column)) = self.first(Field::Time) {
            return cell.seconds(&column.name).map(Some);
        }
        if let Some((cell, column)) = self.first(Field::Millis) {
            let millis = cell.number(&column.name)?;
            let seconds = millis.and_then(|millis| in_calendar(millis / 1000.0));
            return seconds.map(Some).ok_or_else(|| cell.no_time(&column.name));
        }
        let column = self.header.one(Field::Time).or_else(|| self.header.one(Field::Millis));
        match column {
            Some(column) if self.header.timed => Cell::Empty.seconds(&column.name).map(Some),
            _ => Ok(None),
        }
    }

    /// Rule that excludes the vote from the rating. A word that is neither yes nor no is refused: taken for yes, it would include votes
    /// that should be excluded.
    fn exclusion(&self) -> Result<Option<Cow<'r, str>>, RowError> {
        let flag = |field| self.first(field).map_or(Ok(None), |(cell, column)| cell.known_flag(&column.name));
        let rated = flag(Field::Rated)?;
        if rated != Some(true) {
            // A rule alone also excludes.
            let rule = self.first(Field::Exclusion).and_then(|(cell, _)| cell.text());
            let rule = rule.or_else(|| (rated == Some(false)).then_some(Cow::Borrowed(UNRATED)));
            if rule.is_some() {
                return Ok(rule);
            }
        }
        Ok((flag(Field::Anonymous)? == Some(false)).then_some(Cow::Borrowed(NAMED_MODE)))
    }

    /// LMArena's tags as one list.
    fn tags(&self) -> Option<Cow<'r, str>> {
        let nested = self.first(Field::CategoryTags).and_then(|(cell, _)| cell.nested());
        let tagged = |outer: &str, inner: &str| nested.as_ref()?.get(outer)?.get(inner)?.as_bool();
        let is_code = self.flag(Field::IsCode);
        let names = TAGS.iter().filter(|tag| match tag.path {
            Some((outer, inner)) => tagged(outer, inner) == Some(true),
            None => is_code == Some(true),
        });
        let names: Vec<&str> = names.map(|tag| tag.name).collect();
        (!names.is_empty()).then(|| names.join(",").into())
    }

    /// Reply times of both sides, if any is given.
    fn timings(&self) -> Result<Option<[ReplyTiming; 2]>, RowError> {
        let mut timings = [ReplyTiming::default(); 2];
        for (timing, [first_token, duration]) in timings.iter_mut().zip(TIMINGS) {
            timing.first_token_ms = self.number(first_token)?.map(count);
            timing.duration_ms = self.number(duration)?.map(count);
        }
        Ok((timings != <[ReplyTiming; 2]>::default()).then_some(timings))
    }

    /// Counts by feature and side, from flat or nested columns.
    fn style(&self, metadata: Option<&Value>) -> Result<[Option<[u32; 2]>; 4], RowError> {
        let mut counts = [[None; 2]; 4];
        for &(at, feature, side) in &self.header.style {
            if let Some(number) = self.record.cell(at).number(STYLE_NAMES[feature])? {
                add_count(&mut counts[feature][side], number, STYLE_NAMES[feature])?;
            }
        }
        if let Some(metadata) = metadata.filter(|_| counts == [[None; 2]; 4]) {
            counts = nested_style(metadata)?;
        }
        Ok(counts.map(known_on_both_sides))
    }
}

/// Tag of LMArena's files, with the path of its flag in `category_tag`; `None` for `is_code`, a column of its own.
pub(super) struct FileTag {
    pub(super) name: &'static str,
    pub(super) path: Option<(&'static str, &'static str)>,
}

/// The tags that become categories. A vote may have several: they are joined by commas.
pub(super) const TAGS: [FileTag; 4] = [
    FileTag { name: "coding", path: None },
    FileTag { name: "creative_writing", path: Some(("creative_writing_v0.1", "creative_writing")) },
    FileTag { name: "instruction_following", path: Some(("if_v0.1", "if")) },
    FileTag { name: "math", path: Some(("math_v0.1", "math")) },
];

/// The features of style, for messages.
pub(super) const STYLE_NAMES: [&str; 4] = ["tokens", "headings", "lists", "bold"];

/// Refuses a number outside of its column's range.
pub(super) fn check_range(field: Field, number: f64, column: &str) -> Result<(), RowError> {
    let (is_within, range) = match field {
        Field::PairProbability => {
            ((0.0..=1.0).contains(&number), "a probability above 0 and at most 1, or 0 where it is not known")
        }
        Field::Satisfaction => ([1.0, 2.0, 3.0, 4.0, 5.0].contains(&number), "a whole number from 1 to 5, or nothing"),
        _ => return Ok(()),
    };
    if is_within {
        return Ok(());
    }
    Err(RowError::Range { column: column.to_owned(), text: number.to_string(), range })
}

/// Adds a count to those of other columns of the same feature and side.
pub(super) fn add_count(sum: &mut Option<u32>, number: f64, column: &str) -> Result<(), RowError> {
    if number < 0.0 {
        return Err(RowError::Number { column: column.to_owned(), text: number.to_string() });
    }
    *sum = Some(sum.unwrap_or(0).saturating_add(count(number)));
    Ok(())
}

/// Counts of a feature; `None` if one side's is missing.
pub(super) fn known_on_both_sides([a, b]: [Option<u32>; 2]) -> Option<[u32; 2]> {
    Some([a?, b?])
}

/// The counts of style in `conv_metadata`, by feature; `@` is the side.
const NESTED_STYLE: [&str; 4] = ["sum_assistant_@_tokens", "header_count_@", "list_count_@", "bold_count_@"];

fn nested_style(metadata: &Value) -> Result<[[Option<u32>; 2]; 4], RowError> {
    let mut counts = [[None; 2]; 4];
    for ((counts, name), feature) in counts.iter_mut().zip(NESTED_STYLE).zip(STYLE_NAMES) {
        for (count, side) in counts.iter_mut().zip(["a", "b"]) {
            if let Some(value) = metadata.get(name.replace('@', side)) {
                *count = json_count(value, feature)?;
            }
        }
    }
    Ok(counts)
}

/// A number, or the sum of the numbers of an object; `None` where no number is given.
fn json_count(value: &Value, column: &str) -> Result<Option<u32>, RowError> {
    let mut sum = None;
    add_json(&mut sum, value, column)?;
    Ok(sum)
}

/// Adds the numbers of a value: an empty object counts as 0; null is no count.
fn add_json(sum: &mut Option<u32>, value: &Value, column: &str) -> Result<(), RowError> {
    match value {
        Value::Object(counts) if counts.is_empty() => add_count(sum, 0.0, column),
        Value::Object(counts) => counts.values().try_for_each(|count| add_json(sum, count, column)),
        Value::Array(_) => Err(RowError::Number { column: column.to_owned(), text: shortened(&value.to_string()) }),
        other => Cell::Json(other).number(column)?.map_or(Ok(()), |number| add_count(sum, number, column)),
    }
}

/// Converts a count; negative values become 0.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast of f64 stays within the bounds of u32"
)]
pub(super) fn count(number: f64) -> u32 {
    number as u32
}
