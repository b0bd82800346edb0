//! Votes from Parquet. Only the wanted columns are read, and texts are numbers all the way: a name is looked up once for
//! each dictionary, not once a vote.

use std::borrow::Cow;

use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{ChunkReader, FileReader, RowGroupReader};
use ::parquet::file::serialized_reader::{ReadOptionsBuilder, SerializedFileReader};
use rayon::prelude::*;

use super::batch::{Batch, NAMED_MODE, STYLE_NAMES, TAGS, UNRATED, count};
use super::cell::{as_seconds, parse_seconds};
use super::columns::{Field, Header};
use super::error::{Place, RowError, VoteFileError, shortened};
use super::winner::{one_of, parse_winner, parse_word};
use super::{FileVotes, Job};
use crate::battle::Outcome;
use crate::rating::comparison::SelfPlay;
use crate::rating::vote_log::{Labels, VoteLog};

mod column;
mod pages;

use column::{Column, Texts, read_column, time_unit};

/// Row groups under way at once for each thread.
const GROUPS_A_THREAD: usize = 1;

/// Reads all votes of a file.
pub(super) fn read<R: ChunkReader + 'static>(job: &Job<'_>, input: R) -> Result<FileVotes, VoteFileError> {
    let broken = |source| VoteFileError::Parquet { path: job.path.to_owned(), source };
    let options = ReadOptionsBuilder::new().build();
    let reader = SerializedFileReader::new_with_options(input, options).map_err(broken)?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    // What repeats within a row is no column of the votes.
    let flat = schema.columns().iter().map(|leaf| match leaf.max_rep_level() {
        0 => leaf.path().string(),
        _ => String::new(),
    });
    let names: Vec<String> = flat.collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let header = Header::find(&names, &job.options.columns).map_err(|name| job.columns(name))?;
    let plan = Plan::new(job, &header, &names);
    let mut votes = Batch::new(job.wanted, header.timed);
    reserve(&mut votes.log, reader.metadata().file_metadata().num_rows());
    let groups: Vec<usize> = (0..reader.num_row_groups()).collect();
    for wave in groups.chunks(GROUPS_A_THREAD * rayon::current_num_threads()) {
        let read_group = |&group: &usize| plan.read_group(&*reader.get_row_group(group)?);
        let batches: Vec<Result<_, ParquetError>> = wave.par_iter().map(read_group).collect();
        for batch in batches {
            let before = votes.rows;
            let batch = batch.map_err(broken)?;
            let batch = batch.map_err(|(row, reason)| job.row(Place::Row(before + row + 1), reason))?;
            votes.append(&batch);
        }
    }
    Ok(FileVotes { votes, timed: header.timed })
}

fn reserve(log: &mut VoteLog, rows: i64) {
    let rows = usize::try_from(rows).unwrap_or(0);
    log.a.reserve_exact(rows);
    log.b.reserve_exact(rows);
    log.outcomes.reserve_exact(rows);
    if let Some(seconds) = &mut log.seconds {
        seconds.reserve_exact(rows);
    }
}

/// What to read of a file.
struct Plan<'p> {
    job: &'p Job<'p>,
    header: &'p Header,
    /// Positions of the columns that are needed.
    needed: Vec<usize>,
    /// Tags: the position of their flag, and their name.
    tags: Vec<(usize, &'static str)>,
}

impl<'p> Plan<'p> {
    fn new(job: &'p Job<'p>, header: &'p Header, names: &[&str]) -> Self {
        let wanted = job.wanted;
        let fields = [
            (Field::ModelA, true),
            (Field::ModelB, true),
            (Field::Winner, true),
            (Field::WinnerA, true),
            (Field::WinnerB, true),
            (Field::WinnerTie, true),
            (Field::BothEqual, true),
            (Field::Time, true),
            (Field::Millis, true),
            (Field::Rated, true),
            (Field::Exclusion, true),
            (Field::Anonymous, true),
            (Field::Voter, wanted.voters),
            (Field::Language, wanted.languages),
            (Field::Category, wanted.categories),
            (Field::Intent, wanted.intents),
            (Field::Turn, wanted.turns),
            (Field::PromptTokens, wanted.prompt_tokens),
            (Field::PairProbability, wanted.pair_probabilities),
        ];
        let asked = fields.into_iter().filter(|(_, asked)| *asked);
        let mut needed: Vec<usize> = asked.filter_map(|(field, _)| Some(header.one(field)?.at)).collect();
        if wanted.style {
            needed.extend(header.style.iter().map(|(at, ..)| *at));
        }
        let tags = if wanted.categories { tag_columns(names) } else { Vec::new() };
        needed.extend(tags.iter().map(|(at, _)| *at));
        needed.sort_unstable();
        needed.dedup();
        Self { job, header, needed, tags }
    }

