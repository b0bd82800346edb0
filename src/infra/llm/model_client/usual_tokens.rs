//! What a request will take, from what those before it took.

use crate::domain::judging::budget::Tokens;

/// Tokens of the replies so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct UsualTokens {
    replies: u64,
    output: u64,
    /// Tokens of prompts that the provider counted beyond the estimates: its template, and another tokenizer.
    beyond_estimates: u64,
}

impl UsualTokens {
    /// Adds a reply to a prompt of so many estimated tokens.
    pub(super) fn add(&mut self, counted: Tokens, estimated_input: u64) {
        self.replies += 1;
        self.output = self.output.saturating_add(counted.output);
        let beyond = counted.input.saturating_sub(estimated_input);
        self.beyond_estimates = self.beyond_estimates.saturating_add(beyond);
    }

    /// Tokens to expect of a prompt of so many estimated ones.
    pub(super) fn input(self, estimated: u64) -> u64 {
        estimated.saturating_add(self.beyond_estimates.checked_div(self.replies).unwrap_or_default())
    }

    /// Tokens to expect of a reply; `None` before the first one.
    pub(super) fn output(self) -> Option<u64> {
        self.output.checked_div(self.replies)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_expected_to_take_what_those_before_it_took_beyond_their_estimates() {
        let mut usual = UsualTokens::default();
        assert_eq!((usual.input(20), usual.output()), (20, None));
        usual.add(Tokens { input: 100, output: 10 }, 20);
        usual.add(Tokens { input: 80, output: 30 }, 40);
        assert_eq!((usual.input(30), usual.output()), (90, Some(20)));
        usual.add(Tokens { input: 0, output: 20 }, 50);
        assert_eq!(usual.input(30), 70, "a provider that counts less is not taken at its word");
    }
}
