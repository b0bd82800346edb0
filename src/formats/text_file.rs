//! Reads whole text files within a size limit, and detects other file types by their first bytes.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Maximum bytes of a file of rows.
const MAX_BYTES: u64 = 1 << 30;
/// Maximum bytes of a hand-written file, such as a prompt or a study.
const MAX_HANDWRITTEN_BYTES: u64 = 16 << 20;
/// Bytes inspected before the rest is read.
const INSPECTED_BYTES: u64 = 64 << 10;

const SQLITE: &[u8] = b"SQLite format 3\0";
const ZIP: &[u8] = b"PK\x03\x04";
const XZ: &[u8] = b"\xfd7zXZ\0";
const SEVEN_ZIP: &[u8] = b"7z\xbc\xaf\x27\x1c";
/// Bytes 4 to 9 of a file by bzip2, which begins with `BZh` and a digit.
const BZIP2: &[u8] = b"1AY&SY";

/// Reads a file of rows. A path that is no regular file (a pipe, a device, a folder) is refused before it could block, and a file of
/// more than a gibibyte or of binary data before it is read into memory.
///
/// # Errors
/// I/O errors, and the refusals above.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    read_file_or_pipe(path)
}

/// Reads a file of rows like [`read_file`], also from a pipe up to its end.
///
/// # Errors
/// The same as for [`read_file`].
pub fn read_file_or_pipe(path: &Path) -> io::Result<Vec<u8>> {
    read_whole(path, MAX_BYTES, "split it")
}

/// Reads a hand-written text of at most 16 MiB, without its byte order mark; also from a pipe.
///
/// # Errors
/// The same as for [`read_file_or_pipe`], and an error for a text that is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    let bytes = read_whole(path, MAX_HANDWRITTEN_BYTES, "it may be another file than you meant")?;
    let text = String::from_utf8(bytes).map_err(|_| invalid("it is not UTF-8: convert it, for example with iconv"))?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

fn read_whole(path: &Path, most: u64, advice: &str) -> io::Result<Vec<u8>> {
    let (mut file, mut bytes) = (File::open(path)?, Vec::new());
    let too_long = || io::Error::other(format!("it has more than {most} bytes: {advice}"));
    // 0 for a pipe.
    let length = file.metadata()?.len();
    if length > most {
        return Err(too_long());
    }
    (&mut file).take(INSPECTED_BYTES).read_to_end(&mut bytes)?;
    refuse_binary(&bytes)?;
    bytes.reserve_exact(usize::try_from(length).unwrap_or(0).saturating_sub(bytes.len()));
    file.take(most).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_long()) } else { Ok(bytes) }
}

/// Refuses a file whose first bytes are not UTF-8 text. A NUL after the first line is left to the parser, which names the place.
///
/// # Errors
/// [`ErrorKind::InvalidData`] with the type of the file and the remedy.
pub(crate) fn refuse_binary(head: &[u8]) -> io::Result<()> {
    if head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
        return Err(invalid("it is UTF-16: convert it, for example with iconv -f UTF-16 -t UTF-8"));
    }
    if head.starts_with(SQLITE) {
        return Err(invalid("it is an SQLite database: give a text file; `langya import arena` takes a whole arena"));
    }
    if head.starts_with(ZIP) {
        return Err(invalid("it is a ZIP archive or a spreadsheet: unpack it, or save the sheet as CSV"));
    }
    let is_bzip2 = head.starts_with(b"BZh") && head.get(4..10) == Some(BZIP2);
    if is_bzip2 || head.starts_with(XZ) || head.starts_with(SEVEN_ZIP) {
        return Err(invalid("it is packed by xz, bzip2 or 7-Zip: unpack it first"));
    }
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let is_text = !head.contains(&0) || (!line.contains(&0) && std::str::from_utf8(line).is_ok());
    if is_text { Ok(()) } else { Err(invalid("it is binary data: give a text file in UTF-8")) }
}

fn invalid(reason: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_refused(bytes: &[u8], reason: &str) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        for refused in [read_file(file.path()).unwrap_err(), read_text(file.path()).unwrap_err()] {
            assert!(refused.to_string().starts_with(reason), "{refused}");
        }
    }

    #[test]
    fn what_is_no_text_is_refused_by_what_it_is() {
        check_refused(b"\xff\xfem\0o\0d\0e\0l\0", "it is UTF-16: convert it");
        check_refused(b"m\0o\0d\0e\0l\0", "it is binary data");
        check_refused(b"SQLite format 3\0\x10\0", "it is an SQLite database");
        check_refused(b"PK\x03\x04\x14\0\x06\0", "it is a ZIP archive or a spreadsheet");
        for packed in [&b"\xfd7zXZ\0\0\x04"[..], b"7z\xbc\xaf\x27\x1c\0\x04", b"BZh91AY&SY\xd6\x1c"] {
            check_refused(packed, "it is packed by xz, bzip2 or 7-Zip: unpack it first");
        }
        check_refused(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "it is binary data");
        check_refused(&[0; 100], "it is binary data");
    }

    #[test]
    fn a_nul_behind_the_first_line_is_left_to_the_reader() {
        assert!(refuse_binary(b"model,x\na\0,1\n").is_ok());
        assert!(refuse_binary(b"").is_ok());
    }

    /// A sparse file takes no disk space, but would take its full length in memory.
    #[test]
    fn a_file_that_is_too_long_is_refused_before_it_is_read() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        std::io::Write::write_all(&mut file, b"text\n").unwrap();
        file.as_file().set_len(MAX_HANDWRITTEN_BYTES + 1).unwrap();
        let refused = read_text(file.path()).unwrap_err().to_string();
        assert!(refused.starts_with("it has more than 16777216 bytes"), "{refused}");
        file.as_file().set_len(MAX_BYTES + 1).unwrap();
        let refused = read_file(file.path()).unwrap_err().to_string();
        assert_eq!(refused, "it has more than 1073741824 bytes: split it");
    }

    #[test]
    fn a_text_comes_without_its_byte_order_mark() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "\u{feff}狼牙\r\n").unwrap();
        assert_eq!(read_text(file.path()).unwrap(), "狼牙\r\n");
        std::fs::write(file.path(), b"caf\xe9").unwrap();
        assert!(read_text(file.path()).unwrap_err().to_string().starts_with("it is not UTF-8"));
    }
}
