//! Prompts for judge models, and parsing of their replies.
//!
//! Pure. [`judge_prompt`] fills a prompt in one pass, so that braces in a question or an answer are not expanded; [`prompt_file`] is the
//! file format of prompts, built-in and custom; [`prompt_delimiter`] separates the texts in them; [`verdict`] parses replies after
//! [`reasoning`] has removed the judge's reasoning, and [`token_probabilities`] computes expected scores. An unreadable reply is an error
//! with a reason, never a score. The suites of [`crate::benchmark`] define prompts, reply formats and items.

pub mod budget;
pub mod judge_prompt;
pub mod prompt_delimiter;
pub mod prompt_file;
pub mod reasoning;
pub mod token_probabilities;
pub mod verdict;
