//! Comparisons: the rated votes as indexed pairs, in log order and as counts a pair.
//!
//! [`ComparisonSet`] takes votes one at a time, so that a running arena records new ones and refits without reading the
//! log again. [`ComparisonSet::tally`] is what the fits read: models in the order of their names and pairs in the order
//! of their models, so that neither the order of the votes nor the side on which a model stood can change one bit of a
//! fit. Elo, which depends on the order, reads [`ComparisonSet::log`].

use std::collections::{BTreeMap, HashMap};

use crate::battle::Outcome;

/// One vote between two models, by their positions in [`ComparisonSet::models`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Comparison {
    /// The model on side A.
    pub a: u32,
    /// The model on side B.
    pub b: u32,
    /// What the person said.
    pub outcome: Outcome,
}

/// A vote of a model against itself: it says nothing about any model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("model {0:?} is compared with itself: a vote needs two different models")]
pub struct SelfPlay(pub String);

/// All rated votes so far.
#[derive(Debug, Clone, Default)]
pub struct ComparisonSet {
    models: Vec<String>,
    index: HashMap<String, u32>,
    log: Vec<Comparison>,
    pairs: HashMap<(u32, u32), PairCounts>,
}

/// Votes of one pair; `first` is the model with the lower position.
#[derive(Debug, Clone, Copy, Default)]
struct PairCounts {
    first_wins: u32,
    second_wins: u32,
    ties: u32,
    both_bad: u32,
}

impl ComparisonSet {
    /// No votes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one vote. A model's name is kept exactly as it is given.
    ///
    /// # Errors
    /// [`SelfPlay`] where `a` and `b` are the same; nothing is recorded then.
    pub fn record(&mut self, a: &str, b: &str, outcome: Outcome) -> Result<(), SelfPlay> {
        if a == b {
            return Err(SelfPlay(a.to_owned()));
        }
        let (a, b) = (self.position(a), self.position(b));
        self.log.push(Comparison { a, b, outcome });
        self.pairs.entry((a.min(b), a.max(b))).or_default().add(outcome, a < b);
        Ok(())
    }

    /// The models in the order in which they first appeared.
    #[must_use]
    pub fn models(&self) -> &[String] {
        &self.models
    }

    /// A model's position in [`ComparisonSet::models`].
    #[must_use]
    pub fn index_of(&self, model: &str) -> Option<usize> {
        self.index.get(model).map(|&position| position as usize)
    }

    /// The votes in the order in which they were recorded.
    #[must_use]
    pub fn log(&self) -> &[Comparison] {
        &self.log
    }

    /// Number of votes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.log.len()
    }

    /// Whether there is no vote.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.log.is_empty()
    }

    /// The votes that `scoring` counts, added up by pair and by model.
    #[must_use]
    pub fn tally(&self, scoring: Scoring) -> Tally {
        let mut by_name: Vec<usize> = (0..self.models.len()).collect();
        by_name.sort_by(|&x, &y| self.models[x].cmp(&self.models[y]));
        let mut counts = vec![ModelCounts::default(); self.models.len()];
        let mut dropped = BTreeMap::new();
        let mut counted = Vec::with_capacity(self.pairs.len());
        for (&(first, second), pair) in &self.pairs {
            let kept = pair.counted(scoring, &mut dropped);
            counts[first as usize].add(kept.first_wins, kept.second_wins, kept);
            counts[second as usize].add(kept.second_wins, kept.first_wins, kept);
            counted.push((first as usize, second as usize, kept));
        }
        Tally::of(self, &by_name, &counts, counted, dropped)
    }

    fn position(&mut self, model: &str) -> u32 {
        if let Some(&known) = self.index.get(model) {
            return known;
        }
        let next = u32::try_from(self.models.len()).expect("memory ends long before 2^32 model names");
        self.models.push(model.to_owned());
        self.index.insert(model.to_owned(), next);
        next
    }
}

impl PairCounts {
    fn add(&mut self, outcome: Outcome, first_is_a: bool) {
        match outcome {
            Outcome::AWins if first_is_a => self.first_wins += 1,
            Outcome::BWins if !first_is_a => self.first_wins += 1,
            Outcome::AWins | Outcome::BWins => self.second_wins += 1,
            Outcome::Tie => self.ties += 1,
            Outcome::BothBad => self.both_bad += 1,
        }
    }

    /// These counts without what `scoring` drops; what is dropped is added to `dropped` by name.
    fn counted(self, scoring: Scoring, dropped: &mut BTreeMap<&'static str, u64>) -> Self {
        let mut kept = self;
        for (rule, count, outcome) in
            [(scoring.ties, &mut kept.ties, Outcome::Tie), (scoring.both_bad, &mut kept.both_bad, Outcome::BothBad)]
        {
            if rule == TieRule::Drop && *count > 0 {
                *dropped.entry(outcome.as_str()).or_default() += u64::from(std::mem::take(count));
            }
        }
        kept
    }

    fn total(self) -> u32 {
        self.first_wins + self.second_wins + self.ties + self.both_bad
    }
}

