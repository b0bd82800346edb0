//! Judgements without a verdict, by judge and status.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use crate::benchmark::scores::judgement::{Judgement, Status};

/// Number of a judge's judgements by final status; repeated attempts count once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatusCounts {
    by_status: BTreeMap<Status, u64>,
}

impl StatusCounts {
    /// Counts a judge's judgements, each with its baseline, in the order of storage. A verdict takes precedence over failures; of several
    /// failures the last one counts.
    #[must_use]
    pub fn new<'j>(judgements: impl IntoIterator<Item = (&'j str, &'j Judgement)>) -> Self {
        let mut last = HashMap::new();
        for (baseline, one) in judgements {
            let key = (&one.item_id, one.turn, one.game, &one.model, baseline);
            let status = last.entry(key).or_insert(one.status);
            if *status != Status::Ok {
                *status = one.status;
            }
        }
        let mut by_status = BTreeMap::new();
        for status in last.into_values() {
            *by_status.entry(status).or_default() += 1;
        }
        Self { by_status }
    }

    /// Returns the number of judgements with a status.
    #[must_use]
    pub fn of(&self, status: Status) -> u64 {
        self.by_status.get(&status).copied().unwrap_or_default()
    }

    /// Returns the total number of judgements.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.by_status.values().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::analysis::any_judgement;

    fn judged(item: &str, status: Status) -> Judgement {
        Judgement { item_id: item.to_owned(), status, ..any_judgement() }
    }

    #[test]
    fn each_judgement_counts_once_with_its_verdict_or_its_last_failure() {
        let said = [
            judged("1", Status::ParseFailed),
            judged("1", Status::Ok),
            judged("1", Status::Refused),
            judged("2", Status::ParseFailed),
            judged("2", Status::Refused),
        ];
        let ends = StatusCounts::new(said.iter().map(|one| ("", one)));
        assert_eq!((ends.total(), ends.of(Status::Ok), ends.of(Status::Refused)), (2, 1, 1));
        assert_eq!(ends.of(Status::ParseFailed), 0);
        let of_two = StatusCounts::new(said[3..].iter().zip(["a", "b"]).map(|(one, baseline)| (baseline, one)));
        assert_eq!(of_two.total(), 2, "beside two baselines there are two judgements");
    }
}
