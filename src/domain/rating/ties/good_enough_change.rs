//! Change of the share of prompts for which a model is good enough: the later half of the votes minus the earlier half.
//!
//! Each half is fitted by itself ([`super::good_enough`]). The interval of the difference of the two shares s₂ − s₁ comes from
//! their intervals (l₁, u₁) and (l₂, u₂): from s₂ − s₁ − √((s₂ − l₂)² + (u₁ − s₁)²) to s₂ − s₁ + √((u₂ − s₂)² + (s₁ − l₁)²)
//! (Newcombe, *Interval estimation for the difference between independent proportions*, Statistics in Medicine 17, 1998,
//! method 10; Zou and Donner, Statistics in Medicine 27, 2008). It assumes independent halves. A voter with votes in
//! both makes their shares err in the same direction, so the interval is then too wide rather than too narrow.

use std::collections::BTreeMap;

use super::good_enough::{GoodEnough, good_enough};
use crate::rating::counts::count_by_pair::count_by_pair;
use crate::rating::counts::tally::Tally;
use crate::rating::counts::votes_by_voter::VotesByVoter;
use crate::rating::votes::scoring::Scoring;
use crate::rating::votes::vote_log::VoteLog;
use crate::stats::confidence::ConfidenceLevel;

/// Independent units of the intervals of a share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::rating) enum ShareErrors {
    /// Voters: the votes of one voter are dependent.
    Voters,
    /// Votes: all votes are independent.
    Votes,
}

/// Change of the share of prompts for which a model is good enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::rating) struct GoodEnoughChange {
    /// Share in the later half of the votes minus share in the earlier half.
    pub(in crate::rating) change: f64,
    /// Lower bound.
    pub(in crate::rating) lower: f64,
    /// Upper bound.
    pub(in crate::rating) upper: f64,
}

/// Computes the change of each model with a known share and interval in both halves of the votes; empty where the votes of a half are
/// too few to determine shares.
pub(in crate::rating) fn good_enough_changes(
    log: &VoteLog,
    errors: ShareErrors,
    scoring: Scoring,
    level: ConfidenceLevel,
) -> BTreeMap<String, GoodEnoughChange> {
    let is_later = is_in_later_half(log);
    let is_earlier: Vec<bool> = is_later.iter().map(|later| !later).collect();
    let (earlier, later) = rayon::join(
        || estimate_shares(log, &is_earlier, errors, scoring, level),
        || estimate_shares(log, &is_later, errors, scoring, level),
    );
    let changes = later.into_iter().filter_map(|(model, later)| Some((earlier.get(&model)?, model, later)));
    changes.filter_map(|(earlier, model, later)| Some((model, change(earlier, &later)?))).collect()
}

fn change(earlier: &GoodEnough, later: &GoodEnough) -> Option<GoodEnoughChange> {
    let change = later.share - earlier.share;
    let below = (later.share - later.lower?).hypot(earlier.upper? - earlier.share);
    let above = (later.upper? - later.share).hypot(earlier.share - earlier.lower?);
    Some(GoodEnoughChange { change, lower: change - below, upper: change + above })
}

/// Returns for each vote whether it is in the later half: by time, or in log order where times are unknown.
fn is_in_later_half(log: &VoteLog) -> Vec<bool> {
    let mut rows: Vec<usize> = (0..log.len()).collect();
    if let Some(seconds) = &log.seconds {
        rows.sort_by(|&x, &y| seconds[x].total_cmp(&seconds[y]));
    }
    let mut is_later = vec![false; log.len()];
    rows[log.len() / 2..].iter().for_each(|&row| is_later[row] = true);
    is_later
}

/// Estimates the shares from the selected votes alone; empty where they determine no shares.
fn estimate_shares(
    log: &VoteLog,
    keep: &[bool],
    errors: ShareErrors,
    scoring: Scoring,
    level: ConfidenceLevel,
) -> BTreeMap<String, GoodEnough> {
    let log = VoteLog { voters: log.voters.as_ref().map(|voters| voters.picked(keep)), ..log.outcomes_picked(keep) };
    let tally = Tally::from_log(&log, scoring);
    let voters = log.voters.as_ref().filter(|_| errors == ShareErrors::Voters);
    let votes = voters.map(|voters| VotesByVoter::new(&log, voters, scoring, &tally));
    let shares = good_enough(&tally, &count_by_pair(&log), scoring, votes.as_ref(), level);
    let named = tally.models.into_iter().map(|model| model.name).zip(shares);
    named.filter_map(|(model, share)| Some((model, share?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_change_is_newcombes() {
        // Newcombe 1998, table II, (a): 56 of 70 against 48 of 80, by Wilson's intervals: 0.2, from 0.0524 to 0.3339.
        let later = GoodEnough { share: 0.8, lower: Some(0.691_8), upper: Some(0.876_9) };
        let earlier = GoodEnough { share: 0.6, lower: Some(0.490_4), upper: Some(0.700_4) };
        let found = change(&earlier, &later).unwrap();
        assert!((found.change - 0.2).abs() < 1e-12, "{found:?}");
        assert!((found.lower - 0.052_4).abs() < 2e-4 && (found.upper - 0.333_9).abs() < 2e-4, "{found:?}");
        assert_eq!(change(&GoodEnough { lower: None, ..earlier }, &later), None);
    }

    #[test]
    fn halves_are_by_time_where_it_is_known() {
        let mut log = VoteLog::default();
        for _ in 0..5 {
            log.push("a", "b", crate::battle::Outcome::AWins).unwrap();
        }
        assert_eq!(is_in_later_half(&log), [false, false, true, true, true]);
        log.seconds = Some(vec![5.0, 1.0, 4.0, 2.0, 3.0]);
        assert_eq!(is_in_later_half(&log), [true, false, true, false, true]);
    }
}
