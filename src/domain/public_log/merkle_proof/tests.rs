//! Tests against the known answers of RFC 6962, and against a naive implementation of the definition.

use std::ops::Range;

use super::*;
use crate::public_log::frontier::Frontier;
use crate::public_log::hash::sha256_hex;
use crate::public_log::subtree::{TileSet, complete_parts};
use crate::public_log::tile::{TILE_WIDTH, Tile};

/// Eight leaves of Certificate Transparency's reference test, and the roots of the trees of the first n of them.
const LEAVES: [&str; 8] =
    ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"];
const ROOTS: [&str; 8] = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];

fn hex(text: &str) -> Vec<u8> {
    text.as_bytes().chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn leaf(index: u64) -> TreeHash {
    TreeHash::leaf(&index.to_be_bytes())
}

/// Hash of a range by the definition in RFC 6962.
fn by_definition(leaves: &[TreeHash]) -> TreeHash {
    match leaves {
        [] => TreeHash::empty_root(),
        [leaf] => *leaf,
        leaves => {
            let middle = usize::try_from(split(leaves.len() as u64)).unwrap();
            TreeHash::node(by_definition(&leaves[..middle]), by_definition(&leaves[middle..]))
        }
    }
}

/// Tree with all of its tiles' hashes.
struct Tree {
    leaves: Vec<TreeHash>,
    levels: Vec<Vec<TreeHash>>,
    frontier: Frontier,
}

impl Tree {
    fn new(size: u64) -> Self {
        let (mut levels, mut frontier) = (vec![Vec::new()], Frontier::default());
        let leaves: Vec<TreeHash> = (0..size).map(leaf).collect();
        for &leaf in &leaves {
            levels[0].push(leaf);
            frontier.append(leaf, |filled| {
                levels.resize_with(levels.len().max(usize::from(filled.level) + 1), Vec::new);
                assert_eq!(levels[usize::from(filled.level)].len() as u64, filled.position);
                levels[usize::from(filled.level)].push(filled.hash);
            });
        }
        Self { leaves, levels, frontier }
    }

    fn size(&self) -> u64 {
        self.leaves.len() as u64
    }

    /// Hashes of ranges, computed only from the tiles of a tree of this size.
    fn hashes(&self, ranges: &[Range<u64>], size: u64) -> Vec<TreeHash> {
        let mut tiles = TileSet::default();
        for tile in TileSet::needed(ranges, size) {
            let range = usize::try_from(tile.start()).unwrap()..usize::try_from(tile.end()).unwrap();
            tiles.insert(tile, self.levels[usize::from(tile.level())][range].to_vec());
        }
        tiles.hashes(ranges).expect("the tiles that are needed are enough")
    }

    fn head(&self, size: u64) -> TreeHead {
        TreeHead { size, root: by_definition(&self.leaves[..usize::try_from(size).unwrap()]) }
    }
}

#[test]
fn roots_are_those_of_the_reference_test() {
    assert_eq!(TreeHash::empty_root().0.to_vec(), hex(&sha256_hex(b"")));
    let mut frontier = Frontier::default();
    for (leaf, root) in LEAVES.iter().zip(ROOTS) {
        frontier.append(TreeHash::leaf(&hex(leaf)), |_| {});
        assert_eq!(frontier.root().0.to_vec(), hex(root));
    }
}

#[test]
fn proofs_are_those_of_the_reference_test() {
    let leaves: Vec<TreeHash> = LEAVES.iter().map(|leaf| TreeHash::leaf(&hex(leaf))).collect();
    let hashes = |ranges: Vec<Range<u64>>| -> Vec<String> {
        let hash = |range: Range<u64>| {
            let range = usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap();
            by_definition(&leaves[range]).0.iter().map(|byte| format!("{byte:02x}")).collect()
        };
        ranges.into_iter().map(hash).collect()
    };
    // Published as the paths of leaf 1 of 1, 1 of 8, 6 of 8 and 3 of 3, counted from 1.
    assert!(hashes(inclusion_ranges(0, 1)).is_empty());
    assert_eq!(
        hashes(inclusion_ranges(0, 8)),
        [
            "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
        ]
    );
    assert_eq!(
        hashes(inclusion_ranges(5, 8)),
        [
            "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
            "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        ]
    );
    assert_eq!(hashes(inclusion_ranges(2, 3)), ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"]);
    assert_eq!(
        hashes(consistency_ranges(6, 8)),
        [
            "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
            "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        ]
    );
    assert_eq!(
        hashes(consistency_ranges(2, 5)),
        [
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        ]
    );
}

#[test]
fn every_entry_of_small_trees_is_proven_and_no_other() {
    let tree = Tree::new(70);
    for size in 1..=tree.size() {
        let head = tree.head(size);
        for index in 0..size {
            let proof = tree.hashes(&inclusion_ranges(index, size), size);
            assert!(includes(leaf(index), index, size, &proof, head.root), "{index} of {size}");
            assert!(!includes(leaf(index + 1), index, size, &proof, head.root));
            assert!(!includes(leaf(index), (index + 1) % size, size, &proof, head.root) || size == 1);
            assert!(!includes(leaf(index), index + size, size, &proof, head.root));
            assert!(!includes(leaf(index), index, size, &[proof.as_slice(), &[head.root]].concat(), head.root));
            for missing in 0..proof.len() {
                let mut cut = proof.clone();
                cut.remove(missing);
                assert!(!includes(leaf(index), index, size, &cut, head.root));
                let mut changed = proof.clone();
                changed[missing].0[0] ^= 1;
                assert!(!includes(leaf(index), index, size, &changed, head.root));
            }
        }
    }
}

#[test]
fn every_earlier_tree_is_consistent_and_no_other() {
    let tree = Tree::new(70);
    for new in 1..=tree.size() {
        for old in 0..=new {
            let (before, after) = (tree.head(old), tree.head(new));
            let proof = tree.hashes(&consistency_ranges(old, new), new);
            assert!(is_consistent(before, after, &proof), "{old} of {new}");
            let rewritten = TreeHead { root: leaf(99), ..before };
            assert!(!is_consistent(rewritten, after, &proof), "{old} of {new}");
            let another = TreeHead { root: leaf(99), ..after };
            assert!(old == 0 || !is_consistent(before, another, &proof));
            assert!(old == new || !is_consistent(after, before, &proof), "a log does not shrink");
            for place in 0..proof.len() {
                let mut changed = proof.clone();
                changed[place].0[31] ^= 0x80;
                assert!(!is_consistent(before, after, &changed));
                assert!(!is_consistent(before, after, &proof[..place]));
            }
            assert!(!is_consistent(before, after, &[proof.as_slice(), &[leaf(0)]].concat()));
        }
    }
}

#[test]
fn tiles_give_the_proofs_of_a_tree_of_three_levels() {
    let size = 70_000;
    let tree = Tree::new(size);
    let root = tree.frontier.root();
    assert_eq!(root, tree.head(size).root);
    for tile in Tile::all(size) {
        assert!(tree.levels[usize::from(tile.level())].len() as u64 >= tile.end());
        assert!(tile.is_full() || tree.levels[usize::from(tile.level())].len() as u64 == tile.end());
    }
    for index in [0, 1, 255, 256, 65_535, 65_536, 69_887, 69_888, 69_999] {
        let ranges = inclusion_ranges(index, size);
        assert!(TileSet::needed(&ranges, size).len() <= 6);
        assert!(includes(leaf(index), index, size, &tree.hashes(&ranges, size), root), "{index}");
    }
    for old in [1, 255, 256, 257, 65_536, 65_537, 69_888, 69_999] {
        let proof = tree.hashes(&consistency_ranges(old, size), size);
        assert!(is_consistent(tree.head(old), TreeHead { size, root }, &proof), "{old}");
    }
}

#[test]
fn a_right_edge_out_of_tiles_continues_the_tree() {
    for size in [0, 1, 7, 255, 256, 257, 1_000, 66_000] {
        let (tree, longer) = (Tree::new(size), Tree::new(size + 300));
        let parts = complete_parts(size);
        let mut frontier = Frontier::new(size, tree.hashes(&parts, size)).unwrap();
        assert_eq!(frontier, tree.frontier);
        assert_eq!(
            Frontier::new(size + 1, tree.hashes(&parts, size)).is_none(),
            parts.len() != complete_parts(size + 1).len()
        );
        (size..size + 300).for_each(|index| frontier.append(leaf(index), |_| {}));
        assert_eq!(frontier.root(), longer.frontier.root(), "{size}");
        assert_eq!(frontier.size() % TILE_WIDTH, (size + 300) % TILE_WIDTH);
    }
}
