//! A vote counts once in an arena, whatever way it comes there, and whatever weight a file gives it.

use std::path::Path;

use crate::support::program::langya;

/// What `langya` prints; it has to go well.
#[track_caller]
fn prints(folder: &Path, arguments: &[&str]) -> String {
    let done = langya(folder, arguments);
    assert_eq!(done.code, Some(0), "{arguments:?}: {}", done.stderr);
    done.stdout
}

#[track_caller]
fn check_import(folder: &Path, arena: &str, file: &str, expected: &str) {
    assert_eq!(prints(folder, &["import", "votes", file, "--data-dir", arena]), expected, "{file} into {arena}");
}

#[test]
fn votes_that_come_back_by_way_of_another_arena_count_once() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let vote = |battle: &str| format!(r#"{{"model_a":"x","model_b":"y","winner":"model_a","battle_id":"{battle}"}}"#);
    let uuid = |last: u32| format!("01985e5f-0c3b-7e6a-9c55-2f3b1a4d6e7{last}");
    let own = [vote(&uuid(1)), vote("7"), vote(&uuid(2)), vote(&uuid(2))].join("\n");
    std::fs::write(folder.join("own.jsonl"), &own).unwrap();
    let export = |arena: &str, out: &str| prints(folder, &["export", "votes", "--out", out, "--data-dir", arena]);

    check_import(folder, "a", "own.jsonl", "own.jsonl: 4 votes imported\n");
    export("a", "a.jsonl");
    check_import(folder, "b", "a.jsonl", "a.jsonl: 4 votes imported\n");
    export("b", "b.jsonl");
    check_import(folder, "a", "b.jsonl", "b.jsonl: 0 votes imported\nb.jsonl: 4 votes are already here\n");

    // A later log of the same arena, and the file that its first votes are from.
    std::fs::write(folder.join("more.jsonl"), format!("{own}\n{}", vote(&uuid(3)))).unwrap();
    check_import(folder, "b", "own.jsonl", "own.jsonl: 0 votes imported\nown.jsonl: 4 votes are already here\n");
    let told = "more.jsonl: 2 votes imported\nmore.jsonl: 3 votes are already here\n";
    check_import(folder, "b", "more.jsonl", told);
}

#[test]
fn every_command_that_reads_votes_says_that_their_weights_are_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let votes = |head: &str| format!("model_a,model_b,winner,judge{head}\nx,y,A,ann,3\nx,y,B,ben,1\n");
    std::fs::write(folder.join("weighted.csv"), votes(",weight")).unwrap();
    std::fs::write(folder.join("plain.csv"), votes(",other")).unwrap();
    for command in [&["import", "votes", "--data-dir", "data"][..], &["votes", "flagged", "--votes"]] {
        for (file, is_noted) in [("weighted.csv", true), ("plain.csv", false)] {
            let run = langya(folder, command.iter().chain(&[file]));
            assert_eq!(run.code, Some(0), "{command:?} {file}: {}", run.stderr);
            let note = "note: each row counts as one vote, so these columns are not used";
            assert_eq!(run.stderr.contains(note), is_noted, "{command:?} {file}: {}", run.stderr);
        }
    }
}
