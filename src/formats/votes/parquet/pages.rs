//! Reads texts from the pages of a column, without an allocation per value.
//!
//! pandas, pyarrow, DuckDB and LMArena's files store a text column as a dictionary and one index a row, bit-packed or as a run of equal
//! ones. Only these indices are needed here. The layout is that of the Parquet format's "Encodings": RLE/bit-packing hybrid, and PLAIN
//! where a dictionary grew too large.

use std::ops::Range;

use ::parquet::basic::Encoding;
use ::parquet::column::page::{Page, PageReader};
use ::parquet::errors::ParquetError;

use crate::domain::rating::votes::vote_log::InternedTexts;
use crate::votes::parquet::texts::{TextList, Texts};

/// Reads the texts of a column without repeated values; `None` if a page has another encoding.
pub(super) fn read_texts(
    mut pages: Box<dyn PageReader>,
    max_level: i16,
    rows: usize,
) -> Result<Option<Texts>, ParquetError> {
    let mut column = TextColumn { rows: Vec::with_capacity(rows), ..TextColumn::default() };
    while let Some(page) = pages.get_next_page()? {
        let data = match page {
            Page::DictionaryPage { buf, num_values, .. } => {
                column.read_dictionary(&buf, num_values as usize)?;
                continue;
            }
            Page::DataPage { buf, num_values, encoding, def_level_encoding, .. } => {
                if max_level > 0 && def_level_encoding != Encoding::RLE {
                    return Ok(None);
                }
                let levels = if max_level > 0 { 4 + length_at(&buf, 0)? } else { 0 };
                let begin = if max_level > 0 { 4 } else { 0 };
                DataPage::new(&buf, begin, levels, num_values, encoding)?
            }
            Page::DataPageV2 { buf, num_values, encoding, def_levels_byte_len, rep_levels_byte_len, .. } => {
                let begin = rep_levels_byte_len as usize;
                DataPage::new(&buf, begin, begin + def_levels_byte_len as usize, num_values, encoding)?
            }
        };
        let values = match data.encoding {
            Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY => Values::Numbers,
            Encoding::PLAIN => Values::Texts,
            _ => return Ok(None),
        };
        // A run of equal values takes a few bytes regardless of its length, and the page's stated count is checked nowhere else.
        if data.count > rows - column.rows.len() {
            return Err(broken("a page with more rows than its row group has left"));
        }
        column.read_page(&data, max_level, values)?;
    }
    Ok(Some(Texts { names: column.texts, rows: column.rows }))
}

/// Encoding of the values of a page.
#[derive(Clone, Copy)]
enum Values {
    /// Dictionary indices.
    Numbers,
    /// Texts, each preceded by its length.
    Texts,
}

/// A page without its header.
struct DataPage {
    levels: bytes::Bytes,
    values: bytes::Bytes,
    count: usize,
    encoding: Encoding,
}

impl DataPage {
    fn new(
        buffer: &bytes::Bytes,
        begin: usize,
        end: usize,
        count: u32,
        encoding: Encoding,
    ) -> Result<Self, ParquetError> {
        if begin > end || end > buffer.len() {
            return Err(too_short());
        }
        let (levels, values) = (buffer.slice(begin..end), buffer.slice(end..));
        Ok(Self { levels, values, count: count as usize, encoding })
    }
}

#[derive(Default)]
struct TextColumn {
    /// Texts of the dictionary, stored once each, and those stored in pages.
    texts: TextList,
    /// Range of the dictionary's texts.
    dictionary: Range<u32>,
    /// Texts stored in pages, with the position of each in `texts`.
    paged: InternedTexts,
    places: Vec<u32>,
    rows: Vec<u32>,
    /// Buffers for the levels and numbers of a page, reused for the next one.
    levels: Vec<u32>,
    numbers: Vec<u32>,
}

impl TextColumn {
    fn read_dictionary(&mut self, buffer: &[u8], count: usize) -> Result<(), ParquetError> {
        let begin = u32::try_from(self.texts.len())?;
        let mut at = 0;
        for _ in 0..count {
            self.texts.push(text_at(buffer, &mut at)?);
        }
        self.dictionary = begin..u32::try_from(self.texts.len())?;
        Ok(())
    }

    /// Position of a text stored in a page.
    fn place(&mut self, text: &str) -> u32 {
        let known = self.paged.position(text) as usize;
        if known == self.places.len() {
            self.places.push(self.texts.push(text));
        }
        self.places[known]
    }

