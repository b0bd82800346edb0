//! `langya export votes`: the vote log as JSON lines.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Subcommand, ValueEnum};

use super::{BadInput, Location};
use crate::clock::Timestamp;
use crate::config::Environment;
use crate::services::export::{self, VoteSelection};
use crate::storage::{IfMissing, Store};

/// Flags of `langya export`.
#[derive(Debug, Clone, Args)]
pub struct ExportOptions {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Clone, Subcommand)]
enum What {
    /// The vote log
    Votes(VotesOptions),
}

#[derive(Debug, Clone, Args)]
struct VotesOptions {
    #[command(flatten)]
    location: Location,
    /// File to write; - for standard output
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// How to write it
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    format: Format,
    /// Only votes at this time or later: 2026-11-21, or 2026-11-21T08:00:00Z
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only votes before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// With the conversations
    #[arg(long)]
    text: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// One JSON object a line
    Jsonl,
}

/// Writes the log. A file appears under its name only when it is whole; a pipe or a device is written as it is.
///
/// # Errors
/// Bad times, a missing database, or a file that cannot be written.
pub async fn run(options: ExportOptions, env: &Environment) -> anyhow::Result<ExitCode> {
    let What::Votes(options) = options.what;
    let Format::Jsonl = options.format;
    let selection = VoteSelection {
        since: options.since.as_deref().map(parse_time).transpose()?.unwrap_or(Timestamp(i64::MIN)),
        until: options.until.as_deref().map(parse_time).transpose()?.unwrap_or(Timestamp(i64::MAX)),
        with_text: options.text,
    };
    let settings = options.location.settings(env)?;
    let store = Store::open(&settings.storage, IfMissing::Fail).await?;
    let written = if options.out.as_os_str() == "-" {
        export::votes(&store, selection, &mut BufWriter::new(std::io::stdout().lock())).await?
    } else if is_special(&options.out) {
        let file =
            File::options().write(true).open(&options.out).map_err(|error| cannot_write(&options.out, &error))?;
        export::votes(&store, selection, &mut BufWriter::new(file)).await?
    } else {
        to_file(&store, selection, &options.out).await?
    };
    eprintln!("{written} votes written");
    Ok(ExitCode::SUCCESS)
}

async fn to_file(store: &Store, selection: VoteSelection, path: &Path) -> anyhow::Result<u64> {
    let mut partial = path.to_owned().into_os_string();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    let file = File::create(&partial).map_err(|error| cannot_write(path, &error))?;
    let written = export::votes(store, selection, &mut BufWriter::new(file)).await;
    let moved = written.map_err(anyhow::Error::from).and_then(|written| {
        std::fs::rename(&partial, path).map_err(|error| cannot_write(path, &error))?;
        Ok(written)
    });
    if moved.is_err() {
        // What is reported is the first failure; a partial file that cannot be removed either adds nothing to it.
        let _ = std::fs::remove_file(&partial);
    }
    moved
}

/// A pipe, a device or a folder: nothing that a file may be put in place of.
fn is_special(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| !found.is_file())
}

fn cannot_write(path: &Path, error: &std::io::Error) -> BadInput {
    BadInput(format!("cannot write {}: {error}; choose another file with --out", path.display()))
}

/// Reads a date, which begins at midnight UTC, or a time.
pub(super) fn parse_time(text: &str) -> anyhow::Result<Timestamp> {
    let moment = text.parse::<jiff::Timestamp>().or_else(|_| {
        let date: jiff::civil::Date = text.parse()?;
        date.to_zoned(jiff::tz::TimeZone::UTC).map(|zoned| zoned.timestamp())
    });
    let moment: Result<jiff::Timestamp, jiff::Error> = moment;
    let moment = moment
        .map_err(|_| BadInput(format!("cannot read the time {text:?}: write 2026-11-21 or 2026-11-21T08:00:00Z")))
        .context("--since and --until take a time")?;
    Ok(Timestamp(moment.as_millisecond()))
}
