//! Tables of campaigns: units, links, assignments, judgements and their withdrawals.

pub(super) mod assignments;
pub(super) mod campaigns;
pub(super) mod deletion;
pub(super) mod endings;
pub(super) mod exclusions;
pub(super) mod judgements;
pub(super) mod links;
pub(super) mod opinions;
pub(super) mod verdicts;
pub(super) mod votes;
pub(super) mod withdrawals;
