//! In-memory vote log in columns.
//!
//! A file or the database is read into a [`VoteLog`] once; fits, slices and correlations read from it. A column outside
//! the [`ColumnSet`] is not read and is `None`. Names are stored once ([`InternedTexts`]) and rows hold their positions, so ten
//! million votes fit into memory.

use rayon::slice::ParallelSliceMut;

use super::super::style_columns::{pick, retain};
use super::interned_texts::{CompactedNames, picked};
use crate::battle::Outcome;

pub use super::super::style_columns::{FeatureCounts, StyleColumns};
pub use super::interned_texts::{InternedTexts, Labels};

/// Number of voters that the votes of a log name: none, one or several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VotersKnown {
    /// No vote names a voter.
    None,
    /// One voter cast all votes.
    One,
    /// At least two voters, or one and votes without a voter.
    Several,
}

/// Times of the last reply of one side, in milliseconds from the request; `None` where unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReplyTiming {
    /// Time to the first token.
    pub first_token_ms: Option<u32>,
    /// Time to the end of the reply.
    pub duration_ms: Option<u32>,
}

/// Columns to read besides models and outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ColumnSet {
    /// Voters.
    pub voters: bool,
    /// Languages.
    pub languages: bool,
    /// Categories.
    pub categories: bool,
    /// Intents.
    pub intents: bool,
    /// Number of turns.
    pub turns: bool,
    /// Prompt length in tokens.
    pub prompt_tokens: bool,
    /// Satisfaction of the visitor.
    pub satisfactions: bool,
    /// Reasons of the visitor.
    pub reasons: bool,
    /// Time of the vote. The log is sorted by time even without this column, if the source has times.
    pub seconds: bool,
    /// Style counts.
    pub style: bool,
    /// Pair probabilities.
    pub pair_probabilities: bool,
    /// Times of the replies.
    pub timings: bool,
    /// Pairing policies, which determine the source of the votes.
    pub pairing_policies: bool,
    /// Ids of the battles. Only files have this column.
    pub battle_ids: bool,
    /// Single excluded votes, to count those of a slice.
    pub excluded_votes: bool,
}

impl ColumnSet {
    /// Returns those of the columns that slices select by.
    fn of_slices(self) -> Self {
        Self {
            languages: self.languages,
            categories: self.categories,
            intents: self.intents,
            turns: self.turns,
            prompt_tokens: self.prompt_tokens,
            seconds: self.seconds,
            pairing_policies: self.pairing_policies,
            ..Self::default()
        }
    }
}

/// Single excluded votes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExcludedVotes {
    /// Exclusion rule of each vote.
    pub rules: Labels,
    /// Columns that slices select by. Models and outcomes may be missing.
    pub columns: VoteLog,
}

/// Votes in log order. Every present column has one entry for each vote.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VoteLog {
    /// The models.
    pub models: InternedTexts,
    /// The model on side A, by position in `models`.
    pub a: Vec<u32>,
    /// The model on side B, by position in `models`.
    pub b: Vec<u32>,
    /// The votes.
    pub outcomes: Vec<Outcome>,
    /// Voters.
    pub voters: Option<Labels>,
    /// Languages.
    pub languages: Option<Labels>,
    /// Categories.
    pub categories: Option<Labels>,
    /// Intents.
    pub intents: Option<Labels>,
    /// Number of turns; 1 if the source has none.
    pub turns: Option<Vec<u32>>,
    /// Prompt length in tokens.
    pub prompt_tokens: Option<Vec<u32>>,
    /// Satisfaction from 1 to 5; 0 if unknown.
    pub satisfactions: Option<Vec<u32>>,
    /// Reasons for sides A and B, joined by commas.
    pub reasons: Option<[Labels; 2]>,
    /// Unix time of the vote in seconds.
    pub seconds: Option<Vec<f64>>,
    /// Style counts.
    pub style: Option<StyleColumns>,
    /// Probability of the pair at pairing time.
    pub pair_probabilities: Option<Vec<f64>>,
    /// Times of the last replies of sides A and B.
    pub timings: Option<Vec<[ReplyTiming; 2]>>,
    /// Pairing policies; [`VoteSource`](super::slice::VoteSource) lists the sources that they imply.
    pub pairing_policies: Option<Labels>,
    /// Ids of the battles, as in the file.
    pub battle_ids: Option<Labels>,
    /// Number of excluded votes of the source by rule. They are not in the columns.
    pub excluded: std::collections::BTreeMap<String, u64>,
    /// Columns of vote counts per row in the source. They are not read: each row is one vote.
    pub unread_columns: std::collections::BTreeSet<String>,
    /// Single excluded votes, as far as the source has them.
    pub excluded_votes: Option<Box<ExcludedVotes>>,
}

