//! A column in one replicate.

use super::shape::Shape;
use super::{Column, Three};

/// How many replicates two columns have together; `None` where the values of both are fixed.
pub(super) fn draws_of(x: &Column, y: &Column) -> Option<usize> {
    let draws = [x, y].map(|column| column.draws.len());
    draws.into_iter().filter(|&draws| draws > 0).min()
}

/// The values of a column in one replicate, with their shape over each set of positions that was asked for: columns that
/// lack the same positions share a set, so that there are few.
pub(super) struct Drawn {
    values: Vec<Option<f64>>,
    present: Positions,
    shapes: Vec<(Positions, Option<Shape>)>,
}

impl Drawn {
    /// The column in this replicate; as it stands where it has no draws at all.
    pub(super) fn of(column: &Column, replicate: usize) -> Self {
        let values = if column.draws.is_empty() {
            column.values.clone()
        } else {
            let draw = column.draws.get(replicate).into_iter().flatten();
            column.values.iter().zip(draw).map(|(value, drawn)| value.and(*drawn)).collect()
        };
        Self { present: Positions::of(&values), values, shapes: Vec::new() }
    }

    /// The correlations of two columns of a replicate, of the positions that both have in it.
    pub(super) fn compare(columns: &mut [Self], i: usize, j: usize) -> Three {
        let both = columns[i].present.and(&columns[j].present);
        let places = [i, j].map(|column| columns[column].place_of(&both));
        let [x, y] = [(i, places[0]), (j, places[1])].map(|(column, place)| columns[column].shapes[place].1.as_ref());
        Some(x?.compare(y?))
    }

    /// Where the shape over these positions stands; it is made when it is first asked for.
    fn place_of(&mut self, positions: &Positions) -> usize {
        self.shapes.iter().position(|(known, _)| known == positions).unwrap_or_else(|| {
            let values: Vec<f64> = positions.all().filter_map(|position| self.values[position]).collect();
            self.shapes.push((positions.clone(), Shape::of(&values)));
            self.shapes.len() - 1
        })
    }
}

/// A set of positions, a bit each.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Positions(Vec<u64>);

impl Positions {
    /// Those that have a value.
    fn of(values: &[Option<f64>]) -> Self {
        let word = |values: &[Option<f64>]| {
            values.iter().enumerate().fold(0, |word, (bit, value)| word | u64::from(value.is_some()) << bit)
        };
        Self(values.chunks(u64::BITS as usize).map(word).collect())
    }

    /// Those of both.
    fn and(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(one, other)| one & other).collect())
    }

    /// One after the other.
    fn all(&self) -> impl Iterator<Item = usize> {
        let bits = (0..u64::BITS).map(|bit| (bit as usize, 1 << bit));
        self.0.iter().enumerate().flat_map(move |(place, word)| {
            bits.clone().filter(move |(_, bit)| word & bit != 0).map(move |(bit, _)| place * u64::BITS as usize + bit)
        })
    }
}
