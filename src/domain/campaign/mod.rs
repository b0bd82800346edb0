//! Campaigns: people judge stored answers, each annotator independently.
//!
//! A campaign is one file ([`plan`]) with its answers ([`items`]), or the [`prompts`] that models are asked. Each pair of answers of an
//! item (or each answer, or all answers of an item) is one unit. [`unit_order`] orders the units for assignment, [`shared_and_gold_units`]
//! selects those for all annotators, [`assignment`] chooses an annotator's next unit and sides, and [`shown_assignment`] is the visible
//! part. [`judgement`] and [`questions`] validate an annotator's input, [`rubric`] has built-in questions, [`report`] aggregates all
//! judgements, and [`ending`] defines when there are enough. [`suite_answers`] imports the answers of a benchmark, [`judged_rows`] reads
//! stored judgements, and [`state`] defines whether annotators can judge.

pub mod assignment;
pub mod ending;
pub mod forecast;
pub mod id;
pub mod invalid_judgement;
pub mod item_judgement_summary;
pub mod items;
pub mod judged_rows;
pub mod judgement;
pub mod plan;
pub mod prompts;
pub mod questions;
pub mod report;
pub mod rubric;
pub mod shared_and_gold_units;
pub mod shown_assignment;
pub mod state;
pub mod suite_answers;
pub mod unit_order;

/// Maximum lifetime of annotators' links in days, for links that expire.
pub const MAX_LINK_DAYS: u32 = 3_650;