/// Returns the rule under which an excluded vote is counted; `not_rated` where the source names none.
#[must_use]
pub fn exclusion_rule(rule: &str) -> String {
    if rule.is_empty() { "not_rated".to_owned() } else { rule.to_owned() }
}

impl VoteLog {
    /// Creates an empty log with these columns.
    #[must_use]
    pub fn with_columns(columns: ColumnSet) -> Self {
        Self {
            voters: columns.voters.then(Labels::default),
            languages: columns.languages.then(Labels::default),
            categories: columns.categories.then(Labels::default),
            intents: columns.intents.then(Labels::default),
            turns: columns.turns.then(Vec::new),
            prompt_tokens: columns.prompt_tokens.then(Vec::new),
            satisfactions: columns.satisfactions.then(Vec::new),
            reasons: columns.reasons.then(Default::default),
            seconds: columns.seconds.then(Vec::new),
            style: columns.style.then(StyleColumns::default),
            pair_probabilities: columns.pair_probabilities.then(Vec::new),
            timings: columns.timings.then(Vec::new),
            pairing_policies: columns.pairing_policies.then(Labels::default),
            battle_ids: columns.battle_ids.then(Labels::default),
            excluded_votes: columns.excluded_votes.then(|| {
                let columns = Self::with_columns(columns.of_slices());
                Box::new(ExcludedVotes { rules: Labels::default(), columns })
            }),
            ..Self::default()
        }
    }

    /// Counts a vote that a rule excludes.
    pub fn exclude(&mut self, rule: &str) {
        *self.excluded.entry(exclusion_rule(rule)).or_default() += 1;
    }

    /// Counts an excluded vote like [`Self::exclude`]; the caller then adds its entry to the columns of [`Self::excluded_votes`].
    pub fn exclude_vote(&mut self, rule: &str) {
        self.exclude(rule);
        if let Some(excluded) = &mut self.excluded_votes {
            excluded.rules.push(Some(&exclusion_rule(rule)));
        }
    }

