//! Every command as the documentation lists it, from the definitions that parse the arguments.

use std::fmt::Write;

use clap::{Command, CommandFactory, Parser};

use super::Cli;

/// Columns of a help text.
const WIDTH: usize = 100;

/// A heading and the help text of each command that does something, as Markdown.
#[must_use]
pub fn commands() -> String {
    let mut cli = Cli::command().term_width(WIDTH);
    cli.build();
    let mut out = String::new();
    for command in cli.get_subcommands_mut() {
        describe(&mut out, command, "langya");
    }
    out
}

/// Whether these arguments, the program's name among them, are understood.
///
/// # Errors
/// What the program would print.
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
