//! Planned requests of a benchmark run, and its outcome.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::super::scores::judgement::Status;
use crate::battle::ModelId;
use crate::judging::budget::{Prices, Tokens};
use crate::plural::counted;

/// Planned requests to one model or judge.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RequestPlan {
    /// Id of the model or judge.
    pub model: ModelId,
    /// Number of existing results.
    pub done: u64,
    /// Number of results available from earlier replies to identical requests.
    pub reused: u64,
    /// Number of results to request.
    pub open: u64,
    /// Expected number of requests.
    pub calls: u64,
    /// Number of requests if no reply is usable and all retries are needed.
    pub worst_calls: u64,
    /// Expected tokens.
    pub tokens: Tokens,
    /// Expected cost; `None` without prices.
    pub cost: Option<f64>,
    /// Cost if no reply is usable and each has the maximum length of its request, or the longest one so far for a request without a limit;
    /// `None` without prices.
    pub worst_cost: Option<f64>,
    /// Basis of the estimate.
    pub basis: String,
}

/// Past requests of a model or judge.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PastRequests {
    /// Number of results.
    pub results: u64,
    /// Number of requests for these results.
    pub requests: u64,
    /// Number of results with token counts by the provider.
    pub counted: u64,
    /// Tokens of the counted results.
    pub tokens: Tokens,
    /// Tokens of the longest reply.
    pub longest: u64,
}

/// Maximum number of attempts of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestPlanOptions {
    /// Maximum number of replies per request, unusable ones included.
    pub replies: u64,
    /// Maximum number of tries per reply.
    pub tries: u64,
    /// Default length of a reply in tokens, if nothing is known.
    pub usual_reply: u64,
}

/// Builder of a request plan.
#[derive(Debug, Default)]
pub struct PlannedRequests {
    /// Number of existing results.
    pub done: u64,
    /// Number of results available without a request.
    pub reused: u64,
    open: u64,
    input: u64,
    /// Estimated and maximum tokens of the replies.
    usual: u64,
    limited: u64,
    unlimited: u64,
}

impl PlannedRequests {
    /// Starts with this many existing results.
    #[must_use]
    pub fn after(done: u64) -> Self {
        Self { done, ..Self::default() }
    }

    /// Adds a request with its estimated tokens, and the maximum tokens of its reply.
    pub fn add(&mut self, input: u64, most: Option<u32>, effort: RequestPlanOptions) {
        self.open += 1;
        self.input += input;
        self.usual += effort.usual_reply.min(most.map_or(u64::MAX, u64::from));
        match most {
            Some(most) => self.limited += u64::from(most),
            None => self.unlimited += 1,
        }
    }

    /// Builds the plan from past requests, or from defaults.
    #[must_use]
    pub fn plan(
        self,
        model: ModelId,
        past: PastRequests,
        effort: RequestPlanOptions,
        prices: Option<Prices>,
    ) -> RequestPlan {
        let of_past = |number: u64, results: u64| (self.open * number + results / 2).checked_div(results);
        let tokens = Tokens {
            input: of_past(past.tokens.input, past.counted).unwrap_or(self.input),
            output: of_past(past.tokens.output, past.counted).unwrap_or(self.usual),
        };
        let longest = past.longest.max(effort.usual_reply);
        let worst = Tokens {
            input: self.input * effort.replies,
            output: (self.limited + self.unlimited * longest) * effort.replies,
        };
        let basis = match past.results {
            0 => format!("no result yet: one request and {} tokens a reply", effort.usual_reply),
            results if past.counted == 0 => format!("{}, without token counts", counted(results, "result", "results")),
            results => format!("{} so far", counted(results, "result", "results")),
        };
        let basis = match self.unlimited {
            0 => basis,
            unlimited => format!("{basis}; {unlimited} sent without max_tokens"),
        };
        RequestPlan {
            model,
            done: self.done,
            reused: self.reused,
            open: self.open,
            calls: of_past(past.requests, past.results).unwrap_or(self.open).max(self.open),
            worst_calls: self.open * effort.replies * effort.tries,
            tokens,
            cost: prices.map(|prices| prices.cost(tokens)),
            worst_cost: prices.map(|prices| prices.cost(worst).max(prices.cost(tokens))),
            basis,
        }
    }
}

