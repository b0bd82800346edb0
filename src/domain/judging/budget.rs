//! Token estimates, prices, and budgets of runs.

use parking_lot::{Mutex, MutexGuard};

use crate::battle::message::Message;

/// Prices of a model per million tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Prices {
    /// Price of input tokens.
    pub input: f64,
    /// Price of output tokens.
    pub output: f64,
}

impl Prices {
    /// Computes the cost of tokens, in the currency of the prices.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^53")]
    pub fn cost(self, tokens: Tokens) -> f64 {
        self.cost_of_mean(tokens.input as f64, tokens.output as f64)
    }

    /// Computes the cost of mean numbers of input and output tokens.
    #[must_use]
    pub fn cost_of_mean(self, input: f64, output: f64) -> f64 {
        (self.input * input + self.output * output) / 1e6
    }
}

/// Input and output tokens, counted by the provider or estimated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Tokens {
    /// Tokens of the requests.
    pub input: u64,
    /// Tokens of the replies.
    pub output: u64,
}

impl Tokens {
    /// Returns the provider's counts of a request, with estimates for missing ones.
    #[must_use]
    pub fn counted(input: Option<u64>, output: Option<u64>, messages: &[Message], text: &str) -> Self {
        Self {
            input: input.unwrap_or_else(|| estimate_all(messages)),
            output: output.unwrap_or_else(|| estimate(text)),
        }
    }

    /// Adds both counts.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { input: self.input.saturating_add(other.input), output: self.output.saturating_add(other.output) }
    }
}

/// Estimates the tokens of a text: one per four ASCII characters, and two per three other characters.
#[must_use]
pub fn estimate(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    let other = text.chars().count() as u64 - ascii;
    ascii.div_ceil(4) + (2 * other).div_ceil(3)
}

/// Estimates the tokens of a conversation, with four tokens of overhead per message.
#[must_use]
pub fn estimate_all(messages: &[Message]) -> u64 {
    messages.iter().map(|message| estimate(&message.content) + 4).sum()
}

/// Limits of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Budget {
    /// Maximum number of requests.
    pub max_calls: Option<u64>,
    /// Maximum cost, in the currency of the prices.
    pub max_cost: Option<f64>,
}

/// Limit that ended a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ReachedLimit {
    /// Maximum number of requests.
    Calls(u64),
    /// Maximum cost: the next request could have exceeded it.
    Cost(f64),
}

/// Requests, tokens and cost of a run so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct Spent {
    /// Requests sent, including retries.
    pub calls: u64,
    /// Tokens of the requests.
    pub tokens: Tokens,
    /// Cost of the requests; 0 without prices.
    pub cost: f64,
}

impl Spent {
    /// Adds requests, tokens and cost.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let calls = self.calls.saturating_add(other.calls);
        Self { calls, tokens: self.tokens.plus(other.tokens), cost: self.cost + other.cost }
    }

    /// Returns the difference to an earlier state of the same run.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        let tokens = Tokens {
            input: self.tokens.input.saturating_sub(earlier.tokens.input),
            output: self.tokens.output.saturating_sub(earlier.tokens.output),
        };
        Self { calls: self.calls.saturating_sub(earlier.calls), tokens, cost: self.cost - earlier.cost }
    }
}

/// Tracks the requests of a run against its budget.
#[derive(Debug, Default)]
pub struct BudgetTracker {
    budget: Budget,
    state: Mutex<BudgetState>,
}

#[derive(Debug, Default)]
struct BudgetState {
    spent: Spent,
    /// Estimated cost of requests in flight.
    reserved: f64,
    /// Requests in flight.
    open: usize,
    reached: Option<ReachedLimit>,
}

/// Reserved share of the budget for a request in flight. Dropping it releases the share.
#[derive(Debug)]
#[must_use = "a reservation is settled when the reply is there"]
pub struct Reservation<'p> {
    budget: &'p BudgetTracker,
    cost: f64,
}

/// Reason for refusing a reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReserveError {
    /// Requests in flight may use up the remaining budget, but may also cost less.
    ForNow,
    /// The request would exceed the budget whatever those in flight cost. All later requests are refused as well.
    ForGood,
}

impl BudgetTracker {
    /// Starts with nothing spent.
    #[must_use]
    pub fn new(budget: Budget) -> Self {
        Self { budget, ..Self::default() }
    }

