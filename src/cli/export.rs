//! `langya export`: data sets and preferences, the vote log, the battles, the replies, the leaderboard or a benchmark's scores as JSON
//! lines, CSV or Parquet.

mod dataset_and_preferences;

use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressDrawTarget};

use super::Location;
use super::bench::RunSelectorFlags;
use super::output::out_file::{OutFile, Overwrite};
use super::output::progress;
use super::output::times::parse_time;
use super::signals::unless_interrupted;
use crate::databases;
use crate::domain::plural::counted;
use crate::domain::time::Timestamp;
use crate::error::{BadInput, CommandResult};
use crate::formats::tables::Format;
use crate::infra::config::Environment;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{IfMissing, Store};
use crate::services::benchmark::loading::load;
use crate::services::import_export::export::{self, ExportSelection};
use dataset_and_preferences::{DatasetOptions, PreferenceOptions};

/// Flags of `langya export`.
#[derive(Debug, Clone, Args)]
pub struct ExportOptions {
    #[command(subcommand)]
    what: ExportKind,
}

#[derive(Debug, Clone, Subcommand)]
enum ExportKind {
    /// The vote log
    Votes(RowsOptions),
    /// Every battle that is over, voted on or not
    Battles(RowsOptions),
    /// Every reply of finished battles, with its prompt; --since and --until refer to the start of the battle
    Replies(PeriodOptions),
    /// The latest leaderboard
    Leaderboard(FileOptions),
    /// The scores of a benchmark's suite: one row per model, judge and part
    Scores(ExportScoresOptions),
    /// The score of every item of a suite by each judge: one row per item, model and judge, as `langya agree` reads it
    ItemScores(ExportScoresOptions),
    /// Votes as preferences between two replies, with their texts, as TRL reads them: prompt, chosen, rejected
    Preferences(PreferenceOptions),
    /// The vote log as a data set for others: Parquet in shards, a data card, SHA-256 sums
    Dataset(DatasetOptions),
}

#[derive(Debug, Clone, Args)]
struct ExportScoresOptions {
    #[command(flatten)]
    file: FileOptions,
    /// The suite
    #[arg(long, value_name = "NAME")]
    suite: String,
    #[command(flatten)]
    way: RunSelectorFlags,
}

#[derive(Debug, Clone, Args)]
struct PeriodOptions {
    #[command(flatten)]
    file: FileOptions,
    /// Only rows of this time or later: 2026-11-21, or 2026-11-21T08:00:00Z
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    since: Option<Timestamp>,
    /// Only rows from before this time
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    until: Option<Timestamp>,
}

#[derive(Debug, Clone, Args)]
struct RowsOptions {
    #[command(flatten)]
    period: PeriodOptions,
    /// Include the conversations
    #[arg(long)]
    text: bool,
}

#[derive(Debug, Clone, Args)]
struct FileOptions {
    #[command(flatten)]
    location: Location,
    /// File to write; - for standard output
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Format of the file [default: by the extension of --out; jsonl where it has none]
    #[arg(long, value_enum)]
    format: Option<Format>,
}

impl FileOptions {
    fn format(&self) -> Format {
        self.format.or_else(|| Format::of_extension(&self.out)).unwrap_or(Format::Jsonl)
    }

    /// Rejects names of compressed files, since exports are not compressed, and unknown extensions without `--format`.
    fn check_name(&self) -> Result<(), BadInput> {
        let Some(extension) = self.out.extension().filter(|_| !is_special(&self.out)) else { return Ok(()) };
        let is_compressed = ["gz", "zst", "bz2", "xz", "zip"].iter().any(|known| extension.eq_ignore_ascii_case(known));
        let out = self.out.display();
        if is_compressed {
            return Err(BadInput(format!(
                "{out} has the name of a compressed file, and an export is not compressed: choose another name, or pipe --out - into a \
                 program that compresses"
            )));
        }
        if self.format.is_none() && Format::of_extension(&self.out).is_none() {
            return Err(BadInput(format!(
                "cannot tell the format of {out}: end its name in .jsonl, .csv or .parquet, or give --format"
            )));
        }
        Ok(())
    }
}