    fn read_page(&mut self, page: &DataPage, max_level: i16, values: Values) -> Result<(), ParquetError> {
        let top = u32::try_from(max_level).unwrap_or(0);
        self.levels.clear();
        if top > 0 {
            unpack(&page.levels, 32 - top.leading_zeros(), page.count, &mut self.levels)?;
        }
        let missing = self.levels.iter().filter(|&&level| level < top).count();
        self.numbers.clear();
        match values {
            Values::Texts => {
                let mut at = 0;
                for _ in missing..page.count {
                    let place = self.place(text_at(&page.values, &mut at)?);
                    self.numbers.push(place);
                }
            }
            Values::Numbers if missing < page.count => {
                let (width, packed) = page.values.split_first().ok_or_else(too_short)?;
                unpack(packed, u32::from(*width), page.count - missing, &mut self.numbers)?;
                let Range { start, end } = self.dictionary;
                if self.numbers.iter().any(|&number| number >= end - start) {
                    return Err(broken("a number outside its dictionary"));
                }
                self.numbers.iter_mut().for_each(|number| *number += start);
            }
            Values::Numbers => {}
        }
        if missing == 0 {
            self.rows.extend_from_slice(&self.numbers);
        } else {
            let mut numbers = self.numbers.iter().copied();
            let value = |&level: &u32| if level < top { None } else { numbers.next() };
            self.rows.extend(self.levels.iter().map(value).map(|number| number.unwrap_or(Texts::NONE)));
        }
        Ok(())
    }
}

fn length_at(buffer: &[u8], at: usize) -> Result<usize, ParquetError> {
    let bytes = buffer.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).ok_or_else(too_short)?;
    Ok(u32::from_le_bytes(bytes) as usize)
}

fn text_at<'b>(buffer: &'b [u8], at: &mut usize) -> Result<&'b str, ParquetError> {
    let length = length_at(buffer, *at)?;
    let bytes = buffer.get(*at + 4..*at + 4 + length).ok_or_else(too_short)?;
    *at += 4 + length;
    std::str::from_utf8(bytes).map_err(|_| broken("a text is not UTF-8"))
}

/// Adds `count` numbers of `width` bits each: runs of one number, and groups of eight packed from the lowest bit on.
fn unpack(mut packed: &[u8], width: u32, count: usize, numbers: &mut Vec<u32>) -> Result<(), ParquetError> {
    if width > 32 {
        return Err(broken("numbers of more than 32 bits"));
    }
    let bytes_of = width.div_ceil(8) as usize;
    let end = numbers.len() + count;
    while numbers.len() < end {
        let head = read_varint(&mut packed).ok_or_else(too_short)?;
        let missing = end - numbers.len();
        if head & 1 == 0 {
            let value = packed.split_off(..bytes_of).ok_or_else(too_short)?;
            let mut bytes = [0; 4];
            bytes[..bytes_of].copy_from_slice(value);
            let run = usize::try_from(head >> 1)?.min(missing);
            if run == 0 {
                return Err(broken("an empty run"));
            }
            numbers.resize(numbers.len() + run, u32::from_le_bytes(bytes));
        } else {
            let groups = usize::try_from(head >> 1)?;
            let length = groups.checked_mul(width as usize).ok_or_else(too_short)?.min(packed.len());
            let bytes = packed.split_off(..length).ok_or_else(too_short)?;
            let there = if width == 0 { missing } else { bytes.len() * 8 / width as usize };
            let taken = groups.saturating_mul(8).min(missing).min(there);
            if taken == 0 {
                return Err(too_short());
            }
            unpack_groups(bytes, width, taken, numbers);
        }
    }
    Ok(())
}