    /// Appends another log with the same columns.
    pub fn append(&mut self, other: &Self) {
        let places = self.models.merge(&other.models);
        self.a.extend(other.a.iter().map(|&model| places[model as usize]));
        self.b.extend(other.b.iter().map(|&model| places[model as usize]));
        self.outcomes.extend_from_slice(&other.outcomes);
        for (mine, theirs) in [
            (&mut self.voters, &other.voters),
            (&mut self.languages, &other.languages),
            (&mut self.categories, &other.categories),
            (&mut self.intents, &other.intents),
            (&mut self.pairing_policies, &other.pairing_policies),
            (&mut self.battle_ids, &other.battle_ids),
        ] {
            if let (Some(mine), Some(theirs)) = (mine, theirs) {
                mine.append(theirs);
            }
        }
        if let (Some(mine), Some(theirs)) = (&mut self.reasons, &other.reasons) {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| mine.append(theirs));
        }
        extend(&mut self.turns, &other.turns);
        extend(&mut self.prompt_tokens, &other.prompt_tokens);
        extend(&mut self.satisfactions, &other.satisfactions);
        extend(&mut self.seconds, &other.seconds);
        extend(&mut self.pair_probabilities, &other.pair_probabilities);
        extend(&mut self.timings, &other.timings);
        if let (Some(mine), Some(theirs)) = (&mut self.style, &other.style) {
            mine.append(theirs);
        }
        for (rule, votes) in &other.excluded {
            *self.excluded.entry(rule.clone()).or_default() += votes;
        }
        self.unread_columns.extend(other.unread_columns.iter().cloned());
        if let (Some(mine), Some(theirs)) = (&mut self.excluded_votes, &other.excluded_votes) {
            mine.rules.append(&theirs.rules);
            mine.columns.append(&theirs.columns);
        }
    }

    /// Sorts the votes by time; votes at the same time keep their order. Without times, nothing changes.
    pub fn sort_by_time(&mut self) {
        let Some(seconds) = &self.seconds else { return };
        if seconds.is_sorted_by(|x, y| x.total_cmp(y).is_le()) {
            return;
        }
        let mut order: Vec<(i64, u32)> = (0..).zip(seconds).map(|(row, &time)| (time_key(time), row)).collect();
        order.par_sort_unstable();
        let order: Vec<u32> = order.into_iter().map(|(_, row)| row).collect();
        self.reorder(&order);
    }

    /// Iterates over all label columns.
    fn labels_mut(&mut self) -> impl Iterator<Item = &mut Labels> {
        let labels = [&mut self.voters, &mut self.languages, &mut self.categories, &mut self.intents];
        let beside = [&mut self.pairing_policies, &mut self.battle_ids];
        labels.into_iter().chain(beside).flatten().chain(self.reasons.iter_mut().flatten())
    }

    fn reorder(&mut self, order: &[u32]) {
        pick(&mut self.a, order);
        pick(&mut self.b, order);
        pick(&mut self.outcomes, order);
        self.labels_mut().for_each(|labels| pick(&mut labels.rows, order));
        for counts in [&mut self.turns, &mut self.prompt_tokens, &mut self.satisfactions].into_iter().flatten() {
            pick(counts, order);
        }
        for numbers in [&mut self.seconds, &mut self.pair_probabilities].into_iter().flatten() {
            pick(numbers, order);
        }
        if let Some(timings) = &mut self.timings {
            pick(timings, order);
        }
        if let Some(style) = &mut self.style {
            style.pick(order);
        }
    }

    /// Returns the number of votes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.outcomes.len()
    }

    /// Classifies the number of voters that the votes name.
    #[must_use]
    pub fn voters_known(&self) -> VotersKnown {
        let Some(voters) = &self.voters else { return VotersKnown::None };
        match voters.names.as_slice().len() {
            0 => VotersKnown::None,
            1 if !voters.rows.contains(&Labels::NONE) => VotersKnown::One,
            _ => VotersKnown::Several,
        }
    }

    /// Whether there is no vote.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.outcomes.is_empty()
    }

    /// Adds a vote to the columns that every log has.
    ///
    /// # Errors
    /// [`SelfPlay`] if both sides are the same model; nothing is added then.
    pub fn push(&mut self, a: &str, b: &str, outcome: Outcome) -> Result<(), SelfPlay> {
        if a == b {
            return Err(SelfPlay(a.to_owned()));
        }
        let (a, b) = (self.models.position(a), self.models.position(b));
        self.a.push(a);
        self.b.push(b);
        self.outcomes.push(outcome);
        Ok(())
    }

    /// Copies the models and outcomes of the votes whose entry in `keep` is true, without any other column. Models keep their positions.
    #[must_use]
    pub fn outcomes_picked(&self, keep: &[bool]) -> Self {
        Self {
            models: self.models.clone(),
            a: picked(&self.a, keep),
            b: picked(&self.b, keep),
            outcomes: picked(&self.outcomes, keep),
            excluded: self.excluded.clone(),
            ..Self::default()
        }
    }

    /// Drops names that no vote has and orders the others by their first vote, as if the log had been built from its votes alone.
    pub fn forget_unused_names(&mut self) {
        let mut models = CompactedNames::new(std::mem::take(&mut self.models));
        for (a, b) in self.a.iter_mut().zip(&mut self.b) {
            (*a, *b) = (models.position(*a), models.position(*b));
        }
        self.models = models.names;
        self.labels_mut().for_each(Labels::forget_unused);
    }

    /// Keeps the votes whose entry in `keep` is true. Names without a vote stay.
    pub fn retain(&mut self, keep: &[bool]) {
        retain(&mut self.a, keep);
        retain(&mut self.b, keep);
        retain(&mut self.outcomes, keep);
        self.labels_mut().for_each(|labels| retain(&mut labels.rows, keep));
        let counts = [&mut self.turns, &mut self.prompt_tokens, &mut self.satisfactions];
        counts.into_iter().flatten().for_each(|counts| retain(counts, keep));
        let numbers = [&mut self.seconds, &mut self.pair_probabilities];
        numbers.into_iter().flatten().for_each(|numbers| retain(numbers, keep));
        if let Some(timings) = &mut self.timings {
            retain(timings, keep);
        }
        if let Some(style) = &mut self.style {
            style.retain(keep);
        }
    }
}

