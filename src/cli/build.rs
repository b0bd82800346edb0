//! Embeds commit and date in a release build; `langya --version` prints them. `LANGYA_COMMIT` sets the commit where the source is built
//! without its history, as in a container. Other builds print only the version, so that a commit recompiles nothing.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=LANGYA_COMMIT");
    let version = env!("CARGO_PKG_VERSION");
    let commit = env::var("LANGYA_COMMIT").ok().filter(|commit| !commit.is_empty()).or_else(commit_of_a_release);
    let said = commit.map_or_else(|| version.to_owned(), |commit| format!("{version} ({commit})"));
    println!("cargo::rustc-env=LANGYA_VERSION={said}");
}

fn commit_of_a_release() -> Option<String> {
    if env::var("PROFILE").is_ok_and(|profile| profile != "release") {
        return None;
    }
    // Every commit and checkout appends to this file.
    println!("cargo::rerun-if-changed={}", git(&["rev-parse", "--git-path", "logs/HEAD"])?);
    git(&["log", "-1", "--format=%h %cs"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let answer = Command::new("git").args(arguments).output().ok().filter(|answer| answer.status.success())?;
    String::from_utf8(answer.stdout).ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}