    /// The votes of a row group; a bad row is counted from 0 within it.
    fn read_group(&self, group: &dyn RowGroupReader) -> Result<Result<Batch, (u64, RowError)>, ParquetError> {
        let read = |&at: &usize| read_column(group, at);
        let columns: Vec<Column> = self.needed.par_iter().map(read).collect::<Result<_, _>>()?;
        let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        if columns.iter().any(|column| column.len() != rows) {
            return Err(ParquetError::General("its columns are not of one length".into()));
        }
        let units = self.needed.iter().map(|&at| time_unit(group, at)).collect();
        Ok(Group { plan: self, columns, units, rows }.into_batch())
    }
}

fn tag_columns(names: &[&str]) -> Vec<(usize, &'static str)> {
    let path = |tag: &super::batch::Tag| match tag.path {
        Some((outer, inner)) => format!("category_tag.{outer}.{inner}"),
        None => "is_code".to_owned(),
    };
    let place = |tag: &super::batch::Tag| {
        let path = path(tag);
        Some((names.iter().position(|name| *name == path)?, tag.name))
    };
    TAGS.iter().filter_map(place).collect()
}

/// The columns of one row group.
struct Group<'g> {
    plan: &'g Plan<'g>,
    columns: Vec<Column>,
    /// Seconds in one unit of each column that says so itself.
    units: Vec<Option<f64>>,
    rows: usize,
}

