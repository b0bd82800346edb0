//! String interning: texts that many votes share are stored once, and each vote holds a position.

use std::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;
use hashbrown::hash_table::{Entry, HashTable};

use crate::language::language_groups;

/// Distinct texts in order of first appearance.
#[derive(Debug, Clone, Default)]
pub struct InternedTexts {
    names: Vec<String>,
    /// Hash and position of each name.
    table: HashTable<(u64, u32)>,
    hasher: DefaultHashBuilder,
}

impl PartialEq for InternedTexts {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names
    }
}

impl Eq for InternedTexts {}

impl InternedTexts {
    /// Returns the position of a name; adds a new name.
    pub fn position(&mut self, name: &str) -> u32 {
        let hash = self.hasher.hash_one(name);
        let known = |&(other, position): &(u64, u32)| other == hash && self.names[position as usize] == name;
        match self.table.entry(hash, known, |&(hash, _)| hash) {
            Entry::Occupied(entry) => entry.get().1,
            Entry::Vacant(entry) => {
                let next = u32::try_from(self.names.len()).expect("memory ends long before 2^32 names");
                entry.insert((hash, next));
                self.names.push(name.to_owned());
                next
            }
        }
    }

    /// Returns the position of a known name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<u32> {
        let hash = self.hasher.hash_one(name);
        let known = |&(other, position): &(u64, u32)| other == hash && self.names[position as usize] == name;
        self.table.find(hash, known).map(|&(_, position)| position)
    }

    /// Returns the names by position.
    #[must_use]
    pub fn as_slice(&self) -> &[String] {
        &self.names
    }

    /// Returns the names by position, without a copy.
    #[must_use]
    pub fn into_vec(self) -> Vec<String> {
        self.names
    }

    /// Adds the names of another list and returns their positions here.
    pub(super) fn merge(&mut self, other: &Self) -> Vec<u32> {
        other.names.iter().map(|name| self.position(name)).collect()
    }
}

/// A column of texts: one position in `names` for each vote.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels {
    /// The distinct texts.
    pub names: InternedTexts,
    /// One position for each vote; [`Labels::NONE`] for a vote without a text.
    pub rows: Vec<u32>,
}

impl Labels {
    /// Position of a vote without a text.
    pub const NONE: u32 = u32::MAX;

    /// Adds the text of the next vote.
    pub fn push(&mut self, text: Option<&str>) {
        let position = text.map_or(Self::NONE, |text| self.names.position(text));
        self.rows.push(position);
    }

    /// Returns the texts of the votes whose entry in `keep` is true; names keep their positions.
    #[must_use]
    pub fn picked(&self, keep: &[bool]) -> Self {
        Self { names: self.names.clone(), rows: picked(&self.rows, keep) }
    }

    /// Returns the languages of the votes, with one text for each language that they spell in several ways.
    #[must_use]
    pub(in crate::rating) fn by_language(&self) -> Self {
        let texts: Vec<&str> = self.names.as_slice().iter().map(String::as_str).collect();
        let mut names = InternedTexts::default();
        let places: Vec<u32> = language_groups(&texts).into_iter().map(|name| names.position(name)).collect();
        let place = |&row: &u32| if row == Self::NONE { row } else { places[row as usize] };
        Self { rows: self.rows.iter().map(place).collect(), names }
    }

    /// Drops texts that no vote has, and orders the others by their first vote.
    pub(super) fn forget_unused(&mut self) {
        let mut renamed = CompactedNames::new(std::mem::take(&mut self.names));
        for row in self.rows.iter_mut().filter(|row| **row != Self::NONE) {
            *row = renamed.position(*row);
        }
        self.names = renamed.names;
    }

    pub(in crate::rating) fn append(&mut self, other: &Self) {
        let places = self.names.merge(&other.names);
        self.rows.extend(other.rows.iter().map(|&row| if row == Self::NONE { row } else { places[row as usize] }));
    }
}

/// Names renumbered by first use; unused names are dropped.
pub(super) struct CompactedNames {
    former: Vec<String>,
    /// New position of each former one; `None` until its first use.
    positions: Vec<Option<u32>>,
    pub(in crate::rating) names: InternedTexts,
}

impl CompactedNames {
    pub(in crate::rating) fn new(former: InternedTexts) -> Self {
        let former = former.into_vec();
        Self { positions: vec![None; former.len()], former, names: InternedTexts::default() }
    }

    pub(in crate::rating) fn position(&mut self, former: u32) -> u32 {
        let known = &mut self.positions[former as usize];
        *known.get_or_insert_with(|| self.names.position(&self.former[former as usize]))
    }
}

/// Returns the values whose entry in `keep` is true.
pub(in crate::rating) fn picked<T: Copy>(column: &[T], keep: &[bool]) -> Vec<T> {
    column.iter().zip(keep).filter(|(_, keep)| **keep).map(|(value, _)| *value).collect()
}
