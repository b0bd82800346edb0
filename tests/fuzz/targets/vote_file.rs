//! Whatever a file of votes holds, it is read or refused, and the same packed as it is.

#![no_main]

use std::cell::RefCell;
use std::fs;
use std::io::Write;

use flate2::{Compression, write::GzEncoder};
use langya::domain::rating::votes::vote_log::ColumnSet;
use langya::formats::votes::{ReadOptions, read_log};
use libfuzzer_sys::fuzz_target;
use tempfile::NamedTempFile;

const EVERYTHING: ColumnSet = ColumnSet {
    voters: true,
    languages: true,
    categories: true,
    intents: true,
    turns: true,
    prompt_tokens: true,
    satisfactions: true,
    reasons: true,
    seconds: true,
    style: true,
    pair_probabilities: true,
    timings: true,
    pairing_policies: true,
    battle_ids: true,
    excluded_votes: false,
};

thread_local! {
    static FILE: RefCell<NamedTempFile> = RefCell::new(NamedTempFile::new().expect("a temporary file can be made"));
}

fuzz_target!(|bytes: &[u8]| {
    let plain = read(bytes);
    match bytes.len() % 16 {
        0 => assert_eq!(read(&zipped(bytes)), plain, "gzip"),
        1 => assert_eq!(read(&zstd::encode_all(bytes, 1).expect("memory takes it")), plain, "zstd"),
        _ => {}
    }
});

/// The number of votes that are read, of those left out, or that the file was refused; bad rows left out first.
fn read(bytes: &[u8]) -> [Option<(usize, u64)>; 2] {
    FILE.with_borrow(|file| {
        fs::write(file.path(), bytes).expect("the file can be written");
        [true, false].map(|skip_bad| {
            let options = ReadOptions { skip_bad, ..ReadOptions::default() };
            let log = read_log(&[file.path()], EVERYTHING, &options).ok()?;
            Some((log.len(), log.excluded.values().sum()))
        })
    })
}

fn zipped(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(bytes).expect("memory takes it");
    packer.finish().expect("memory takes it")
}