/// Adds `count` bit-packed numbers.
fn unpack_groups(bytes: &[u8], width: u32, count: usize, numbers: &mut Vec<u32>) {
    let mask = (1_u64 << width) - 1;
    let (width, begin) = (width as usize, numbers.len());
    numbers.resize(begin + count, 0);
    for (group, numbers) in numbers[begin..].chunks_mut(8).enumerate() {
        // Eight numbers of up to 32 bits, padded so that eight bytes can be read at the last one.
        let mut window = [0_u8; 40];
        let rest = &bytes[(group * width).min(bytes.len())..];
        let length = rest.len().min(width);
        window[..length].copy_from_slice(&rest[..length]);
        for (place, number) in numbers.iter_mut().enumerate() {
            let bit = place * width;
            let word: [u8; 8] = window[bit / 8..bit / 8 + 8].try_into().expect("the window holds eight more bytes");
            *number = low_bits(u64::from_le_bytes(word) >> (bit % 8) & mask);
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the mask leaves 32 bits")]
fn low_bits(word: u64) -> u32 {
    word as u32
}

fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..63).step_by(7) {
        let byte = *bytes.split_off_first()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn too_short() -> ParquetError {
    broken("a page ends too early")
}

fn broken(what: &str) -> ParquetError {
    ParquetError::General(what.to_owned())
}

#[cfg(test)]
mod tests {
    use ::parquet::column::page::PageMetadata;

    use super::*;

    /// Reader of given pages.
    struct Pages(std::vec::IntoIter<Page>);

    impl Iterator for Pages {
        type Item = Result<Page, ParquetError>;

        fn next(&mut self) -> Option<Self::Item> {
            self.get_next_page().transpose()
        }
    }

    impl PageReader for Pages {
        fn get_next_page(&mut self) -> Result<Option<Page>, ParquetError> {
            Ok(self.0.next())
        }

        fn peek_next_page(&mut self) -> Result<Option<PageMetadata>, ParquetError> {
            unreachable!("pages are read one after the other")
        }

        fn skip_next_page(&mut self) -> Result<(), ParquetError> {
            unreachable!("pages are read one after the other")
        }
    }

    /// Reads pages of these row counts, all rows with the dictionary's only text, as a row group of `rows`.
    fn read_runs(counts: &[u32], rows: usize) -> Result<Option<Texts>, ParquetError> {
        let dictionary = bytes::Bytes::from_static(b"\x01\0\0\0x");
        let dictionary =
            Page::DictionaryPage { buf: dictionary, num_values: 1, encoding: Encoding::PLAIN, is_sorted: false };
        let run = |&num_values: &u32| {
            // Numbers of one bit: a run of 2^31 zeros, of which the page uses its stated count.
            let buf = bytes::Bytes::from_static(b"\x01\x80\x80\x80\x80\x10\0");
            let (encoding, rle) = (Encoding::RLE_DICTIONARY, Encoding::RLE);
            Page::DataPage {
                buf,
                num_values,
                encoding,
                def_level_encoding: rle,
                rep_level_encoding: rle,
                statistics: None,
            }
        };
        let pages: Vec<Page> = [dictionary].into_iter().chain(counts.iter().map(run)).collect();
        read_texts(Box::new(Pages(pages.into_iter())), 0, rows)
    }

    #[test]
    fn a_page_that_says_more_rows_than_its_row_group_has_is_refused_before_it_is_unpacked() {
        let whole = read_runs(&[2, 1], 3).unwrap().unwrap();
        assert_eq!((whole.rows, &whole.names[0]), (vec![0; 3], "x"));
        for counts in [&[2_147_483_647][..], &[2, 2], &[3, 1]] {
            let error = read_runs(counts, 3).unwrap_err().to_string();
            assert!(error.contains("more rows than its row group"), "{counts:?}: {error}");
        }
    }

    /// Eight numbers a group, packed from the lowest bit on.
    fn pack(numbers: &[u32], width: u32) -> Vec<u8> {
        let groups = numbers.len().div_ceil(8);
        let mut bytes = vec![u8::try_from(groups << 1 | 1).unwrap()];
        let mut packed = vec![0_u8; groups * width as usize];
        for (place, number) in numbers.iter().enumerate() {
            for bit in (0..width).filter(|bit| number >> bit & 1 == 1) {
                let at = place * width as usize + bit as usize;
                packed[at / 8] |= 1 << (at % 8);
            }
        }
        bytes.extend(packed);
        bytes
    }

    proptest::proptest! {
        #[test]
        fn numbers_of_any_width_come_out_as_they_went_in(
            width in 1_u32..=32, numbers in proptest::collection::vec(0_u32.., 1..60), run in 1_u8..60,
        ) {
            let mask = u32::MAX >> (32 - width);
            let numbers: Vec<u32> = numbers.into_iter().map(|number| number & mask).collect();
            let last = *numbers.last().unwrap();
            let mut packed = pack(&numbers, width);
            // The padding of the last group is read only if more numbers follow.
            let mut expected = numbers.clone();
            expected.resize(numbers.len().div_ceil(8) * 8, 0);
            packed.push(run << 1);
            packed.extend(&last.to_le_bytes()[..width.div_ceil(8) as usize]);
            expected.resize(expected.len() + usize::from(run), last);
            for count in [numbers.len(), expected.len()] {
                let mut out = vec![7];
                unpack(&packed, width, count, &mut out).unwrap();
                proptest::prop_assert_eq!(&out[1..], &expected[..count]);
            }
            proptest::prop_assert!(unpack(&packed, width, expected.len() + 1, &mut Vec::new()).is_err());
        }

        #[test]
        fn no_bytes_make_it_panic(
            bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..40), width in 0_u32..40, count in 0_usize..100,
        ) {
            let _: Result<_, _> = unpack(&bytes, width, count, &mut Vec::new());
        }
    }
}
