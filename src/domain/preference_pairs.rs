//! Votes as pairs of a chosen and a rejected reply, in the format that trainers of preference models read.

use std::collections::HashMap;

use serde::Serialize;

use crate::battle::message::{Message, MessageRole};
use crate::battle::{ModelId, Outcome};

/// Preference pair: a prompt with the chosen and the rejected reply, each as messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PreferencePair {
    /// Common beginning of both conversations.
    pub prompt: Vec<Message>,
    /// Remainder of the chosen conversation.
    pub chosen: Vec<Message>,
    /// Remainder of the rejected conversation.
    pub rejected: Vec<Message>,
}

impl PreferencePair {
    /// Builds the pair from a battle's conversations on sides A and B; `None` where no side was chosen, and as [`Self::new`].
    #[must_use]
    pub fn of_battle([a, b]: &[Vec<Message>; 2], outcome: Outcome) -> Option<Self> {
        match outcome {
            Outcome::AWins => Self::new(a, b),
            Outcome::BWins => Self::new(b, a),
            Outcome::Tie | Outcome::BothBad => None,
        }
    }

    /// Builds the pair of two conversations; `None` where one has no reply, a text is empty, or both are equal.
    #[must_use]
    pub fn new(chosen: &[Message], rejected: &[Message]) -> Option<Self> {
        let is_whole = |said: &[Message]| {
            let pairs = said
                .chunks(2)
                .all(|pair| matches!(pair, [ask, reply] if ask.role == MessageRole::User && reply.role == MessageRole::Assistant));
            pairs && said.iter().all(|message| !message.content.trim().is_empty())
        };
        if !is_whole(chosen) || !is_whole(rejected) {
            return None;
        }
        let mut shared = chosen.iter().zip(rejected).take_while(|(one, other)| one == other).count();
        // Questions belong to the prompt, answers do not.
        shared -= usize::from(shared.is_multiple_of(2) && shared > 0);
        let differ = chosen[shared.min(chosen.len())..] != rejected[shared.min(rejected.len())..];
        (shared > 0 && differ).then(|| Self {
            prompt: chosen[..shared].to_vec(),
            chosen: chosen[shared..].to_vec(),
            rejected: rejected[shared..].to_vec(),
        })
    }
}

/// Counts of votes by winner and loser.
#[derive(Debug, Default)]
pub struct PreferenceCounts {
    wins: HashMap<(ModelId, ModelId), u64>,
}

impl PreferenceCounts {
    /// Counts a vote; ties and both-bad votes choose no model.
    pub fn add(&mut self, models: &[ModelId; 2], outcome: Outcome) {
        if let Some((winner, loser)) = winner_and_loser(models, outcome) {
            *self.wins.entry((winner.clone(), loser.clone())).or_default() += 1;
        }
    }

    /// Returns the share of the other votes on this pair that chose the same model, excluding one such vote; `None` without others.
    #[must_use]
    pub fn agreement_of_others(&self, winner: &ModelId, loser: &ModelId) -> Option<f64> {
        let count =
            |one: &ModelId, other: &ModelId| self.wins.get(&(one.clone(), other.clone())).copied().unwrap_or_default();
        let (same, against) = (count(winner, loser).saturating_sub(1), count(loser, winner));
        #[expect(clippy::cast_precision_loss, reason = "counts of votes are far below 2^53")]
        let share = || same as f64 / (same + against) as f64;
        (same + against > 0).then(share)
    }
}

/// Returns the chosen and the rejected model; `None` for a vote that chose none.
#[must_use]
pub fn winner_and_loser(models: &[ModelId; 2], outcome: Outcome) -> Option<(&ModelId, &ModelId)> {
    match outcome {
        Outcome::AWins => Some((&models[0], &models[1])),
        Outcome::BWins => Some((&models[1], &models[0])),
        Outcome::Tie | Outcome::BothBad => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversation(texts: &[&str]) -> Vec<Message> {
        let message =
            |(at, text): (usize, &&str)| if at % 2 == 0 { Message::user(*text) } else { Message::assistant(*text) };
        texts.iter().enumerate().map(message).collect()
    }

    #[test]
    fn the_prompt_is_what_both_conversations_begin_with() {
        let pair = PreferencePair::new(&conversation(&["q", "good"]), &conversation(&["q", "bad"])).unwrap();
        assert_eq!(
            (pair.prompt, pair.chosen, pair.rejected),
            (conversation(&["q"]), vec![Message::assistant("good")], vec![Message::assistant("bad")])
        );
        let turns =
            PreferencePair::new(&conversation(&["q", "x", "r", "good"]), &conversation(&["q", "y", "r", "bad"]))
                .unwrap();
        assert_eq!((turns.prompt.len(), turns.chosen.len(), turns.rejected.len()), (1, 3, 3));
        let other_question =
            PreferencePair::new(&conversation(&["q", "x", "r", "good"]), &conversation(&["q", "x", "s", "bad"]))
                .unwrap();
        assert_eq!(
            (other_question.prompt, other_question.chosen.len()),
            (conversation(&["q"]), 3),
            "a prompt ends with a question"
        );
        let same_start =
            PreferencePair::new(&conversation(&["q", "x", "r", "good"]), &conversation(&["q", "x", "r", "bad"]))
                .unwrap();
        assert_eq!((same_start.prompt, same_start.chosen.len()), (conversation(&["q", "x", "r"]), 1));
    }

    #[test]
    fn what_is_no_preference_between_two_texts_is_none() {
        for (chosen, rejected) in [
            (conversation(&["q", "a"]), conversation(&["q"])),
            (conversation(&["q", "a"]), conversation(&["q", " \n"])),
            (conversation(&["", "a"]), conversation(&["", "b"])),
            (conversation(&["q", "a"]), conversation(&["q", "a"])),
            (conversation(&[]), conversation(&[])),
            (conversation(&["q", "a"]), conversation(&["p", "b"])),
        ] {
            assert_eq!(PreferencePair::new(&chosen, &rejected), None, "{chosen:?}");
        }
    }

    #[test]
    fn the_side_that_won_is_the_chosen_one() {
        let sides = [conversation(&["q", "a"]), conversation(&["q", "b"])];
        let pair = |outcome| PreferencePair::of_battle(&sides, outcome);
        assert_eq!(pair(Outcome::AWins), PreferencePair::new(&sides[0], &sides[1]));
        assert_eq!(pair(Outcome::BWins), PreferencePair::new(&sides[1], &sides[0]));
        assert_eq!((pair(Outcome::Tie), pair(Outcome::BothBad)), (None, None));
    }

    #[test]
    fn agreement_leaves_the_vote_itself_out() {
        let [a, b] = ["a", "b"].map(ModelId::new);
        let mut wins = PreferenceCounts::default();
        wins.add(&[a.clone(), b.clone()], Outcome::AWins);
        assert_eq!(wins.agreement_of_others(&a, &b), None);
        wins.add(&[b.clone(), a.clone()], Outcome::BWins);
        wins.add(&[b.clone(), a.clone()], Outcome::AWins);
        wins.add(&[b.clone(), a.clone()], Outcome::Tie);
        assert_eq!(wins.agreement_of_others(&a, &b), Some(0.5));
        assert_eq!(wins.agreement_of_others(&b, &a), Some(0.0));
    }
}
