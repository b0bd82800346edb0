//! No two modules of a folder import each other, directly or by way of others.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::module_graph::modules;

type Imports = BTreeMap<String, BTreeSet<String>>;

#[test]
fn no_folder_has_an_import_cycle() {
    // For each folder of `src/`: which of its files and folders name which others of it.
    let mut folders: BTreeMap<Vec<String>, Imports> = BTreeMap::new();
    for module in modules() {
        for used in &module.uses {
            let common = module.path.iter().zip(used).take_while(|(one, other)| one == other).count();
            if let (Some(from), Some(to)) = (module.path.get(common), used.get(common)) {
                let imports = folders.entry(used[..common].to_vec()).or_default();
                imports.entry(from.clone()).or_default().insert(to.clone());
            }
        }
    }
    assert!(folders.len() > 20, "the imports of only {} folders were found", folders.len());
    let cycles: Vec<String> = folders
        .iter()
        .filter_map(|(folder, imports)| Some(format!("src/{}: {}", folder.join("/"), cycle(imports)?.join(" → "))))
        .collect();
    assert!(
        cycles.is_empty(),
        "these import each other; move what they share into a module below both:\n{}",
        cycles.join("\n")
    );
}

/// A shortest cycle, with its first name at both ends.
fn cycle(imports: &Imports) -> Option<Vec<String>> {
    let cycles = imports.keys().filter_map(|start| {
        let mut ways = vec![vec![start.clone()]];
        let mut seen = BTreeSet::new();
        while !ways.is_empty() {
            let mut longer = Vec::new();
            for way in ways {
                for next in imports.get(way.last()?).into_iter().flatten() {
                    let way = [way.as_slice(), std::slice::from_ref(next)].concat();
                    if next == start {
                        return Some(way);
                    }
                    if seen.insert(next.clone()) {
                        longer.push(way);
                    }
                }
            }
            ways = longer;
        }
        None
    });
    cycles.min_by_key(Vec::len)
}
