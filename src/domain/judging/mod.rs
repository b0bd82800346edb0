//! Prompts for judge models, and the parsing of their replies.
//!
//! Pure. [`judge_prompt`] fills a prompt in one pass, so that braces in a question or an answer stay what they are;
//! [`prompt_file`] is the form in which prompts are kept, ours and those of a user; [`prompt_delimiter`] separates the texts in them; [`verdict`] reads replies, after
//! [`reasoning`] has taken away what the judge thought before, and [`token_probabilities`] says which score was to be expected. A reply that cannot
//! be read is an error with a reason, never a score. The suites of [`crate::benchmark`] say which prompt, which form and which
//! items.

pub mod budget;
pub mod judge_prompt;
pub mod prompt_delimiter;
pub mod prompt_file;
pub mod reasoning;
pub mod token_probabilities;
pub mod verdict;
