//! Files to rows and back, without a database.

pub mod agreement;
pub mod bench_records;
pub mod campaign_files;
pub mod data_card;
pub mod dataset;
pub mod draft_review;
pub mod drafts;
pub mod locked_file;
pub mod makers;
pub mod model_table;
pub mod prices;
pub mod prompt_images;
pub mod records;
pub mod scores;
pub mod simulation;
pub mod tables;
pub mod votes;

use langya_domain as domain;

use std::path::Path;

/// Bytes of a file that is read whole.
const MOST_BYTES: u64 = 1 << 30;

/// Reads a file. Whatever else bears the name (a pipe, a device, a folder) is refused before it could block, and a file
/// of more than a gibibyte before it takes the memory.
///
/// # Errors
/// The system's.
pub fn read_file(path: &Path) -> std::io::Result<Vec<u8>> {
    let found = std::fs::metadata(path)?;
    if !found.is_file() {
        return Err(std::io::Error::other("it is not a regular file"));
    }
    if found.len() > MOST_BYTES {
        return Err(std::io::Error::other(format!("it has more than {MOST_BYTES} bytes: split it")));
    }
    std::fs::read(path)
}