/// Total requests of one or more runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct RequestTotal {
    /// Number of existing results.
    pub done: u64,
    /// Number of results available from earlier replies to identical requests.
    pub reused: u64,
    /// Expected number of requests.
    pub calls: u64,
    /// Maximum number of requests.
    pub worst_calls: u64,
    /// Expected tokens of the requests.
    pub input_tokens: u64,
    /// Expected tokens of the replies.
    pub output_tokens: u64,
    /// Expected cost; `None` if a model has no prices.
    pub cost: Option<f64>,
    /// Maximum cost; `None` if a model has no prices.
    pub worst_cost: Option<f64>,
}

impl RequestTotal {
    /// Sums plans.
    #[must_use]
    pub fn of<'p>(plans: impl Iterator<Item = &'p RequestPlan>) -> Self {
        Self::sum(plans.map(|plan| Self {
            done: plan.done,
            reused: plan.reused,
            calls: plan.calls,
            worst_calls: plan.worst_calls,
            input_tokens: plan.tokens.input,
            output_tokens: plan.tokens.output,
            cost: plan.cost,
            worst_cost: plan.worst_cost,
        }))
    }

    /// Sums totals; a cost only if each has one.
    #[must_use]
    pub fn sum(totals: impl Iterator<Item = Self>) -> Self {
        let nothing = Self { cost: Some(0.0), worst_cost: Some(0.0), ..Self::default() };
        let both = |one: Option<f64>, other: Option<f64>| Some(one? + other?);
        totals.fold(nothing, |sum, one| Self {
            done: sum.done + one.done,
            reused: sum.reused + one.reused,
            calls: sum.calls + one.calls,
            worst_calls: sum.worst_calls + one.worst_calls,
            input_tokens: sum.input_tokens + one.input_tokens,
            output_tokens: sum.output_tokens + one.output_tokens,
            cost: both(sum.cost, one.cost),
            worst_cost: both(sum.worst_cost, one.worst_cost),
        })
    }
}

/// Requests of a run at the start of its plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedStep {
    /// Name of the suite.
    pub suite: String,
    /// Round of answers.
    pub sample: u32,
    /// Total requests of the run.
    #[serde(flatten)]
    pub total: RequestTotal,
}

/// Outcome of a run for one model or judge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunOutcome {
    /// Id of the model or judge.
    pub model: ModelId,
    /// Number of results due.
    pub total: u64,
    /// Number of results stored before this run.
    pub before: u64,
    /// Number of results stored by this run.
    pub kept: u64,
    /// Number of stored results that reuse a reply to an identical request.
    pub reused: u64,
    /// Number of results that the provider permanently refuses, including those of earlier runs.
    pub refused: u64,
    /// Number of failures by reason.
    pub failed: BTreeMap<String, u64>,
}

impl RunOutcome {
    /// Starts without results.
    #[must_use]
    pub fn new(model: ModelId) -> Self {
        Self { model, total: 0, before: 0, kept: 0, reused: 0, refused: 0, failed: BTreeMap::new() }
    }

    /// Counts a failed request.
    pub fn fail(&mut self, reason: String) {
        *self.failed.entry(reason).or_default() += 1;
    }

    /// Counts a stored judgement. A transport failure stays open, so the next run retries it.
    pub fn ended(&mut self, status: Status) {
        match status {
            Status::TransportFailed => {}
            Status::Ok => self.kept += 1,
            failed => {
                self.kept += 1;
                *self.failed.entry(failed.in_words().to_owned()).or_default() += 1;
            }
        }
    }

