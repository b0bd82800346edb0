//! Turns the columns of a row group into a batch of votes.

use std::borrow::Cow;

use rayon::prelude::*;

use super::super::batch::{STYLE_NAMES, VoteBatch, add_count, count, known_on_both_sides};
use super::super::column_names::{Field, TIMINGS};
use super::super::error::RowError;
use super::column_reader::ParquetColumn;
use super::group::RowGroup;
use super::rows::{ParquetRows, RowContent};
use super::texts::Texts;
use crate::domain::rating::votes::vote_log::{ColumnSet, Labels, ReplyTiming, VoteLog};

/// Minimum number of names looked up per thread.
const MIN_NAMES_PER_THREAD: usize = 1_000;

impl RowGroup<'_> {
    /// Converts the rows to votes; an error has the bad row's number, from 0.
    pub(super) fn into_votes(self) -> Result<GroupVotes, (u64, RowError)> {
        let mut batch = VoteBatch::new(self.plan.job.wanted, self.plan.header.timed);
        batch.rows = self.rows as u64;
        let GroupRows { kept, excluded } = self.votes(&mut batch)?;
        self.details(&mut batch.log, &mut batch.seen, &kept);
        self.timings(&mut batch, &kept);
        self.style(&mut batch, &kept)?;
        let labels = self.labels(&batch.log, &kept);
        let excluded_labels = batch.log.excluded_votes.as_mut().map(|votes| {
            self.details(&mut votes.columns, &mut ColumnSet::default(), &excluded);
            self.labels(&votes.columns, &excluded)
        });
        Ok(GroupVotes { batch, labels, excluded_labels })
    }

    /// Adds models, outcomes and times; returns the rows of votes and of excluded votes.
    fn votes(&self, batch: &mut VoteBatch) -> Result<GroupRows, (u64, RowError)> {
        let Some(mut rows) = ParquetRows::new(self) else { return Ok(GroupRows::default()) };
        let (mut kept, mut excluded) = (Vec::with_capacity(self.rows), Vec::new());
        batch.log.a.reserve_exact(self.rows);
        batch.log.b.reserve_exact(self.rows);
        batch.log.outcomes.reserve_exact(self.rows);
        for row in 0..self.rows {
            match rows.read(row, &mut batch.log) {
                Ok(RowContent::Vote { a, b, outcome, seconds }) => {
                    batch.log.a.push(a);
                    batch.log.b.push(b);
                    batch.log.outcomes.push(outcome);
                    if let (Some(column), Some(seconds)) = (&mut batch.log.seconds, seconds) {
                        column.push(seconds);
                    }
                    kept.push(u32::try_from(row).unwrap_or(u32::MAX));
                }
                Ok(RowContent::Excluded { rule, seconds }) => {
                    batch.log.exclude_vote(rule);
                    let columns = batch.log.excluded_votes.as_mut().map(|votes| &mut votes.columns);
                    if let (Some(column), Some(seconds)) = (columns.and_then(|to| to.seconds.as_mut()), seconds) {
                        column.push(seconds);
                    }
                    excluded.push(u32::try_from(row).unwrap_or(u32::MAX));
                }
                Ok(RowContent::LeftOut(rule)) => batch.exclude(rule),
                Err(reason) if self.plan.job.options.skip_bad => batch.exclude(RowError::kind(&reason)),
                Err(reason) => return Err((row as u64, reason)),
            }
        }
        Ok(GroupRows { kept, excluded })
    }

    /// Wanted labels of the kept rows.
    fn labels(&self, log: &VoteLog, kept: &[u32]) -> [Option<Texts>; 8] {
        let fields = [
            (Field::Voter, log.voters.is_some()),
            (Field::Language, log.languages.is_some()),
            (Field::Category, log.categories.is_some()),
            (Field::Intent, log.intents.is_some()),
            (Field::PairingPolicy, log.pairing_policies.is_some()),
            (Field::BattleId, log.battle_ids.is_some()),
            (Field::ReasonsA, log.reasons.is_some()),
            (Field::ReasonsB, log.reasons.is_some()),
        ];
        fields.map(|(field, wanted)| {
            let texts = || match self.texts(field) {
                None if field == Field::Category => self.tags().map(Cow::Owned),
                texts => texts,
            };
            wanted.then(|| {
                texts().map_or_else(|| missing_texts(kept.len()), |texts| select_rows(texts.into_owned(), kept))
            })
        })
    }

    /// Adds the other numbers of the kept rows.
    fn details(&self, log: &mut VoteLog, seen: &mut ColumnSet, kept: &[u32]) {
        let timed = self.plan.header.timed;
        if let Some(column) = log.seconds.as_mut().filter(|_| !timed) {
            *column = vec![f64::NAN; kept.len()];
        }
        seen.seconds = timed;
        for (field, missing, column, seen) in [
            (Field::Turn, 1, &mut log.turns, &mut seen.turns),
            (Field::PromptTokens, 0, &mut log.prompt_tokens, &mut seen.prompt_tokens),
            (Field::Satisfaction, 0, &mut log.satisfactions, &mut seen.satisfactions),
        ] {
            let Some(column) = column else { continue };
            let numbers = self.numbers(field);
            *seen = numbers.is_some();
            *column = kept.iter().map(|&row| count_or_missing(numbers.as_deref(), row, missing)).collect();
        }
        if let Some(column) = &mut log.pair_probabilities {
            let chances = self.numbers(Field::PairProbability);
            seen.pair_probabilities = chances.is_some();
            let chance = |&row: &u32| chances.as_ref().map_or(f64::NAN, |chances| chances[row as usize]);
            *column = kept.iter().map(chance).collect();
        }
    }

    /// Adds the reply times of the kept rows.
    fn timings(&self, batch: &mut VoteBatch, kept: &[u32]) {
        let Some(column) = &mut batch.log.timings else { return };
        let numbers = TIMINGS.map(|side| side.map(|field| self.numbers(field)));
        let at = |numbers: &Option<Cow<'_, [f64]>>, row: u32| {
            numbers.as_ref().map(|numbers| numbers[row as usize]).filter(|number| number.is_finite()).map(count)
        };
        let timing = |[first_token, duration]: &[Option<Cow<'_, [f64]>>; 2], row| ReplyTiming {
            first_token_ms: at(first_token, row),
            duration_ms: at(duration, row),
        };
        *column = kept.iter().map(|&row| numbers.each_ref().map(|side| timing(side, row))).collect();
        batch.seen.timings = numbers.iter().flatten().any(Option::is_some);
    }

    /// Adds the style counts of the kept rows.
    fn style(&self, batch: &mut VoteBatch, kept: &[u32]) -> Result<(), (u64, RowError)> {
        let Some(style) = &mut batch.log.style else { return Ok(()) };
        let mut counts = vec![[[None; 2]; 4]; kept.len()];
        for &(at, feature, side) in &self.plan.header.style {
            let numbers = self.column(at).map(ParquetColumn::numbers);
            let numbers = numbers.ok_or_else(|| (0, RowError::Malformed(STYLE_NAMES[feature].into())))?;
            for (counts, &row) in counts.iter_mut().zip(kept) {
                if let Some(number) = Some(numbers[row as usize]).filter(|number| number.is_finite()) {
                    let added = add_count(&mut counts[feature][side], number, STYLE_NAMES[feature]);
                    added.map_err(|reason| (u64::from(row), reason))?;
                }
            }
            batch.seen.style = true;
        }
        counts.into_iter().for_each(|counts| style.push(counts.map(known_on_both_sides)));
        Ok(())
    }

    /// LMArena's tags, joined by commas.
    fn tags(&self) -> Option<Texts> {
        let flags: Vec<_> =
            self.plan.tags.iter().filter_map(|(at, name)| Some((self.column(*at)?.flags(), *name))).collect();
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

/// Row numbers of a row group.
#[derive(Default)]
struct GroupRows {
    /// Rows of votes that count.
    kept: Vec<u32>,
    /// Rows of votes that a rule excludes.
    excluded: Vec<u32>,
}

/// Votes of a row group. Texts keep the file's dictionary indices until they are appended to the earlier groups: most voters are known by
/// then, and their names are not stored again.
pub(super) struct GroupVotes {
    batch: VoteBatch,
    /// Voters, languages, categories, intents, pairing policies and battle ids of the votes, and the reasons for both sides.
    labels: [Option<Texts>; 8],
    /// Labels of the excluded votes, if wanted.
    excluded_labels: Option<[Option<Texts>; 8]>,
}

impl GroupVotes {
    /// Appends the votes to those of the earlier groups.
    pub(super) fn append_to(self, votes: &mut VoteBatch) {
        votes.append(&self.batch);
        add_labels(&mut votes.log, &mut votes.seen, &self.labels);
        if let (Some(excluded), Some(labels)) = (&mut votes.log.excluded_votes, &self.excluded_labels) {
            add_labels(&mut excluded.columns, &mut ColumnSet::default(), labels);
        }
    }
}

/// Adds the texts of the votes of a row group.
fn add_labels(log: &mut VoteLog, seen: &mut ColumnSet, labels: &[Option<Texts>; 8]) {
    let columns = [
        (&mut log.voters, &mut seen.voters),
        (&mut log.languages, &mut seen.languages),
        (&mut log.categories, &mut seen.categories),
        (&mut log.intents, &mut seen.intents),
        (&mut log.pairing_policies, &mut seen.pairing_policies),
        (&mut log.battle_ids, &mut seen.battle_ids),
    ];
    let [beside @ .., reasons_a, reasons_b] = labels;
    for ((labels, seen), texts) in columns.into_iter().zip(beside) {
        if let (Some(labels), Some(texts)) = (labels, texts) {
            *seen |= add(labels, texts);
        }
    }
    for (labels, texts) in log.reasons.iter_mut().flatten().zip([reasons_a, reasons_b]) {
        seen.reasons |= texts.as_ref().is_some_and(|texts| add(labels, texts));
    }
}

fn missing_texts(rows: usize) -> Texts {
    Texts { rows: vec![Texts::NONE; rows], ..Texts::default() }
}

/// The texts of the kept rows.
fn select_rows(texts: Texts, kept: &[u32]) -> Texts {
    if kept.len() == texts.rows.len() {
        return texts;
    }
    let rows = kept.iter().map(|&row| texts.rows[row as usize]).collect();
    Texts { rows, ..texts }
}

/// Adds the text of each vote, with new names in order of appearance; returns whether there is any.
fn add(labels: &mut Labels, texts: &Texts) -> bool {
    // Most names are known from earlier groups, and lookups dominate the time.
    let known = |place: usize| labels.names.find(&texts.names[place]).unwrap_or(Labels::NONE);
    let mut places: Vec<u32> =
        (0..texts.names.len()).into_par_iter().with_min_len(MIN_NAMES_PER_THREAD).map(known).collect();
    labels.rows.reserve(texts.rows.len());
    for &text in &texts.rows {
        let place = places.get_mut(text as usize).map_or(Labels::NONE, |place| {
            if *place == Labels::NONE && !texts.names[text as usize].is_empty() {
                *place = labels.names.position(&texts.names[text as usize]);
            }
            *place
        });
        labels.rows.push(place);
    }
    places.iter().any(|place| *place != Labels::NONE)
}

fn count_or_missing(numbers: Option<&[f64]>, row: u32, missing: u32) -> u32 {
    numbers.map(|numbers| numbers[row as usize]).filter(|number| number.is_finite()).map_or(missing, count)
}
