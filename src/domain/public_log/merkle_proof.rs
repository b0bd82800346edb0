//! Inclusion and consistency proofs (RFC 6962, sections 2.1.1 and 2.1.2). This module determines the subtrees of a proof; their hashes are
//! from [tiles](super::subtree). Verification follows RFC 9162, sections 2.1.3.2 and 2.1.4.2.

use std::ops::Range;

use super::hash::TreeHash;

/// Returns the subtrees of the inclusion proof of entry `index` in a tree of `size`, from the leaf up. Empty if the tree has no such entry.
#[must_use]
pub fn inclusion_ranges(index: u64, size: u64) -> Vec<Range<u64>> {
    let (mut found, mut range) = (Vec::new(), 0..size);
    while index < size && range.end - range.start > 1 {
        let middle = range.start + split(range.end - range.start);
        if index < middle {
            found.push(middle..range.end);
            range.end = middle;
        } else {
            found.push(range.start..middle);
            range.start = middle;
        }
    }
    found.reverse();
    found
}

/// Returns the subtrees of the consistency proof from a tree of `old` to one of `new` entries. Empty if `old` is 0 or not below `new`.
#[must_use]
pub fn consistency_ranges(old: u64, new: u64) -> Vec<Range<u64>> {
    if old == 0 || old >= new {
        return Vec::new();
    }
    let (mut found, mut range) = (Vec::new(), 0..new);
    while range.end != old {
        let middle = range.start + split(range.end - range.start);
        if old <= middle {
            found.push(middle..range.end);
            range.end = middle;
        } else {
            found.push(range.start..middle);
            range.start = middle;
        }
    }
    // The verifier knows the root hash of the old tree.
    if range.start > 0 {
        found.push(range);
    }
    found.reverse();
    found
}

/// Returns the largest power of two below a length of at least 2.
fn split(length: u64) -> u64 {
    1 << (u64::BITS - 1 - (length - 1).leading_zeros())
}

/// Verifies the inclusion proof of `leaf` as entry `index` in the tree with this size and root.
#[must_use]
pub fn includes(leaf: TreeHash, index: u64, size: u64, proof: &[TreeHash], root: TreeHash) -> bool {
    if index >= size {
        return false;
    }
    let (mut place, mut last, mut hash) = (index, size - 1, leaf);
    for &other in proof {
        if last == 0 {
            return false;
        }
        if place & 1 == 1 || place == last {
            hash = TreeHash::node(other, hash);
            while place & 1 == 0 && place != 0 {
                (place, last) = (place >> 1, last >> 1);
            }
        } else {
            hash = TreeHash::node(hash, other);
        }
        (place, last) = (place >> 1, last >> 1);
    }
    last == 0 && hash == root
}

/// Size and root of a tree, as in a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeHead {
    /// Number of entries.
    pub size: u64,
    /// Root hash.
    pub root: TreeHash,
}

/// Verifies the consistency proof that `new` begins with `old`.
#[must_use]
pub fn is_consistent(old: TreeHead, new: TreeHead, proof: &[TreeHash]) -> bool {
    if old.size == 0 {
        return proof.is_empty() && old.root == TreeHash::empty_root();
    }
    if old.size >= new.size {
        return old == new && proof.is_empty();
    }
    let (mut place, mut last) = (old.size - 1, new.size - 1);
    while place & 1 == 1 {
        (place, last) = (place >> 1, last >> 1);
    }
    let mut hashes = proof.iter().copied();
    // A complete old tree is itself the first subtree.
    let Some(first) = (if old.size.is_power_of_two() { Some(old.root) } else { hashes.next() }) else { return false };
    let (mut old_hash, mut new_hash) = (first, first);
    for other in hashes {
        if last == 0 {
            return false;
        }
        if place & 1 == 1 || place == last {
            old_hash = TreeHash::node(other, old_hash);
            new_hash = TreeHash::node(other, new_hash);
            while place & 1 == 0 && place != 0 {
                (place, last) = (place >> 1, last >> 1);
            }
        } else {
            new_hash = TreeHash::node(new_hash, other);
        }
        (place, last) = (place >> 1, last >> 1);
    }
    last == 0 && old_hash == old.root && new_hash == new.root
}

#[cfg(test)]
mod tests;
