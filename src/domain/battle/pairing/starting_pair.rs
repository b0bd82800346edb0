//! The models of a battle that begins: drawn, or chosen by the visitor.

use super::{Pair, PairingError};
use crate::battle::mode::BattleMode;
use crate::battle::{ImageId, ModelId};

/// What the models of a battle are asked with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptKind {
    /// Text.
    Text,
    /// Text and images, which not every model sees.
    WithImages,
}

impl PromptKind {
    /// Of a question with these images.
    #[must_use]
    pub fn of(images: &[ImageId]) -> Self {
        if images.is_empty() { Self::Text } else { Self::WithImages }
    }
}

/// The models of a battle that begins, and how they came together.
#[derive(Debug, Clone, PartialEq)]
pub struct StartingPair {
    /// On sides A and B; twice the same where one answers alone.
    pub models: [ModelId; 2],
    /// The pairing policy, or the mode where the visitor chose.
    pub policy: &'static str,
    /// Version of the policy.
    pub policy_version: u32,
    /// Probability of the pair; 1 where nothing was drawn.
    pub probability: f64,
}

impl StartingPair {
    /// Models that the visitor chose in this mode.
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

/// Why a battle gets no models, or not those that the visitor asks for.
#[derive(Debug, thiserror::Error)]
pub enum ChoiceError {
    /// The operator has turned the mode off.
    #[error("this arena does not offer the mode \"{0}\": choose another one, or leave it out")]
    ModeOff(&'static str),
    /// A chosen model is unknown, paused or out of order; which of these stays with the operator.
    #[error("a model that you chose cannot be asked at the moment: choose another one")]
    ModelUnavailable,
    /// A chosen model sees no images.
    #[error("a model that you chose does not see images: choose another one, or ask without them")]
    SeesNoImages,
    /// Fewer than two models that see images can answer.
    #[error(
        "fewer than two models that see images can answer at the moment: ask without them, or try again in a minute"
    )]
    NoneSeesImages,
    /// Fewer than two models can answer.
    #[error("fewer than two models can answer at the moment: try again in a minute")]
    NoModels(#[source] PairingError),
}

impl ChoiceError {
    /// Too few models can answer a question of this kind.
    #[must_use]
    pub fn too_few(kind: PromptKind, error: PairingError) -> Self {
        match kind {
            PromptKind::Text => Self::NoModels(error),
            PromptKind::WithImages => Self::NoneSeesImages,
        }
    }
}
