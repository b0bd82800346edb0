//! Agreement on labels beyond chance: Cohen's, Fleiss' and Randolph's kappa.
//!
//! κ = (observed − expected) / (1 − expected). If every rating has the same label, chance agrees always and κ is 0/0:
//! undefined.

use std::collections::BTreeMap;

use crate::stats::Undefined;
use crate::stats::{real, real_len};

/// A kappa and its parts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kappa {
    /// 1 for full agreement, 0 for chance agreement.
    pub kappa: f64,
    /// Share of agreeing pairs of ratings.
    pub observed: f64,
    /// Expected share by chance.
    pub expected: f64,
    /// Number of raters of each item.
    pub raters: u64,
    /// Number of items.
    pub items: usize,
    /// Items left out because they have a different number of raters.
    pub excluded: usize,
}

impl Kappa {
    /// The kappa of two raters of every item, from the shares of agreement.
    fn new(observed: f64, expected: f64, items: usize) -> Result<Self, Undefined> {
        // Rounding keeps Σp² slightly off 1 when one share is 1.
        if 1.0 - expected < 1e-12 {
            return Err(Undefined::NoVariation);
        }
        let kappa = (observed - expected) / (1.0 - expected);
        Ok(Self { kappa, observed, expected, raters: 2, items, excluded: 0 })
    }
}

/// Cohen's kappa (1960) of two raters who both labelled every item: the chance agreement uses each rater's own label
/// frequencies.
///
/// # Errors
/// [`Undefined::Lengths`], [`Undefined::Nothing`] without items, [`Undefined::NoVariation`].
pub fn cohen<L: Ord>(one: &[L], other: &[L]) -> Result<Kappa, Undefined> {
    if one.len() != other.len() {
        return Err(Undefined::Lengths { x: one.len(), y: other.len() });
    }
    if one.is_empty() {
        return Err(Undefined::Nothing);
    }
    let mut counts: BTreeMap<&L, [f64; 2]> = BTreeMap::new();
    one.iter().for_each(|label| counts.entry(label).or_default()[0] += 1.0);
    other.iter().for_each(|label| counts.entry(label).or_default()[1] += 1.0);
    let items = real_len(one.len());
    let agreed = real_len(one.iter().zip(other).filter(|(x, y)| x == y).count());
    let expected = counts.values().map(|[x, y]| x / items * (y / items)).sum();
    Kappa::new(agreed / items, expected, one.len())
}

/// Computes [`cohen`] from pairs of labels with their counts; labels are small numbers.
///
/// # Errors
/// [`Undefined::Nothing`] without pairs, [`Undefined::NoVariation`].
pub fn cohen_of_counts(pairs: impl Iterator<Item = ([usize; 2], u64)> + Clone) -> Result<Kappa, Undefined> {
    let items: u64 = pairs.clone().map(|(_, times)| times).sum();
    if items == 0 {
        return Err(Undefined::Nothing);
    }
    let (mut shares, mut agreed): (Vec<[f64; 2]>, u64) = (Vec::new(), 0);
    for (labels, times) in pairs {
        agreed += if labels[0] == labels[1] { times } else { 0 };
        for (rater, label) in labels.into_iter().enumerate() {
            shares.resize(shares.len().max(label + 1), [0.0; 2]);
            shares[label][rater] += real(times) / real(items);
        }
    }
    let expected = shares.iter().map(|[one, other]| one * other).sum();
    Kappa::new(real(agreed) / real(items), expected, usize::try_from(items).unwrap_or(usize::MAX))
}

/// Fleiss' kappa (1971): `counts[item][label]` raters gave the item this label. P_i = (Σ n² − n)/(n(n−1)) is the
/// agreement on an item, Σp² the chance agreement. It needs a constant number of raters: items with a different number
/// than the most common one (the larger in case of a tie) are left out and counted.
///
/// # Errors
/// [`Undefined::Nothing`] if no item has two raters, [`Undefined::NoVariation`].
pub fn fleiss(counts: &[Vec<u64>]) -> Result<Kappa, Undefined> {
    fleiss_of_groups(&counts.iter().map(|item| (item.as_slice(), 1)).collect::<Vec<_>>())
}

