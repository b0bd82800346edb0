//! `langya verify`: checks the public log of an arena from outside, or a single receipt.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use serde::{Deserialize, Serialize};

use super::output::out_file::{OutFile, Overwrite};
use super::output::progress;
use super::output::standard_output::print;
use crate::databases;
use crate::domain::plural::counted;
use crate::domain::public_log::cosignature::WitnessKey;
use crate::domain::public_log::log_receipt::{CheckedReceipt, LogReceipt};
use crate::domain::public_log::signed_note::VerifierKey;
use crate::domain::public_log::trust_anchors::{TrustAnchors, Verified};
use crate::error::{BadInput, CommandResult};
use crate::formats::read_text;
use crate::infra::config::{LoggingFormat, StorageSettings};
use crate::infra::public_log::reader::PublicLogSource;
use crate::infra::rng::SharedRng;
use crate::infra::storage::IfMissing;
use crate::infra::telemetry;
use crate::infra::time::clock::SystemClock;
use crate::services::public_log::PublicLog;
use crate::services::public_log::database_check::{CheckedDatabase, DatabaseCheckError};
use crate::services::public_log::verification::{LeaderboardSource, verify};

/// Arguments of `langya verify`.
#[derive(Debug, Clone, Args)]
pub struct VerifyOptions {
    /// Address of a log, ending in /log; a folder with the files of a log; a receipt file; or your own arena's database, whose
    /// rows are compared with its log
    #[arg(value_name = "FILE|URL")]
    source: String,
    /// Key of the log, as its page /log shows it [default: the key stored in --known, or else the one the arena sends]
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// Receipt of a vote whose entry must be in the log; may be given several times
    #[arg(long = "receipt", value_name = "FILE")]
    receipts: Vec<PathBuf>,
    /// Key of a witness that must have signed the checkpoint in addition to the arena; may be given several times
    #[arg(long = "witness", value_name = "KEY")]
    witnesses: Vec<String>,
    /// Where keys and checkpoints of verified logs are kept for the next time
    #[arg(long, value_name = "FILE", default_value = "langya-known-logs.json")]
    known: PathBuf,
    /// Check the log alone, not the leaderboard
    #[arg(long)]
    no_leaderboard: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: VerifyFormat,
}

/// Output format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum VerifyFormat {
    /// Sentences.
    #[default]
    Table,
    /// One JSON object.
    Json,
}

/// Stored trust anchors of a verified log.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct KnownLog {
    key: String,
    checkpoint: String,
}

/// Header of an SQLite file.
const SQLITE_HEADER: &[u8; 16] = b"SQLite format 3\0";

type KnownLogs = BTreeMap<String, KnownLog>;

/// Verifies a log or a receipt.
///
/// # Errors
/// A failed verification, or an unreadable input.
pub async fn run(options: VerifyOptions) -> CommandResult<ExitCode> {
    telemetry::start(LoggingFormat::Text);
    let path = Path::new(&options.source);
    match database(&options.source) {
        Some(database) => rows(&options, &database).await,
        None if path.is_file() => verify_receipt(&options, path),
        None => log(&options).await,
    }
}

/// Returns storage settings, if the source is a database.
fn database(source: &str) -> Option<StorageSettings> {
    let is_url = ["postgres://", "postgresql://", "sqlite:"].iter().any(|scheme| source.starts_with(scheme));
    let url = if is_url { Some(source.to_owned()) } else { is_sqlite(source).then(|| format!("sqlite:{source}")) };
    url.map(|url| StorageSettings { database: url.as_str().into(), ..StorageSettings::default() })
}

fn is_sqlite(path: &str) -> bool {
    // Opening a pipe could block forever.
    if !Path::new(path).is_file() {
        return false;
    }
    let mut begin = [0; SQLITE_HEADER.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut begin));
    read.is_ok() && begin == *SQLITE_HEADER
}