impl Group<'_> {
    fn column(&self, at: usize) -> Option<&Column> {
        self.plan.needed.binary_search(&at).ok().map(|place| &self.columns[place])
    }

    fn of(&self, field: Field) -> Option<&Column> {
        self.column(self.plan.header.one(field)?.at)
    }

    fn texts(&self, field: Field) -> Option<Cow<'_, Texts>> {
        self.of(field).map(Column::texts)
    }

    fn into_batch(self) -> Result<Batch, (u64, RowError)> {
        let mut batch = Batch::new(self.plan.job.wanted, self.plan.header.timed);
        batch.rows = self.rows as u64;
        let kept = self.votes(&mut batch)?;
        self.details(&mut batch, &kept).map_err(|(row, reason)| (row as u64, reason))?;
        Ok(batch)
    }

    /// Models, outcomes and times; returns which rows they are of.
    fn votes(&self, batch: &mut Batch) -> Result<Vec<u32>, (u64, RowError)> {
        let (Some(a), Some(b)) = (self.texts(Field::ModelA), self.texts(Field::ModelB)) else { return Ok(Vec::new()) };
        let winners = Winners::of(self);
        let times = self.times();
        let exclusions = Exclusions::of(self);
        let mut models = [Models::new(&a), Models::new(&b)];
        let mut kept = Vec::with_capacity(self.rows);
        batch.log.a.reserve_exact(self.rows);
        batch.log.b.reserve_exact(self.rows);
        batch.log.outcomes.reserve_exact(self.rows);
        for row in 0..self.rows {
            let vote = (|| {
                let [first, second] = &mut models;
                let a = first.position(row, &mut batch.log).ok_or_else(|| self.unnamed(Field::ModelA))?;
                let b = second.position(row, &mut batch.log).ok_or_else(|| self.unnamed(Field::ModelB))?;
                if a == b {
                    return Err(SelfPlay(batch.log.models.as_slice()[a as usize].clone()).into());
                }
                let outcome = winners
                    .outcome(row, || [a, b].map(|model| batch.log.models.as_slice()[model as usize].as_str()))?;
                let seconds = times.as_ref().map(|times| times.at(row, self)).transpose()?;
                Ok((a, b, outcome, seconds))
            })();
            match vote {
                Ok((a, b, outcome, seconds)) => match exclusions.rule(row) {
                    Some(rule) => batch.exclude(rule),
                    None => {
                        batch.log.a.push(a);
                        batch.log.b.push(b);
                        batch.log.outcomes.push(outcome);
                        if let (Some(column), Some(seconds)) = (&mut batch.log.seconds, seconds) {
                            column.push(seconds);
                        }
                        kept.push(u32::try_from(row).unwrap_or(u32::MAX));
                    }
                },
                Err(reason) if self.plan.job.options.skip_bad => batch.exclude(RowError::kind(&reason)),
                Err(reason) => return Err((row as u64, reason)),
            }
        }
        Ok(kept)
    }

    fn unnamed(&self, field: Field) -> RowError {
        RowError::NoModel(self.plan.header.one(field).map_or_else(String::new, |column| column.name.clone()))
    }

    fn times(&self) -> Option<Times<'_>> {
        let field = if self.of(Field::Time).is_some() { Field::Time } else { Field::Millis };
        let column = self.plan.header.one(field)?;
        let place = self.plan.needed.binary_search(&column.at).ok()?;
        let millis = (field == Field::Millis).then_some(0.001);
        Some(match &self.columns[place] {
            Column::Numbers(numbers) => Times::Numbers(numbers, self.units[place].or(millis)),
            Column::Texts(texts) => Times::Texts(texts, texts.names.iter().map(|text| parse_seconds(text)).collect()),
        })
    }

    /// Everything beside, for the rows that are kept.
    fn details(&self, batch: &mut Batch, kept: &[u32]) -> Result<(), (usize, RowError)> {
        let Batch { log, seen, .. } = batch;
        for (field, labels, seen) in [
            (Field::Voter, &mut log.voters, &mut seen.voters),
            (Field::Language, &mut log.languages, &mut seen.languages),
            (Field::Category, &mut log.categories, &mut seen.categories),
            (Field::Intent, &mut log.intents, &mut seen.intents),
        ] {
            let Some(labels) = labels else { continue };
            let texts = match self.texts(field) {
                None if field == Field::Category => self.tags().map(Cow::Owned),
                texts => texts,
            };
            *labels = texts.as_ref().map_or_else(|| empty(kept.len()), |texts| pick(texts, kept));
            *seen = !labels.names.as_slice().is_empty();
        }
        let numbers = |field| self.of(field).map(|column| column.numbers());
        if let Some(column) = &mut log.seconds
            && !self.plan.header.timed
        {
            *column = vec![f64::NAN; kept.len()];
        }
        seen.seconds = self.plan.header.timed;
        if let Some(column) = &mut log.turns {
            let turns = numbers(Field::Turn);
            seen.turns = turns.is_some();
            *column = kept.iter().map(|&row| counted(turns.as_deref(), row, 1)).collect();
        }
        if let Some(column) = &mut log.prompt_tokens {
            let tokens = numbers(Field::PromptTokens);
            seen.prompt_tokens = tokens.is_some();
            *column = kept.iter().map(|&row| counted(tokens.as_deref(), row, 0)).collect();
        }
        if let Some(column) = &mut log.pair_probabilities {
            let chances = numbers(Field::PairProbability);
            seen.pair_probabilities = chances.is_some();
            *column =
                kept.iter().map(|&row| chances.as_ref().map_or(f64::NAN, |chances| chances[row as usize])).collect();
        }
        if let Some(style) = &mut log.style {
            for column in style.features_mut() {
                *column = vec![[0; 2]; kept.len()];
            }
            for &(at, feature, side) in &self.plan.header.style {
                let numbers = self.column(at).map(Column::numbers);
                let numbers = numbers.ok_or((0, RowError::Malformed(STYLE_NAMES[feature].into())))?;
                for (pair, &row) in style.features_mut()[feature].iter_mut().zip(kept) {
                    pair[side] += counted(Some(&numbers), row, 0);
                }
                seen.style = true;
            }
        }
        Ok(())
    }

    /// LMArena's tags, joined by commas.
    fn tags(&self) -> Option<Texts> {
        let flags: Vec<_> =
            self.plan.tags.iter().filter_map(|(at, name)| Some((self.column(*at)?.numbers(), *name))).collect();
        if flags.is_empty() {
            return None;
        }
        let mut texts = Texts::default();
        for row in 0..self.rows {
            let set = flags.iter().filter(|(flags, _)| flags[row] > 0.0).map(|(_, name)| *name);
            let joined = set.collect::<Vec<_>>().join(",");
            texts.push(Some(&joined).filter(|text| !text.is_empty()).map(String::as_str));
        }
        Some(texts)
    }
}

