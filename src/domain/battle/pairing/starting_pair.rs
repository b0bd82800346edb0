//! Models of a new battle: drawn, or chosen by the visitor.

use super::{Pair, PairingError};
use crate::battle::mode::BattleMode;
use crate::battle::{ImageId, ModelId};

/// Kind of prompt: text alone, or with images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptKind {
    /// Text.
    Text,
    /// Text and images, which not every model accepts.
    WithImages,
}

impl PromptKind {
    /// Returns the kind of a prompt with these images.
    #[must_use]
    pub fn of(images: &[ImageId]) -> Self {
        if images.is_empty() { Self::Text } else { Self::WithImages }
    }
}

/// Models of a new battle, with the policy that paired them.
#[derive(Debug, Clone, PartialEq)]
pub struct StartingPair {
    /// Models on sides A and B; twice the same where one answers alone.
    pub models: [ModelId; 2],
    /// The pairing policy, or the mode where the visitor chose.
    pub policy: &'static str,
    /// Version of the policy.
    pub policy_version: u32,
    /// Probability of the pair; 1 where nothing was drawn.
    pub probability: f64,
}

impl StartingPair {
    /// Creates a pair that the visitor chose in this mode.
    #[must_use]
    pub fn chosen(models: [ModelId; 2], mode: BattleMode) -> Self {
        Self { models, policy: mode.as_str(), policy_version: 0, probability: 1.0 }
    }
}

impl From<Pair> for StartingPair {
    fn from(Pair { a, b, policy, policy_version, probability }: Pair) -> Self {
        Self { models: [a, b], policy: policy.as_str(), policy_version, probability }
    }
}

/// Reason why a battle cannot have models, or not the requested ones.
#[derive(Debug, thiserror::Error)]
pub enum ChoiceError {
    /// The operator has turned the mode off.
    #[error("this arena does not offer the mode \"{0}\": choose another one, or leave it out")]
    ModeOff(&'static str),
    /// A chosen model is unknown, paused or out of order; the visitor does not learn which of these.
    #[error("a model that you chose cannot be asked at the moment: choose another one")]
    ModelUnavailable,
    /// A chosen model does not accept images.
    #[error("a model that you chose does not see images: choose another one, or ask without them")]
    SeesNoImages,
    /// Fewer than two models that accept images can answer.
    #[error(
        "fewer than two models that see images can answer at the moment: ask without them, or try again in a minute"
    )]
    NoneSeesImages,
    /// Fewer than two models can answer.
    #[error("fewer than two models can answer at the moment: try again in a minute")]
    NoModels(#[source] PairingError),
}

impl ChoiceError {
    /// Returns the error for too few models that can answer a prompt of this kind.
    #[must_use]
    pub fn too_few(kind: PromptKind, error: PairingError) -> Self {
        match kind {
            PromptKind::Text => Self::NoModels(error),
            PromptKind::WithImages => Self::NoneSeesImages,
        }
    }
}
