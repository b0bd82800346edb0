//! Tells the pacer of a turn how fast its models usually write, and notes how fast they wrote, for later turns.

use super::Turn;
use crate::arena::usual_speeds::UsualSpeeds;
use crate::domain::battle::mode::BattleMode;
use crate::domain::battle::pacing::Pacer;
use crate::domain::battle::{ModelId, Side};

impl Turn<'_> {
    /// Tells the pacer how fast the side's model usually writes, also that it is unknown: the side may have had another model before.
    pub(super) fn expect_usual_speed(&mut self, side: Side) {
        let usual = self.dependencies.models.usual_speeds.byte_time(&self.sides[side.index()].model);
        self.pacer.expect(side, usual.unwrap_or_default());
    }

    /// Notes how fast the models wrote, unless another instance took this one for gone: one that was halted for a while saw its models
    /// write slowly.
    pub(super) fn note_reply_speeds(&self) {
        if !self.superseded {
            let models = self.sides.each_ref().map(|run| &run.model);
            note(&self.dependencies.models.usual_speeds, &self.pacer, self.mode, models);
        }
    }
}

/// Notes the speeds of the hidden models. A visitor who chose a model could have it write slowly, and then recognise its other battles by
/// their tempo.
fn note(speeds: &UsualSpeeds, pacer: &Pacer, mode: BattleMode, models: [&ModelId; 2]) {
    for side in Side::BOTH.into_iter().filter(|side| !mode.names(*side)) {
        if let Some(byte_time) = pacer.byte_time(side) {
            speeds.note(models[side.index()], byte_time);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

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
    fn check(pace: Pace, mode: BattleMode, noted: [bool; 2]) {
        let (speeds, models) = (UsualSpeeds::default(), ["one", "two"].map(ModelId::new));
        speeds.follow(models.clone(), |_| false);
        note(&speeds, &written(pace), mode, models.each_ref());
        let expected = noted.map(|noted| noted.then_some(Duration::from_millis(50)));
        assert_eq!(models.map(|model| speeds.byte_time(&model)), expected, "{mode:?}");
    }

    #[test]
    fn speeds_of_hidden_models_are_noted_and_those_of_chosen_ones_are_not() {
        let common = || Pace::Common { reserve: Duration::from_millis(1_200) };
        check(common(), BattleMode::Anonymous, [true, true]);
        check(common(), BattleMode::OneHidden, [false, true]);
        check(common(), BattleMode::Named, [false, false]);
        check(Pace::Raw, BattleMode::Anonymous, [false, false]);
    }
}
