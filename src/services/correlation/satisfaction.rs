//! Reads the visitors' satisfaction by intent.

use std::collections::BTreeMap;

use super::ReadSeriesError;
use crate::domain::labeling::scheme::Scheme;
use crate::infra::storage::{SatisfiedVote, Store, VoteRange};
use crate::infra::stored_votes::final_labels::final_labels_of;

/// Reads the satisfaction of rated votes by intent, up to the last vote of the range; votes without satisfaction or intent are omitted.
///
/// # Errors
/// [`ReadSeriesError::NoSatisfaction`], or the database failed.
pub(super) async fn by_intent(store: &Store, range: VoteRange) -> Result<BTreeMap<String, Vec<f64>>, ReadSeriesError> {
    let votes = store.satisfied_votes().await?.into_iter().filter(|vote| vote.seq <= range.upto);
    let labels = final_labels_of(store, &[Scheme::Urs], range).await?;
    let mut by_intent: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for SatisfiedVote { seq, intent, satisfaction } in votes {
        if let Some(intent) = labels.of(Scheme::Urs, seq).map(str::to_owned).or(intent) {
            by_intent.entry(intent).or_default().push(f64::from(satisfaction));
        }
    }
    if by_intent.is_empty() { Err(ReadSeriesError::NoSatisfaction) } else { Ok(by_intent) }
}
