//! What the audit log calls each action of the admin.

/// An action that the audit log keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AdminAction {
    /// Signed in.
    SignIn,
    /// Signed out.
    SignOut,
    /// Ended a session of their own.
    EndSession,
    /// Made a link for a new user.
    Invite,
    /// Became a user by a link, or by a claim of the provider.
    Join,
    /// Added a user who signs in at the provider.
    AddUser,
    /// Chose another passphrase.
    ChangePassphrase,
    /// Switched the second factor on.
    EnableTotp,
    /// Switched the second factor off.
    DisableTotp,
    /// Gave a user another role.
    ChangeRole,
    /// Locked a user out.
    DisableUser,
    /// Let a user in again.
    EnableUser,
    /// Took a user's passphrase and second factor away.
    ResetUser,
    /// Excluded votes.
    ExcludeVotes,
    /// Withdrew exclusions.
    IncludeVotes,
    /// Confirmed that a reply gives its model away.
    ConfirmLeak,
    /// Decided the label of a prompt.
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
    /// Let a model take part again.
    ResumeModel,
    /// Changed the pairing weight of a model.
    SetModelWeight,
    /// Changed the prices of a model.
    SetModelPrices,
    /// Made links for annotators of a campaign.
    InviteAnnotators,
    /// Revoked the link of an annotator.
    RevokeAnnotator,
    /// Left the judgements of an annotator out.
    LeaveAnnotatorOut,
    /// Brought the judgements of an annotator back.
    ReadmitAnnotator,
    /// Entered a request to delete texts.
    EnterRequest,
    /// Deleted the texts that a request is about.
    DeleteTexts,
    /// Refused a request to delete texts.
    RefuseRequest,
    /// Changed the limits of a model.
    SetModelLimits,
    /// Added a model.
    AddModel,
    /// Took a model out.
    RemoveModel,
    /// Left a flagged text as it is.
    KeepFlagged,
    /// Made an API key.
    CreateKey,
    /// Revoked an API key.
    RevokeKey,
    /// Had a message to a webhook sent again.
    RetryWebhook,
    /// Started a plan of benchmarks.
    StartBenchmarks,
    /// Stopped a plan of benchmarks.
    StopBenchmarks,
    /// Made codes with which visitors sign in.
    CreateInvites,
    /// Revoked such a code.
    RevokeInvite,
    /// Asked a model a question to test it.
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

    /// Name in the database, on the command line and in exports.
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
