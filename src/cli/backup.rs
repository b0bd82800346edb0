//! `langya backup` and `langya restore`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::Location;
use super::output::standard_output::print;
use crate::domain::plural::counted;
use crate::domain::public_log::checkpoint::Checkpoint;
use crate::error::{CommandError, CommandResult, Interrupted};
use crate::infra::config::Environment;
use crate::infra::public_log::signed_checkpoint_file::CheckpointFile;
use crate::infra::storage::backup::{BackupError, back_up, restore as restore_copy};
use crate::infra::time::clock::{Clock, SystemClock};
use crate::signals::{unless_interrupted, until_interrupted};

/// `langya backup …`
#[derive(Debug, Clone, Args)]
pub struct BackupOptions {
    #[command(flatten)]
    location: Location,
    /// The file to write, or an existing folder; the name of the file there is the time of the backup
    #[arg(long, value_name = "DIR|FILE")]
    out: PathBuf,
}

/// `langya restore …`
#[derive(Debug, Clone, Args)]
pub struct RestoreOptions {
    #[command(flatten)]
    location: Location,
    /// A file that `langya backup` wrote
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Copies the database while the arena runs.
///
/// # Errors
/// An unreadable database, an existing output file, or a missing PostgreSQL program.
pub async fn run(options: BackupOptions, env: &Environment) -> CommandResult<ExitCode> {
    let settings = options.location.settings(env)?;
    let copying =
        until_interrupted(async |stop| back_up(&settings.storage, &options.out, SystemClock.now(), &stop).await);
    let kept = match copying.await? {
        Err(BackupError::Stopped) => return Err(Interrupted::NO_FILE.into()),
        copied => copied?,
    };
    print(&format!(
        "backup written to {}: {}, {} bytes\n",
        kept.path.display(),
        counted(kept.votes, "vote", "votes"),
        kept.bytes
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// Restores a backup to an empty target.
///
/// # Errors
/// An incomplete backup, or a target that is not empty.
pub async fn restore(options: RestoreOptions, env: &Environment) -> CommandResult<ExitCode> {
    let settings = options.location.settings(env)?;
    let restoring =
        async { Ok::<_, CommandError>(restore_copy(&settings.storage, &options.file, SystemClock.now()).await?) };
    let restored = unless_interrupted(restoring).await?;
    print(&format!("restored: {}\n", counted(restored.votes, "vote", "votes")))?;
    // A restored arena whose checkpoint file is ahead would sign nothing: warn now.
    let kept = CheckpointFile::in_folder(&settings.storage.data_dir);
    let signed = kept.read().ok().flatten().and_then(|note| {
        let text = note.split_once("\n\n").map(|(text, _)| format!("{text}\n"))?;
        Some(Checkpoint::parse(&text)?.head.size)
    });
    match (signed, u64::try_from(restored.log_entries).unwrap_or_default()) {
        (Some(signed), held) if signed > held => eprintln!(
            "warning: the public log was last signed with {} and this copy holds {held}: the arena signs nothing until \
             you restore a later copy or remove {}; everybody who verified the log will notice the removal",
            counted(signed, "entry", "entries"),
            kept.path().display()
        ),
        (None, 1..) => eprintln!(
            "note: if another folder served this arena, copy its file log-checkpoint to {}, so that an older state cannot be signed unnoticed",
            settings.storage.data_dir.display()
        ),
        _ => {}
    }
    Ok(ExitCode::SUCCESS)
}
