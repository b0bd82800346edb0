//! State machine of a battle: all rules on the order of actions.
//!
//! Pure. Services ask [`Progress::allows`] before they act.

use crate::visible_text::has_visible_text;

/// Stage of a battle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// At least one reply of the latest turn is being written.
    Answering,
    /// Both replies of the latest turn have ended: a vote, a further turn or a regeneration may follow.
    Ready,
    /// The vote was cast.
    Voted,
    /// A reply failed and could not be replaced: the battle never takes a vote.
    Voided,
    /// Left without a vote.
    Abandoned,
}

impl Stage {
    /// The stages with their spelling in the database.
    const SPELLINGS: [(Stage, &'static str); 5] = [
        (Stage::Answering, "answering"),
        (Stage::Ready, "ready"),
        (Stage::Voted, "voted"),
        (Stage::Voided, "voided"),
        (Stage::Abandoned, "abandoned"),
    ];

    /// The database's spelling.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Stage::Answering => "answering",
            Stage::Ready => "ready",
            Stage::Voted => "voted",
            Stage::Voided => "voided",
            Stage::Abandoned => "abandoned",
        }
    }

    /// Whether a vote may still be cast, so that the models must stay hidden.
    #[must_use]
    pub fn awaits_vote(self) -> bool {
        matches!(self, Stage::Answering | Stage::Ready)
    }

    /// Parses the database's spelling.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::SPELLINGS.into_iter().find(|(_, spelling)| *spelling == text).map(|(stage, _)| stage)
    }
}

/// Action of a visitor on a battle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Send the next prompt.
    Message,
    /// Have both sides answer the latest turn again.
    Regenerate,
    /// End both replies with their current text.
    Stop,
    /// Cast the vote.
    Vote,
}

/// Reason why an action is refused; the message says what to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Too early: the replies are still being written.
    #[error("the replies are still being written: wait until both have ended, or stop them")]
    StillAnswering,
    /// No turn is in progress.
    #[error("nothing is being written at the moment")]
    NothingToStop,
    /// One of the two replies has no visible text.
    #[error("one of the two replies is empty: regenerate the replies, or start a new battle")]
    NothingToCompare,
    /// The battle has its vote.
    #[error("this battle has its vote: start a new battle")]
    AlreadyVoted,
    /// The battle was voided.
    #[error("this battle ended without a vote because one answer failed: start a new battle")]
    Voided,
    /// A model that the visitor chose failed.
    #[error("a model that you chose did not answer, and no other takes its place: ask again, or choose another model")]
    ChosenModelFailed,
    /// The battle was idle for too long.
    #[error("this battle was left for too long: start a new battle")]
    Abandoned,
    /// The battle was ended so that its texts could be deleted.
    #[error("the texts of this battle were deleted: start a new battle")]
    TextsDeleted,
    /// The limit of turns is reached.
    #[error("this battle has reached the maximum of {max} turns: vote, or start a new battle")]
    TooManyTurns {
        /// The limit.
        max: u32,
    },
}

/// A battle's stage and its latest turn (counted from 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Stage of the battle.
    pub stage: Stage,
    /// The latest turn.
    pub turn: u32,
}

impl Progress {
    /// Checks that a vote can be cast on the replies shown in the latest turn, one for each side that answers.
    ///
    /// # Errors
    /// [`Refusal`] with the reason.
    pub fn allows_vote_on(self, shown: &[&str]) -> Result<(), Refusal> {
        self.allows(Action::Vote, u32::MAX)?;
        if !shown.iter().all(|text| has_visible_text(text)) { Err(Refusal::NothingToCompare) } else { Ok(()) }
    }

    /// Checks that replies can be stopped. While `under_way` they can at any stage: the other side of a voided battle is still written.
    ///
    /// # Errors
    /// [`Refusal`] with the reason.
    pub fn allows_stop(self, under_way: bool) -> Result<(), Refusal> {
        if under_way { Ok(()) } else { self.allows(Action::Stop, u32::MAX) }
    }

