//! Canaries: a fixed small set of a suite's items. Asked again from time to time, they show whether a provider has silently changed a
//! model.

use super::super::item::Item;
use crate::sha256::sha256;

/// Number of canaries.
pub const CANARY_COUNT: usize = 20;

/// Returns the ids of a suite's canaries: those with the smallest SHA-256, which is independent of other items and data versions.
#[must_use]
pub fn canaries<'i>(ids: impl IntoIterator<Item = &'i str>) -> Vec<&'i str> {
    let mut hashed: Vec<(String, &str)> = ids.into_iter().map(|id| (sha256(id.as_bytes()), id)).collect();
    hashed.sort_unstable();
    hashed.into_iter().take(CANARY_COUNT).map(|(_, id)| id).collect()
}

/// Retains the canaries of a suite, in its order.
pub fn retain_canaries(items: &mut Vec<Item>) {
    let ids: Vec<String> = canaries(items.iter().map(|item| item.id.as_str())).into_iter().map(str::to_owned).collect();
    items.retain(|item| ids.contains(&item.id));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canaries_stay_where_other_items_come() {
        let all: Vec<String> = (0..100).map(|id| id.to_string()).collect();
        let of = |end: usize| canaries(all[..end].iter().map(String::as_str));
        assert_eq!((of(100).len(), of(7).len()), (CANARY_COUNT, 7));
        let kept = of(100).into_iter().filter(|id| of(95).contains(id)).count();
        assert!(kept >= CANARY_COUNT - 5, "of five new items each displaces one at most: {kept}");
        let backwards = canaries(all.iter().rev().map(String::as_str));
        assert_eq!(backwards, of(100), "whatever their order");
    }
}
