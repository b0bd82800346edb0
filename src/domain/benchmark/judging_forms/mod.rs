//! Forms of judging that suites share: pointwise, pairwise, conversations, multiple choice.

pub(super) mod conversation;
pub mod cross_validation;
pub mod logprob_weighted;
pub(super) mod multiple_choice;
pub mod pairwise;
pub(super) mod pointwise;
