//! Tiles of a tree and their paths (C2SP tlog-tiles). A tile has up to 256 hashes; at level 0 these are leaf hashes, above each is the hash
//! of a full tile below.

use std::fmt;

use super::hash::{HASH_BYTES, TreeHash};

/// Height of a tile in tree levels.
pub const TILE_HEIGHT: u32 = 8;
/// Number of hashes in a full tile.
pub const TILE_WIDTH: u64 = 1 << TILE_HEIGHT;
/// Highest tile level of a tree of 2^63 entries.
const HIGHEST_LEVEL: u8 = 7;

/// Tile of a tree: its level, number within the level, and number of hashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tile {
    level: u8,
    number: u64,
    width: u16,
}

/// Content of a tile's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TileKind {
    /// Hashes of the tile.
    Hashes(Tile),
    /// Entries below a tile of level 0.
    Entries(Tile),
}

impl Tile {
    /// Returns the tile of this number at a level of a tree of `size` entries, full or partial; `None` if the tree has none.
    #[must_use]
    pub fn at(level: u8, number: u64, size: u64) -> Option<Self> {
        let hashes = size.checked_shr(TILE_HEIGHT * u32::from(level)).unwrap_or(0);
        let left = hashes.checked_sub(number.checked_mul(TILE_WIDTH)?)?.min(TILE_WIDTH);
        let width = u16::try_from(left).ok().filter(|width| *width > 0 && level <= HIGHEST_LEVEL)?;
        Some(Self { level, number, width })
    }

    /// Iterates over the tiles of a tree, from level 0 up.
    pub fn all(size: u64) -> impl Iterator<Item = Self> {
        (0..=HIGHEST_LEVEL).flat_map(move |level| (0..).map_while(move |number| Self::at(level, number, size)))
    }

    /// Returns the level.
    #[must_use]
    pub fn level(self) -> u8 {
        self.level
    }

    /// Returns the number within the level.
    #[must_use]
    pub fn number(self) -> u64 {
        self.number
    }

    /// Returns the number of hashes.
    #[must_use]
    pub fn width(self) -> u64 {
        self.width.into()
    }

    /// Whether the tile has all of its hashes.
    #[must_use]
    pub fn is_full(self) -> bool {
        self.width() == TILE_WIDTH
    }

    /// Returns the position of its first hash within the level.
    #[must_use]
    pub fn start(self) -> u64 {
        self.number * TILE_WIDTH
    }

    /// Returns the position after its last hash.
    #[must_use]
    pub fn end(self) -> u64 {
        self.start() + self.width()
    }

    /// Whether the tile is part of a tree of `size` entries.
    #[must_use]
    pub fn is_in(self, size: u64) -> bool {
        Self::at(self.level, self.number, size).is_some_and(|largest| self.width <= largest.width)
    }
}

impl fmt::Display for TileKind {
    /// Formats the path below the log's prefix, such as `tile/0/x001/x234/067.p/8`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tile = match self {
            Self::Hashes(tile) => {
                write!(f, "tile/{}", tile.level)?;
                tile
            }
            Self::Entries(tile) => {
                f.write_str("tile/entries")?;
                tile
            }
        };
        let (mut left, mut elements) = (tile.number, Vec::new());
        loop {
            elements.push(left % 1_000);
            left /= 1_000;
            if left == 0 {
                break;
            }
        }
        for (place, element) in elements.iter().enumerate().rev() {
            write!(f, "/{}{element:03}", if place > 0 { "x" } else { "" })?;
        }
        if tile.is_full() { Ok(()) } else { write!(f, ".p/{}", tile.width) }
    }
}

