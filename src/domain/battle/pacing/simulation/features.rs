//! Timing features of an attacker who sees the wire.

use std::time::Duration;

use super::wire::ShownSteps;
use crate::stats::real_len;

/// Computes the features: the wait, the gaps of the common part and of the tail, those around the first end, and the counts.
pub(super) fn features(shown: &ShownSteps) -> Vec<f64> {
    let gaps: Vec<f64> = shown.steps.windows(2).map(|pair| seconds(pair[1] - pair[0])).collect();
    let (common, tail) = gaps.split_at(shown.first_end.min(gaps.len()));
    let near_end = &common[common.len().saturating_sub(6)..];
    let after_end = &tail[..tail.len().min(6)];
    let mut features = vec![seconds(shown.steps[0]), count(common), count(tail), ratio(count(tail), count(common))];
    for part in [&gaps[..], common, tail, near_end, after_end, last_as_slice(common), last_as_slice(tail)] {
        features.extend(gap_statistics(part));
    }
    let (all, end) = (gap_statistics(common), gap_statistics(tail));
    features.extend(all.iter().zip(&end).map(|(common, tail)| ratio(*tail, *common)));
    features.push(ratio(last_as_slice(common).first().copied().unwrap_or_default(), all[2]));
    features.push(changed_gap_share(tail));
    features.push(changed_gap_share(common));
    features.push(common_gap_share(common, tail));
    features.push(first_long(common, all[2]));
    features.push(first_long(tail, all[2]));
    features
}

fn seconds(duration: Duration) -> f64 {
    duration.as_secs_f64()
}

fn count(part: &[f64]) -> f64 {
    real_len(part.len())
}

fn last_as_slice(part: &[f64]) -> &[f64] {
    &part[part.len().saturating_sub(1)..]
}

fn ratio(one: f64, other: f64) -> f64 {
    one / other.max(1e-3)
}

/// Mean, standard deviation, median, extremes, and the number of gaps longer than 1.5 medians.
fn gap_statistics(part: &[f64]) -> [f64; 6] {
    let Some(length) = Some(count(part)).filter(|length| *length > 0.0) else { return [0.0; 6] };
    let mut sorted = part.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mean = part.iter().sum::<f64>() / length;
    let spread = (part.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / length).sqrt();
    let median = sorted[sorted.len() / 2];
    let long = real_len(part.iter().filter(|gap| **gap > 1.5 * median).count());
    [mean, spread, median, sorted[0], sorted[sorted.len() - 1], long]
}

/// Share of the gaps that differ from the previous one by more than a timer's jitter.
fn changed_gap_share(part: &[f64]) -> f64 {
    ratio(real_len(part.windows(2).filter(|pair| (pair[0] - pair[1]).abs() > 0.002).count()), count(part))
}

/// Share of the tail's gaps that also occur, to a tenth of a millisecond, in the common part.
fn common_gap_share(common: &[f64], tail: &[f64]) -> f64 {
    let occurs = |gap: &&f64| common.iter().any(|other| (*gap - other).abs() < 1e-4);
    ratio(real_len(tail.iter().take(40).filter(occurs).count()), count(&tail[..tail.len().min(40)]))
}

/// Relative position of the first gap longer than 1.5 medians.
fn first_long(part: &[f64], median: f64) -> f64 {
    let at = part.iter().position(|gap| *gap > 1.5 * median).unwrap_or(part.len());
    ratio(real_len(at), count(part))
}
