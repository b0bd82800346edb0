//! Whether annotators can judge, and who may change that into what.

use crate::admin::action::AdminAction;

/// Whether annotators can judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CampaignState {
    /// Made, and not yet opened.
    Draft,
    /// Annotators judge.
    Open,
    /// It may go on later.
    Paused,
    /// It is over.
    Closed,
}

impl CampaignState {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Draft, Self::Open, Self::Paused, Self::Closed];

    /// The word of the database and of lists.
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

/// A change of state that somebody may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateChange {
    /// Annotators judge.
    Open,
    /// It may go on later.
    Pause,
    /// It is over.
    Close,
}

impl StateChange {
    /// The state after it.
    #[must_use]
    pub fn state(self) -> CampaignState {
        match self {
            Self::Open => CampaignState::Open,
            Self::Pause => CampaignState::Paused,
            Self::Close => CampaignState::Closed,
        }
    }

    /// What the audit log calls it.
    #[must_use]
    pub fn action(self) -> AdminAction {
        match self {
            Self::Open => AdminAction::OpenCampaign,
            Self::Pause => AdminAction::PauseCampaign,
            Self::Close => AdminAction::CloseCampaign,
        }
    }
}
