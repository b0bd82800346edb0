//! Campaigns: people judge stored answers, each annotator alone.
//!
//! A campaign is one file ([`plan`]) beside its answers ([`items`]), or the [`prompts`] that models are asked. Each pair of answers of an item (or each answer, or all answers of
//! an item) is one unit; [`unit_order`] puts the units into the order in which they are handed out, [`shared_and_gold_units`] says which are for
//! everybody, [`assignment`] decides what an
//! annotator gets next and on which side, [`shown_assignment`] is what is seen of it, [`judgement`] and [`questions`] read what the annotator says, [`rubric`] has questions that are
//! built in, [`report`] is what all of them said, and [`ending`] that there are enough judgements. [`suite_answers`]
//! takes the answers of a benchmark, [`judged_rows`] reads stored judgements, and [`state`] says whether annotators can judge.

pub mod assignment;
pub mod ending;
pub mod forecast;
pub mod id;
pub mod invalid_judgement;
pub mod item_opinions;
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

/// Days after which the links of annotators expire at the latest, where they do.
pub const MOST_LINK_DAYS: u32 = 3_650;
