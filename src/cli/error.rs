//! Errors of commands, and the exit code of each.

use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::process::ExitCode;

use crate::domain::benchmark::SuiteError;
use crate::domain::campaign::items::ItemError;
use crate::domain::correlation::study::StudyError;
use crate::domain::correlation::{AliasError, SeriesError};
use crate::domain::judging::judge_prompt::JudgePromptError;
use crate::domain::public_log::cosignature::InvalidWitnessKey;
use crate::domain::public_log::log_receipt::LogReceiptError;
use crate::domain::public_log::signed_note::InvalidKey;
use crate::domain::public_log::trust_anchors::TrustError;
use crate::domain::rating::FitError;
use crate::domain::rating::votes::slice::SliceError;
use crate::domain::stats::confidence::InvalidConfidence;
use crate::formats::StandardInputTwice;
use crate::formats::agreement_files::AgreementError;
use crate::formats::campaign_files::CampaignFileError;
use crate::formats::model_table::ModelTableError;
use crate::formats::records::BenchFileError;
use crate::formats::table_error::TableFileError;
use crate::formats::votes::VoteFileError;
use crate::infra::config::ConfigError;
use crate::infra::config::edit::settings_file::SettingsFileError;
use crate::infra::disk::is_full;
use crate::infra::llm::model_list::ListError;
use crate::infra::public_log::reader::SourceError;
use crate::infra::redis::AddressError;
use crate::infra::storage::backup::BackupError;
use crate::infra::storage::{DatabaseMoveError, StoreError};
use crate::infra::stored_votes::vote_log::ReadLogError;
use crate::render::report::study::StudyReportError;
use crate::services::admin::api_keys::ApiKeyError;
use crate::services::admin::users::UserError;
use crate::services::battle_judging::reports::BattleJudgingError;
use crate::services::benchmark::error::BenchError;
use crate::services::benchmark::run_error::RunError;
use crate::services::campaign::administration::CampaignAdminError;
use crate::services::campaign::creation::CreateCampaignError;
use crate::services::campaign::reports::CampaignReportError;
use crate::services::correlation::ReadSeriesError;
use crate::services::deletion_requests::DeletionRequestError;
use crate::services::exclusions::preview::PreviewError;
use crate::services::import_export::export::ExportError;
use crate::services::import_export::import::ImportError;
use crate::services::labeling::LabelingError;
use crate::services::model_settings::ModelEntryError;
use crate::services::moderation_reviews::ModerationReviewError;
use crate::services::public_log::PublicLogError;
use crate::services::public_log::database_check::DatabaseCheckError;
use crate::services::public_log::verification::VerifyError;
use crate::services::webhooks::WebhookRetryError;

/// Result of a command.
pub type CommandResult<T = ExitCode> = Result<T, CommandError>;

/// Error of a command.
#[derive(Debug)]
pub struct CommandError {
    source: anyhow::Error,
    is_input: bool,
}

/// Error with the information whether the user can fix it.
pub(crate) trait CommandFailure: Into<anyhow::Error> {
    /// Whether other arguments, settings or input files avoid the error. Otherwise the same call may succeed later, such as
    /// when the database is back.
    fn is_input(&self) -> bool;
}

impl<E: CommandFailure> From<E> for CommandError {
    fn from(error: E) -> Self {
        Self { is_input: error.is_input(), source: error.into() }
    }
}

impl CommandError {
    /// Whether other arguments, settings or input files avoid the error.
    #[must_use]
    pub fn is_input(&self) -> bool {
        self.is_input
    }

    /// Whether a signal ended the command.
    pub(super) fn is_interrupt(&self) -> bool {
        self.source.is::<Interrupted>()
    }

    /// Returns the exit code: 2 for bad usage or input, 1 for a failed run, after which a supervisor restarts the process.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        if self.is_input { ExitCode::from(2) } else { ExitCode::FAILURE }
    }

    /// Returns the error with its causes, without those that its text repeats.
    #[must_use]
    pub fn message(&self) -> String {
        self.source.chain().map(ToString::to_string).fold(String::new(), |message, cause| match message.as_str() {
            "" => cause,
            _ if message.contains(&cause) => message,
            _ => format!("{message}: {cause}"),
        })
    }

    /// Creates the error of a file or folder that cannot be written; `text` has the remedy.
    pub(crate) fn of_file(text: String, error: &io::Error) -> Self {
        Self { is_input: is_avoidable(error), source: anyhow::Error::msg(text) }
    }

    /// Prepends a text to the message.
    #[must_use]
    pub(crate) fn context(self, text: impl Display + Send + Sync + 'static) -> Self {
        Self { source: self.source.context(text), ..self }
    }
}

/// Whether another path or other permissions avoid a file error. A full or failing disk is no fault of the arguments: the same call
/// succeeds once it is fixed.
pub(crate) fn is_avoidable(error: &io::Error) -> bool {
    use ErrorKind::{
        AlreadyExists, InvalidFilename, InvalidInput, IsADirectory, NotADirectory, NotFound, Other, PermissionDenied,
        ReadOnlyFilesystem,
    };
    matches!(
        error.kind(),
        AlreadyExists
            | InvalidFilename
            | InvalidInput
            | IsADirectory
            | NotADirectory
            | NotFound
            | Other
            | PermissionDenied
            | ReadOnlyFilesystem
    )
}

