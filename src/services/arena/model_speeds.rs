//! Usual output speed of each model, from its latest replies: the pacer uses it where a reply is too short to measure its own.
//!
//! Held in memory for the models of the roster. Each instance knows only the replies that it answered itself: one that has just started, or
//! that takes a battle over, has no speeds of its models yet.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use parking_lot::Mutex;

use crate::domain::battle::ModelId;

/// Number of latest replies averaged per model.
const AVERAGED_REPLIES: usize = 8;

/// Latest reply speeds of each model of the roster.
#[derive(Debug, Default)]
pub(super) struct ModelSpeeds {
    /// Time per byte of each reply; the latest reply comes last.
    byte_times: Mutex<HashMap<ModelId, VecDeque<Duration>>>,
}

impl ModelSpeeds {
    /// Updates the models to this roster. Those that do not `stay`, because others took their names, begin without replies.
    pub(super) fn follow(&self, models: impl IntoIterator<Item = ModelId>, stays: impl Fn(&ModelId) -> bool) {
        let mut byte_times = self.byte_times.lock();
        let mut former = std::mem::take(&mut *byte_times);
        for model in models {
            let replies = former.remove(&model).filter(|_| stays(&model)).unwrap_or_default();
            byte_times.insert(model, replies);
        }
    }

    /// Records a reply's time per byte; no-op for a model that is not in the roster.
    pub(super) fn note(&self, model: &ModelId, byte_time: Duration) {
        let mut byte_times = self.byte_times.lock();
        let Some(replies) = byte_times.get_mut(model) else { return };
        if replies.len() == AVERAGED_REPLIES {
            replies.pop_front();
        }
        replies.push_back(byte_time);
    }

    /// Returns the model's usual time per byte: the mean of its latest replies, `None` without any.
    pub(super) fn byte_time(&self, model: &ModelId) -> Option<Duration> {
        let byte_times = self.byte_times.lock();
        let replies = byte_times.get(model)?;
        replies.iter().sum::<Duration>().checked_div(u32::try_from(replies.len()).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// Speeds of two models, of which the first has a reply.
    fn of_two_models() -> (ModelSpeeds, [ModelId; 2]) {
        let (speeds, models) = (ModelSpeeds::default(), ["one", "two"].map(ModelId::new));
        speeds.follow(models.clone(), |_| false);
        speeds.note(&models[0], millis(5));
        (speeds, models)
    }

    #[test]
    fn the_usual_speed_is_the_mean_of_the_last_eight_replies() {
        let (speeds, [one, _]) = of_two_models();
        speeds.note(&one, millis(8));
        assert_eq!(speeds.byte_time(&one), Some(Duration::from_micros(6_500)), "of those that there are");
        for reply in 1..=8 {
            speeds.note(&one, millis(10 * reply));
        }
        assert_eq!(speeds.byte_time(&one), Some(millis(45)), "the first two count no more");
    }

    #[test]
    fn a_model_without_replies_has_no_usual_speed() {
        let (speeds, [one, two]) = of_two_models();
        assert_eq!([&one, &two].map(|model| speeds.byte_time(model)), [Some(millis(5)), None]);
    }

    #[test]
    fn a_model_that_takes_the_name_of_another_begins_without_replies() {
        let (speeds, models) = of_two_models();
        let [one, two] = &models;
        speeds.note(two, millis(7));
        speeds.follow(models.clone(), |model| model == two);
        assert_eq!([one, two].map(|model| speeds.byte_time(model)), [None, Some(millis(7))]);
    }

    #[test]
    fn a_model_that_left_the_roster_is_forgotten_and_not_counted_again() {
        let (speeds, [one, two]) = of_two_models();
        speeds.follow([two.clone()], |_| true);
        speeds.note(&one, millis(5));
        assert_eq!(speeds.byte_time(&one), None);
        assert_eq!(speeds.byte_times.lock().len(), 1, "no more models than the roster has");
        speeds.follow([one.clone(), two], |_| true);
        assert_eq!(speeds.byte_time(&one), None, "it comes back");
    }
}
