//! Reads tiles from the database: level 0 is hashed from the entries, the levels above are stored.

use std::ops::Range;

use super::PublicLogError;
use crate::domain::public_log::hash::TreeHash;
use crate::domain::public_log::subtree::TileSet;
use crate::domain::public_log::tile::Tile;
use crate::infra::storage::Store;

/// Returns the hashes of a tile.
pub(super) async fn hashes_of(store: &Store, tile: Tile) -> Result<Vec<TreeHash>, PublicLogError> {
    let range = tile.start()..tile.end();
    let hashes = if tile.level() == 0 {
        entries_of(store, tile).await?.iter().map(|body| TreeHash::leaf(body.as_bytes())).collect()
    } else {
        store.log_hashes(tile.level(), range).await?
    };
    check_complete(hashes, tile)
}

/// Reads the entries below a tile of level 0.
pub(super) async fn entries_of(store: &Store, tile: Tile) -> Result<Vec<String>, PublicLogError> {
    check_complete(store.log_bodies(tile.start()..tile.end()).await?, tile)
}

fn check_complete<T>(rows: Vec<T>, tile: Tile) -> Result<Vec<T>, PublicLogError> {
    if rows.len() as u64 == tile.width() {
        return Ok(rows);
    }
    let (level, number, width) = (tile.level(), tile.number(), tile.width());
    Err(PublicLogError::Incomplete(format!("tile {number} of level {level} has {} of {width} rows", rows.len())))
}

/// Computes the hashes of ranges of entries in a tree of `size` entries.
pub(super) async fn hashes_of_ranges(
    store: &Store,
    ranges: &[Range<u64>],
    size: u64,
) -> Result<Vec<TreeHash>, PublicLogError> {
    let mut tiles = TileSet::default();
    for tile in TileSet::needed(ranges, size) {
        tiles.insert(tile, hashes_of(store, tile).await?);
    }
    tiles.hashes(ranges).ok_or_else(|| PublicLogError::Incomplete(format!("a proof in the tree of {size} entries")))
}
