//! Circuit breaker: opens after consecutive failures, and after a pause one trial request tests the model (half-open).
//!
//! A pure state machine: time is an argument. Every request holds a [`Ticket`]; results of requests that began before the last change of
//! phase are ignored, so that a late failure does not keep the breaker open for longer. A failure that may be caused by its conversation
//! counts once for each conversation, and never opens the breaker: visitors choose their prompts, and one person can pose as many visitors.
//! It raises a suspicion, which a probe request of the arena decides.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::backoff::later;

/// Maximum number of stored conversations; more consecutive failures than that are evidence enough against the model.
const MAX_CONVERSATIONS: usize = 64;

/// Thresholds of the breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakerPolicy {
    /// Consecutive failures after which it opens; 0 means never.
    pub failures: u32,
    /// Duration for which it stays open.
    pub open_for: Duration,
}

/// Phase of the breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BreakerPhase {
    /// Every request passes.
    Closed,
    /// No request passes until the pause ends.
    Open,
    /// One request passes, and its result decides.
    HalfOpen,
}

impl BreakerPhase {
    /// Returns the name in tables and logs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            BreakerPhase::Closed => "closed",
            BreakerPhase::Open => "open",
            BreakerPhase::HalfOpen => "half_open",
        }
    }
}

/// Visible state of a breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BreakerState {
    /// Current phase.
    pub phase: BreakerPhase,
    /// Consecutive failures.
    pub failures: u32,
}

/// Permit of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a ticket that is not given back may keep the breaker half open"]
pub struct Ticket {
    /// Period in which it was issued.
    period: u64,
    /// Whether the request is a probe of the arena.
    is_own: bool,
}

/// Circuit breaker of one model.
#[derive(Debug)]
pub struct Breaker {
    policy: BreakerPolicy,
    phase: BreakerStage,
    failures: u32,
    /// Conversations that may have caused some of the consecutive failures.
    conversations: Vec<u64>,
    /// Whether such failures are numerous enough for a probe.
    is_suspected: bool,
    /// Whether a probe is running.
    is_questioned: bool,
    /// Number of changes of phase.
    period: u64,
}

#[derive(Debug, Clone, Copy)]
enum BreakerStage {
    Closed,
    Open { until: Instant },
    HalfOpen { asked: bool },
}

impl Breaker {
    /// Creates a closed breaker.
    #[must_use]
    pub fn new(policy: BreakerPolicy) -> Self {
        Self {
            policy,
            phase: BreakerStage::Closed,
            failures: 0,
            conversations: Vec::new(),
            is_suspected: false,
            is_questioned: false,
            period: 0,
        }
    }

    /// Issues a ticket, or `None` while the breaker is open. During a trial it also admits requests to a model that was not drawn, such as
    /// one chosen by the visitor: a refusal would reveal that the trial runs in another battle.
    pub fn admit(&mut self, now: Instant) -> Option<Ticket> {
        if self.remaining_open(now).is_some() {
            return None;
        }
        match self.phase {
            BreakerStage::Closed => {}
            BreakerStage::Open { .. } => self.enter(BreakerStage::HalfOpen { asked: true }),
            BreakerStage::HalfOpen { .. } => self.phase = BreakerStage::HalfOpen { asked: true },
        }
        Some(Ticket { period: self.period, is_own: false })
    }

    /// Whether the model may be drawn now: not during a trial.
    #[must_use]
    pub fn may_be_drawn(&self, now: Instant) -> bool {
        match self.phase {
            BreakerStage::Closed => true,
            BreakerStage::Open { until } => now >= until,
            BreakerStage::HalfOpen { asked } => !asked,
        }
    }

    /// Records that the request was answered.
    pub fn succeeded(&mut self, ticket: Ticket) {
        if self.return_ticket(ticket) {
            self.failures = 0;
            self.conversations.clear();
            self.is_suspected = false;
            if !matches!(self.phase, BreakerStage::Closed) {
                self.enter(BreakerStage::Closed);
            }
        }
    }

    /// Records that the request failed.
    pub fn failed(&mut self, ticket: Ticket, now: Instant) {
        if self.return_ticket(ticket) {
            self.failures = self.failures.saturating_add(1);
            if self.has_failed_enough() {
                self.enter(BreakerStage::Open { until: later(now, self.policy.open_for) });
            }
        }
    }

