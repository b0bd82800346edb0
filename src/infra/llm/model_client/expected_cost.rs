//! What a request will cost, from the tokens of those before it.

use super::{ClientRequest, ModelClient, cost_of};
use crate::domain::judging::budget::{Prices, Tokens, estimate_all};

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

impl ModelClient {
    /// Expected cost of a request: of a reply of usual length, or before the first reply of the longest one that is allowed.
    pub(super) fn cost_to_expect(&self, asked: ClientRequest<'_>, prices: Option<Prices>) -> f64 {
        let output = self.usual.lock().output();
        let output =
            output.unwrap_or_else(|| self.max_tokens(asked.sampling.max_tokens).map_or(self.longest_reply, u64::from));
        self.cost_with_reply(asked, output, prices)
    }

    pub(super) fn cost_with_reply(&self, asked: ClientRequest<'_>, output: u64, prices: Option<Prices>) -> f64 {
        let input = self.usual.lock().input(estimate_all(asked.messages));
        cost_of(Tokens { input, output }, prices)
    }

    pub(super) fn has_replied(&self) -> bool {
        self.usual.lock().output().is_some()
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
