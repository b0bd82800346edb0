//! Expected cost of a request, estimated from the tokens of earlier ones.

use super::{ClientRequest, ModelClient, cost_of};
use crate::domain::judging::budget::{Prices, Tokens, estimate_all};

/// Token totals of the replies so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct AverageTokens {
    replies: u64,
    output: u64,
    /// Prompt tokens counted by the provider beyond the estimates: chat template and tokenizer differences.
    beyond_estimates: u64,
}

impl AverageTokens {
    /// Adds a reply to a prompt with this estimated number of tokens.
    pub(super) fn add(&mut self, counted: Tokens, estimated_input: u64) {
        self.replies += 1;
        self.output = self.output.saturating_add(counted.output);
        let beyond = counted.input.saturating_sub(estimated_input);
        self.beyond_estimates = self.beyond_estimates.saturating_add(beyond);
    }

    /// Returns the expected tokens of a prompt with this estimated number of tokens.
    pub(super) fn input(self, estimated: u64) -> u64 {
        estimated.saturating_add(self.beyond_estimates.checked_div(self.replies).unwrap_or_default())
    }

    /// Returns the expected tokens of a reply; `None` before the first one.
    pub(super) fn output(self) -> Option<u64> {
        self.output.checked_div(self.replies)
    }
}

impl ModelClient {
    /// Returns the expected cost of a request: for a reply of average length, or before the first reply for the longest allowed one.
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
        let mut usual = AverageTokens::default();
        assert_eq!((usual.input(20), usual.output()), (20, None));
        usual.add(Tokens { input: 100, output: 10 }, 20);
        usual.add(Tokens { input: 80, output: 30 }, 40);
        assert_eq!((usual.input(30), usual.output()), (90, Some(20)));
        usual.add(Tokens { input: 0, output: 20 }, 50);
        assert_eq!(usual.input(30), 70, "a provider that counts less is not taken at its word");
    }
}
