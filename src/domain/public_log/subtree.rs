//! Hashes of entry ranges, computed from tiles for proofs and right edges.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::hash::TreeHash;
use super::tile::{TILE_HEIGHT, TILE_WIDTH, Tile};

/// Returns the largest complete subtrees of a tree of this size, from left to right, as ranges of entries.
#[must_use]
pub fn complete_parts(size: u64) -> Vec<Range<u64>> {
    let heights = (0..u64::BITS).rev().filter(|height| size >> height & 1 == 1);
    heights
        .scan(0, |start, height| {
            let part = *start..*start + (1 << height);
            *start = part.end;
            Some(part)
        })
        .collect()
}

/// Hashes of tiles by level and number.
#[derive(Debug, Default)]
pub struct TileSet(BTreeMap<(u8, u64), Vec<TreeHash>>);

impl TileSet {
    /// Returns the tiles needed for the hashes of these entry ranges, in a tree of `size` entries.
    #[must_use]
    pub fn needed(ranges: &[Range<u64>], size: u64) -> BTreeSet<Tile> {
        let mut tiles = BTreeSet::new();
        for part in ranges.iter().flat_map(|range| aligned_parts(range.clone())) {
            let (level, first, _) = hashes_of(&part);
            tiles.extend(Tile::at(level, first / TILE_WIDTH, size));
        }
        tiles
    }

    /// Adds the hashes of a tile.
    pub fn insert(&mut self, tile: Tile, hashes: Vec<TreeHash>) {
        self.0.insert((tile.level(), tile.number()), hashes);
    }

    /// Computes the hash of an entry range as defined by RFC 6962; `None` if a tile is missing or too short, or the range is empty.
    #[must_use]
    pub fn hash(&self, range: Range<u64>) -> Option<TreeHash> {
        let hashes: Option<Vec<TreeHash>> = aligned_parts(range).iter().map(|part| self.complete(part)).collect();
        hashes?.into_iter().rev().reduce(|right, left| TreeHash::node(left, right))
    }

    /// Computes the hashes of several ranges; `None` if one is missing.
    #[must_use]
    pub fn hashes(&self, ranges: &[Range<u64>]) -> Option<Vec<TreeHash>> {
        ranges.iter().map(|range| self.hash(range.clone())).collect()
    }

    fn complete(&self, part: &Range<u64>) -> Option<TreeHash> {
        let (level, first, width) = hashes_of(part);
        let tile = self.0.get(&(level, first / TILE_WIDTH))?;
        let start = usize::try_from(first % TILE_WIDTH).ok()?;
        let mut row = tile.get(start..start + width)?.to_vec();
        while row.len() > 1 {
            row = row.chunks_exact(2).map(|pair| TreeHash::node(pair[0], pair[1])).collect();
        }
        row.first().copied()
    }
}

/// Returns the tile level of a complete subtree, the position of its first hash there, and its number of hashes on that level.
fn hashes_of(part: &Range<u64>) -> (u8, u64, usize) {
    let height = (part.end - part.start).trailing_zeros();
    let level = u8::try_from(height / TILE_HEIGHT).expect("a tree has at most 64 heights");
    (level, part.start >> (TILE_HEIGHT * u32::from(level)), 1 << (height % TILE_HEIGHT))
}

/// Splits a range that begins at a multiple of the largest power of two below its length into its largest complete subtrees.
fn aligned_parts(range: Range<u64>) -> Vec<Range<u64>> {
    let parts = complete_parts(range.end - range.start);
    parts.into_iter().map(|part| range.start + part.start..range.start + part.end).collect()
}
