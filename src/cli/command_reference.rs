//! Reference of all commands for the documentation, from the clap definitions.

use std::fmt::Write;

use clap::{Command, CommandFactory, Parser};

use super::Cli;

/// Width of help texts in columns.
const HELP_WIDTH: usize = 100;

/// Returns a heading and the help text of each executable command, as Markdown.
#[must_use]
pub fn commands() -> String {
    let mut cli = Cli::command().term_width(HELP_WIDTH);
    cli.build();
    let mut out = String::new();
    for command in cli.get_subcommands_mut() {
        describe(&mut out, command, "langya");
    }
    out
}

/// Checks that these arguments, including the program's name, can be parsed.
///
/// # Errors
/// The usage error that the program would print.
pub fn parse(arguments: &[String]) -> Result<(), String> {
    Cli::try_parse_from(arguments).map(drop).map_err(|error| error.to_string())
}

fn describe(out: &mut String, command: &mut Command, above: &str) {
    let name = format!("{above} {}", command.get_name());
    if command.get_name() == "help" {
        return;
    }
    if command.has_subcommands() {
        for part in command.get_subcommands_mut() {
            describe(out, part, &name);
        }
        return;
    }
    let help = command.render_long_help().to_string();
    let _ = write!(out, "### {name}\n\n```text\n{}\n```\n\n", help.trim_end());
}
