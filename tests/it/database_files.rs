//! What a command leaves beside the database when it is ended.

use std::io::Read;
use std::process::{Command, Stdio};

use crate::support::program::{langya, program};

#[test]
fn a_fit_that_is_killed_after_it_has_read_the_votes_leaves_no_write_ahead_log() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let votes: String = (0..1_000).map(|at| format!("model {at},model {},model_a\n", (at + 1) % 1_000)).collect();
    std::fs::write(here.join("votes.csv"), format!("model_a,model_b,winner\n{votes}")).unwrap();
    let imported = langya(here, ["import", "votes", "votes.csv"]);
    assert_eq!(imported.code, Some(0), "{}", imported.stderr);
    // The JSON of so many models is longer than a pipe, so the command waits for somebody to read it.
    let mut fit = Command::new(program());
    fit.args(["fit", "--method", "elo", "--interval", "none", "--format", "json"]).current_dir(here);
    let mut fit = fit.env_clear().stdout(Stdio::piped()).spawn().unwrap();
    fit.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    fit.kill().unwrap();
    fit.wait().unwrap();
    let mut files: Vec<_> =
        std::fs::read_dir(here.join("data")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    files.sort_unstable();
    assert_eq!(files, ["langya.db", "langya.lock"]);
}
