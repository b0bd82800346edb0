//! Helpers for the tables of [`findings`](super::findings) and [`item_findings`](super::item_findings).

use super::{Analysis, Datum};
use crate::i18n::findings::FindingText;

pub(super) fn table(key: &str, said: &FindingText, rows: Vec<Vec<Datum>>) -> Analysis {
    Analysis {
        key: key.to_owned(),
        title: said.title.to_owned(),
        lead: said.lead.to_owned(),
        columns: said.columns.iter().map(|head| (*head).to_owned()).collect(),
        rows,
    }
}

pub(super) fn count(number: usize) -> Datum {
    Datum::Count(u64::try_from(number).unwrap_or(u64::MAX))
}

/// Formats a name with its baseline, if there is one: with several baselines, the name occurs with each.
pub(super) fn name_with_baseline(name: &str, baseline: &str) -> String {
    match baseline {
        "" => name.to_owned(),
        baseline => format!("{name} : {baseline}"),
    }
}
