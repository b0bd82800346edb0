//! Latest results of one model by visitor: detects a model that fails on most questions that other models answer.
//!
//! Pure. Each visitor has one result however much they ask, and only a failure where another model answered counts against the model, so
//! one visitor cannot exclude it. Visitors it answered are weighed against those it failed.

use std::collections::VecDeque;

use crate::domain::battle::{RunId, VisitorId};

/// Number of stored visitors; later ones replace the oldest.
const MAX_VISITORS: usize = 32;
/// Maximum number of undecided failures of one visitor: those of questions asked at the same time, each in its own tab.
const MAX_UNDECIDED: usize = 8;
/// Minimum number of visitors on whose questions only this model failed.
const MIN_FAILED_VISITORS: usize = 8;
/// Ratio of visitors failed alone to visitors answered at which the model fails on most questions.
const FAILURE_RATIO: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq)]
enum VisitorResult {
    /// The model answered.
    Answered,
    /// It failed, possibly because of the questions; ids of their runs, the oldest first.
    Failed(VecDeque<RunId>),
    /// It failed, while another model answered the question.
    FailedAlone,
}

/// Stored result of one visitor.
#[derive(Debug)]
struct RememberedVisitor {
    id: VisitorId,
    latest: VisitorResult,
    /// Whether a lone failure of this visitor was already counted: another one changes nothing, even after an answer.
    has_counted: bool,
}

/// Results of the latest visitors, the oldest first.
#[derive(Debug, Default)]
pub(super) struct FailuresByVisitor(VecDeque<RememberedVisitor>);

impl FailuresByVisitor {
    /// Records that the model answered this visitor.
    pub(super) fn answered(&mut self, visitor: &VisitorId) {
        self.put(visitor, |_| VisitorResult::Answered);
    }

    /// Records a failure that a question of this visitor may have caused. A visitor with a lone failure keeps it.
    pub(super) fn failed(&mut self, visitor: &VisitorId, run: Option<&RunId>) {
        self.put(visitor, |latest| {
            let mut runs = match latest {
                Some(VisitorResult::FailedAlone) => return VisitorResult::FailedAlone,
                Some(VisitorResult::Failed(runs)) => runs,
                Some(VisitorResult::Answered) | None => VecDeque::new(),
            };
            runs.extend(run.cloned());
            if runs.len() > MAX_UNDECIDED {
                runs.pop_front();
            }
            VisitorResult::Failed(runs)
        });
    }

    /// Records that another model answered the question of this run. Does nothing unless this model failed on it by its own fault. Returns
    /// whether that is the first such question of this visitor, and the model fails on most questions.
    pub(super) fn failed_alone(&mut self, visitor: &VisitorId, run: &RunId) -> bool {
        let failed_on_it = |known: &RememberedVisitor| match &known.latest {
            VisitorResult::Failed(runs) => known.id == *visitor && runs.contains(run),
            VisitorResult::Answered | VisitorResult::FailedAlone => false,
        };
        let Some(known) = self.0.iter_mut().find(|known| failed_on_it(known)) else { return false };
        known.latest = VisitorResult::FailedAlone;
        let is_first = !std::mem::replace(&mut known.has_counted, true);
        let count = |wanted: &VisitorResult| self.0.iter().filter(|known| known.latest == *wanted).count();
        let (failed, answered) = (count(&VisitorResult::FailedAlone), count(&VisitorResult::Answered));
        is_first && failed >= MIN_FAILED_VISITORS && failed >= FAILURE_RATIO * answered
    }