    /// Checks that the action is allowed now.
    ///
    /// # Errors
    /// [`Refusal`] with the reason.
    pub fn allows(self, action: Action, max_turns: u32) -> Result<(), Refusal> {
        match (self.stage, action) {
            (Stage::Answering, Action::Stop) | (Stage::Ready, Action::Vote | Action::Regenerate) => Ok(()),
            (Stage::Ready, Action::Message) if self.turn < max_turns => Ok(()),
            (Stage::Ready, Action::Message) => Err(Refusal::TooManyTurns { max: max_turns }),
            (Stage::Ready, Action::Stop) => Err(Refusal::NothingToStop),
            (Stage::Answering, _) => Err(Refusal::StillAnswering),
            (Stage::Voted, _) => Err(Refusal::AlreadyVoted),
            (Stage::Voided, _) => Err(Refusal::Voided),
            (Stage::Abandoned, _) => Err(Refusal::Abandoned),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(stage: Stage, action: Action, expected: Result<(), Refusal>) {
        assert_eq!(Progress { stage, turn: 3 }.allows(action, 3), expected, "{action:?} while {stage:?}");
    }

    #[test]
    fn only_a_ready_battle_takes_a_vote() {
        check(Stage::Ready, Action::Vote, Ok(()));
        check(Stage::Answering, Action::Vote, Err(Refusal::StillAnswering));
        check(Stage::Voted, Action::Vote, Err(Refusal::AlreadyVoted));
        check(Stage::Voided, Action::Vote, Err(Refusal::Voided));
        check(Stage::Abandoned, Action::Vote, Err(Refusal::Abandoned));
    }

    #[test]
    fn a_battle_awaits_its_vote_until_it_is_over() {
        let awaiting = Stage::SPELLINGS.map(|(stage, _)| stage).into_iter().filter(|stage| stage.awaits_vote());
        assert_eq!(awaiting.collect::<Vec<_>>(), [Stage::Answering, Stage::Ready]);
    }

    #[test]
    fn a_vote_needs_something_on_both_sides() {
        let ready = Progress { stage: Stage::Ready, turn: 1 };
        assert_eq!(ready.allows_vote_on(&["one", "two"]), Ok(()));
        assert_eq!(ready.allows_vote_on(&["one", " \n"]), Err(Refusal::NothingToCompare));
        assert_eq!(ready.allows_vote_on(&["", "two"]), Err(Refusal::NothingToCompare));
        assert_eq!(ready.allows_vote_on(&["\u{200b}\u{feff}", "two"]), Err(Refusal::NothingToCompare));
        assert_eq!(ready.allows_vote_on(&["alone"]), Ok(()), "one model answers");
    }

    #[test]
    fn only_running_replies_can_be_stopped() {
        check(Stage::Answering, Action::Stop, Ok(()));
        check(Stage::Ready, Action::Stop, Err(Refusal::NothingToStop));
        let voided = Progress { stage: Stage::Voided, turn: 1 };
        assert_eq!(voided.allows_stop(true), Ok(()), "its other side may still be writing");
        assert_eq!(voided.allows_stop(false), Err(Refusal::Voided));
    }

    #[test]
    fn the_last_turn_can_be_regenerated_but_not_followed() {
        check(Stage::Ready, Action::Regenerate, Ok(()));
        check(Stage::Ready, Action::Message, Err(Refusal::TooManyTurns { max: 3 }));
        assert_eq!(Progress { stage: Stage::Ready, turn: 2 }.allows(Action::Message, 3), Ok(()));
    }

    #[test]
    fn stages_are_read_as_they_are_written() {
        for (stage, spelling) in Stage::SPELLINGS {
            assert_eq!((stage.as_str(), Stage::parse(spelling)), (spelling, Some(stage)));
        }
        assert_eq!(Stage::parse("paused"), None);
    }
}
