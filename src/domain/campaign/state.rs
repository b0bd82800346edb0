//! States of a campaign and the changes between them.

use crate::admin::action::AdminAction;

/// State of a campaign, which determines whether annotators can judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CampaignState {
    /// Created, and not yet opened.
    Draft,
    /// Annotators can judge.
    Open,
    /// Paused; can be opened again.
    Paused,
    /// Closed: the campaign is over.
    Closed,
}

impl CampaignState {
    /// All states.
    pub const ALL: [Self; 4] = [Self::Draft, Self::Open, Self::Paused, Self::Closed];

    /// Returns the name in the database and in lists.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Open => "open",
            Self::Paused => "paused",
            Self::Closed => "closed",
        }
    }
}

/// Change of state by an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateChange {
    /// Opens the campaign.
    Open,
    /// Pauses the campaign.
    Pause,
    /// Closes the campaign.
    Close,
}

impl StateChange {
    /// Returns the state after the change.
    #[must_use]
    pub fn state(self) -> CampaignState {
        match self {
            Self::Open => CampaignState::Open,
            Self::Pause => CampaignState::Paused,
            Self::Close => CampaignState::Closed,
        }
    }

    /// Returns the action for the audit log.
    #[must_use]
    pub fn action(self) -> AdminAction {
        match self {
            Self::Open => AdminAction::OpenCampaign,
            Self::Pause => AdminAction::PauseCampaign,
            Self::Close => AdminAction::CloseCampaign,
        }
    }
}