    /// Whether this is the first run of a judge, and none of its replies contains a verdict.
    #[must_use]
    pub fn is_unreadable(&self) -> bool {
        let unread = [Status::ParseFailed, Status::OutOfRange].map(|status| self.failed.get(status.in_words()));
        self.before == 0 && self.kept > 0 && unread.into_iter().flatten().sum::<u64>() == self.kept
    }

    /// Formats the failures; empty without any.
    #[must_use]
    pub fn failures(&self) -> String {
        let failures = self.failed.iter().map(|(reason, count)| format!("{count} × {reason}"));
        failures.collect::<Vec<_>>().join("; ")
    }

    /// Returns the number of missing results that can still be requested.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.total.saturating_sub(self.before + self.kept + self.refused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EFFORT: RequestPlanOptions = RequestPlanOptions { replies: 3, tries: 4, usual_reply: 300 };
    const PRICES: Prices = Prices { input: 1.0, output: 10.0 };

    fn plan(past: PastRequests) -> RequestPlan {
        let mut planned = PlannedRequests { reused: 2, ..PlannedRequests::after(1) };
        planned.add(100, Some(200), EFFORT);
        planned.add(50, None, EFFORT);
        planned.plan(ModelId::new("m"), past, EFFORT, Some(PRICES))
    }

    #[test]
    fn a_judge_none_of_whose_replies_has_a_verdict_is_unreadable() {
        let after = |before: u64, ended: &[Status]| {
            let mut outcome = RunOutcome { before, ..RunOutcome::new(ModelId::new("j")) };
            ended.iter().for_each(|status| outcome.ended(*status));
            outcome.is_unreadable()
        };
        let unread = [Status::ParseFailed, Status::OutOfRange];
        assert!(after(0, &unread) && after(0, &[Status::ParseFailed, Status::TransportFailed]));
        assert!(!after(0, &[Status::ParseFailed, Status::Ok]) && !after(0, &[Status::EmptyAnswer]));
        assert!(!after(0, &[]) && !after(5, &unread), "earlier replies may have verdicts");
    }

    #[test]
    fn without_results_a_plan_says_its_defaults() {
        let plan = plan(PastRequests::default());
        assert_eq!((plan.done, plan.reused, plan.calls, plan.worst_calls), (1, 2, 2, 24));
        assert_eq!(plan.tokens, Tokens { input: 150, output: 200 + 300 });
        assert_eq!(plan.basis, "no result yet: one request and 300 tokens a reply; 1 sent without max_tokens");
        let worst = PRICES.cost(Tokens { input: 450, output: 3 * (200 + 300) });
        assert!((plan.worst_cost.unwrap() - worst).abs() < 1e-12, "{plan:?}");
    }

    #[test]
    fn the_worst_cost_has_every_reply_as_long_as_the_request_lets_it() {
        let mut planned = PlannedRequests::default();
        planned.add(100, Some(2_048), EFFORT);
        let plan = planned.plan(ModelId::new("m"), PastRequests::default(), EFFORT, Some(PRICES));
        assert_eq!(
            (plan.tokens.output, plan.basis.as_str()),
            (300, "no result yet: one request and 300 tokens a reply")
        );
        let worst = PRICES.cost(Tokens { input: 300, output: 3 * 2_048 });
        assert!((plan.worst_cost.unwrap() - worst).abs() < 1e-12, "{plan:?}");
    }

    #[test]
    fn a_plan_expects_what_results_took_so_far() {
        let tokens = Tokens { input: 9_000, output: 4_000 };
        let past = PastRequests { results: 100, requests: 150, counted: 50, tokens, longest: 900 };
        let plan = plan(past);
        assert_eq!((plan.calls, plan.tokens), (3, Tokens { input: 360, output: 160 }));
        assert_eq!(plan.basis, "100 results so far; 1 sent without max_tokens");
        assert!((plan.cost.unwrap() - PRICES.cost(plan.tokens)).abs() < 1e-12);
        let worst = PRICES.cost(Tokens { input: 450, output: 3 * (200 + 900) });
        assert!((plan.worst_cost.unwrap() - worst).abs() < 1e-12, "{plan:?}");
    }
}