    /// Makes a visitor the newest one, with a result that may depend on the previous one.
    fn put(&mut self, visitor: &VisitorId, result: impl FnOnce(Option<VisitorResult>) -> VisitorResult) {
        let at = self.0.iter().position(|known| known.id == *visitor);
        let before = at.and_then(|at| self.0.remove(at));
        let has_counted = before.as_ref().is_some_and(|known| known.has_counted);
        let latest = result(before.map(|known| known.latest));
        if self.0.len() == MAX_VISITORS {
            self.0.pop_front();
        }
        self.0.push_back(RememberedVisitor { id: visitor.clone(), latest, has_counted });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visitor(number: usize) -> VisitorId {
        VisitorId::new(format!("visitor-{number}"))
    }

    fn run() -> RunId {
        RunId::new("here.1")
    }

    /// Records a failure on a question of this visitor that another model answers.
    fn fail_alone(results: &mut FailuresByVisitor, number: usize) -> bool {
        results.failed(&visitor(number), Some(&run()));
        results.failed_alone(&visitor(number), &run())
    }

    #[test]
    fn several_visitors_are_needed_and_each_counts_once() {
        let mut results = FailuresByVisitor::default();
        assert!((0..100).all(|_| !fail_alone(&mut results, 0)), "one visitor alone");
        assert!((1..MIN_FAILED_VISITORS - 1).all(|number| !fail_alone(&mut results, number)));
        assert!(fail_alone(&mut results, MIN_FAILED_VISITORS));
        assert!(!fail_alone(&mut results, MIN_FAILED_VISITORS), "a visitor who was counted says nothing new");
        assert!(fail_alone(&mut results, MIN_FAILED_VISITORS + 1));
    }

    #[test]
    fn a_visitor_whom_it_answers_in_between_counts_once_all_the_same() {
        let mut results = FailuresByVisitor::default();
        let opened = (0..MIN_FAILED_VISITORS).filter(|number| fail_alone(&mut results, *number)).count();
        assert_eq!(opened, 1);
        for _ in 0..3 {
            results.answered(&visitor(0));
            assert!(!fail_alone(&mut results, 0), "else eight sessions could keep it out for ever");
        }
    }

    #[test]
    fn a_failure_counts_only_if_another_model_answered() {
        let mut results = FailuresByVisitor::default();
        for number in 0..MIN_FAILED_VISITORS {
            results.failed(&visitor(number), Some(&run()));
        }
        assert!((0..MIN_FAILED_VISITORS - 1).all(|number| !results.failed_alone(&visitor(number), &run())));
        assert!(!results.failed_alone(&visitor(99), &run()), "of a visitor it did not fail");
        assert!(results.failed_alone(&visitor(MIN_FAILED_VISITORS - 1), &run()));
    }

    #[test]
    fn a_failure_on_an_earlier_question_says_nothing_of_a_later_one() {
        let mut results = FailuresByVisitor::default();
        for number in 0..2 * MIN_FAILED_VISITORS {
            // All models failed on the earlier question, and the later one has not reached this model.
            let earlier = (number % 2 == 0).then(|| RunId::new("here.0"));
            results.failed(&visitor(number), earlier.as_ref());
            assert!(!results.failed_alone(&visitor(number), &run()), "{number}");
        }
    }

    #[test]
    fn a_failure_counts_although_the_same_visitor_asks_in_another_tab_meanwhile() {
        let other_tab = RunId::new("here.2");
        let mut results = FailuresByVisitor::default();
        let mut in_two_tabs = |number: usize| {
            results.failed(&visitor(number), Some(&run()));
            // One with another question, and one after a vote, which belongs to no run.
            results.failed(&visitor(number), number.is_multiple_of(2).then_some(&other_tab));
            results.failed_alone(&visitor(number), &run())
        };
        let opens: Vec<bool> = (0..MIN_FAILED_VISITORS).map(&mut in_two_tabs).collect();
        assert_eq!(opens.iter().position(|opens| *opens), Some(MIN_FAILED_VISITORS - 1));
    }

    #[test]
    fn of_many_failures_of_one_visitor_the_oldest_are_forgotten() {
        let mut results = FailuresByVisitor::default();
        for number in 0..MIN_FAILED_VISITORS {
            for later in 0..=MAX_UNDECIDED {
                results.failed(&visitor(number), Some(&RunId::new(format!("here.{later}"))));
            }
            assert!(!results.failed_alone(&visitor(number), &RunId::new("here.0")), "{number}");
        }
        let remembered = RunId::new("here.1");
        let opens: Vec<bool> =
            (0..MIN_FAILED_VISITORS).map(|number| results.failed_alone(&visitor(number), &remembered)).collect();
        assert_eq!(opens.iter().position(|opens| *opens), Some(MIN_FAILED_VISITORS - 1));
    }

    #[test]
    fn an_answer_takes_the_place_of_the_failures_before_it() {
        let mut results = FailuresByVisitor::default();
        for number in 0..2 * MIN_FAILED_VISITORS {
            results.failed(&visitor(number), Some(&run()));
            results.answered(&visitor(number));
            assert!(!results.failed_alone(&visitor(number), &run()), "{number}");
        }
    }

    #[test]
    fn visitors_whom_it_answered_stand_against_those_it_failed() {
        let mut results = FailuresByVisitor::default();
        for number in 0..4 {
            results.answered(&visitor(number));
        }
        let failed: Vec<bool> = (10..22).map(|number| fail_alone(&mut results, number)).collect();
        assert_eq!(failed.iter().position(|fails| *fails), Some(11), "three for each of the four, and no fewer");
        results.answered(&visitor(10));
        assert!(!fail_alone(&mut results, 22), "eleven others beside twelve are no longer three for each of five");
    }

    #[test]
    fn old_visitors_are_forgotten() {
        let mut results = FailuresByVisitor::default();
        for number in 0..1_000 {
            results.answered(&visitor(number));
        }
        assert_eq!(results.0.len(), MAX_VISITORS);
        let first = (2_000..).position(|number| fail_alone(&mut results, number));
        assert_eq!(first, Some(23), "24 of 32 are three quarters");
    }
}