    /// Records a failure that the conversation may have caused: the same conversation counts once among consecutive failures. A trial's
    /// failure always counts. If the failures suffice to open the breaker, the model becomes suspected.
    pub fn failed_on(&mut self, ticket: Ticket, conversation: u64) {
        if !self.return_ticket(ticket) {
            return;
        }
        let is_known = self.conversations.contains(&conversation);
        if !is_known || self.is_half_open() {
            self.failures = self.failures.saturating_add(1);
        }
        if !is_known && self.conversations.len() < MAX_CONVERSATIONS {
            self.conversations.push(conversation);
        }
        self.is_suspected |= self.has_failed_enough();
    }

    /// Whether the latest failure should open the breaker: the threshold is reached, or it was a trial, whatever had opened the breaker.
    fn has_failed_enough(&self) -> bool {
        self.policy.failures > 0 && (self.failures >= self.policy.failures || self.is_half_open())
    }

    fn is_half_open(&self) -> bool {
        matches!(self.phase, BreakerStage::HalfOpen { .. })
    }

    /// Issues a ticket for a probe of a suspected model, once for each suspicion. A suspicion that arises during a probe waits for its end.
    pub fn take_probe_ticket(&mut self) -> Option<Ticket> {
        if self.is_questioned {
            return None;
        }
        self.is_questioned = std::mem::take(&mut self.is_suspected);
        self.is_questioned.then_some(Ticket { period: self.period, is_own: true })
    }

    /// Records that the caller gave the request up: it says nothing about the model.
    pub fn abandoned(&mut self, ticket: Ticket) {
        if self.return_ticket(ticket)
            && let BreakerStage::HalfOpen { asked } = &mut self.phase
        {
            *asked = false;
        }
    }

    /// Returns a ticket; returns whether its result counts.
    fn return_ticket(&mut self, ticket: Ticket) -> bool {
        self.is_questioned &= !ticket.is_own;
        ticket.period == self.period
    }

    /// Opens the breaker until then for a reason other than consecutive failures, which stay counted: a trial follows here too.
    pub fn open_until(&mut self, until: Instant) {
        if self.policy.failures == 0 {
            return;
        }
        match &mut self.phase {
            // All instances close it at the same time.
            BreakerStage::Open { until: own } => *own = until,
            _ => self.enter(BreakerStage::Open { until }),
        }
    }

    /// Returns the remaining time until it may close; `None` if it is not open.
    #[must_use]
    pub fn remaining_open(&self, now: Instant) -> Option<Duration> {
        match self.phase {
            BreakerStage::Open { until } => until.checked_duration_since(now).filter(|remaining| !remaining.is_zero()),
            _ => None,
        }
    }

    /// Returns the visible state.
    #[must_use]
    pub fn state(&self) -> BreakerState {
        let phase = match self.phase {
            BreakerStage::Closed => BreakerPhase::Closed,
            BreakerStage::Open { .. } => BreakerPhase::Open,
            BreakerStage::HalfOpen { .. } => BreakerPhase::HalfOpen,
        };
        BreakerState { phase, failures: self.failures }
    }

