//! Rating history: exact fits of the votes up to a series of past moments.
//!
//! One pass over the log accumulates the counts and fits them at each moment.

use std::collections::HashMap;

use super::super::FitError;
use super::super::counts::comparison::ComparisonSet;
use super::super::strengths::elo::EloTable;
use super::super::votes::vote_log::VoteLog;
use crate::rating::counts::pair_counts::PairCounts;
use crate::rating::leaderboards::ranking::rank;
use crate::rating::options::{IntervalMethod, LeaderboardOptions, Method};
use crate::stats::real_len;

/// Ratings at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// Unix time in seconds.
    pub seconds: f64,
    /// Models with a finite rating, best first. Ratings of different components cannot be compared.
    pub ratings: Vec<(String, f64)>,
}

/// Fits Bradley–Terry ratings at `moments` evenly spaced moments from the first vote to the last. Votes count in log order:
/// a vote that follows a later one counts from the time of the later one. The result is empty for a log without times,
/// and with style control, where every moment would need a fit of the whole log.
///
/// # Errors
/// [`FitError`].
pub fn history(log: &VoteLog, moments: usize, options: &LeaderboardOptions) -> Result<Vec<Moment>, FitError> {
    let seconds = log.seconds.as_ref().filter(|seconds| !seconds.is_empty() && !options.has_covariates());
    let Some(seconds) = seconds else { return Ok(Vec::new()) };
    let (first, last) = seconds.iter().fold((f64::MAX, f64::MIN), |(low, high), &x| (low.min(x), high.max(x)));
    let options = LeaderboardOptions {
        method: Method::Bt,
        interval: IntervalMethod::None,
        anchor: None,
        pool_by: None,
        good_enough: false,
        compare_ties: false,
        ..options.clone()
    };
    let mut pairs: HashMap<(u32, u32), PairCounts> = HashMap::new();
    let mut next = 0;
    let mut shown = Vec::with_capacity(moments);
    for number in 1..=moments {
        let until =
            if number == moments { last } else { first + (last - first) * real_len(number) / real_len(moments) };
        while next < seconds.len() && seconds[next] <= until {
            let (a, b) = (log.a[next], log.b[next]);
            pairs.entry((a.min(b), a.max(b))).or_default().add(log.outcomes[next], a < b);
            next += 1;
        }
        let counted = pairs.iter().map(|(&(one, other), &counts)| (one, other, counts));
        let leaderboard = rank(&ComparisonSet::restore(log.models.clone(), counted), &EloTable::default(), &options)?;
        let rated = leaderboard.models.into_iter();
        shown.push(Moment {
            seconds: until,
            ratings: rated.filter_map(|model| Some((model.model, model.rating?))).collect(),
        });
    }
    Ok(shown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::battle::Outcome;
    use crate::rating::leaderboards::ranking::rank_log;

    fn log(votes: u32) -> VoteLog {
        let mut log = VoteLog { seconds: Some(Vec::new()), ..VoteLog::default() };
        for number in 0..votes {
            let (a, b) = (number % 4, (number % 4 + 1 + number % 3) % 4);
            log.push(&format!("m{a}"), &format!("m{b}"), Outcome::ALL[(number as usize * 5 + 2) % 4]).unwrap();
            log.seconds.as_mut().unwrap().push(f64::from(number));
        }
        log
    }

    #[test]
    fn each_moment_is_an_exact_fit_of_the_votes_until_then() {
        let options = LeaderboardOptions::default();
        let shown = history(&log(101), 4, &options).unwrap();
        for (moment, votes) in shown.iter().zip([26, 51, 76, 101]) {
            let leaderboard = rank_log(&log(votes), &options).unwrap();
            let expected: Vec<(String, f64)> =
                leaderboard.models.into_iter().map(|m| (m.model, m.rating.unwrap())).collect();
            assert_eq!(moment.ratings.len(), 4, "every model has a finite rating");
            assert!((moment.seconds - f64::from(votes - 1)).abs() < 1e-9);
            let by_name = |mut ratings: Vec<(String, f64)>| {
                ratings.sort_by(|x, y| x.0.cmp(&y.0));
                ratings
            };
            assert_eq!(by_name(moment.ratings.clone()), by_name(expected));
        }
        assert_eq!(shown.len(), 4);
    }

    #[test]
    fn without_votes_or_times_or_with_style_there_is_no_history() {
        let options = LeaderboardOptions::default();
        assert_eq!(history(&log(0), 4, &options).unwrap(), []);
        assert_eq!(history(&VoteLog { seconds: None, ..log(9) }, 4, &options).unwrap(), []);
        assert_eq!(history(&log(9), 4, &LeaderboardOptions { style: true, ..options }).unwrap(), []);
    }
}