/// Computes [`fleiss`] from groups of equal items, each as (label counts of one item, number of items).
///
/// # Errors
/// The same as for [`fleiss`].
pub fn fleiss_of_groups(groups: &[(&[u64], usize)]) -> Result<Kappa, Undefined> {
    EquallyRatedItems::new(groups.iter().map(|&(counts, items)| (nonzero_counts(counts), items)))?.fleiss()
}

/// Computes [`fleiss`] from groups of equal items, each as (label of each rater, number of items). Time and memory are linear in the
/// number of ratings and independent of the number of labels.
///
/// # Errors
/// The same as for [`fleiss`].
pub fn fleiss_of_labels<'l>(groups: impl IntoIterator<Item = (&'l [usize], usize)>) -> Result<Kappa, Undefined> {
    EquallyRatedItems::new(groups.into_iter().map(|(labels, items)| (counted(labels), items)))?.fleiss()
}

/// Randolph's free-marginal kappa (2005): as [`fleiss`], with all `labels` labels equally likely by chance.
///
/// # Errors
/// [`Undefined::Nothing`] if no item has two raters, [`Undefined::NoVariation`] for fewer than two labels.
pub fn randolph(counts: &[Vec<u64>], labels: usize) -> Result<Kappa, Undefined> {
    EquallyRatedItems::new(counts.iter().map(|item| (nonzero_counts(item), 1)))?.randolph(labels)
}

/// Computes [`randolph`] from groups of equal items in the form of [`fleiss_of_labels`].
///
/// # Errors
/// The same as for [`randolph`].
pub fn randolph_of_labels<'l>(
    groups: impl IntoIterator<Item = (&'l [usize], usize)>,
    labels: usize,
) -> Result<Kappa, Undefined> {
    EquallyRatedItems::new(groups.into_iter().map(|(given, items)| (counted(given), items)))?.randolph(labels)
}

/// Labels of an item with their counts.
type LabelCounts = Vec<(usize, u64)>;

fn nonzero_counts(counts: &[u64]) -> LabelCounts {
    counts.iter().copied().enumerate().filter(|(_, given)| *given > 0).collect()
}

fn counted(labels: &[usize]) -> LabelCounts {
    let mut labels = labels.to_vec();
    labels.sort_unstable();
    labels.chunk_by(|one, other| one == other).map(|equal| (equal[0], equal.len() as u64)).collect()
}

fn raters(item: &[(usize, u64)]) -> u64 {
    item.iter().map(|(_, given)| given).sum()
}

/// The items with the most common number of raters.
struct EquallyRatedItems {
    /// Groups of equal items with their sizes.
    groups: Vec<(LabelCounts, usize)>,
    items: usize,
    raters: u64,
    excluded: usize,
}

impl EquallyRatedItems {
    fn new(groups: impl Iterator<Item = (LabelCounts, usize)>) -> Result<Self, Undefined> {
        let mut groups: Vec<(LabelCounts, usize)> = groups.filter(|(_, items)| *items > 0).collect();
        let mut sizes: BTreeMap<u64, usize> = BTreeMap::new();
        for (item, items) in &groups {
            *sizes.entry(raters(item)).or_default() += items;
        }
        let all: usize = sizes.values().sum();
        let several = sizes.into_iter().filter(|&(size, _)| size > 1);
        let (size, items) = several.max_by_key(|&(size, items)| (items, size)).ok_or(Undefined::Nothing)?;
        groups.retain(|(item, _)| raters(item) == size);
        Ok(Self { groups, items, raters: size, excluded: all - items })
    }

    fn fleiss(&self) -> Result<Kappa, Undefined> {
        let mut given: BTreeMap<usize, f64> = BTreeMap::new();
        for (item, items) in &self.groups {
            for &(label, times) in item {
                *given.entry(label).or_default() += real(times) * real_len(*items);
            }
        }
        let ratings = real_len(self.items) * real(self.raters);
        self.kappa(given.values().map(|given| (given / ratings).powi(2)).sum())
    }