async fn rows(options: &VerifyOptions, settings: &StorageSettings) -> CommandResult<ExitCode> {
    let store = databases::open(settings, IfMissing::Fail).await?;
    // If there is a log, it has its key, and none is generated.
    if store.log_checkpoint().await?.is_none() {
        return Err(DatabaseCheckError::NoLog.into());
    }
    let log = PublicLog::open(store, &SharedRng::from_system(), &SystemClock, "").await?;
    let bar = progress::count("votes compared");
    let checked = log.check_database(|votes| bar.set_position(votes)).await;
    bar.finish_and_clear();
    let CheckedDatabase { entries, votes, without_salt } = checked?;
    print(&match options.format {
        VerifyFormat::Table => {
            let (votes, entries) = (counted(votes, "vote", "votes"), counted(entries, "entry", "entries"));
            format!(
                "{votes} and all exclusions match the log, which has {entries}\n{without_salt} of them without texts to compare\n"
            )
        }
        VerifyFormat::Json => {
            let found =
                serde_json::json!({"entries": entries, "votes": votes, "without_salt": without_salt, "verified": true});
            serde_json::to_string_pretty(&found)? + "\n"
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

async fn log(options: &VerifyOptions) -> CommandResult<ExitCode> {
    let source = PublicLogSource::parse(&options.source)?;
    let receipts = options.receipts.iter().map(|path| receipt(path)).collect::<CommandResult<Vec<_>>>()?;
    let mut logs = known_logs(&options.known)?;
    let known = known_of(options, logs.get(&source.name()))?;
    let is_first_key = known.key.is_none();
    let leaderboard = if options.no_leaderboard { LeaderboardSource::Skipped } else { LeaderboardSource::Published };
    let bar = progress::bar("reading entries");
    let show = |done: u64, all: u64| {
        bar.set_length(all);
        bar.set_position(done);
    };
    let verified = verify(&source, &known, &receipts, leaderboard, show).await;
    bar.finish_and_clear();
    let verified = verified?;
    logs.insert(source.name(), KnownLog { key: verified.key.to_string(), checkpoint: verified.checkpoint.clone() });
    let kept = serde_json::to_string_pretty(&logs)? + "\n";
    OutFile::create(&options.known, Overwrite::ALWAYS)?.write(|out| out.write_all(kept.as_bytes()))?;
    print(&match options.format {
        VerifyFormat::Table => sentences(&verified, is_first_key),
        VerifyFormat::Json => json(&source.name(), &verified)?,
    })?;
    Ok(ExitCode::SUCCESS)
}

fn verify_receipt(options: &VerifyOptions, path: &Path) -> CommandResult<ExitCode> {
    let key = options.key.as_deref();
    let missing = || {
        BadInput("a receipt is checked with the log's key: give it with --key, from the page /log of the arena".into())
    };
    let key = VerifierKey::parse(key.ok_or_else(missing)?)?;
    let receipt = receipt(path)?;
    let log = key.name();
    let (sentence, found) = match receipt.verify(&key)? {
        CheckedReceipt::Logged(logged, head) => {
            let (index, size, entry) = (logged.index, head.size, String::from_utf8_lossy(&logged.entry));
            let found = serde_json::json!({"log": log, "index": index, "size": size, "entry": entry});
            (format!("entry {index} of {size} in {log} is\n{entry}\n"), found)
        }
        CheckedReceipt::Promised(promise) => {
            let said = serde_json::to_string(&promise)?;
            let sentence = format!(
                "{log} promised to log this vote\n{said}\nto check that it did, run langya verify ADDRESS/log --receipt FILE\n"
            );
            (sentence, serde_json::json!({"log": log, "promise": promise}))
        }
    };
    print(&match options.format {
        VerifyFormat::Table => sentence,
        VerifyFormat::Json => serde_json::to_string_pretty(&found)? + "\n",
    })?;
    Ok(ExitCode::SUCCESS)
}

fn receipt(path: &Path) -> CommandResult<LogReceipt> {
    let text = read_text(path).with_context(|| format!("{} cannot be read", path.display()))?;
    Ok(LogReceipt::read(&path.display().to_string(), &text)?)
}

/// Selects the trust anchors. An explicit key overrides the stored one; checkpoints verified under another key are ignored.
fn known_of(options: &VerifyOptions, last: Option<&KnownLog>) -> CommandResult<TrustAnchors> {
    let given = options.key.as_deref().map(VerifierKey::parse).transpose()?;
    let kept = last.map(|last| VerifierKey::parse(&last.key)).transpose()?;
    let witnesses = options.witnesses.iter().map(|key| WitnessKey::parse(key)).collect::<Result<_, _>>()?;
    Ok(TrustAnchors { key: given.or(kept), checkpoint: last.map(|last| last.checkpoint.clone()), witnesses })
}

fn known_logs(path: &Path) -> CommandResult<KnownLogs> {
    match read_text(path) {
        Ok(text) => serde_json::from_str(&text).map_err(|error| {
            let path = path.display();
            BadInput(format!("{path} does not hold known logs: {error}. Name another file with --known")).into()
        }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(KnownLogs::new()),
        Err(error) => Err(anyhow::Error::from(error).context(format!("{} cannot be read", path.display())).into()),
    }
}

fn sentences(verified: &Verified, is_first_key: bool) -> String {
    let Verified { key, head, known, votes, excluded, leaderboard_votes, receipts, witnesses, .. } = verified;
    let mut lines = vec![
        format!("signature: good, by {key}"),
        format!("tree: {} to the root {}", counted(head.size, "entry leads", "entries lead"), head.root.to_base64()),
        match known {
            Some(known) => {
                format!("history: the log has only grown since it had {}", counted(known.size, "entry", "entries"))
            }
            None => "history: seen for the first time; the next run compares with this one".to_owned(),
        },
        format!("votes: {votes}, of which {excluded} are excluded"),
    ];
    if is_first_key {
        lines.push("key: taken from the arena itself; compare it with the one that others see".to_owned());
    }
    lines.extend(witnesses.iter().map(|(name, at)| format!("witness: {name} signed it at {}", moment(*at))));
    if *receipts > 0 {
        lines.push(format!("receipts: {receipts} in the log"));
    }
    if let Some(votes) = leaderboard_votes {
        let votes = counted(votes, "vote", "votes");
        lines.push(format!("leaderboard: every number of it follows from the log ({votes})"));
    }
    lines.push("verified\n".to_owned());
    lines.join("\n")
}

/// Formats seconds since 1970 as a time in UTC.
fn moment(seconds: u64) -> String {
    let at = i64::try_from(seconds).ok().and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
    at.map_or_else(|| format!("{seconds} seconds after 1970"), |at| at.to_string())
}

fn json(name: &str, verified: &Verified) -> CommandResult<String> {
    let Verified { key, head, known, votes, excluded, leaderboard_votes, receipts, witnesses, .. } = verified;
    let found = serde_json::json!({
        "log": name,
        "key": key.to_string(),
        "size": head.size,
        "root": head.root.to_base64(),
        "known_size": known.map(|known| known.size),
        "votes": votes,
        "excluded": excluded,
        "receipts": receipts,
        "witnesses": witnesses.iter().map(|(name, at)| serde_json::json!({"name": name, "signed_at": at})).collect::<Vec<_>>(),
        "leaderboard_votes": leaderboard_votes,
        "verified": true,
    });
    Ok(serde_json::to_string_pretty(&found)? + "\n")
}
