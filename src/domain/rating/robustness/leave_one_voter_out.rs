//! Places of the models with any one voter left out.

use rayon::prelude::*;

use super::super::counts::tally::Tally;
use super::pair_votes_by_voter::CountedVote;
use super::refit::Refit;
use super::work_counter::WorkCounter;
use super::{FitError, PlaceRange, places_of};
use crate::rating::strengths::fit::Fit;

/// Maximum number of voters that are left out one at a time, those with most votes first; it bounds the running time.
const MAX_VOTERS: usize = 20_000;

/// Place ranges over all left-out voters.
#[derive(Debug)]
pub(super) struct Ranges {
    /// Place range of each model.
    pub(super) ranges: Vec<PlaceRange>,
    /// Number of voters left out one at a time.
    pub(super) left_out: u64,
    voters: usize,
}

impl Ranges {
    /// Returns a note if some voters were not left out.
    pub(super) fn note(&self) -> Option<String> {
        (u64::try_from(self.voters).is_ok_and(|voters| voters > self.left_out)).then(|| {
            format!("of {} voters, the {} most active were left out one at a time", self.voters, self.left_out)
        })
    }
}

/// Computes the place ranges over leaving out each voter in turn.
pub(super) fn leave_each_out(
    voters: &[Vec<CountedVote>],
    tally: &Tally,
    fitted: &Fit,
    progress: impl Fn(f64) + Sync,
) -> Result<Ranges, FitError> {
    let looked_at = &voters[..voters.len().min(MAX_VOTERS)];
    let refit = Refit::new(tally, fitted);
    let done = WorkCounter::new(looked_at.len(), progress);
    let places: Vec<Vec<Option<u64>>> = looked_at
        .par_iter()
        .map(|votes| {
            let places = refit.without(votes)?.places();
            done.advance();
            Ok(places)
        })
        .collect::<Result<_, FitError>>()?;
    let mut ranges: Vec<PlaceRange> = places_of(fitted).into_iter().map(PlaceRange::at).collect();
    for places in places {
        for (range, place) in ranges.iter_mut().zip(places) {
            place.into_iter().for_each(|place| range.extend_to(place));
        }
    }
    let left_out = u64::try_from(looked_at.len()).unwrap_or(u64::MAX);
    Ok(Ranges { ranges, left_out, voters: voters.len() })
}
