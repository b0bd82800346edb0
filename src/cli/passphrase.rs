//! `langya passphrase`: hashes a passphrase for `access.passphrase_hash`.

use std::io::{IsTerminal, Read};
use std::process::ExitCode;

use anyhow::Context as _;

use super::output::standard_output::print;
use crate::domain::admin::account::MIN_PASSPHRASE_CHARS;
use crate::error::{BadInput, CommandResult};
use crate::infra::passphrase_hash::passphrase_hash;

/// Maximum length of the input in bytes.
const MAX_INPUT_BYTES: u64 = 4_096;

/// Reads a passphrase from the standard input and prints its hash.
///
/// # Errors
/// An unreadable input, or a passphrase that is too short.
pub fn run() -> CommandResult<ExitCode> {
    let mut typed = String::new();
    if std::io::stdin().is_terminal() {
        eprintln!("Type the passphrase, Enter, and Ctrl-D:");
    }
    std::io::stdin().take(MAX_INPUT_BYTES).read_to_string(&mut typed).context("cannot read the standard input")?;
    let passphrase = typed.trim_end_matches(['\r', '\n']);
    if passphrase.chars().count() < MIN_PASSPHRASE_CHARS {
        return Err(BadInput(format!(
            "the passphrase has fewer than {MIN_PASSPHRASE_CHARS} characters: take a longer one"
        ))
        .into());
    }
    print(&(passphrase_hash(passphrase).context("the passphrase cannot be hashed")? + "\n"))?;
    Ok(ExitCode::SUCCESS)
}
