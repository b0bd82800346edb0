//! Mapping from errors to the codes of `/ws/battle`.

use std::error::Error;

use super::protocol::{ProtocolError, ServerMessage};
use crate::domain::battle::BattleId;
use crate::domain::battle::pairing::starting_pair::ChoiceError;
use crate::domain::battle::progress::Refusal;
use crate::domain::battle::prompt_check::PromptError;
use crate::infra::limits::proof_of_work::{Challenge, ProofRequired};
use crate::infra::limits::{RateLimited, TurnRefused};
use crate::services::arena::battles::BattleError;
use crate::services::arena::post_vote_chat::PostVoteChatError;
use crate::services::arena::prompt_images::ImageError;
use crate::services::arena::voting::VoteError;

/// Machine-readable code of an error.
pub trait ErrorCode {
    /// Returns the code.
    fn code(&self) -> &'static str;

    /// Returns the reason, where one code has several that the page words differently.
    fn reason(&self) -> Option<&'static str> {
        None
    }

    /// Returns the seconds after which the same request may be granted, if known.
    fn retry_after(&self) -> Option<u64> {
        None
    }

    /// Returns the proof-of-work challenge to solve before the same request is granted.
    fn challenge(&self) -> Option<&Challenge> {
        None
    }
}

/// Creates the message of an error, about a battle if it concerns one.
pub(super) fn error_message<'a, E: ErrorCode + Error>(error: &'a E, battle: Option<&'a BattleId>) -> ServerMessage<'a> {
    ServerMessage::Error {
        code: error.code(),
        reason: error.reason(),
        message: error.to_string(),
        battle,
        seq: None,
        retry_after: error.retry_after(),
        proof: error.challenge(),
    }
}

impl ErrorCode for ProtocolError {
    fn code(&self) -> &'static str {
        match self {
            Self::Invalid(_) | Self::Binary | Self::UnknownType(_) | Self::UnknownReason(_) => "invalid_message",
            Self::TooLarge => "message_too_large",
            Self::UnknownOutcome(_) => "unknown_outcome",
            Self::UnsupportedMode(_) => "unsupported_mode",
            Self::Flooding => "flooding",
            Self::UnknownBattle | Self::NoBattle => "unknown_battle",
            Self::UnknownImage => "image_unknown",
        }
    }
}

impl ErrorCode for RateLimited {
    fn code(&self) -> &'static str {
        "rate_limited"
    }

    fn retry_after(&self) -> Option<u64> {
        Some(self.seconds())
    }
}

impl ErrorCode for TurnRefused {
    fn code(&self) -> &'static str {
        "rate_limited"
    }

    fn retry_after(&self) -> Option<u64> {
        match self {
            Self::TooFast(limited) => limited.retry_after(),
            Self::TooManyAtOnce => None,
        }
    }
}

impl ErrorCode for ProofRequired {
    fn code(&self) -> &'static str {
        "proof_required"
    }

    fn challenge(&self) -> Option<&Challenge> {
        Some(&self.challenge)
    }
}

impl ErrorCode for Refusal {
    fn code(&self) -> &'static str {
        match self {
            Self::StillAnswering | Self::NothingToStop => "not_ready",
            Self::NothingToCompare => "empty_reply",
            Self::AlreadyVoted | Self::Abandoned | Self::TextsDeleted => "battle_over",
            Self::Voided | Self::ChosenModelFailed => "voided",
            Self::TooManyTurns { .. } => "too_many_turns",
        }
    }

    fn reason(&self) -> Option<&'static str> {
        (*self == Self::TextsDeleted).then_some("texts_deleted")
    }
}

impl ErrorCode for PromptError {
    fn code(&self) -> &'static str {
        match self {
            Self::Empty => "prompt_empty",
            Self::TooLong { .. } => "prompt_too_long",
            Self::HasNul => "prompt_invalid",
            Self::Refused => "prompt_refused",
            Self::Unchecked => "moderation_unavailable",
        }
    }
}

impl ErrorCode for BattleError {
    fn code(&self) -> &'static str {
        match self {
            Self::Prompt(error) => error.code(),
            Self::BadLabel(_) => "invalid_message",
            Self::UnknownBattle => "unknown_battle",
            Self::Refused(refusal) => refusal.code(),
            Self::Busy => "busy",
            Self::Superseded => "superseded",
            Self::Draining => "draining",
            Self::NoPair(error) => error.code(),
            Self::Image(error) => error.code(),
            Self::ModelGone => "no_models",
            Self::RepliesUnsaved => "replies_unsaved",
            Self::Store(_) => "storage",
        }
    }

    fn reason(&self) -> Option<&'static str> {
        if let Self::Refused(refusal) = self { refusal.reason() } else { None }
    }
}

impl ErrorCode for ChoiceError {
    fn code(&self) -> &'static str {
        match self {
            Self::ModeOff(_) => "unsupported_mode",
            Self::ModelUnavailable => "model_unavailable",
            Self::NoModels(_) | Self::NoneSeesImages => "no_models",
            Self::SeesNoImages => "images_unseen",
        }
    }
}

impl ErrorCode for ImageError {
    fn code(&self) -> &'static str {
        match self {
            Self::Off => "images_off",
            Self::TooMany { .. } => "too_many_images",
            Self::TooLarge { .. } => "image_too_large",
            Self::Unknown => "image_unknown",
            Self::Unusable(_) | Self::Broke => "image_unusable",
            Self::Busy => "busy",
            Self::Store(_) => "storage",
        }
    }
}

impl ErrorCode for PostVoteChatError {
    fn code(&self) -> &'static str {
        match self {
            Self::UnknownBattle => "unknown_battle",
            Self::NotVoted => "not_ready",
            Self::Refused(refusal) => refusal.code(),
            Self::Question(error) => error.code(),
            Self::ModelGone => "no_models",
            Self::Store(_) => "storage",
        }
    }
}

impl ErrorCode for VoteError {
    fn code(&self) -> &'static str {
        match self {
            Self::UnknownBattle => "unknown_battle",
            Self::Refused(refusal) => refusal.code(),
            Self::OutdatedTurn { .. } | Self::OutdatedAnswer => "battle_went_on",
            Self::NothingCompared => "unknown_outcome",
            Self::BadSatisfaction(_) => "invalid_message",
            Self::Store(_) => "storage",
        }
    }

    fn reason(&self) -> Option<&'static str> {
        if let Self::Refused(refusal) = self { refusal.reason() } else { None }
    }
}
