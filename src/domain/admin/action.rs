//! Names of the admin's actions in the audit log.

/// Action recorded in the audit log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AdminAction {
    /// Signed in.
    SignIn,
    /// Signed out.
    SignOut,
    /// Ended one of the user's own sessions.
    EndSession,
    /// Created a link for a new user.
    Invite,
    /// Became a user through a link or a provider's claim.
    Join,
    /// Added a user who signs in at the provider.
    AddUser,
    /// Changed the passphrase.
    ChangePassphrase,
    /// Enabled the second factor.
    EnableTotp,
    /// Disabled the second factor.
    DisableTotp,
    /// Changed a user's role.
    ChangeRole,
    /// Disabled a user.
    DisableUser,
    /// Enabled a user again.
    EnableUser,
    /// Removed a user's passphrase and second factor.
    ResetUser,
    /// Excluded votes.
    ExcludeVotes,
    /// Withdrew exclusions.
    IncludeVotes,
    /// Confirmed that a reply reveals its model.
    ConfirmLeak,
    /// Reviewed the label of a prompt.
    ReviewLabel,
    /// Created a campaign.
    CreateCampaign,
    /// Deleted a campaign with its judgements.
    DeleteCampaign,
    /// Opened a campaign.
    OpenCampaign,
    /// Paused a campaign.
    PauseCampaign,
    /// Closed a campaign.
    CloseCampaign,
    /// Paused a model.
    PauseModel,
    /// Resumed a model.
    ResumeModel,
    /// Changed the pairing weight of a model.
    SetModelWeight,
    /// Changed the prices of a model.
    SetModelPrices,
    /// Created links for annotators of a campaign.
    InviteAnnotators,
    /// Revoked the link of an annotator.
    RevokeAnnotator,
    /// Excluded the judgements of an annotator.
    LeaveAnnotatorOut,
    /// Included the judgements of an annotator again.
    ReadmitAnnotator,
    /// Entered a request to delete texts.
    EnterRequest,
    /// Deleted the texts of a deletion request.
    DeleteTexts,
    /// Refused a request to delete texts.
    RefuseRequest,
    /// Changed the limits of a model.
    SetModelLimits,
    /// Added a model.
    AddModel,
    /// Removed a model.
    RemoveModel,
    /// Kept a flagged text.
    KeepFlagged,
    /// Created an API key.
    CreateKey,
    /// Revoked an API key.
    RevokeKey,
    /// Requeued a webhook message.
    RetryWebhook,
    /// Started a benchmark plan.
    StartBenchmarks,
    /// Stopped a benchmark plan.
    StopBenchmarks,
    /// Created invite codes for visitors.
    CreateInvites,
    /// Revoked an invite code.
    RevokeInvite,
    /// Sent a test question to a model.
    TestModel,
    /// Downloaded the vote log.
    ExportVotes,
    /// Changed the name or the maker of a model.
    SetModelNames,
}

impl AdminAction {
    /// All actions.
    pub const ALL: [Self; 47] = [
        Self::SignIn,
        Self::SignOut,
        Self::EndSession,
        Self::Invite,
        Self::Join,
        Self::AddUser,
        Self::ChangePassphrase,
        Self::EnableTotp,
        Self::DisableTotp,
        Self::ChangeRole,
        Self::DisableUser,
        Self::EnableUser,
        Self::ResetUser,
        Self::ExcludeVotes,
        Self::IncludeVotes,
        Self::ConfirmLeak,
        Self::ReviewLabel,
        Self::CreateCampaign,
        Self::DeleteCampaign,
        Self::OpenCampaign,
        Self::PauseCampaign,
        Self::CloseCampaign,
        Self::PauseModel,
        Self::ResumeModel,
        Self::SetModelWeight,
        Self::SetModelPrices,
        Self::InviteAnnotators,
        Self::RevokeAnnotator,
        Self::LeaveAnnotatorOut,
        Self::ReadmitAnnotator,
        Self::EnterRequest,
        Self::DeleteTexts,
        Self::RefuseRequest,
        Self::SetModelLimits,
        Self::AddModel,
        Self::RemoveModel,
        Self::KeepFlagged,
        Self::CreateKey,
        Self::RevokeKey,
        Self::RetryWebhook,
        Self::StartBenchmarks,
        Self::StopBenchmarks,
        Self::CreateInvites,
        Self::RevokeInvite,
        Self::TestModel,
        Self::ExportVotes,
        Self::SetModelNames,
    ];

    /// Returns the name in the database, on the command line and in exports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SignIn => "sign_in",
            Self::SignOut => "sign_out",
            Self::EndSession => "end_session",
            Self::Invite => "invite",
            Self::Join => "join",
            Self::AddUser => "add_user",
            Self::ChangePassphrase => "change_passphrase",
            Self::EnableTotp => "enable_totp",
            Self::DisableTotp => "disable_totp",
            Self::ChangeRole => "change_role",
            Self::DisableUser => "disable_user",
            Self::EnableUser => "enable_user",
            Self::ResetUser => "reset_user",
            Self::ExcludeVotes => "exclude_votes",
            Self::IncludeVotes => "include_votes",
            Self::ConfirmLeak => "confirm_leak",
            Self::ReviewLabel => "review_label",
            Self::CreateCampaign => "create_campaign",
            Self::DeleteCampaign => "delete_campaign",
            Self::OpenCampaign => "open_campaign",
            Self::PauseCampaign => "pause_campaign",
            Self::CloseCampaign => "close_campaign",
            Self::PauseModel => "pause_model",
            Self::ResumeModel => "resume_model",
            Self::SetModelWeight => "set_model_weight",
            Self::SetModelPrices => "set_model_prices",
            Self::InviteAnnotators => "invite_annotators",
            Self::RevokeAnnotator => "revoke_annotator",
            Self::LeaveAnnotatorOut => "leave_annotator_out",
            Self::ReadmitAnnotator => "readmit_annotator",
            Self::EnterRequest => "enter_request",
            Self::DeleteTexts => "delete_texts",
            Self::RefuseRequest => "refuse_request",
            Self::SetModelLimits => "set_model_limits",
            Self::AddModel => "add_model",
            Self::RemoveModel => "remove_model",
            Self::KeepFlagged => "keep_flagged",
            Self::CreateKey => "create_key",
            Self::RevokeKey => "revoke_key",
            Self::RetryWebhook => "retry_webhook",
            Self::StartBenchmarks => "start_benchmarks",
            Self::StopBenchmarks => "stop_benchmarks",
            Self::CreateInvites => "create_invites",
            Self::RevokeInvite => "revoke_invite",
            Self::TestModel => "test_model",
            Self::ExportVotes => "export_votes",
            Self::SetModelNames => "set_model_names",
        }
    }
}
