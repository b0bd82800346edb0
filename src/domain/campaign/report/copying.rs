//! Detection of copying: annotators who agree with each other more than two independent people do.

use std::collections::{BTreeMap, BTreeSet};

use super::judged::{FAMILY_ERROR, JudgementLabel, LabelsByUnit};
use crate::stats::binomial;
use crate::stats::{real, real_len};

/// Minimum number of shared units of two annotators to be compared.
const MIN_SHARED: u64 = 20;
/// Minimum share of agreement for a flag: copied judgements are all or nearly all the same.
const MIN_AGREEMENT: f64 = 0.9;
/// Minimum share of shared units that a copier judged after the other; below it the copier is unknown, and both are flagged.
const MIN_LATER_SHARE: f64 = 0.9;

/// Minimum kappa of all others that is used as a divisor.
const MIN_KAPPA: f64 = 0.05;

/// Units that two annotators both judged.
#[derive(Debug, Clone, Copy, Default)]
struct AnnotatorOverlap {
    shared: u64,
    equal: u64,
    /// Number of units that the second annotator, by name, judged later.
    second_later: u64,
}

/// Returns the annotators who copy. Under a model in which independent people of different care judge, kappas multiply: that of two
/// annotators is about the product of their mean kappas with everybody else, divided by the mean kappa of everybody else with each other. A
/// pair whose agreement is far above that, by an exact binomial test at a family-wise error of 1 % over all pairs, has a copier.
pub(super) fn copiers<'j>(labels: &LabelsByUnit<'j>) -> BTreeSet<&'j str> {
    let pairs = count_overlaps(labels);
    let shares = label_shares(labels);
    let chance = chance_agreement(labels);
    let names: BTreeSet<&str> = pairs.keys().flat_map(|(one, other)| [*one, *other]).collect();
    let level = FAMILY_ERROR / real_len(pairs.len().max(1));
    let mut found = BTreeSet::new();
    if names.len() < 4 || chance >= 1.0 {
        return found;
    }
    for (&(one, other), pair) in &pairs {
        let agreement = real(pair.equal) / real(pair.shared.max(1));
        if pair.shared < MIN_SHARED || agreement < MIN_AGREEMENT {
            continue;
        }
        let by_chance = chance_of_pair(&shares, [one, other]);
        let expected = by_chance + (1.0 - by_chance) * expected_kappa(&pairs, chance, [one, other]);
        if binomial::at_least(pair.equal, pair.shared, expected) < level {
            let later = real(pair.second_later) / real(pair.shared);
            found.extend((later >= 1.0 - MIN_LATER_SHARE).then_some(other));
            found.extend((later <= MIN_LATER_SHARE).then_some(one));
        }
    }
    found
}

fn count_overlaps<'j>(labels: &LabelsByUnit<'j>) -> BTreeMap<(&'j str, &'j str), AnnotatorOverlap> {
    let mut pairs: BTreeMap<(&str, &str), AnnotatorOverlap> = BTreeMap::new();
    for given in labels.values() {
        for (at, (earlier, first)) in given.iter().enumerate() {
            for (later, second) in &given[at + 1..] {
                let key = if earlier < later { (*earlier, *later) } else { (*later, *earlier) };
                let pair = pairs.entry(key).or_default();
                pair.shared += 1;
                pair.equal += u64::from(first == second);
                pair.second_later += u64::from(key.1 == *later);
            }
        }
    }
    pairs
}

/// Computes Σp² over the shares of the labels.
fn chance_agreement(labels: &LabelsByUnit) -> f64 {
    let mut counts: BTreeMap<&JudgementLabel, f64> = BTreeMap::new();
    for (_, label) in labels.values().flatten() {
        *counts.entry(label).or_default() += 1.0;
    }
    let total: f64 = counts.values().sum();
    counts.values().map(|count| (count / total).powi(2)).sum()
}

/// Shares by annotator and label.
type LabelShares<'l> = BTreeMap<&'l str, BTreeMap<&'l JudgementLabel<'l>, f64>>;

/// Computes the share of each label among the judgements of each annotator.
fn label_shares<'l>(labels: &'l LabelsByUnit) -> LabelShares<'l> {
    let mut shares: LabelShares<'l> = BTreeMap::new();
    for (annotator, label) in labels.values().flatten() {
        *shares.entry(annotator).or_default().entry(label).or_default() += 1.0;
    }
    for own in shares.values_mut() {
        let total: f64 = own.values().sum();
        own.values_mut().for_each(|share| *share /= total);
    }
    shares
}

/// Computes the probability that two annotators agree if each draws labels from their own shares.
fn chance_of_pair(shares: &LabelShares, [one, other]: [&str; 2]) -> f64 {
    let (Some(one), Some(other)) = (shares.get(one), shares.get(other)) else { return 0.0 };
    one.iter().map(|(label, share)| share * other.get(label).copied().unwrap_or(0.0)).sum()
}

/// Computes the expected kappa of two independent people, from 0 to 1. If all others agree hardly beyond chance, the product is
/// meaningless, and the larger of the two is used.
fn expected_kappa(pairs: &BTreeMap<(&str, &str), AnnotatorOverlap>, chance: f64, [one, other]: [&str; 2]) -> f64 {
    let mean = |wanted: &dyn Fn(&str, &str) -> bool| {
        let chosen = pairs.iter().filter(|((first, second), _)| wanted(first, second));
        let [equal, shared] = chosen.fold([0, 0], |sum, (_, pair)| [sum[0] + pair.equal, sum[1] + pair.shared]);
        if shared > 0 { (real(equal) / real(shared) - chance) / (1.0 - chance) } else { 0.0 }
    };
    let of_one = mean(&|first, second| (first == one || second == one) && first != other && second != other);
    let of_other = mean(&|first, second| (first == other || second == other) && first != one && second != one);
    let of_rest = mean(&|first, second| ![one, other].contains(&first) && ![one, other].contains(&second));
    let expected =
        if of_rest > MIN_KAPPA { of_one.max(0.0) * of_other.max(0.0) / of_rest } else { of_one.max(of_other) };
    expected.clamp(0.0, 1.0)
}