fn extend<T: Copy>(mine: &mut Option<Vec<T>>, theirs: &Option<Vec<T>>) {
    if let (Some(mine), Some(theirs)) = (mine, theirs) {
        mine.extend_from_slice(theirs);
    }
}

/// Maps a time to an integer with the order of [`f64::total_cmp`].
fn time_key(seconds: f64) -> i64 {
    let bits = seconds.to_bits().cast_signed();
    bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
}

/// Error of a vote of a model against itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("model {0:?} is compared with itself: a vote needs two different models")]
pub struct SelfPlay(pub String);

#[cfg(test)]
mod tests {
    use super::*;
    use Outcome::{AWins, BWins, BothBad, Tie};

    /// Votes of `x` against `y` at these times.
    fn timed(times: &[f64], outcomes: &[Outcome]) -> VoteLog {
        let mut log = VoteLog::with_columns(ColumnSet {
            seconds: true,
            voters: true,
            style: true,
            timings: true,
            ..ColumnSet::default()
        });
        for (row, (&time, &outcome)) in times.iter().zip(outcomes).enumerate() {
            log.push("x", "y", outcome).unwrap();
            log.seconds.as_mut().unwrap().push(time);
            log.voters.as_mut().unwrap().push(Some(&format!("voter {row}")));
            let timing = ReplyTiming { first_token_ms: u32::try_from(row).ok(), duration_ms: None };
            log.timings.as_mut().unwrap().push([timing, ReplyTiming::default()]);
            log.style.as_mut().unwrap().push([Some([u32::try_from(row).unwrap(), 7]); 4]);
        }
        log
    }

    #[test]
    fn sorting_by_time_reorders_every_column_and_is_stable() {
        let mut log = timed(&[3.0, -2.0, 3.0, 1.5], &[AWins, BWins, Tie, BothBad]);
        log.sort_by_time();
        assert_eq!(log.outcomes, [BWins, BothBad, AWins, Tie]);
        assert_eq!(log.seconds.unwrap(), [-2.0, 1.5, 3.0, 3.0]);
        assert_eq!(log.voters.unwrap().rows, [1, 3, 0, 2]);
        assert_eq!(log.style.unwrap().bold(), [[1, 7], [3, 7], [0, 7], [2, 7]]);
        let first_tokens: Vec<Option<u32>> = log.timings.unwrap().iter().map(|[a, _]| a.first_token_ms).collect();
        assert_eq!(first_tokens, [Some(1), Some(3), Some(0), Some(2)]);
    }

    #[test]
    fn excluded_votes_are_appended_one_by_one() {
        let of = |rules: &[&str]| {
            let columns = ColumnSet { turns: true, voters: true, excluded_votes: true, ..ColumnSet::default() };
            let mut log = VoteLog::with_columns(columns);
            for rule in rules {
                log.exclude_vote(rule);
                log.excluded_votes.as_mut().unwrap().columns.turns.as_mut().unwrap().push(7);
            }
            log
        };
        let mut log = of(&["admin", ""]);
        log.append(&of(&["", "taken_back"]));
        let excluded = *log.excluded_votes.unwrap();
        assert_eq!(excluded.rules.names.as_slice(), ["admin", "not_rated", "taken_back"]);
        assert_eq!((excluded.rules.rows, excluded.columns.turns), (vec![0, 1, 1, 2], Some(vec![7; 4])));
        assert!(excluded.columns.voters.is_none(), "no slice selects by voters");
        assert_eq!(log.excluded["not_rated"], 2);
    }

    #[test]
    fn appending_a_log_continues_the_name_positions() {
        let mut log = timed(&[1.0], &[AWins]);
        let mut other =
            VoteLog::with_columns(ColumnSet { seconds: true, voters: true, style: true, ..ColumnSet::default() });
        other.push("z", "x", Tie).unwrap();
        other.seconds.as_mut().unwrap().push(0.5);
        other.voters.as_mut().unwrap().push(None);
        other.excluded.insert("admin".into(), 2);
        log.append(&other);
        log.append(&other);
        assert_eq!(log.models.as_slice(), ["x", "y", "z"]);
        assert_eq!((log.a, log.b), (vec![0, 2, 2], vec![1, 0, 0]));
        assert_eq!(log.seconds.unwrap(), [1.0, 0.5, 0.5]);
        assert_eq!(log.voters.unwrap().rows, [0, Labels::NONE, Labels::NONE]);
        assert_eq!(log.excluded["admin"], 4);
    }
}
