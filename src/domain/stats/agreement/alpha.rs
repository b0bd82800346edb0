//! Krippendorff's alpha: agreement beyond chance when not every rater rated every unit.

use std::collections::BTreeMap;

use crate::stats::distribution::squarable_unit;
use crate::stats::real_len;
use crate::stats::{SeriesSide, Undefined};

/// Measurement level of the ratings, which sets the distance of two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeasurementLevel {
    /// Labels: 0 for equal labels, 1 otherwise.
    Nominal,
    /// Ordered values: by the number of ratings between them.
    Ordinal,
    /// Numbers: the squared difference.
    Interval,
}

/// Krippendorff's α = 1 − D_o/D_e (2011): `units` has the values given to each unit, in any order. Units with a single
/// value are left out.
///
/// # Errors
/// [`Undefined::Nothing`] if no unit has two values, [`Undefined::NoVariation`] if all values are equal,
/// [`Undefined::NotFinite`].
pub fn krippendorff(units: &[Vec<f64>], scale: MeasurementLevel) -> Result<f64, Undefined> {
    let groups: Vec<(&[f64], f64)> = units.iter().map(|values| (values.as_slice(), 1.0)).collect();
    krippendorff_of_groups(&groups, scale)
}

/// Computes [`krippendorff`] from groups of equal units, each as (values of one unit, number of units).
///
/// # Errors
/// The same as for [`krippendorff`].
pub fn krippendorff_of_groups(groups: &[(&[f64], f64)], scale: MeasurementLevel) -> Result<f64, Undefined> {
    if groups.iter().flat_map(|(values, _)| *values).any(|value| !value.is_finite()) {
        return Err(Undefined::NotFinite(SeriesSide::First));
    }
    let paired: Vec<(&[f64], f64)> =
        groups.iter().copied().filter(|(values, units)| values.len() > 1 && *units > 0.0).collect();
    let values = paired.iter().flat_map(|(values, units)| values.iter().map(move |value| (*value, *units)));
    let distances = DistinctValues::new(values, scale);
    let total: f64 = distances.counts.iter().sum();
    let expected = distances.expected() / (total - 1.0);
    match (paired.is_empty(), expected > 0.0) {
        (true, _) => Err(Undefined::Nothing),
        (_, false) => Err(Undefined::NoVariation),
        _ => Ok(1.0 - paired.iter().map(|(values, units)| units * distances.within(values)).sum::<f64>() / expected),
    }
}

/// The distinct values in ascending order, with their counts.
struct DistinctValues {
    places: BTreeMap<u64, usize>,
    counts: Vec<f64>,
    /// Coordinate of each value: the distance of two values is their squared difference. Unused for labels.
    positions: Vec<f64>,
    scale: MeasurementLevel,
}

impl DistinctValues {
    /// Builds the table from (value, count) pairs.
    fn new(all: impl Iterator<Item = (f64, f64)>, scale: MeasurementLevel) -> Self {
        let mut sorted: Vec<(f64, f64)> = all.map(|(value, times)| (value + 0.0, times)).collect();
        sorted.sort_by(|(x, _), (y, _)| x.total_cmp(y));
        let groups: Vec<&[(f64, f64)]> = sorted.chunk_by(|(x, _), (y, _)| x.total_cmp(y).is_eq()).collect();
        let counts: Vec<f64> = groups.iter().map(|group| group.iter().map(|(_, times)| times).sum()).collect();
        let values = groups.iter().map(|group| group[0].0);
        // α does not depend on the unit.
        let unit = squarable_unit(values.clone().map(f64::abs).fold(0.0, f64::max));
        // Relative to the smallest value: the digits of large values would be lost in their mean.
        let smallest = values.clone().next().unwrap_or_default() / unit;
        Self {
            places: groups.iter().enumerate().map(|(place, group)| (group[0].0.to_bits(), place)).collect(),
            positions: match scale {
                MeasurementLevel::Ordinal => mid_ranks(&counts),
                MeasurementLevel::Nominal | MeasurementLevel::Interval => {
                    values.map(|value| value / unit - smallest).collect()
                }
            },
            counts,
            scale,
        }
    }

    fn between(&self, one: usize, other: usize) -> f64 {
        match self.scale {
            _ if one == other => 0.0,
            MeasurementLevel::Nominal => 1.0,
            MeasurementLevel::Ordinal | MeasurementLevel::Interval => {
                (self.positions[one] - self.positions[other]).powi(2)
            }
        }
    }

    /// Sum over ordered pairs of all ratings: Σᵢⱼ cᵢcⱼ(xᵢ − xⱼ)² = 2n·Σcᵢ(xᵢ − x̄)², and of labels Σcᵢ(n − cᵢ).
    fn expected(&self) -> f64 {
        let total: f64 = self.counts.iter().sum();
        let counted = || self.counts.iter().zip(&self.positions);
        match self.scale {
            _ if self.counts.len() < 2 => 0.0,
            MeasurementLevel::Nominal => self.counts.iter().map(|count| count * (total - count)).sum(),
            MeasurementLevel::Ordinal | MeasurementLevel::Interval => {
                let mean = counted().map(|(count, position)| count / total * position).sum::<f64>();
                2.0 * total * counted().map(|(count, position)| count * (position - mean).powi(2)).sum::<f64>()
            }
        }
    }

