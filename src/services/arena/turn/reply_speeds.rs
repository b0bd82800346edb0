//! Passes the usual speeds of a turn's models to its pacer, and returns the measured speeds for later turns.

use std::time::Duration;

use super::Turn;
use crate::domain::battle::mode::BattleMode;
use crate::domain::battle::pacing::Pacer;
use crate::domain::battle::{ModelId, Side};

impl Turn<'_> {
    /// Sets the usual speed of the side's model in the pacer, also if it is unknown: the side may have had another model before.
    pub(super) fn set_usual_speed(&mut self, side: Side) {
        let usual = self.dependencies.models.mean_byte_time(&self.sides[side.index()].model);
        self.pacer.set_usual_byte_time(side, usual.unwrap_or_default());
    }

    /// Returns the models' measured time per byte, where the replies are long enough.
    pub(super) fn reply_speeds(&self) -> Vec<(ModelId, Duration)> {
        of_hidden_models(&self.pacer, self.mode, self.sides.each_ref().map(|run| &run.model))
    }
}

/// Returns the speeds of the hidden models. A visitor who chose a model could make it write slowly, and then recognise its other battles by
/// their tempo.
fn of_hidden_models(pacer: &Pacer, mode: BattleMode, models: [&ModelId; 2]) -> Vec<(ModelId, Duration)> {
    let hidden = Side::BOTH.into_iter().filter(|side| !mode.names(*side));
    hidden.filter_map(|side| Some((models[side.index()].clone(), pacer.byte_time(side)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::battle::pacing::{Ending, Pace};

    /// Two replies of ten lines, each of twelve bytes and 600 milliseconds after the one before.
    fn written(pace: Pace) -> Pacer {
        let (mut pacer, gap) = (Pacer::new(pace, 12, 1), Duration::from_millis(600));
        for side in Side::BOTH {
            (0..10).for_each(|line| pacer.push(side, "abcdefghijkl", gap * line));
            pacer.end(side, Ending::Complete, gap * 10);
        }
        pacer
    }

    #[track_caller]
    fn check(pace: Pace, mode: BattleMode, noted: &[&str]) {
        let models = ["one", "two"].map(ModelId::new);
        let speeds = of_hidden_models(&written(pace), mode, models.each_ref());
        let expected = noted.iter().map(|model| (ModelId::new(*model), Duration::from_millis(50)));
        assert_eq!(speeds, expected.collect::<Vec<_>>(), "{mode:?}");
    }

    #[test]
    fn speeds_of_hidden_models_are_noted_and_those_of_chosen_ones_are_not() {
        let common = || Pace::Common { reserve: Duration::from_millis(1_200) };
        check(common(), BattleMode::Anonymous, &["one", "two"]);
        check(common(), BattleMode::OneHidden, &["two"]);
        check(common(), BattleMode::Named, &[]);
        check(Pace::Raw, BattleMode::Anonymous, &[]);
    }
}
