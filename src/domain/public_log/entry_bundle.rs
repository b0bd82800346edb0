//! Entry bundles: each entry is preceded by its length as a big-endian `u16`.

/// Maximum length of an entry, in bytes.
pub const MAX_ENTRY_BYTES: usize = u16::MAX as usize;

/// Error of an entry that is too long to be published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a log entry of {0} bytes is longer than {MAX_ENTRY_BYTES}")]
pub struct EntryTooLong(pub usize);

/// Encodes a sequence of entries.
///
/// # Errors
/// [`EntryTooLong`].
pub fn encode_entries<'e>(entries: impl IntoIterator<Item = &'e [u8]>) -> Result<Vec<u8>, EntryTooLong> {
    let mut bytes = Vec::new();
    for entry in entries {
        let length = u16::try_from(entry.len()).map_err(|_| EntryTooLong(entry.len()))?;
        bytes.extend(length.to_be_bytes());
        bytes.extend(entry);
    }
    Ok(bytes)
}

/// Decodes the entries of a bundle; `None` if the bytes end within an entry.
#[must_use]
pub fn decode_entries(mut bytes: &[u8]) -> Option<Vec<&[u8]>> {
    let mut entries = Vec::new();
    while !bytes.is_empty() {
        let (length, rest) = bytes.split_first_chunk::<2>()?;
        let (entry, rest) = rest.split_at_checked(u16::from_be_bytes(*length).into())?;
        entries.push(entry);
        bytes = rest;
    }
    Some(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_survive_and_a_cut_bundle_is_none() {
        let longest = vec![7; MAX_ENTRY_BYTES];
        let entries: [&[u8]; 4] = [b"one", b"", "二".as_bytes(), &longest];
        let bytes = encode_entries(entries).unwrap();
        assert_eq!(&bytes[..5], [0, 3, b'o', b'n', b'e']);
        assert_eq!(decode_entries(&bytes).as_deref(), Some(&entries[..]));
        assert_eq!(decode_entries(&[]).as_deref(), Some(&[][..]));
        assert_eq!(decode_entries(&bytes[..bytes.len() - 1]), None);
        assert_eq!(decode_entries(&[0]), None);
        assert_eq!(encode_entries([[0; MAX_ENTRY_BYTES + 1].as_slice()]), Err(EntryTooLong(65_536)));
    }
}