    fn randolph(&self, labels: usize) -> Result<Kappa, Undefined> {
        self.kappa(if labels < 2 { 1.0 } else { 1.0 / real_len(labels) })
    }

    fn kappa(&self, expected: f64) -> Result<Kappa, Undefined> {
        let found = Kappa::new(self.observed(), expected, self.items)?;
        Ok(Kappa { raters: self.raters, excluded: self.excluded, ..found })
    }

    /// Mean share of agreeing pairs of raters of an item.
    fn observed(&self) -> f64 {
        let pairs = real(self.raters) * (real(self.raters) - 1.0);
        let agreed =
            |item: &LabelCounts| item.iter().map(|&(_, given)| real(given) * (real(given) - 1.0)).sum::<f64>() / pairs;
        self.groups.iter().map(|(item, items)| agreed(item) * real_len(*items)).sum::<f64>() / real_len(self.items)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cohens_kappa_of_a_table_done_by_hand() {
        // 20 and 15 items alike, 5 and 10 not: observed 0.7, expected 0.5·0.6 + 0.5·0.4 = 0.5.
        let cells = [("yes", "yes", 20), ("yes", "no", 5), ("no", "yes", 10), ("no", "no", 15)];
        let (one, other): (Vec<&str>, Vec<&str>) =
            cells.iter().flat_map(|&(x, y, count)| std::iter::repeat_n((x, y), count)).unzip();
        let found = cohen(&one, &other).unwrap();
        assert!((found.kappa - 0.4).abs() < 1e-12 && (found.expected - 0.5).abs() < 1e-12, "{found:?}");
        assert_eq!(cohen(&["a"; 4], &["a"; 4]), Err(Undefined::NoVariation));
        assert_eq!(cohen::<u8>(&[], &[]), Err(Undefined::Nothing));
        assert_eq!(cohen(&[1], &[1, 2]), Err(Undefined::Lengths { x: 1, y: 2 }));
    }

    #[test]
    fn the_number_of_a_label_may_be_as_large_as_it_likes() {
        let large: [(&[usize], usize); 2] = [(&[usize::MAX, 7], 1), (&[7, 7], 1)];
        assert_eq!(fleiss_of_labels(large), fleiss(&[vec![1, 1], vec![2, 0]]));
        assert_eq!(randolph_of_labels(large, 2), randolph(&[vec![1, 1], vec![2, 0]], 2));
    }

    #[test]
    fn items_with_another_number_of_raters_are_left_out_and_counted() {
        let full = [vec![2, 1], vec![0, 3], vec![3, 0]];
        let mut more = full.to_vec();
        more.extend([vec![1, 1], vec![1, 0], vec![0, 0]]);
        let (found, all) = (fleiss(&more).unwrap(), fleiss(&full).unwrap());
        assert_eq!((found.items, found.excluded), (3, 3));
        assert_eq!(found.kappa.to_bits(), all.kappa.to_bits());
        let grouped = fleiss_of_groups(&[(&[2, 1], 4), (&[0, 3], 1), (&[1, 1], 2), (&[9, 9], 0)]).unwrap();
        let spread = [vec![vec![2, 1]; 4], vec![vec![0, 3]], vec![vec![1, 1]; 2]].concat();
        assert_eq!(grouped, fleiss(&spread).unwrap());
        let labels: [(&[usize], usize); 4] = [(&[0, 1, 0], 4), (&[1, 1, 1], 1), (&[1, 0], 2), (&[0, 0], 0)];
        assert_eq!(fleiss_of_labels(labels), Ok(grouped));
        assert_eq!(randolph_of_labels(labels, 2), randolph(&spread, 2));
        assert_eq!(fleiss(&[vec![1, 0]]), Err(Undefined::Nothing));
        assert_eq!(fleiss(&[vec![0, 4], vec![0, 4]]), Err(Undefined::NoVariation));
    }
}