    /// Sum over ordered pairs of ratings of one unit, divided by its number of ratings minus one.
    fn within(&self, values: &[f64]) -> f64 {
        let places: Vec<usize> = values.iter().map(|value| self.places[&(value + 0.0).to_bits()]).collect();
        let sum: f64 = places.iter().flat_map(|&i| places.iter().map(move |&j| self.between(i, j))).sum();
        sum / (real_len(values.len()) - 1.0)
    }
}

/// Mid-rank of each value. Two mid-ranks differ by the number of ratings between the values plus half of those of either value, which is
/// the ordinal distance.
fn mid_ranks(counts: &[f64]) -> Vec<f64> {
    let mut below = 0.0;
    let middle = |count: &f64| {
        let middle = below + count / 2.0;
        below += count;
        middle
    };
    counts.iter().map(middle).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of Krippendorff, "Computing Krippendorff's alpha-reliability" (2011), section D: twelve units, four
    /// observers; the last unit has one value.
    fn example() -> Vec<Vec<f64>> {
        let units: [&[u8]; 12] = [
            &[1, 1, 1],
            &[2, 2, 3, 2],
            &[3, 3, 3, 3],
            &[3, 3, 3, 3],
            &[2, 2, 2, 2],
            &[1, 2, 3, 4],
            &[4, 4, 4, 4],
            &[1, 1, 2, 1],
            &[2, 2, 2, 2],
            &[5, 5, 5],
            &[1, 1],
            &[3],
        ];
        units.iter().map(|values| values.iter().copied().map(f64::from).collect()).collect()
    }

    #[test]
    fn krippendorffs_own_example_comes_out_on_every_scale() {
        for (scale, expected) in [
            (MeasurementLevel::Nominal, 0.743),
            (MeasurementLevel::Ordinal, 0.815),
            (MeasurementLevel::Interval, 0.849),
        ] {
            let alpha = krippendorff(&example(), scale).unwrap();
            assert!((alpha - expected).abs() < 5e-4, "{scale:?}: {alpha}");
        }
    }

    #[test]
    fn groups_of_equal_units_count_as_often_as_there_are() {
        let (one, other): (&[f64], &[f64]) = (&[1.0, 2.0, 1.0], &[4.0, 4.0]);
        let units = [vec![one.to_vec(); 3], vec![other.to_vec(); 2]].concat();
        for scale in [MeasurementLevel::Nominal, MeasurementLevel::Ordinal, MeasurementLevel::Interval] {
            let grouped = krippendorff_of_groups(&[(one, 3.0), (other, 2.0), (&[9.0, 8.0], 0.0)], scale).unwrap();
            assert!((grouped - krippendorff(&units, scale).unwrap()).abs() < 1e-12, "{scale:?}");
        }
    }

    #[test]
    fn the_unit_of_the_values_does_not_matter() {
        for scale in [MeasurementLevel::Nominal, MeasurementLevel::Ordinal, MeasurementLevel::Interval] {
            let expected = krippendorff(&example(), scale).unwrap();
            for unit in [3e307, 1e-300] {
                let of_unit: Vec<Vec<f64>> =
                    example().iter().map(|values| values.iter().map(|value| value * unit).collect()).collect();
                let alpha = krippendorff(&of_unit, scale).unwrap();
                assert!((alpha - expected).abs() < 1e-12, "{scale:?} {unit}: {alpha}");
            }
        }
    }

    #[test]
    fn large_values_that_are_close_keep_their_distances() {
        let near = |origin: f64| [vec![origin, origin + 2.0], vec![origin + 4.0, origin + 4.0]];
        // Squared differences: 0–2: 4, 0–4 twice: 32, 2–4 twice: 8; both ways 88, over 4 − 1. Within units: 2·4. α = 1 − 8·3/88.
        for origin in [0.0, 1e16, -1e16] {
            let alpha = krippendorff(&near(origin), MeasurementLevel::Interval).unwrap();
            assert!((alpha - (1.0 - 24.0 / 88.0)).abs() < 1e-12, "{origin}: {alpha}");
        }
    }

    #[test]
    fn no_pairs_and_no_variation_are_different_errors() {
        assert_eq!(krippendorff(&[vec![1.0], vec![2.0]], MeasurementLevel::Nominal), Err(Undefined::Nothing));
        assert_eq!(
            krippendorff(&[vec![1.0; 2], vec![1.0; 3]], MeasurementLevel::Interval),
            Err(Undefined::NoVariation)
        );
        assert_eq!(
            krippendorff(&[vec![f64::NAN; 2]], MeasurementLevel::Ordinal),
            Err(Undefined::NotFinite(SeriesSide::First))
        );
        assert_eq!(krippendorff(&[vec![0.0, -0.0], vec![1.0, 1.0]], MeasurementLevel::Nominal), Ok(1.0));
    }
}