/// Interruption of a command by a signal, with a text on what is kept.
#[derive(Debug, thiserror::Error)]
#[error("interrupted: {0}")]
pub(super) struct Interrupted(&'static str);

impl Interrupted {
    /// Interruption of a command that writes files.
    pub(super) const NO_FILE: Self = Self("no file was written");
    /// Interruption of an import, which prints each imported file.
    pub(super) const NO_FURTHER_IMPORT: Self = Self("no further file was imported");
    /// Interruption of any other command.
    pub(super) const BEFORE_THE_END: Self = Self("the command ended before it was done");
}

/// Invalid input, with a text that has the remedy.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BadInput(pub String);

/// Implements [`CommandFailure`] for errors that the user can always, or never, fix.
macro_rules! is_input {
    ($is_input:literal: $($error:ty),+ $(,)?) => {
        $(impl CommandFailure for $error {
            fn is_input(&self) -> bool {
                $is_input
            }
        })+
    };
}

/// Implements [`CommandFailure`] by the error's own method.
macro_rules! is_input_by_method {
    ($($error:ty),+ $(,)?) => {
        $(impl CommandFailure for $error {
            fn is_input(&self) -> bool {
                <$error>::is_input(self)
            }
        })+
    };
}

is_input!(true: BadInput, InvalidKey, InvalidWitnessKey, ConfigError, AddressError, FitError, InvalidConfidence, SliceError,
    AliasError, ModelTableError, BenchFileError, SuiteError, JudgePromptError, CampaignFileError, ItemError, StandardInputTwice);
is_input!(false: Interrupted, StudyReportError, anyhow::Error, std::io::Error, serde_json::Error, csv::Error, csv::IntoInnerError<csv::Writer<Vec<u8>>>,
    std::string::FromUtf8Error, askama::Error, tokio::task::JoinError);
is_input_by_method!(SourceError, SeriesError, ReadSeriesError, StudyError, LabelingError);

impl CommandFailure for VoteFileError {
    /// Piped and decompressed input is written to a temporary file, whose disk may be full.
    fn is_input(&self) -> bool {
        !matches!(self, Self::Unreadable { source, .. } if is_full(source))
    }
}

impl CommandFailure for ImportError {
    fn is_input(&self) -> bool {
        match self {
            Self::File(error) => error.is_input(),
            Self::UnusableName { .. } => true,
        }
    }
}

impl CommandFailure for TableFileError {
    fn is_input(&self) -> bool {
        match self {
            Self::Unreadable(error) => error.is_input(),
            Self::Unusable { .. } => true,
        }
    }
}

impl CommandFailure for AgreementError {
    fn is_input(&self) -> bool {
        match self {
            Self::File(error) => error.is_input(),
            _ => true,
        }
    }
}

impl CommandFailure for CreateCampaignError {
    fn is_input(&self) -> bool {
        match self {
            Self::Items(_) | Self::Exists(_) => true,
            Self::Store(error) => CommandFailure::is_input(error),
        }
    }
}

impl CommandFailure for CampaignAdminError {
    fn is_input(&self) -> bool {
        match self {
            Self::Store(error) => CommandFailure::is_input(error),
            _ => true,
        }
    }
}

impl CommandFailure for DeletionRequestError {
    fn is_input(&self) -> bool {
        match self {
            Self::Store(error) => CommandFailure::is_input(error),
            _ => true,
        }
    }
}

impl CommandFailure for ModerationReviewError {
    fn is_input(&self) -> bool {
        match self {
            Self::Store(error) => CommandFailure::is_input(error),
            _ => true,
        }
    }
}

impl CommandFailure for CampaignReportError {
    fn is_input(&self) -> bool {
        match self {
            Self::Fit(_) | Self::Unknown(_) | Self::UnknownQuestion { .. } | Self::NoVerdicts { .. } => true,
            Self::Unreadable { .. } | Self::Thread | Self::Shared(_) => false,
            Self::Store(error) => CommandFailure::is_input(error),
        }
    }
}

impl CommandFailure for ExportError {
    fn is_input(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_input())
    }
}

impl CommandFailure for ReadLogError {
    fn is_input(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_input())
    }
}

impl CommandFailure for PreviewError {
    fn is_input(&self) -> bool {
        match self {
            Self::Votes(error) => error.is_input(),
            Self::Fit(_) => true,
            Self::Thread(_) => false,
        }
    }
}

impl CommandFailure for BattleJudgingError {
    fn is_input(&self) -> bool {
        match self {
            Self::NoVerdicts(..) | Self::Fit(_) => true,
            Self::Store(error) => error.is_input(),
            Self::Votes(error) => error.is_input(),
            Self::Shared(_) | Self::Thread(_) => false,
        }
    }
}

