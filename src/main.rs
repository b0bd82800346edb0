//! The langya program: see `langya --help`.

use std::process::ExitCode;

fn main() -> ExitCode {
    langya::cli::run(langya::serve::serve)
}
