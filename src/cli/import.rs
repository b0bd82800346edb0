//! `langya import`: imports votes, suites, answers, verdicts, scores or a whole arena.

use std::fmt::Display;
use std::fs::File;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::Location;
use super::bench::{RunSelectorFlags, open_beside, open_with_suites, read_text};
use super::output::progress;
use super::output::standard_output::print;
use super::vote_files::{ReadFlags, note_unread_columns};
use crate::databases;
use crate::domain::benchmark;
use crate::domain::benchmark::suites::registry::DATA_FORMATS;
use crate::domain::plural::counted;
use crate::error::{BadInput, CommandResult, Interrupted};
use crate::formats::benchmark_records;
use crate::formats::votes::ReadOptions;
use crate::formats::{check_given_once, input_metadata, input_name, is_standard_input};
use crate::infra::config::{Environment, ServiceUrl, StorageSettings};
use crate::infra::rng::SharedRng;
use crate::infra::storage::{DataLock, DatabaseMoveError, IfMissing, Imported, Moved, Store, StoreError, transfer};
use crate::infra::time::clock::{Clock, SystemClock};
use crate::output::terminal_text::printable;
use crate::services::benchmark::imports::{self, ScoreImport};
use crate::services::benchmark::loading::load;
use crate::services::import_export::import::{self, ImportReport, VotesFile};
use crate::signals::or_interrupted;

/// Flags of `langya import`.
#[derive(Debug, Clone, Args)]
pub struct ImportOptions {
    #[command(subcommand)]
    what: ImportKind,
}

#[derive(Debug, Clone, Subcommand)]
enum ImportKind {
    /// Votes cast elsewhere, which the leaderboard counts. The same file again, and votes that this arena exported, change nothing
    Votes(Box<ImportVotesOptions>),
    /// Items of a benchmark suite, from its data file (--help shows the formats). Importing the same file again changes nothing
    Suite(ImportSuiteOptions),
    /// Answers of models to a suite's items that were given elsewhere: item, model, answer, turn
    Answers(OfSuiteOptions),
    /// Verdicts of judges on a suite's answers that were given elsewhere: item, model, judge, judgment or score
    Verdicts(OfSuiteOptions),
    /// Scores that others published: suite, model, score, part, series, source
    Scores(ImportScoresOptions),
    /// A whole arena: from its SQLite file into the empty PostgreSQL database that --database names
    Arena(ArenaOptions),
}

#[derive(Debug, Clone, Args)]
struct ArenaOptions {
    #[command(flatten)]
    location: Location,
    /// The arena's database file, such as data/langya.db; stop the arena first
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Clear the moved mark on FILE so that it can be served again; data stored in PostgreSQL since the move is not copied back
    #[arg(long)]
    undo: bool,
}

