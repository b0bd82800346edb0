//! The vote log in memory: one vote a row, kept as columns.
//!
//! What a file or the database holds is read into a [`VoteLog`] once; fits, slices, styles and studies read from it. A
//! column that nobody asked for ([`Wanted`]) is not read and is `None`. Names are kept once ([`Names`]) and rows hold
//! their positions, so that ten million votes fit into memory.

use std::collections::HashMap;

use super::comparison::SelfPlay;
use crate::battle::Outcome;

/// Distinct texts in the order in which they first appeared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    names: Vec<String>,
    positions: HashMap<String, u32>,
}

impl Names {
    /// The position of a name, which is kept exactly as it is given; a new one is added.
    pub fn position(&mut self, name: &str) -> u32 {
        if let Some(&known) = self.positions.get(name) {
            return known;
        }
        let next = u32::try_from(self.names.len()).expect("memory ends long before 2^32 names");
        self.names.push(name.to_owned());
        self.positions.insert(name.to_owned(), next);
        next
    }

    /// The position of a name that is known.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<u32> {
        self.positions.get(name).copied()
    }

    /// The names by position.
    #[must_use]
    pub fn as_slice(&self) -> &[String] {
        &self.names
    }
}

/// A column of texts: one position in `names` a vote.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels {
    /// The distinct texts.
    pub names: Names,
    /// One a vote; [`Labels::NONE`] where the vote has none.
    pub rows: Vec<u32>,
}

impl Labels {
    /// The position of a vote without a text.
    pub const NONE: u32 = u32::MAX;
}

/// Counts of a feature of style in the replies of sides A and B, one pair a vote.
pub type Counts = Vec<[u32; 2]>;

/// What style control looks at: LMArena's four features.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StyleColumns {
    /// Tokens.
    pub tokens: Counts,
    /// Markdown headings of any level.
    pub headings: Counts,
    /// Items of lists of any kind.
    pub lists: Counts,
    /// Bold spans of any kind.
    pub bold: Counts,
}

/// Which columns are to be read beside models and outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Who voted.
    pub voters: bool,
    /// Languages.
    pub languages: bool,
    /// Categories.
    pub categories: bool,
    /// Intents.
    pub intents: bool,
    /// The number of turns.
    pub turns: bool,
    /// The length of the prompt in tokens.
    pub prompt_tokens: bool,
    /// When the vote was cast. Without it, the log is still put into the order of its times where it has any.
    pub seconds: bool,
    /// Counts for style control.
    pub style: bool,
    /// How likely the pair was.
    pub pair_probabilities: bool,
}

/// Votes in log order. Every column that is there has one entry a vote.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VoteLog {
    /// The models.
    pub models: Names,
    /// The model on side A, by position in `models`.
    pub a: Vec<u32>,
    /// The model on side B, by position in `models`.
    pub b: Vec<u32>,
    /// What the person said.
    pub outcomes: Vec<Outcome>,
    /// Who voted.
    pub voters: Option<Labels>,
    /// Languages.
    pub languages: Option<Labels>,
    /// Categories.
    pub categories: Option<Labels>,
    /// Intents.
    pub intents: Option<Labels>,
    /// The number of turns, 1 where the file says nothing.
    pub turns: Option<Vec<u32>>,
    /// The length of the prompt in tokens.
    pub prompt_tokens: Option<Vec<u32>>,
    /// When the vote was cast, in seconds since 1970.
    pub seconds: Option<Vec<f64>>,
    /// Counts for style control.
    pub style: Option<StyleColumns>,
    /// How likely the pair was when the battle was paired.
    pub pair_probabilities: Option<Vec<f64>>,
    /// Votes of the source that are not rated and so not in the columns, by the rule that excludes them.
    pub excluded: std::collections::BTreeMap<String, u64>,
}

impl VoteLog {
    /// Number of votes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.outcomes.len()
    }

    /// Whether there is no vote.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.outcomes.is_empty()
    }

    /// Adds a vote to the columns that every log has.
    ///
    /// # Errors
    /// [`SelfPlay`] where both sides are the same model; nothing is added then.
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

    /// Keeps the votes for which `keep`, one a vote, is true.
    pub fn retain(&mut self, keep: &[bool]) {
        retain(&mut self.a, keep);
        retain(&mut self.b, keep);
        retain(&mut self.outcomes, keep);
        for labels in [&mut self.voters, &mut self.languages, &mut self.categories, &mut self.intents] {
            labels.iter_mut().for_each(|labels| retain(&mut labels.rows, keep));
        }
        for numbers in [&mut self.turns, &mut self.prompt_tokens] {
            numbers.iter_mut().for_each(|numbers| retain(numbers, keep));
        }
        for numbers in [&mut self.seconds, &mut self.pair_probabilities] {
            numbers.iter_mut().for_each(|numbers| retain(numbers, keep));
        }
        if let Some(style) = &mut self.style {
            for counts in [&mut style.tokens, &mut style.headings, &mut style.lists, &mut style.bold] {
                retain(counts, keep);
            }
        }
    }
}

fn retain<T>(column: &mut Vec<T>, keep: &[bool]) {
    let mut keep = keep.iter();
    column.retain(|_| keep.next().copied().unwrap_or(true));
}
