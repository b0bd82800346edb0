//! Campaigns: people judge stored answers, each annotator alone.
//!
//! A campaign is one file ([`plan`]) beside its answers ([`items`]), or the [`prompts`] that models are asked. Each pair of answers of an item (or each answer, or all answers of
//! an item) is one unit; [`units`] puts the units into the order in which they are handed out, [`layout`] says which are for
//! everybody, [`assignment`] decides what an
//! annotator sees next and on which side, [`judgement`] and [`questions`] read what the annotator says, [`rubric`] has questions that are
//! built in, [`report`] is what all of them said, and [`ending`] that there are enough judgements.

pub mod assignment;
pub mod ending;
pub mod forecast;
pub mod id;
pub mod invalid_judgement;
pub mod item_opinions;
pub mod items;
pub mod judgement;
pub mod layout;
pub mod plan;
pub mod prompts;
pub mod questions;
pub mod report;
pub mod rubric;
pub mod units;
