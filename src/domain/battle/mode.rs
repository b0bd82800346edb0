//! Battle modes: which models the visitor knows before the vote. Only votes on anonymous battles are rated.

use super::{ModelId, Outcome, Side};
use serde::{Deserialize, Serialize};

/// Battle mode: selection and visibility of the models.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BattleMode {
    /// The arena draws two models and hides both.
    #[default]
    Anonymous,
    /// The visitor chooses both models.
    Named,
    /// The visitor chooses one model, which answers alone on side A.
    Direct,
    /// The visitor chooses the model on side A; the arena draws the other one and hides it.
    OneHidden,
}

impl BattleMode {
    /// All modes, in the order in which they are offered.
    pub const ALL: [Self; 4] = [Self::Anonymous, Self::Named, Self::Direct, Self::OneHidden];

    /// Spelling on the wire, in the database and in the settings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anonymous => "anonymous",
            Self::Named => "named",
            Self::Direct => "direct",
            Self::OneHidden => "one_hidden",
        }
    }

    /// Parses the spelling; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == text)
    }

    /// The sides that answer.
    #[must_use]
    pub fn sides(self) -> &'static [Side] {
        match self {
            Self::Direct => &[Side::A],
            Self::Anonymous | Self::Named | Self::OneHidden => &Side::BOTH,
        }
    }

    /// Whether the visitor chose the model on this side, and so knows it before the vote.
    #[must_use]
    pub fn names(self, side: Side) -> bool {
        match self {
            Self::Anonymous => false,
            Self::Named | Self::Direct => true,
            Self::OneHidden => side == Side::A,
        }
    }

    /// Whether every model that answers is known before the vote.
    #[must_use]
    pub fn reveals_all_models(self) -> bool {
        self.sides().iter().all(|side| self.names(*side))
    }

    /// Number of models that the visitor chooses.
    #[must_use]
    pub fn choices(self) -> usize {
        self.sides().iter().filter(|side| self.names(**side)).count()
    }

    /// Whether votes in this mode may have this outcome: a direct battle takes only `a` (good) and `both_bad`.
    #[must_use]
    pub fn takes(self, outcome: Outcome) -> bool {
        self != Self::Direct || matches!(outcome, Outcome::AWins | Outcome::BothBad)
    }

    /// Reason why votes in this mode are never rated; `None` for a mode whose votes are.
    #[must_use]
    pub fn unrated_because(self) -> Option<&'static str> {
        match self {
            Self::Anonymous => None,
            Self::Named => Some("the visitor chose both models"),
            Self::Direct => Some("the visitor chose the model, which answered alone"),
            Self::OneHidden => Some("the visitor chose the model on side A"),
        }
    }
}

/// Models that the visitor requests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ModelChoice {
    /// None: the arena draws both.
    #[default]
    Drawn,
    /// Both, on sides A and B.
    Both([ModelId; 2]),
    /// One, which answers alone.
    Alone(ModelId),
    /// The model on side A; the arena draws the other one.
    OneOfTwo(ModelId),
}

impl ModelChoice {
    /// The mode of a battle between these models.
    #[must_use]
    pub fn mode(&self) -> BattleMode {
        match self {
            Self::Drawn => BattleMode::Anonymous,
            Self::Both(_) => BattleMode::Named,
            Self::Alone(_) => BattleMode::Direct,
            Self::OneOfTwo(_) => BattleMode::OneHidden,
        }
    }

    /// The models that the visitor named.
    #[must_use]
    pub fn chosen(&self) -> &[ModelId] {
        match self {
            Self::Drawn => &[],
            Self::Both(models) => models,
            Self::Alone(model) | Self::OneOfTwo(model) => std::slice::from_ref(model),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_read_as_it_is_written() {
        for mode in BattleMode::ALL {
            assert_eq!(BattleMode::parse(mode.as_str()), Some(mode));
            assert_eq!(serde_json::to_value(mode).unwrap(), mode.as_str());
        }
        assert_eq!(BattleMode::parse("secret"), None);
    }

    #[test]
    fn only_votes_on_models_that_were_all_hidden_are_rated() {
        for mode in BattleMode::ALL {
            assert_eq!(mode.unrated_because().is_none(), mode.choices() == 0, "{mode:?}");
        }
        assert_eq!(BattleMode::ALL.map(BattleMode::choices), [0, 2, 1, 1]);
        assert_eq!(BattleMode::ALL.map(BattleMode::reveals_all_models), [false, true, true, false]);
    }

    #[test]
    fn a_choice_of_models_says_the_mode() {
        let (one, two) = (ModelId::new("one"), ModelId::new("two"));
        let choices = [
            ModelChoice::Drawn,
            ModelChoice::Both([one.clone(), two]),
            ModelChoice::Alone(one.clone()),
            ModelChoice::OneOfTwo(one),
        ];
        for (choice, mode) in choices.iter().zip(BattleMode::ALL) {
            assert_eq!((choice.mode(), choice.chosen().len()), (mode, mode.choices()));
        }
    }

    #[test]
    fn one_reply_alone_is_good_or_not() {
        let taken = |mode: BattleMode| Outcome::ALL.into_iter().filter(|outcome| mode.takes(*outcome)).count();
        assert_eq!(BattleMode::ALL.map(taken), [4, 4, 2, 4]);
        assert!(BattleMode::Direct.takes(Outcome::AWins) && BattleMode::Direct.takes(Outcome::BothBad));
    }
}