impl TileKind {
    /// Parses a path of [`Display`](fmt::Display); `None` for any non-canonical text.
    #[must_use]
    pub fn parse(path: &str) -> Option<Self> {
        let (kind, rest) = path.strip_prefix("tile/")?.split_once('/')?;
        let (number, width) = match rest.split_once(".p/") {
            Some((number, width)) => (number, width.parse().ok().filter(|width| (1..256).contains(width))?),
            None => (rest, 256),
        };
        let number = number.split('/').try_fold(0_u64, |sum, element| {
            let digits = element.strip_prefix('x').unwrap_or(element);
            let element: u64 = digits.parse().ok().filter(|_| digits.len() == 3)?;
            sum.checked_mul(1_000)?.checked_add(element)
        })?;
        let tile = |level| Tile { level, number, width };
        let found = match kind {
            "entries" => Self::Entries(tile(0)),
            level => Self::Hashes(tile(level.parse().ok().filter(|level| *level <= HIGHEST_LEVEL)?)),
        };
        (number < u64::MAX / TILE_WIDTH && found.to_string() == path).then_some(found)
    }
}

/// Encodes the hashes of a tile.
#[must_use]
pub fn encode_hashes(hashes: &[TreeHash]) -> Vec<u8> {
    hashes.iter().flat_map(|hash| hash.0).collect()
}

/// Decodes the hashes of a tile; `None` if their number differs from the tile's.
#[must_use]
pub fn decode_hashes(bytes: &[u8], tile: Tile) -> Option<Vec<TreeHash>> {
    let (hashes, rest) = bytes.as_chunks::<HASH_BYTES>();
    (rest.is_empty() && hashes.len() as u64 == tile.width())
        .then(|| hashes.iter().map(|hash| TreeHash(*hash)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_of_seventy_thousand_entries_has_the_tiles_of_the_specification() {
        let mut counts = std::collections::BTreeMap::<(u8, u64), u64>::new();
        for tile in Tile::all(70_000) {
            *counts.entry((tile.level(), tile.width())).or_default() += 1;
        }
        let expected = [((0, 112), 1), ((0, 256), 273), ((1, 17), 1), ((1, 256), 1), ((2, 1), 1)];
        assert_eq!(counts.into_iter().collect::<Vec<_>>(), expected);
        let tiles: Vec<_> = Tile::all(256).collect();
        assert_eq!(tiles.iter().map(|tile| (tile.level, tile.width)).collect::<Vec<_>>(), [(0, 256), (1, 1)]);
        assert_eq!(Tile::all(0).count(), 0);
    }

    #[test]
    fn a_tile_has_one_address() {
        let tile = |level, number, width| Tile { level, number, width };
        for (kind, path) in [
            (TileKind::Hashes(tile(0, 0, 256)), "tile/0/000"),
            (TileKind::Hashes(tile(2, 1_234_067, 256)), "tile/2/x001/x234/067"),
            (TileKind::Hashes(tile(1, 273, 17)), "tile/1/273.p/17"),
            (TileKind::Entries(tile(0, 1_000, 1)), "tile/entries/x001/000.p/1"),
        ] {
            assert_eq!(kind.to_string(), path);
            assert_eq!(TileKind::parse(path), Some(kind));
        }
        for path in [
            "tile/0/0",
            "tile/0/1000",
            "tile/00/000",
            "tile/0/x000/001",
            "tile/0/001/x234",
            "tile/0/000.p/0",
            "tile/0/000.p/256",
            "tile/0/000.p/01",
            "tile/8/000",
            "tile/-1/000",
            "tile/0/+12",
            "tile/0/",
            "tile/entries",
            "tile/entries/000.p/",
            "0/000",
            "tile/0/x999/x999/x999/x999/x999/x999/x999/999",
            "tile/0/x018/x446/x744/x073/x709/x551/615",
            "tile/0/x01/000",
        ] {
            assert_eq!(TileKind::parse(path), None, "{path}");
        }
    }

    #[test]
    fn a_tile_of_the_wrong_length_is_none() {
        let tile = Tile::at(0, 0, 2).unwrap();
        let hashes = [TreeHash::leaf(b"a"), TreeHash::leaf(b"b")];
        let bytes = encode_hashes(&hashes);
        assert_eq!(decode_hashes(&bytes, tile).as_deref(), Some(&hashes[..]));
        for bytes in [&bytes[..63], &bytes[..32], &[bytes.as_slice(), &[0; 32]].concat()] {
            assert_eq!(decode_hashes(bytes, tile), None);
        }
    }
}
