//! `langya export preferences` and `langya export dataset`: votes in formats for publication and training.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::{FileOptions, NamedOutput, PeriodOptions, is_special};
use crate::Location;
use crate::databases;
use crate::domain::plural::counted;
use crate::domain::preference_filter::{PreferenceFilter, PreferenceReport};
use crate::error::{BadInput, CommandError, CommandResult};
use crate::formats::data_card::DatasetFacts;
use crate::formats::dataset::DatasetPlan;
use crate::formats::tables::Format;
use crate::infra::config::Environment;
use crate::infra::storage::{IfMissing, Store};
use crate::infra::time::clock::{Clock as _, SystemClock};
use crate::infra::unfinished_files::remove_abandoned_folders;
use crate::output::out_file::{OutFile, reason};
use crate::output::progress;
use crate::services::import_export::export::ExportSelection;
use crate::services::import_export::export::dataset::dataset;
use crate::services::import_export::export::preferences::preferences;
use crate::signals::unless_interrupted;

/// Prefix of the temporary folder in which a data set is written, beside its target.
const PARTIAL_PREFIX: &str = ".langya-dataset-";

/// `langya export preferences …`
#[derive(Debug, Clone, Args)]
pub(super) struct PreferenceOptions {
    #[command(flatten)]
    period: PeriodOptions,
    /// Implied: preferences always include their texts
    #[arg(long)]
    text: bool,
    /// Also votes that a rule excludes from the ratings
    #[arg(long)]
    unrated: bool,
    /// Least share (0 to 1) of the other votes on the same two models that chose the same one
    #[arg(long, value_name = "SHARE")]
    min_agreement: Option<f64>,
    /// Minimum rating lead of the chosen model over the rejected one, in points of the latest leaderboard; 0 leaves out upsets
    #[arg(long, value_name = "POINTS", allow_negative_numbers = true)]
    min_margin: Option<f64>,
    /// Only votes after this number in the log, which the previous export printed
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    since_seq: i64,
}

/// `langya export dataset DIR …`
#[derive(Debug, Clone, Args)]
pub(super) struct DatasetOptions {
    #[command(flatten)]
    location: Location,
    /// Folder to write, which does not exist yet or is empty
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Include the conversations
    #[arg(long)]
    text: bool,
    /// Licence of the data, as dataset hubs spell it, such as cc-by-4.0
    #[arg(long, value_name = "ID", default_value = "unknown")]
    license: String,
    /// Only votes after this number in the log, which the previous export printed
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    since_seq: i64,
    /// Maximum number of votes per file
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    shard_votes: u64,
}

/// Writes the preferences, and prints the number of omitted votes.
///
/// # Errors
/// Invalid shares, a missing database, or a file that cannot be written.
pub(super) async fn print_preferences(options: PreferenceOptions, env: &Environment) -> CommandResult<ExitCode> {
    let file = &options.period.file;
    file.check_name()?;
    if file.format() != Format::Jsonl {
        return Err(BadInput(
            "conversations are lists of messages: write them with --format jsonl, which trainers read".into(),
        )
        .into());
    }
    if options.min_agreement.is_some_and(|share| !(0.0..=1.0).contains(&share))
        || options.min_margin.is_some_and(f64::is_nan)
    {
        return Err(BadInput(
            "--min-agreement is a share from 0 to 1, and --min-margin a number of rating points".into(),
        )
        .into());
    }
    let filter = PreferenceFilter {
        after: options.since_seq,
        unrated: options.unrated,
        min_agreement: options.min_agreement,
        min_margin: options.min_margin,
    };
    let settings = file.location.settings(env)?;
    let store = databases::open(&settings.storage, IfMissing::Fail).await?;
    let bar = progress::bar("writing preferences");
    let (selection, show) = (options.period.selection(), |seq, last| progress::show(&bar, seq, last));
    let report = if is_special(&file.out) {
        let out = NamedOutput::special(&file.out)?;
        let reader_left = out.reader_left();
        reader_left.ignore_closed_reader(preferences(&store, filter, selection, out, show).await.map_err(Into::into))?
    } else {
        Some(unless_interrupted(preferences_to_file(&store, filter, selection, file, show)).await?)
    };
    bar.finish_and_clear();
    report.iter().for_each(print_report);
    Ok(ExitCode::SUCCESS)
}

async fn preferences_to_file(
    store: &Store,
    filter: PreferenceFilter,
    selection: ExportSelection,
    file: &FileOptions,
    show: impl FnMut(i64, i64),
) -> CommandResult<PreferenceReport> {
    let out = OutFile::create(&file.out, file.overwrite)?;
    let report = preferences(store, filter, selection, NamedOutput::new(&file.out, out.file()), show).await?;
    out.finish()?;
    Ok(report)
}