/// What a vote for neither side counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TieRule {
    /// Half a win to each side.
    #[default]
    Half,
    /// Nothing: the vote is left out of the fit and of every count.
    Drop,
}

/// A text that is no [`TieRule`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected half or drop")]
pub struct UnknownTieRule;

impl std::str::FromStr for TieRule {
    type Err = UnknownTieRule;

    fn from_str(text: &str) -> Result<Self, UnknownTieRule> {
        match text {
            "half" => Ok(Self::Half),
            "drop" => Ok(Self::Drop),
            _ => Err(UnknownTieRule),
        }
    }
}

/// How outcomes become points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scoring {
    /// For ties.
    pub ties: TieRule,
    /// For "both bad".
    pub both_bad: TieRule,
}

impl Scoring {
    /// Points of side A, or `None` where the vote does not count.
    #[must_use]
    pub fn points_a(self, outcome: Outcome) -> Option<f64> {
        let dropped = match outcome {
            Outcome::Tie => self.ties == TieRule::Drop,
            Outcome::BothBad => self.both_bad == TieRule::Drop,
            Outcome::AWins | Outcome::BWins => false,
        };
        (!dropped).then(|| outcome.points_a())
    }
}

/// The counted votes, added up. Models without a counted vote are not in it.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// The models in the order of their names.
    pub models: Vec<TalliedModel>,
    /// The pairs that met, ordered by their models; `first < second`.
    pub pairs: Vec<PairTally>,
    /// Number of counted votes.
    pub votes: u64,
    /// Votes left out by the scoring, by outcome.
    pub dropped: BTreeMap<&'static str, u64>,
}

/// One model of a [`Tally`].
#[derive(Debug, Clone)]
pub struct TalliedModel {
    /// Its name.
    pub name: String,
    /// Its position in [`ComparisonSet::models`].
    pub index: usize,
    /// Its counted votes.
    pub counts: ModelCounts,
}

/// Counted votes of one model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelCounts {
    /// Votes in which it was preferred.
    pub wins: u64,
    /// Votes in which the other model was preferred.
    pub losses: u64,
    /// Ties.
    pub ties: u64,
    /// Votes for "both bad".
    pub both_bad: u64,
}

impl ModelCounts {
    /// All counted votes.
    #[must_use]
    pub fn battles(self) -> u64 {
        self.wins + self.losses + self.ties + self.both_bad
    }

    fn add(&mut self, wins: u32, losses: u32, pair: PairCounts) {
        self.wins += u64::from(wins);
        self.losses += u64::from(losses);
        self.ties += u64::from(pair.ties);
        self.both_bad += u64::from(pair.both_bad);
    }
}

/// Counted votes of one pair of a [`Tally`], by positions in [`Tally::models`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairTally {
    /// The model whose name comes first.
    pub first: usize,
    /// The other one.
    pub second: usize,
    /// Votes for the first.
    pub first_wins: f64,
    /// Votes for the second.
    pub second_wins: f64,
    /// Votes that count half to each.
    pub halves: f64,
}

impl PairTally {
    /// Wins of the first, a half for each vote for neither.
    #[must_use]
    pub fn points_first(&self) -> f64 {
        self.first_wins + 0.5 * self.halves
    }

    /// Wins of the second, a half for each vote for neither.
    #[must_use]
    pub fn points_second(&self) -> f64 {
        self.second_wins + 0.5 * self.halves
    }
}

impl Tally {
    fn of(
        set: &ComparisonSet,
        by_name: &[usize],
        counts: &[ModelCounts],
        counted: Vec<(usize, usize, PairCounts)>,
        dropped: BTreeMap<&'static str, u64>,
    ) -> Self {
        let mut place = vec![0; counts.len()];
        let mut models = Vec::with_capacity(counts.len());
        for &index in by_name.iter().filter(|&&index| counts[index].battles() > 0) {
            place[index] = models.len();
            models.push(TalliedModel { name: set.models[index].clone(), index, counts: counts[index] });
        }
        let met = counted.into_iter().filter(|(_, _, pair)| pair.total() > 0);
        let mut pairs: Vec<PairTally> = met.map(|(x, y, pair)| pair_tally(place[x], place[y], pair)).collect();
        pairs.sort_unstable_by_key(|pair| (pair.first, pair.second));
        let votes = models.iter().map(|model| model.counts.battles()).sum::<u64>() / 2;
        Self { models, pairs, votes, dropped }
    }
}

/// The counts of the models at `x` and `y`, turned so that the lower position comes first.
fn pair_tally(x: usize, y: usize, pair: PairCounts) -> PairTally {
    let (x_wins, y_wins) = (f64::from(pair.first_wins), f64::from(pair.second_wins));
    let halves = f64::from(pair.ties) + f64::from(pair.both_bad);
    if x < y {
        PairTally { first: x, second: y, first_wins: x_wins, second_wins: y_wins, halves }
    } else {
        PairTally { first: y, second: x, first_wins: y_wins, second_wins: x_wins, halves }
    }
}