impl CommandFailure for BenchError {
    fn is_input(&self) -> bool {
        match self {
            Self::File(_) => true,
            Self::Store(error) => error.is_input(),
            error => error.is_missing(),
        }
    }
}

impl CommandFailure for RunError {
    fn is_input(&self) -> bool {
        match self {
            Self::Bench(error) => CommandFailure::is_input(error),
            _ => true,
        }
    }
}

impl CommandFailure for PublicLogError {
    fn is_input(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_input())
    }
}

impl CommandFailure for DatabaseCheckError {
    fn is_input(&self) -> bool {
        match self {
            Self::Log(error) => error.is_input(),
            Self::NoLog => true,
            _ => false,
        }
    }
}

impl CommandFailure for BackupError {
    fn is_input(&self) -> bool {
        match self {
            Self::Store(error) => CommandFailure::is_input(error),
            Self::Exists(_)
            | Self::Occupied(_)
            | Self::NotABackup(_)
            | Self::InUse(_)
            | Self::OtherKind { .. }
            | Self::NotEmpty(_)
            | Self::PasswordInOptions => true,
            Self::Io { source, .. } => is_avoidable(source),
            Self::Damaged { .. }
            | Self::Started(_)
            | Self::Stopped
            | Self::Fewer { .. }
            | Self::NoTool(_)
            | Self::Tool(..) => false,
        }
    }
}

impl CommandFailure for ModelEntryError {
    fn is_input(&self) -> bool {
        use ListError::{Slow, Unreached};
        let is_run = match self {
            Self::Audit(_) | Self::Thread(_) => true,
            Self::File(SettingsFileError::Io { source, .. }) => !is_avoidable(source),
            _ => false,
        };
        !is_run && !matches!(self, Self::List(Unreached(_) | Slow(_)))
    }
}

impl CommandFailure for LogReceiptError {
    fn is_input(&self) -> bool {
        false
    }
}

impl CommandFailure for VerifyError {
    fn is_input(&self) -> bool {
        match self {
            Self::Source(error) => error.is_input(),
            Self::Trust(TrustError::Key(_)) => true,
            // A server may answer later; a folder or a page without a log stays one.
            Self::NoKey(reason) => {
                !matches!(**reason, Self::Source(SourceError::Http { .. } | SourceError::Status { .. }))
            }
            _ => false,
        }
    }
}

impl CommandFailure for DatabaseMoveError {
    fn is_input(&self) -> bool {
        match self {
            Self::WrongBackends | Self::NotEmpty(_) | Self::Started(_) => true,
            Self::Changed(_) | Self::SourceStarted(_) | Self::Unreadable { .. } => false,
            Self::Unwritable { source, .. } => source.is_input(),
            Self::Store(error) => error.is_input(),
        }
    }
}

impl CommandFailure for UserError {
    fn is_input(&self) -> bool {
        match self {
            Self::Store(error) => error.is_input(),
            Self::Passphrase(_) => false,
            _ => true,
        }
    }
}

impl CommandFailure for ApiKeyError {
    fn is_input(&self) -> bool {
        match self {
            Self::Store(error) => error.is_input(),
            _ => true,
        }
    }
}

impl CommandFailure for WebhookRetryError {
    fn is_input(&self) -> bool {
        match self {
            Self::Store(error) => error.is_input(),
            Self::Unknown(_) => true,
        }
    }
}

impl CommandFailure for StoreError {
    fn is_input(&self) -> bool {
        !self.may_be_transient() && !matches!(self, Self::Database(_) | Self::Inconsistent { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::FitCommandError;

    #[test]
    fn a_settings_file_that_this_user_may_not_edit_is_bad_input_and_a_full_disk_is_a_failed_run() {
        let is_input = |kind: ErrorKind| {
            let error = SettingsFileError::Io { path: "langya.toml".into(), source: kind.into() };
            CommandFailure::is_input(&ModelEntryError::File(error))
        };
        assert!(is_input(ErrorKind::PermissionDenied) && !is_input(ErrorKind::StorageFull));
    }

    #[test]
    fn a_full_disk_is_a_failed_run_for_every_command_that_keeps_what_it_reads_or_writes_a_file() {
        let is_input = |kind: ErrorKind| {
            let votes = || VoteFileError::Unreadable { path: "votes.csv".into(), source: kind.into() };
            let queue = LabelingError::File { file: "queue.csv".into(), reason: kind.into() };
            let table = || TableFileError::Unreadable(votes());
            [
                CommandError::from(votes()),
                CommandError::from(FitCommandError::Votes(votes())),
                CommandError::from(ImportError::File(votes())),
                CommandError::from(AgreementError::File(table())),
                CommandError::from(FitCommandError::Table(table())),
                CommandError::from(queue),
            ]
            .map(|error| error.is_input())
        };
        assert_eq!(is_input(ErrorKind::NotFound), [true; 6]);
        assert_eq!([ErrorKind::StorageFull, ErrorKind::QuotaExceeded].map(is_input), [[false; 6]; 2]);
    }
}