fn print_report(report: &PreferenceReport) {
    eprintln!("{} written, with their texts", counted(report.written, "preference", "preferences"));
    for (reason, votes) in &report.left_out {
        eprintln!("{} left out: {}", counted(votes, "vote", "votes"), reason.as_str());
    }
    eprintln!("the next export continues with --since-seq {}", report.last_seq);
}

/// Writes the data set to a temporary folder, and renames it into place once complete.
///
/// # Errors
/// An existing folder that is not empty, a missing database, or a write failure.
pub(super) async fn write_dataset(options: DatasetOptions, env: &Environment) -> CommandResult<ExitCode> {
    let folder = &free_folder(&options.folder)?;
    let settings = options.location.settings(env)?;
    let store = databases::open(&settings.storage, IfMissing::Fail).await?;
    let name = if settings.site.name.is_empty() { "a langya arena" } else { &settings.site.name };
    let facts = DatasetFacts {
        name,
        licence: &options.license,
        with_text: options.text,
        after: options.since_seq,
        program: concat!("langya ", env!("CARGO_PKG_VERSION")),
    };
    let plan = DatasetPlan { facts, shard_votes: options.shard_votes };
    let beside = parent(folder);
    let unwritable = |error: io::Error| {
        let said = format!("cannot write {}: {}; choose another folder", folder.display(), reason(&error));
        CommandError::of_file(said, &error)
    };
    // Left by killed exports.
    remove_abandoned_folders(beside, SystemClock.now(), |name| name.starts_with(PARTIAL_PREFIX));
    let partial = tempfile::Builder::new().prefix(PARTIAL_PREFIX).tempdir_in(beside);
    let partial = partial.map_err(unwritable)?;
    let bar = progress::bar("writing votes");
    let set = partial.path().join("set");
    let written = dataset(&store, &plan, &set, |seq, last| progress::show(&bar, seq, last));
    let found = unless_interrupted(async { written.await.map_err(CommandError::from) }).await?;
    bar.finish_and_clear();
    std::fs::rename(&set, folder).map_err(unwritable)?;
    let last = found.sequence.map_or(options.since_seq, |(_, last)| last);
    let votes = counted(found.votes, "vote", "votes");
    eprintln!("{votes} written to {}; the next part continues with --since-seq {last}", folder.display());
    Ok(ExitCode::SUCCESS)
}

/// Returns the folder that the data set will replace; resolves a link to an empty folder.
///
/// # Errors
/// It is not empty, or cannot be replaced.
fn free_folder(folder: &Path) -> Result<PathBuf, BadInput> {
    // With a trailing slash, a link would resolve to its folder here and block the new one.
    let folder = &folder.components().collect::<PathBuf>();
    let refused = |reason: &str| BadInput(format!("{} {reason}", folder.display()));
    let not_empty = || refused("is not empty: choose a folder that does not exist yet");
    if folder.symlink_metadata().is_err() {
        return match folder.file_name() {
            Some(_) => Ok(folder.clone()),
            None => Err(refused("has no name: choose a new folder")),
        };
    }
    let found = folder.canonicalize().map_err(|_| not_empty())?;
    let is_empty = std::fs::read_dir(&found).is_ok_and(|mut entries| entries.next().is_none());
    if !is_empty {
        return Err(not_empty());
    }
    let identity = |folder: &Path| folder.metadata().ok().map(|found| (found.dev(), found.ino()));
    // Shells with this working directory would stay in the replaced folder.
    if identity(&found) == identity(Path::new(".")) {
        return Err(refused("is the current folder: choose a new folder in it"));
    }
    // A mount point cannot be replaced.
    let disk = |folder: &Path| identity(folder).map(|(disk, _)| disk);
    if disk(&found) != disk(parent(&found)) {
        return Err(refused("is a disk of its own: choose a new folder in it"));
    }
    Ok(if folder.is_symlink() { found } else { folder.clone() })
}

fn parent(folder: &Path) -> &Path {
    folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_set_takes_a_new_or_an_empty_folder_also_behind_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().canonicalize().unwrap();
        let (new, empty, linked, lost) = (here.join("new"), here.join("empty"), here.join("linked"), here.join("lost"));
        std::fs::create_dir(&empty).unwrap();
        std::os::unix::fs::symlink(&empty, &linked).unwrap();
        std::os::unix::fs::symlink("nowhere", &lost).unwrap();
        let place = |folder: &Path| free_folder(folder).map_err(|refused| refused.to_string());
        assert_eq!([place(&new), place(&empty), place(&linked)], [Ok(new), Ok(empty.clone()), Ok(empty.clone())]);
        assert_eq!(place(&linked.join("")), Ok(empty.clone()), "as a shell completes its name");
        std::fs::write(empty.join("file"), "").unwrap();
        for taken in [&empty, &linked, &lost, &empty.join("file")] {
            assert!(place(taken).unwrap_err().contains("is not empty"), "{}", taken.display());
        }
    }
}