fn empty(rows: usize) -> Labels {
    Labels { rows: vec![Labels::NONE; rows], ..Labels::default() }
}

/// The texts of the kept rows, with the names in the order in which they come.
fn pick(texts: &Texts, kept: &[u32]) -> Labels {
    let mut labels = Labels::default();
    let mut places = vec![Labels::NONE; texts.names.len()];
    labels.rows.reserve_exact(kept.len());
    for &row in kept {
        let text = texts.rows[row as usize];
        let place = match text {
            Texts::NONE => Labels::NONE,
            text => {
                let place = &mut places[text as usize];
                if *place == Labels::NONE && !texts.names[text as usize].is_empty() {
                    *place = labels.names.position(&texts.names[text as usize]);
                }
                *place
            }
        };
        labels.rows.push(place);
    }
    labels
}

fn counted(numbers: Option<&[f64]>, row: u32, missing: u32) -> u32 {
    numbers.map(|numbers| numbers[row as usize]).filter(|number| number.is_finite()).map_or(missing, count)
}

/// A column of model names, and where each of them stands in the log.
struct Models<'m> {
    texts: &'m Texts,
    places: Vec<u32>,
}

impl<'m> Models<'m> {
    fn new(texts: &'m Texts) -> Self {
        Self { texts, places: vec![Labels::NONE; texts.names.len()] }
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

/// The columns that say who won.
struct Winners<'w> {
    words: Option<(Cow<'w, Texts>, Vec<Option<Outcome>>)>,
    flags: [Option<Cow<'w, [f64]>>; 3],
    both_equal: Option<Cow<'w, [f64]>>,
}

impl<'w> Winners<'w> {
    fn of(group: &'w Group<'_>) -> Self {
        let numbers = |field| group.of(field).map(Column::numbers);
        let words = group.texts(Field::Winner).map(|texts| {
            let outcomes = texts.names.iter().map(|text| parse_word(text)).collect();
            (texts, outcomes)
        });
        Self {
            words,
            flags: [Field::WinnerA, Field::WinnerB, Field::WinnerTie].map(numbers),
            both_equal: numbers(Field::BothEqual),
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
    /// Numbers, with the seconds in one unit where that is known.
    Numbers(&'t [f64], Option<f64>),
    /// Texts, with what each of them is in seconds.
    Texts(&'t Texts, Vec<Option<f64>>),
}

impl Times<'_> {
    fn at(&self, row: usize, group: &Group<'_>) -> Result<f64, RowError> {
        let (seconds, text) = match self {
            Self::Numbers(numbers, unit) => {
                let number = Some(numbers[row]).filter(|number| number.is_finite());
                (number.map(|number| unit.map_or_else(|| as_seconds(number), |unit| number * unit)), "")
            }
            Self::Texts(texts, seconds) => {
                let at = texts.rows[row] as usize;
                (seconds.get(at).copied().flatten(), texts.names.get(at).map_or("", String::as_str))
            }
        };
        let column = || group.plan.header.one(Field::Time).or_else(|| group.plan.header.one(Field::Millis));
        let name = || column().map_or_else(String::new, |column| column.name.clone());
        seconds.ok_or_else(|| RowError::Time { column: name(), text: shortened(text) })
    }
}

/// The columns that keep votes out of the rating.
struct Exclusions<'e> {
    rated: Option<Cow<'e, [f64]>>,
    rules: Option<Cow<'e, Texts>>,
    anonymous: Option<Cow<'e, [f64]>>,
}

impl<'e> Exclusions<'e> {
    fn of(group: &'e Group<'_>) -> Self {
        Self {
            rated: group.of(Field::Rated).map(Column::numbers),
            rules: group.texts(Field::Exclusion),
            anonymous: group.of(Field::Anonymous).map(Column::numbers),
        }
    }

    fn rule(&self, row: usize) -> Option<&str> {
        let says_no = |flags: &Option<Cow<'_, [f64]>>| flags.as_ref().is_some_and(|flags| flags[row] == 0.0);
        if says_no(&self.rated) {
            let rule = self.rules.as_ref().and_then(|rules| rules.names.get(rules.rows[row] as usize));
            return Some(rule.filter(|rule| !rule.is_empty()).map_or(UNRATED, String::as_str));
        }
        says_no(&self.anonymous).then_some(NAMED_MODE)
    }
}