#[derive(Debug, Clone, Args)]
#[command(after_long_help = suite_formats())]
struct ImportSuiteOptions {
    #[command(flatten)]
    location: Location,
    /// The suite, such as mtbench101
    #[arg(value_name = "NAME")]
    name: String,
    /// Its data file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The declaration of a suite of your own, in TOML
    #[arg(long, value_name = "TOML")]
    suite_file: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
struct OfSuiteOptions {
    #[command(flatten)]
    location: Location,
    /// Lines of JSON, or CSV with a header
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Suite that the records belong to
    #[arg(long, value_name = "NAME")]
    suite: String,
    #[command(flatten)]
    way: RunSelectorFlags,
}

#[derive(Debug, Clone, Args)]
struct ImportScoresOptions {
    #[command(flatten)]
    location: Location,
    /// Lines of JSON, or CSV with a header
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

#[derive(Debug, Clone, Args)]
struct ImportVotesOptions {
    #[command(flatten)]
    location: Location,
    /// Parquet, CSV, TSV, JSON or JSON lines, optionally compressed with gzip or zstd; or the folder of a data set; - for the
    /// standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    reading: ReadFlags,
}

/// Describes the data file format of each suite, with an example.
fn suite_formats() -> String {
    let one = |(name, form, example): &(&str, &str, &str)| {
        format!("\n  {name}: {form}\n    {}\n", example.replace('\n', "\n    "))
    };
    let all: String = DATA_FORMATS.iter().map(one).collect();
    format!("Data files:\n{all}\n  A suite of your own says in its --suite-file which fields its items have.")
}

/// Imports the files of the options.
///
/// # Errors
/// A file that is missing, in use, of another version or without votes; a database that is in use, not empty or unavailable.
pub async fn run(options: ImportOptions, env: &Environment) -> CommandResult<ExitCode> {
    check_readable(&options.what)?;
    match options.what {
        ImportKind::Votes(options) => votes(*options, env).await,
        ImportKind::Suite(options) => suite(options, env).await,
        ImportKind::Answers(options) => of_suite(options, SuiteImport::Answers, env).await,
        ImportKind::Verdicts(options) => of_suite(options, SuiteImport::Verdicts, env).await,
        ImportKind::Scores(options) => scores(options, env).await,
        ImportKind::Arena(options) => arena(options, env).await,
    }
}

impl ImportKind {
    /// Returns the files to import.
    fn files(&self) -> &[PathBuf] {
        match self {
            Self::Votes(options) => &options.files,
            Self::Suite(options) => std::slice::from_ref(&options.file),
            Self::Answers(options) | Self::Verdicts(options) => std::slice::from_ref(&options.file),
            Self::Scores(options) => std::slice::from_ref(&options.file),
            // Checked separately, as a database.
            Self::Arena(_) => &[],
        }
    }
}

/// Rejects an unreadable file before a database is created for it. A pipe is opened only once, to be read, and a device may be endless.
/// Only votes can be read from standard input.
fn check_readable(what: &ImportKind) -> CommandResult<()> {
    let reads_votes = matches!(what, ImportKind::Votes(_));
    if reads_votes {
        check_given_once(what.files())?;
    }
    let from_stdin = |file: &PathBuf| reads_votes && is_standard_input(file);
    let check = |file: &PathBuf| -> std::io::Result<()> {
        let found = if from_stdin(file) { input_metadata(file)? } else { std::fs::metadata(file)? };
        let kind = found.file_type();
        if kind.is_char_device() || kind.is_block_device() {
            return Err(std::io::Error::other("it is a device: write its output to a file, and import that file"));
        }
        if found.is_file() && !from_stdin(file) { File::open(file).map(drop) } else { Ok(()) }
    };
    for file in what.files() {
        check(file).map_err(|error| {
            let name = if from_stdin(file) { input_name(file) } else { file.display() };
            BadInput(format!("cannot read {name}: {error}"))
        })?;
    }
    Ok(())
}

/// Name of the database lock's holder, in errors of other processes.
const IMPORTING_VOTES: &str = "import votes";

/// Imports files one after another, each atomically; a signal ends the import after the current file.
async fn votes(options: ImportVotesOptions, env: &Environment) -> CommandResult<ExitCode> {
    or_interrupted(Interrupted::NO_FURTHER_IMPORT, votes_of_files(options, env)).await
}

/// Imports vote files. An embedded database must not be served meanwhile; a missing one is created once the first file is valid.
async fn votes_of_files(options: ImportVotesOptions, env: &Environment) -> CommandResult<ExitCode> {
    let storage = options.location.settings(env)?.storage;
    let reading = options.reading.options();
    let mut files = with_shards(&options.files)?.into_iter();
    // A database in use is refused before a large file is read.
    let lock = match DataLock::acquire_existing(&storage, IMPORTING_VOTES).await {
        Err(StoreError::Missing(_)) => None,
        taken => Some(taken?),
    };
    let first = match files.next() {
        Some(file) => Some((read_votes(&file, &reading).await?, file)),
        None => None,
    };
    let _lock = lock.map_or_else(|| DataLock::take(&storage, IMPORTING_VOTES), Ok)?;
    let store = databases::open(&storage, IfMissing::Create).await?;
    if let Some((read, file)) = first {
        import_votes(&store, &file, read).await?;
    }
    for file in files {
        import_votes(&store, &file, read_votes(&file, &reading).await?).await?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads a file on a blocking thread, so that a signal does not wait for it.
async fn read_votes(file: &Path, options: &ReadOptions) -> CommandResult<VotesFile> {
    let _reading = progress::waiting("reading votes");
    let (file, options) = (file.to_owned(), options.clone());
    let read = tokio::task::spawn_blocking(move || VotesFile::read(&file, &options, SystemClock.now()));
    Ok(read.await??)
}

/// Imports a parsed file, and prints the result.
async fn import_votes(store: &Store, file: &Path, read: VotesFile) -> CommandResult<()> {
    let bar = progress::bar("importing votes");
    let ImportReport { imported, already_here, excluded, unread_columns } =
        import::votes(store, read, |done, all| progress::show(&bar, done, all)).await?;
    bar.finish_and_clear();
    let file = input_name(file);
    match imported {
        Imported::All(votes) => {
            print(&format!("{file}: {} imported\n", counted(votes, "vote", "votes")))?;
            if already_here > 0 {
                print(&format!("{file}: {} already here\n", counted(already_here, "vote is", "votes are")))?;
            }
            note_unread_columns(&unread_columns);
        }
        Imported::Before => print(&format!("{file}: already imported; nothing changed\n"))?,
    }
    for (reason, votes) in excluded {
        print(&format!("{file}: {votes} left out: {}\n", printable(&reason)))?;
    }
    Ok(())
}

/// Replaces data set folders by their vote files, in order.
fn with_shards(files: &[PathBuf]) -> Result<Vec<PathBuf>, BadInput> {
    let shards = |folder: &PathBuf| -> Result<Vec<PathBuf>, BadInput> {
        let entries = std::fs::read_dir(folder.join("data")).into_iter().flatten().flatten();
        let is_shard = |path: &PathBuf| path.extension().is_some_and(|kind| kind == "parquet");
        let mut shards: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_shard).collect();
        shards.sort();
        if shards.is_empty() {
            let folder = folder.display();
            return Err(BadInput(format!(
                "{folder} is a folder without data/*.parquet, so it is not a data set: name a file of votes in it"
            )));
        }
        Ok(shards)
    };
    let is_folder = |file: &PathBuf| !is_standard_input(file) && file.is_dir();
    let of_each = files.iter().map(|file| if is_folder(file) { shards(file) } else { Ok(vec![file.clone()]) });
    Ok(of_each.collect::<Result<Vec<_>, _>>()?.concat())
}

/// Imports a suite's data file.
async fn suite(options: ImportSuiteOptions, env: &Environment) -> CommandResult<ExitCode> {
    let settings = options.location.settings(env)?;
    let declaration = options.suite_file.as_deref().map(read_text).transpose()?;
    let plain = benchmark::SuiteOptions::default();
    let suite = match &declaration {
        None => benchmark::suite(&options.name, &plain)?,
        Some(declaration) => benchmark::custom_suite(declaration, &plain)?,
    };
    if suite.name() != options.name {
        let (own, asked) = (suite.name(), &options.name);
        return Err(
            BadInput(format!("the suite file declares {own:?}, not {asked:?}: give the name that it has")).into()
        );
    }
    // Validated before a database is created.
    let read = imports::read_suite(suite.as_ref(), declaration.as_deref(), &options.file, SystemClock.now())?;
    let store = open_beside(&settings, IfMissing::Create).await?;
    let (file, version) = (options.file.display(), &read.row.version[..12]);
    match imports::suite(&store, &read).await? {
        Imported::All(items) => {
            let items = counted(items, "item", "items");
            print(&format!("{file}: {items} of {} imported as data {version}\n", suite.name()))?
        }
        Imported::Before => print(&format!("{file}: imported before as data {version}, nothing changed\n"))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Content of a file about a suite.
#[derive(Debug, Clone, Copy)]
enum SuiteImport {
    Answers,
    Verdicts,
}

/// Imports answers or verdicts.
async fn of_suite(options: OfSuiteOptions, kind: SuiteImport, env: &Environment) -> CommandResult<ExitCode> {
    let settings = options.location.settings(env)?;
    let store = open_with_suites(&settings).await?;
    let loaded = load(&store, &options.suite, options.way.data.as_deref(), &options.way.options()?).await?;
    let rng = SharedRng::from_system();
    let bench = loaded.bench(&store, &rng, options.way.sample);
    let (one, more, taken) = match kind {
        SuiteImport::Answers => ("answer", "answers", imports::answers(bench, &options.file).await?),
        SuiteImport::Verdicts => ("verdict", "verdicts", imports::verdicts(bench, &options.file).await?),
    };
    let differing = match taken.differing {
        0 => String::new(),
        differing => format!("; {differing} differ from what is stored and were not imported"),
    };
    let failed = taken.failed.iter().map(|(status, count)| format!("{count} ({})", status.in_words()));
    let failed = failed.collect::<Vec<_>>().join(", ");
    let failed = if failed.is_empty() { failed } else { format!("; kept as failed: {failed}") };
    let file = options.file.display();
    let read = counted(taken.read, one, more);
    print(&format!("{file}: {read} read, {} of them new{differing}{failed}\n", taken.new))?;
    Ok(ExitCode::SUCCESS)
}

/// Imports published scores.
async fn scores(options: ImportScoresOptions, env: &Environment) -> CommandResult<ExitCode> {
    let settings = options.location.settings(env)?;
    // Validated before a database is created.
    let given = benchmark_records::scores(&options.file)?;
    let store = open_beside(&settings, IfMissing::Create).await?;
    let ScoreImport { imported, without_score } = imports::scores(&store, given, SystemClock.now()).await?;
    let left_out = match without_score {
        0 => String::new(),
        records => format!("; {} without a score left out", counted(records, "record", "records")),
    };
    let imported = counted(imported, "score", "scores");
    print(&format!("{}: {imported} imported{left_out}\n", options.file.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Moves an arena to PostgreSQL, in one transaction.
async fn arena(options: ArenaOptions, env: &Environment) -> CommandResult<ExitCode> {
    let settings = options.location.settings(env)?;
    check_database_file(&options.file)?;
    let from = StorageSettings {
        database: ServiceUrl::from(format!("sqlite:{}", options.file.display())),
        ..settings.storage.clone()
    };
    if options.undo {
        return unmark_moved_file(&options.file, &from).await;
    }
    // Checked before a useless database is created.
    if !settings.storage.is_postgres() {
        return Err(DatabaseMoveError::WrongBackends.into());
    }
    // The target may have been lost since an earlier move.
    let source = databases::open_even_if_moved(&from, IfMissing::Fail).await?;
    let _lock = DataLock::acquire_to_read(&from, "import arena")?;
    let target = databases::open(&settings.storage, IfMissing::Create).await?;
    let count = progress::count("moving");
    let moved = transfer(&source, &target, |moved| {
        count.set_message(format!("moving {}", moved.table));
        count.set_position(moved.rows);
    })
    .await?;
    // Marked before printing: a failing output ends the command.
    let marked = source.mark_moved(SystemClock.now()).await;
    count.finish_and_clear();
    let file = options.file.display();
    let next = match marked {
        Ok(()) => format!(
            "{file} is marked as moved, and every command refuses it: set storage.database to the new address\n"
        ),
        Err(error) => {
            eprintln!("warning: {file} could not be marked as moved: {error}");
            format!(
                "{file} is unchanged: do not serve it again, because both arenas would sign the same public log; set \
                 storage.database to the new address\n"
            )
        }
    };
    print(&(report(&moved) + &next))?;
    Ok(ExitCode::SUCCESS)
}

/// Removes the moved mark of a database file.
async fn unmark_moved_file(file: &Path, storage: &StorageSettings) -> CommandResult<ExitCode> {
    let _lock = DataLock::take(storage, "import arena")?;
    let was_marked = databases::open_even_if_moved(storage, IfMissing::Fail).await?.unmark_moved().await?;
    let file = file.display();
    print(&match was_marked {
        true => format!("{file} can be used again: do not serve the arena in PostgreSQL beside it\n"),
        false => format!("{file} was not marked as moved; nothing changed\n"),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Rejects a path that is no file: database errors would give advice about the configured database.
fn check_database_file(file: &Path) -> Result<(), BadInput> {
    let refused = |reason: &dyn Display| {
        BadInput(format!(
            "cannot read {}: {reason}; name the arena's database file, such as data/langya.db",
            file.display()
        ))
    };
    match std::fs::metadata(file) {
        Err(error) => Err(refused(&error)),
        Ok(found) if !found.is_file() => Err(refused(&"it is not a regular file")),
        Ok(_) => Ok(()),
    }
}

fn report(moved: &[Moved]) -> String {
    moved.iter().map(|Moved { table, rows }| format!("{table:<14} {rows:>10}\n")).collect()
}