    fn enter(&mut self, phase: BreakerStage) {
        self.phase = phase;
        self.is_suspected = false;
        self.period += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN_FOR: Duration = Duration::from_secs(30);

    fn opened(now: Instant) -> Breaker {
        let mut breaker = Breaker::new(BreakerPolicy { failures: 3, open_for: OPEN_FOR });
        for _ in 0..3 {
            let ticket = breaker.admit(now).unwrap();
            breaker.failed(ticket, now);
        }
        breaker
    }

    #[track_caller]
    fn check(breaker: &Breaker, phase: BreakerPhase, failures: u32) {
        assert_eq!(breaker.state(), BreakerState { phase, failures });
    }

    #[test]
    fn it_opens_after_failures_in_a_row_and_not_before() {
        let now = Instant::now();
        let mut breaker = Breaker::new(BreakerPolicy { failures: 3, open_for: OPEN_FOR });
        for fails in [true, true, false, true, true] {
            let ticket = breaker.admit(now).unwrap();
            if fails { breaker.failed(ticket, now) } else { breaker.succeeded(ticket) }
        }
        check(&breaker, BreakerPhase::Closed, 2);
        let ticket = breaker.admit(now).unwrap();
        breaker.failed(ticket, now);
        check(&breaker, BreakerPhase::Open, 3);
        assert!(breaker.admit(now + OPEN_FOR - Duration::from_millis(1)).is_none());
    }

    #[test]
    fn after_the_rest_one_request_tries_it_out() {
        let now = Instant::now();
        let mut breaker = opened(now);
        assert!(breaker.may_be_drawn(now + OPEN_FOR));
        let ticket = breaker.admit(now + OPEN_FOR).unwrap();
        check(&breaker, BreakerPhase::HalfOpen, 3);
        assert!(!breaker.may_be_drawn(now + OPEN_FOR), "one at a time");
        breaker.succeeded(ticket);
        check(&breaker, BreakerPhase::Closed, 0);
    }

    #[test]
    fn a_request_for_this_very_model_is_let_through_beside_a_trial() {
        let now = Instant::now();
        let mut breaker = opened(now);
        assert!(breaker.admit(now).is_none());
        let trial = breaker.admit(now + OPEN_FOR).unwrap();
        let chosen = breaker.admit(now + OPEN_FOR).expect("a refusal would say that the trial is under way");
        breaker.abandoned(chosen);
        check(&breaker, BreakerPhase::HalfOpen, 3);
        breaker.succeeded(trial);
        check(&breaker, BreakerPhase::Closed, 0);
    }

    #[test]
    fn a_failed_trial_opens_it_again() {
        let now = Instant::now();
        let mut breaker = opened(now);
        let ticket = breaker.admit(now + OPEN_FOR).unwrap();
        breaker.failed(ticket, now + OPEN_FOR);
        check(&breaker, BreakerPhase::Open, 4);
        assert!(!breaker.may_be_drawn(now + OPEN_FOR * 2 - Duration::from_millis(1)));
        assert!(breaker.may_be_drawn(now + OPEN_FOR * 2));
    }

    #[test]
    fn one_conversation_that_fails_again_and_again_counts_once() {
        let now = Instant::now();
        let mut breaker = Breaker::new(BreakerPolicy { failures: 3, open_for: OPEN_FOR });
        let failures = [1, 1, 1, 2, 1, 2].map(|conversation| {
            let ticket = breaker.admit(now).unwrap();
            breaker.failed_on(ticket, conversation);
            breaker.state().failures
        });
        assert_eq!(failures, [1, 1, 1, 2, 2, 2]);
        assert_eq!(breaker.take_probe_ticket(), None);
        let ticket = breaker.admit(now).unwrap();
        breaker.succeeded(ticket);
        let ticket = breaker.admit(now).unwrap();
        breaker.failed_on(ticket, 1);
        check(&breaker, BreakerPhase::Closed, 1);
    }

    /// Creates a breaker with failures of three conversations.
    fn suspected(now: Instant) -> Breaker {
        let mut breaker = Breaker::new(BreakerPolicy { failures: 3, open_for: OPEN_FOR });
        for conversation in 1..=3 {
            let ticket = breaker.admit(now).unwrap();
            breaker.failed_on(ticket, conversation);
        }
        check(&breaker, BreakerPhase::Closed, 3);
        breaker
    }

    #[test]
    fn conversations_alone_never_open_it_and_the_arenas_own_question_does() {
        let now = Instant::now();
        let mut breaker = suspected(now);
        let own = breaker.take_probe_ticket().unwrap();
        assert_eq!(breaker.take_probe_ticket(), None, "once for each suspicion");
        breaker.succeeded(own);
        check(&breaker, BreakerPhase::Closed, 0);

        let mut breaker = suspected(now);
        let own = breaker.take_probe_ticket().unwrap();
        breaker.failed(own, now);
        check(&breaker, BreakerPhase::Open, 4);
    }

    #[test]
    fn a_failure_that_is_the_models_own_decides_a_suspicion_and_an_answer_ends_it() {
        let now = Instant::now();
        let mut breaker = suspected(now);
        let ticket = breaker.admit(now).unwrap();
        breaker.failed(ticket, now);
        check(&breaker, BreakerPhase::Open, 4);
        assert_eq!(breaker.take_probe_ticket(), None);

        let mut breaker = suspected(now);
        let ticket = breaker.admit(now).unwrap();
        breaker.succeeded(ticket);
        assert_eq!(breaker.take_probe_ticket(), None);
    }

    #[test]
    fn an_own_question_without_a_result_is_followed_by_another_one_after_the_next_failure() {
        let now = Instant::now();
        let mut breaker = suspected(now);
        let own = breaker.take_probe_ticket().unwrap();
        breaker.abandoned(own);
        assert_eq!(breaker.take_probe_ticket(), None);
        let ticket = breaker.admit(now).unwrap();
        breaker.failed_on(ticket, 3);
        assert!(breaker.take_probe_ticket().is_some(), "a known conversation is reason enough then");
    }

    #[test]
    fn a_suspicion_beside_an_own_question_waits_for_its_end() {
        let now = Instant::now();
        for answers in [true, false] {
            let mut breaker = suspected(now);
            let own = breaker.take_probe_ticket().unwrap();
            let ticket = breaker.admit(now).unwrap();
            breaker.failed_on(ticket, 4);
            assert_eq!(breaker.take_probe_ticket(), None, "one question at a time");
            // Opened by another instance: the result no longer counts, and the probe ends all the same.
            breaker.open_until(now + OPEN_FOR);
            if answers {
                breaker.succeeded(own)
            } else {
                breaker.abandoned(own)
            }
            let trial = breaker.admit(now + OPEN_FOR).unwrap();
            breaker.failed_on(trial, 1);
            assert!(breaker.take_probe_ticket().is_some());
        }
    }

    #[test]
    fn a_trial_that_its_conversation_may_have_failed_is_decided_by_the_arenas_own_question() {
        let now = Instant::now();
        for answers in [true, false] {
            let mut breaker = opened(now);
            let trial = breaker.admit(now + OPEN_FOR).unwrap();
            breaker.failed_on(trial, 1);
            check(&breaker, BreakerPhase::HalfOpen, 4);
            assert!(!breaker.may_be_drawn(now + OPEN_FOR), "not before it is decided");
            let own = breaker.take_probe_ticket().unwrap();
            if answers {
                breaker.succeeded(own)
            } else {
                breaker.failed(own, now + OPEN_FOR)
            }
            let phase = if answers { BreakerPhase::Closed } else { BreakerPhase::Open };
            assert_eq!(breaker.state().phase, phase);
        }
    }

    #[test]
    fn an_abandoned_trial_leaves_room_for_the_next() {
        let now = Instant::now();
        let mut breaker = opened(now);
        let ticket = breaker.admit(now + OPEN_FOR).unwrap();
        breaker.abandoned(ticket);
        check(&breaker, BreakerPhase::HalfOpen, 3);
        assert!(breaker.may_be_drawn(now + OPEN_FOR));
    }

    #[test]
    fn results_from_before_the_last_change_are_not_counted() {
        let now = Instant::now();
        let mut breaker = Breaker::new(BreakerPolicy { failures: 1, open_for: OPEN_FOR });
        let (first, late_success, late_failure) =
            (breaker.admit(now).unwrap(), breaker.admit(now).unwrap(), breaker.admit(now).unwrap());
        breaker.failed(first, now);
        breaker.succeeded(late_success);
        breaker.failed(late_failure, now + Duration::from_secs(10));
        check(&breaker, BreakerPhase::Open, 1);
        assert!(breaker.may_be_drawn(now + OPEN_FOR));
    }

    #[test]
    fn a_model_that_failed_elsewhere_rests_as_long_as_there_and_is_tried_out_here_too() {
        let now = Instant::now();
        let mut breaker = Breaker::new(BreakerPolicy { failures: 3, open_for: OPEN_FOR });
        let under_way = breaker.admit(now).unwrap();
        breaker.open_until(now + OPEN_FOR / 2);
        check(&breaker, BreakerPhase::Open, 0);
        breaker.succeeded(under_way);
        check(&breaker, BreakerPhase::Open, 0);
        assert_eq!(breaker.remaining_open(now), Some(OPEN_FOR / 2));
        assert_eq!(breaker.remaining_open(now + OPEN_FOR / 2), None);

        let trial = breaker.admit(now + OPEN_FOR / 2).unwrap();
        breaker.failed(trial, now + OPEN_FOR / 2);
        check(&breaker, BreakerPhase::Open, 1);
        breaker.open_until(now + OPEN_FOR);
        assert_eq!(breaker.remaining_open(now), Some(OPEN_FOR), "all instances close it at the same time");
        let trial = breaker.admit(now + OPEN_FOR).unwrap();
        assert_eq!(breaker.remaining_open(now + OPEN_FOR), None);
        breaker.open_until(now + 2 * OPEN_FOR);
        breaker.succeeded(trial);
        check(&breaker, BreakerPhase::Open, 1);
    }

    #[test]
    fn a_policy_of_zero_failures_never_opens() {
        let now = Instant::now();
        let mut breaker = Breaker::new(BreakerPolicy { failures: 0, open_for: OPEN_FOR });
        breaker.open_until(now + OPEN_FOR);
        for _ in 0..100 {
            let ticket = breaker.admit(now).unwrap();
            breaker.failed(ticket, now);
        }
        let ticket = breaker.admit(now).unwrap();
        breaker.failed_on(ticket, 1);
        assert_eq!(breaker.take_probe_ticket(), None);
        check(&breaker, BreakerPhase::Closed, 101);
    }
}
