//! The right edge of a tree: what appending needs of the entries before. For a tree of n entries it holds one hash for each
//! bit of n that is set, those of the largest complete subtrees from left to right.

use super::hash::TreeHash;
use super::subtree::complete_parts;
use super::tile::TILE_HEIGHT;

/// The right edge of a tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Frontier {
    size: u64,
    /// Hashes of complete subtrees, the largest first.
    parts: Vec<TreeHash>,
}

/// A hash that a tile above level 0 holds: that of a full tile below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileHash {
    /// Level of the tile that holds it, from 1.
    pub level: u8,
    /// Position among the hashes of its level.
    pub position: u64,
    /// The hash.
    pub hash: TreeHash,
}

impl Frontier {
    /// The right edge of a tree of this size, from the hashes of its [`complete_parts`]; `None` for another number of them.
    #[must_use]
    pub fn new(size: u64, parts: Vec<TreeHash>) -> Option<Self> {
        (complete_parts(size).len() == parts.len()).then_some(Self { size, parts })
    }

    /// Number of entries.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Appends an entry by its leaf hash. Each subtree of a height that is a multiple of 8 that it completes is given to
    /// `filled`, since the tiles above level 0 hold it.
    pub fn append(&mut self, leaf: TreeHash, mut filled: impl FnMut(TileHash)) {
        let (position, mut hash) = (self.size, leaf);
        // Each set bit at the low end of the size is a complete subtree that the new entry continues.
        for height in 1..=position.trailing_ones() {
            let left = self.parts.pop().expect("a set bit of the size has its subtree");
            hash = TreeHash::node(left, hash);
            if height.is_multiple_of(TILE_HEIGHT) {
                let level = u8::try_from(height / TILE_HEIGHT).expect("a tree has at most 64 heights");
                filled(TileHash { level, position: position >> height, hash });
            }
        }
        self.parts.push(hash);
        self.size += 1;
    }

    /// The root hash.
    #[must_use]
    pub fn root(&self) -> TreeHash {
        let folded = self.parts.iter().rev().copied().reduce(|right, left| TreeHash::node(left, right));
        folded.unwrap_or_else(TreeHash::of_nothing)
    }
}