    /// Reserves the estimated cost of a request before it is sent.
    ///
    /// # Errors
    /// [`ReserveError`] if that could exceed the budget.
    pub fn reserve(&self, cost: f64) -> Result<Reservation<'_>, ReserveError> {
        let mut state = self.state();
        let calls = self.budget.max_calls.filter(|most| state.spent.calls >= *most).map(ReachedLimit::Calls);
        let money = self.budget.max_cost.filter(|most| state.spent.cost + cost > *most).map(ReachedLimit::Cost);
        state.reached = state.reached.or(calls).or(money);
        if state.reached.is_some() {
            return Err(ReserveError::ForGood);
        }
        if self.budget.max_cost.is_some_and(|most| state.spent.cost + state.reserved + cost > most) {
            return Err(ReserveError::ForNow);
        }
        state.spent.calls += 1;
        state.reserved += cost;
        state.open += 1;
        Ok(Reservation { budget: self, cost })
    }

    /// Reserves a request that an earlier run sent and counted; its cost is counted once the reply arrives.
    pub fn sent_before(&self) -> Reservation<'_> {
        self.state().open += 1;
        Reservation { budget: self, cost: 0.0 }
    }

    /// Whether this cost would exceed the budget without any request in flight.
    #[must_use]
    pub fn is_exceeded_by(&self, cost: f64) -> bool {
        let spent = self.spent().cost;
        self.budget.max_cost.is_some_and(|most| spent + cost > most)
    }

    /// Whether the budget has refused a request.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.reached().is_some()
    }

    /// Returns the limit that caused a refusal.
    #[must_use]
    pub fn reached(&self) -> Option<ReachedLimit> {
        self.state().reached
    }

    /// Returns requests, tokens and cost so far.
    #[must_use]
    pub fn spent(&self) -> Spent {
        self.state().spent
    }

    fn state(&self) -> MutexGuard<'_, BudgetState> {
        // Plain numbers, valid after each statement.
        self.state.lock()
    }
}

impl Reservation<'_> {
    /// Replaces the estimate by the actual cost in one step: counting a request twice could refuse another one.
    pub fn settle(mut self, tokens: Tokens, cost: f64) {
        let (budget, reserved) = (self.budget, std::mem::take(&mut self.cost));
        let mut state = budget.state();
        state.spent.tokens = state.spent.tokens.plus(tokens);
        state.spent.cost += cost;
        state.reserved -= reserved;
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        let mut state = self.budget.state();
        state.reserved -= self.cost;
        state.open -= 1;
        if state.open == 0 {
            // Sums of fractions leave a rounding error, which would count as a request that never ends.
            state.reserved = 0.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKENS: Tokens = Tokens { input: 3, output: 2 };

    #[test]
    fn a_budget_of_calls_ends_after_so_many() {
        let budget = BudgetTracker::new(Budget { max_calls: Some(2), max_cost: None });
        for _ in 0..2 {
            budget.reserve(0.0).unwrap().settle(TOKENS, 0.25);
        }
        assert!(budget.reserve(0.0).is_err() && budget.is_exhausted());
        assert_eq!(budget.reached(), Some(ReachedLimit::Calls(2)));
        let tokens = Tokens { input: 6, output: 4 };
        assert_eq!(budget.spent(), Spent { calls: 2, tokens, cost: 0.5 });
    }

    #[test]
    fn what_is_under_way_counts_against_a_budget_of_money() {
        let budget = BudgetTracker::new(Budget { max_calls: None, max_cost: Some(1.0) });
        let first = budget.reserve(0.6).unwrap();
        assert_eq!(budget.reserve(0.6).err(), Some(ReserveError::ForNow), "both would cost 1.2");
        assert_eq!(budget.reached(), None, "the first may turn out cheaper");
        first.settle(TOKENS, 0.5);
        assert_eq!(budget.reserve(0.6).err(), Some(ReserveError::ForGood), "the first has cost too much");
        assert_eq!(budget.reached(), Some(ReachedLimit::Cost(1.0)));
        assert!(budget.is_exhausted() && budget.reserve(0.1).is_err(), "a run that has stopped stays stopped");
    }

    #[test]
    fn a_budget_has_room_to_the_last_bit_when_nothing_is_in_flight() {
        let budget = BudgetTracker::new(Budget { max_calls: None, max_cost: Some(1.0) });
        // These sums leave 1.7e-16.
        let open = [0.2, 0.4, 0.3].map(|cost| budget.reserve(cost).unwrap());
        open.into_iter().for_each(drop);
        assert!(budget.reserve(1.0).is_ok());
    }

    #[test]
    fn a_request_that_failed_costs_nothing() {
        let budget = BudgetTracker::new(Budget { max_calls: None, max_cost: Some(1.0) });
        drop(budget.reserve(0.9).unwrap());
        assert!(budget.reserve(0.9).is_ok());
    }

    #[test]
    fn tokens_are_estimated_where_nobody_counts() {
        assert_eq!((estimate(""), estimate("four"), estimate("fives"), estimate("琅琊榜")), (0, 1, 2, 2));
        assert_eq!(Tokens::counted(Some(9), None, &[], "four"), Tokens { input: 9, output: 1 });
        let prices = Prices { input: 2.0, output: 4.0 };
        assert!((prices.cost(Tokens { input: 500_000, output: 250_000 }) - 2.0).abs() < 1e-12);
    }
}
