//! Right edge of a Merkle tree, the state needed to append. For a tree of n entries it has one hash for each set bit of n: the roots of the
//! largest complete subtrees from left to right.

use super::hash::TreeHash;
use super::subtree::complete_parts;
use super::tile::TILE_HEIGHT;

/// Right edge of a Merkle tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Frontier {
    size: u64,
    /// Hashes of complete subtrees, the largest first.
    parts: Vec<TreeHash>,
}

/// Hash stored in a tile above level 0: that of a full tile below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileHash {
    /// Level of the tile that stores the hash, from 1.
    pub level: u8,
    /// Position among the hashes of the level.
    pub position: u64,
    /// Stored hash.
    pub hash: TreeHash,
}

impl Frontier {
    /// Restores the right edge of a tree of this size from the hashes of its [`complete_parts`]; `None` for a wrong number of hashes.
    #[must_use]
    pub fn new(size: u64, parts: Vec<TreeHash>) -> Option<Self> {
        (complete_parts(size).len() == parts.len()).then_some(Self { size, parts })
    }

    /// Returns the number of entries.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Appends an entry by its leaf hash. Calls `filled` for each subtree that it completes whose height is a multiple of 8, since the
    /// tiles above level 0 store these.
    pub fn append(&mut self, leaf: TreeHash, mut filled: impl FnMut(TileHash)) {
        let (position, mut hash) = (self.size, leaf);
        // Each set bit at the low end of the size is a complete subtree that the new entry extends.
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

    /// Computes the root hash.
    #[must_use]
    pub fn root(&self) -> TreeHash {
        let folded = self.parts.iter().rev().copied().reduce(|right, left| TreeHash::node(left, right));
        folded.unwrap_or_else(TreeHash::empty_root)
    }
}