/// Content of an export.
#[derive(Debug, Clone)]
enum ExportContent {
    Votes(ExportSelection),
    Battles(ExportSelection),
    Replies(ExportSelection),
    Leaderboard,
    Scores { suite: String, way: RunSelectorFlags, of: ScoredPart },
}

/// Level of exported scores.
#[derive(Debug, Clone, Copy)]
enum ScoredPart {
    Suite,
    Items,
}

impl ExportContent {
    fn bar(&self) -> ProgressBar {
        match self {
            Self::Votes(_) => progress::bar("writing votes"),
            Self::Battles(_) => progress::count("writing battles"),
            Self::Replies(_) => progress::count("writing replies of battles"),
            Self::Leaderboard | Self::Scores { .. } => ProgressBar::hidden(),
        }
    }
}

impl PeriodOptions {
    fn selection(&self) -> ExportSelection {
        ExportSelection {
            since: self.since.unwrap_or(Timestamp(i64::MIN)),
            until: self.until.unwrap_or(Timestamp(i64::MAX)),
            with_text: true,
        }
    }
}

impl RowsOptions {
    fn selection(&self) -> ExportSelection {
        ExportSelection { with_text: self.text, ..self.period.selection() }
    }
}

/// Writes an export. A regular file is created atomically; a pipe or a device is written directly.
///
/// # Errors
/// Invalid times, a missing database, or a file that cannot be written.
pub async fn run(options: ExportOptions, env: &Environment) -> CommandResult<ExitCode> {
    let (file, content, (one, more)) = match options.what {
        ExportKind::Votes(options) => {
            (options.period.file.clone(), ExportContent::Votes(options.selection()), ("vote", "votes"))
        }
        ExportKind::Battles(options) => {
            (options.period.file.clone(), ExportContent::Battles(options.selection()), ("battle", "battles"))
        }
        ExportKind::Replies(options) => {
            (options.file.clone(), ExportContent::Replies(options.selection()), ("reply", "replies"))
        }
        ExportKind::Leaderboard(file) => (file, ExportContent::Leaderboard, ("model", "models")),
        ExportKind::Scores(options) => (
            options.file,
            ExportContent::Scores { suite: options.suite, way: options.way, of: ScoredPart::Suite },
            ("score", "scores"),
        ),
        ExportKind::ItemScores(options) => (
            options.file,
            ExportContent::Scores { suite: options.suite, way: options.way, of: ScoredPart::Items },
            ("score", "scores"),
        ),
        ExportKind::Preferences(options) => return dataset_and_preferences::print_preferences(options, env).await,
        ExportKind::Dataset(options) => return dataset_and_preferences::write_dataset(options, env).await,
    };
    file.check_name()?;
    let settings = file.location.settings(env)?;
    let store = databases::open(&settings.storage, IfMissing::Fail).await?;
    let bar = content.bar();
    if file.out.as_os_str() == "-" && io::stdout().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    let is_leaderboard = matches!(content, ExportContent::Leaderboard);
    let written = write_out(&store, content, &file, &bar).await?;
    bar.finish_and_clear();
    if let Some(written) = written {
        eprintln!("{} written", counted(written, one, more));
    }
    if is_leaderboard && written == Some(0) {
        eprintln!("note: the stored leaderboard has no models: `langya serve` stores one, and `langya fit` prints one");
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes to the output; returns the number of rows, or `None` if the reader of a pipe closed it.
async fn write_out(
    store: &Store,
    content: ExportContent,
    file: &FileOptions,
    bar: &ProgressBar,
) -> CommandResult<Option<u64>> {
    if !is_special(&file.out) {
        return unless_interrupted(to_file(store, content, file, bar)).await.map(Some);
    }
    let out = NamedOutput::special(&file.out)?;
    let reader_left = out.reader_left();
    reader_left.ignore_closed_reader(write(store, content, file.format(), out, bar).await)
}

async fn write(
    store: &Store,
    content: ExportContent,
    format: Format,
    out: impl Write + Send,
    bar: &ProgressBar,
) -> CommandResult<u64> {
    Ok(match content {
        ExportContent::Votes(selection) => {
            export::votes(store, selection, format, out, |seq, last| progress::show(bar, seq, last)).await?
        }
        ExportContent::Battles(selection) => {
            export::battles(store, selection, format, out, |battles| bar.inc(battles)).await?
        }
        ExportContent::Replies(selection) => {
            export::replies(store, selection, format, out, |battles| bar.inc(battles)).await?
        }
        ExportContent::Leaderboard => export::leaderboard(store, format, out).await?,
        ExportContent::Scores { suite, way, of } => {
            let loaded = load(store, &suite, way.data.as_deref(), &way.options()?).await?;
            let rng = SharedRng::seeded(0);
            let bench = loaded.bench(store, &rng, way.sample);
            match of {
                ScoredPart::Suite => export::scores(bench, format, out).await?,
                ScoredPart::Items => export::item_scores(bench, format, out).await?,
            }
        }
    })
}

async fn to_file(
    store: &Store,
    content: ExportContent,
    options: &FileOptions,
    bar: &ProgressBar,
) -> CommandResult<u64> {
    let out = OutFile::create(&options.out, options.overwrite)?;
    let written = write(store, content, options.format(), NamedOutput::new(&options.out, out.file()), bar).await?;
    out.finish()?;
    Ok(written)
}

/// Whether the path is standard output, a pipe, a device or a folder, which no file may replace.
fn is_special(path: &Path) -> bool {
    path.as_os_str() == "-" || std::fs::metadata(path).is_ok_and(|found| !found.is_file())
}

/// Output whose errors include its name.
struct NamedOutput<W> {
    name: String,
    out: W,
    reader_left: ReaderLeft,
}

impl<W: Write> NamedOutput<W> {
    fn new(path: &Path, out: W) -> Self {
        Self { name: path.display().to_string(), out, reader_left: ReaderLeft::default() }
    }

    /// Returns a handle that tells, after the output is dropped, whether its reader closed the pipe.
    fn reader_left(&self) -> ReaderLeft {
        self.reader_left.clone()
    }

    fn named<T>(&self, done: io::Result<T>) -> io::Result<T> {
        done.map_err(|error| {
            if error.kind() == ErrorKind::BrokenPipe {
                self.reader_left.0.store(true, Ordering::Relaxed);
            }
            io::Error::new(error.kind(), format!("{}: {error}", self.name))
        })
    }
}

impl NamedOutput<Box<dyn Write + Send>> {
    /// Opens standard output, a pipe or a device, which is written directly.
    fn special(path: &Path) -> Result<Self, BadInput> {
        if path.as_os_str() == "-" {
            return Ok(Self::new(Path::new("the standard output"), Box::new(io::stdout())));
        }
        let out = File::options().write(true).open(path).map_err(|error| cannot_write(path, &error))?;
        Ok(Self::new(path, Box::new(out)))
    }
}

impl<W: Write> Write for NamedOutput<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.out.write(bytes);
        self.named(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.out.flush();
        self.named(done)
    }
}

/// Whether the reader of a pipe closed it early.
#[derive(Debug, Clone, Default)]
struct ReaderLeft(Arc<AtomicBool>);

impl ReaderLeft {
    /// Converts a failure to `None` if the reader closed the pipe early, as `head` does.
    fn ignore_closed_reader<T>(&self, done: CommandResult<T>) -> CommandResult<Option<T>> {
        match done {
            Err(_) if self.0.load(Ordering::Relaxed) => Ok(None),
            done => done.map(Some),
        }
    }
}

fn cannot_write(path: &Path, error: &io::Error) -> BadInput {
    BadInput(format!("cannot write {}: {error}; choose another file with --out", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_compressed_file_is_refused() {
        let check = |name: &str| {
            let (location, out) = (Location::default(), PathBuf::from(name));
            FileOptions { location, out, overwrite: Overwrite::ALWAYS, format: None }.check_name()
        };
        for name in ["votes.csv", "votes", "-", "gz", "votes.gz.csv"] {
            check(name).unwrap();
        }
        for name in ["votes.csv.gz", "votes.ZST"] {
            assert!(check(name).unwrap_err().0.starts_with(name));
        }
    }
}
